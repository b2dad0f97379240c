// Package table turns a frame into a table for people (terminal, Markdown, a page) or programs (CSV, JSON): which columns
// a width has room for, and how they are laid out.
//
// A frame holds base units at full precision. Forms for people scale, round and escape copies of its values; CSV and JSON
// give them unchanged. Nothing here reads the clock, the environment or the warehouse, and no frame is changed. To add a
// form, write its function and add one value to Forms.
package table

import (
	"fmt"
	"io"
	"strings"

	"prof/internal/suggest"
	"prof/queries/frame"
	"prof/render/typeset"
)

// Form is one way to write a Frame.
type Form struct {
	Name  string // what --format takes
	Doc   string // one line for the help text
	Write func(w io.Writer, f *frame.Frame, o typeset.Options) error
}

// Forms lists every form, the default one first.
func Forms() []Form {
	return []Form{
		{"table", "for people: scaled, rounded, fitted to the terminal", Terminal},
		{"md", "GitHub-flavoured Markdown: scaled, rounded, full names", Markdown},
		{"csv", "RFC 4180 in base units and full precision; NULL is an empty field", CSV},
		{"json", "one object: columns with type and unit, rows in base units and full precision", JSON},
	}
}

// Write writes f to w in the named form.
func Write(w io.Writer, form string, f *frame.Frame, o typeset.Options) error {
	for _, known := range Forms() {
		if known.Name == form {
			return known.Write(w, f, o)
		}
	}
	return unknownForm(form)
}

func unknownForm(form string) error {
	names := make([]string, 0, 4)
	for _, known := range Forms() {
		names = append(names, known.Name)
	}
	list := strings.Join(names, ", ")
	word := strings.ToLower(form)
	if word == "markdown" {
		word = "md"
	}
	if near := suggest.Nearest(word, names); len(near) > 0 {
		return fmt.Errorf("unknown format %q: did you mean %s? (one of %s)", form, near[0], list)
	}
	return fmt.Errorf("unknown format %q: use one of %s", form, list)
}
