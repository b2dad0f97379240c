package schema

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/internal/sample"
)

// writer opens a file for writing as openTurn does, without any schema.
func writer(t *testing.T, home Home) *Warehouse {
	t.Helper()
	release, err := home.takeTurn(t.Context(), Options{}, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if err := home.undoCommit(); err != nil {
		t.Fatal(err)
	}
	u, err := newUndo(home)
	if err != nil {
		t.Fatal(err)
	}
	db, err := connect(t.Context(), home.Warehouse(), "READ_WRITE", home.Temp(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &Warehouse{DB: db, Home: home, Writable: true, undo: u, release: release}
}

// manyTables makes a file of many small tables: most of a commit writes metadata.
func manyTables(t *testing.T, home Home) {
	t.Helper()
	w := writer(t, home)
	var all strings.Builder
	for i := range 100 {
		fmt.Fprintf(&all, "CREATE TABLE t%d AS SELECT 0 AS state;", i)
	}
	if err := w.exec(t.Context(), all.String()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func setState(w *Warehouse, t *testing.T, state int) error {
	return w.exec(t.Context(), fmt.Sprintf(`BEGIN; UPDATE t0 SET state = %[1]d; UPDATE t%[2]d SET state = %[1]d; UPDATE t99 SET state = %[1]d; COMMIT`, state, 1+state%98))
}

// stateOfMany is the state of such a file; the table of each commit has that of its last one.
func stateOfMany(t *testing.T, w *Warehouse) int {
	t.Helper()
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("SELECT %d AS i, state FROM t%d", i, i))
	}
	rows, err := w.DB.Query(strings.Join(all, " UNION ALL ") + " ORDER BY i")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	states := make([]int, 100)
	for rows.Next() {
		var i, s int
		if err := rows.Scan(&i, &s); err != nil {
			t.Fatal(err)
		}
		states[i] = s
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	last := states[0]
	for s := max(1, last-97); s <= last; s++ {
		if states[1+s%98] != s {
			t.Fatalf("the table of commit %d of %d has state %d", s, last, states[1+s%98])
		}
	}
	if states[99] != last {
		t.Fatalf("half a commit: %d and %d", last, states[99])
	}
	return last
}

// TestTornMetadata makes the file that a kill leaves in the middle of a commit: all is written but the header, and each block of metadata by
// half. DuckDB refuses it; a writer, a reader and a copy find what was committed before.
func TestTornMetadata(t *testing.T) {
	home := Home{Dir: t.TempDir()}
	manyTables(t, home)
	w := writer(t, home)
	for state := range 5 {
		if err := setState(w, t, state+1); err != nil {
			t.Fatal(err)
		}
	}
	var old, undo []byte
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	err := w.Commit(t.Context(), func() error {
		old, undo = read(home.Warehouse()), read(home.undoFile())
		_, err := w.DB.Exec(`UPDATE t0 SET state = 6; UPDATE t1 SET state = 6`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	torn := read(home.Warehouse())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	copy(torn, old[:headersSize])
	const block = 64 << 10
	halves := 0
	for at := headersSize; at+block <= len(old); at += block {
		if bytes.Contains(undo, old[at:at+block]) && !bytes.Equal(old[at:at+block], torn[at:at+block]) {
			copy(torn[at+block/2:at+block], old[at+block/2:at+block])
			halves++
		}
	}
	put := func(undo []byte) {
		for path, text := range map[string][]byte{home.Warehouse(): torn, home.undoFile(): undo} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(nil)
	if db, err := connect(t.Context(), home.Warehouse(), "READ_ONLY", "", Options{}); err == nil {
		db.Close()
		t.Fatalf("DuckDB opens a file with %d blocks torn", halves)
	}
	for name, open := range map[string]func() (*Warehouse, error){
		"a writer": func() (*Warehouse, error) { return writer(t, home), nil },
		"a reader": func() (*Warehouse, error) { return openRead(t.Context(), home, Options{}) },
		"a copy": func() (*Warehouse, error) {
			db, err := home.connectCopy(t.Context(), Options{}, "")
			return &Warehouse{DB: db}, err
		},
	} {
		put(undo)
		w, err := open()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var of0, of1 int
		if err := w.DB.QueryRow(`SELECT t0.state, t1.state FROM t0, t1`).Scan(&of0, &of1); err != nil || of0 != 5 || of1 != 0 {
			t.Errorf("%s: states %d and %d: %v", name, of0, of1, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	put(undo[:len(undo)-1]) // not finished: the commit had not begun
	if k, err := home.keptBlocks(); k != nil || err != nil {
		t.Errorf("half an undo file: %v, %v", k, err)
	}
}

// TestKilledCommit kills a process that commits, again and again: the file opens, for writing and for reading, with all that was committed.
// In memory, where a kill tears writes on every kernel; on disk some write 64 KiB whole.
func TestKilledCommit(t *testing.T) {
	if dir := os.Getenv("PROF_TEST_COMMITS"); dir != "" {
		w := writer(t, Home{Dir: dir})
		for state := stateOfMany(t, w) + 1; ; state++ {
			if err := setState(w, t, state); err != nil {
				t.Fatal(err)
			}
			fmt.Println(state)
		}
	}
	dir, err := os.MkdirTemp("/dev/shm", "prof-test-")
	if err != nil {
		dir = t.TempDir()
	}
	defer os.RemoveAll(dir)
	home := Home{Dir: dir}
	manyTables(t, home)
	torn := 0
	for i := range sample.Of(make([]int, 15), 3) {
		c := exec.Command(os.Args[0], "-test.run=^TestKilledCommit$")
		c.Env = append(os.Environ(), "PROF_TEST_COMMITS="+dir)
		said, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 1)
		if _, err := said.Read(first); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
			c.Process.Kill()
		}()
		rest, _ := io.ReadAll(said)
		c.Wait()
		lines := strings.Fields(string(first) + string(rest))
		committed := 0
		fmt.Sscan(lines[len(lines)-1], &committed)
		if db, err := connect(t.Context(), home.Warehouse(), "READ_ONLY", "", Options{}); err != nil {
			torn++
		} else if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		var w *Warehouse
		if i%2 == 0 {
			w = writer(t, home)
		} else if w, err = openRead(t.Context(), home, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := stateOfMany(t, w); got != committed && got != committed+1 {
			t.Fatalf("kill %d: state %d, and %d was committed", i, got, committed)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(home.undoFile()); !os.IsNotExist(err) {
			t.Fatalf("%s is left: %v", home.undoFile(), err)
		}
	}
	t.Logf("%d kills left a file that DuckDB refuses", torn)
}

// TestCopyWhileMetadataIsWritten copies a file while commits write over its metadata in place.
func TestCopyWhileMetadataIsWritten(t *testing.T) {
	home := Home{Dir: t.TempDir()}
	manyTables(t, home)
	c := exec.Command(os.Args[0], "-test.run=^TestKilledCommit$")
	c.Env = append(os.Environ(), "PROF_TEST_COMMITS="+home.Dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	for !home.isWriting() {
		time.Sleep(time.Millisecond)
	}
	seen := map[int]bool{}
	for i, end := 0, time.Now().Add(time.Minute); len(seen) < 20 && time.Now().Before(end); i++ {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := home.copyCommitted(t.Context(), path); err != nil {
			continue // it changed each time
		}
		db, err := connect(t.Context(), path, "READ_ONLY", "", Options{})
		if err != nil {
			t.Fatal(err)
		}
		seen[stateOfMany(t, &Warehouse{DB: db})] = true
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d states seen", len(seen))
	}
}
