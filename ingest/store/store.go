// Package store keeps the rows that readers give in a warehouse of DuckDB: in the run's one transaction, with ids of the run's own, texts
// masked and amounts bounded.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/google/uuid"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/schema"
)

// Store takes the rows of a run's sources, one after another.
type Store struct {
	load.Target         // what readers are given; its Sink is the store
	Devices     Devices // of the source
	// Outside runs a statement on another connection than the store's, whose transaction a failed statement would end. Nil: nothing is
	// tried that may fail.
	Outside func(ctx context.Context, statement string) error

	base    int64               // of the run's ids
	uuid    driver.Value        // the run's id as an appender takes it
	columns map[string][]string // of tables
	conn    *sql.Conn
	bulk    string // name of its table function
	mu      sync.Mutex
	held    map[int64]*bulk
	next    int64
	totals  totals

	gathers bool
	waiting rows.Memory
	resumed bool // see Resume

	room    int          // that Lean was asked for, until it is given
	restore func() error // the limit that was, where Lean took it down
}

// usualRecords are those of a capture of some 400 MB.
const usualRecords = 128 << 20

// New prepares a connection, on which a transaction is open or will be, for bulk inserts.
func New(conn *sql.Conn, runID string, run *load.Run, o load.Options) (*Store, error) {
	id, err := uuid.Parse(runID)
	if err != nil {
		return nil, err
	}
	s := &Store{Target: load.Target{RunID: runID, Options: o, Run: run},
		base: schema.IDBase(runID), uuid: duckdb.UUID(id), columns: map[string][]string{}, conn: conn, bulk: bulkFunction(), held: map[int64]*bulk{}}
	s.Sink, s.Room = s, s.newRoom()
	err = registerBulk(conn, s.bulk, func(h int64) *bulk {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.held[h]
	})
	return s, err
}

// newRoom makes the room of a source.
func (s *Store) newRoom() *load.Room {
	return load.NewRoom(s.Options.TempDir, cmp.Or(s.Options.RecordsInMemory, usualRecords))
}

// mostRoom bounds the room of all threads that write, in MB.
const mostRoom = 400

// Lean keeps DuckDB from holding in memory what it wrote, until restore is called. It begins with the first rows that do not wait: see
// Gather.
func (s *Store) Lean(room int) (restore func() error) {
	s.room = room
	return func() error {
		restore := s.restore
		s.room, s.restore = 0, nil
		if restore == nil {
			return nil
		}
		return restore()
	}
}

// leanNow gives the room that Lean was asked for.
func (s *Store) leanNow(ctx context.Context) error {
	if s.room == 0 || s.Outside == nil {
		return nil
	}
	room := s.room
	s.room = 0
	var was string
	var threads int
	if err := s.conn.QueryRowContext(ctx, `SELECT current_setting('memory_limit'), current_setting('threads')`).Scan(&was, &threads); err != nil {
		return err
	}
	set := func(ctx context.Context, limit string) error {
		return s.Outside(ctx, fmt.Sprintf(`SET memory_limit = '%s'`, limit))
	}
	s.restore = func() error { return set(context.WithoutCancel(ctx), was) }
	// A limit below what the transaction holds and cannot let go is refused: rows that it deleted, the ends of tables. The room comes
	// on top of it.
	for held := 16; held <= 256; held *= 2 {
		if set(ctx, fmt.Sprintf("%dMB", held)) == nil {
			return set(ctx, fmt.Sprintf("%dMB", held+min(max(2, threads)*room, mostRoom)))
		}
	}
	return s.restore()
}

func (s *Store) hold(b *bulk) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	s.held[s.next] = b
	return s.next
}

func (s *Store) release(handle int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, handle)
}

// Append stores rows one by one.
func (s *Store) Append(ctx context.Context, table string, each func(add rows.Add) error) (n int64, err error) {
	ids, err := s.idPlaces(ctx, table)
	if err != nil {
		return 0, err
	}
	names, err := s.columnsOf(ctx, table)
	if err != nil {
		return 0, err
	}
	var totalled, counted []int
	device := -1
	for i, name := range names {
		if !schema.IsSigned(table, name) {
			counted = append(counted, i)
		}
		if isTotalled(name) {
			totalled = append(totalled, i)
		}
		if name == deviceColumn && s.Devices.Offset > 0 {
			device = i
		}
	}
	fill := func(add rows.Add) error {
		var row []any
		return each(func(values ...any) error {
			if n&1023 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if len(values) != len(names) {
				return fmt.Errorf("internal error: a row of %d values for %d columns", len(values), len(names))
			}
			n++
			s.Room.LetGo()
			row = append(row[:0], values...)
			for _, i := range counted {
				row[i] = notNegative(row[i])
			}
			for _, i := range ids {
				row[i] = s.id(row[i])
			}
			if device >= 0 {
				if err := s.onNode(&row[device]); err != nil {
					return err
				}
			}
			rows.MaskRow(table, names, row)
			if err := s.totals.addRow(table, names, totalled, row); err != nil {
				return err
			}
			return add(row...)
		})
	}
	if !s.gathers {
		err = s.appendRows(ctx, table, fill)
		return n, err
	}
	k := s.waiting.Of(table, nil)
	err = fill(func(row ...any) error {
		k.AddRow(row)
		if !isFull(k) {
			return nil
		}
		return s.store(ctx, k)
	})
	if err != nil {
		err = fmt.Errorf("store %s: %w", table, err)
	}
	return n, err
}

// notNegative is a number of what begins at 0; below that it is a fault of the capture, and unknown.
func notNegative(value any) any {
	switch n := value.(type) {
	case int32:
		if n < 0 {
			return nil
		}
	case int64:
		if n < 0 {
			return nil
		}
	case float64:
		if n < 0 {
			return nil
		}
	}
	return value
}

// appendRows stores rows, which are of the run.
func (s *Store) appendRows(ctx context.Context, table string, each func(add rows.Add) error) error {
	err := s.conn.Raw(func(c any) error {
		dc, ok := c.(driver.Conn)
		if !ok {
			return errors.New("not a DuckDB connection")
		}
		a, err := duckdb.NewAppenderFromConn(dc, "", table)
		if err != nil {
			return err
		}
		var row []driver.Value
		add := func(values ...any) error {
			row = row[:0]
			for _, v := range values {
				row = append(row, v)
			}
			row[0] = s.uuid // of every table run_id is the first column
			return a.AppendRow(row...)
		}
		return errors.Join(each(add), a.Close())
	})
	if err != nil {
		return fmt.Errorf("store %s: %w", table, err)
	}
	return nil
}

// columnsOf returns the columns of a table in their order.
func (s *Store) columnsOf(ctx context.Context, table string) ([]string, error) {
	if known, ok := s.columns[table]; ok {
		return known, nil
	}
	// The list of all columns, duckdb_columns, takes DuckDB 3 ms a question.
	found, err := s.conn.QueryContext(ctx, `SELECT * FROM main.`+table+` LIMIT 0`)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", table, err)
	}
	defer found.Close()
	names, err := found.Columns()
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", table, err)
	}
	s.columns[table] = names
	return names, found.Err()
}

// idPlaces returns the places of a table's columns that hold ids.
func (s *Store) idPlaces(ctx context.Context, table string) ([]int, error) {
	names, err := s.columnsOf(ctx, table)
	var places []int
	for i, name := range names {
		if schema.IsID(table, name) {
			places = append(places, i)
		}
	}
	return places, err
}

// id turns the number of something within the run into its id. 0 and NULL stay what they are, and a list is one of ids.
func (s *Store) id(number any) any {
	switch n := number.(type) {
	case int32:
		return s.idOf(int64(n))
	case int64:
		return s.idOf(n)
	case []int32:
		ids := make([]int64, len(n))
		for i, m := range n {
			ids[i] = s.idOf(int64(m))
		}
		return ids
	}
	return number
}

func (s *Store) idOf(number int64) int64 {
	if number == 0 {
		return 0
	}
	return s.base + number
}

// StoreShared stores the names and paths that the run's sources share. It is called once, after the last source.
func (s *Store) StoreShared(ctx context.Context) error {
	if err := s.Run.CheckIDs(schema.MaxIDs); err != nil {
		return err
	}
	if err := s.clearShared(ctx); err != nil {
		return err
	}
	return s.Target.StoreShared(ctx)
}
