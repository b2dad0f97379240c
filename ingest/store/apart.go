package store

import (
	"context"
	"fmt"
	"slices"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/schema"
)

// Apart returns a target that keeps all rows of a source in memory, and numbers ranges, names and the like as though the run had no other
// source: so several can be read side by side. It is for formats of timelines; Adopt stores the rows.
func (s *Store) Apart() *load.Target {
	o := s.Options
	o.Threads, o.Progress = 1, nil
	m := &rows.Memory{}
	if n := len(s.spare); n > 0 {
		m, s.spare = s.spare[n-1].Reuse(), s.spare[:n-1]
	}
	return &load.Target{Sink: m, RunID: s.RunID, Options: o, Run: &load.Run{}}
}

// Adopt stores what a target apart keeps, as the source that s is at, with the numbers that it would have got there. It uses a up.
func (s *Store) Adopt(ctx context.Context, a *load.Target) error {
	m, ok := a.Sink.(*rows.Memory)
	if !ok {
		return fmt.Errorf("internal error: the rows of a target apart are in a %T", a.Sink)
	}
	numbers := s.Run.Take(a.Run)
	s.spare = append(s.spare, m)
	for _, k := range m.Tables {
		if len(k.Pieces) > 0 {
			for i := range k.Pieces {
				if err := renumber(numbers, k.Table, k.Columns, &k.Pieces[i]); err != nil {
					return err
				}
				if err := s.Devices.onNode(k.Columns, &k.Pieces[i]); err != nil {
					return err
				}
			}
			if err := s.keep(ctx, k.Table, k.Columns, k.Pieces, k.N); err != nil {
				return err
			}
		}
		if len(k.Rows) > 0 {
			if err := s.adoptRows(ctx, k, numbers); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) adoptRows(ctx context.Context, k *rows.Kept, numbers *load.Numbering) error {
	names, err := s.columnsOf(ctx, k.Table)
	if err != nil {
		return err
	}
	source := slices.Index(names, sourceColumn)
	ids := map[int]load.Renumbered{} // by place of the column
	for i, name := range names {
		if schema.IsID(k.Table, name) {
			if ids[i], err = numbers.Of(k.Table, name); err != nil {
				return err
			}
		}
	}
	_, err = s.Append(ctx, k.Table, func(add rows.Add) error {
		for _, row := range k.Rows {
			if source >= 0 {
				row[source] = int32(s.SourceID)
			}
			isKnown := false
			for i, n := range ids {
				switch v := row[i].(type) {
				case nil:
				case int32:
					id := int32(n.New(int64(v)))
					row[i], isKnown = id, k.Table == inputTable && id <= numbers.InputsBefore
				case int64:
					row[i] = n.New(v)
				default:
					return fmt.Errorf("%s.%s of a source apart is a %T", k.Table, names[i], v)
				}
			}
			if isKnown { // another source stored it
				continue
			}
			if err := add(row...); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// inputTable has one row for each of Run.Inputs, stored with the first source that has it.
const inputTable = "op_input"

// renumber gives a piece's numbers anew.
func renumber(numbers *load.Numbering, table string, columns []rows.Column, p *rows.Piece) error {
	for i, c := range columns {
		if !schema.IsID(table, c.Name) {
			continue
		}
		r, err := numbers.Of(table, c.Name)
		if err != nil {
			return err
		}
		if c.Type == rows.Integer {
			renumberAll(r, p.Int32(i), func(k int) bool { return p.IsNull(i, k) })
		} else {
			renumberAll(r, p.Int64(i), func(k int) bool { return p.IsNull(i, k) })
		}
	}
	return nil
}

func renumberAll[T int32 | int64](r load.Renumbered, ids []T, isNull func(i int) bool) {
	for i, id := range ids {
		if !isNull(i) {
			ids[i] = T(r.New(int64(id)))
		}
	}
}
