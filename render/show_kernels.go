package render

import (
	"bytes"
	"slices"
	"strings"

	"prof/queries"
)

// writeScreenKernels writes the kernels that take most time; of a run with nothing but profiled kernels these.
func writeScreenKernels(out *bytes.Buffer, r *queries.Report, o Options) error {
	if f := r.Frame("top-kernels"); f != nil && len(f.Rows) > 0 {
		t, err := newRanking(f, "top kernels", "kernel", "share_ratio", screenKernels, o)
		if err != nil {
			return err
		}
		t.add("share", "share_ratio", 8)
		t.add("mean", "mean_ns", 7)
		t.add("calls", "calls", 6)
		t.add("role", "role", 5)
		t.add("bound by", "bound", 2)
		if o.Wide || o.Width >= familyWidth {
			t.add("family", "family", 1)
		}
		return t.write(out, o)
	}
	f := r.Frame("bottlenecks")
	if f == nil || len(f.Rows) == 0 {
		return nil
	}
	t, err := newRanking(f, "profiled kernels", "kernel", "replayed_mean_ns", screenKernels, o)
	if err != nil {
		return err
	}
	t.add("mean", "replayed_mean_ns", 8)
	t.add("launches", "launches", 6)
	t.add("bound by", "bound", 7)
	t.add("limiter", "limiter", 5)
	t.add("compute", "sm_ratio", 3)
	t.add("memory", "memory_ratio", 4)
	return t.write(out, o)
}

// writeScreenOperators writes the operators that take most time on the GPU, or on the CPU when nothing ran on a GPU.
func writeScreenOperators(out *bytes.Buffer, r *queries.Report, o Options) error {
	f := r.Frame("top-operators")
	if f == nil || len(f.Rows) == 0 {
		return nil
	}
	at, err := columnsOf(f, "self_device_ns", "share_ratio", "self_cpu_ns")
	if err != nil {
		return err
	}
	onDevice := slices.ContainsFunc(f.Rows, func(row []any) bool { n, _ := row[at["self_device_ns"]].(int64); return n > 0 })
	by := "self_cpu_ns"
	if onDevice {
		by = "share_ratio"
	}
	t, err := newRanking(f, "top operators", "operator", by, screenOperators, o)
	if err != nil {
		return err
	}
	t.add("share", "share_ratio", 8)
	if onDevice {
		t.add("on the GPU", "self_device_ns", 7)
	}
	t.add("calls", "calls", 6)
	t.add("on the CPU", "self_cpu_ns", 5)
	return t.write(out, o)
}

// familyWidth is how wide a terminal has room for the families of kernels beside names that can be told apart.
const familyWidth = 120

// nameWidth is what a name is shortened to at most while other columns can go.
const nameWidth = 26

// ranking is a table of the first rows of a ranked query: names, a bar each, and figures.
type ranking struct {
	frame   *queries.Frame
	rows    [][]any
	columns []screenColumn
}

// newRanking begins a table of the first rows with names and with bars as long as the values of a column, the longest a whole bar.
func newRanking(f *queries.Frame, title, name, by string, most int, o Options) (*ranking, error) {
	if err := check(f); err != nil {
		return nil, err
	}
	at, err := columnsOf(f, name, by)
	if err != nil {
		return nil, err
	}
	t := &ranking{frame: f, rows: f.Rows[:min(most, len(f.Rows))]}
	names, values, top := make([]string, len(t.rows)), make([]float64, len(t.rows)), 0.0
	for i, row := range t.rows {
		text, _ := row[at[name]].(string)
		names[i] = neutral(text)
		values[i] = barLength(row[at[by]])
		top = max(top, values[i])
	}
	if !o.Wide {
		names = plainNames(names)
	}
	t.columns = []screenColumn{{title: title, cells: names, least: nameWidth, keep: 9}}
	if top > 0 {
		t.columns = append(t.columns, screenColumn{draw: func(row, to int) string { return blocks(values[row]/top, to) }, least: 6, most: 40, keep: 3})
	}
	return t, nil
}

// barLength is a number as such; 0 for NULL, which has no bar.
func barLength(v any) float64 {
	switch n := v.(type) {
	case int64:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// add appends a column, unless the query has none of that name or nothing in it.
func (t *ranking) add(title, column string, keep int) {
	at := t.frame.Index(column)
	if at < 0 {
		return
	}
	c := screenColumn{title: title, right: t.frame.Columns[at].Type != queries.Text, keep: keep}
	some := false
	for _, row := range t.rows {
		cell := null
		switch v := row[at].(type) {
		case nil:
		case string:
			cell = neutral(v)
		default:
			cell = alone(t.frame.Columns[at], v)
		}
		some = some || cell != null
		c.cells = append(c.cells, cell)
	}
	if some {
		t.columns = append(t.columns, c)
	}
}

func (t *ranking) write(out *bytes.Buffer, o Options) error {
	out.WriteByte('\n')
	writeScreenTable(out, t.columns, len(t.rows), o)
	return nil
}

// blocks draws a share of so many cells in eighths of a cell; what is not zero is seen.
func blocks(share float64, cells int) string {
	eighths := int(share*float64(8*cells) + 0.5)
	if eighths == 0 && share > 0 {
		eighths = 1
	}
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return out
}

// plainNames takes from names of kernels what all C++ functions have and nobody tells them by, the return type void and the list of
// parameters, where they stay different without.
func plainNames(names []string) []string {
	out := make([]string, len(names))
	seen := map[string]int{}
	for i, name := range names {
		out[i] = withoutParameters(strings.TrimPrefix(name, "void "))
		seen[out[i]]++
	}
	for i, name := range names {
		if seen[out[i]] > 1 {
			out[i] = name
		}
	}
	return out
}

// withoutParameters cuts the parentheses that end a name, with what is in them.
func withoutParameters(name string) string {
	if !strings.HasSuffix(name, ")") {
		return name
	}
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			return name[:i]
		}
	}
	return name
}
