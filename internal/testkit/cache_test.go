package testkit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/workload"
	"prof/schema"
)

// storeEnv makes the test binary store a run, and print where; of the value "hang" it waits, while it stores, for its end.
const storeEnv = "PROF_TEST_STORE"

func TestMain(m *testing.M) {
	mode := os.Getenv(storeEnv)
	if mode == "" {
		os.Exit(m.Run())
	}
	run := Run{Name: "a", Files: []string{"foreign/minimal.sqlite.gz"}, Facts: []string{}} // to derive facts takes longest
	isStoring := false
	run.Options.Load.Progress = func(string, int64, int64) {
		if !isStoring {
			isStoring = true
			fmt.Println("storing")
		}
		if mode == "hang" {
			select {}
		}
	}
	name, err := nameOf([]Run{run})
	if err == nil {
		name, err = makeStored(name, []Run{run})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(name)
}

// process is this binary as one that stores, with a cache folder of its own but for empty warehouses, which are the user's.
func process(t *testing.T, mode, cache string) *exec.Cmd {
	t.Helper()
	user, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	// Where no folder can be made, this cannot either.
	if os.MkdirAll(cache, 0o700) == nil {
		_ = os.Symlink(filepath.Join(user, "prof"), filepath.Join(cache, "prof"))
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), storeEnv+"="+mode, "XDG_CACHE_HOME="+cache, "TMPDIR="+t.TempDir())
	return c
}

// TestNoCache: without a cache folder a temporary one serves, and one note says so.
func TestNoCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(t.TempDir(), "locked")
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	cannot := []string{filepath.Join(file, "cache")}
	if os.Getuid() != 0 { // whom no folder is locked for
		cannot = append(cannot, locked)
	}
	for _, cache := range cannot {
		c := process(t, "store", cache)
		var said strings.Builder
		c.Stderr = &said
		out, err := c.Output()
		temp := c.Env[len(c.Env)-1][len("TMPDIR="):]
		if err != nil || !strings.HasPrefix(string(out), "storing\n"+temp) || strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), "are kept in "+temp) {
			t.Errorf("%s: %v, %q, %q", cache, err, out, said.String())
		}
	}
}

// TestTwoProcesses: of two processes that want the same, one stores it.
func TestTwoProcesses(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "is", "not", "there")
	var all [2]*exec.Cmd
	var out [2]strings.Builder
	for i := range all {
		all[i] = process(t, "store", cache)
		all[i].Stdout = &out[i]
		if err := all[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range all {
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %s", err, out[i].String())
		}
	}
	a, b := out[0].String(), out[1].String()
	if strings.Count(a+b, "storing\n") != 1 || strings.TrimPrefix(a, "storing\n") != strings.TrimPrefix(b, "storing\n") || !strings.Contains(a, cache) {
		t.Errorf("they print %q and %q", a, b)
	}
}

// TestPrune: what is old goes, and of too much what nobody uses.
func TestPrune(t *testing.T) {
	now := time.Now()
	base := t.TempDir()
	for name, e := range map[string]struct {
		idle time.Duration
		size int64
	}{"new": {time.Minute, keptSize}, "used": {inUse / 2, keptSize}, "idle": {2 * inUse, 1}, "older": {3 * inUse, keptSize}, "old": {kept + time.Hour, 1}} {
		home := schema.Home{Dir: filepath.Join(base, name)}
		if err := os.Mkdir(home.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(home.Warehouse(), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Truncate(home.Warehouse(), e.size), os.Chtimes(home.Dir, now, now.Add(-e.idle))); err != nil {
			t.Fatal(err)
		}
	}
	left := func() string {
		t.Helper()
		if err := prune(base, now); err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(filepath.Join(base, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			names[i] = filepath.Base(name)
		}
		return strings.Join(names, " ")
	}
	if got := left(); got != "new used" {
		t.Errorf("of too much stays %q", got)
	}
	if err := os.WriteFile(filepath.Join(base, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := left(); got != "lock new used" {
		t.Errorf("then stays %q", got)
	}
}

// TestKilledMaker: what a process leaves that is killed while it stores is in nobody's way.
func TestKilledMaker(t *testing.T) {
	cache := t.TempDir()
	c := process(t, "hang", cache)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	home, err := process(t, "store", cache).Output()
	if err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "prof-test", "*"))
	if want := strings.TrimSpace(strings.TrimPrefix(string(home), "storing\n")); err != nil || len(left) != 2 || left[0] != want || left[1] != want+".lock" {
		t.Errorf("stored in %q, and there are %q (%v)", want, left, err)
	}
}

// TestNames: a stored warehouse is called by what decides what it holds.
func TestNames(t *testing.T) {
	capture := filepath.Join(t.TempDir(), "a.sqlite")
	below, err := filepath.Rel(Path("."), capture)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	name := func(what, bytes string, change func(r *Run)) string {
		t.Helper()
		if err := os.WriteFile(capture, []byte(bytes), 0o600); err != nil {
			t.Fatal(err)
		}
		r := Run{Name: "a", Files: []string{below}}
		change(&r)
		name, err := nameOf([]Run{r})
		if err != nil {
			t.Fatal(err)
		}
		if was := seen[name]; was != "" {
			t.Errorf("%s and %s have one name", what, was)
		}
		seen[name] = what
		return name
	}
	prefill := func(n int64) func(r *Run) {
		return func(r *Run) { r.Options.Pass = workload.Uniform(workload.Pass{Prefill: &n}, nil) }
	}
	first := name("a capture", "one", func(*Run) {})
	name("other bytes", "two", func(*Run) {})
	name("another run", "one", func(r *Run) { r.Name = "b" })
	name("a tag", "one", func(r *Run) { r.Options = ingest.Options{Tags: [][2]string{{"k", "v"}}} })
	passes := name("facts", "one", prefill(7))
	name("other facts", "one", prefill(8))
	name("nothing derived", "one", func(r *Run) { r.Facts = []string{} })
	name("something derived", "one", func(r *Run) { r.Facts = []string{"gap"} })
	clear(seen)
	if again := name("again", "one", func(r *Run) { r.Options.Warn = func(string) {} }); again != first {
		t.Error("a closure makes another name")
	}
	if again := name("facts again", "one", prefill(7)); again != passes {
		t.Error("the same facts make another name")
	}
}

// TestSourceSum: what a program stores whose sources changed since it was built is under a name of its own.
func TestSourceSum(t *testing.T) {
	root, built := t.TempDir(), time.Now()
	write := func(name string, at time.Time) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	sum := func(built time.Time) string {
		t.Helper()
		out, err := sourceSum(root, built)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, name := range []string{"ingest/a.go", "schema/sql/a.sql", "queries/a.go", "internal/mask/a.go", "internal/testkit/a.go", "capture/tracer/a.go", "go.mod"} {
		write(name, built.Add(-time.Hour))
	}
	before, later := sum(built), built.Add(time.Minute)
	write("ingest/a_test.go", later.Add(time.Hour))
	write("queries/page/a.go", later.Add(time.Hour))
	if sum(built) != before || sum(later) != before {
		t.Error("programs of the same sources have several names")
	}
	write("schema/sql/a.sql", built.Add(time.Second))
	if sum(built) == before || sum(later) != before {
		t.Error("a program has the name of sources that changed since it was built")
	}
}
