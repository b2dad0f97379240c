//go:build lake

package laketest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// built is the program under test, and started the servers that it uses.
var (
	built   string
	started *servers
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lake-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if started, err = startServers(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer started.stop()
	built = filepath.Join(dir, "prof")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", built, ".")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// machine is one from which prof is called: a folder, an environment, the home that is the default.
type machine struct {
	t    testing.TB
	dir  string
	home string
	env  []string
}

type result struct {
	code     int // -1: a signal ended it, which err says
	out, err string
}

func (m machine) command(args ...string) *exec.Cmd {
	cmd := exec.Command(built, args...)
	cmd.Dir = m.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "XDG_CACHE_HOME=" + filepath.Join(filepath.Dir(built), "cache"), "TMPDIR=" + os.TempDir(), "PROF_HOME=" + m.home, "PROF_WAIT=10m"}, m.env...)
	return cmd
}

func (m machine) run(args ...string) result {
	m.t.Helper()
	cmd := m.command(args...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	begun := time.Now()
	var exit *exec.ExitError
	if e := cmd.Run(); e != nil && !errors.As(e, &exit) {
		m.t.Fatal(e)
	}
	m.t.Logf("%s, CPU %s: %.200s", time.Since(begun).Round(time.Millisecond), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Millisecond), args)
	if cmd.ProcessState.ExitCode() == -1 {
		fmt.Fprintln(&err, cmd.ProcessState)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), err.String()}
}

// ok runs prof and gives what it prints; a failure ends the test.
func (m machine) ok(args ...string) string {
	m.t.Helper()
	r := m.run(args...)
	if r.code != 0 {
		m.t.Fatalf("prof %s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

// site is a team's place: a lake in the servers, and machines.
type site struct {
	t        *testing.T
	address  string // of PostgreSQL
	database string // the lake's, in PostgreSQL
	lake     string // of the lake
	env      []string
}

// newSite makes a lake of the test's own.
func newSite(t *testing.T) site {
	t.Helper()
	if started.missing != "" {
		t.Skip(started.missing)
	}
	t.Parallel()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(started.said())
		}
	})
	s := site{t: t, address: started.address, database: strings.ToLower(t.Name()), env: started.env}
	started.first.Do(func() {
		s.psql("postgres", "CREATE DATABASE first")
		s.machine("ducklake:postgres:"+s.address+" dbname=first").ok("lake", "init", "--data-path", "s3://lake/first")
	})
	// A copy of an empty lake takes a fraction of the time of another one.
	s.psql("postgres", "CREATE DATABASE "+s.database+" TEMPLATE first")
	s.psql(s.database, "UPDATE ducklake_metadata SET value = 's3://lake/"+s.database+"/' WHERE key = 'data_path'")
	s.lake = "ducklake:postgres:" + s.address + " dbname=" + s.database
	return s
}

// psql runs a statement in PostgreSQL.
func (s site) psql(database, statement string) string {
	s.t.Helper()
	out, err := psql(s.address, database, statement)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", statement, err, out)
	}
	return out
}

// machine returns a machine with a home: the lake's address, or "" for a file of its own.
func (s *site) machine(home string) machine {
	s.t.Helper()
	m := machine{t: s.t, dir: s.t.TempDir(), home: home, env: append([]string{"PROF_LAKE=" + s.lake}, s.env...)}
	if home == "" {
		m.home = filepath.Join(m.dir, ".prof")
	}
	return m
}

// capture returns a capture of testdata.
func capture(name string) string {
	path, err := filepath.Abs(filepath.Join("..", "..", "testdata", filepath.FromSlash(name)))
	if err != nil {
		panic(err)
	}
	return path
}

// fill stores captures of all kinds in a file's home.
func fill(m machine) {
	m.t.Helper()
	for _, args := range [][]string{
		{"--run", "kernels", "--tag", "gpu=h200", "--tag", "branch=main", capture("nsys/kernels/kernels.sqlite.gz"), capture("ncu/kernels-prefill.ncu-rep.gz")},
		{"--run", "nccl", "--tag", "branch=main", capture("nsys/nccl2/nccl2.sqlite.gz")},
		{"--run", "llama", "--prefill", "512", "--decode", "32", "--model", capture("model/deepseek-ocr.config.json"), capture("nsys/llama-graph-node/llama-graph-node.sqlite.gz"), capture("serving/vllm.json")},
		{"--run", "torch", capture("torch/llama.trace.json.gz"), capture("torch/llama.key_averages.json.gz")},
	} {
		m.ok(append([]string{"ingest"}, args...)...)
	}
	m.ok("baseline", "set", "main", "kernels")
}

// dump returns the rows of a warehouse's runs in some tables as digests by run and table, to compare warehouses by.
func (m machine) dump(tables ...string) string {
	m.t.Helper()
	parts := make([]string, len(tables))
	for i, t := range tables {
		hidden := map[string]string{"run": " EXCLUDE (created_at)", "source": " EXCLUDE (added_at)", "baseline": " EXCLUDE (set_at)"}[t]
		parts[i] = fmt.Sprintf("SELECT r.name AS run, '%s' AS tab, count(*) AS n, sum(hash(x)) AS digest FROM (SELECT *%s FROM %[1]s) x JOIN run r ON r.run_id = x.run_id GROUP BY ALL", t, hidden)
	}
	return m.ok("sql", "--format", "csv", strings.Join(parts, " UNION ALL ")+" ORDER BY ALL")
}

// counts returns the numbers of rows of a warehouse's runs in some tables.
func (m machine) counts(tables []string) string {
	m.t.Helper()
	var out strings.Builder
	for line := range strings.Lines(m.dump(tables...)) {
		out.WriteString(line[:strings.LastIndex(line, ",")] + "\n")
	}
	return out.String()
}

// allTables are those that have rows of runs.
func (m machine) allTables() []string {
	m.t.Helper()
	tables := strings.Fields(m.ok("sql", "--format", "csv", `SELECT DISTINCT table_name FROM duckdb_columns() WHERE column_name = 'run_id' AND table_name IN (SELECT table_name FROM duckdb_tables()) AND table_name NOT IN ('pushed_run') ORDER BY 1`))[1:]
	if len(tables) < 100 {
		m.t.Fatalf("only %d tables", len(tables))
	}
	return tables
}

// same compares two texts line by line.
func same(t testing.TB, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Errorf("%s: line %d of the lake is\n%.400s\nand of the file\n%.400s", what, i+1, a, b)
			return
		}
	}
}

// verbs are commands that only read.
var verbs = [][]string{
	{"runs"},
	{"show", "tag:branch=main", "--facts"},
	{"explain", "nccl", "--format", "json"},
	{"sql", "SELECT name, count(*) AS kernels FROM kernels JOIN run USING (run_id) GROUP BY name ORDER BY name"},
	{"diff", "kernels", "llama", "--by", "kernel", "--format", "json"},
	{"trend", "--format", "json"},
	{"check", "llama", "--baseline", "main"},
	{"export", "kernels", "--to", "folded"},
	{"export", "kernels", "--to", "perfetto", "--out", "kernels.pftrace"}, // its flows have other numbers, see wrote
	{"report", "llama", "--out", "report"},
}

// wrote lists the files of a folder with their content.
func (m machine) wrote() string {
	m.t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".pftrace") {
			if err == nil && strings.HasPrefix(d.Name(), ".") { // homes, of prof and of DuckDB
				err = fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %x\n", strings.TrimPrefix(path, m.dir), sha256.Sum256(text))
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return out.String()
}

// TestLake asks a lake and a file that have the same runs the same, and changes both the same way.
func TestLake(t *testing.T) {
	s := newSite(t)
	file := s.machine("")
	fill(file)
	file.ok("push", "--all")
	lake := s.machine(s.lake)
	lake.ok("baseline", "set", "main", "kernels")
	tables := file.allTables()
	want := file.dump(tables...)
	same(t, "rows", lake.dump(tables...), want)
	t.Run("verbs", func(t *testing.T) { testVerbs(t, lake, file) })
	t.Run("queries", func(t *testing.T) { testQueries(t, lake, file) })
	t.Run("pull", func(t *testing.T) {
		far := s.machine("")
		far.ok("pull", "kernels", "nccl", "llama", "torch")
		far.ok("baseline", "set", "main", "kernels")
		same(t, "rows that were pulled", far.dump(tables...), want)
	})
	t.Run("changes", func(t *testing.T) { testChanges(t, lake, file, tables) })
	t.Run("serve", func(t *testing.T) { testServe(t, lake) })
	t.Run("maintain", func(t *testing.T) { testMaintain(t, lake, tables) })
}

func testVerbs(t *testing.T, lake, file machine) {
	for _, args := range verbs {
		a, b := lake.run(args...), file.run(args...)
		a.out = strings.ReplaceAll(a.out, lake.dir, file.dir)
		what := "prof " + strings.Join(args, " ")
		if a.code != b.code {
			t.Errorf("%s: exit %d on the lake, %d on the file\n%s", what, a.code, b.code, a.err)
		}
		same(t, what, a.out, b.out)
	}
	same(t, "files", lake.wrote(), file.wrote())
}

// changes are commands that change what is stored.
var changes = [][]string{
	{"tag", "llama", "branch=topic", "a=b"},
	{"baseline", "set", "nightly", "nccl"},
	{"ingest", "--run", "kernels", "--add", capture("ncu/kernels-range.ncu-rep.gz")},
	{"ingest", "--run", "nccl", "--replace", capture("nsys/nccl2/nccl2.sqlite.gz")},
	{"ingest", "--run", "again", capture("nsys/nccl2/nccl2.sqlite.gz")},                      // already there: no run
	{"ingest", "--run", "kernels", capture("nsys/variants-node/variants-node.sqlite.gz")},    // the name is taken
	{"ingest", "--run", "kernels", "--model", capture("model/deepseek-ocr.config.json")},     // facts for a stored run
	{"ingest", "--run", "variants", capture("nsys/variants-graph/variants-graph.sqlite.gz")}, // new
	{"ingest", "--run", "none", capture("model/decoder.py")},                                 // refused
	{"rm", "kernels", "--source", "2"},
	{"rm", "nccl"}, // a baseline: refused
	{"rm", "torch"},
	{"baseline", "rm", "nightly"},
}

func testChanges(t *testing.T, lake, file machine, tables []string) {
	for _, args := range changes {
		what := "prof " + strings.Join(args, " ")
		a, b := lake.run(args...), file.run(args...)
		if a.code != b.code || a.out != b.out {
			t.Errorf("%s: exit %d on the lake, %d on the file\n%s%s\n%s%s", what, a.code, b.code, a.out, a.err, b.out, b.err)
		}
	}
	// Ids of runs that were made by each differ, and so do the ids in their rows.
	of := `SELECT name, key, value FROM run_tag JOIN run USING (run_id) ORDER BY ALL`
	same(t, "tags", lake.ok("sql", of), file.ok("sql", of))
	same(t, "rows after changes", lake.counts(tables), file.counts(tables))
	for _, args := range [][]string{{"baseline", "list"}, {"runs"}, {"show", "variants", "--format", "json"}} {
		hide := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|20\d\d-\d\d-\d\d[T ][0-9:.]+Z?`)
		same(t, "prof "+strings.Join(args, " "), hide.ReplaceAllString(lake.ok(args...), "-"), hide.ReplaceAllString(file.ok(args...), "-"))
	}
}

// testServe holds that a server answers from the lake, and takes over what others commit.
func testServe(t *testing.T, lake machine) {
	lake.t = t
	at := lake.serve(t)
	get := func(path string) string {
		r, err := http.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(r.StatusCode, " ", string(text))
	}
	if got, want := get("/api/v1/runs/llama/queries/stages?format=csv"), "200 "+lake.ok("query", "stages", "--run", "llama", "--format", "csv"); got != want {
		t.Errorf("the server answers\n%.400s\nnot\n%.400s", got, want)
	}
	lake.ok("tag", "llama", "served=yes")
	for end := time.Now().Add(time.Minute); !strings.Contains(get("/api/v1/runs?tag=served=yes"), `"llama"`); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the server does not see a tag")
		}
	}
	r, err := http.Post(at+"/api/v1/sql", "application/json", strings.NewReader(`{"sql": "SELECT 1"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("SQL of others: %s", r.Status)
	}
}

func testMaintain(t *testing.T, lake machine, tables []string) {
	before := lake.dump(tables...)
	if out := lake.ok("lake", "maintain", "--dry-run", "--keep", "1h"); !strings.Contains(out, "flush") {
		t.Errorf("--dry-run says\n%s", out)
	}
	out := lake.ok("lake", "maintain", "--keep", "1h")
	same(t, "rows after maintain", lake.dump(tables...), before)
	status := lake.ok("lake", "status", "--format", "csv")
	for line := range strings.SplitSeq(strings.TrimSpace(status), "\n") {
		if f := strings.Split(line, ","); len(f) == 5 && f[0] != "table" && (f[3] != "0" || f[4] != "0") {
			t.Errorf("after maintain, which said\n%s the table has files of deletes or rows in the catalog: %s", out, line)
		}
	}
}
