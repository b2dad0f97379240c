package report

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/rendertest"
	"prof/render/typeset"
)

// TestCells holds that cells add up to the width and that none is a cell or more off.
func TestCells(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		times, sum := make([]int64, 1+r.IntN(14)), int64(0)
		for i := range times {
			times[i] = 1 + r.Int64N(1<<r.IntN(40))
			sum += times[i]
		}
		b := chart.Bar{Span: float64(sum)}
		for _, ns := range times {
			b.Pieces = append(b.Pieces, chart.Piece{Ns: float64(ns), Share: float64(ns) / float64(sum)})
		}
		total := 0
		for i, n := range b.Cells(chart.BarCells) {
			total += n
			if exact := b.Pieces[i].Share * chart.BarCells; math.Abs(float64(n)-exact) >= 1 {
				t.Fatalf("%v: piece %d has %d cells for %f", times, i, n, exact)
			}
		}
		if total != chart.BarCells {
			t.Fatalf("%v: %d cells of %d", times, total, chart.BarCells)
		}
	}
}

func TestReportMarkdownBars(t *testing.T) {
	out := fileText(t, &judge.Report{Name: "a", Facts: [][2]string{{"run", "a"}}, Sections: reportSections()}, markdown(reportFile))
	rendertest.Compare(t, filepath.Join("testdata", "report", "report.md"), []byte(out))
	if !strings.Contains(out, strings.Repeat("█", 36)+strings.Repeat("L", 24)+"  60.0 % busy of 1 ms") {
		t.Error("the bar of the whole run is not there")
	}
}

// TestMarkdownBlock holds that nothing within a block of code can end it.
func TestMarkdownBlock(t *testing.T) {
	for text, fence := range map[string]string{"a\n": "```", "`\n": "```", "```\n": "````", "a ````` b ``\n": "``````"} {
		if got := typeset.MarkdownBlock(text); got != fence+"text\n"+text+fence+"\n" {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestBarsRefuse(t *testing.T) {
	part := accountingFrame()
	part.Rows[1][2] = "coffee"
	column := accountingFrame()
	column.Columns[2].Name = "piece"
	for want, f := range map[string]*frame.Frame{
		`query accounting: row 2: accounting has a part "coffee" that no bar knows`: part,
		"query accounting: no column part":                                          column,
	} {
		if _, err := chart.BarsOf(f); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestBarFigure holds that pieces follow each other without a gap, and that text stands where it has room.
func TestBarFigure(t *testing.T) {
	figure, err := chart.NewBarFigure(accountingFrame())
	if err != nil {
		t.Fatal(err)
	}
	if len(figure.Bars) != 2 || len(figure.Legend) != 4 {
		t.Fatalf("%d bars, %d parts in the legend", len(figure.Bars), len(figure.Legend))
	}
	p := figure.Bars[0].Pieces
	if p[0].X != "0.000%" || p[0].Width != "60.000%" || p[1].X != "60.000%" || p[2].X != "99.500%" || p[2].Width != "0.500%" {
		t.Errorf("the pieces are %+v", p)
	}
	if p[0].Text != "compute 60 %" || p[1].Text != "launch 40 %" || p[2].Text != "" {
		t.Errorf("texts are %q, %q, %q", p[0].Text, p[1].Text, p[2].Text)
	}
	if got := figure.Bars[0].Spoken; got != "(run), GPU 0: 60.0 % busy of 1 ms; compute 60.0 %; launch 39.5 %; unknown 0.5 %" {
		t.Errorf("it is spoken as %q", got)
	}
}
