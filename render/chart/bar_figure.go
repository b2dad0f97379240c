package chart

import (
	"fmt"
	"unicode/utf8"

	"prof/queries/frame"
	"prof/render/typeset"
	"prof/schema/terms"
)

// barFigure is the picture of accounting: a bar for each stage on each GPU, all of the same length, since parts are compared as shares.
type barFigure struct {
	Bars    []BarView
	Legend  []terms.Part
	LeftOut string // bars that are not drawn; "" when all are
}

// BarView is one bar of it.
type BarView struct {
	Label, Total, Busy string
	Spoken             string // the whole bar in words
	Pieces             []pieceView
}

// pieceView is a piece in percent of the bar's length.
type pieceView struct {
	Name          string
	X, Width, Mid string
	Title, Text   string // Text is what fits in it; "" where nothing does
}

// The room for text in a bar on a narrow screen, in pixels.
const (
	narrowBar   = 320
	letterWidth = 7
)

// NewBarFigure makes the picture of the rows of accounting.
func NewBarFigure(f *frame.Frame) (*barFigure, error) {
	bars, err := BarsOf(f)
	if err != nil {
		return nil, err
	}
	figure := &barFigure{Legend: PartsOf(bars)}
	bars, left := typeset.FirstOf(bars, MostBars)
	if left > 0 {
		figure.LeftOut = BarsLeftOut(left)
	}
	for _, b := range bars {
		figure.Bars = append(figure.Bars, b.View(b.label()))
	}
	return figure, nil
}

// View is the bar as the page draws it, under a label.
func (b Bar) View(label string) BarView {
	view := BarView{Label: label, Total: typeset.Nanoseconds(b.Span), Busy: typeset.Percent(b.Busy())}
	view.Spoken = fmt.Sprintf("%s: %s busy of %s", view.Label, view.Busy, view.Total)
	at := 0.0
	for _, p := range b.Pieces {
		share := typeset.Percent(p.Share)
		v := pieceView{Name: p.Name, X: Length(at), Width: Length(p.Share), Mid: Length(at + p.Share/2)}
		v.Title = fmt.Sprintf("%s (%s): %s, %s", p.Name, p.Text(), share, typeset.Nanoseconds(p.Ns))
		v.Text = fitting(p.Share*narrowBar, fmt.Sprintf("%s %.0f %%", p.Name, p.Share*100), fmt.Sprintf("%.0f %%", p.Share*100))
		view.Spoken += fmt.Sprintf("; %s %s", p.Name, share)
		view.Pieces = append(view.Pieces, v)
		at += p.Share
	}
	return view
}

// MostBars is how many bars are drawn; the table has numbers for more.
const MostBars = 64

// BarsLeftOut returns how many bars are not drawn.
func BarsLeftOut(left int) string {
	return fmt.Sprintf("The first %d stages and GPUs are drawn; %s only in the query.", MostBars, typeset.Plural(int64(left), "more is", "more are"))
}

// fitting returns the first of the texts that has room in so many pixels; "" when none has.
func fitting(room float64, texts ...string) string {
	for _, text := range texts {
		if float64(utf8.RuneCountInString(text))*letterWidth+4 <= room {
			return text
		}
	}
	return ""
}
