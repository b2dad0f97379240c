// Package averages reads tables of PyTorch's key_averages(), the profiler's sums by operator, that a program saved as JSON, CSV or Markdown or printed.
//
// PyTorch has no such file format: people write their own few lines of Python, and name the columns after the attributes of
// FunctionEventAvg (torch/autograd/profiler_util.py), the headings of its printed table, or otherwise. Columns are taken by what
// their names say; what a name leaves open is decided by the values where they prove it, and otherwise left empty with a warning.
// Times in PyTorch's attributes are microseconds; memory is in bytes.
package averages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/internal/file"
)

// summaries are how the pages begin that prof report writes for people, and those of the first implementation: with a table of the operators that take
// most of the time, of figures that other files hold whole.
var summaries = []string{"# Run ", "# Stakeholder Summary"}

// Sniff reports whether a file is a table of key_averages(), by its beginning.
func Sniff(_ string, head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 || slices.ContainsFunc(summaries, func(begin string) bool { return bytes.HasPrefix(bytes.TrimSpace(head), []byte(begin)) }) {
		return false
	}
	enough := errors.New("one row is enough")
	s, err := readTable(context.Background(), bytes.NewReader(head), "", &columns{}, func(*record) error { return enough })
	switch {
	case errors.Is(err, errNotTable):
		return false
	case errors.Is(err, enough):
		return true
	}
	return s.first != nil && s.first.isTable() // of a first row that is longer than the beginning, or a header alone
}

// Identify knows no more of a table than that it is one: it does not name its capture. Of a text it also finds whether its table can be read.
func Identify(ctx context.Context, path, name string) (*load.SourceInfo, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !isText(head[:n]) {
		return &load.SourceInfo{}, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := read(ctx, f, name, func(*row) error { return nil }); err != nil {
		return nil, err
	}
	return &load.SourceInfo{}, nil
}

// Load stores a table as one source of the target's run. Of a table that was cut off it stores the rows that are whole. Errors
// name the row: numbers that are none or beyond all measure, negative counts, rows without a name or a number of calls.
func Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return store(ctx, f, name, t)
}

// result is what read found beside the rows.
type result struct {
	rows     int
	cut      string // why the table is not whole; "" when it is
	warnings []string
	account
}

// read returns the rows of a table in order. It reads the file twice, since what a column means can depend on all its values.
// Memory is bounded: of a table of more than maxKept rows it says nothing that takes all of them.
func read(ctx context.Context, f io.ReadSeeker, name string, each func(*row) error) (*result, error) {
	found := &survey{cols: &columns{}, file: name}
	if _, err := readTable(ctx, f, name, found.cols, found.add); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := found.plan()
	var kept []*row
	s, err := readTable(ctx, f, name, &columns{}, func(r *record) error {
		out, err := p.row(r)
		if err != nil {
			return err
		}
		if found.rows > maxKept {
			return each(out)
		}
		kept = append(kept, out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	res := &result{rows: found.rows, cut: s.cut}
	if len(kept) > 0 {
		res.account = p.account(kept, s.totals)
	}
	for i, r := range kept {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := each(r); err != nil {
			return nil, err
		}
	}
	p.warnRows(s)
	res.warnings = p.warnings
	return res, nil
}

// warnRows says what the second reading found.
func (p *plan) warnRows(s *source) {
	if p.rows == 0 {
		p.warn("the table has a header but no rows")
	}
	for f, d := range p.differ {
		if d.rows > 0 {
			p.warn("%s and %s disagree in %d rows, first in %s: %s is stored", p.cols.list[p.from[f][0]].name, d.what, d.rows, d.first, p.cols.list[p.from[f][0]].name)
		}
	}
	var negative []string
	for _, f := range []field{totalCPU, totalDevice} {
		if ids := p.from[f]; len(ids) > 0 && p.tallies[ids[0]].negative > 0 {
			negative = append(negative, p.cols.list[ids[0]].name)
		}
	}
	if len(negative) > 0 {
		p.warn("%s: some totals are negative; they are stored as they are", strings.Join(negative, ", "))
	}
	if b := p.badShapes; b.rows > 0 {
		p.warn("the shapes of %d rows cannot be read and are stored as empty, first in %s: %q", b.rows, b.first, b.what)
	}
	if b := p.outOfRange; b.rows > 0 {
		p.warn("%d amounts are out of range and are stored as empty, first in %s: %s", b.rows, b.first, b.what)
	}
	if b := p.badDevices; b.rows > 0 {
		p.warn("%d rows have a device type that prof does not know, first in %s: %q; their times show where they ran", b.rows, b.first, b.what)
	}
	p.warnings = append(p.warnings, s.notes...)
}
