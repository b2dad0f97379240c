package seed

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
)

// eachRow reads a CSV with exactly the given columns and gives its rows one by one, with the line that each begins in. An error of
// row gets the line added.
func eachRow(r io.Reader, columns []string, row func(line int, col []string) error) error {
	c := csv.NewReader(r)
	c.FieldsPerRecord = len(columns)
	header, err := c.Read()
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if !slices.Equal(header, columns) {
		return fmt.Errorf("header is %s, want %s", strings.Join(header, ","), strings.Join(columns, ","))
	}
	for {
		col, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := c.FieldPos(0)
		if err := row(line, col); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// lines remembers what was read in which line, to refuse what is there twice.
type lines[K comparable] map[K]int

// add refuses a key that is there; what names it in the error.
func (l lines[K]) add(line int, key K, what string) error {
	if first, ok := l[key]; ok {
		return fmt.Errorf("%s is in line %d already", what, first)
	}
	l[key] = line
	return nil
}

func filled(nameValue ...string) error {
	for i := 0; i < len(nameValue); i += 2 {
		if v := nameValue[i+1]; v == "" || v != strings.TrimSpace(v) {
			return fmt.Errorf("%s %q is empty or has space around it", nameValue[i], v)
		}
	}
	return nil
}
