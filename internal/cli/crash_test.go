package cli

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/internal/exports"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// large returns a capture that is stored in two transactions, as large ones are; most of its bytes are of a table that prof does not read.
func large(t *testing.T) string {
	t.Helper()
	tables, err := exports.ReadFile(exported(t, node))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "large.sqlite")
	if err := exports.Repeat(path, append(tables, exports.Filler(65<<20)), 1); err != nil {
		t.Fatal(err)
	}
	return path
}

// clearUnfinished opens the warehouse for writing, which deletes what a killed ingest left.
func (p *place) clearUnfinished() {
	p.t.Helper()
	p.settle()
	w, err := schema.Open(p.t.Context(), schema.Home{Dir: p.path(".prof")}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// answers is what the core queries say of a run.
func answers(p *place, run string) string {
	p.t.Helper()
	var out strings.Builder
	for _, q := range []string{"top-kernels", "ranges", "stages", "stage-kernels", "api-calls", "memops", "conservation"} {
		out.WriteString(rounded(p.ok("query", q, "--run", run, "-f", "csv")))
	}
	return out.String()
}

// Killed at any moment, an ingest has happened wholly or not at all. It is killed as soon as it is its turn to write, and when it may have stored all.
func TestKilledIngest(t *testing.T) {
	big := large(t)
	args := []string{"ingest", "--run", "big", "--tag", "k=v", big}
	alone := newStored(t, []testkit.Run{filled[0], {Name: "big", Key: "large", Sources: []string{"internal/cli/crash_test.go", "internal/exports", "testdata/nsys/variants-node"}, Options: ingest.Options{Tags: [][2]string{{"k", "v"}}},
		Make: func(string) ([]string, error) { return []string{big}, nil }}})
	complete, want := counts(alone), answers(alone, "big")
	p := newFilled(t)
	before, wasA := counts(p), answers(p, "a")
	if before == complete {
		t.Fatal("the ingest stored nothing")
	}
	killed, committed := 0, 0
	delays := []time.Duration{20 * time.Millisecond, 600 * time.Millisecond} // of about a second
	for _, delay := range delays {
		cmd := p.startWriting(args...)
		time.Sleep(delay)
		cmd.Process.Signal(syscall.SIGKILL) // fails when it is done already
		err := cmd.Wait()
		switch cmd.ProcessState.ExitCode() {
		case 0:
		case -1:
			killed++
		default:
			t.Fatalf("killed after %v: %v", delay, err)
		}
		p.clearUnfinished()
		switch got := counts(p); {
		case got == complete:
			committed++
			if got := answers(p, "big"); got != want {
				t.Fatalf("killed after %v, the run differs from that of an ingest left alone", delay)
			}
			p.ok("rm", "big")
			if got := counts(p); got != before {
				t.Fatalf("killed after %v and removed:\n%s\nwant\n%s", delay, got, before)
			}
		case got != before || err == nil:
			t.Fatalf("killed after %v (%v):\n%s\nbefore:\n%s\ncomplete:\n%s", delay, err, got, before, complete)
		}
		if got := p.ok("query", "top-kernels", "--run", "a", "-f", "csv"); !strings.HasPrefix(got, "rank,kernel,") || strings.Count(got, "\n") < 3 {
			t.Fatalf("killed after %v: top-kernels gives %q", delay, got)
		}
	}
	t.Logf("of %d ingests %d were killed in time, %d had committed", len(delays), killed, committed)
	if killed == 0 {
		t.Errorf("none of %d ingests was killed in time", len(delays))
	}
	p.ok(args...)
	if got := counts(p); got != complete {
		t.Errorf("after all the kills:\n%s\nwant\n%s", got, complete)
	}
	if answers(p, "big") != want || answers(p, "a") != wasA {
		t.Error("after all the kills the runs differ from those of an ingest left alone")
	}
	if got := listing(t, p.path(".prof")); !slices.Equal(got, []string{".gitignore", "warehouse.duckdb", "warehouse.duckdb.lock"}) {
		t.Errorf("the home holds %q", got)
	}
}

// The same for the first ingest of all, which makes the warehouse.
func TestKilledFirstIngest(t *testing.T) {
	args := []string{"ingest", "--run", "a", exported(t, kernels)}
	q := newPlace(t)
	for _, made := range []string{".prof", ".prof/warehouse.duckdb.tmp"} { // it has begun, and it is at work, in the place of one that was killed
		cmd := q.command(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		within(t, patience, made+" is made", func() bool { return exists(q.path(made)) })
		cmd.Process.Signal(syscall.SIGKILL)
		cmd.Wait()
		r := q.run("runs", "--format", "csv")
		head, rows, _ := strings.Cut(r.out, "\n")
		switch {
		case r.code == 1 && strings.HasPrefix(r.err, "prof: no warehouse yet in "):
		case r.code != 0 || !strings.HasPrefix(head, "run,created_at,") || strings.Count(rows, "\n") > 1:
			t.Fatalf("killed once there is %s: %+v", made, r)
		}
	}
	if again := q.run(args...); again.code != 0 && !strings.Contains(again.err, "the run name is taken") && !strings.Contains(again.err, "already") {
		t.Fatalf("after the kills: %+v", again)
	}
	if got, complete := counts(q), counts(newFilled(t)); got != complete {
		t.Fatalf("ingested after the kills:\n%s\nwant\n%s", got, complete)
	}
}

// startWriting starts a command and returns once it is its turn to write.
func (p *place) startWriting(args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := p.command(args...)
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	within(p.t, patience, "its turn to write", func() bool {
		holder, err := os.ReadFile(p.path(".prof/warehouse.duckdb.lock"))
		return err == nil && strings.HasPrefix(string(holder), fmt.Sprintf("%d\n", cmd.Process.Pid))
	})
	return cmd
}

// TestKilledDerive: killed at any moment while it derives the facts of two runs anew, a command leaves the facts of each as they were.
func TestKilledDerive(t *testing.T) {
	p := newStored(t, two)
	var parts []string
	for _, table := range tables(p) {
		if table != "derivation" && table != "schema_version" {
			parts = append(parts, fmt.Sprintf("SELECT '%[1]s ' || count(*) || ' ' || coalesce(bit_xor(hash(x)), 0) AS said FROM %[1]s x", table))
		}
	}
	// look gives what the tables hold and how many runs' facts are stale, and makes those of all runs so. It asks as any client, which
	// derives nothing.
	look := func(age bool) (state string, stale int) {
		t.Helper()
		p.settle()
		db, err := sql.Open("duckdb", p.path(".prof/warehouse.duckdb"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.QueryRow("SELECT string_agg(said, chr(10) ORDER BY said), (SELECT count(*) FROM derivation WHERE checksum = '') FROM ("+strings.Join(parts, " UNION ALL ")+")").Scan(&state, &stale); err != nil {
			t.Fatal(err)
		}
		if age {
			if _, err := db.Exec("UPDATE derivation SET checksum = ''"); err != nil {
				t.Fatal(err)
			}
		}
		return state, stale
	}
	before, _ := look(true)
	killed, one := 0, 0
	delays := []time.Duration{20 * time.Millisecond, 400 * time.Millisecond} // of about a second; in the first it cannot be done
	for _, delay := range delays {
		cmd := p.startWriting("runs")
		time.Sleep(delay)
		cmd.Process.Signal(syscall.SIGKILL) // fails when it is done already
		if cmd.Wait() != nil {
			killed++
		}
		got, stale := look(true)
		if got != before {
			t.Fatalf("killed after %v:\n%s\nbefore:\n%s", delay, got, before)
		}
		if stale == 1 {
			one++
		}
	}
	t.Logf("%d of %d commands were killed in time, %d between the two runs", killed, len(delays), one)
	if killed == 0 {
		t.Errorf("none of %d commands was killed in time", len(delays))
	}
	p.ok("runs")
	if got, stale := look(false); stale != 0 || got != before {
		t.Error("after all the kills the facts are not those of before")
	}
}
