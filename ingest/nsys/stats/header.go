package stats

import (
	"encoding/csv"
	"slices"
	"strings"
)

// column is a column of a table by what it means, whatever the version of nsys calls it.
type column struct {
	name string // in lower case, without its unit
	unit string // as written; "" where none is
}

// synonyms are names that older versions gave to columns.
var synonyms = map[string]string{
	"average": "avg", "minimum": "min", "maximum": "max", "median": "med", "calls": "num calls", "operations": "count", "blockxyz": "block", "gridxyz": "grid",
	"proj average": "proj avg", "total": "total", "time": "time",
}

func columnOf(text string) column {
	c := column{name: strings.Join(strings.Fields(strings.ToLower(text)), " ")}
	if in, ends := strings.CutSuffix(c.name, ")"); ends {
		if at := strings.LastIndexByte(in, '('); at >= 0 && !strings.Contains(in[at:], ")") {
			c.name, c.unit = strings.TrimRight(in[:at], " "), in[at+1:]
		}
	}
	if plain, ok := synonyms[c.name]; ok {
		c.name = plain
	}
	return c
}

// form is how the columns of a table are known: those that it must have, and one of its names for the name and for the count of a row.
type form struct {
	what         string
	must         []string
	count, label []string
	prefix       string // of the columns of its figures
	total        string
}

// forms are tried in this order: the first whose columns a table has.
var forms = []form{
	{what: rangeKernels, must: []string{"nvtx range", "style", "kernel name"}, count: []string{"kern inst"}, label: []string{"nvtx range"}, total: "total time"},
	{what: "", must: []string{"api name", "kernel name", "qcount"}},
	{what: rangeWork, must: []string{"style", "proj avg"}, count: []string{"range instances"}, label: []string{"range"}, prefix: "proj ", total: "total proj time"},
	{what: deviceWork, must: []string{"category"}, count: []string{"instances"}, label: []string{"operation"}, total: "total time"},
	{what: kernelGrids, must: []string{"grid", "block"}, count: []string{"instances"}, label: []string{"name"}, total: "total time"},
	{what: ranges, must: []string{"style"}, count: []string{"instances"}, label: []string{"range"}, total: "total time"},
	{what: ranges, count: []string{"instances"}, label: []string{"range"}, total: "total time"},
	{what: memoryTimes, count: []string{"count"}, label: []string{"operation", "name"}, total: "total time"},
	{what: kernels, count: []string{"instances"}, label: []string{"name"}, total: "total time"},
	{what: apiCalls, count: []string{"num calls"}, label: []string{"name"}, total: "total time"},
	{what: memorySizes, count: []string{"count"}, label: []string{"operation", "name"}, total: "total"},
}

// header is the header of a table: which columns hold what.
type header struct {
	form
	names    []string
	columns  []column
	at       map[string]int
	label    int // of the row's name
	count    int
	before   int // leading columns that hold text in which anything may stand
	behind   int // trailing ones
	unitless bool
}

// textColumns hold names, in which commas and quotes may stand.
var textColumns = []string{"name", "operation", "range", "nvtx range", "kernel name"}

// headerOf reads the header of a table; nil for any other line.
func headerOf(line string) *header {
	if !strings.Contains(line, ",") || len(line) > maxHeader || !mayBe(line, "avg", "average", "qcount") { // one of which each form has
		return nil
	}
	names, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil {
		return nil
	}
	h := &header{names: names, at: map[string]int{}}
	for i, name := range names {
		c := columnOf(name)
		if _, twice := h.at[c.name]; twice {
			return nil
		}
		h.at[c.name] = i
		h.columns = append(h.columns, c)
	}
	for _, f := range forms {
		if h.is(f) {
			h.form = f
			h.edges()
			return h
		}
	}
	return nil
}

const maxHeader = 4096

// mayBe reports whether a line has one of these in names of its columns, or elsewhere: to read all lines of files that hold no table takes long.
func mayBe(line string, oneOf ...string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(oneOf, func(name string) bool { return strings.Contains(line, name) })
}

func (h *header) is(f form) bool {
	must := f.must
	if f.total != "" {
		must = slices.Concat(must, []string{f.total, f.prefix + "avg", f.prefix + "min", f.prefix + "max"})
	}
	for _, name := range must {
		if _, has := h.at[name]; !has {
			return false
		}
	}
	if f.what == "" {
		return true
	}
	var hasCount, hasLabel bool
	h.count, hasCount = h.first(f.count)
	h.label, hasLabel = h.first(f.label)
	return hasCount && hasLabel
}

func (h *header) first(names []string) (int, bool) {
	for _, name := range names {
		if i, has := h.at[name]; has {
			return i, true
		}
	}
	return 0, false
}

// edges counts the columns of text at either end.
func (h *header) edges() {
	isText := func(c column) bool { return slices.Contains(textColumns, c.name) }
	for h.before < len(h.columns) && isText(h.columns[h.before]) {
		h.before++
	}
	for h.behind < len(h.columns)-h.before && isText(h.columns[len(h.columns)-1-h.behind]) {
		h.behind++
	}
	total := h.columns[h.at[h.total]]
	h.unitless = h.what != "" && total.unit == ""
}
