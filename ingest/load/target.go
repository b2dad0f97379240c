// Package load is what the formats share: where a source's rows go, inside the run's one transaction.
package load

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/google/uuid"

	"prof/schema"
)

// Options are the choices of an ingest that a format must know.
type Options struct {
	WithOSRT bool      // store calls into the operating system's libraries
	APIRows  bool      // store a row for each API call, short ones too
	Assume   bool      // go on where a model's configuration says something about its shape that is not read
	Threads  int       // goroutines a format may use beside DuckDB's; at least 1
	Image    ImageSize // of the pictures that models see; zero: what a workload says, if it does
	// Progress is told about long steps: what, rows done and rows expected (-1 unknown). It may be nil and must be fast.
	Progress func(what string, done, total int64)
	// TempDir is an existing folder for temporary files.
	TempDir         string
	RecordsInMemory int // bytes of a source's records that are kept in memory; 0 for the usual
	// Outside runs a statement on another connection than the target's, whose transaction a failed statement would end. Nil: nothing
	// is tried that may fail.
	Outside func(ctx context.Context, statement string) error
}

// ImageSize is the size of a picture in pixels; zero where it is not known.
type ImageSize struct{ Width, Height int64 }

// MaxSide bounds the sides of a picture, in pixels.
const MaxSide = 1 << 16

func (s ImageSize) String() string {
	return fmt.Sprintf("%d x %d", s.Width, s.Height)
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
	Devices  Devices // of the source
	Run      *Run
	Room     *Room // for what the reader keeps of the source, which closes it

	base    int64               // of the run's ids
	columns map[string][]string // of tables
	conn    *sql.Conn
	bulk    string // name of its table function
	mu      sync.Mutex
	held    map[int64]*bulk
	next    int64

	gathers bool
	waiting []*gathered
	byKey   map[string]*gathered
	scratch []vector   // see scratchChunk
	spare   [][]vector // of targets apart that were adopted
	apart   bool       // see Apart
	resumed bool       // see Resume

	room    int          // that Lean was asked for, until it is given
	restore func() error // the limit that was, where Lean took it down
}

// Run is what the sources of one run share: ids that are unique within the run and names that are stored once. Readers know an id as
// its number in the run, 1, 2, ...; Target adds the run's base to it as it stores a row.
type Run struct {
	RangeID   int32 // last range_id given
	ContextID int32 // last range_context_id given
	Paths     Paths
	Kernels   Names   // with their short names
	Symbols   Symbols // of the kernels
	APIs      Numbers
	Metrics   Names            // with their units
	OpID      int32            // last op_id given
	ModelID   int32            // last model_id given
	Models    map[string]int32 // models that facts of workloads carried, by what is stored of them
	Operators Numbers
	Inputs    Numbers // of operators, by their content
	Stacks    Paths   // of Python functions

	shapes   Shared[Shape] // of kernels
	totals   totals
	launches int32 // last launch_id given
	profiled map[ProfiledKey]*Profiled
	seen     map[string]bool
}

// usualRecords are those of a capture of some 400 MB.
const usualRecords = 128 << 20

// NewTarget prepares a connection, on which a transaction is open or will be, for bulk inserts.
func NewTarget(conn *sql.Conn, runID string, run *Run, o Options) (*Target, error) {
	t := &Target{RunID: runID, Options: o, Run: run, Room: NewRoom(o.TempDir, cmp.Or(o.RecordsInMemory, usualRecords)), base: schema.IDBase(runID), columns: map[string][]string{}, conn: conn, bulk: bulkFunction(), held: map[int64]*bulk{}, byKey: map[string]*gathered{}}
	err := registerBulk(conn, t.bulk, func(h int64) *bulk {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.held[h]
	})
	return t, err
}

// Room of a thread that writes, in MB; what is written beyond it goes to the file at once.
const (
	RoomOfNumbers = 24 // for the widest table of numbers
	RoomOfTexts   = 72 // for tables with texts that are all different, which are compressed together
	mostRoom      = 400
)

// Lean keeps DuckDB from holding in memory what it wrote, until restore is called. It begins with the first rows that do not wait: see
// Gather.
func (t *Target) Lean(room int) (restore func() error) {
	t.room = room
	return func() error {
		restore := t.restore
		t.room, t.restore = 0, nil
		if restore == nil {
			return nil
		}
		return restore()
	}
}

// leanNow gives the room that Lean was asked for.
func (t *Target) leanNow(ctx context.Context) error {
	if t.room == 0 || t.Options.Outside == nil {
		return nil
	}
	room := t.room
	t.room = 0
	var was string
	var threads int
	if err := t.conn.QueryRowContext(ctx, `SELECT current_setting('memory_limit'), current_setting('threads')`).Scan(&was, &threads); err != nil {
		return err
	}
	set := func(ctx context.Context, limit string) error {
		return t.Options.Outside(ctx, fmt.Sprintf(`SET memory_limit = '%s'`, limit))
	}
	t.restore = func() error { return set(context.WithoutCancel(ctx), was) }
	// A limit below what the transaction holds and cannot let go is refused: rows that it deleted, the ends of tables. The room comes
	// on top of it.
	for held := 16; held <= 256; held *= 2 {
		if set(ctx, fmt.Sprintf("%dMB", held)) == nil {
			return set(ctx, fmt.Sprintf("%dMB", held+min(max(2, threads)*room, mostRoom)))
		}
	}
	return t.restore()
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
	var ids, totalled []int
	var names []string
	device := -1
	if !t.apart { // else whoever adopts it knows
		if ids, err = t.idPlaces(ctx, table); err != nil {
			return 0, err
		}
		if names, err = t.columnsOf(ctx, table); err != nil {
			return 0, err
		}
		for i, name := range names {
			if isTotalled(name) {
				totalled = append(totalled, i)
			}
			if name == deviceColumn && t.Devices.Offset > 0 {
				device = i
			}
		}
	}
	fill := func(add func(...driver.Value) error) error {
		var row []driver.Value
		return each(func(values ...driver.Value) error {
			if n&1023 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			n++
			t.Room.LetGo()
			row = append(row[:0], values...)
			for _, i := range ids {
				row[i] = t.id(row[i])
			}
			if device >= 0 {
				if err := t.onNode(&row[device]); err != nil {
					return err
				}
			}
			maskRow(table, names, row)
			if err := t.Run.totals.addRow(table, names, totalled, row); err != nil {
				return err
			}
			return add(row...)
		})
	}
	if !t.gathers {
		err = t.appendRows(ctx, table, fill)
		return n, err
	}
	g := t.waitingFor(table, table)
	err = fill(func(row ...driver.Value) error {
		g.rows = append(g.rows, slices.Clone(row))
		for _, v := range row {
			if s, isText := v.(string); isText {
				g.texts += len(s)
			}
		}
		if !g.isFull() || t.apart {
			return nil
		}
		return t.store(ctx, g)
	})
	if err != nil {
		err = fmt.Errorf("store %s: %w", table, err)
	}
	return n, err
}

// appendRows stores rows.
func (t *Target) appendRows(ctx context.Context, table string, each func(add func(values ...driver.Value) error) error) error {
	err := t.conn.Raw(func(c any) error {
		dc, ok := c.(driver.Conn)
		if !ok {
			return errors.New("not a DuckDB connection")
		}
		a, err := duckdb.NewAppenderFromConn(dc, "", table)
		if err != nil {
			return err
		}
		return errors.Join(each(a.AppendRow), a.Close())
	})
	if err != nil {
		return fmt.Errorf("store %s: %w", table, err)
	}
	return nil
}

// columnsOf gives the columns of a table in their order.
func (t *Target) columnsOf(ctx context.Context, table string) ([]string, error) {
	if known, ok := t.columns[table]; ok {
		return known, nil
	}
	// The list of all columns, duckdb_columns, takes DuckDB 3 ms a question.
	rows, err := t.conn.QueryContext(ctx, `SELECT * FROM main.`+table+` LIMIT 0`)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", table, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", table, err)
	}
	t.columns[table] = names
	return names, rows.Err()
}

// idPlaces gives the places of a table's columns that hold ids.
func (t *Target) idPlaces(ctx context.Context, table string) ([]int, error) {
	names, err := t.columnsOf(ctx, table)
	var places []int
	for i, name := range names {
		if schema.IsID(table, name) {
			places = append(places, i)
		}
	}
	return places, err
}

// id turns the number of something within the run into its id. 0 and NULL stay what they are, and a list is one of ids.
func (t *Target) id(number driver.Value) driver.Value {
	switch n := number.(type) {
	case int32:
		return t.idOf(int64(n))
	case int64:
		return t.idOf(n)
	case []int32:
		ids := make([]int64, len(n))
		for i, m := range n {
			ids[i] = t.idOf(int64(m))
		}
		return ids
	}
	return number
}

func (t *Target) idOf(number int64) int64 {
	if number == 0 {
		return 0
	}
	return t.base + number
}

// checkIDs refuses a run with more of something than there are ids.
func (r *Run) checkIDs() error {
	for _, c := range []struct {
		what string
		n    int
	}{{"ranges", int(r.RangeID)}, {"sets of open ranges", int(r.ContextID)}, {"paths of ranges", len(r.Paths.All())}, {"kernel names", len(r.Kernels.numbers.All())},
		{"launch shapes", len(r.shapes.All())}, {"API names", len(r.APIs.All())}, {"metrics", len(r.Metrics.numbers.All())}, {"operators", int(r.OpID)}, {"operator names", len(r.Operators.All())},
		{"inputs of operators", len(r.Inputs.All())}, {"Python stacks", len(r.Stacks.All())}, {"profiled launches", int(r.launches)}, {"models", int(r.ModelID)}} {
		if c.n > schema.MaxIDs {
			return fmt.Errorf("the run has %d %s, more than the limit of %d: ingest fewer captures as one run", c.n, c.what, schema.MaxIDs)
		}
	}
	return nil
}

// UUID is the run's id as an appender takes it.
func (t *Target) UUID() driver.Value { return duckdb.UUID(uuid.MustParse(t.RunID)) }

// NameHash identifies a name in every run and warehouse: the first 8 bytes of its SHA-256, big-endian.
func NameHash(name string) int64 {
	h := sha256.Sum256([]byte(name))
	return int64(binary.BigEndian.Uint64(h[:8]))
}

// InputKey identifies inputs of operators in Run.Inputs.
func InputKey(shapes, types, strides, concrete string) string {
	return strconv.FormatInt(NameHash(strings.Join([]string{shapes, types, strides, concrete}, "\n")), 16)
}

// Names numbers names, each with a text beside it. It is safe for concurrent use.
type Names struct {
	numbers Numbers
	mu      sync.Mutex
	beside  map[int32]string
}

// Add gives the number of a name and keeps the text first given with it; nil is one that is not known.
func (n *Names) Add(name string, beside *string) int32 {
	id := n.numbers.Add(name)
	if beside == nil {
		return id
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.beside[id]; !ok {
		if n.beside == nil {
			n.beside = map[int32]string{}
		}
		n.beside[id] = *beside
	}
	return id
}

// Each visits the names in the order of their numbers.
func (n *Names) Each(f func(id int32, name string, beside *string) error) error {
	for i, name := range n.numbers.All() {
		if n.numbers.gone[i] {
			continue
		}
		var beside *string
		if text, ok := n.beside[int32(i+1)]; ok {
			beside = &text
		}
		if err := f(int32(i+1), name, beside); err != nil {
			return err
		}
	}
	return nil
}

// Numbers numbers the names that a run's rows refer to: 1, 2, ... within the run. It is safe for concurrent use.
type Numbers struct {
	mu    sync.RWMutex
	ids   map[string]int32
	names []string
	gone  map[int]bool // places in names of none, see Target.Resume
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
