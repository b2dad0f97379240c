package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"prof/ingest/nsys/table"
)

const (
	// morselRows is about how many rows a morsel holds. It equals DuckDB's row group size.
	morselRows = 122880
	// sampleLeaves is how many leaves are read to estimate the rows of one.
	sampleLeaves = 8
)

// scan implements table.Scan.
type scan struct {
	ctx    context.Context
	f      *File
	t      *tableInfo
	plan   plan
	leaves []uint32
	bounds []int // morsel m holds leaves[bounds[m]:bounds[m+1]]
	rows   int64
}

// Scan prepares reading of a table's columns.
func (f *File) Scan(ctx context.Context, name string, wants []table.Want) (table.Scan, error) {
	t := f.table(name)
	if t == nil {
		return nil, &Error{File: f.name, Table: name, Err: ErrNoTable}
	}
	if err := f.readable(t); err != nil {
		return nil, err
	}
	return f.scan(ctx, t, wants)
}

func (f *File) scan(ctx context.Context, t *tableInfo, wants []table.Want) (*scan, error) {
	s := &scan{ctx: ctx, f: f, t: t}
	var err error
	if s.plan, err = f.newPlan(t, wants); err != nil {
		return nil, err
	}
	if s.leaves, err = f.leaves(ctx, t); err != nil {
		return nil, err
	}
	perLeaf, err := s.sample()
	if err != nil {
		return nil, err
	}
	s.rows = int64(perLeaf * float64(len(s.leaves)))
	s.bounds = cut(len(s.leaves), perLeaf)
	return s, nil
}

// sample estimates the rows of a leaf from some leaves' cell counts; it is exact when the table has only a few.
func (s *scan) sample() (float64, error) {
	n := min(len(s.leaves), sampleLeaves)
	buf := make([]byte, s.f.pageSize)
	cells := 0
	for i := range n {
		page := s.leaves[i*len(s.leaves)/n]
		if err := s.f.readPages(s.t, page, buf); err != nil {
			return 0, err
		}
		at := 3 // of the cell count in the page header
		if page == 1 {
			at += headerSize
		}
		cells += int(binary.BigEndian.Uint16(buf[at:]))
	}
	return float64(cells) / float64(n), nil
}

// cut shares leaves out evenly to morsels of at most about morselRows rows.
func cut(leaves int, perLeaf float64) []int {
	most := leaves
	if perLeaf > 0 {
		most = int(min(morselRows/perLeaf, float64(leaves)))
	}
	n := (leaves + max(most, 1) - 1) / max(most, 1)
	bounds := make([]int, n+1)
	for i := range bounds {
		bounds[i] = int(int64(leaves) * int64(i) / int64(n))
	}
	return bounds
}

// Morsels is how many pieces the scan has.
func (s *scan) Morsels() int { return len(s.bounds) - 1 }

// Rows is an estimate of the row count.
func (s *scan) Rows() int64 { return s.rows }

// Open returns a cursor.
func (s *scan) Open() table.Cursor { return newCursor(s) }

// Columns of a plan that the record does not hold.
const (
	missingColumn = -1 // the table has no such column
	rowidColumn   = -2
)

// rowidName asks newPlan for the rowid itself. It is no name that a statement can give a column.
const rowidName = "\x00rowid"

// plan says where the wanted columns come from.
type plan struct {
	wants  []table.Want
	source []int  // per want: a record column, or missingColumn or rowidColumn
	depth  int    // how many columns of a record must be looked at
	need   []bool // per record column below depth: whether a want reads it
}

func (f *File) newPlan(t *tableInfo, wants []table.Want) (plan, error) {
	p := plan{wants: slices.Clone(wants), source: make([]int, len(wants))}
	for i, w := range wants {
		at := t.find(w.Name)
		if at == missingColumn && !w.Optional {
			return p, &Error{File: f.name, Table: t.name, Column: w.Name, Err: table.ErrNoColumn}
		}
		if w.Kind > table.Text {
			return p, &Error{File: f.name, Table: t.name, Column: w.Name, Err: fmt.Errorf("unknown kind %d", w.Kind)}
		}
		p.source[i], p.depth = at, max(p.depth, at+1)
	}
	p.need = make([]bool, p.depth)
	for _, at := range p.source {
		if at >= 0 {
			p.need[at] = true
		}
	}
	return p, nil
}

// find returns the place of a column.
func (t *tableInfo) find(name string) int {
	if name == rowidName {
		return rowidColumn
	}
	for i := range t.cols {
		if t.cols[i].name == name {
			if i == t.alias {
				return rowidColumn
			}
			return i
		}
	}
	return missingColumn
}
