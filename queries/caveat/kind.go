package caveat

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"prof/queries/frame"
)

// C is short for a caveat as the warehouse has it: what its columns mean depends on its kind.
type C = frame.Caveat

// kind is one kind of caveat: the columns that it has, and what it says.
type kind struct {
	fields []Field
	say    func(c C, alike []C) string // alike are all of its kind about a query's rows, itself among them
}

// Field is a column that caveats of a kind have.
type Field struct {
	Column  string // of the table caveat; its last word is the unit
	Meaning string
}

// says is the kind of a sentence without figures.
func says(text string) kind { return kind{nil, func(C, []C) string { return text }} }

// sentence is a kind that is said of each caveat by itself. The fields of T name the columns that the kind has, and say what they mean:
//
//	struct { Repeats int64 `col:"item_count"` }
func sentence[T any](say func(c T) string) kind {
	return together(func(c T, _ []T) string { return say(c) })
}

// together is a kind whose caveats are said together, in one sentence.
func together[T any](say func(c T, alike []T) string) kind {
	return kind{fieldsOf(reflect.TypeFor[T]()), func(c C, alike []C) string {
		all := make([]T, len(alike))
		for i := range alike {
			all[i] = as[T](alike[i])
		}
		return say(as[T](c), all)
	}}
}

// columns are where a caveat has its columns.
func columns(c *C) map[string]any {
	return map[string]any{"stage": &c.Stage, "subject": &c.Subject, "object": &c.Object, "detail": &c.Detail, "item_count": &c.Count, "of_count": &c.OfCount, "time_ns": &c.TimeNs, "of_time_ns": &c.OfTimeNs, "ratio": &c.Ratio}
}

// fieldsOf reads the fields of a kind; a column that there is not, or of another type, is a mistake in this program.
func fieldsOf(t reflect.Type) []Field {
	var out []Field
	for i := range t.NumField() {
		f := t.Field(i)
		column := f.Tag.Get("col")
		if at, known := columns(&C{})[column]; !known || reflect.TypeOf(at).Elem() != f.Type || !f.IsExported() {
			panic(fmt.Sprintf("field %s of a caveat is %v of the column %q", f.Name, f.Type, column))
		}
		out = append(out, Field{column, spaced(f.Name)})
	}
	return out
}

// spaced writes a Go name as words: JobNodes is job nodes, GPUs stays.
func spaced(name string) string {
	var words []string
	start := 0
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(name[i-1])) {
			words, start = append(words, name[start:i]), i
		}
	}
	words = append(words, name[start:])
	for i, w := range words {
		if len(w) < 2 || unicode.IsLower(rune(w[1])) {
			words[i] = strings.ToLower(w)
		}
	}
	return strings.Join(words, " ")
}

// as reads a caveat as the fields of its kind.
func as[T any](c C) T {
	var out T
	v, from := reflect.ValueOf(&out).Elem(), columns(&c)
	for i := range v.NumField() {
		v.Field(i).Set(reflect.ValueOf(from[v.Type().Field(i).Tag.Get("col")]).Elem())
	}
	return out
}

// Make returns a caveat of a kind with these fields.
func Make[T any](topic, kind string, fields T) C {
	c := C{Topic: topic, Kind: kind}
	v, to := reflect.ValueOf(fields), columns(&c)
	for i := range v.NumField() {
		reflect.ValueOf(to[v.Type().Field(i).Tag.Get("col")]).Elem().Set(v.Field(i))
	}
	return c
}

// Kinds returns the names of all kinds.
func Kinds() []string { return slices.Sorted(maps.Keys(words)) }

// FieldsOf returns the columns that caveats of a kind have.
func FieldsOf(name string) []Field { return words[name].fields }

// Figure is what a caveat says in one of the columns that its kind has: a text, or a number.
type Figure struct {
	Column string
	Value  any
}

// Figures returns what a caveat says, by the columns of its kind.
func Figures(c C) []Figure {
	var out []Figure
	for _, f := range FieldsOf(c.Kind) {
		out = append(out, Figure{f.Column, reflect.ValueOf(columns(&c)[f.Column]).Elem().Interface()})
	}
	return out
}

// Example returns what a kind says, its texts being what its fields are called, of 3 in 4 of a thing.
func Example(name string) string {
	c := C{Kind: name, Stage: "STAGE", Count: 3, OfCount: 4, TimeNs: 2e6, OfTimeNs: 8e6, Ratio: 0.25}
	for _, f := range FieldsOf(name) {
		if text, is := columns(&c)[f.Column].(*string); is {
			*text = strings.ToUpper(f.Meaning)
		}
	}
	if strings.HasSuffix(name, "faster-under-profiling") {
		c.Ratio = -c.Ratio
	}
	return words[name].say(c, []C{c})
}
