package typeset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Exact gives the shortest text that reads back as v, without an exponent where a spreadsheet might stumble over one.
func Exact(v float64) string {
	size := math.Abs(v)
	if size == 0 || size >= 1e-5 && size < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+")
}

// TextOrNull gives an empty text as nil.
func TextOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Finite gives a number that JSON can hold; nil of others.
func Finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func FinitePointer(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return Finite(*v)
}

// Object is an object of JSON or YAML whose members keep the order in which they were put in.
type Object struct{ Members []Member }

type Member struct {
	Key   string
	Value any
}

// Put adds a member. Its value is nil, a text, a number, a bool, an *object, or a []any of these.
func (o *Object) Put(key string, value any) *Object {
	o.Members = append(o.Members, Member{key, value})
	return o
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

// Quote gives s as a JSON string of valid UTF-8, without the escapes that only HTML needs.
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
