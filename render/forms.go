// Package render turns a frame.Frame into bytes: a table for people, Markdown, CSV and JSON.
//
// A Frame holds base units at full precision. The table and Markdown forms scale, round and escape copies of its values;
// CSV and JSON give them unchanged. Nothing here reads the clock, the environment or the warehouse, and no Frame is
// changed by painting it. To add a form, write its function and add one value to Forms.
package render

import (
	"fmt"
	"io"
	"strings"

	"prof/queries/frame"
)

// Options says where the output goes. The zero value means no limits and no colour.
type Options struct {
	Width int  // terminal columns available; 0 = no limit
	Wide  bool // never shorten cells or drop columns
	Color bool // may use ANSI: bold headers, dim rules and notes
}

// limit is the width that tables must keep, or 0.
func (o Options) limit() int {
	if o.Wide || o.Width < 0 {
		return 0
	}
	return o.Width
}

// Form is one way to write a Frame.
type Form struct {
	Name  string // what --format takes
	Doc   string // one line for the help text
	Write func(w io.Writer, f *frame.Frame, o Options) error
}

// Forms lists every form, the default one first.
func Forms() []Form {
	return []Form{
		{"table", "for people: scaled, rounded, fitted to the terminal", Table},
		{"md", "GitHub-flavoured Markdown: scaled, rounded, full names", Markdown},
		{"csv", "RFC 4180 in base units and full precision; NULL is an empty field", CSV},
		{"json", "one object: columns with type and unit, rows in base units and full precision", JSON},
	}
}

// Frame writes f to w in the named form.
func Frame(w io.Writer, form string, f *frame.Frame, o Options) error {
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

// check refuses a Frame whose rows do not match its columns, so that no form has to guess.
func check(f *frame.Frame) error {
	for i, row := range f.Rows {
		if len(row) != len(f.Columns) {
			return fmt.Errorf("render %s: row %d has %d values for %d columns", f.Query, i+1, len(row), len(f.Columns))
		}
	}
	return nil
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
