// Package load is what the formats share: where a source's rows go, inside the run's one transaction.
package load

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/google/uuid"
)

// Options are the choices of an ingest that a format must know.
type Options struct {
	WithOSRT bool // store calls into the operating system's libraries
	Threads  int  // goroutines a format may use beside DuckDB's; at least 1
	// Progress is told about long steps: what, rows done and rows expected (-1 unknown). It may be nil and must be fast.
	Progress func(what string, done, total int64)
	// TempDir is an existing folder for temporary files.
	TempDir string
	// Outside runs a statement on another connection than the target's, whose transaction a failed statement would end. Nil: nothing
	// is tried that may fail.
	Outside func(ctx context.Context, statement string) error
}

// SourceInfo is what a source says of itself as a whole.
type SourceInfo struct {
	ToolVersion   string
	SchemaVersion string
	Command       string     // the profiled command line, secrets masked
	Host          string     // the machine it was captured on
	SHA256        string     // of the file's unpacked content, where the format reads all of it; else ""
	CaptureID     string     // names the capture: several exports of one report share it
	Rank          *int64     // place in a job of several processes; nil when not said
	StartedAt     *time.Time // wall clock at time 0
	DurationNs    *int64     // length of the capture
	Rows          int64      // rows stored
	Status        string     // "partial" or "failed"; "" when all is well
	Reason        string     // why it is not
	Warnings      []string
}

// Target takes the rows of one source. It is for one goroutine, but the Rows given to Insert are pulled by several.
type Target struct {
	RunID    string
	SourceID int
	Options  Options
	Run      *Run

	conn *sql.Conn
	bulk string // name of its table function
	mu   sync.Mutex
	held map[int64]*bulk
	next int64
}

// Run is what the sources of one run share: ids that are unique within the run and names that are stored once.
type Run struct {
	RangeID   int32 // last range_id given
	ContextID int32 // last range_context_id given
	Paths     Paths
	Kernels   Names
	Symbols   Symbols // of the kernels
	APIs      Numbers
	Metrics   Metrics
	OpID      int32            // last op_id given
	ModelID   int32            // last model_id given
	Models    map[string]int32 // models that facts of workloads carried, by name and configuration as JSON
	Operators Names
	Stacks    Paths // of Python functions

	launches int32 // launch_ids given
	profiled map[ProfiledKey]*Profiled
	seen     map[string]bool
}

// NewTarget prepares a connection, on which a transaction is open or will be, for bulk inserts.
func NewTarget(conn *sql.Conn, runID string, run *Run, o Options) (*Target, error) {
	t := &Target{RunID: runID, Options: o, Run: run, conn: conn, bulk: bulkFunction(), held: map[int64]*bulk{}}
	err := registerBulk(conn, t.bulk, func(h int64) *bulk {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.held[h]
	})
	return t, err
}

// leanRoom, in MB, is enough for two threads that write the widest table; what is written beyond it goes to the file at once.
const leanRoom = 48

// Lean keeps DuckDB from holding what it wrote in memory, until restore is called. Rows must not come from more than two threads.
func (t *Target) Lean(ctx context.Context) (restore func() error, err error) {
	if t.Options.Outside == nil {
		return func() error { return nil }, nil
	}
	var was string
	if err := t.conn.QueryRowContext(ctx, `SELECT value FROM duckdb_settings() WHERE name = 'memory_limit'`).Scan(&was); err != nil {
		return nil, err
	}
	set := func(ctx context.Context, limit string) error {
		return t.Options.Outside(ctx, fmt.Sprintf(`SET memory_limit = '%s'`, limit))
	}
	restore = func() error { return set(context.WithoutCancel(ctx), was) }
	// A limit below what the transaction holds and cannot let go is refused: rows that it deleted, the ends of tables. The room comes
	// on top of it.
	for held := 16; held <= 256; held *= 2 {
		if set(ctx, fmt.Sprintf("%dMB", held)) == nil {
			return restore, set(ctx, fmt.Sprintf("%dMB", held+leanRoom))
		}
	}
	return restore, restore()
}

func (t *Target) hold(b *bulk) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	t.held[t.next] = b
	return t.next
}

func (t *Target) release(handle int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.held, handle)
}

// Append stores rows one by one, run_id and source_id not added: for tables of moderate size. each calls add once a row.
func (t *Target) Append(ctx context.Context, table string, each func(add func(values ...driver.Value) error) error) (n int64, err error) {
	err = t.conn.Raw(func(c any) error {
		dc, ok := c.(driver.Conn)
		if !ok {
			return errors.New("not a DuckDB connection")
		}
		a, err := duckdb.NewAppenderFromConn(dc, "", table)
		if err != nil {
			return err
		}
		err = each(func(values ...driver.Value) error {
			if n&1023 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			n++
			return a.AppendRow(values...)
		})
		return errors.Join(err, a.Close())
	})
	if err != nil {
		return n, fmt.Errorf("store %s: %w", table, err)
	}
	return n, nil
}

// UUID is the run's id as an appender takes it.
func (t *Target) UUID() driver.Value { return duckdb.UUID(uuid.MustParse(t.RunID)) }

// ContentID is the id of a name that is equal in every run and warehouse: the first 8 bytes of its SHA-256, big-endian.
func ContentID(name string) int64 {
	h := sha256.Sum256([]byte(name))
	return int64(binary.BigEndian.Uint64(h[:8]))
}

// Names collects the names that a run's rows refer to. It is safe for concurrent use.
type Names struct {
	mu   sync.RWMutex
	rows map[int64][2]string
}

// Add gives the id of a name; extra is kept beside it. Two names with one id would merge their rows: an error instead.
func (n *Names) Add(name, extra string) (int64, error) {
	id := ContentID(name)
	n.mu.RLock()
	old, ok := n.rows[id]
	n.mu.RUnlock()
	if !ok {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.rows == nil {
			n.rows = map[int64][2]string{}
		}
		if old, ok = n.rows[id]; !ok {
			n.rows[id] = [2]string{name, extra}
			return id, nil
		}
	}
	if old[0] != name {
		return 0, fmt.Errorf("names %q and %q have the same id %d", old[0], name, id)
	}
	return id, nil
}

// Each visits the names in no order.
func (n *Names) Each(f func(id int64, name, extra string) error) error {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for id, r := range n.rows {
		if err := f(id, r[0], r[1]); err != nil {
			return err
		}
	}
	return nil
}

// Numbers numbers the names that a run's rows refer to: 1, 2, ... within the run. Calls outnumber kernels, and a small number
// takes a tenth of the room of a content id. It is safe for concurrent use.
type Numbers struct {
	mu    sync.RWMutex
	ids   map[string]int32
	names []string
}

// Add gives the number of a name.
func (n *Numbers) Add(name string) int32 {
	n.mu.RLock()
	id, ok := n.ids[name]
	n.mu.RUnlock()
	if ok {
		return id
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok = n.ids[name]; ok {
		return id
	}
	if n.ids == nil {
		n.ids = map[string]int32{}
	}
	n.names = append(n.names, name)
	id = int32(len(n.names))
	n.ids[name] = id
	return id
}

// All gives the names; the number of a name is its place plus 1.
func (n *Numbers) All() []string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.names
}
