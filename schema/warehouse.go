package schema

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"prof/internal/file"
	"prof/internal/scratch"
)

// StorageVersion is the DuckDB storage format of a new warehouse. Clients from DuckDB 1.2 on open it; the default of a
// later library would lock out older clients.
const StorageVersion = "v1.2.0"

// Options say how Open opens a warehouse.
type Options struct {
	Write bool        // open for writing: make the home if need be, migrate, install the definitions
	Store bool        // with Write: to store runs, and not only to change what is said of those that are there; see openStore
	Defs  Definitions // the views and macros this program comes with
	Facts Facts       // the tables this program derives from what a run captured
	// Wait is how long to wait for another process that holds the warehouse. Whoever reads waits for a moment only and is then given a copy of
	// what that process has not changed yet; without a Wait there is no copy either.
	Wait time.Duration
	// Talk is told, once, that Open waits and for whom, and which rules of the user's cannot be used. It may be nil.
	Talk func(message string)
	// Progress is told, before each run whose facts are derived anew, how many are done of how many. It may be nil.
	Progress func(done, all int)
	// AsIs refuses a warehouse that would have to be brought up to date for reading.
	AsIs bool
	// unchecked opens a lake of another version too.
	unchecked bool
	// Sandbox keeps SQL from files, the network, extensions and settings.
	Sandbox bool
	// Budget bounds DuckDB's memory and threads while it writes; the zero value leaves its defaults. Who reads may have to bring the warehouse up to date.
	Budget Budget
	// MemoryLimit bounds DuckDB's memory where no Budget does, e.g. "512MB"; empty leaves DuckDB's default.
	MemoryLimit string
}

// Warehouse is an open DuckDB file with the current schema.
type Warehouse struct {
	DB       *sql.DB
	Home     Home
	Writable bool  // opened for writing
	Facts    Facts // what Options said; nil when opened for reading
	Budget   Budget

	release func() error // what Close does after DuckDB; nil for one in memory
	lent    bool         // by a Live, which closes it
	// Of one that openStore opened: where its runs go, and whether that is being upgraded.
	lake      *Lake
	upgrading bool
	fetched   map[string]fetched // by the run's id
	copied    *os.File           // what a Live reads
	undo      *undo              // of one opened for writing; nil for others and while DuckDB makes it
}

// ErrNoWarehouse is wrapped by Open's error when there is nothing to read yet.
var ErrNoWarehouse = errors.New("no warehouse yet")

// ErrOutdated is wrapped by Open's error when Options say AsIs and the warehouse is not up to date.
var ErrOutdated = errors.New("the warehouse is not up to date")

// Open opens the warehouse of a home. For reading it takes DuckDB's read-only mode, in which any number of processes may
// have it open; a warehouse of an older prof is migrated first, which needs the right to write. For writing it is the
// only process; see LockedError for when it cannot be.
func Open(ctx context.Context, home Home, o Options) (*Warehouse, error) {
	w, err := open(ctx, home, o)
	if err != nil {
		return nil, err
	}
	bad, err := badRules(ctx, w.DB)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	for _, m := range bad {
		if o.Talk != nil {
			o.Talk(m)
		}
	}
	return w, nil
}

func open(ctx context.Context, home Home, o Options) (*Warehouse, error) {
	if home.Lake != nil && o.Store {
		return openStore(ctx, home, o)
	}
	if home.Lake != nil {
		return openLake(ctx, home, o)
	}
	if o.Write {
		return openWrite(ctx, home, o)
	}
	if !home.Exists() {
		return nil, fmt.Errorf("%w in %s: run `prof ingest PATH` there, or name another home with --home", ErrNoWarehouse, home.Dir)
	}
	w, err := openRead(ctx, home, o)
	if err != nil {
		return nil, err
	}
	current, err := isCurrent(ctx, w.DB, o)
	if err == nil && current {
		return w, nil
	}
	w.Close()
	if err == nil && o.AsIs {
		err = ErrOutdated
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", home.Warehouse(), err)
	}
	if w, err = openWrite(ctx, home, o); err != nil {
		return nil, fmt.Errorf("the warehouse must be brought up to date once with this prof or with changed rules: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return openRead(ctx, home, o)
}

func openWrite(ctx context.Context, home Home, o Options) (*Warehouse, error) {
	if err := home.Make(); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(o.Wait)
	release, err := home.takeTurn(ctx, o, deadline)
	if err != nil {
		return nil, err
	}
	w, err := openTurn(ctx, home, o, deadline)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	w.release = release
	return w, nil
}

// openTurn opens a warehouse for writing, in its turn.
func openTurn(ctx context.Context, home Home, o Options, deadline time.Time) (*Warehouse, error) {
	scratch.Clear(home.Dir)
	scratch.Clear(os.TempDir())
	if !home.Exists() {
		if err := file.Check(home.Warehouse()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("in the place of the warehouse: %w", err)
		}
		if err := os.Remove(home.Warehouse()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("an empty warehouse file is in the way: %w", err)
		}
		if err := home.writeEmpty(ctx, o); err != nil {
			return nil, fmt.Errorf("make an empty warehouse: %w", err)
		}
	}
	if err := home.undoCommit(); err != nil {
		return nil, err
	}
	undo, err := newUndo(home)
	if err != nil {
		return nil, plainOpenError(err, home)
	}
	w := &Warehouse{Home: home, Writable: true, Facts: o.Facts, Budget: o.Budget, undo: undo}
	if w.DB, err = connectBy(ctx, home, o, deadline); err != nil {
		return nil, errors.Join(err, undo.close())
	}
	// Only one process can be here: what is in the temporary folder was left behind by a process that was killed.
	if err := os.RemoveAll(home.Temp()); err != nil {
		return nil, errors.Join(fmt.Errorf("clear %s: %w", home.Temp(), err), w.Close())
	}
	err = w.Again(ctx, func() error { return w.migrate(ctx, o) })
	if err == nil {
		err = w.deriveStale(ctx, o)
	}
	if err == nil {
		// They are in nobody's way: no query sees rows without a run.
		if e := w.ClearUnfinished(ctx); e != nil && o.Talk != nil {
			o.Talk(e.Error())
		}
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", home.Warehouse(), err), w.Close())
	}
	return w, nil
}

// Copied is the file that a Live reads, for other processes to read it too; nil of other warehouses.
func (w *Warehouse) Copied() *os.File { return w.copied }

// Leave ends the reading of a process that is about to end: that frees DuckDB's memory faster than closing it.
func (w *Warehouse) Leave() error {
	if w.lent || !w.Writable && w.Home.Lake == nil && leaveSpill() { // what was spilled, only Close removes
		return nil
	}
	return w.Close()
}

// Close writes what is pending into the file and lets it go.
func (w *Warehouse) Close() error {
	if w.lent {
		return nil
	}
	err := errors.Join(w.DB.Close(), w.undo.close())
	if w.release != nil {
		err = errors.Join(err, w.release())
		w.release = nil
	}
	return err
}

// waitFor says once whom Open waits for.
func (o Options) waitFor(e *LockedError) {
	if o.Talk != nil {
		o.Talk(fmt.Sprintf("the warehouse is in use by %s; waiting up to %s", e.Holder(), o.Wait))
	}
}

// connectBy opens the file for writing, waiting until the deadline for those that read it.
func connectBy(ctx context.Context, home Home, o Options, deadline time.Time) (*sql.DB, error) {
	for told := false; ; told = true {
		db, err := connect(ctx, home.Warehouse(), "READ_WRITE", home.Temp(), o)
		locked := asLocked(err, home)
		if locked == nil {
			return db, plainOpenError(err, home)
		}
		if time.Now().After(deadline) {
			return nil, locked
		}
		if !told {
			o.waitFor(locked)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// smallFile is the size below which a warehouse is read and written in one thread: of a few small runs, a question is planned for longer than it
// is answered, and threads of DuckDB that look for work take as much of the processors again. What stores a large run asks for all threads.
const smallFile = 32 << 20

// newBlockSize is the size of blocks of a new file. A run has rows in some hundred tables, and each begins a block of its own. With DuckDB's 256 KiB two
// small runs take 28 MB, with these 9 MB; one of 11 million rows takes a tenth less, and no query is slower. What DuckDB keeps in memory is faster in its own.
const newBlockSize = "65536"

// connect opens a DuckDB file. What does not fit in memory it puts into the folder spill.
func connect(ctx context.Context, file, mode, spill string, o Options) (*sql.DB, error) {
	return connectWith(ctx, file, mode, spill, o, func(driver.ExecerContext) error { return nil })
}

// connectWith is connect with what each connection begins with.
func connectWith(ctx context.Context, file, mode, spill string, o Options, begin func(driver.ExecerContext) error) (*sql.DB, error) {
	set := url.Values{}
	set.Set("access_mode", mode)
	set.Set("storage_compatibility_version", StorageVersion)
	set.Set("temp_directory", spill)
	// Nothing may be fetched from the network behind the user's back.
	set.Set("autoinstall_known_extensions", "false")
	set.Set("autoload_known_extensions", "false")
	// A commit that checkpoints writes no log: it switches to the new state by one header in the data file. A process killed while
	// it wrote the log of a large transaction would leave one whose rows DuckDB 1.5 takes over in part. And a commit that finds the disk full
	// fails: with a log it may have succeeded.
	set.Set("checkpoint_threshold", "1B")
	set.Set("auto_checkpoint_skip_wal_threshold", "0")
	// Rows of an open transaction and of temporary tables have no statistics: a join of many such rows by time would be taken for one of few,
	// which compares each with each.
	set.Set("asof_loop_join_threshold", "0")
	st, err := os.Stat(file)
	isNew := file != "" && errors.Is(err, fs.ErrNotExist)
	if isNew {
		set.Set("default_block_size", newBlockSize)
	}
	if o.MemoryLimit != "" {
		set.Set("memory_limit", o.MemoryLimit)
	}
	if o.Budget != (Budget{}) && mode == "READ_WRITE" {
		set.Set("memory_limit", o.Budget.Limit())
		set.Set("threads", strconv.Itoa(o.Budget.Threads))
	}
	if isNew || err == nil && st.Size() < smallFile {
		set.Set("threads", "1")
	}
	c, err := duckdb.NewConnector(file+"?"+set.Encode(), begin)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, err
	}
	if o.Sandbox {
		if _, err := db.ExecContext(ctx, `SET max_temp_directory_size = '`+mostSpill+`'; SET secret_directory = '/'; SET enable_external_access = false; SET lock_configuration = true`); err != nil {
			db.Close()
			return nil, err
		}
	}
	return db, nil
}

// mostSpill bounds what others' SQL puts on the disk.
const mostSpill = "8GB"

// CommitStands reports whether a commit that failed was made all the same: DuckDB wrote it to its log, and could not take it over into its file. That
// needs another transaction in the same process; see connect.
func CommitStands(err error) bool {
	return err != nil && strings.Contains(err.Error(), "COMMIT succeeded and is durable")
}

// plainOpenError returns what most often keeps DuckDB from opening a file, in fewer words than DuckDB.
func plainOpenError(err error, home Home) error {
	if err == nil {
		return nil
	}
	if _, statErr := os.Stat(home.Warehouse()); errors.Is(statErr, fs.ErrPermission) || isPermission(err) {
		return fmt.Errorf("%s: no permission to open it: check the rights of the folder, or name another home with --home: %w",
			home.Warehouse(), fs.ErrPermission)
	}
	if strings.Contains(err.Error(), "not a valid DuckDB database file") {
		return fmt.Errorf("%s is no DuckDB file: move it away, or name another home with --home", home.Warehouse())
	}
	return fmt.Errorf("open %s: %w", home.Warehouse(), err)
}

// DuckDBVersion is the version of the DuckDB library in this program.
func DuckDBVersion() string { return mapping.LibraryVersion() }
