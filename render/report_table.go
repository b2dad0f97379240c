package render

import (
	"strconv"

	"prof/queries"
)

// tableView is a Frame as the page shows it: the texts of Markdown, with the values that its columns are sorted by.
type tableView struct {
	Caption string
	Class   string // how narrow it is printed, and whether its first column stays in sight on a phone
	Columns []columnView
	Rows    [][]cellView
}

type columnView struct {
	Name  string // as in SQL
	Title string
	Doc   string
	Right bool
}

type cellView struct {
	Text  string
	Short string // of a long name; "" where Text is shown
	Sort  string // the value in base units, of numbers; "" of texts and NULL
	Long  bool   // it may take several lines
	Right bool
	Code  bool
	Null  bool
	Jump  string // address of where the page shows the row; "" for nowhere
}

// From longText on a text takes several lines; from longName on a name is shown in short, to be opened.
const (
	longText = 48
	longName = 72
)

func newTableView(f *queries.Frame, caption string) (*tableView, error) {
	g, err := newGrid(f)
	if err != nil {
		return nil, err
	}
	t := &tableView{Caption: caption, Class: tableClass(g)}
	for _, h := range g.columns {
		t.Columns = append(t.Columns, columnView{neutral(h.Name), h.title(), neutral(h.Doc), h.right})
	}
	for i, row := range g.rows {
		cells := make([]cellView, len(row))
		for j, text := range row {
			c := cellView{Text: text, Right: g.columns[j].right, Null: g.nulls[i][j], Code: !g.nulls[i][j] && isCode(g.columns[j].Column)}
			if c.Right {
				c.Sort = sortValue(f.Rows[i][j])
			} else if c.Long = width(text) > longText; c.Code && width(text) > longName {
				c.Short = shorten(text, longName, 60)
			}
			cells[j] = c
		}
		t.Rows = append(t.Rows, cells)
	}
	return t, nil
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
	if len(g.columns) < 4 || width(g.columns[0].title()) > narrowFirst {
		return class
	}
	for _, row := range g.rows {
		if width(row[0]) > narrowFirst {
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
