package averages

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"prof/internal/file"
)

// csv reads rows of a CSV file with a header.
func (s *source) csv(in *bufio.Reader) error {
	comma := separator(in)
	cells := file.NewFewCells(s.in, comma)
	r := csv.NewReader(cells)
	r.Comma, r.ReuseRecord = comma, true
	header, err := r.Read()
	if err != nil || len(header) < 2 {
		return fmt.Errorf("%s: %w", s.name, errNotTable)
	}
	s.first = s.cols
	ids := make([]int, len(header))
	for i, name := range header {
		before := len(s.cols.list)
		if ids[i], err = s.cols.id(strings.TrimSpace(name)); err != nil {
			return fmt.Errorf("%s: line 1: %w", s.name, err)
		}
		if c := s.cols.list[ids[i]]; ids[i] < before && c.field != nothing {
			return fmt.Errorf("%s: line 1: two columns are called %q", s.name, name)
		}
	}
	if !s.cols.isTable() {
		return fmt.Errorf("%s: %w", s.name, errNotTable)
	}
	for {
		s.in.reset()
		cells.Next()
		values, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.damaged(r, err, len(values) < len(header))
		}
		line, _ := r.FieldPos(0)
		if s.in.openAt(r.InputOffset()) && values[len(values)-1] == "" && s.row.number > 0 {
			s.cutIn(line)
			break
		}
		s.row.number++
		s.row.line = line
		s.row.cells = s.row.cells[:0]
		for i, v := range values {
			c := cell{kind: text, text: strings.ToValidUTF8(v, "\uFFFD")}
			if v == "" {
				c = cell{}
			}
			s.row.set(ids[i], c)
		}
		if err := s.each(&s.row); err != nil {
			return err
		}
	}
	if s.cut == "" && s.in.openAt(r.InputOffset()) && s.row.number > 0 {
		s.notes = append(s.notes, "the last line has no newline: if the file was cut off, its last value is wrong")
	}
	return nil
}

// separator is what stands between the names of the header most often.
func separator(in *bufio.Reader) rune {
	head, _ := in.Peek(in.Size())
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, "\r\n"), []byte("\n"))
	best, most := ',', 0
	for _, c := range ",;\t" {
		if n := bytes.Count(line, []byte(string(c))); n > most {
			best, most = c, n
		}
	}
	return best
}

// damaged tells a line that is cut off, after which nothing follows, from one that is wrong.
func (s *source) damaged(r *csv.Reader, err error, short bool) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("%s: after line %d: %w", s.name, s.row.line, err)
	}
	s.in.reset()
	if _, next := r.Read(); errors.Is(next, io.EOF) && short && s.row.number > 0 {
		s.cutIn(parse.StartLine)
		return nil
	}
	hint := ""
	if errors.Is(err, csv.ErrFieldCount) {
		hint = "; are names with commas quoted?"
	}
	return fmt.Errorf("%s: line %d: %w%s", s.name, parse.StartLine, parse.Err, hint)
}

func (s *source) cutIn(line int) {
	s.cut = fmt.Sprintf("the file ends inside line %d: it was cut off", line)
}
