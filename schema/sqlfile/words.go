package sqlfile

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"

	"prof/schema/terms"
)

// words are what a file has of terms, as a template: columns, conditions and documentation of each part or cause.
type words struct{}

func (words) Parts() []terms.Part   { return terms.Parts }
func (words) Idle() []terms.Part    { return terms.IdleParts() }
func (words) Causes() []terms.Cause { return terms.IdleCauses() }

// MuchOverhead is the bound of the overhead of profiling.
func (words) MuchOverhead() float64 { return terms.MuchOverhead }

// Work are the parts that are no idle time.
func (words) Work() []terms.Part {
	return slices.DeleteFunc(slices.Clone(terms.Parts), terms.Part.IsIdle)
}

// Split are the parts that are not all of a cause.
func (words) Split() []terms.Part {
	return slices.DeleteFunc(terms.IdleParts(), func(p terms.Part) bool { return p.Name == p.Kind })
}

var functions = template.FuncMap{
	"inc":     func(i int) int { return i + 1 },
	"quote":   func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" },
	"without": without,
}

// without are the causes but for those that have a column of their own elsewhere in a file.
func without(list []terms.Cause, names ...string) []terms.Cause {
	return slices.DeleteFunc(list, func(c terms.Cause) bool { return slices.Contains(names, c.Name) })
}

// Text returns the text of a file, of SQL with the words in it.
func Text(files fs.FS, name string) (string, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil || path.Ext(name) != ".sql" || !bytes.Contains(text, []byte("{{")) {
		return string(text), err
	}
	t, err := template.New(name).Funcs(functions).Parse(string(text))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, words{})
	return b.String(), err
}
