package render

import (
	"math"
	"slices"
	"strconv"

	"prof/queries/frame"
	"prof/queries/judge"
)

// figures are the pictures of a section; nil where it has none. All are SVG made here: they print, need no script, and are the same
// bytes each time. What lies across is in percent and what lies down in pixels, so that texts keep their size at any width.
type figures struct {
	Bars      *barFigure
	Stages    *stageFigure
	Kernels   *kernelFigure
	Roofline  *rooflineFigure
	Durations *durationFigure
	Samples   *sampleFigure
}

// figureMakers fill in the pictures of a section, by its query. To add one, write its maker and template and add a line here.
var figureMakers = map[string]func(r *judge.Report, f *frame.Frame, to *figures) error{
	"accounting": func(_ *judge.Report, f *frame.Frame, to *figures) error {
		known, err := withNumbers(f, barNumbers...)
		if err != nil || len(known.Rows) == 0 {
			return err
		}
		to.Bars, err = newBarFigure(known)
		return err
	},
	"stages": func(_ *judge.Report, f *frame.Frame, to *figures) (err error) {
		to.Stages, err = newStageFigure(f)
		return err
	},
	"stage-kernels": func(_ *judge.Report, f *frame.Frame, to *figures) (err error) {
		to.Kernels, err = newKernelFigure(f)
		return err
	},
	"roofline": func(r *judge.Report, f *frame.Frame, to *figures) (err error) {
		to.Roofline, err = newRooflineFigure(f, r.Frame("ceilings"))
		return err
	},
	"kernel-durations": func(_ *judge.Report, f *frame.Frame, to *figures) (err error) {
		to.Durations, err = newDurationFigure(f)
		return err
	},
	"sample-series": func(r *judge.Report, f *frame.Frame, to *figures) (err error) {
		to.Samples, err = newSampleFigure(f, r.Frame("throttling"))
		return err
	},
}

// withoutTable are the queries whose rows are bins or points of lines: the picture says what they add up to, and the query gives them.
var withoutTable = []string{"kernel-durations", "sample-series"}

// finite gives a number that can be drawn; ok is false where there is NULL, and of what is infinite or not a number.
func (r record) finite(column string) (v float64, ok bool) {
	if v, ok = r.float(column); math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, ok
}

// withNumbers leaves out rows that lack one of some numbers: a share of no time is not defined.
func withNumbers(f *frame.Frame, columns ...string) (*frame.Frame, error) {
	if f == nil || len(f.Rows) == 0 {
		return f, nil
	}
	rows, err := recordsOf(f, columns...)
	if err != nil {
		return nil, err
	}
	known := *f
	known.Rows = nil
	for i, r := range rows {
		if !slices.ContainsFunc(columns, func(c string) bool { _, ok := r.finite(c); return !ok }) {
			known.Rows = append(known.Rows, f.Rows[i])
		}
	}
	return &known, nil
}

// barNumbers are what a bar of accounting is drawn by.
var barNumbers = []string{"total_ns", "share_ratio", "span_total_ns"}

// pixels gives a distance as SVG takes it.
func pixels(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// amount shows a number in its base unit as it stands in a sentence.
func amount(unit frame.Unit, v float64) string {
	switch {
	case v == 0:
		return "0"
	case unit == frame.Ratio && v*100 == math.Trunc(v*100):
		return strconv.FormatFloat(v*100, 'f', 0, 64) + " %"
	}
	return alone(frame.Column{Name: "value", Type: frame.Float, Unit: unit}, v)
}

// threeDigits shows a number without a unit, with as many digits as tell it from others.
func threeDigits(v float64) string {
	if v < 0.001 {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return scale{step: step{div: 1}, decimals: decimalsFor(v, 3), group: true}.number(v)
}

// nanoseconds shows a time that need not be whole.
func nanoseconds(ns float64) string { return amount(frame.Ns, ns) }

// numberOf is a number of things in words: 1 pass, 3 passes.
func numberOf(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return groupedInt(n) + " " + many
}

// firstOf gives at most so many of a list, and how many are left.
func firstOf[T any](list []T, most int) (first []T, left int) {
	if len(list) <= most {
		return list, 0
	}
	return list[:most], len(list) - most
}

// groupRows puts rows together that have the same key, in the order in which the keys come up.
func groupRows(rows []record, key func(record) string) [][]record {
	var out [][]record
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

// hasTable says whether a query's rows are shown as a table too.
func hasTable(query string) bool { return !slices.Contains(withoutTable, query) }
