package load

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/google/uuid"

	"prof/schema"
)

// Type is the DuckDB type of a column that a Worker fills.
type Type uint8

// The types of bulk columns.
const (
	BigInt  Type = iota // Chunk.Int64
	Integer             // Chunk.Int32
	Double              // Chunk.Float64
	Varchar             // Chunk.SetText
)

// Column names a target column and the type it is filled in.
type Column struct {
	Name string
	Type Type
}

// Rows is a source of rows that DuckDB's threads pull in parallel.
type Rows interface {
	// Columns are the columns that its workers fill, in order. All other columns of the table are left NULL.
	Columns() []Column
	// Estimate is the expected number of rows, -1 when unknown.
	Estimate() int64
	// Worker gives one thread's state. Fill is called on it until it gives 0 rows.
	Worker() Worker
}

// Worker fills chunks for one thread.
type Worker interface {
	// Fill writes up to Chunk.Cap rows and gives their number; 0 ends the worker.
	Fill(c *Chunk) (int, error)
}

// bulk is the table function through which Rows reach an INSERT; DuckDB's own threads then compress and write them.
type bulk struct {
	rows Rows
	info []duckdb.ColumnInfo
	base int64 // of the run's ids
	room *Room // of the source
	ids  []int // columns that hold ids
	mask []bool

	table    string
	totals   *totals
	totalled []int // columns of them
	mu       sync.Mutex
	// begun is a worker that has begun; nil for none, or once it is taken.
	begun Worker
	err   error // first error of a worker: DuckDB passes on only its text
}

type bulkWorker struct {
	w Worker
	c Chunk
}

func (t *Target) newBulk(table string, rows Rows, room *Room) (*bulk, error) {
	b := &bulk{rows: rows, base: t.base, room: room, mask: masks(table, rows.Columns()), table: table, totals: &t.Run.totals}
	kinds := map[Type]duckdb.Type{BigInt: duckdb.TYPE_BIGINT, Integer: duckdb.TYPE_INTEGER, Double: duckdb.TYPE_DOUBLE, Varchar: duckdb.TYPE_VARCHAR}
	for i, c := range rows.Columns() {
		kind := kinds[c.Type]
		if schema.IsID(table, c.Name) {
			kind = duckdb.TYPE_BIGINT
			b.ids = append(b.ids, i)
		} else if c.Type == BigInt && isTotalled(c.Name) {
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
	return &bulkWorker{c: Chunk{columns: b.rows.Columns(), mask: b.mask}}
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
	defer recovered(&err)
	w := local.(*bulkWorker)
	if w.w == nil {
		w.w = b.worker()
	}
	w.c.attach(rawChunk(&chunk))
	b.room.LetGo()
	n, err := w.w.Fill(&w.c)
	if err != nil {
		return err
	}
	for _, col := range b.totalled {
		if err := b.totals.add(b.table, b.info[col].Name, w.c.total(col, n)); err != nil {
			return err
		}
	}
	for _, col := range b.ids {
		w.c.addBase(col, n, b.base)
	}
	return chunk.SetSize(n)
}

// worker gives a worker to a thread.
func (b *bulk) worker() Worker {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := b.begun; w != nil {
		b.begun = nil
		return w
	}
	return b.rows.Worker()
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("internal error while reading: %v\n%s", p, debug.Stack())
	}
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

// Insert stores the rows in a table of the warehouse, run_id and, where the table has it, source_id added, and gives their number. The
// order of rows within the table is not defined.
func (t *Target) Insert(ctx context.Context, table string, rows Rows) (int64, error) {
	if at := slices.IndexFunc(rows.Columns(), func(c Column) bool { return c.Name == deviceColumn }); at >= 0 && t.Devices.Offset > 0 {
		rows = nodeRows{rows, at, t.Devices}
	}
	b, err := t.newBulk(table, rows, t.Room)
	if err != nil {
		return 0, err
	}
	if t.gathers {
		if n, few, err := t.gather(ctx, table, b); few || err != nil {
			return n, err
		}
	}
	source := ""
	if all, err := t.columnsOf(ctx, table); err != nil {
		return 0, err
	} else if slices.Contains(all, "source_id") {
		source = strconv.Itoa(t.SourceID)
	}
	if err := t.leanNow(ctx); err != nil {
		return 0, err
	}
	return t.insert(ctx, table, b, rows.Columns(), source)
}

// insert stores rows of those columns, and of that source where it is not "".
func (t *Target) insert(ctx context.Context, table string, b *bulk, columns []Column, source string) (int64, error) {
	handle := t.hold(b)
	defer t.release(handle)
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	into := strings.Join(names, ", ")
	from := into
	if source != "" {
		into, from = "source_id, "+into, source+", "+from
	}
	res, err := t.conn.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (run_id, %s) SELECT '%s'::UUID, %s FROM %s(%d)", table, into, t.RunID, from, t.bulk, handle))
	if b.err != nil {
		return 0, b.err
	}
	if err != nil {
		return 0, fmt.Errorf("store %s: %w", table, err)
	}
	return res.RowsAffected()
}
