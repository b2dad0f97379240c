package stats

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/load"
)

// row is one row of a report: its cells by column, and where it is.
type row struct {
	*header
	cells []string
	line  int
}

// split separates the cells of a row; false where more lines belong to it or it has no such cells. nsys writes names between quotes without
// doubling the quotes in them, so that commas and quotes in a name show by the columns around it, which hold numbers.
func (h *header) split(text string) ([]string, bool) {
	strict := csv.NewReader(strings.NewReader(text))
	if cells, err := strict.Read(); err == nil && len(cells) == len(h.names) && int(strict.InputOffset()) == len(text) && h.fits(cells[h.before:len(cells)-h.behind], h.before) {
		return cells, true
	}
	pieces := strings.Split(text, ",")
	inner := len(h.names) - h.before - h.behind
	first, most := min(h.before, 1), len(pieces)-inner-min(h.behind, 1)
	switch {
	case h.before == 0:
		most = 0
	case h.behind == 0:
		first = most
	}
	if len(pieces) > maxPieces || len(pieces) < len(h.names) {
		return nil, false
	}
	// The first place where the columns between the texts fit: a name may hold what looks like some of them.
	for tried := 0; first <= most && tried < maxTries; first++ {
		if !h.fits(pieces[first:first+inner], h.before) {
			continue
		}
		tried++
		before, okBefore := texts(pieces[:first], h.before)
		behind, okBehind := texts(pieces[first+inner:], h.behind)
		if okBefore && okBehind {
			return slices.Concat(before, pieces[first:first+inner], behind), true
		}
	}
	return nil, false
}

// A name with more commas, or that looks like the columns around it more often, is none.
const (
	maxPieces = 10000
	maxTries  = 16
)

// texts returns n columns of text from the pieces that commas separate: the last one takes what is left.
func texts(pieces []string, n int) ([]string, bool) {
	if n == 0 {
		return nil, len(pieces) == 0
	}
	if len(pieces) < n {
		return nil, false
	}
	out := make([]string, n)
	copy(out, pieces[:n-1])
	out[n-1] = strings.Join(pieces[n-1:], ",")
	for i, s := range out {
		switch quoted := strings.HasPrefix(s, `"`); {
		case quoted && len(s) > 1 && strings.HasSuffix(s, `"`):
			out[i] = s[1 : len(s)-1]
		case quoted:
			return nil, false // it goes on in the next line
		}
	}
	return out, true
}

// fits reports whether cells can be those of the columns from one on: numbers where there must be.
func (h *header) fits(cells []string, from int) bool {
	for i, s := range cells {
		switch c := h.columns[from+i]; c.name {
		case h.total, "pid", "tid", h.prefix + "min", h.prefix + "max", "nvtx inst", "kern inst", "instances", "count", "num calls", "range instances":
			if s == "" || strings.Trim(s, "0123456789.-") != "" {
				return false
			}
		case "style":
			if s != "" && styleOf(s) == "" { // kernels outside every range have none
				return false
			}
		case "grid", "block":
			if _, ok := xyz(s); !ok {
				return false
			}
		}
	}
	return true
}

// styleOf returns the style of a range as nvtx_range has it.
func styleOf(s string) string {
	switch strings.ToLower(s) {
	case "pushpop":
		return pushPop
	case "startend":
		return startEnd
	}
	return ""
}

// xyz reads nsys' padded `  64   64    1`.
func xyz(s string) (out [3]int32, ok bool) {
	parts := strings.Fields(s)
	if len(parts) != 3 {
		return out, false
	}
	for i, p := range parts {
		v, err := strconv.ParseInt(p, 10, 32)
		if err != nil || v < 0 {
			return out, false
		}
		out[i] = int32(v)
	}
	return out, true
}

// cell returns a cell by the name of its column; "" where the table has no such column.
func (r row) cell(name string) string {
	if i, has := r.at[name]; has {
		return r.cells[i]
	}
	return ""
}

// integer reads a whole number; nil where the table has no such column.
func (r row) integer(name string) (*int64, error) {
	i, has := r.at[name]
	if !has {
		return nil, nil
	}
	v, err := strconv.ParseInt(r.cells[i], 10, 64)
	if err != nil || v < 0 || v > mostAmount {
		return nil, fmt.Errorf("%s is %q, not a count", r.names[i], shorten(r.cells[i]))
	}
	return &v, nil
}

// figures are the sum and spread of a row in base units; nil where the table has no such column, or has rounded it to nothing.
type figures struct {
	total, min, max   *int64
	mean, median, std *float64
	step              float64 // the largest of any
}

// figures reads them. Where a column says no unit, it is the total's; a table without any is in nanoseconds, as its title said that csv left out.
func (r row) figures(units map[string]unit) (figures, error) {
	var out figures
	plain := r.columns[r.at[r.total]].unit
	read := func(name string) (*amount, error) {
		i, has := r.at[name]
		if !has || noFigure(r.cells[i]) && name != r.total {
			return nil, nil
		}
		text := r.columns[i].unit
		if text == "" {
			text = plain
		}
		u, known := units[text]
		if text == "" {
			u, known = 1, true
		}
		if !known {
			return nil, fmt.Errorf("%s has a unit that prof does not know", r.names[i])
		}
		a, err := amountOf(r.cells[i], u)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.names[i], err)
		}
		out.step = max(out.step, a.step)
		if a.isUnknown() {
			return nil, nil
		}
		return &a, nil
	}
	for name, to := range map[string]**int64{r.total: &out.total, r.prefix + "min": &out.min, r.prefix + "max": &out.max} {
		a, err := read(name)
		if err != nil {
			return out, err
		}
		if a != nil {
			*to = new(a.whole())
		}
	}
	for name, to := range map[string]**float64{r.prefix + "avg": &out.mean, r.prefix + "med": &out.median, r.prefix + "stddev": &out.std} {
		a, err := read(name)
		if err != nil {
			return out, err
		}
		if a != nil {
			*to = new(a.float())
		}
	}
	return out, nil
}

// noFigure are cells that stand for a value that there is none of.
func noFigure(s string) bool {
	switch strings.ToLower(s) {
	case "", "nan", "none", "-", "n/a":
		return true
	}
	return false
}

// rangeOf separates the domain that nsys writes before the name of a range: `domain:name`, and `:name` for the default one. Versions that do not
// write it have names without a colon.
func rangeOf(text string) (domain, name string) {
	domain, name, found := strings.Cut(text, ":")
	if !found {
		return "", load.RangeName(text)
	}
	return domain, load.RangeName(name)
}
