package rows_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"prof/ingest/rows"
)

var numbered = []rows.Column{{Name: "n"}, {Name: "text", Type: rows.Varchar}}

// counted are n chunks of rows with their numbers, and an error behind them, or nil.
func counted(n int, err error) rows.Rows {
	at := 0
	return rows.Pulled(1, numbered, func() rows.PullFunc {
		return func(c *rows.Chunk) (int, error) {
			if at == n {
				return 0, err
			}
			for i := range c.Cap() {
				c.Int64(0)[i] = int64(at*c.Cap() + i)
				c.SetText(1, i, fmt.Sprint("text of ", i/2))
				if i%5 == 0 {
					c.SetNull(1, i)
				}
			}
			at++
			return c.Cap(), nil
		}
	})
}

// TestQueue: rows come out as they went in, table by table, while more are read.
func TestQueue(t *testing.T) {
	t.Parallel()
	q := rows.NewQueues(1 << 20).New(nil)
	go func() {
		_, err := q.Append(t.Context(), "whole", func(add rows.Add) error {
			for i := range 5000 {
				if err := add("run", int64(i)); err != nil {
					return err
				}
			}
			return nil
		})
		restore := q.Lean(7)
		_, e := q.Insert(t.Context(), "pieces", counted(3, nil))
		q.Ended(errors.Join(err, e, restore()))
	}()
	q.First()
	var got []string
	whole, pieces := 0, 0
	for {
		s, more, err := q.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		switch s.Kind {
		case rows.Begin:
			got = append(got, s.Table)
		case rows.Some:
			for _, row := range s.Rows {
				if row[1] != int64(whole) {
					t.Fatalf("row %d is %v", whole, row)
				}
				whole++
			}
			for i := range s.Piece.N {
				n := s.Piece.Int64(0)[i]
				isNull, text := s.Piece.IsNull(1, i), s.Piece.Text(1, i)
				if n != int64(pieces) || isNull != (i%5 == 0) || !isNull && text != fmt.Sprint("text of ", i/2) {
					t.Fatalf("row %d is %d, %q, %v", pieces, n, text, isNull)
				}
				pieces++
			}
		case rows.End:
			got = append(got, "end")
		case rows.Lean:
			got = append(got, fmt.Sprint("lean ", s.Room))
		case rows.EndOfLean:
			got = append(got, "end of lean")
		}
	}
	if order := strings.Join(got, ", "); order != "whole, end, lean 7, pieces, end, end of lean" || whole != 5000 || pieces != 3*rows.ChunkRows {
		t.Errorf("%s; %d whole rows and %d of pieces", order, whole, pieces)
	}
}

// TestQueuesAreBounded: who reads ahead waits once the queues are full, but for the one that is emptied, which takes no more than its share.
func TestQueuesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = 1 << 20
		queues := rows.NewQueues(most)
		read := func(q *rows.Queue) {
			_, err := q.Insert(context.Background(), "t", counted(1000, nil))
			q.Ended(err)
		}
		ahead, first := queues.New(nil), queues.New(nil)
		go read(ahead)
		synctest.Wait() // it waits for room
		full := queues.Held()
		go read(first)
		synctest.Wait()
		if full > most || full < most/2 || queues.Held() != full {
			t.Errorf("%d bytes wait, then %d, of %d", full, queues.Held(), most)
		}
		first.First()
		synctest.Wait()
		if held := queues.Held(); held <= full || held > most+most/4 {
			t.Errorf("%d bytes wait where the first of the queues may go on, %d before", held, full)
		}
		for more := true; more; {
			_, more, _ = first.Next()
		}
		ahead.Refuse(errors.New("not wanted"))
		synctest.Wait()
		if held := queues.Held(); held != 0 {
			t.Errorf("%d bytes wait at the end", held)
		}
	})
}

// TestQueueEnds: an error within a table comes out where its rows end, and what comes after it does not; who takes no more ends who reads.
func TestQueueEnds(t *testing.T) {
	t.Parallel()
	damaged, full := errors.New("damaged"), errors.New("disk full")
	q := rows.NewQueues(1 << 30).New(nil)
	restore := q.Lean(1)
	_, err := q.Insert(t.Context(), "t", counted(2, damaged))
	if e := restore(); !errors.Is(err, damaged) || e != nil {
		t.Errorf("reading: %v, %v", err, e)
	}
	q.Ended(nil)
	var kinds []rows.StepKind
	for {
		s, more, err := q.Next()
		if !more {
			if !errors.Is(err, damaged) {
				t.Errorf("it ends with %v", err)
			}
			break
		}
		kinds = append(kinds, s.Kind)
	}
	if got := fmt.Sprint(kinds); got != fmt.Sprint([]rows.StepKind{rows.Lean, rows.Begin, rows.Some, rows.Some}) {
		t.Errorf("steps %s", got)
	}

	q = rows.NewQueues(1 << 30).New(nil)
	q.Refuse(full)
	if _, err := q.Insert(t.Context(), "t", counted(2, nil)); !errors.Is(err, full) {
		t.Errorf("refused: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q = rows.NewQueues(1 << 30).New(nil)
	if _, err := q.Insert(ctx, "t", counted(2, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	q = rows.NewQueues(1 << 30).New(nil)
	if _, err := q.Insert(t.Context(), "t", rows.Pulled(1, numbered, func() rows.PullFunc { return func(*rows.Chunk) (int, error) { panic("a bug") } })); err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("a panic: %v", err)
	}
}
