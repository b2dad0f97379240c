package chart

import (
	"fmt"
	"strings"

	"prof/render/typeset"
)

// stillLine is a line of the picture that stands for the timeline where the page's script is off: the whole capture, in columns.
type stillLine struct {
	Group  string // the GPU or thread that it is the first line of; "" for others
	Label  string
	Spoken string
	Known  []stillStretch // where the page knows what ran; elsewhere nothing says
	Paths  []stillPath
}

// stillStretch is a part of the width.
type stillStretch struct{ X, Width string }

// stillPath is the work of a kind.
type stillPath struct{ Class, Path string }

// The measures of this picture: its columns, and the height of a line.
const (
	stillColumns = 300
	stillHeight  = 16
)

// cover adds up how much of each column's time is taken, by class.
type cover struct {
	classes []string
	shares  map[string][]float64
	columns int
	from    float64 // ns
	column  float64 // ns
}

// newCover begins one of the time between two moments.
func newCover(columns int, from, to int64) *cover {
	return &cover{shares: map[string][]float64{}, columns: columns, from: float64(from), column: float64(to-from) / float64(columns)}
}

// add puts busy time evenly between two moments.
func (c *cover) add(class string, start, length, busy int64) {
	from, to := (float64(start)-c.from)/c.column, (float64(start+max(length, 1))-c.from)/c.column
	if to <= 0 || from >= float64(c.columns) {
		return
	}
	if c.shares[class] == nil {
		c.classes, c.shares[class] = append(c.classes, class), make([]float64, c.columns)
	}
	for i := max(0, int(from)); i < c.columns && float64(i) < to; i++ {
		c.shares[class][i] += (min(to, float64(i+1)) - max(from, float64(i))) / (to - from) * float64(max(busy, 1)) / c.column
	}
}

// step is columns that a class takes alike, from one height to another.
type step struct {
	class               string
	from, to, low, high int
}

// steps returns the shares as heights, one class upon the other. What is there is never lower than a pixel.
func (c *cover) steps(height int) []step {
	below := make([]float64, c.columns)
	var out []step
	for _, class := range c.classes {
		from, low, high := 0, 0, 0
		for i := range c.columns + 1 {
			l, h := 0, 0
			if i < c.columns {
				share := c.shares[class][i]
				l = min(height-1, int(min(1, below[i])*float64(height)+0.5))
				if h = l; share > 0 {
					h = max(l+1, int(min(1, below[i]+share)*float64(height)+0.5))
				}
				below[i] += share
			}
			if i < c.columns && l == low && h == high {
				continue
			}
			if high > low {
				out = append(out, step{class, from, i, low, high})
			}
			from, low, high = i, l, h
		}
	}
	return out
}

// paths draws the steps of each class as one path.
func (c *cover) paths() []stillPath {
	var out []stillPath
	for _, s := range c.steps(stillHeight) {
		if len(out) == 0 || out[len(out)-1].Class != s.class {
			out = append(out, stillPath{Class: s.class})
		}
		out[len(out)-1].Path += fmt.Sprintf("M%d %dv%dh%dv%dz", s.from, stillHeight-s.low, s.low-s.high, s.to-s.from, s.high-s.low)
	}
	return out
}

// stretches are parts of the width, as far as they are drawn.
func (d *TimelineData) stretches(known ...[2]int64) (out []stillStretch) {
	for _, k := range known {
		from, to := max(k[0], d.From), min(k[1], d.Until)
		if to > from {
			out = append(out, stillStretch{Length(float64(from-d.From) / float64(d.span())), Length(float64(to-from) / float64(d.span()))})
		}
	}
	return out
}

// still makes the picture: the work of each GPU by kind, and the calls of each thread that are in the page.
func (d *TimelineData) still() []stillLine {
	var out []stillLine
	for _, row := range d.Rows {
		group := row.Label
		for _, lane := range row.Lanes {
			c, at := newCover(stillColumns, d.From, d.Until), int64(0)
			for _, item := range lane.Items {
				at += item[0]
				c.add("part-"+lane.Name, at, item[1], item[2])
			}
			out = append(out, stillLine{group, lane.Name, fmt.Sprintf("%s work of %s over %s", lane.Name, row.Label, typeset.Duration(d.span())), d.stretches([2]int64{d.From, d.Until}), c.paths()})
			group = ""
		}
	}
	for _, t := range d.Threads {
		c, at := newCover(stillColumns, d.From, d.Until), int64(0)
		for i := 0; i < len(t.Calls); i += 3 {
			at += t.Calls[i]
			c.add("part-"+strings.ReplaceAll(d.Names[d.Works[t.Calls[i+2]][1]], " ", "-"), at, t.Calls[i+1], t.Calls[i+1])
			at += t.Calls[i+1]
		}
		if t.Calls != nil {
			out = append(out, stillLine{t.Label, t.API, fmt.Sprintf("%s calls of %s over %s", t.API, t.Label, typeset.Duration(d.span())), d.stretches(t.Known...), c.paths()})
		}
	}
	return out
}
