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
	"prof/queries/frame"
	"prof/render/typeset"
	"strings"
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
	nearest, best := "", 3
	for _, known := range Forms() {
		names = append(names, known.Name)
		distance := editDistance(strings.ToLower(form), known.Name)
		if isSubsequence(known.Name, strings.ToLower(form)) {
			distance = min(distance, 1)
		}
		if distance < best {
			nearest, best = known.Name, distance
		}
	}
	list := strings.Join(names, ", ")
	if nearest == "" {
		return fmt.Errorf("unknown format %q: use one of %s", form, list)
	}
	return fmt.Errorf("unknown format %q: did you mean %s? (one of %s)", form, nearest, list)
}

// editDistance counts the insertions, deletions and replacements that turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// isSubsequence reports whether all of sub stands in s in order, as md does in markdown.
func isSubsequence(sub, s string) bool {
	for _, r := range s {
		if sub == "" {
			break
		}
		if rune(sub[0]) == r {
			sub = sub[1:]
		}
	}
	return sub == ""
}
