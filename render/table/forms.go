// Package table turns a frame into a table for people (terminal, Markdown, a page) or programs (CSV, JSON, Arrow): which columns
// a width has room for, and how they are laid out.
//
// A frame holds base units at full precision. Forms for people scale, round and escape copies of its values; CSV, JSON and
// Arrow give them unchanged. Nothing here reads the clock, the environment or the warehouse, and no frame is changed. To add a
// form, write its function and add one value to Forms.
package table

import (
	"prof/queries/frame"
	"prof/render/typeset"
)

// Forms lists every way to write a frame, the default one first.
func Forms() typeset.Forms[*frame.Frame, typeset.Options] {
	return typeset.Forms[*frame.Frame, typeset.Options]{
		{Name: "table", Ending: ".txt", Doc: "for people: scaled, rounded, fitted to the terminal", Write: Terminal},
		{Name: "md", Ending: ".md", Doc: "GitHub-flavoured Markdown: scaled, rounded, full names", Write: wholeMarkdown},
		{Name: "csv", Ending: ".csv", Doc: "RFC 4180 in base units and full precision; NULL is an empty field", Write: CSV},
		{Name: "json", Ending: ".json", Doc: "one object: columns with type and unit, rows in base units and full precision", Write: JSON},
		{Name: ArrowForm, Ending: ".arrow", Doc: "Arrow IPC file in base units and full precision: pandas.read_feather, polars.read_ipc", Write: Arrow},
	}
}

// Streams reports whether a form writes rows as they come; the others lay out all of them, and leave out those of Rest.
func Streams(form string) bool { return form == "csv" || form == "json" || form == ArrowForm }
