package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
	"prof/render/words"
	"prof/schema/terms"
)

func partNamed(name string) (terms.Part, error) {
	at := slices.IndexFunc(terms.Parts, func(p terms.Part) bool { return p.Name == name })
	if at < 0 {
		return terms.Part{}, fmt.Errorf("accounting has a part %q that no bar knows", name)
	}
	return terms.Parts[at], nil
}

// Bar is the time of one stage on one GPU in its median pass, or of a whole run, cut into parts that add up to it.
type Bar struct {
	Stage  string
	device int64
	Span   float64 // ns
	Pieces []Piece
}

// Piece is one part of a bar.
type Piece struct {
	terms.Part
	Ns    float64
	Share float64 // of the bar's span
}

// BarsOf reads the bars from the rows of accounting, without parts of stages that take no time.
func BarsOf(f *frame.Frame) ([]Bar, error) {
	rows, err := partRows.Of(f)
	if err != nil {
		return nil, err
	}
	var bars []Bar
	for i, r := range rows {
		p, err := partNamed(r.Part)
		if err != nil {
			return nil, fmt.Errorf("query %s: row %d: %w", f.Query, i+1, err)
		}
		ns, isKnown := frame.Finite(r.Ns)
		span, _ := frame.Finite(r.SpanNs)
		if !isKnown || span <= 0 {
			continue
		}
		if n := len(bars); n == 0 || bars[n-1].Stage != r.Stage || bars[n-1].device != r.Device {
			bars = append(bars, Bar{Stage: r.Stage, device: r.Device, Span: span})
		}
		if last := &bars[len(bars)-1]; ns > 0 {
			last.Pieces = append(last.Pieces, Piece{p, ns, ns / span})
		}
	}
	return bars, nil
}

// Busy is the share of the bar in which work of its own ran.
func (b Bar) Busy() float64 {
	share := 0.0
	for _, p := range b.Pieces {
		if p.Kind == terms.Busy {
			share += p.Share
		}
	}
	return share
}

// PartsOf returns which parts any of the bars has, in order.
func PartsOf(bars []Bar) []terms.Part {
	return slices.DeleteFunc(slices.Clone(terms.Parts), func(p terms.Part) bool {
		return !slices.ContainsFunc(bars, func(b Bar) bool {
			return slices.ContainsFunc(b.Pieces, func(q Piece) bool { return q.Name == p.Name })
		})
	})
}

// Cells returns the number of cells that each piece has of so many, by largest remainder: they add up to all of them, and none is a cell or
// more off. Of equal remainders the earlier one is served first.
func (b Bar) Cells(all int) []int {
	out, order := make([]int, len(b.Pieces)), make([]int, len(b.Pieces))
	rest := make([]float64, len(b.Pieces))
	left := all
	for i, p := range b.Pieces {
		exact := p.Share * float64(all)
		out[i], order[i] = int(exact), i
		rest[i] = exact - float64(out[i])
		left -= out[i]
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case rest[i] > rest[j]:
			return -1
		case rest[i] < rest[j]:
			return 1
		}
		return 0
	})
	for _, i := range order[:min(max(left, 0), len(order))] {
		out[i]++
	}
	return out
}

// The widths of a bar of text and of its label, at most: a line fits where 120 columns do.
const (
	BarCells  = 60
	barLabels = 32
)

// TextBars draws bars with one letter or block a cell, and what each stands for. A part smaller than its cell is not drawn.
func TextBars(bars []Bar) string {
	var out strings.Builder
	widest := 0
	for _, b := range bars {
		widest = max(widest, typeset.Width(b.shortLabel()))
	}
	for _, b := range bars {
		label := b.shortLabel()
		out.WriteString(label + strings.Repeat(" ", widest-typeset.Width(label)) + "  ")
		for i, n := range b.Cells(BarCells) {
			out.WriteString(strings.Repeat(string(b.Pieces[i].Fill), n))
		}
		fmt.Fprintf(&out, "  %s busy of %s\n", typeset.Percent(b.Busy()), typeset.Nanoseconds(b.Span))
	}
	out.WriteByte('\n')
	for _, p := range PartsOf(bars) {
		fmt.Fprintf(&out, "%c %s (%s)\n", p.Fill, p.Text(), p.Name)
	}
	return out.String()
}

func (b Bar) label() string { return fmt.Sprintf("%s, GPU %d", typeset.Neutral(b.Stage), b.device) }

// shortLabel is the label with the stage cut where it is too long for a line.
func (b Bar) shortLabel() string {
	b.Stage = typeset.Shorten(typeset.Neutral(b.Stage), barLabels-len(", GPU 0"), 60)
	return b.label()
}

// Draw returns the bar in so many cells.
func (b Bar) Draw(cells int) string {
	var out strings.Builder
	for i, n := range b.Cells(cells) {
		out.WriteString(strings.Repeat(string(b.Pieces[i].Fill), n))
	}
	return out.String()
}

// StageBars returns the bar of each stage, or of all device work, its GPUs added up; without pieces where accounting has none. gpus is the
// most GPUs that one is added up from.
func StageBars(f *frame.Frame, stages []judge.StageSummary) (out []Bar, gpus int, err error) {
	out = make([]Bar, len(stages))
	all, err := BarsOf(f)
	if err != nil {
		return nil, 0, err
	}
	for i, s := range stages {
		name := cmp.Or(s.Stage, words.WholeRun)
		own := slices.DeleteFunc(slices.Clone(all), func(b Bar) bool { return b.Stage != name })
		out[i], gpus = addedUp(own), max(gpus, len(own))
	}
	return out, gpus, nil
}

// addedUp adds up the bars of one stage on several GPUs: its shares are those of the sum of the spans.
func addedUp(bars []Bar) Bar {
	if len(bars) == 1 {
		return bars[0]
	}
	var sum Bar
	of := map[string]float64{}
	for _, b := range bars {
		sum.Stage, sum.Span = b.Stage, sum.Span+b.Span
		for _, p := range b.Pieces {
			of[p.Name] += p.Ns
		}
	}
	for _, p := range terms.Parts {
		if ns := of[p.Name]; ns > 0 {
			sum.Pieces = append(sum.Pieces, Piece{p, ns, ns / sum.Span})
		}
	}
	return sum
}
