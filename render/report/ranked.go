package report

import (
	"fmt"
	"regexp"

	"prof/queries/frame"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
)

// Columns of the tables of files, with names whole.
func code(title string) table.Column   { return table.Column{Title: title, Code: true, Full: true} }
func plain(title string) table.Column  { return table.Column{Title: title, Full: true} }
func number(title string) table.Column { return table.Column{Title: title, Right: true, Full: true} }

// asked is the number of rows that a statement asks for; it is the only place in an answer that says so.
var asked = regexp.MustCompile(`\btop := (\d+)`)

// count is the line of the original that says how many rows there are, and how many were asked for.
func count(answer *frame.Frame) string {
	k := "the query's own"
	if m := asked.FindStringSubmatch(answer.SQL); m != nil {
		if k = m[1]; k == "0" {
			k = "all"
		}
	}
	return fmt.Sprintf("Rows: %d (k=%s)", len(answer.Rows), k)
}

// ranked is a table of the rows that took most, as operators.md and kernels.md have it. The lines below it say what the columns mean, and what
// the figures are to be read with.
func ranked(title string, answer *frame.Frame, t table.Table, below []string) doc.Document {
	return doc.Document{Title: title, IsFile: true, Blocks: []doc.Block{doc.Text(count(answer)), doc.Table{Of: t}, doc.Notes(typeset.Each(append(below, answer.Notes...), typeset.Neutral)), sqlOf(answer)}}
}

// unranked is a file that has no rows: why there are none.
func unranked(title, why string, answer *frame.Frame) doc.Document {
	d := doc.Document{Title: title, IsFile: true, Blocks: []doc.Block{doc.Text(typeset.Neutral(why))}}
	if answer != nil && len(answer.Notes) > 0 {
		d.Blocks = append(d.Blocks, doc.Notes(typeset.Each(answer.Notes, typeset.Neutral)))
	}
	return d
}

// sqlOf is what an answer comes from.
func sqlOf(answer *frame.Frame) doc.SQL {
	return doc.SQL{Queries: []doc.Query{{Name: sourceOf(answer), SQL: typeset.Whole(answer.SQL)}}}
}
