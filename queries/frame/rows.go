package frame

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Rows reads the rows of a query as values of T, a struct whose fields name columns:
//
//	type kernel struct {
//		Name  string   `col:"kernel"`
//		Total int64    `col:"total_ns"`
//		Std   *float64 `col:"std_ns"`         // a pointer is nil for NULL
//		Bound string   `col:"bound,optional"` // "" too where the query was asked without the option that this column needs
//	}
//
// A text is "" for NULL: no query answers with an empty text. NULL in any other field is an error, so that an unknown number is never 0. A
// float64 may read whole numbers. Fields without a tag are left alone.
type Rows[T any] struct {
	Query  string
	fields func() []field // made when first asked for: there are many types, and a command reads with few
}

// RowsOf declares that T reads a query; a test holds the columns of T to those of the query.
func RowsOf[T any](query string) Rows[T] {
	r := Rows[T]{query, fieldsWhenAsked[T]()}
	declared = append(declared, Declaration{query, reflect.TypeFor[T](), r.fields, func(f *Frame) error {
		_, err := r.Of(f)
		return err
	}})
	return r
}

// Declaration says that a type reads a query.
type Declaration struct {
	Query  string
	Type   reflect.Type
	fields func() []field     // made when first asked for: there are many types, and a command reads with few
	Read   func(*Frame) error // reads all rows
}

// Columns hands over what the type reads: the name and type of each column, and whether it may be NULL or missing.
func (d Declaration) Columns(do func(c Column, takesNull, isOptional bool)) {
	types := map[reflect.Kind]Type{reflect.String: Text, reflect.Int64: Int, reflect.Float64: Float, reflect.Bool: Bool}
	for _, x := range d.fields() {
		do(Column{Name: x.column, Type: types[x.is.Kind()], Unit: UnitOf(x.column)}, x.takesNull(), x.isOptional)
	}
}

var declared []Declaration

// Declarations returns what RowsOf declared.
func Declarations() []Declaration { return slices.Clone(declared) }

// Check holds a type to the columns of an answer to its query with all options, and its optional fields to one without any.
func (d Declaration) Check(with, without *Frame) error {
	for _, x := range d.fields() {
		at := with.Index(x.column)
		if at < 0 {
			return fmt.Errorf("query %s has no column %s, which %s reads", d.Query, x.column, d.Type)
		}
		c := with.Columns[at]
		if err := x.check(c); err != nil {
			return fmt.Errorf("query %s, read as %s: %w", d.Query, d.Type, err)
		}
		if strings.Contains(c.Doc, "NULL") && !x.takesNull() {
			return fmt.Errorf("query %s, read as %s: column %s can be NULL (%s), and %v cannot", d.Query, d.Type, x.column, c.Doc, x.is)
		}
		if x.isOptional != (without.Index(x.column) < 0) {
			return fmt.Errorf("query %s, read as %s: column %s is optional: %v", d.Query, d.Type, x.column, !x.isOptional)
		}
	}
	return nil
}

// field is one field of a struct that a column is read into.
type field struct {
	column     string
	at         []int        // as reflect.Value.FieldByIndex takes it
	is         reflect.Type // without its pointer
	isPointer  bool
	isOptional bool
}

func fieldsWhenAsked[T any]() func() []field {
	return sync.OnceValue(func() []field { return fieldsOf(reflect.TypeFor[T](), nil) })
}

// fieldsOf returns the fields of a struct that have columns, also those of structs embedded in it.
func fieldsOf(t reflect.Type, at []int) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		here := append(slices.Clone(at), i)
		tag, has := f.Tag.Lookup("col")
		switch {
		case has:
			name, option, _ := strings.Cut(tag, ",")
			x := field{column: name, at: here, is: f.Type, isOptional: option == "optional"}
			if f.Type.Kind() == reflect.Pointer {
				x.is, x.isPointer = f.Type.Elem(), true
			}
			if x.wants() == "" || option != "" && !x.isOptional || x.isOptional && !x.takesNull() {
				panic(fmt.Sprintf("%s: field %s %v of column %q cannot be read", t, f.Name, f.Type, tag))
			}
			out = append(out, x)
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			out = append(out, fieldsOf(f.Type, here)...)
		}
	}
	return out
}

func (x field) takesNull() bool { return x.isPointer || x.is.Kind() == reflect.String }

// wants names what a column must hold; "" of a type that no column can be read into.
func (x field) wants() string {
	switch x.is.Kind() {
	case reflect.String:
		return "text"
	case reflect.Int64:
		return "whole numbers"
	case reflect.Float64:
		return "numbers"
	case reflect.Bool:
		return "truth values"
	}
	return ""
}

// check reports a column whose values the field cannot hold.
func (x field) check(c Column) error {
	kind := x.is.Kind()
	if c.Type == Text && kind == reflect.String || c.Type == Int && (kind == reflect.Int64 || kind == reflect.Float64) || c.Type == Float && kind == reflect.Float64 || c.Type == Bool && kind == reflect.Bool {
		return nil
	}
	return fmt.Errorf("column %s does not hold %s", c.Name, x.wants())
}

// set stores a cell; it reports whether the field can hold it.
func (x field) set(to reflect.Value, cell any) bool {
	if cell == nil {
		return x.takesNull()
	}
	if x.isPointer {
		to.Set(reflect.New(x.is))
		to = to.Elem()
	}
	switch v := cell.(type) {
	case string:
		to.SetString(v)
	case bool:
		to.SetBool(v)
	case float64:
		to.SetFloat(v)
	case int64:
		if x.is.Kind() == reflect.Float64 {
			to.SetFloat(float64(v))
		} else {
			to.SetInt(v)
		}
	}
	return true
}

// reader returns what reads rows of a frame, as it checks that the frame has the columns.
func (r Rows[T]) reader(f *Frame) (func(row []any) (T, error), error) {
	at := make([]int, len(r.fields()))
	for i, x := range r.fields() {
		at[i] = f.Index(x.column)
		if at[i] < 0 && !x.isOptional {
			return nil, fmt.Errorf("query %s: no column %s", f.Query, x.column)
		}
		if at[i] >= 0 {
			if err := x.check(f.Columns[at[i]]); err != nil {
				return nil, fmt.Errorf("query %s: %w", f.Query, err)
			}
		}
	}
	return func(row []any) (out T, err error) {
		if len(row) != len(f.Columns) {
			return out, fmt.Errorf("query %s: a row has %d values for %d columns", f.Query, len(row), len(f.Columns))
		}
		to := reflect.ValueOf(&out).Elem()
		for i, x := range r.fields() {
			if at[i] >= 0 && !x.set(to.FieldByIndex(x.at), row[at[i]]) {
				return out, fmt.Errorf("query %s: column %s is NULL", f.Query, x.column)
			}
		}
		return out, nil
	}, nil
}

// Of returns the rows of answers to the query, one answer after the other, but not those of Rest; none of a nil one, which was not asked.
func (r Rows[T]) Of(answers ...*Frame) ([]T, error) {
	var out []T
	for _, f := range answers {
		if f == nil {
			continue
		}
		read, err := r.reader(f)
		if err != nil {
			return nil, err
		}
		out = slices.Grow(out, len(f.Rows))
		for _, row := range f.Rows {
			x, err := read(row)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
	return out, nil
}

// Cells hands over the columns of a row and their values, nil for NULL.
func (r Rows[T]) Cells(row T, do func(column string, value any)) {
	from := reflect.ValueOf(row)
	for _, x := range r.fields() {
		v := from.FieldByIndex(x.at)
		switch {
		case x.takesNull() && v.IsZero():
			do(x.column, nil)
		case x.isPointer:
			do(x.column, v.Elem().Interface())
		default:
			do(x.column, v.Interface())
		}
	}
}

// Into reads the rows of SQL that is no query of the catalogue.
func Into[T any](f *Frame) ([]T, error) {
	return Rows[T]{fields: fieldsWhenAsked[T]()}.Of(f)
}

// Or returns a value, and another where there is NULL.
func Or[T any](value *T, other T) T {
	if value == nil {
		return other
	}
	return *value
}

// Texts returns the values of a column that is known by name only when the program runs, as texts; "" for NULL.
func (f *Frame) Texts(column string) ([]string, error) {
	at := f.Index(column)
	if at < 0 {
		return nil, fmt.Errorf("query %s: no column %s", f.Query, column)
	}
	out := make([]string, len(f.Rows))
	for i, row := range f.Rows {
		if row[at] != nil {
			out[i] = fmt.Sprint(row[at])
		}
	}
	return out, nil
}

// Numbers returns the values of a column that is known by name only when the program runs, nil for NULL.
func (f *Frame) Numbers(column string) ([]*float64, error) {
	at := f.Index(column)
	if at < 0 {
		return nil, fmt.Errorf("query %s: no column %s", f.Query, column)
	}
	if t := f.Columns[at].Type; t != Int && t != Float {
		return nil, fmt.Errorf("query %s: column %s does not hold numbers", f.Query, column)
	}
	out := make([]*float64, len(f.Rows))
	for i, row := range f.Rows {
		switch v := row[at].(type) {
		case float64:
			out[i] = &v
		case int64:
			out[i] = new(float64(v))
		}
	}
	return out, nil
}

// Finite returns a number; known is false where there is NULL, and of what is infinite or not a number.
func Finite(value *float64) (v float64, known bool) {
	if value == nil || math.IsNaN(*value) || math.IsInf(*value, 0) {
		return 0, false
	}
	return *value, true
}
