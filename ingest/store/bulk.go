package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
	"github.com/google/uuid"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/schema"
)

// bulk is the table function through which Rows reach an INSERT; DuckDB's own threads then compress and write them.
type bulk struct {
	rows      rows.Rows
	info      []duckdb.ColumnInfo
	base      int64      // of the run's ids
	room      *load.Room // of the source
	ids       []int      // columns that hold ids
	mask      []bool
	isInteger []bool // columns that are filled as such

	table    string
	totals   *totals
	totalled []int // columns of them
	mu       sync.Mutex
	// begun is a worker that has begun; nil for none, or once it is taken.
	begun rows.Worker
	err   error // first error of a worker: DuckDB passes on only its text
}

type bulkWorker struct {
	w       rows.Worker
	c       rows.Chunk
	vectors []mapping.Vector // of the chunk, by column
}

func (s *Store) newBulk(table string, from rows.Rows, room *load.Room) (*bulk, error) {
	b := &bulk{rows: from, base: s.base, room: room, mask: rows.Masked(table, from.Columns()), table: table, totals: &s.totals}
	kinds := map[rows.Type]duckdb.Type{rows.BigInt: duckdb.TYPE_BIGINT, rows.Integer: duckdb.TYPE_INTEGER, rows.Double: duckdb.TYPE_DOUBLE, rows.Varchar: duckdb.TYPE_VARCHAR}
	for i, c := range from.Columns() {
		kind := kinds[c.Type]
		if b.isInteger = append(b.isInteger, c.Type == rows.Integer); schema.IsID(table, c.Name) {
			kind = duckdb.TYPE_BIGINT
			b.ids = append(b.ids, i)
		} else if c.Type == rows.BigInt && isTotalled(c.Name) {
			b.totalled = append(b.totalled, i)
		}
		t, err := duckdb.NewTypeInfo(kind)
		if err != nil {
			return nil, err
		}
		b.info = append(b.info, duckdb.ColumnInfo{Name: c.Name, T: t})
	}
	return b, nil
}

func (b *bulk) ColumnInfos() []duckdb.ColumnInfo { return b.info }

func (b *bulk) Cardinality() *duckdb.CardinalityInfo {
	if n := b.rows.Estimate(); n >= 0 {
		return &duckdb.CardinalityInfo{Cardinality: uint(n)}
	}
	return nil
}

func (b *bulk) Init() duckdb.ParallelTableSourceInfo {
	if few, ok := b.rows.(interface{ Threads() int }); ok {
		return duckdb.ParallelTableSourceInfo{MaxThreads: few.Threads()}
	}
	return duckdb.ParallelTableSourceInfo{MaxThreads: maxThreads}
}

// maxThreads is more than any machine's cores; DuckDB takes as many as it has threads.
const maxThreads = 1024

// NewLocalState leaves making the worker to its first chunk, where a failure can be reported.
func (b *bulk) NewLocalState() any {
	w := &bulkWorker{vectors: make([]mapping.Vector, len(b.info))}
	w.c = rows.NewChunk(b.rows.Columns(), b.mask, w.setText)
	return w
}

// attach points the worker's chunk at the vectors of one output chunk.
func (w *bulkWorker) attach(raw mapping.DataChunk) {
	for i := range w.vectors {
		v := mapping.DataChunkGetVector(raw, mapping.IdxT(i))
		w.vectors[i] = v
		w.c.Attach(i, rows.Vector{Data: mapping.VectorGetData(v), Valid: (*uint64)(mapping.VectorGetValidity(v))})
	}
}

func (w *bulkWorker) setText(col, row int, s string) {
	mapping.VectorAssignStringElementLen(w.vectors[col], mapping.IdxT(row), unsafe.Slice(unsafe.StringData(s), len(s)))
}

// FillChunk passes one chunk to the worker. A panic must not cross into C++, where it would end the process.
func (b *bulk) FillChunk(local any, chunk duckdb.DataChunk) (err error) {
	defer func() {
		if err != nil {
			b.mu.Lock()
			b.err = errors.Join(b.err, err)
			b.mu.Unlock()
		}
	}()
	defer rows.Recovered(&err)
	w := local.(*bulkWorker)
	if w.w == nil {
		w.w = b.worker()
	}
	w.attach(rawChunk(&chunk))
	b.room.LetGo()
	n, err := w.w.Fill(&w.c)
	if err != nil {
		return err
	}
	for _, col := range b.totalled {
		if err := b.totals.add(b.table, b.info[col].Name, total(&w.c, col, n)); err != nil {
			return err
		}
	}
	for _, col := range b.ids {
		b.addBase(&w.c, col, n)
	}
	return chunk.SetSize(n)
}

// addBase turns the first n values of a column, numbers within a run, into ids. 0 stays. The memory is a BIGINT column's, whatever
// type it was filled in, so that integers are widened in place, from the last one on.
func (b *bulk) addBase(c *rows.Chunk, col, n int) {
	ids, numbers := c.Int64(col), c.Int32(col)
	isInteger := b.isInteger[col]
	for i := n - 1; i >= 0; i-- {
		if isInteger {
			ids[i] = int64(numbers[i])
		}
		if ids[i] != 0 {
			ids[i] += b.base
		}
	}
}

// worker returns a worker to a thread.
func (b *bulk) worker() rows.Worker {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := b.begun; w != nil {
		b.begun = nil
		return w
	}
	return b.rows.Worker()
}

// chunkField is where duckdb.DataChunk keeps DuckDB's handle of the chunk. The driver exports no way to its vectors' memory,
// and setting values one by one through it costs more than compressing them; so the handle is taken from the struct, by
// its type and not by its place, and TestRawChunk fails on a driver that lays it out otherwise.
var chunkField = func() uintptr {
	if duckdb.GetDataChunkCapacity() != rows.ChunkRows {
		panic(fmt.Sprintf("store: DuckDB's vectors hold %d rows, and rows.ChunkRows is %d", duckdb.GetDataChunkCapacity(), rows.ChunkRows))
	}
	t := reflect.TypeOf(duckdb.DataChunk{})
	for i := range t.NumField() {
		if t.Field(i).Type == reflect.TypeOf(mapping.DataChunk{}) {
			return t.Field(i).Offset
		}
	}
	panic("store: this version of duckdb-go keeps its chunks in another way; see rawChunk")
}()

func rawChunk(c *duckdb.DataChunk) mapping.DataChunk {
	return *(*mapping.DataChunk)(unsafe.Add(unsafe.Pointer(c), chunkField))
}

// bulkFunction names a target's table function. It stays known to the open database, where one run may be made several times, so
// each target has one of its own.
func bulkFunction() string { return "prof_rows_" + strings.ReplaceAll(uuid.NewString(), "-", "") }

// registerBulk makes the table function known; its argument picks one of the target's bulks.
func registerBulk(conn *sql.Conn, name string, find func(handle int64) *bulk) error {
	bigint, err := duckdb.NewTypeInfo(duckdb.TYPE_BIGINT)
	if err != nil {
		return err
	}
	return duckdb.RegisterTableUDF(conn, name, duckdb.ParallelChunkTableFunction{
		Config: duckdb.TableFunctionConfig{Arguments: []duckdb.TypeInfo{bigint}},
		BindArguments: func(_ map[string]any, args ...any) (duckdb.ParallelChunkTableSource, error) {
			b := find(args[0].(int64))
			if b == nil {
				return nil, errors.New("no such rows")
			}
			return b, nil
		},
	})
}

// Insert stores the rows in a table of the warehouse.
func (s *Store) Insert(ctx context.Context, table string, from rows.Rows) (int64, error) {
	if at := slices.IndexFunc(from.Columns(), func(c rows.Column) bool { return c.Name == deviceColumn }); at >= 0 && s.Devices.Offset > 0 {
		from = nodeRows{from, at, s.Devices}
	}
	b, err := s.newBulk(table, from, s.Room)
	if err != nil {
		return 0, err
	}
	if s.gathers {
		if n, few, err := s.gather(ctx, table, b); few || err != nil {
			return n, err
		}
	}
	return s.insertAll(ctx, table, b)
}

// insertAll stores rows of the source at once.
func (s *Store) insertAll(ctx context.Context, table string, b *bulk) (int64, error) {
	source := ""
	if all, err := s.columnsOf(ctx, table); err != nil {
		return 0, err
	} else if slices.Contains(all, sourceColumn) {
		source = strconv.Itoa(s.SourceID)
	}
	if err := s.leanNow(ctx); err != nil {
		return 0, err
	}
	return s.insert(ctx, table, b, b.rows.Columns(), source)
}

// insert stores rows of those columns, and of that source where it is not "".
func (s *Store) insert(ctx context.Context, table string, b *bulk, columns []rows.Column, source string) (int64, error) {
	handle := s.hold(b)
	defer s.release(handle)
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	into := strings.Join(names, ", ")
	from := into
	if source != "" {
		into, from = sourceColumn+", "+into, source+", "+from
	}
	res, err := s.conn.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (run_id, %s) SELECT '%s'::UUID, %s FROM %s(%d)", table, into, s.RunID, from, s.bulk, handle))
	if b.err != nil {
		return 0, b.err
	}
	if err != nil {
		return 0, fmt.Errorf("store %s: %w", table, err)
	}
	return res.RowsAffected()
}
