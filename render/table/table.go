package table

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
	"prof/schema/terms"
)

// Table is what every form for people shows. Its cells are scaled and rounded, and hold nothing that could move a cursor; they are
// neither cut nor escaped.
type Table struct {
	Caption string
	Columns []Column
	Rows    [][]Cell // each as long as Columns
	Notes   []string
	OneLine bool // titles are not broken over several lines
	fitted  bool // its columns were chosen to have room side by side
}

// Column is one column of a table.
type Column struct {
	Name    string // as in SQL
	Title   string // with the unit
	Doc     string
	Right   bool
	Code    bool                     // names as a machine knows them
	Kernels bool                     // names of kernels, which are shortened as such
	Full    bool                     // its names are short already, or must be whole
	Path    bool                     // names of what is inside each other, joined by PathMark: the last ones are what people read
	Share   bool                     // shares of a whole, which the page draws too
	Least   int                      // how narrow a terminal may make its texts; 0: never narrower than they are
	Keep    int                      // the lower, the sooner a narrow terminal hides it
	Pair    string                   // columns of a pair are hidden together; "" for none
	Draw    func(row, to int) string // draws cells exactly so wide; nil: they are texts
	Most    int                      // how wide Draw makes sense
	From    int                      // a terminal that is narrower hides it
}

// PathMark joins the names of a path, and listMark names in one place.
const (
	PathMark = " > "
	listMark = " + "
)

// Cell is one cell of a table.
type Cell struct {
	Text  string // "" where there is nothing to say
	Sign  string // seen on pages before Text is read; "" for none
	Value string // a number in base units, for sorting and copying; "" of texts and of what is not known
	Tone  typeset.Tone
	Code  bool // a name as a machine knows it
	Null  bool
}

// Text is a cell of words.
func Text(text string) Cell { return Cell{Text: typeset.Neutral(text)} }

// Number is a cell of a number, shown as text.
func Number(text string, v float64) Cell { return Cell{Text: text, Value: typeset.Exact(v)} }

// Shown is what a cell says.
func (c Cell) Shown() string { return typeset.OrNull(c.Text) }

// Of makes a table of a frame: each column in one unit, which stands in its title.
func Of(f *frame.Frame) (Table, error) {
	if err := f.Check(); err != nil {
		return Table{}, err
	}
	f = medianFirst(measured(f))
	t := scaled(f, scalesOf(f))
	t.rank()
	return t, nil
}

// scaled makes a table of all columns of a frame.
func scaled(f *frame.Frame, scales []typeset.Scale) Table {
	t := Table{Rows: make([][]Cell, len(f.Rows)), Notes: f.Notes}
	for i := range f.Rows {
		t.Rows[i] = make([]Cell, len(f.Columns))
	}
	for j, c := range f.Columns {
		s := scales[j]
		column := Column{Name: c.Name, Title: title(c, s.Name), Doc: typeset.Neutral(c.Doc), Right: c.Type == frame.Int || c.Type == frame.Float, Code: isCode(c), Kernels: IsKernelColumn(c), Share: c.Unit == frame.Ratio}
		widest := 0
		for i, row := range f.Rows {
			cell := cellOf(row[j], s)
			cell.Code = column.Code && !cell.Null
			t.Rows[i][j], widest = cell, max(widest, typeset.Width(cell.Text))
		}
		if !column.Right && !strings.HasSuffix(c.Name, "_at") { // a time without its middle says nothing
			column.Least = min(widest, max(typeset.ShortText, min(widest/4, typeset.ClearText)))
		}
		t.Columns = append(t.Columns, column)
	}
	t.scaleRows(f)
	return t
}

// statistics are the words that tell the columns of one measure apart; a total is of another size.
var statistics = []string{"mean", "median", "min", "max", "std"}

// scalesOf returns the scale of each column: those of one measure, such as mean_ns and std_ns, have the unit of the first.
func scalesOf(f *frame.Frame) []typeset.Scale {
	out, first := make([]typeset.Scale, len(f.Columns)), map[string]int{}
	for j, c := range f.Columns {
		values := numbers(f, j)
		out[j] = typeset.ScaleOf(c, values)
		words := strings.Split(c.Name, "_")
		measure := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(statistics, w) })
		if c.Unit == frame.None || len(measure) == len(words) {
			continue
		}
		key := strings.Join(measure, "_")
		if at, known := first[key]; known {
			out[j] = out[at].In(c, values)
		} else if _, high := typeset.Extent(values); high > 0 {
			first[key] = j
		}
	}
	return out
}

// numbers returns the numeric values of a column.
func numbers(f *frame.Frame, column int) []float64 {
	values := make([]float64, 0, len(f.Rows))
	for _, row := range f.Rows {
		switch v := row[column].(type) {
		case int64:
			values = append(values, float64(v))
		case float64:
			values = append(values, v)
		}
	}
	return values
}

// cellOf shows a value.
func cellOf(v any, s typeset.Scale) Cell {
	switch v := v.(type) {
	case nil:
		return Cell{Text: typeset.Null, Null: true}
	case string:
		return Text(v)
	case bool:
		return Cell{Text: map[bool]string{true: "yes", false: "no"}[v]}
	case int64:
		return Cell{Text: s.Number(v), Value: fmt.Sprint(v)}
	case float64:
		return Number(s.Number(v), v)
	}
	return Text(fmt.Sprint(v))
}

// title is a column's name in words with the unit it is shown in: total_ns shown in ms is "total (ms)". An expression is one word, as
// typed.
func title(c frame.Column, unit string) string {
	words := []string{typeset.Neutral(c.Name)}
	if own := terms.Titles[c.Name]; own != "" {
		words[0] = own
	} else if !strings.ContainsFunc(words[0], func(r rune) bool { return r > '~' || r != '_' && !typeset.IsWord(byte(r)) }) {
		if c.Unit != frame.Count && c.Unit != frame.None {
			words[0] = strings.TrimSuffix(words[0], "_"+string(c.Unit))
		}
		words = strings.FieldsFunc(words[0], func(r rune) bool { return r == '_' })
		for i, w := range words {
			words[i] = terms.TitleWord(w)
		}
	}
	if unit != "" && (len(words) != 1 || !strings.EqualFold(words[0], unit)) {
		words = append(words, "("+unit+")")
	}
	return strings.Join(words, " ")
}

// codeColumns are columns of names as a machine knows them, by the last word of their names; kernelColumns are those of kernels.
var (
	codeColumns   = []string{"kernel", "range", "operator", "op", "sql", "query", "name", "metric", "launch", "family", "command", "path", "argv", "before", "after", "longest", "code", "opcode"}
	kernelColumns = []string{"kernel", "before", "after", "longest"}
)

func lastWord(name string) string { return strings.ToLower(name[strings.LastIndexByte(name, '_')+1:]) }

func isCode(c frame.Column) bool {
	return c.Type == frame.Text && slices.Contains(codeColumns, lastWord(c.Name))
}

// IsKernelColumn reports whether a column holds names of kernels.
func IsKernelColumn(c frame.Column) bool {
	return isCode(c) && slices.Contains(kernelColumns, lastWord(c.Name))
}

// Known returns the table without the columns in which no row says anything, and the titles of those. Of a table in which nothing is known
// all columns stay.
func (t Table) Known() (known Table, without []string) {
	var kept []int
	for j, c := range t.Columns {
		if c.Draw != nil || slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[j].Text != "" && !row[j].Null }) {
			kept = append(kept, j)
		} else {
			without = append(without, c.Title)
		}
	}
	if len(kept) == 0 || len(without) == 0 {
		return t, nil
	}
	return t.only(kept), without
}

// only returns the table with some of its columns.
func (t Table) only(kept []int) Table {
	some := t
	some.Columns, some.Rows = nil, make([][]Cell, len(t.Rows))
	for _, j := range kept {
		some.Columns = append(some.Columns, t.Columns[j])
		for i, row := range t.Rows {
			some.Rows[i] = append(some.Rows[i], row[j])
		}
	}
	return some
}

// Add appends a column of texts, "" where there is nothing to say; those that the column draws need none.
func (t *Table) Add(c Column, cells []string) {
	t.Columns = append(t.Columns, c)
	for i, text := range cells {
		if i == len(t.Rows) {
			t.Rows = append(t.Rows, nil)
		}
		t.Rows[i] = append(t.Rows[i], Cell{Text: text, Code: c.Code && text != ""})
	}
	for i := len(cells); i < len(t.Rows); i++ {
		t.Rows[i] = append(t.Rows[i], Cell{})
	}
}

// AddRow appends a row of texts, one for each column.
func (t *Table) AddRow(texts ...string) {
	row := make([]Cell, len(texts))
	for j, text := range texts {
		row[j] = Cell{Text: typeset.Neutral(text), Code: t.Columns[j].Code, Null: text == typeset.Null}
	}
	t.Rows = append(t.Rows, row)
}

// texts are the cells of a column.
func (t Table) texts(column int) []string {
	out := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		out[i] = row[column].Shown()
	}
	return out
}
