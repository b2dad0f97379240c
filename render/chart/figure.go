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
		figure, err := NewBarFigure(f)
		if err == nil && len(figure.Bars) > 0 {
			to.Bars = figure
		}
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
	"ncu-samples": func(_ *judge.Report, f *frame.Frame, to *Figures) (err error) {
		to.Samples, err = newCourseFigure(f)
		return err
	},
}

// withoutTable are the queries whose rows are bins or points of lines: the picture says what they add up to, and the query gives them.
var withoutTable = []string{"kernel-durations", "sample-series", "ncu-samples"}

// Pixels returns a distance as SVG takes it.
func Pixels(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// groupRows puts rows together that have the same key, in the order in which the keys come up.
func groupRows[T any](rows []T, key func(T) string) [][]T {
	var out [][]T
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
