package table

import (
	"slices"
	"strconv"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// tableView is a Frame as the page shows it: the texts of Markdown, with the values that its columns are sorted by.
type View struct {
	Caption  string
	Class    string // how narrow it is printed, and whether its first column stays in sight on a phone
	Columns  []ColumnView
	Rows     [][]CellView
	LeftOut  string // rows that are not there; "" when all are
	Unknown  string // columns that are not there, as no row has anything in them; "" when all are
	OffPaper string // columns that are not printed; "" when all are
}

type ColumnView struct {
	Name  string // as in SQL
	Title string
	Doc   string
	Class string
}

type CellView struct {
	Text  string
	Short string // of a long name; "" where Text is shown
	Sort  string // the value in base units, of numbers; "" of texts and NULL
	Class string // long: it may take several lines; name: of a column of long names, which can be opened; n: a number; aside: not printed
	Right bool
	Code  bool
	Null  bool
	Jump  string // address of where the page shows the row; "" for nowhere
}

// newTableView makes a table of the first rows, as many as e says. names gives names of kernels in short; those that it lacks are cut in
// the middle.
func NewView(f *frame.Frame, caption string, e Excerpt, names map[string]string) (*View, error) {
	whole := f
	f, left := e.Of(whole)
	g, err := NewGrid(f)
	if err != nil {
		return nil, err
	}
	kept, unknown := knownColumns(whole, g)
	shown := g.only(kept)
	aside := offPaper(shown)
	t := &View{Caption: caption, Class: tableClass(shown), LeftOut: left}
	t.Unknown = Listed("Left out, since nothing is known of them: ", unknown)
	t.OffPaper = Listed("Hidden in print: ", titles(shown, aside))
	shorts, named := make([]func(string) string, len(kept)), make([]bool, len(kept))
	for i, h := range shown.columns {
		t.Columns = append(t.Columns, ColumnView{typeset.Neutral(h.Name), h.title(), typeset.Neutral(h.Doc), CellClass(h.right, slices.Contains(aside, i), "")})
		if !h.right && isCode(h.Column) {
			shorts[i] = shortOf(shown, i, names)
			named[i] = slices.ContainsFunc(shown.rows, func(row []string) bool { return shorts[i](row[i]) != row[i] })
		}
	}
	for i, row := range shown.rows {
		cells := make([]CellView, len(row))
		for j, text := range row {
			h := shown.columns[j]
			c := CellView{Text: text, Right: h.right, Null: shown.nulls[i][j], Code: !shown.nulls[i][j] && isCode(h.Column)}
			long := ""
			if c.Right {
				c.Sort = sortValue(f.Rows[i][kept[j]])
			} else if c.Code {
				if c.Short = shorts[j](text); c.Short == text {
					c.Short = ""
				}
			}
			switch {
			case named[j]:
				long = "name"
			case !c.Right && typeset.Width(text) > typeset.LongText:
				long = "long"
			}
			c.Class = CellClass(c.Right, slices.Contains(aside, j), long)
			cells[j] = c
		}
		t.Rows = append(t.Rows, cells)
	}
	return t, nil
}

// shortOf gives how the names of a column are shortened.
func shortOf(g *grid, column int, names map[string]string) func(string) string {
	if IsKernelColumn(g.columns[column].Column) {
		return func(text string) string {
			if short, known := names[text]; known {
				return short
			}
			return typeset.Shorten(text, typeset.LongName, 60)
		}
	}
	texts := make([]string, len(g.rows))
	for i, row := range g.rows {
		texts[i] = row[column]
	}
	return typeset.Shortener(texts, typeset.LongName)
}

// knownColumns gives the places of the columns in which some row has a value, and the titles of the others. Of a table in which nothing is
// known all columns stay.
func knownColumns(f *frame.Frame, g *grid) (kept []int, unknown []string) {
	var all []int
	for j, h := range g.columns {
		all = append(all, j)
		if slices.ContainsFunc(f.Rows, func(row []any) bool { return row[j] != nil }) {
			kept = append(kept, j)
		} else {
			unknown = append(unknown, h.title())
		}
	}
	if len(kept) == 0 {
		return all, nil
	}
	return kept, unknown
}

// only gives the grid with the columns at the given places.
func (g *grid) only(columns []int) *grid {
	out := &grid{}
	for _, j := range columns {
		out.columns = append(out.columns, g.columns[j])
	}
	for i := range g.rows {
		row, nulls := make([]string, len(columns)), make([]bool, len(columns))
		for k, j := range columns {
			row[k], nulls[k] = g.rows[i][j], g.nulls[i][j]
		}
		out.rows, out.nulls = append(out.rows, row), append(out.nulls, nulls)
	}
	return out
}

func titles(g *grid, columns []int) []string {
	var out []string
	for _, j := range columns {
		out = append(out, g.columns[j].title())
	}
	return out
}

// listed is a sentence that ends in a list; "" for none.
func Listed(lead string, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return lead + strings.Join(items, ", ") + "."
}

// narrowFirst is the width up to which a first column stays in sight when a table is moved sideways on a phone.
const narrowFirst = 14

// tableClass tells the style sheet how many columns have to fit on a sheet of paper.
func tableClass(g *grid) string {
	class := "few"
	switch n := len(g.columns); {
	case n > 18:
		class = "crowded"
	case n > 12:
		class = "many"
	case n > 7:
		class = "some"
	}
	if len(g.columns) < 4 || typeset.Width(g.columns[0].title()) > narrowFirst {
		return class
	}
	for _, row := range g.rows {
		if typeset.Width(row[0]) > narrowFirst {
			return class
		}
	}
	return class + " pinned"
}

// sortValue gives a number as the script reads it; "" sorts last.
func sortValue(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

// kernelColumns are the columns of names of kernels, by the last word of their names.
var kernelColumns = []string{"kernel", "before", "after", "longest"}

func IsKernelColumn(c frame.Column) bool {
	return isCode(c) && slices.Contains(kernelColumns, strings.ToLower(c.Name[strings.LastIndexByte(c.Name, '_')+1:]))
}

// paperWidth is how many letters of the size of tables have room side by side on a sheet of paper.
const paperWidth = 165

// offPaper gives the places of the columns that are not printed, since the others fill a sheet: first spread and ids, as on a narrow
// terminal, from the right.
func offPaper(g *grid) []int {
	least, order := make([]int, len(g.columns)), []int{}
	for j, h := range g.columns {
		least[j] = DataWidth(g, j)
		if !h.right {
			least[j] = min(least[j], typeset.ClearText)
		}
		for _, word := range h.words {
			least[j] = max(least[j], min(typeset.Width(word), typeset.ClearText))
		}
		order = append(order, j)
	}
	slices.Reverse(order)
	slices.SortStableFunc(order, func(a, b int) int { return worth(g.columns[a], a == 0) - worth(g.columns[b], b == 0) })
	kept := slices.Clone(least)
	var out []int
	for _, j := range order[:max(0, len(order)-1)] {
		if sum(kept) <= paperWidth {
			break
		}
		out, kept = append(out, j), kept[:0]
		for k := range least {
			if !slices.Contains(out, k) {
				kept = append(kept, least[k])
			}
		}
	}
	slices.Sort(out)
	return out
}

// cellClass are the classes of a cell or a head.
func CellClass(right, aside bool, long string) string {
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
