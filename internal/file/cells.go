package file

import (
	"bytes"
	"fmt"
	"io"
)

// FewCells passes a table of text on, as long as no row of it has more cells than any: an empty cell is one byte of the file and fifty of memory.
type FewCells struct {
	in        io.Reader
	separator []byte
	n         int // since the row began
}

// NewFewCells makes a FewCells for a separator of ASCII.
func NewFewCells(in io.Reader, separator rune) *FewCells {
	return &FewCells{in: in, separator: []byte(string(separator))}
}

// Next says that a row begins.
func (f *FewCells) Next() { f.n = 0 }

func (f *FewCells) Read(p []byte) (int, error) {
	if f.n > MostValues {
		return 0, fmt.Errorf("a row has more than %d cells, %w", MostValues, ErrTooLarge)
	}
	n, err := f.in.Read(p)
	f.n += bytes.Count(p[:n], f.separator)
	return n, err
}
