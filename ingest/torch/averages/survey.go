package averages

import (
	"errors"
	"fmt"
	"math"
)

// tally is what one column holds over all rows.
type tally struct {
	seen       int // cells that are not empty
	nonzero    int
	bare       int // numbers without a unit of their own
	fractional int // bare numbers that are not whole
	negative   int
	// Of a time that may be that of all calls: rows with several calls in which it is self time, as the total of what calls
	// nothing is, and rows in which it is less, as only a mean can be.
	equal, less int
}

// survey is what a first reading finds: what a column means can depend on all its values.
type survey struct {
	cols     *columns
	file     string // for messages
	tallies  []tally
	rows     int
	cpuOnly  bool // whether every row says that it ran on the CPU
	anyShape bool // whether a row has inputs with shapes

	badShapes, badDevices, outOfRange place // what could not be read
}

// place counts rows and keeps the first.
type place struct {
	rows  int
	first string
	what  string
}

func (p *place) add(r *record, what string) {
	if p.rows++; p.rows == 1 {
		p.first, p.what = r.where(), shorten(what)
	}
}

// add takes one row.
func (s *survey) add(r *record) error {
	s.rows++
	for len(s.tallies) < len(s.cols.list) {
		s.tallies = append(s.tallies, tally{})
	}
	for id, c := range r.cells {
		if err := s.cell(r, id, c); err != nil {
			return err
		}
	}
	s.device(r)
	s.compare(r)
	return nil
}

func (s *survey) cell(r *record, id int, c cell) error {
	col, t := &s.cols.list[id], &s.tallies[id]
	if !col.field.isAmount() || col.trust == unclear {
		if c.kind != absent && c.text != "" {
			t.seen++
		}
		if col.field == shapesField && !s.anyShape {
			sizes, ok := shapesJSON(c.text)
			s.anyShape = ok && sizes != "[]"
		}
		return nil
	}
	w, ok, err := parse(c, col.field)
	if err != nil {
		return s.wrong(r, id, err)
	}
	if !ok {
		return nil
	}
	t.seen++
	if w.unit == 0 {
		t.bare++
	}
	if w.value != 0 {
		t.nonzero++
	}
	if w.value < 0 {
		t.negative++
	}
	if w.unit == 0 && w.value != math.Trunc(w.value) {
		t.fractional++
	}
	switch {
	case col.field == countField && w.value < 0:
		err = fmt.Errorf("%q is negative", shorten(c.text))
	case (col.field == countField || col.field == flops && col.unit == 1) && w.value != math.Trunc(w.value):
		err = fmt.Errorf("%q is not a whole number", shorten(c.text))
	default:
		if _, err = w.in(col.field, col.unit); errors.Is(err, errRange) && col.field != countField {
			s.outOfRange.add(r, col.name)
			err = nil
		}
	}
	if err != nil {
		return s.wrong(r, id, err)
	}
	return nil
}

func (s *survey) wrong(r *record, id int, err error) error {
	return fmt.Errorf("%s: %s: column %q: %w", s.file, r.where(), s.cols.list[id].name, err)
}

// device notes whether the row says where it ran.
func (s *survey) device(r *record) {
	for id, col := range s.cols.list {
		if col.field != deviceTypeField {
			continue
		}
		kind, ok := kindOf(r.cell(id))
		if !ok && r.cell(id).kind != absent {
			s.badDevices.add(r, r.cell(id).text)
		}
		s.cpuOnly = kind == "cpu" && (s.cpuOnly || s.rows == 1)
		return
	}
	s.cpuOnly = false
}

// compare holds times that may be a mean against self time.
func (s *survey) compare(r *record) {
	calls := 0.0
	var self [fieldCount]float64
	for id, col := range s.cols.list {
		if col.trust != certain || col.field != countField && col.field != selfCPU && col.field != selfDevice {
			continue
		}
		if w, ok, _ := parse(r.cell(id), col.field); ok && col.field == countField {
			calls = max(calls, w.value)
		} else if ok {
			self[col.field] = max(self[col.field], w.value*max(w.unit, col.unit))
		}
	}
	for id, col := range s.cols.list {
		if col.trust != loose || calls < 2 {
			continue
		}
		of := self[col.field-1] // a total stands behind its self time
		w, ok, _ := parse(r.cell(id), col.field)
		if !ok || of <= 0 {
			continue
		}
		switch ns := w.value * max(w.unit, col.unit); {
		case math.Abs(ns-of) <= of/1000: // one is the other, rounded
			s.tallies[id].equal++
		case ns < 0.75*of:
			s.tallies[id].less++
		}
	}
}
