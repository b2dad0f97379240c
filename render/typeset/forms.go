package typeset

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"prof/internal/suggest"
)

// Form is one way to write a T, with options O.
type Form[T, O any] struct {
	Name   string // what --format takes
	Ending string // of names of files that are written in it unless --format says otherwise
	Doc    string // one line for the help text
	Write  func(w io.Writer, v T, o O) error
}

// Forms are all ways to write a T, the default one first.
type Forms[T, O any] []Form[T, O]

// Names are what --format takes.
func (l Forms[T, O]) Names() []string {
	names := make([]string, len(l))
	for i, f := range l {
		names[i] = f.Name
	}
	return names
}

// Named returns a form by its name; the error lists what there is, with others that the caller writes itself.
func (l Forms[T, O]) Named(name string, others ...string) (Form[T, O], error) {
	names := l.Names()
	if at := slices.Index(names, name); at >= 0 {
		return l[at], nil
	}
	names = append(names, others...)
	list, word := strings.Join(names, ", "), strings.ToLower(name)
	if word == "markdown" {
		word = "md"
	}
	if near := suggest.Nearest(word, names); len(near) > 0 {
		return Form[T, O]{}, fmt.Errorf("unknown format %q: did you mean %s? (one of %s)", name, near[0], list)
	}
	return Form[T, O]{}, fmt.Errorf("unknown format %q: use one of %s", name, list)
}

// OfFile returns the form that the ending of a file's name asks for; the error lists what there is.
func (l Forms[T, O]) OfFile(file string) (Form[T, O], error) {
	var endings []string
	for _, f := range l {
		if strings.EqualFold(filepath.Ext(file), f.Ending) {
			return f, nil
		}
		endings = append(endings, f.Ending)
	}
	return Form[T, O]{}, fmt.Errorf("%s: its ending is none of %s: give --format", file, strings.Join(endings, ", "))
}
