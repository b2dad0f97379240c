package render

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"prof/queries/frame"
)

// barFigure is the picture of accounting: a bar for each stage on each GPU, all of the same length, since parts are compared as shares.
type barFigure struct {
	Bars    []barView
	Legend  []part
	LeftOut string // bars that are not drawn; "" when all are
}

type barView struct {
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

func newBarFigure(f *frame.Frame) (*barFigure, error) {
	bars, err := barsOf(f)
	if err != nil {
		return nil, err
	}
	figure := &barFigure{Legend: has(bars)}
	bars, left := firstOf(bars, mostBars)
	if left > 0 {
		figure.LeftOut = barsLeftOut(left)
	}
	for _, b := range bars {
		view := barView{Label: b.label(), Total: duration(b.span), Busy: percent(b.busy())}
		view.Spoken = fmt.Sprintf("%s: %s busy of %s", view.Label, view.Busy, view.Total)
		at := 0.0
		for _, p := range b.pieces {
			share := percent(p.share)
			v := pieceView{Name: p.name, X: length(at), Width: length(p.share), Mid: length(at + p.share/2)}
			v.Title = fmt.Sprintf("%s (%s): %s, %s", p.name, p.doc, share, duration(p.ns))
			v.Text = fitting(p.share*narrowBar, fmt.Sprintf("%s %.0f %%", p.name, p.share*100), fmt.Sprintf("%.0f %%", p.share*100))
			view.Spoken += fmt.Sprintf("; %s %s", p.name, share)
			view.Pieces = append(view.Pieces, v)
			at += p.share
		}
		figure.Bars = append(figure.Bars, view)
	}
	return figure, nil
}

// mostBars is how many bars are drawn; the table has numbers for more.
const mostBars = 64

func barsLeftOut(left int) string {
	return fmt.Sprintf("The first %d stages and GPUs are drawn; %s only in the query.", mostBars, numberOf(int64(left), "more is", "more are"))
}

// fitting gives the first of the texts that has room in so many pixels; "" when none has.
func fitting(room float64, texts ...string) string {
	for _, text := range texts {
		if float64(utf8.RuneCountInString(text))*letterWidth+4 <= room {
			return text
		}
	}
	return ""
}

// length gives a share of the bar as SVG takes it.
func length(share float64) string { return strconv.FormatFloat(share*100, 'f', 3, 64) + "%" }

// Name is what accounting calls the part.
func (p part) Name() string { return p.name }

// Doc is what the part means.
func (p part) Doc() string { return p.doc }
