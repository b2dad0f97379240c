package averages

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonReader reads rows from JSON: an array of objects, an object with one such array among its members, or objects one after
// another.
type jsonReader struct {
	*source
	d       *jsontext.Decoder
	skipped int64  // bytes before the JSON
	within  string // member that holds the table
	done    bool   // whether the table was read
}

// errCut means that the file ends inside a value.
var errCut = errors.New("the file ends inside it")

func (s *source) json(skipped int64) error {
	r := &jsonReader{source: s, skipped: skipped}
	r.d = jsontext.NewDecoder(s.in, jsontext.AllowInvalidUTF8(true))
	err := r.top()
	if !errors.Is(err, errCut) {
		return err
	}
	if r.row.number == 0 {
		return fmt.Errorf("%s: the file ends inside its first row: was it cut off?", s.name)
	}
	s.cut = fmt.Sprintf("the file ends inside its table, after row %d: it was cut off", r.row.number)
	return nil
}

// top reads the values of the file.
func (r *jsonReader) top() error {
	for {
		t, err := r.token()
		switch {
		case errors.Is(err, io.EOF) && (r.done || r.row.number > 0):
			return nil
		case errors.Is(err, io.EOF):
			return errCut
		case err != nil:
			return err
		case r.done:
			return r.errorf("more data follows the table; a file has one table")
		case t.Kind() == '[' && r.row.number == 0:
			r.done = true
			err = r.rows(r.cols)
		case t.Kind() == '{' && r.row.number == 0:
			err = r.firstObject()
		case t.Kind() == '{':
			if err = r.object(r.cols, nil); err == nil {
				err = r.give()
			}
		default:
			return r.errorf("it is neither an object nor an array of objects")
		}
		if err != nil {
			return err
		}
	}
}

// rows reads the rows of an array that was opened.
func (r *jsonReader) rows(cols *columns) error {
	for {
		t, err := r.token()
		switch {
		case err != nil:
			return err
		case t.Kind() == ']':
			return nil
		case t.Kind() != '{':
			return r.errorf("row %d is not an object", r.row.number+1)
		}
		if r.row.number == 0 {
			r.first = cols
		}
		if err := r.object(cols, nil); err != nil {
			return err
		}
		if r.row.number == 0 && !cols.isTable() {
			return fmt.Errorf("%s: %w", r.name, errNotTable)
		}
		if err := r.give(); err != nil {
			return err
		}
	}
}

// firstObject reads an object that is the first row, or holds the table.
func (r *jsonReader) firstObject() error {
	var cols columns
	r.first = &cols
	if err := r.object(&cols, r.member); err != nil || r.done {
		return err
	}
	if !cols.isTable() {
		return fmt.Errorf("%s: %w", r.name, errNotTable)
	}
	*r.cols = cols
	return r.give()
}

// member reads the rest of an array of objects among the members of the first object, of which the first '{' was read.
func (r *jsonReader) member(name string) error {
	outer, first := r.row.cells, r.first
	var cols columns
	r.row.cells, r.first = nil, &cols
	if err := r.object(&cols, nil); err != nil {
		return err
	}
	if !cols.isTable() {
		r.row.cells, r.first = outer, first
		return r.skip(1)
	}
	if r.done {
		return r.errorf("it has two tables, %q and %q: save each in a separate file", r.within, name)
	}
	*r.cols, r.done, r.within = cols, true, name
	if err := r.give(); err != nil {
		return err
	}
	return r.rows(r.cols)
}
