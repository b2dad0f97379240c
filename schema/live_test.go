package schema_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"prof/internal/testkit"
	"prof/schema"
)

// until waits for what another goroutine does.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not seen: " + what)
		}
	}
}

// TestLive reads while others write: a commit is seen, an edition stays as it was while it is used, and a warehouse that cannot be read any more
// leaves the last one that could.
func TestLive(t *testing.T) {
	home := fresh(t)
	said := make(chan string, 9)
	l, err := schema.OpenLive(t.Context(), home, schema.Options{Defs: few{}, Facts: none{}, Sandbox: true, MemoryLimit: "1GB", Talk: func(m string) { said <- m }})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tags := func(w *schema.Warehouse) string {
		t.Helper()
		return strings.Join(testkit.Rows(t, w, `SELECT value FROM run_tag ORDER BY 1`), " ")
	}
	first, doneFirst := l.Use()
	w := open(t, home, true, nil)
	testkit.Exec(t, w, `INSERT INTO run_tag (run_id, key, value) VALUES ('00000000-0000-0000-0000-000000000001', 'a', 'one')`)
	done(t, w)
	until(t, "the commit", func() bool {
		e, done := l.Use()
		defer done()
		return e.ID != first.ID && tags(e.Warehouse) == "one"
	})
	if got := tags(first.Warehouse); got != "" {
		t.Errorf("the edition in use has changed: %s", got)
	}
	doneFirst()
	if _, err := first.DB.Exec("FROM run"); err == nil {
		t.Error("an old edition is open though nobody uses it")
	}
	w = open(t, home, true, nil)
	testkit.Exec(t, w, `UPDATE run_tag SET value = 'two'`)
	done(t, w)
	if err := l.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, doneSecond := l.Use()
	if got := tags(second.Warehouse); got != "two" {
		t.Errorf("after a look it still says %q", got)
	}
	doneSecond()
	if err := os.Truncate(home.Warehouse(), 0); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := l.Look(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a look at what cannot be read: %v", err)
	}
	if m := <-said; !strings.Contains(m, "the last commit cannot be read") || l.Problem() == "" {
		t.Errorf("of a file without content it says %q, problem %q", m, l.Problem())
	}
	now, doneNow := l.Use()
	defer doneNow()
	if got := tags(now.Warehouse); got != "two" {
		t.Errorf("after the file was lost: %q", got)
	}
	if len(said) > 0 {
		t.Errorf("says it again: %q", <-said)
	}
}

// TestSandbox tries what SQL must not reach, and that a query may still spill.
func TestSandbox(t *testing.T) {
	l, err := schema.OpenLive(t.Context(), fresh(t), schema.Options{Defs: few{}, Facts: none{}, Sandbox: true, MemoryLimit: "32MB"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w, done := l.Use()
	defer done()
	for _, stmt := range []string{
		"SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM read_text('/etc/passwd')", "FROM '/etc/passwd'", "SELECT * FROM glob('/*')",
		"FROM read_parquet('http://127.0.0.1/x.parquet')", "ATTACH '/tmp/x.duckdb'", "COPY (SELECT 1) TO '/tmp/x.csv'", "INSTALL httpfs", "LOAD httpfs",
		"SET enable_external_access = true", "SET memory_limit = '900GB'", "SET threads = 64", "EXPORT DATABASE '/tmp/x'", "CREATE TABLE t AS SELECT 1",
	} {
		if _, err := w.DB.Exec(stmt); err == nil {
			t.Errorf("allowed: %s", stmt)
		}
	}
	var n int64
	if err := w.DB.QueryRow(`SELECT count(*) FROM (SELECT md5(i::VARCHAR) AS h FROM range(800000) r(i) ORDER BY h)`).Scan(&n); err != nil || n != 8e5 {
		t.Errorf("sorting more than the memory: %d, %v", n, err)
	}
}

// TestLiveWithoutWarehouse says what is missing.
func TestLiveWithoutWarehouse(t *testing.T) {
	if _, err := schema.OpenLive(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Defs: few{}, Facts: none{}}); !errors.Is(err, schema.ErrNoWarehouse) {
		t.Errorf("no warehouse: %v", err)
	}
}

// TestLiveOfWhatCannotBeRead leaves a commit that it cannot read alone for a while: each try copies the file.
func TestLiveOfWhatCannotBeRead(t *testing.T) {
	home := fresh(t)
	l, err := schema.OpenLive(t.Context(), home, schema.Options{Defs: few{}, Facts: none{}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	good, err := os.ReadFile(home.Warehouse())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.Warehouse(), bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the problem", func() bool { return l.Problem() != "" })
	tries := map[time.Time]bool{} // each makes a folder in the home
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		st, err := os.Stat(home.Dir)
		if err != nil {
			t.Fatal(err)
		}
		tries[st.ModTime()] = true
	}
	if len(tries) > 16 { // a try makes a folder with a file and removes it
		t.Errorf("the home has changed %d times in 1.5 s", len(tries))
	}
	if err := os.WriteFile(home.Warehouse(), good, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the warehouse that can be read again", func() bool { return l.Problem() == "" })
}

// TestLiveReplaced sees that another warehouse has taken the place of its own, though both have as many commits and blocks: their headers are the same.
func TestLiveReplaced(t *testing.T) {
	home, other := fresh(t), fresh(t)
	for h, key := range map[schema.Home]string{home: "one", other: "two"} {
		w := open(t, h, true, nil)
		testkit.Exec(t, w, `INSERT INTO run_tag (run_id, key, value) VALUES ('00000000-0000-0000-0000-000000000001', 'a', '`+key+`')`)
		done(t, w)
	}
	l, err := schema.OpenLive(t.Context(), home, schema.Options{Defs: few{}, Facts: none{}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	first, doneFirst := l.Use()
	doneFirst()
	if err := os.Rename(other.Warehouse(), home.Warehouse()); err != nil {
		t.Fatal(err)
	}
	until(t, "the other warehouse", func() bool {
		e, done := l.Use()
		defer done()
		return strings.Join(testkit.Rows(t, e.Warehouse, `SELECT value FROM run_tag`), " ") == "two" && e.ID != first.ID
	})
}
