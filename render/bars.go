package render

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
)

// part is what one kind of time looks like in a bar.
type part struct {
	name string // as the query accounting calls it
	fill rune   // what fills its cells in a bar of text: blocks are work, letters are idle
	doc  string // what it means, in a few words
}

// parts are those of accounting, in its order.
var parts = []part{
	{"compute", '█', "kernels"},
	{"collective-overlapped", '▓', "collectives beside other kernels"},
	{"collective-exposed", '▒', "collectives alone"},
	{"graph", '▞', "graph replays traced as a whole"},
	{"copy", '░', "copies and fills alone"},
	{"other", 'o', "only work of others"},
	{"launch", 'L', "idle, in a call that launches"},
	{"late", 'l', "idle, on the way to the next launch"},
	{"launch-latency", 'd', "idle, launched late and not started yet"},
	{"wait", 'w', "idle, waiting for the device"},
	{"call", 'c', "idle, in another CUDA call"},
	{"host", 'h', "idle, outside CUDA"},
	{"profiler", 'p', "idle, the profiler at work"},
	{"queued", 'q', "idle although launched"},
	{"unknown", '?', "idle, launch not captured"},
}

func partNamed(name string) (part, error) {
	at := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
	if at < 0 {
		return part{}, fmt.Errorf("accounting has a part %q that no bar knows", name)
	}
	return parts[at], nil
}

// bar is the time of one stage on one GPU, cut into parts that add up to it.
type bar struct {
	stage  string
	device int64
	span   int64 // ns
	pieces []piece
}

// piece is one part of a bar.
type piece struct {
	part
	ns    int64
	share float64 // of the bar's span
}

// barsOf reads the bars from the rows of accounting.
func barsOf(f *frame.Frame) ([]bar, error) {
	at, err := columnsOf(f, "stage", "device", "part", "total_ns", "share_ratio", "span_total_ns")
	if err != nil {
		return nil, err
	}
	var bars []bar
	for i, row := range f.Rows {
		stage, _ := row[at["stage"]].(string)
		device, _ := row[at["device"]].(int64)
		name, _ := row[at["part"]].(string)
		ns, hasTime := row[at["total_ns"]].(int64)
		share, hasShare := row[at["share_ratio"]].(float64)
		span, hasSpan := row[at["span_total_ns"]].(int64)
		if !hasTime || !hasShare || !hasSpan {
			return nil, fmt.Errorf("render %s: row %d lacks a time", f.Query, i+1)
		}
		p, err := partNamed(name)
		if err != nil {
			return nil, fmt.Errorf("render %s: row %d: %w", f.Query, i+1, err)
		}
		if n := len(bars); n == 0 || bars[n-1].stage != stage || bars[n-1].device != device {
			bars = append(bars, bar{stage: stage, device: device, span: span})
		}
		last := &bars[len(bars)-1]
		last.pieces = append(last.pieces, piece{p, ns, share})
	}
	return bars, nil
}

// busy is the share of the bar in which work of its own ran.
func (b bar) busy() float64 {
	share := 0.0
	for _, p := range b.pieces {
		if slices.Contains([]string{"compute", "collective-overlapped", "collective-exposed", "graph", "copy"}, p.name) {
			share += p.share
		}
	}
	return share
}

// has says which parts any of the bars has, in order.
func has(bars []bar) []part {
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
		return !slices.ContainsFunc(bars, func(b bar) bool {
			return slices.ContainsFunc(b.pieces, func(q piece) bool { return q.name == p.name })
		})
	})
}

// cells gives the number of cells that each piece has of so many, by largest remainder: they add up to all of them, and none is a cell or
// more off. Of equal remainders the earlier one is served first.
func (b bar) cells(all int) []int {
	out, order := make([]int, len(b.pieces)), make([]int, len(b.pieces))
	rest := make([]float64, len(b.pieces))
	left := all
	for i, p := range b.pieces {
		exact := p.share * float64(all)
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
	barCells  = 60
	barLabels = 32
)

// textBars draws bars with one letter or block a cell, and what each stands for. A part smaller than its cell is not drawn.
func textBars(bars []bar) string {
	var out strings.Builder
	widest := 0
	for _, b := range bars {
		widest = max(widest, width(b.shortLabel()))
	}
	for _, b := range bars {
		label := b.shortLabel()
		out.WriteString(label + strings.Repeat(" ", widest-width(label)) + "  ")
		for i, n := range b.cells(barCells) {
			out.WriteString(strings.Repeat(string(b.pieces[i].fill), n))
		}
		fmt.Fprintf(&out, "  %s busy of %s\n", percent(b.busy()), duration(b.span))
	}
	out.WriteByte('\n')
	for _, p := range has(bars) {
		fmt.Fprintf(&out, "%c %s: %s\n", p.fill, p.name, p.doc)
	}
	return out.String()
}

func (b bar) label() string { return fmt.Sprintf("%s, GPU %d", neutral(b.stage), b.device) }

// shortLabel is the label with the stage cut where it is too long for a line.
func (b bar) shortLabel() string {
	b.stage = shorten(neutral(b.stage), barLabels-len(", GPU 0"), 60)
	return b.label()
}

// percent shows a share as it stands in a sentence.
func percent(share float64) string {
	return alone(frame.Column{Name: "share_ratio", Type: frame.Float, Unit: frame.Ratio}, share)
}

// duration shows a time as it stands in a sentence.
func duration(ns int64) string {
	return alone(frame.Column{Name: "total_ns", Type: frame.Int, Unit: frame.Ns}, ns)
}
