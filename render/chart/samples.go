package chart

import (
	"fmt"
	"math"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// sampleFigure is the picture of sample-series, lines over the time of a pass for each of its GPUs, and of ncu-samples, lines over the time of a launch.
type sampleFigure struct {
	Groups []sampleGroup
	Hint   string // what the lines are, and what is not drawn
}

// sampleGroup is one GPU in one pass, or one launch.
type sampleGroup struct {
	Title string
	Plots []samplePlot
}

type samplePlot struct {
	Title, Said, Spoken string
	Height, Below       int
	XTicks, YTicks      []Tick
	Lines               []sampleLine
	Shades              []sampleShade
}

// sampleLine is a line without a break, as points of an SVG of 1000 by 100.
type sampleLine struct{ Class, Title, Points string }

// sampleShade is a stretch in which clocks were held down.
type sampleShade struct{ Class, X, Width, Title string }

// The measures of these pictures.
const (
	sampleHeight = 72 // pixels
	groupsShown  = 8
	lineWidth    = 1000
	lineHeight   = 100
	lineBreak    = 5 // so many times the median distance without a sample break a line
)

// quantity is what a small picture shows: the mean of each part, and its extreme where the query has one.
type quantity struct {
	title    string
	of       func(sampleRow) *float64
	extreme  func(sampleRow) *float64 // nil where there is none
	farthest string                   // what the extreme is
	unit     frame.Unit
	top      float64 // of the axis; 0 for what the largest value needs
}

var quantities = []quantity{
	{title: "SM use", of: func(r sampleRow) *float64 { return r.SMRatio }, unit: frame.Ratio, top: 1},
	{title: "SM clock", of: func(r sampleRow) *float64 { return r.SMClockHz }, extreme: func(r sampleRow) *float64 { return r.SMClockMinHz }, farthest: "lowest", unit: frame.Hz},
	{title: "Power", of: func(r sampleRow) *float64 { return r.PowerW }, extreme: func(r sampleRow) *float64 { return r.PowerMaxW }, farthest: "highest", unit: frame.Watt},
	{title: "Temperature, highest", of: func(r sampleRow) *float64 { return r.TemperatureC }, unit: frame.Celsius},
	{title: "Memory used, most", of: func(r sampleRow) *float64 { return r.MemoryUsedBytes }, unit: frame.Bytes},
}

// newSampleFigure draws the series; throttling says which reasons slow a GPU down, and is nil when it was not asked.
func newSampleFigure(f, throttling *frame.Frame) (*sampleFigure, error) {
	rows, err := sampleRows.Of(f)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	slows, err := slowdowns(throttling)
	if err != nil {
		return nil, err
	}
	groups := groupRows(rows, groupTitle)
	shown, left := typeset.FirstOf(groups, groupsShown)
	figure := &sampleFigure{Hint: "NVML samples during the recordings; each point is the mean of the samples in one part of the recording; thin lines are the lowest clock and the highest power of each part. Time counts from the start of the recording; lines break where NVML gave no value."}
	slowed, unknown := false, false
	tops := topsOf(shown)
	for _, parts := range shown {
		g := sampleGroup{Title: groupTitle(parts[0])}
		span := newSampleSpan(parts)
		shades := span.shades(parts, slows)
		for i, q := range quantities {
			plot, some := newSamplePlot(parts, q, tops[i], span)
			if !some {
				continue
			}
			plot.Shades, plot.Spoken = shades, g.Title+", "+plot.Spoken+spokenShades(shades)
			g.Plots = append(g.Plots, plot)
		}
		for _, s := range shades {
			slowed = slowed || s.Class == classSlowed
			unknown = unknown || s.Class == classUnknown
		}
		figure.Groups = append(figure.Groups, g)
	}
	if slowed {
		figure.Hint += " Shaded: clocks were throttled by power or temperature."
	}
	if unknown {
		figure.Hint += " Shaded lightly: clocks were throttled, and whether that lengthens times is not known."
	}
	if text := leftOut(groups, left, slows); text != "" {
		figure.Hint += " " + text
	}
	return figure, nil
}

// groupTitle names a pass and GPU.
func groupTitle(r sampleRow) string {
	return fmt.Sprintf("%s, GPU %d", typeset.Neutral(r.Pass), r.Device)
}

// leftOut names what is not drawn, the last so many groups, and says of which of these clocks were held down.
func leftOut(groups [][]sampleRow, left int, slows map[string]bool) string {
	if left == 0 {
		return ""
	}
	var held []string
	for _, parts := range groups[len(groups)-left:] {
		if len(newSampleSpan(parts).shades(parts, slows)) > 0 {
			held = append(held, groupTitle(parts[0]))
		}
	}
	text := fmt.Sprintf("The first %d of %d recordings and GPUs are drawn; the query gives the others.", groupsShown, len(groups))
	if len(held) > 0 {
		named, more := typeset.FirstOf(held, groupsShown)
		text += " Throttled among the others: " + strings.Join(named, "; ")
		if more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		text += "."
	}
	return text
}

// topsOf returns the top of each quantity's axis: one for all groups, so that they can be compared.
func topsOf(groups [][]sampleRow) []float64 {
	tops := make([]float64, len(quantities))
	for i, q := range quantities {
		most := 0.0
		for _, parts := range groups {
			for _, r := range parts {
				for _, of := range []func(sampleRow) *float64{q.of, q.extreme} {
					if of == nil {
						continue
					}
					if v, known := frame.Finite(of(r)); known {
						most = max(most, v)
					}
				}
			}
		}
		if tops[i] = q.top; q.top == 0 {
			tops[i] = roundTop(q.unit, most)
		}
	}
	return tops
}

// newSamplePlot draws one quantity; some is false when no part has a value of it.
func newSamplePlot(parts []sampleRow, q quantity, top float64, span sampleSpan) (p samplePlot, some bool) {
	p = samplePlot{Title: q.title, Height: sampleHeight, Below: sampleHeight + 15, XTicks: timeTicks(span.from, span.to)}
	for _, v := range []float64{0, top / 2, top} {
		p.YTicks = append(p.YTicks, Tick{Pixels(sampleHeight * (1 - v/top)), typeset.Amount(q.unit, v)})
	}
	mean, least, most, weight := 0.0, math.Inf(1), math.Inf(-1), 0.0
	for _, r := range parts {
		if v, known := frame.Finite(q.of(r)); known {
			n := float64(max(r.SampleCount, 1))
			mean, weight = mean+v*n, weight+n
			least, most = min(least, v), max(most, v)
		}
		if q.extreme == nil {
			continue
		}
		if v, known := frame.Finite(q.extreme(r)); known {
			least, most = min(least, v), max(most, v)
		}
	}
	if weight == 0 {
		return p, false
	}
	p.Said = fmt.Sprintf("mean %s, %s to %s", typeset.Amount(q.unit, mean/weight), typeset.Amount(q.unit, least), typeset.Amount(q.unit, most))
	p.Spoken = q.title + ": " + p.Said
	if q.extreme != nil {
		p.Lines = span.lines(parts, q.extreme, top, "line extreme", q.title+", "+q.farthest+" of each part: "+p.Said)
	}
	p.Lines = append(p.Lines, span.lines(parts, q.of, top, "line", p.Spoken)...)
	return p, true
}
