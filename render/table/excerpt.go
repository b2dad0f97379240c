package table

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// Excerpt is how much of a table a report holds: rows, bytes of its cells, and letters side by side, 0 for any number. A run of hundreds of
// passes or stages, or with names of thousands of characters, would else make a page that no browser likes to open, and many columns one that
// nobody reads.
type Excerpt struct{ Rows, Bytes, Cell, Width int }

// How much of a table the page and report.md hold. A cell of the page has tags around it, and a name that is shown in short is there twice.
var (
	PageExcerpt     = Excerpt{Rows: 500, Bytes: 500_000, Cell: 45, Width: pageWidth}
	MarkdownExcerpt = Excerpt{Rows: 500, Bytes: 60_000, Cell: 3, Width: pageWidth}
)

// pageWidth is how many letters have room on a page of 1400 pixels beside its index.
const pageWidth = 112

// Of returns the frame with its first rows, at least one, and says what is left out; "" when nothing is.
func (e Excerpt) Of(f *frame.Frame) (*frame.Frame, string) {
	size, fits := 0, 0
	for _, row := range f.Rows {
		for _, v := range row {
			size += e.Cell
			if text, is := v.(string); is {
				size += len(text)
			} else {
				size += numberBytes
			}
		}
		if fits > 0 && (size > e.Bytes || fits == e.Rows) {
			break
		}
		fits++
	}
	if fits == len(f.Rows) {
		return f, ""
	}
	first := *f
	first.Rows = f.Rows[:fits]
	return &first, fmt.Sprintf("The first %s of %s rows are here; the query gives all.", typeset.Int(int64(fits)), typeset.Int(int64(len(f.Rows))))
}

// fewColumns is how many columns have room as they are.
const fewColumns = 11

// Columns returns the table with the columns that have room, where it says what they are worth, and the titles of the others.
func (e Excerpt) Columns(t Table) (Table, []string) {
	if len(t.Columns) <= fewColumns || !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Keep > 0 }) {
		return t, nil
	}
	return e.columns(t)
}

// columns returns the table with the columns that have room, those that a narrow terminal keeps longest, and the titles of the others.
func (e Excerpt) columns(t Table) (Table, []string) {
	if e.Width == 0 {
		return t, nil
	}
	l := t.plain().ofFolders().fit(e.Width)
	t.fitted = true
	return t.only(l.columns), l.hidden
}

// ofFolders returns the table with paths of files of one width, so that where a folder lies does not decide which columns have room.
func (t Table) ofFolders() Table {
	t.Rows, t.Columns = slices.Clone(t.Rows), slices.Clone(t.Columns)
	for j := range t.Columns {
		if !t.isFiles(j) {
			continue
		}
		t.Columns[j].Least = typeset.ShortText
		for i, row := range t.Rows {
			t.Rows[i] = slices.Clone(row)
			t.Rows[i][j].Text = strings.Repeat("/", typeset.LongName)
		}
	}
	return t
}

// columnsLeftOut says which columns are not there, since they are empty or have no room.
func columnsLeftOut(unknown, hidden []string) string {
	var out []string
	if len(unknown) > 0 {
		out = append(out, "Empty columns hidden: "+someOf(unknown)+".")
	}
	if len(hidden) > 0 {
		out = append(out, "Columns that only the query has: "+someOf(hidden)+".")
	}
	return strings.Join(out, " ")
}

// cells returns the first rows of cells, at least one, and says what is left out; "" when nothing is.
func (e Excerpt) cells(rows [][]Cell) ([][]Cell, string) {
	size := 0
	for i, row := range rows {
		for _, c := range row {
			size += e.Cell + len(c.Text)
		}
		if i > 0 && (size > e.Bytes || i == e.Rows) {
			return rows[:i], "The first " + typeset.Int(int64(i)) + " of " + typeset.Int(int64(len(rows))) + " rows are here; --format csv gives all."
		}
	}
	return rows, ""
}

// numberBytes is about what a number takes.
const numberBytes = 12

// Smaller is less of large tables.
func (e Excerpt) Smaller() Excerpt { return Excerpt{e.Rows, e.Bytes * 2 / 3, e.Cell, e.Width} }
