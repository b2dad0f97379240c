//go:build lake

package laketest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"prof/schema"
)

// runsEnv says how many runs TestWriters pushes, of 16 writers together; without it 8 push one each.
const runsEnv = "LAKE_RUNS"

// sums writes sums of nsys stats that no other run has, and gives the file.
func (m machine) sums(name string, seed int) string {
	m.t.Helper()
	text, err := os.ReadFile(capture("nsys/kernels/stats/kernels_cuda_gpu_kern_sum.csv"))
	if err != nil {
		m.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	row := strings.SplitN(lines[1], ",", 3)
	total, err := strconv.Atoi(row[1])
	if err != nil {
		m.t.Fatal(err)
	}
	lines[1] = fmt.Sprintf("%s,%d,%s", row[0], total+seed, row[2])
	path := filepath.Join(m.dir, name+"_cuda_gpu_kern_sum.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		m.t.Fatal(err)
	}
	return path
}

// TestWriters lets machines push at once, two of them a run of the same name, while others read.
func TestWriters(t *testing.T) {
	s := newSite(t)
	writers, each := 8, 1
	if n, err := strconv.Atoi(os.Getenv(runsEnv)); err == nil {
		writers = 16
		each = max(1, n/writers)
	}
	machines := make([]machine, writers)
	for i := range machines {
		m := s.machine("")
		for j := range each {
			name := fmt.Sprintf("run-%d-%d", i, j)
			m.ok("ingest", "--run", name, m.sums(name, 1+i*each+j))
		}
		if i < 2 {
			m.ok("ingest", "--run", "same", m.sums("same", 1_000_000+i))
		}
		machines[i] = m
	}
	begun := time.Now()
	done := make(chan struct{})
	var readers, pushes sync.WaitGroup
	var reads int
	readers.Go(func() {
		reader := s.machine(s.lake)
		for before := 0; ; reads++ {
			select {
			case <-done:
				return
			default:
			}
			got := strings.Fields(reader.ok("sql", "--format", "csv", `SELECT count(*) AS n FROM run UNION ALL SELECT count(*) FROM run WHERE run_id NOT IN (SELECT run_id FROM source) OR run_id NOT IN (SELECT run_id FROM derivation) ORDER BY n DESC`))
			n, err := strconv.Atoi(got[1])
			if err != nil || n < before || len(got) != 3 || n > 0 && got[2] != "0" {
				t.Errorf("a reader sees %q after %d runs", got, before)
				return
			}
			before = n
		}
	})
	results := make([]result, writers)
	for i, m := range machines {
		pushes.Go(func() { results[i] = m.run("push", "--all") })
	}
	pushes.Wait()
	took := time.Since(begun)
	close(done)
	readers.Wait()
	var lost []string
	for i, r := range results {
		if r.code != 0 {
			lost = append(lost, strconv.Itoa(i)+": "+r.err)
		}
	}
	if len(lost) != 1 || !strings.Contains(lost[0], `the run name is taken: "same"`) {
		t.Errorf("not one of two writers of a name was refused: %q", lost)
	}
	lake := s.machine(s.lake)
	if got, want := lake.ok("sql", "--format", "csv", "SELECT count(*) AS n, count(DISTINCT name) AS names FROM run"), fmt.Sprintf("n,names\n%d,%[1]d\n", writers*each+1); got != want {
		t.Errorf("the lake has %s, not %s", got, want)
	}
	t.Logf("%d runs of %d writers in %s, %d reads meanwhile", writers*each, writers, took.Round(time.Millisecond), reads)
}

// TestKills kills pushes at any moment: the lake has all of the run or nothing, and the next push puts it there.
func TestKills(t *testing.T) {
	s := newSite(t)
	m := s.machine("")
	m.ok("ingest", "--run", "llama", capture("nsys/llama-graph-node/llama-graph-node.sqlite.gz"))
	some := []string{"run", "source", "kernel", "api_call", "kernel_name", "stage_pass", "work_sum", "derivation", "finding"}
	want, lake := m.dump(some...), s.machine(s.lake)
	begun := time.Now()
	m.ok("push", "llama")
	whole := time.Since(begun)
	same(t, "rows", lake.dump(some...), want)
	kills, inTime := 2, 0
	if n, err := strconv.Atoi(os.Getenv(runsEnv)); err == nil {
		kills = max(kills, n/16)
	}
	for i := 0; i < kills || inTime == 0 && i < 10*kills; i++ {
		lake.ok("rm", "llama")
		cmd := m.command("push", "llama")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.Float64() * float64(whole)))
		_ = cmd.Process.Kill()
		if cmd.Wait() != nil {
			inTime++
		}
		switch got := strings.Fields(lake.ok("sql", "--format", "csv", "SELECT name FROM run")); len(got) {
		case 1:
		case 2:
			same(t, "rows of a push that was killed", lake.dump(some...), want)
		default:
			t.Fatalf("the lake has %q", got)
		}
		m.ok("push", "llama")
		same(t, "rows of the push after one that was killed", lake.dump(some...), want)
	}
	if inTime == 0 {
		t.Error("no push was killed in time")
	}
	t.Logf("%d pushes, %d killed in time", kills, inTime)
}

// TestTogether changes one run from two machines at once: nothing that was said to be done is lost.
func TestTogether(t *testing.T) {
	s := newSite(t)
	a, b := s.machine(s.lake), s.machine(s.lake)
	a.ok("ingest", "--run", "grown", capture("nsys/variants-graph/variants-graph.sqlite.gz"))
	var both sync.WaitGroup
	var done [2]result
	both.Go(func() {
		done[0] = a.run("ingest", "--run", "grown", "--add", capture("nsys/variants-node/variants-node.sqlite.gz"))
	})
	both.Go(func() {
		done[1] = b.run("ingest", "--run", "grown", "--add", capture("nsys/kernels/kernels.sqlite.gz"))
	})
	both.Wait()
	want := 1
	for _, r := range done {
		switch {
		case r.code == 0:
			want++
		case !strings.Contains(r.err, "meanwhile"):
			t.Errorf("exit %d, %s", r.code, r.err)
		}
	}
	if got := a.ok("sql", "--format", "csv", "SELECT count(*) AS n FROM source"); got != fmt.Sprintf("n\n%d\n", want) {
		t.Errorf("the run has %s sources, not %d", got, want)
	}
	// The same capture under two names.
	both.Go(func() {
		done[0] = a.run("ingest", "--run", "x", capture("nsys/nccl2/nccl2.sqlite.gz"))
	})
	both.Go(func() {
		done[1] = b.run("ingest", "--run", "y", capture("nsys/nccl2/nccl2.sqlite.gz"))
	})
	both.Wait()
	if got := a.ok("sql", "--format", "csv", "SELECT count(*) AS n FROM run WHERE name IN ('x', 'y')"); got != "n\n1\n" {
		t.Errorf("the capture is in %s runs: %v", got, done)
	}
}

// TestImport imports two runs while another machine takes the name of one: none of them is there then.
func TestImport(t *testing.T) {
	s := newSite(t)
	m, other := s.machine(""), s.machine("")
	dir := filepath.Join(m.dir, "exported")
	for i, name := range []string{"a", "b"} {
		m.ok("ingest", "--run", name, m.sums(name, i))
		m.ok("export", name, "--to", "parquet", "--out", dir)
	}
	other.ok("ingest", "--run", "b", other.sums("b", 7))
	lake := s.machine(s.lake)
	w := lake.openAs(schema.Options{Write: true, Store: true})
	other.ok("push", "b")
	if _, _, err := w.ImportRuns(t.Context(), dir, schema.ImportOptions{}); !errors.Is(err, schema.ErrNameTaken) {
		t.Errorf("imported: %v", err)
	}
	if got := lake.ok("sql", "--format", "csv", "SELECT name FROM run"); got != "name\nb\n" {
		t.Errorf("the lake has %q", got)
	}
	other.home = s.lake
	other.ok("rm", "b")
	other.ok("import", dir)
	if got := lake.ok("sql", "--format", "csv", "SELECT name FROM run ORDER BY 1"); got != "name\na\nb\n" {
		t.Errorf("the lake has %q", got)
	}
}
