package store

import (
	"context"
	"fmt"
	"slices"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/schema"
)

// Apart returns a target for a source that is read before it is its turn to be stored, or while it is. It numbers ranges, names and the like as
// though the run had no other source. It is for formats of timelines; Adopt stores the rows.
func (s *Store) Apart(queues *rows.Queues, o load.Options) *load.Target {
	room := s.newRoom()
	return &load.Target{Sink: queues.New(room.LetGo), RunID: s.RunID, Options: o, Run: &load.Run{}, Room: room}
}

// adopted is a source apart that is stored.
type adopted struct {
	*Store
	*rows.Queue
	numbers *load.Numbering
}

// Adopt stores the rows of a target apart, while it gets them, as the source that s is at and with the numbers that they would have got there.
// It uses a up.
func (s *Store) Adopt(ctx context.Context, a *load.Target) (err error) {
	q, ok := a.Sink.(*rows.Queue)
	if !ok {
		return fmt.Errorf("internal error: the rows of a target apart are in a %T", a.Sink)
	}
	q.First()
	from := &adopted{s, q, s.Run.Take(a.Run)}
	restore := func() error { return nil }
	defer func() {
		if err != nil {
			q.Refuse(err)
			_ = restore() // beside an error that is worse
		}
	}()
	for {
		step, more, err := q.Next()
		switch {
		case err != nil:
			return err
		case !more:
			from.numbers.End()
			return nil
		case step.Kind == rows.Lean:
			restore = s.Lean(step.Room)
		case step.Kind == rows.EndOfLean:
			err = restore()
			restore = func() error { return nil }
		case step.Columns == nil:
			err = from.append(ctx, step.Table)
		default:
			err = from.insert(ctx, step)
		}
		if err != nil {
			return err
		}
	}
}

// insert stores the pieces of a table: few of them wait for those of other sources.
func (a *adopted) insert(ctx context.Context, table rows.Step) error {
	var pieces []rows.Piece
	for n := 0; n <= fewRows && table.Estimate <= fewRows; {
		p, more, err := a.piece(table)
		if err != nil {
			return err
		}
		if !more {
			if n == 0 {
				return nil
			}
			return a.keep(ctx, table.Table, table.Columns, pieces, n)
		}
		pieces, n = append(pieces, p), n+p.N
	}
	b, err := a.newBulk(table.Table, &adoptedRows{a, table, pieces}, nil)
	if err != nil {
		return err
	}
	_, err = a.insertAll(ctx, table.Table, b)
	return err
}

// piece takes the next piece of a table; false at its end.
func (a *adopted) piece(table rows.Step) (p rows.Piece, more bool, err error) {
	step, more, err := a.Next()
	if !more || err != nil || step.Kind == rows.End {
		return p, false, err
	}
	a.numbers.Follow()
	if err := renumber(a.numbers, table.Table, table.Columns, &step.Piece); err != nil {
		return p, false, err
	}
	return step.Piece, true, a.Devices.onNode(table.Columns, &step.Piece)
}

// adoptedRows are the rows of a table, of which some pieces were taken already.
type adoptedRows struct {
	*adopted
	table  rows.Step
	pieces []rows.Piece
}

func (r *adoptedRows) Columns() []rows.Column { return r.table.Columns }
func (r *adoptedRows) Estimate() int64        { return r.table.Estimate }
func (r *adoptedRows) Threads() int           { return 1 }
func (r *adoptedRows) Worker() rows.Worker    { return r }

// Fill writes the next piece.
func (r *adoptedRows) Fill(c *rows.Chunk) (int, error) {
	if len(r.pieces) == 0 {
		p, more, err := r.piece(r.table)
		if !more || err != nil {
			return 0, err
		}
		r.pieces = append(r.pieces, p)
	}
	p := r.pieces[0]
	r.pieces = r.pieces[1:]
	p.Write(c, 0)
	return p.N, nil
}

// append stores the whole rows of a table.
func (a *adopted) append(ctx context.Context, table string) error {
	names, err := a.columnsOf(ctx, table)
	if err != nil {
		return err
	}
	source := slices.Index(names, sourceColumn)
	ids := map[int]*load.Renumbered{} // by place of the column
	for i, name := range names {
		if schema.IsID(table, name) {
			if ids[i], err = a.numbers.Of(table, name); err != nil {
				return err
			}
		}
	}
	_, err = a.Store.Append(ctx, table, func(add rows.Add) error {
		for {
			step, more, err := a.Next()
			if !more || err != nil || step.Kind == rows.End {
				return err
			}
			a.numbers.Follow()
			for _, row := range step.Rows {
				if source >= 0 {
					row[source] = int32(a.SourceID)
				}
				if isKnown, err := a.renumberRow(table, names, ids, row); err != nil {
					return err
				} else if isKnown { // another source stored it
					continue
				}
				if err := add(row...); err != nil {
					return err
				}
			}
		}
	})
	return err
}

// inputTable has one row for each of Run.Inputs, stored with the first source that has it.
const inputTable = "op_input"

// renumberRow renumbers a row, and reports whether the run had it before.
func (a *adopted) renumberRow(table string, names []string, ids map[int]*load.Renumbered, row []any) (isKnown bool, err error) {
	for i, n := range ids {
		switch v := row[i].(type) {
		case nil:
		case int32:
			id := int32(n.New(int64(v)))
			row[i], isKnown = id, table == inputTable && id <= a.numbers.InputsBefore
		case int64:
			row[i] = n.New(v)
		default:
			return false, fmt.Errorf("%s.%s of a source apart is a %T", table, names[i], v)
		}
	}
	return isKnown, nil
}

// renumber renumbers a piece.
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

func renumberAll[T int32 | int64](r *load.Renumbered, ids []T, isNull func(i int) bool) {
	for i, id := range ids {
		if !isNull(i) {
			ids[i] = T(r.New(int64(id)))
		}
	}
}
