package render

import (
	"strconv"

	"prof/queries"
)

// tableView is a Frame as the page shows it: the texts of Markdown, with the values that its columns are sorted by.
type tableView struct {
	Caption string
	Columns []columnView
	Rows    [][]cellView
}

type columnView struct {
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
}

// From longText on a text takes several lines; from longName on a name is shown in short, to be opened.
const (
	longText = 48
	longName = 90
)

func newTableView(f *queries.Frame, caption string) (*tableView, error) {
	g, err := newGrid(f)
	if err != nil {
		return nil, err
	}
	t := &tableView{Caption: caption}
	for _, h := range g.columns {
		t.Columns = append(t.Columns, columnView{h.title(), neutral(h.Doc), h.right})
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
