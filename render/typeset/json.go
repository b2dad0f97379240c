package typeset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Exact returns the shortest text that reads back as v, without an exponent where a spreadsheet might stumble over one.
func Exact(v float64) string {
	size := math.Abs(v)
	if size == 0 || size >= 1e-5 && size < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+")
}

// Object is an object of JSON or YAML whose members keep the order in which they were put in.
type Object struct{ Members []Member }

type Member struct {
	Key   string
	Value any
}

// Put adds a member: a text, a number, a bool, an *Object, or a list or map of these. A nil pointer, and a number that JSON has no way to
// write, is null; any other pointer is what it points to. A list is never null.
func (o *Object) Put(key string, value any) *Object {
	o.Members = append(o.Members, Member{key, known(value)})
	return o
}

// PutText adds a text that is null where it is not known, which is "".
func (o *Object) PutText(key, text string) *Object {
	if text == "" {
		return o.Put(key, nil)
	}
	return o.Put(key, text)
}

// List returns what one makes of each of a list.
func List[T any](list []T, one func(T) *Object) []any {
	return Each(list, func(x T) any { return one(x) })
}

// Each returns what one makes of each of a list: none of none, which JSON writes as [].
func Each[T, U any](list []T, one func(T) U) []U {
	out := make([]U, len(list))
	for i, x := range list {
		out[i] = one(x)
	}
	return out
}

// Listed is a list that JSON writes as [] where there is none.
func Listed[T any](list []T) []T { return append([]T{}, list...) }

// Number is a number that JSON writes as null where it has no way to write it.
type Number float64

func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	return json.Marshal(Finite(&v))
}

// Finite is a number as JSON writes it: null where it is not known, and where there is no way to write it.
func Finite(v *float64) *float64 {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	return v
}

// Optional is a text as JSON writes it where "" is not known: null.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func known(value any) any {
	if o, is := value.(*Object); is && o != nil {
		return o
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return known(v.Elem().Interface())
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = known(v.Index(i).Interface())
		}
		return list
	}
	return value
}

// MarshalJSON writes the members in their order.
func (o *Object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o.Members {
		out.WriteString(Comma(i) + Quote(m.Key) + ":")
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func Comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func JsonValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "null"
		}
		return Exact(v)
	}
	return Quote(fmt.Sprint(v))
}

// Quote returns s as a JSON string of valid UTF-8, without the escapes that only HTML needs.
func Quote(s string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil { // a string cannot fail
		return `""`
	}
	return string(bytes.TrimRight(out.Bytes(), "\n"))
}

func WriteIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}
