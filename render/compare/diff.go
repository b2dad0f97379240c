// Package compare writes judgements of several runs: diffs, trends and gates.
package compare

import (
	"fmt"
	"io"
	"strings"

	"prof/queries/judge/diff"
	"prof/render/typeset"
)

// DiffForm is one way to write comparisons of runs.
type DiffForm struct {
	Name  string // what --format takes
	Doc   string // one line for the help text
	Write func(w io.Writer, list []*diff.Result, o typeset.Options) error
}

// DiffForms lists the forms of comparisons, the default one first. To add one, write its function and add a value here.
func DiffForms() []DiffForm {
	return []DiffForm{
		{"table", "for people: verdict, stages, what changed most, fitted to the terminal", DiffTable},
		{"md", "the same as GitHub-flavoured Markdown, for a pull request", DiffMarkdown},
		{"csv", "items in ns and full precision, one header; the parts of a stage add up to its row to the ns", DiffCSV},
		{"json", "all that is known of the comparison, in base units and full precision; null is not known", DiffJSON},
		{"html", "one page that needs no network, with a picture of which parts made the change", DiffHTML},
	}
}

// Diff writes comparisons, all with the same base, in the named form.
func Diff(w io.Writer, form string, list []*diff.Result, o typeset.Options) error {
	f, err := DiffFormNamed(form)
	if err != nil {
		return err
	}
	return f.Write(w, list, o)
}

// DiffFormNamed gives a form by its name; the error lists what there is.
func DiffFormNamed(name string) (DiffForm, error) {
	var names []string
	for _, f := range DiffForms() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return DiffForm{}, fmt.Errorf("unknown format %q: use one of %s", name, strings.Join(names, ", "))
}
