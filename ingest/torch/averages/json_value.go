package averages

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// object reads the members of an object that was opened into the row. inner is called, if not nil, for a member that is an array
// of objects, when the first of them was opened; it reads the rest of that array.
func (r *jsonReader) object(cols *columns, inner func(name string) error) error {
	clear(r.row.cells)
	r.row.cells = r.row.cells[:0]
	r.row.offset = r.skipped + r.d.InputOffset() - 1
	for {
		t, err := r.token()
		if err != nil || t.Kind() == '}' {
			return err
		}
		name := t.String()
		if inner != nil && name == "traceEvents" {
			return fmt.Errorf("%s: %w", r.name, errNotTable)
		}
		id, err := cols.id(name)
		if err != nil {
			return r.errorf("%v", err)
		}
		c, err := r.value(cols.list[id].field == shapesField, name, inner)
		if err != nil {
			return err
		}
		r.row.set(id, c)
	}
}

// value reads one value. Arrays and objects are only kept where they are shapes.
func (r *jsonReader) value(shapes bool, name string, inner func(string) error) (cell, error) {
	if shapes && r.d.PeekKind() == '[' {
		v, err := r.d.ReadValue()
		if err != nil {
			return cell{}, r.failed(err)
		}
		r.in.reset()
		return cell{kind: other, text: string(v)}, nil
	}
	t, err := r.token()
	if err != nil {
		return cell{}, err
	}
	switch t.Kind() {
	case 'n':
		return cell{}, nil
	case '"':
		return cell{kind: text, text: t.String()}, nil
	case '0':
		return cell{kind: number, text: t.String()}, nil
	case 't', 'f':
		return cell{kind: other, text: t.String()}, nil
	}
	array := t.Kind() == '['
	t, err = r.token()
	switch {
	case err != nil:
		return cell{}, err
	case t.Kind() == ']' || t.Kind() == '}':
		return cell{kind: other}, nil
	case array && inner != nil && t.Kind() == '{':
		return cell{kind: other, text: "[...]"}, inner(name)
	case t.Kind() == '[' || t.Kind() == '{':
		err = r.skip(2)
	default:
		err = r.skip(1)
	}
	return cell{kind: other, text: "..."}, err
}

// skip reads the rest of so many arrays and objects that were opened.
func (r *jsonReader) skip(open int) error {
	for open > 0 {
		t, err := r.token()
		if err != nil {
			return err
		}
		switch t.Kind() {
		case '[', '{':
			open++
		case ']', '}':
			open--
		}
	}
	return nil
}

// give passes the row on.
func (r *jsonReader) give() error {
	r.row.number++
	return r.each(&r.row)
}

func (r *jsonReader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: byte %d: %s", r.name, r.skipped+r.d.InputOffset(), fmt.Sprintf(format, args...))
}

// token reads the next token.
func (r *jsonReader) token() (jsontext.Token, error) {
	t, err := r.d.ReadToken()
	r.in.reset()
	if err != nil {
		err = r.failed(err)
	}
	return t, err
}

// notNumbers are what Python's json module writes though JSON has no such numbers.
var notNumbers = [][]byte{[]byte("NaN"), []byte("Infinity"), []byte("-Infinity")}

// failed gives an error of the decoder its place and what to do about it.
func (r *jsonReader) failed(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case errors.Is(err, errLong):
		return r.errorf("%v: is it a key_averages() table?", errLong)
	case !errors.As(err, &syntax):
		return err
	}
	unread := r.d.UnreadBuffer()
	rest := bytes.TrimLeft(unread, " \t\r\n,:")
	for _, n := range notNumbers {
		if bytes.HasPrefix(rest, n) || len(rest) > 1 && bytes.HasPrefix(n, rest) { // the decoder's buffer may end inside it
			at := r.skipped + r.d.InputOffset() + int64(len(unread)-len(rest))
			return fmt.Errorf("%s: byte %d, after row %d: %s is not a JSON number; write None instead", r.name, at, r.row.number, n)
		}
	}
	return fmt.Errorf("%s: byte %d, after row %d: the JSON is damaged: %w", r.name, r.skipped+syntax.ByteOffset, r.row.number, syntax.Err)
}
