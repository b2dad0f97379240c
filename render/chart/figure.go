// Package chart draws frames: bars of text, and pictures of SVG that need no script and print. It knows no page around them.
package chart

import (
	"slices"
	"strconv"

	"prof/queries/frame"
	"prof/queries/judge"
)

// Figures are the pictures of a section; nil where it has none. All are SVG made here: they print, need no script, and are the same
// bytes each time. What lies across is in percent and what lies down in pixels, so that texts keep their size at any width.
type Figures struct {
	Bars      *barFigure
	Stages    *stageFigure
	Kernels   *kernelFigure
	Roofline  *rooflineFigure
	Durations *durationFigure
	Samples   *sampleFigure
	Skew      *skewFigure
}

// Makers fill in the pictures of a section, by its query. To add one, write its maker and template and add a line here.
var Makers = map[string]func(r *judge.Report, f *frame.Frame, to *Figures) error{
	"accounting": func(_ *judge.Report, f *frame.Frame, to *Figures) error {
		known, err := withNumbers(f, BarNumbers...)
		if err != nil || len(known.Rows) == 0 {
			return err
		}
		to.Bars, err = NewBarFigure(known)
		return err
	},
	"stages": func(_ *judge.Report, f *frame.Frame, to *Figures) (err error) {
		to.Stages, err = newStageFigure(f)
		return err
	},
	"stage-kernels": func(_ *judge.Report, f *frame.Frame, to *Figures) (err error) {
		to.Kernels, err = newKernelFigure(f)
		return err
	},
	"roofline": func(r *judge.Report, f *frame.Frame, to *Figures) (err error) {
		to.Roofline, err = newRooflineFigure(f, r.Frame("ceilings"))
		return err
	},
	"kernel-durations": func(_ *judge.Report, f *frame.Frame, to *Figures) (err error) {
		to.Durations, err = newDurationFigure(f)
		return err
	},
	"rank-passes": func(_ *judge.Report, f *frame.Frame, to *Figures) (err error) {
		to.Skew, err = newSkewFigure(f)
		return err
	},
	"sample-series": func(r *judge.Report, f *frame.Frame, to *Figures) (err error) {
		to.Samples, err = newSampleFigure(f, r.Frame("throttling"))
		return err
	},
}

// withoutTable are the queries whose rows are bins or points of lines: the picture says what they add up to, and the query gives them.
var withoutTable = []string{"kernel-durations", "sample-series"}

// withNumbers leaves out rows that lack one of some numbers: a share of no time is not defined.
func withNumbers(f *frame.Frame, columns ...string) (*frame.Frame, error) {
	if f == nil || len(f.Rows) == 0 {
		return f, nil
	}
	rows, err := f.Records(columns...)
	if err != nil {
		return nil, err
	}
	known := *f
	known.Rows = nil
	for i, r := range rows {
		if !slices.ContainsFunc(columns, func(c string) bool { _, ok := r.Finite(c); return !ok }) {
			known.Rows = append(known.Rows, f.Rows[i])
		}
	}
	return &known, nil
}

// BarNumbers are what a bar of accounting is drawn by.
var BarNumbers = []string{"total_ns", "share_ratio", "span_total_ns"}

// Pixels returns a distance as SVG takes it.
func Pixels(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// groupRows puts rows together that have the same key, in the order in which the keys come up.
func groupRows(rows []frame.Record, key func(frame.Record) string) [][]frame.Record {
	var out [][]frame.Record
	place := map[string]int{}
	for _, r := range rows {
		k := key(r)
		at, seen := place[k]
		if !seen {
			at = len(out)
			place[k] = at
			out = append(out, nil)
		}
		out[at] = append(out[at], r)
	}
	return out
}

// HasTable reports whether a query's rows are shown as a table too.
func HasTable(query string) bool { return !slices.Contains(withoutTable, query) }
