package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// holder is another process that holds a warehouse.
type holder struct {
	pid int
	in  io.Closer
	cmd *exec.Cmd
}

// startHolder returns a process that holds p's warehouse by now.
func startHolder(t *testing.T, p *place, mode string) *holder {
	t.Helper()
	p.settle()
	cmd := exec.Command(os.Args[0], p.path(".prof"))
	cmd.Env = append(os.Environ(), holdEnv+"="+mode)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h := &holder{pid: cmd.Process.Pid, in: in, cmd: cmd}
	t.Cleanup(h.end)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("the holder said %q, %v", line, err)
	}
	return h
}

func (h *holder) end() {
	h.in.Close()
	h.cmd.Wait()
}

func TestLocked(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	before := state(p)
	file := p.path(".prof/warehouse.duckdb")
	verbs := [][]string{{"runs"}, {"query", "top-kernels"}, {"sql", "FROM run"}, {"tag", "a", "x=y"}, {"rm", "a"}, {"ingest", exported(t, node)}}
	check := func(h *holder, args []string) {
		t.Helper()
		start := time.Now()
		by := fmt.Sprintf(`process %d \([^)\n]+\)`, h.pid)
		p.wantLike(1, "", `prof: the warehouse is in use by `+by+`; waiting up to 300ms\nprof: \Q`+file+`\E is in use by `+by+`: try again when it has finished\n`, args...)
		if took := time.Since(start); took < 300*time.Millisecond {
			t.Errorf("%q waited %v", args, took)
		}
	}
	p.env = []string{"PROF_WAIT=300ms"}
	alone := p.sql("SELECT * FROM runs")
	h := startHolder(t, p, "write")
	for i, args := range verbs {
		if i >= 3 {
			check(h, args)
			continue
		}
		p.wantLike(0, `(?s).+`, fmt.Sprintf(`(?s)prof: the warehouse is in use by process %d \([^)\n]+\); this is what was stored before\n.*`, h.pid), args...)
	}
	if got := p.sql("SELECT * FROM runs"); got != alone {
		t.Errorf("while another process writes: %q, not %q", got, alone)
	}
	h.end()
	if left, err := filepath.Glob(p.path(".prof/.prof~*")); err != nil || len(left) > 0 {
		t.Errorf("copies are left: %q, %v", left, err)
	}
	// Readers let each other in, and keep writers out.
	h = startHolder(t, p, "read")
	for _, args := range verbs[:3] {
		if r := p.run(args...); r.code != 0 || strings.Contains(r.err, "in use") {
			t.Errorf("%q beside a reader: %+v", args, r)
		}
	}
	for _, args := range verbs[3:] {
		check(h, args)
	}
	h.end()
	if after := state(p); after != before {
		t.Errorf("the warehouse changed:\n%s\n%s", before, after)
	}
	p.env = []string{"PROF_WAIT=soon"}
	p.want(result{2, "", "prof: PROF_WAIT=soon: write a duration such as 500ms, 30s or 5m\n"}, "runs")
}

// TestFirstIngests has processes make the same warehouse at once: all store their runs, in turns.
func TestFirstIngests(t *testing.T) {
	t.Parallel()
	captures := []string{"../torch/cpu.trace.json.gz", "../ncu/" + ncuReport, "../serving/own.json"} // small ones
	p := newPlace(t)
	p.env = []string{"PROF_WAIT=2m"}
	// What a killed process left goes with the first of them.
	left := write(t, p.path(".prof/.prof~1/warehouse.duckdb"), []byte("half a copy"))
	done := make(chan result)
	for i, c := range captures {
		cmd := p.command("ingest", "--run", fmt.Sprint("r", i), exported(t, c))
		go func() { done <- finish(t, cmd, cmd.Run) }()
	}
	for range captures {
		if r := <-done; r.code != 0 {
			t.Errorf("%+v", r)
		}
	}
	if got := p.sql("SELECT count(*) AS n FROM run"); got != "n\n3\n" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Dir(left)); err == nil {
		t.Error("the copy of a killed process is left")
	}
}

// A command that waits goes on when the holder is gone, be it done or killed.
func TestLockIsReleased(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	for i, c := range []struct {
		args []string
		env  []string
		wait string
		end  func(h *holder)
	}{
		{[]string{"tag", "a", "x=y"}, []string{"PROF_WAIT=20s"}, "20s", (*holder).end},
		{[]string{"ingest", "--run", "b", exported(t, "../serving/own.json")}, []string{"PROF_WAIT=1m"}, "1m0s", func(h *holder) { h.cmd.Process.Kill(); h.end() }},
	} {
		p.env = c.env
		h := startHolder(t, p, "write")
		cmd := p.command(c.args...)
		pipe, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = w
		r := finish(t, cmd, func() error {
			if err := cmd.Start(); err != nil {
				return err
			}
			w.Close()
			said := bufio.NewReader(pipe)
			line, err := said.ReadString('\n')
			if want := fmt.Sprintf("prof: the warehouse is in use by process %d ", h.pid); err != nil || !strings.HasPrefix(line, want) || !strings.HasSuffix(line, "; waiting up to "+c.wait+"\n") {
				t.Errorf("%q said %q, %v", c.args, line, err)
			}
			c.end(h)
			rest, err := io.ReadAll(said)
			if err != nil || strings.Contains(string(rest), "in use") {
				t.Errorf("%q then said %q, %v", c.args, rest, err)
			}
			return cmd.Wait()
		})
		pipe.Close()
		if r.code != 0 {
			t.Errorf("%d: %q: %+v", i, c.args, r)
		}
	}
	p.env = nil
	if got := p.sql("SELECT name, (SELECT count(*) FROM run_tag) AS tags FROM run ORDER BY name"); got != "name,tags\na,1\nb,1\n" {
		t.Errorf("afterwards: %q", got)
	}
}

// Whoever reads while ingests run sees whole runs, never half of one.
func TestNoHalfRuns(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	p.env = []string{"PROF_WAIT=60s"}
	const look = `SELECT (SELECT count(*) FROM run) AS runs, (SELECT count(*) FROM source) AS sources, (SELECT count(*) FROM kernel) AS kernels,
		(SELECT count(*) FROM api_call) AS calls, (SELECT count(*) FROM nvtx_range) AS ranges`
	captures := []string{node, "../torch/cpu.trace.json.gz"} // with work of a GPU, and without
	var cmds []*exec.Cmd
	for _, c := range captures {
		cmds = append(cmds, p.command("ingest", exported(t, c)))
	}
	done := make(chan error, 1)
	go func() {
		for _, cmd := range cmds {
			if err := cmd.Run(); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	seen := map[string]bool{}
	looks := 0
	for running := true; running; looks++ {
		_, line, _ := strings.Cut(p.sql(look), "\n")
		seen[line] = true
		p.settle() // lets the writer in
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		case <-time.After(20 * time.Millisecond):
		}
	}
	// What there was after each of the runs.
	_, states, _ := strings.Cut(p.sql(`WITH c AS (SELECT r.created_at, (SELECT count(*) FROM source x WHERE x.run_id = r.run_id) AS sources,
			(SELECT count(*) FROM kernel x WHERE x.run_id = r.run_id) AS kernels, (SELECT count(*) FROM api_call x WHERE x.run_id = r.run_id) AS calls,
			(SELECT count(*) FROM nvtx_range x WHERE x.run_id = r.run_id) AS ranges FROM run r)
		SELECT count(*) OVER w AS runs, (sum(sources) OVER w)::BIGINT AS s, (sum(kernels) OVER w)::BIGINT AS k, (sum(calls) OVER w)::BIGINT AS c,
			(sum(ranges) OVER w)::BIGINT AS r
		FROM c WINDOW w AS (ORDER BY created_at) ORDER BY runs`), "\n")
	whole := strings.SplitAfter(strings.TrimSuffix(states, "\n"), "\n")
	if len(whole) != 1+len(captures) {
		t.Fatalf("%d looks, states %q", looks, whole)
	}
	whole[len(whole)-1] += "\n"
	for got := range seen {
		if !slices.Contains(whole, got) {
			t.Errorf("seen %q, which is none of %q", got, whole)
		}
	}
}

// TestWritersClear checks that even a short command that writes clears what killed processes left in the folder of temporary files.
func TestWritersClear(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	left := write(t, p.path("tmp/.prof~1/spill"), []byte("of a killed query"))
	p.env = []string{"TMPDIR=" + p.path("tmp")}
	cmd := p.command("tag", "a", "x=y")
	if r := finish(t, cmd, cmd.Run); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("it is left")
	}
}
