package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// built is this test binary by the name of the program, which it then is: see TestMain.
var built string

// holdEnv makes the test binary hold a warehouse: see hold.
const holdEnv = "PROF_TEST_HOLD"

// listensEnv names a file that the program makes when it listens for signals.
const listensEnv = "PROF_TEST_LISTENS"

func TestMain(m *testing.M) {
	if mode := os.Getenv(holdEnv); mode != "" {
		if err := hold(mode, os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// go test gives its binary flags of its own. Others come from a test that starts the program, or from the program that starts itself.
	if filepath.Base(os.Args[0]) == "prof" || len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		if path := os.Getenv(listensEnv); path != "" {
			stop := stopOnSignals()
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(runStoppable(stop, os.Args, os.Stdin, os.Stdout, os.Stderr))
		}
		os.Exit(Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "PROF_") && !strings.HasPrefix(name, "PROF_TEST_") || name == "COLUMNS" {
			os.Unsetenv(name)
		}
	}
	// Where python3 is a script that looks for an interpreter, as pyenv's is, it takes longer than what a capture asks of Python.
	if out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil {
		os.Setenv("PATH", filepath.Dir(strings.TrimSpace(string(out)))+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	dir, err := os.MkdirTemp("", "prof-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err == nil {
		built = filepath.Join(dir, "prof")
		err = os.Symlink(self, built)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// hold opens the warehouse of a home, says so, and keeps it open until stdin ends.
func hold(mode, dir string) (err error) {
	w, err := schema.Open(context.Background(), schema.Home{Dir: dir}, schema.Options{Write: mode == "write", Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		return err
	}
	defer closing(w, &err)
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

const (
	kernels = "kernels/kernels.sqlite.gz"
	node    = "variants-node/variants-node.sqlite.gz"
	graph   = "variants-graph/variants-graph.sqlite.gz"
	nccl    = "nccl2/nccl2.sqlite.gz"
	llama   = "llama-graph-node/llama-graph-node.sqlite.gz"
)

// exported returns the absolute path of a capture in testdata.
func exported(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "testdata", "nsys", filepath.FromSlash(name)))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// place is a folder to run prof in; its home is .prof there.
type place struct {
	t     testing.TB
	dir   string
	cache string            // its cache folder, in which empty warehouses are those of all places
	env   []string          // besides a bare environment
	home  string            // in place of .prof, only to read: a stored one of the test kit
	lent  *schema.Warehouse // of home, open for all tests of the process
	asks  *queries.Asker    // of lent, for all tests too
	// apart has verbs that may start a tool run as a process, since which tools there are is of the process.
	apart bool

	session Session
	said    map[string]string // see unchanged
}

func newPlace(t testing.TB) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), cache: t.TempDir()}
	shared := filepath.Join(filepath.Dir(built), "empty")
	if err := errors.Join(os.MkdirAll(shared, 0o700), os.Mkdir(filepath.Join(p.cache, "prof"), 0o700), os.Symlink(shared, filepath.Join(p.cache, "prof/empty"))); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *place) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// result is what a command did.
type result struct {
	code     int // -1: killed by a signal
	out, err string
}

// of is the same place in another test, which only reads.
func (p *place) of(t testing.TB) *place {
	return &place{t: t, dir: p.dir, cache: p.cache, env: p.env, home: p.home, lent: p.lent, asks: p.asks}
}

// settle closes what is open for reading: while it is, the next question finds the warehouse open, and none can be written to.
func (p *place) settle() {
	if err := p.session.Settle(); err != nil {
		p.t.Error(err)
	}
}

func (p *place) environ() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "XDG_CACHE_HOME=" + p.cache, "CUDA_HOME=" + p.path("no-cuda"), "TMPDIR=" + os.TempDir()}
	if testing.CoverMode() != "" { // else each process says on stderr that it has nowhere to write what it covered
		env = append(env, "GOCOVERDIR="+filepath.Dir(built))
	}
	return append(env, p.env...)
}

// command is prof as a process: for signals, locks, pipes, terminals and other processes.
func (p *place) command(args ...string) *exec.Cmd {
	p.settle()
	cmd := exec.Command(built, p.homed(args)...)
	cmd.Dir, cmd.Env = p.dir, p.environ()
	return cmd
}

// homed are arguments with the home, where that is not .prof.
func (p *place) homed(args []string) []string {
	if p.home != "" {
		return append([]string{"--home", p.home}, args...)
	}
	return args
}

func (p *place) run(args ...string) result { return p.runWith("", args...) }

// process runs prof as a process.
func (p *place) process(args ...string) result {
	p.t.Helper()
	cmd := p.command(args...)
	return finish(p.t, cmd, cmd.Run)
}

// runWith runs prof in this process.
func (p *place) runWith(stdin string, args ...string) result {
	p.t.Helper()
	if p.apart && !slices.Contains(readingVerbs, args[0]) {
		return p.process(args...)
	}
	var out, errs bytes.Buffer
	code := p.runOn(strings.NewReader(stdin), &out, &errs, args...)
	return result{code, p.asGiven(out.String(), args), p.asGiven(errs.String(), args)}
}

// runOn runs prof in this process.
func (p *place) runOn(stdin io.Reader, stdout, stderr io.Writer, args ...string) int {
	p.session.Dir, p.session.Env, p.session.lent, p.session.asks = p.dir, p.environ(), p.lent, p.asks
	wasSettled := p.session.read == nil
	code := p.session.Run(p.t.Context(), stdin, stdout, stderr, p.homed(args)...)
	if wasSettled && p.session.read != nil {
		p.t.Cleanup(p.settle)
	}
	return code
}

// asGiven is a text with the paths of files that were given from the place's folder as a process in that folder would say them: the program in this
// process has to put the folder before them.
func (p *place) asGiven(text string, args []string) string {
	if slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, p.dir) }) {
		return text
	}
	kept := []string{p.path(".prof")} // homes are said with their folder
	if at := slices.Index(args, "--home"); at >= 0 && at+1 < len(args) {
		kept = append(kept, p.path(args[at+1]))
	}
	for _, kv := range p.env {
		if home, is := strings.CutPrefix(kv, "PROF_HOME="); is {
			kept = append(kept, home)
		}
	}
	var out strings.Builder
	dir := p.dir + string(filepath.Separator)
	for {
		before, after, found := strings.Cut(text, dir)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		if rest := text[len(before):]; slices.ContainsFunc(kept, func(home string) bool { return strings.HasPrefix(rest, home) }) {
			out.WriteString(dir)
		}
		text = after
	}
}

// finish runs a command to its end.
func finish(t testing.TB, cmd *exec.Cmd, run func() error) result {
	t.Helper()
	var out, errs bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &errs
	}
	err := run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// ok runs a command that must succeed and gives its stdout.
func (p *place) ok(args ...string) string {
	p.t.Helper()
	r := p.run(args...)
	if r.code != 0 {
		p.t.Fatalf("prof %q: exit %d, stderr %q", args, r.code, r.err)
	}
	return r.out
}

// want runs a command and compares all it does.
func (p *place) want(want result, args ...string) {
	p.t.Helper()
	if got := p.run(args...); got != want {
		p.t.Errorf("prof %q:\ngot  %d %q %q\nwant %d %q %q", args, got.code, got.out, got.err, want.code, want.out, want.err)
	}
}

// wantLike is want with stdout and stderr as regular expressions of the whole.
func (p *place) wantLike(code int, out, errs string, args ...string) {
	p.t.Helper()
	got := p.run(args...)
	if got.code != code || !whole(out).MatchString(got.out) || !whole(errs).MatchString(got.err) {
		p.t.Errorf("prof %q:\ngot  %d %q %q\nwant %d %q %q", args, got.code, got.out, got.err, code, out, errs)
	}
}

func whole(expr string) *regexp.Regexp { return regexp.MustCompile(`\A(?s:` + expr + `)\z`) }

func (p *place) sql(text string) string { p.t.Helper(); return p.ok("sql", "--format", "csv", text) }

// filled is a warehouse with one run, "a", of the capture kernels.
var filled = []testkit.Run{{Name: "a", Files: []string{"nsys/" + kernels}, TrueSums: true}}

// newFilled returns a place with a copy of filled.
func newFilled(t testing.TB) *place { return newStored(t, filled) }

// fill copies filled to the folder of a home.
func fill(t testing.TB, home string) {
	t.Helper()
	testkit.CopyHome(t, home, filled...)
}

// two are the runs "a" and "llama", a later one.
var two = []testkit.Run{filled[0], {Name: "llama", Files: []string{"nsys/" + node}, Options: ingest.Options{Tags: [][2]string{{"gpu", "h200"}}}, TrueSums: true}}

// repeated are three runs of one workload, of three repeats each: two of the same code, one of other.
var repeated = []testkit.Run{{Name: "sdpa-1", Files: []string{"capture/llama/sdpa-1"}, TrueSums: true}, {Name: "sdpa-2", Files: []string{"capture/llama/sdpa-2"}, TrueSums: true}, {Name: "eager", Files: []string{"capture/llama/eager"}, TrueSums: true}}

// various are runs of every kind, in alphabetical order.
var various = []testkit.Run{
	{Name: "both", Files: []string{"nsys/" + kernels, "ncu/kernels-prefill.ncu-rep.gz"}, TrueSums: true},
	{Name: "emit", Files: []string{"nsys/emit-nvtx/emit-nvtx.sqlite.gz"}, TrueSums: true},
	{Name: "llama", Files: []string{"nsys/" + llama, "workload/llama-graph-node.workload.json"}, TrueSums: true},
	{Name: "model", Files: []string{"model/deepseek-ocr.config.json"}, TrueSums: true},
	{Name: "nccl", Files: []string{"nsys/" + nccl}, TrueSums: true},
	{Name: "node", Files: []string{"nsys/" + node}, TrueSums: true},
	{Name: "profiled", Files: []string{"ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz"}, TrueSums: true},
	{Name: "ranks", Files: []string{"ranks/rank0.trace.json.gz", "ranks/rank1.trace.json.gz"}, TrueSums: true},
}

// textRun is a run of a file with a text.
func textRun(run, file, text string) testkit.Run {
	return testkit.Run{Name: run, Key: fmt.Sprintf("%s %x", file, sha256.Sum256([]byte(text))), Make: func(dir string) ([]string, error) {
		path := filepath.Join(dir, file)
		return []string{path}, os.WriteFile(path, []byte(text), 0o644)
	}}
}

// newStored returns a place with a copy of a stored warehouse.
func newStored(t testing.TB, runs []testkit.Run) *place {
	t.Helper()
	p := newPlace(t)
	testkit.CopyHome(t, p.path(".prof"), runs...)
	return p
}

// reading returns a place whose home is a stored warehouse itself, which is open for all tests of the process. Nothing may write to it.
func reading(t testing.TB, runs []testkit.Run) *place {
	t.Helper()
	p := newPlace(t)
	p.lent = testkit.Warehouse(t, runs...)
	p.home = p.lent.Home.Dir
	p.asks = testkit.Asker(p.lent)
	return p
}

var tableNames struct {
	sync.Once
	names []string
}

// tables lists the warehouse's tables.
func tables(p *place) []string {
	p.t.Helper()
	tableNames.Do(func() {
		lines := strings.Fields(p.sql("SELECT table_name FROM duckdb_tables() ORDER BY table_name"))
		tableNames.names = lines[1:]
	})
	if !slices.Contains(tableNames.names, "kernel") || len(tableNames.names) < 20 {
		p.t.Fatalf("tables: %q", tableNames.names)
	}
	return tableNames.names
}

// counts returns the number of rows of each table.
func counts(p *place) string {
	p.t.Helper()
	return p.unchanged("counts", func() string { return perTable(p, "count(*) AS n") })
}

// state identifies the content of every table, and what `prof runs` says.
func state(p *place) string {
	p.t.Helper()
	return p.unchanged("state", func() string {
		return perTable(p, "count(*) AS n, coalesce(bit_xor(hash(x)), 0)::VARCHAR AS h") + p.ok("runs", "--format", "csv")
	})
}

// unchanged returns what ask gave when the warehouse's file was the same, byte for byte, else asks.
func (p *place) unchanged(what string, ask func() string) string {
	p.t.Helper()
	file, err := os.ReadFile(p.path(".prof/warehouse.duckdb"))
	if err != nil || exists(p.path(".prof/warehouse.duckdb.wal")) { // its home is elsewhere, or the file is not all of it
		return ask()
	}
	key := fmt.Sprintf("%s %x", what, sha256.Sum256(file))
	if p.said[key] == "" {
		said := ask()
		if p.said == nil {
			p.said = map[string]string{}
		}
		p.said[key] = said
	}
	return p.said[key]
}

func perTable(p *place, what string) string {
	p.t.Helper()
	var parts []string
	for _, t := range tables(p) {
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS t, %s FROM %s x", t, what, t))
	}
	return p.sql(strings.Join(parts, " UNION ALL ") + " ORDER BY t")
}

// write makes a file.
func write(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// unpacked returns a capture's plain bytes.
func unpacked(t testing.TB, name string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(read(t, exported(t, name))))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// listing names all files below a folder.
func listing(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		if err == nil && path != dir {
			path, err = filepath.Rel(dir, path)
			out = append(out, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// patience is how long tests wait for what takes a moment on a machine that does nothing else.
const patience = 2 * time.Minute

// within fails the test when cond does not come true in time.
func within(t testing.TB, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

var longFraction = regexp.MustCompile(`\d+\.\d{8,}`)

// rounded shortens fractions: DuckDB adds doubles up in no fixed order, which shows in their last digit.
func rounded(csv string) string {
	return longFraction.ReplaceAllStringFunc(csv, func(s string) string {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		return strconv.FormatFloat(v, 'g', 11, 64)
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isFolder(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

func openFile(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
