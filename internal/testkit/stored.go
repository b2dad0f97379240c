// Package testkit gives tests stored and derived warehouses of real captures, made once and shared by all packages, and the few helpers
// with which tests ask them.
package testkit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

// Run is a run of a stored warehouse.
type Run struct {
	Name  string
	Files []string // captures and facts: below testdata, or with absolute paths
	// Options say how the files are ingested, beside name, time and id. A closure in them is not part of the warehouse's name in the cache.
	Options ingest.Options
	// Make, where it is not nil, writes more files of the run into an empty folder, which goes again, and returns what of it to ingest. Key and
	// Sources, files and folders of the repository, decide what it writes.
	Make    func(dir string) ([]string, error)
	Key     string
	Sources []string
	// Then, where it is not nil, changes the warehouse once the run is stored. Key and Sources decide how.
	Then func(ctx context.Context, w *schema.Warehouse) error
	// TrueSums keeps the hashes of the files, so that an ingest finds them stored. No other run of the warehouse may have one of them.
	TrueSums bool
	// SQL changes what the files gave before facts are derived, or makes up a run without files, whose row in run is there; $run stands for its
	// id. Kernels and ranges stay in the classes that it gives them.
	SQL string
	// Facts are the files of facts that are derived, with timeline and all that they are made from; nil for all.
	Facts []string
}

// Now is when every run of a stored warehouse was ingested.
var Now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Root returns the folder of the repository.
var Root = sync.OnceValue(func() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(here)))
})

// Path returns the absolute path of a file below testdata.
func Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(Root(), "testdata", filepath.FromSlash(name))
}

func paths(names []string) (out []string) {
	for _, name := range names {
		out = append(out, Path(name))
	}
	return out
}

// shared are the warehouses that tests of this process have open, by file.
var shared sync.Map

// Warehouse returns a warehouse with these runs, open for reading and shared by the tests of the process: nobody closes it.
func Warehouse(t testing.TB, runs ...Run) *schema.Warehouse {
	t.Helper()
	home := stored(t, runs)
	open, _ := shared.LoadOrStore(home, sync.OnceValues(func() (*schema.Warehouse, error) {
		return schema.Open(context.Background(), schema.Home{Dir: home}, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}, AsIs: true})
	}))
	w, err := open.(func() (*schema.Warehouse, error))()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Copy returns a warehouse with these runs, or an empty one, in a folder of the test's own, open for writing until the test ends.
func Copy(t testing.TB, runs ...Run) *schema.Warehouse {
	t.Helper()
	home := schema.Home{Dir: t.TempDir()}
	CopyHome(t, home.Dir, runs...)
	return Open(t, home)
}

// Open opens a home for writing until the test ends.
func Open(t testing.TB, home schema.Home) *schema.Warehouse {
	t.Helper()
	w, err := schema.Open(t.Context(), home, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	// Nobody opens it again, so nothing need be written into its file.
	if _, err := w.DB.Exec("PRAGMA disable_checkpoint_on_shutdown; SET checkpoint_threshold = '1GB'"); err != nil {
		t.Fatal(err)
	}
	return w
}

// CopyHome copies a warehouse with these runs, or an empty one, into the folder of a home, which it makes.
func CopyHome(t testing.TB, dir string, runs ...Run) {
	t.Helper()
	if err := copyHome(stored(t, runs), dir); err != nil {
		t.Fatal(err)
	}
}

func copyHome(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// stored returns the folder of a home with these runs in the user's cache, which the first process that wants it makes. None may write there.
func stored(t testing.TB, runs []Run) string {
	t.Helper()
	name, err := nameOf(runs)
	if err != nil {
		t.Fatal(err)
	}
	make, _ := homes.LoadOrStore(name, sync.OnceValues(func() (string, error) { return makeStored(name, runs) }))
	home, err := make.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// homes are the homes that this process has found or made, by the name of their folder.
var homes sync.Map

// makeStored finds or makes a home in the cache. Whoever holds the lock makes it, under another name; a process that is killed lets go of its
// lock.
func makeStored(name string, runs []Run) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	home := filepath.Join(cache, name)
	if isHome(home) {
		return home, os.Chtimes(home, time.Now(), time.Now())
	}
	lock, err := os.OpenFile(home+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if isHome(home) { // another process made it
		return home, nil
	}
	temp := home + ".new" // of one that was killed, too
	if err := os.RemoveAll(temp); err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	if err := fill(schema.Home{Dir: temp}, runs); err != nil {
		return "", fmt.Errorf("store the runs of a test: %w", err)
	}
	if err := os.RemoveAll(home); err != nil {
		return "", err
	}
	return home, os.Rename(temp, home)
}

func isHome(dir string) bool { return schema.Home{Dir: dir}.Exists() }

// manyRuns is from how many runs on they are stored in two warehouses side by side: most of the time one statement after the other is planned,
// which takes one processor.
const manyRuns = 20

// fill makes a warehouse and ingests runs.
func fill(home schema.Home, runs []Run) error {
	ctx := context.Background()
	if len(runs) < manyRuns || slices.ContainsFunc(runs, func(r Run) bool { return r.Then != nil }) {
		return store(ctx, home, runs, 0, 1, nil)
	}
	half := schema.Home{Dir: filepath.Join(home.Dir, "half")}
	defer os.RemoveAll(half.Dir)
	// An ingest sets it for as long as it lasts, and has not foreseen another.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU() + 4))
	stored := make(chan error, 1)
	go func() { stored <- store(ctx, half, runs, 1, 2, nil) }()
	return store(ctx, home, runs, 0, 2, func(w *schema.Warehouse) error {
		if err := <-stored; err != nil {
			return err
		}
		return add(ctx, w, half)
	})
}

// store makes a warehouse with every step-th run from one on, and does something with it at the end.
func store(ctx context.Context, home schema.Home, runs []Run, from, step int, then func(w *schema.Warehouse) error) (err error) {
	w, err := schema.Open(ctx, home, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	// What is written into the file is written once, at the end: nobody sees it before.
	if _, err := w.DB.ExecContext(ctx, `SET checkpoint_threshold = '1GB'`); err != nil {
		return err
	}
	for i := from; i < len(runs); i += step {
		if err := Ingest(ctx, w, i, runs[i]); err != nil {
			return fmt.Errorf("run %s: %w", runs[i].Name, err)
		}
	}
	if then == nil {
		return nil
	}
	return then(w)
}

// add adds the runs of another warehouse of the same program.
func add(ctx context.Context, w *schema.Warehouse, from schema.Home) error {
	if _, err := w.DB.ExecContext(ctx, `ATTACH `+schema.Quote(from.Warehouse())+` AS half (READ_ONLY)`); err != nil {
		return err
	}
	r, err := w.DB.QueryContext(ctx, `SELECT DISTINCT table_name FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, table_name) WHERE database_name = 'half' AND column_name = 'run_id'`)
	if err != nil {
		return err
	}
	tables, err := texts(r)
	if err != nil {
		return err
	}
	var all strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&all, "INSERT INTO %[1]s BY NAME FROM half.%[1]s; ", t)
	}
	_, err = w.DB.ExecContext(ctx, "BEGIN; "+all.String()+"COMMIT; DETACH half")
	return err
}

// Ingest stores a run with the time and the id that it has as run number i, from 0, of a stored warehouse.
func Ingest(ctx context.Context, w *schema.Warehouse, i int, r Run) (err error) {
	o := r.Options
	o.Name, o.Now, o.RunID = r.Name, Now.Add(time.Duration(i)*time.Second), RunID(r.Name)
	o.ProfVersion, o.Load.Threads = cmp.Or(o.ProfVersion, "test"), cmp.Or(o.Load.Threads, 2)
	o.Models, o.Workloads = paths(o.Models), paths(o.Workloads)
	var facts derive.Facts
	if r.Facts != nil {
		if facts, err = derive.Behind(slices.Concat([]string{"timeline"}, r.Facts)...); err != nil {
			return err
		}
	}
	all := w.Facts
	defer func() { w.Facts = all }()
	if w.Facts = facts; r.SQL != "" {
		w.Facts = derive.Facts{Only: []string{}}
	}
	files := paths(r.Files)
	if r.Make != nil {
		dir, err := os.MkdirTemp("", "prof-test-made-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		made, err := r.Make(dir)
		if err != nil {
			return err
		}
		files = append(files, made...)
	}
	if len(files)+len(o.Models)+len(o.Workloads) > 0 {
		res, err := ingest.Run(ctx, w, files, o)
		if err != nil {
			return err
		}
		if !res.Made {
			return fmt.Errorf("%q: no run was made: %+v", files, res)
		}
	} else if err := makeRun(ctx, w, o); err != nil {
		return err
	}
	if r.SQL != "" {
		tx, err := w.DB.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(ctx, strings.ReplaceAll(r.SQL, "$run", schema.Quote(o.RunID)+"::UUID")); err != nil {
			return err
		}
		if err := facts.Derive(ctx, tx, o.RunID); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	if !r.TrueSums {
		// One capture may be part of several runs here, which an ingest refuses.
		_, err = w.DB.ExecContext(ctx, `UPDATE source SET sha256 = run_id::VARCHAR || source_id WHERE run_id = ?::UUID`, o.RunID)
	}
	if err == nil && r.Then != nil {
		err = r.Then(ctx, w)
	}
	return err
}

// makeRun stores a run of nothing.
func makeRun(ctx context.Context, w *schema.Warehouse, o ingest.Options) error {
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, `INSERT INTO run (run_id, name, created_at, prof_version) VALUES (?::UUID, ?, ?, ?)`, o.RunID, o.Name, o.Now, o.ProfVersion); err != nil {
		return err
	}
	if err := schema.Derive(ctx, tx, w.Facts, o.RunID); err != nil {
		return err
	}
	return tx.Commit()
}

// RunID returns the id that a run of that name has in every stored warehouse: a UUIDv7 of the time Now.
func RunID(name string) string {
	sum := sha256.Sum256([]byte(name))
	ms := fmt.Sprintf("%012x", Now.UnixMilli())
	rest := hex.EncodeToString(sum[:10])
	return fmt.Sprintf("%s-%s-7%s-8%s-%s", ms[:8], ms[8:], rest[:3], rest[3:6], rest[6:18])
}

// nameOf names the warehouse of runs: by the program that stores and derives, the bytes of the files, and the options.
func nameOf(runs []Run) (string, error) {
	program, err := programSum()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintln(sum, program, Root()) // paths of captures are stored
	for _, r := range runs {
		o := r.Options
		pass, err := json.Marshal(o.Pass)
		if err != nil {
			return "", err
		}
		o.Warn, o.Load.Progress, o.Pass, o.Models, o.Workloads = nil, nil, nil, nil, nil
		fmt.Fprintf(sum, "%q %+v %s %q %#v %t %q\n", r.Name, o, pass, r.SQL, r.Facts, r.TrueSums, r.Key) // no facts are not all
		for _, f := range slices.Concat(r.Files, []string{""}, r.Options.Models, []string{""}, r.Options.Workloads) {
			if f == "" {
				fmt.Fprintln(sum)
				continue
			}
			name := f
			if filepath.IsAbs(f) { // of a test's own folder, which is another one each time
				name = filepath.Base(f)
			}
			fmt.Fprintf(sum, "%q\n", name)
			if err := sumOf(sum, Path(f), all); err != nil {
				return "", err
			}
		}
		for _, f := range r.Sources {
			if err := sumOf(sum, filepath.Join(Root(), filepath.FromSlash(f)), all); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:24], nil
}

// all wants every file: see sumOf.
func all(string, fs.DirEntry) bool { return true }

// programSum identifies everything that stores or derives: what this program has of it in itself, and the sources.
var programSum = sync.OnceValues(func() (string, error) {
	inside, err := schema.Identity(schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		return "", err
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	self, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	sources, err := sourceSum(Root(), self.ModTime())
	return inside + " " + sources, err
})

// sourceSum identifies the sources of these rooms without their tests, the definitions of queries, which the warehouse holds, and the versions of the
// modules. Of sources that changed since the program was built it was made of others, and what it stores is its own.
func sourceSum(root string, built time.Time) (string, error) {
	sum, isChanged := sha256.New(), false
	for _, room := range []string{"ingest", "schema", "queries", "internal/mask", "internal/testkit", "capture/tracer", "go.mod"} {
		err := sumOf(sum, filepath.Join(root, room), func(path string, d fs.DirEntry) bool {
			if ext := filepath.Ext(path); room == "queries" && ext != ".sql" && ext != ".csv" && (ext != ".go" || filepath.Dir(path) != filepath.Join(root, room)) {
				return false
			}
			if strings.HasSuffix(path, "_test.go") || strings.Contains(path, string(filepath.Separator)+"testdata"+string(filepath.Separator)) {
				return false
			}
			st, err := d.Info()
			isChanged = isChanged || err != nil || st.ModTime().After(built)
			return true
		})
		if err != nil {
			return "", err
		}
	}
	if isChanged {
		fmt.Fprintln(sum, built.UnixNano())
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// sumOf adds a file, or the wanted ones below a folder, with their names.
func sumOf(sum io.Writer, root string, want func(path string, d fs.DirEntry) bool) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !want(path, d) {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %d\n", name, len(data))
		_, err = sum.Write(data)
		return err
	})
}

// What no test has asked for in three days goes, and what nobody has in an hour where there are more than two gigabytes: each change of the
// program leaves all warehouses of the one before.
const (
	kept     = 3 * 24 * time.Hour
	inUse    = time.Hour
	keptSize = 2 << 30
)

// cacheDir returns the folder of stored warehouses: in the user's cache, or a temporary one where that cannot be written. It clears what is old.
var cacheDir = sync.OnceValues(func() (string, error) {
	base, err := os.UserCacheDir()
	if err == nil {
		base = filepath.Join(base, "prof-test")
		if err = os.MkdirAll(base, 0o700); err == nil {
			err = writable(base)
		}
	}
	if err != nil {
		base = filepath.Join(os.TempDir(), fmt.Sprintf("prof-test-%d", os.Getuid()))
		fmt.Fprintf(os.Stderr, "stored warehouses are kept in %s: %v\n", base, err)
		if err := os.MkdirAll(base, 0o700); err != nil {
			return "", err
		}
	}
	return base, prune(base, time.Now())
})

// prune clears the cache; what cannot be removed is in nobody's way.
func prune(base string, now time.Time) error {
	entries, err := os.ReadDir(base)
	if err != nil {
		return err
	}
	type entry struct {
		path string
		idle time.Duration
		size int64
	}
	var all []entry
	for _, e := range entries {
		st, err := e.Info()
		if err != nil { // another process removed it
			continue
		}
		found := entry{path: filepath.Join(base, e.Name()), idle: now.Sub(st.ModTime())}
		if file, err := os.Stat(schema.Home{Dir: found.path}.Warehouse()); err == nil {
			found.size = file.Size()
		}
		all = append(all, found)
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.idle, b.idle) })
	var size int64
	for _, e := range all {
		size += e.size
		if e.idle > kept || e.idle > inUse && size > keptSize {
			os.RemoveAll(e.path)
		}
	}
	return nil
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, "try-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
