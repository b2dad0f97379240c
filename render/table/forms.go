// Package table turns a frame into a table for people (terminal, Markdown, a page) or programs (CSV, JSON, Arrow): which columns
// a width has room for, and how they are laid out.
//
// A frame holds base units at full precision. Forms for people scale, round and escape copies of its values; CSV, JSON and
// Arrow give them unchanged. Nothing here reads the clock, the environment or the warehouse, and no frame is changed.
package table

// Streams reports whether a form writes rows as they come; the others lay out all of them, and leave out those of Rest.
func Streams(form string) bool { return form == "csv" || form == "json" || form == ArrowForm }
