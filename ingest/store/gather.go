package store

import (
	"context"
	"slices"

	"prof/ingest/rows"
)

// DuckDB takes as long to store ten rows as to store a thousand, and a source has rows for some thirty tables, most of them few: so those of
// a run's sources are gathered and stored together.
const (
	fewRows  = 4096    // of a table of one source, at most, are gathered
	manyRows = 1 << 15 // of a table are stored as soon as they are gathered
)

// sourceColumn is the column of a row's source, in every table that has one.
const sourceColumn = "source_id"

// isFull reports whether what waits should be stored.
func isFull(k *rows.Kept) bool {
	return k.N >= manyRows || len(k.Rows) >= manyRows || k.Texts >= rows.MostTexts
}

// begun is a worker some of whose rows were taken already: they come first.
type begun struct {
	pieces []rows.Piece
	rows.Worker
}

// Fill fills a chunk.
func (b *begun) Fill(c *rows.Chunk) (int, error) {
	if len(b.pieces) == 0 {
		return b.Worker.Fill(c)
	}
	p := &b.pieces[0]
	b.pieces = b.pieces[1:]
	p.Write(c, 0)
	return p.N, nil
}

// gather takes the rows if they are few. If not, the bulk begins with those that were taken.
func (s *Store) gather(ctx context.Context, table string, b *bulk) (n int64, few bool, err error) {
	if b.rows.Estimate() > fewRows {
		return 0, false, nil
	}
	pieces, n, rest, err := s.waiting.Take(ctx, b.rows, fewRows)
	switch {
	case err != nil:
		return 0, false, err
	case rest != nil:
		b.begun = &begun{pieces, rest}
		return 0, false, nil
	}
	return n, true, s.keep(ctx, table, b.rows.Columns(), pieces, int(n))
}

// keep adds pieces of the source to what waits.
func (s *Store) keep(ctx context.Context, table string, columns []rows.Column, pieces []rows.Piece, n int) error {
	names, err := s.columnsOf(ctx, table)
	if err != nil {
		return err
	}
	if slices.Contains(names, sourceColumn) {
		columns = append(slices.Clip(columns), rows.Column{Name: sourceColumn, Type: rows.Integer})
	}
	for i := range pieces {
		pieces[i].Source = int32(s.SourceID)
	}
	if k := s.waiting.Keep(table, columns, pieces, n); isFull(k) {
		return s.store(ctx, k)
	}
	return nil
}

// store stores what waits of a table.
func (s *Store) store(ctx context.Context, k *rows.Kept) error {
	k.Texts = 0
	if k.N > 0 {
		b, err := s.newBulk(k.Table, k.Pulled(), nil)
		if err != nil {
			return err
		}
		if _, err := s.insert(ctx, k.Table, b, k.Columns, ""); err != nil {
			return err
		}
		k.Pieces, k.N = nil, 0
	}
	if len(k.Rows) == 0 {
		return nil
	}
	waiting := k.Rows
	k.Rows = nil
	return s.appendRows(ctx, k.Table, func(add rows.Add) error {
		for _, row := range waiting {
			if err := add(row...); err != nil {
				return err
			}
		}
		return nil
	})
}

// Gather lets few rows of a source wait, in memory and unknown to the database, until Flush stores them with those of other sources.
func (s *Store) Gather(on bool) { s.gathers = on }

// Flush stores all rows that wait.
func (s *Store) Flush(ctx context.Context) error {
	for _, k := range s.waiting.Tables {
		if err := s.store(ctx, k); err != nil {
			return err
		}
	}
	return nil
}
