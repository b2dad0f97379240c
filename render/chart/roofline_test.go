package chart

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"prof/render/rendertest"
)

// TestRoofline holds where launches, roofs and ridges lie: the axes go from 1 to 1,000 FLOP per byte and from 10^11 to 10^15 FLOP/s.
func TestRoofline(t *testing.T) {
	f, err := newRooflineFigure(rendertest.RooflineFrame(), rendertest.CeilingsFrame())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Plots) != 2 || f.Plots[0].Device != "X" || f.Plots[1].Device != "(unknown)" || f.Query[0] != "ceilings v1" {
		t.Fatalf("the plots are %+v", f.Plots)
	}
	p := f.Plots[0]
	if len(p.Dots) != 2 || p.Dots[0].X != "66.667%" || p.Dots[0].Y != Pixels(rooflineHeight*(1-2.69897/4)) || p.Dots[1].X != "0.000%" || p.Dots[1].Y != Pixels(rooflineHeight) {
		t.Errorf("the dots are %+v", p.Dots)
	}
	if !strings.HasSuffix(p.Dots[0].Title, ": launch no. 1, prefill, tensor_bf16, 100 FLOP/byte, 50 TFLOP/s, 50.0 % of attainable, compute side") {
		t.Errorf("of the first is said %q", p.Dots[0].Title)
	}
	if p.Dots[0].Class == p.Dots[1].Class || p.Dots[0].Shape == p.Dots[1].Shape {
		t.Error("precisions or stages look the same")
	}
	lines := map[string]roofLine{}
	for _, l := range p.Lines {
		lines[l.Title] = l
	}
	if l := lines["DRAM bandwidth: 1,000 GB/s (measured)"]; l.X1 != "0.000%" || l.Y1 != Pixels(rooflineHeight*0.75) || l.X2 != "100.000%" || l.Y2 != "0.0" || !strings.Contains(l.Class, "dram") {
		t.Errorf("the bandwidth is %+v of %v", l, p.Lines)
	}
	if l := lines["tensor_bf16: 100 TFLOP/s (measured), ridge at 100 FLOP/byte"]; l.X1 != "66.667%" || l.Y1 != Pixels(rooflineHeight*0.25) || l.X2 != "100.000%" || !strings.Contains(l.Class, "own") {
		t.Errorf("the ceiling of tensor_bf16 is %+v of %v", l, p.Lines)
	}
	if l := lines["tensor_bf16: 200 TFLOP/s (table of dense peaks), ridge at 200 FLOP/byte"]; !strings.HasSuffix(l.Class, "table") {
		t.Errorf("the ceiling by the table is %+v", l)
	}
	if len(p.Ridges) != 2 || p.Ridges[0].X != "33.333%" || p.Ridges[1].X != "66.667%" {
		t.Errorf("the ridges are %+v", p.Ridges)
	}
	texts := ""
	for _, l := range p.Labels {
		texts += l.Class + " " + l.X + " " + l.Text + "; "
	}
	if texts != "own 100.000% fp32 10 TFLOP/s; own narrow 65.167% 100 TFLOP/s; own broad 65.167% tensor_bf16, tensor_fp16 100 TFLOP/s; own 9.000% DRAM 1,000 GB/s; " {
		t.Errorf("the labels are %s", texts)
	}
	if len(p.Stages) != 2 || p.Stages[0].Text != "of this shape: decode" || p.Stages[0].Shape != p.Dots[1].Shape {
		t.Errorf("the shapes are %+v", p.Stages)
	}
	if len(p.Resources) != 2 || p.Resources[0].Class != p.Dots[1].Class { // none of fp64, of which nothing is drawn
		t.Errorf("the colours are %+v", p.Resources)
	}
	if len(p.Missing) != 1 || p.NotDrawable != "1 launch is not drawn (no intensity or rate):" || !strings.Contains(p.Missing[0], "launch no. 2, decode, fp64, no intensity") {
		t.Errorf("what is not drawn: %s %q", p.NotDrawable, p.Missing)
	}
	if other := f.Plots[1]; len(other.Lines) != 0 || len(other.Dots) != 1 || len(other.Stages) != 0 {
		t.Errorf("a device without ceilings has %+v", other)
	}
}

// TestRooflineWithoutCeilings holds that launches are drawn where no ceilings are known, and that a plot without launches says so.
func TestRooflineWithoutCeilings(t *testing.T) {
	f, err := newRooflineFigure(rendertest.RooflineFrame(), nil)
	if err != nil || len(f.Plots[0].Lines) != 0 || len(f.Plots[0].Dots) != 2 || f.Ceilings != nil {
		t.Errorf("%+v, %v", f, err)
	}
	none := rendertest.RooflineFrame()
	none.Rows = none.Rows[2:3]
	if f, err = newRooflineFigure(none, rendertest.CeilingsFrame()); err != nil || len(f.Plots[0].Dots) != 0 || len(f.Plots[0].Missing) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestRooflineNumbers holds that those that took longest are numbered, in the order of the table, and that no two numbers lie on one
// another where there is room.
func TestRooflineNumbers(t *testing.T) {
	f := rendertest.RooflineFrame()
	f.Rows = nil
	for i := range 3 * dotsNumbered {
		f.Rows = append(f.Rows, []any{int64(i), "k", "fp32", 0.1, "memory", 1e11 * float64(1+i%7), 1 + float64(i), float64(1e9 * (1 + i)), "decode", "X"})
	}
	figure, err := newRooflineFigure(f, rendertest.CeilingsFrame())
	if err != nil {
		t.Fatal(err)
	}
	p := figure.Plots[0]
	if len(p.Dots) != 3*dotsNumbered || len(p.Points) != dotsNumbered || p.Points[0].Number != "1" || p.Points[dotsNumbered-1].Number != "24" || p.Points[0].order >= p.Points[1].order {
		t.Errorf("%d dots, %d with a number, from %s", len(p.Dots), len(p.Points), p.Points[0].Number)
	}
	least := p.Points[0].duration
	for _, d := range p.Points {
		least = min(least, d.duration)
	}
	for _, d := range p.Dots {
		if d.Number == "" && d.duration > least {
			t.Errorf("launch %d took longer than one that has a number", d.order)
		}
	}
	if p.Unnumbered != "Of 72 launches the 24 that took longest have a number; the query below gives all." {
		t.Errorf("it says %q", p.Unnumbered)
	}
	pair := rendertest.RooflineFrame()
	pair.Rows = [][]any{pair.Rows[1], pair.Rows[1]}
	if figure, err = newRooflineFigure(pair, nil); err != nil || figure.Plots[0].Points[0].Near != "1, 2" || figure.Plots[0].Points[1].Near != "" {
		t.Errorf("two dots in one place: %+v, %v", figure.Plots[0].Points, err)
	}
	if p, err := RooflinePicture(pair, nil, ""); !bytes.Contains(drawn(t, p, err), []byte(">1, 2<")) {
		t.Error("the picture has no number of two dots in one place")
	}
	pair.Rows = slices.Repeat(pair.Rows[:1], 10)
	pair.Rows[3] = f.Rows[5]
	if figure, err = newRooflineFigure(pair, nil); err != nil || figure.Plots[0].Points[0].Near != "1 to 3, 5 to 10" {
		t.Errorf("many dots in one place: %+v, %v", figure.Plots[0].Points, err)
	}
}
