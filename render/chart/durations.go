package chart

import (
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/render/typeset"
)

// durationFigure is the picture of kernel-durations: a histogram for each kernel over one logarithmic axis of time.
type durationFigure struct {
	Height, Below int
	Ticks         []Tick
	Kernels       []durationPlot
}

type durationPlot struct {
	Name, Short, Said, Spoken string
	Bins                      []durationBin
	Median                    string // where it lies; "" when it is not known
	MedianTitle               string
	Most                      string // calls of the highest bin
}

type durationBin struct{ X, Width, Y, Height, Title string }

// The measures of these pictures.
const (
	durationHeight = 84 // pixels
	durationName   = 40 // characters of a kernel's name
)

func newDurationFigure(f *frame.Frame) (*durationFigure, error) {
	rows, err := durationRows.Of(f)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	axis, some := durationAxis(rows)
	if !some {
		return nil, nil
	}
	figure := &durationFigure{Height: durationHeight, Below: durationHeight + 16}
	for _, v := range axis.steps(6) {
		figure.Ticks = append(figure.Ticks, Tick{Length(axis.at(v)), typeset.Nanoseconds(v)})
	}
	kernels := groupRows(rows, func(r durationRow) string { return r.Kernel })
	var names []string
	for _, bins := range kernels {
		names = append(names, typeset.Neutral(bins[0].Kernel))
	}
	short := typeset.Kernels(names, durationName)
	for i, bins := range kernels {
		figure.Kernels = append(figure.Kernels, newDurationPlot(bins, names[i], short(names[i]), axis))
	}
	return figure, nil
}

// durationAxis holds all bins that can be drawn; some is false without any. The one of executions without measurable time begins at 0,
// which no logarithm has: it is drawn as wide as the others.
func durationAxis(rows []durationRow) (a logAxis, some bool) {
	var bounds []float64
	for _, r := range rows {
		if from, to, ok := boundsOf(r); ok {
			bounds = append(bounds, drawnFrom(from, to), to)
		}
	}
	if len(bounds) == 0 {
		return logAxis{}, false
	}
	low, high := typeset.Extent(bounds)
	return logAxis{low, high}, true
}

// boundsOf returns the bounds of a bin; ok is false of one that holds no stretch of time.
func boundsOf(bin durationRow) (from, to float64, ok bool) {
	from, hasFrom := frame.Finite(bin.FromNs)
	to, hasTo := frame.Finite(bin.ToNs)
	return from, to, hasFrom && hasTo && from >= 0 && to > from
}

// binRatio is the width of a bin of kernel-durations: 2^(1/4).
const binRatio = 1.189207115002721

func drawnFrom(from, to float64) float64 {
	if from == 0 {
		return to / binRatio
	}
	return from
}

func newDurationPlot(bins []durationRow, name, short string, axis logAxis) durationPlot {
	first := bins[0]
	calls := typeset.Plural(first.KernelCalls, "call", "calls")
	p := durationPlot{Name: name, Short: short, Said: calls + ", " + typeset.Duration(first.KernelTotalNs) + " in all"}
	if median, known := frame.Finite(first.MedianNs); known {
		p.MedianTitle = "median " + typeset.Nanoseconds(median)
		p.Said = p.MedianTitle + ", " + p.Said
		if median > 0 {
			p.Median = Length(axis.at(median))
		}
	}
	drawn := slices.DeleteFunc(slices.Clone(bins), func(b durationRow) bool { _, _, ok := boundsOf(b); return !ok })
	if left := len(bins) - len(drawn); left > 0 {
		p.Said += ", " + typeset.Plural(int64(left), "bin", "bins") + " without bounds not drawn"
	}
	p.Spoken = fmt.Sprintf("Durations of %s: %s", short, p.Said)
	if len(drawn) == 0 {
		return p
	}
	bins, most := drawn, int64(0)
	fullest := bins[0]
	for _, b := range bins {
		if b.Calls > most {
			most, fullest = b.Calls, b
		}
	}
	p.Most = typeset.Int(most)
	for _, b := range bins {
		from, to, _ := boundsOf(b)
		left := axis.at(drawnFrom(from, to))
		high := float64(b.Calls) / float64(max(most, 1)) * (durationHeight - 14) // room for the number of calls
		high = max(high, 1.5)                                                    // a bin with one call of many is seen
		p.Bins = append(p.Bins, durationBin{Length(left), Length(axis.at(to) - left), Pixels(durationHeight - high), Pixels(high),
			fmt.Sprintf("%s: %s, %s", binBounds(b), typeset.Plural(b.Calls, "call", "calls"), typeset.Duration(b.TotalNs))})
	}
	p.Spoken += fmt.Sprintf("; from %s to %s; most of them, %s, %s", lowBound(bins[0]), highBound(bins[len(bins)-1]), typeset.Plural(most, "call", "calls"), binBounds(fullest))
	return p
}

func lowBound(b durationRow) string {
	from, _ := frame.Finite(b.FromNs)
	return typeset.Nanoseconds(from)
}

func highBound(b durationRow) string {
	to, _ := frame.Finite(b.ToNs)
	return typeset.Nanoseconds(to)
}

// binBounds returns what a bin holds.
func binBounds(b durationRow) string { return "from " + lowBound(b) + " to " + highBound(b) }
