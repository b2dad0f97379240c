package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// View is a table as the page shows it: the texts of Markdown, with the values that its columns are sorted by.
type View struct {
	Caption  string
	Class    string // how narrow it is printed, and whether its first column stays in sight on a phone
	Columns  []ColumnView
	Rows     [][]CellView
	LeftOut  string // rows that are not there; "" when all are
	Without  string // columns that are not there; "" when all are
	OffPaper string // columns that are not printed; "" when all are
}

// ColumnView is one of its columns.
type ColumnView struct {
	Name  string // as in SQL
	Title string
	Doc   string
	Class string
}

// CellView is one of its cells.
type CellView struct {
	Text  string
	Short string // of a long name; "" where Text is shown
	Sort  string // the value in base units, of numbers; "" of texts and NULL
	Class string // long: it may take several lines; name: of a column of long names, which can be opened; n: a number; aside: not printed
	Right bool
	Code  bool
	Null  bool
	Bar   string // of a share: how long its bar is, in percent; "" for none
	Jump  string // address of where the page shows the row; "" for nowhere
}

// NewView makes a table of the first rows of a frame, as many as e says. names gives names of kernels in short.
func NewView(f *frame.Frame, caption string, e Excerpt, names map[string]string) (*View, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	f, unknown := knownColumns(measured(f))
	first, left := e.Of(f)
	t, err := Of(first)
	if err != nil {
		return nil, err
	}
	t.Caption = caption
	t, hidden := e.columns(t)
	v := t.view(names)
	v.LeftOut, v.Without = left, columnsLeftOut(unknown, hidden)
	return v, nil
}

// View makes a table of the first rows.
func (t Table) View() *View {
	var left string
	t.Rows, left = PageExcerpt.cells(t.Rows)
	v := t.view(nil)
	v.LeftOut = left
	return v
}

func (t Table) view(names map[string]string) *View {
	aside := t.offPaper()
	v := &View{Caption: t.Caption, Class: t.class(), Rows: make([][]CellView, len(t.Rows))}
	var off []string
	for j, c := range t.Columns {
		isAside := slices.Contains(aside, j)
		if isAside {
			off = append(off, c.Title)
		}
		v.Columns = append(v.Columns, ColumnView{c.Name, c.Title, c.Doc, cellClass(c.Right, isAside, "")})
		short, named := func(s string) string { return s }, false
		if !c.Right && !c.Full {
			short = t.shortNames(j, names)
			named = slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[j].Code && short(row[j].Text) != row[j].Text })
		}
		for i, row := range t.Rows {
			v.Rows[i] = append(v.Rows[i], row[j].view(c, short, named, isAside, t.fitted))
		}
	}
	v.OffPaper = listed("Hidden in print: ", off)
	return v
}

func (c Cell) view(of Column, short func(string) string, named, aside, fitted bool) CellView {
	v := CellView{Text: c.Shown(), Right: of.Right, Sort: c.Value, Null: c.Null || c.Text == "", Code: c.Code}
	long, longText := "", typeset.LongText
	if fitted {
		longText = typeset.ClearText
	}
	if c.Code && !of.Right {
		if v.Short = short(c.Text); v.Short == c.Text {
			v.Short = ""
		}
	}
	switch {
	case named && fitted && typeset.Width(cmp.Or(v.Short, c.Text)) > longText:
		long = "name long"
	case named:
		long = "name"
	case !of.Right && typeset.Width(c.Text) > longText:
		long = "long"
	}
	if of.Share {
		if share, err := strconv.ParseFloat(c.Value, 64); err == nil && share > 0 && share <= 1 {
			v.Bar = strconv.FormatFloat(100*share, 'f', 1, 64) + "%"
		}
	}
	v.Class = cellClass(of.Right, aside, long)
	if c.Tone != "" {
		v.Class = strings.TrimSpace(v.Class + " " + string(c.Tone))
	}
	return v
}

// shortNames returns how the page shortens the names of a column: kernels as everywhere on it.
func (t Table) shortNames(column int, names map[string]string) func(string) string {
	short := t.shortener(column, typeset.LongName)
	if !t.Columns[column].Kernels {
		return short
	}
	return func(text string) string {
		if known, is := names[text]; is {
			return known
		}
		return short(text)
	}
}

// KernelNames returns the names of kernels of all frames in short, by whole name, so that a kernel reads the same in every table of a page.
func KernelNames(frames []*frame.Frame) map[string]string {
	var names []string
	for _, f := range frames {
		for j, c := range f.Columns {
			if !IsKernelColumn(c) {
				continue
			}
			for _, row := range f.Rows {
				if text, is := row[j].(string); is {
					names = append(names, typeset.Neutral(text))
				}
			}
		}
	}
	names = typeset.Unique(names)
	short, out := typeset.Kernels(names, typeset.LongName), make(map[string]string, len(names))
	for _, name := range names {
		out[name] = short(name)
	}
	return out
}

// shortener returns how the texts of a column are shortened so that different ones stay different.
func (t Table) shortener(column, to int) func(string) string {
	if t.Columns[column].Kernels {
		return typeset.Kernels(t.texts(column), to)
	}
	if t.Columns[column].Path {
		return func(s string) string { return shorterPath(s, to) }
	}
	return typeset.Shortener(t.texts(column), to)
}

// shorterPath fits a path to a width: of several names at its end those are counted that have no room, all but the first, then what is outermost
// goes. Only the first name is cut itself.
func shorterPath(path string, to int) string {
	if typeset.Width(path) <= to {
		return path
	}
	at := max(0, strings.LastIndex(path, PathMark))
	names := strings.Split(path[at:], listMark)
	for n := len(names) - 1; n > 0 && (n == len(names)-1 || typeset.Width(path) > to); n-- {
		path = fmt.Sprintf("%s%s%s%d more", path[:at], strings.Join(names[:n], listMark), listMark, len(names)-n)
	}
	lead := ""
	for typeset.Width(lead+path) > to {
		_, inner, more := strings.Cut(path, PathMark)
		if !more {
			return lead + typeset.Shorten(path, to-typeset.Width(lead), 60)
		}
		lead, path = typeset.Ellipsis+PathMark, inner
	}
	return lead + path
}

// knownColumns returns the frame with the columns in which some row has a value, and the titles of the others. Of a frame in which nothing is
// known all columns stay.
func knownColumns(f *frame.Frame) (known *frame.Frame, unknown []string) {
	var kept []int
	for j, c := range f.Columns {
		if slices.ContainsFunc(f.Rows, func(row []any) bool { return row[j] != nil }) {
			kept = append(kept, j)
		} else {
			unknown = append(unknown, title(c, ""))
		}
	}
	if len(kept) == 0 || len(unknown) == 0 {
		return f, nil
	}
	return ofColumns(f, kept), unknown
}

// rare are columns on what most runs have none of: recordings on several nodes, and clocks of several machines.
var rare = []string{"node", "drift_ratio", "error_ns"}

// measured returns the frame without columns on recordings without a profiler, and other rare ones, where no row has one: most runs have none.
func measured(f *frame.Frame) *frame.Frame {
	var kept []int
	for j, c := range f.Columns {
		isRare := slices.Contains(rare, c.Name) || slices.Contains(strings.Split(c.Name, "_"), "alone")
		if !isRare || slices.ContainsFunc(f.Rows, func(row []any) bool { return row[j] != nil }) {
			kept = append(kept, j)
		}
	}
	if len(kept) == len(f.Columns) {
		return f
	}
	return ofColumns(f, kept)
}

// twin is the place of the column that is named as another but for a word: of gpu_span_median_ns, with mean for median, gpu_span_mean_ns; below 0 for none.
func twin(names []string, name, word, other string) int {
	words := strings.Split(name, "_")
	at := slices.Index(words, word)
	if at < 0 {
		return at
	}
	words[at] = other
	return slices.Index(names, strings.Join(words, "_"))
}

// medianFirst returns the frame with medians before the means of the same: they are what is judged by, and one odd value does not move them.
func medianFirst(f *frame.Frame) *frame.Frame {
	var order []int
	var names []string
	for _, c := range f.Columns {
		names = append(names, c.Name)
	}
	for j, name := range names {
		at := slices.Index(order, twin(names, name, "median", "mean"))
		if at < 0 {
			at = len(order)
		}
		order = slices.Insert(order, at, j)
	}
	if slices.IsSorted(order) {
		return f
	}
	return ofColumns(f, order)
}

// ofColumns returns the frame with some of its columns.
func ofColumns(f *frame.Frame, kept []int) *frame.Frame {
	some := *f
	some.Columns, some.Rows = nil, make([][]any, len(f.Rows))
	for _, j := range kept {
		some.Columns = append(some.Columns, f.Columns[j])
		for i, row := range f.Rows {
			some.Rows[i] = append(some.Rows[i], row[j])
		}
	}
	return &some
}

// listed is a sentence that ends in a list; "" for none.
func listed(lead string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return lead + strings.Join(items, ", ") + "."
}

// narrowFirst is the width up to which a first column stays in sight when a table is moved sideways on a phone.
const narrowFirst = 14

// class names for the style sheet how many columns have to fit on a sheet of paper, and a first column that stays in sight.
func (t Table) class() string {
	class := "few"
	switch n := len(t.Columns); {
	case n > 18:
		class = "crowded"
	case n > 12:
		class = "many"
	case n > 7:
		class = "some"
	}
	if len(t.Columns) >= 4 && max(t.dataWidth(0), typeset.Width(t.Columns[0].Title)) <= narrowFirst {
		class += " pinned"
	}
	if t.fitted {
		class += " fitted"
	}
	return class
}

// paperWidth is how many letters of the size of tables have room side by side on a sheet of paper.
const paperWidth = 165

// offPaper returns the places of the columns that are not printed, since the others fill a sheet: those that a narrow terminal hides first.
func (t Table) offPaper() []int {
	paper := t
	paper.Columns = slices.Clone(t.Columns)
	for j := range paper.Columns {
		if c := &paper.Columns[j]; !c.Right && c.Least == 0 {
			c.Least = typeset.ClearText
		}
	}
	printed := paper.fit(paperWidth).columns
	var out []int
	for j := range t.Columns {
		if !slices.Contains(printed, j) {
			out = append(out, j)
		}
	}
	return out
}

// cellClass are the classes of a cell or a head.
func cellClass(right, aside bool, long string) string {
	var class []string
	if right {
		class = append(class, "n")
	}
	if long != "" {
		class = append(class, long)
	}
	if aside {
		class = append(class, "aside")
	}
	return strings.Join(class, " ")
}
