package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"prof/queries"
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
var figureMakers = map[string]func(r *queries.Report, f *queries.Frame, to *figures) error{
	"accounting": func(_ *queries.Report, f *queries.Frame, to *figures) (err error) {
		to.Bars, err = newBarFigure(f)
		return err
	},
	"stages": func(_ *queries.Report, f *queries.Frame, to *figures) (err error) {
		to.Stages, err = newStageFigure(f)
		return err
	},
	"stage-kernels": func(_ *queries.Report, f *queries.Frame, to *figures) (err error) {
		to.Kernels, err = newKernelFigure(f)
		return err
	},
	"roofline": func(r *queries.Report, f *queries.Frame, to *figures) (err error) {
		to.Roofline, err = newRooflineFigure(f, r.Frame("ceilings"))
		return err
	},
	"kernel-durations": func(_ *queries.Report, f *queries.Frame, to *figures) (err error) {
		to.Durations, err = newDurationFigure(f)
		return err
	},
	"sample-series": func(r *queries.Report, f *queries.Frame, to *figures) (err error) {
		to.Samples, err = newSampleFigure(f, r.Frame("throttling"))
		return err
	},
}

// withoutTable are the queries whose rows are bins or points of lines: the picture says what they add up to, and the query gives them.
var withoutTable = []string{"kernel-durations", "sample-series"}

// float gives a number of either type; ok is false where there is NULL.
func (r record) float(column string) (v float64, ok bool) {
	switch v := r.row[r.at[column]].(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// known gives a number that must be there; row counts from 0.
func (r record) known(f *queries.Frame, row int, column string) (float64, error) {
	v, ok := r.float(column)
	if !ok {
		return 0, fmt.Errorf("render %s: row %d lacks %s", f.Query, row+1, column)
	}
	return v, nil
}

// pixels gives a distance as SVG takes it.
func pixels(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// amount shows a number in its base unit as it stands in a sentence.
func amount(unit queries.Unit, v float64) string {
	switch {
	case v == 0:
		return "0"
	case unit == queries.Ratio && v*100 == math.Trunc(v*100):
		return strconv.FormatFloat(v*100, 'f', 0, 64) + " %"
	}
	return alone(queries.Column{Name: "value", Type: queries.Float, Unit: unit}, v)
}

// threeDigits shows a number without a unit, with as many digits as tell it from others.
func threeDigits(v float64) string {
	if v < 0.001 {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return scale{step: step{div: 1}, decimals: decimalsFor(v, 3), group: true}.number(v)
}

// nanoseconds shows a time that need not be whole.
func nanoseconds(ns float64) string { return amount(queries.Ns, ns) }

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
