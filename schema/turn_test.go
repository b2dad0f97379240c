package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestTurnOfForked gives the turn back while the file is open elsewhere still, as it is in a process that was forked and has not yet become another
// program.
func TestTurnOfForked(t *testing.T) {
	home := Home{Dir: t.TempDir()}
	release, err := home.takeTurn(t.Context(), Options{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var file syscall.Stat_t
	if err := syscall.Stat(home.turnFile(), &file); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for fd := range 256 {
		var open syscall.Stat_t
		if syscall.Fstat(fd, &open) != nil || open.Ino != file.Ino || open.Dev != file.Dev {
			continue
		}
		if kept, err = syscall.Dup(fd); err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(kept)
		break
	}
	if kept == 0 {
		t.Fatal("the file of turns is not open")
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := home.takeTurn(t.Context(), Options{}, time.Now())
	if err != nil {
		t.Fatalf("the turn was given back: %v", err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}

// TestTurns has writers ask one after the other while one has the turn: they get it in that order, and one that gave up is skipped.
func TestTurns(t *testing.T) {
	home := Home{Dir: t.TempDir()}
	var said []string
	o := Options{Talk: func(m string) { said = append(said, m) }}
	deadline := time.Now().Add(time.Minute)
	release, err := home.takeTurn(t.Context(), o, deadline)
	if err != nil || said != nil || !home.isWriting() {
		t.Fatalf("the first: %v, said %q, writing %v", err, said, home.isWriting())
	}
	asked, got := make(chan int, 9), make(chan int, 9)
	const writers = 8
	waiting := 0
	for i := range writers {
		go func() {
			// The kernel keeps who waits in order.
			release, err := home.takeTurn(t.Context(), Options{Talk: func(string) { asked <- i }}, deadline)
			if err != nil {
				t.Error(err)
				return
			}
			got <- i
			if err := release(); err != nil {
				t.Error(err)
			}
		}()
		<-asked
		waiting++
		awaitLine(t, home.turnFile(), waiting)
		if i == 3 {
			ctx, cancel := context.WithCancel(t.Context())
			if _, err := home.takeTurn(ctx, Options{Talk: func(string) { cancel() }}, deadline); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
			var locked *LockedError
			if _, err := home.takeTurn(t.Context(), Options{}, time.Now()); !errors.As(err, &locked) || locked.PID != fmt.Sprint(os.Getpid()) {
				t.Errorf("too late: %v", err)
			}
			waiting += 2 // who gave up stays in the kernel's list
			awaitLine(t, home.turnFile(), waiting)
		}
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	var order []int
	for range writers {
		order = append(order, <-got)
	}
	if !slices.IsSorted(order) {
		t.Errorf("the turns were %v", order)
	}
}

// awaitLine waits until the kernel has as many in its list of who waits for a lock: a writer is in it some time after it said that it waits.
func awaitLine(t *testing.T, path string, waiting int) {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	inode := fmt.Sprintf(":%d ", st.Sys().(*syscall.Stat_t).Ino)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		locks, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Skipf("only Linux says who waits for a lock: %v", err)
		}
		n := 0
		for line := range strings.Lines(string(locks)) {
			if strings.Contains(line, "-> FLOCK") && strings.Contains(line, inode) {
				n++
			}
		}
		if n == waiting {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d wait, not %d:\n%s", n, waiting, locks)
		}
	}
}

// TestReadersTakeNoTurn has readers look whether somebody writes, all the time: a writer takes none of them for another one.
func TestReadersTakeNoTurn(t *testing.T) {
	home := Home{Dir: t.TempDir()}
	stop := make(chan bool)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					home.isWriting()
				}
			}
		})
	}
	for range 100 {
		release, err := home.takeTurn(t.Context(), Options{Talk: func(m string) { t.Error(m) }}, time.Now())
		if err != nil {
			t.Error(err)
			break
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	readers.Wait()
}

// TestCopyCommitted copies a warehouse while a writer rewrites its rows: each copy holds one committed state, never parts of two.
func TestCopyCommitted(t *testing.T) {
	home := Home{Dir: t.TempDir()}
	dir := home.Dir
	manyTables(t, home)
	w := writer(t, home)
	defer w.Close()
	for _, text := range []string{`CREATE TABLE x AS SELECT i AS k, 0 AS state FROM range(200000) r(i)`, `CREATE TABLE s AS SELECT 0 AS state`} {
		if err := w.exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	stop, stopped := make(chan bool), make(chan error, 1)
	commits := 0
	go func() {
		for state := 1; ; state++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := w.exec(t.Context(), fmt.Sprintf(`BEGIN; DELETE FROM x; INSERT INTO x SELECT i, %[1]d FROM range(100000 + 1000 * (%[1]d %% 100)) r(i); UPDATE s SET state = %[1]d; COMMIT`, state)); err != nil {
				stopped <- err
				return
			}
			commits++
		}
	}()
	seen := map[int]bool{}
	tooBusy := 0
	for i, end := 0, time.Now().Add(time.Minute); len(seen) < 10 && time.Now().Before(end); i++ {
		path := filepath.Join(dir, fmt.Sprintf("copy-%d", i))
		if err := home.copyCommitted(t.Context(), path); err != nil {
			if !errors.Is(err, errNoCopy) {
				t.Fatal(err)
			}
			tooBusy++
			continue
		}
		seen[stateOf(t, path)] = true
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if len(seen) < 10 {
		t.Errorf("only %d states were seen of %d commits; %d times there was no quiet moment", len(seen), commits, tooBusy)
	}
}

// stateOf is the state that a copy holds; all of its rows must have it.
func stateOf(t *testing.T, path string) (state int) {
	t.Helper()
	db, err := connect(t.Context(), path, "READ_ONLY", path+".spill", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows, least, most int
	row := db.QueryRow(`SELECT (SELECT state FROM s), count(*), min(state), max(state) FROM x`)
	if err := row.Scan(&state, &rows, &least, &most); err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	want := 200000
	if state > 0 {
		want = 100000 + 1000*(state%100)
	}
	if rows != want || least != state || most != state {
		t.Errorf("a copy of state %d has %d rows, %d wanted, of states %d to %d", state, rows, want, least, most)
	}
	return state
}
