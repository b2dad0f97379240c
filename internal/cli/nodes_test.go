package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/capture/capturetest"
)

// TestCaptureNodes captures on the two nodes of a job and stores their folders as one run by the command that is printed.
func TestCaptureNodes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.env = []string{"SLURM_JOB_ID=77"}
	reports := map[string]string{"0": b.nsys.SQLite, "1": write(t, filepath.Join(b.temp, "small.sqlite"), unpacked(t, "../foreign/minimal.sqlite.gz"))} // no two alike
	var command string
	for _, node := range []string{"1", "0"} {
		b.nsys.SQLite = reports[node]
		r := b.prof("capture", "--run", "tp2", "--node-rank", node, "--nodes", "2", "--mode", "light", "--baseline", "--", "work")
		if r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		command = printed(t, r.err, "store them as one run: ")
	}
	if len(b.shelf.stored) > 0 {
		t.Error("a node was stored alone")
	}
	words, folders := b.words(command), []string{b.path(".prof/runs/tp2-node0"), b.path(".prof/runs/tp2-node1")}
	if want := append([]string{"prof", "--home", b.path(".prof"), "ingest"}, folders...); !slices.Equal(words, want) {
		t.Errorf("%q, want %q", words, want)
	}
	b.storing()
	b.ok(words[1:]...)
	b.wantRows(map[string]string{
		"SELECT node, pass_count, status FROM captures('tp2')":                                                 "node,pass_count,status\n0,2,ok\n1,2,ok\n",
		"SELECT node, pass, pass_id, source_count FROM capture_passes('tp2')":                                  "node,pass,pass_id,source_count\n0,baseline-1,1,0\n0,nsys-1,2,1\n1,baseline-1,1001,0\n1,nsys-1,1002,1\n",
		"SELECT count(*) AS n FROM kernel":                                                                     "n\n416\n",
		"SELECT count(DISTINCT device_id // 1000) AS nodes FROM device_time":                                   "nodes\n2\n",
		"SELECT count(DISTINCT job_key) AS jobs FROM capture_node":                                             "jobs\n1\n",
		"SELECT mode, pass_count, baseline_count, reason FROM overhead('tp2')":                                 "mode,pass_count,baseline_count,reason\nlight,1,0,cold\n",
		"SELECT string_agg(kind, ' ') AS kinds FROM caveat WHERE kind IN ('several-repeats', 'several-nodes')": "kinds\nseveral-nodes\n",
	})
	r := b.run("ingest", folders[1], folders[0])
	if r.code != 0 || !strings.Contains(r.err, "is already in the warehouse, as run tp2; nothing to do") {
		t.Errorf("again: exit %d: %s", r.code, r.err)
	}
	// The same run of another job is none of it, and a node alone says so.
	b.ok("rm", "tp2")
	b.env = []string{"SLURM_JOB_ID=78"}
	if r := b.prof("capture", "--run", "tp2", "--node-rank", "2", "--mode", "light", "--", "work"); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	r = b.run("ingest", folders[0], b.path(".prof/runs/tp2-node2"))
	if r.code != 1 || !strings.Contains(r.err, "they are of different jobs (run tp2, identified by --run and SLURM_JOB_ID; run tp2, identified by --run and SLURM_JOB_ID)") {
		t.Errorf("another job: exit %d: %s", r.code, r.err)
	}
	b.ok("ingest", folders[1])
	if notes := b.run("query", "top-kernels", "--run", "tp2").out; !strings.Contains(notes, "the run has 1 of the job's 2 nodes") {
		t.Errorf("notes of one node: %s", notes)
	}
	b.env = nil
	r = b.prof("capture", "--run", "a", "--node-rank", "0", "--", "work")
	if !strings.Contains(r.err, "name kernels with --ncu-kernels") || !strings.Contains(r.err, "runs/a-node0 ... (with the folders of the other nodes)") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestCaptureTraceRanks: the PyTorch profiler leaves a trace of each rank, and one recording has them all.
func TestCaptureTraceRanks(t *testing.T) {
	t.Parallel()
	b := newBench(t).storing()
	b.work = func(p *capturetest.Process) int { // its arguments are ranks
		for _, r := range p.Argv[1:] {
			write(t, fmt.Sprintf("%s-rank%s.json.gz", strings.TrimSuffix(p.Getenv("PROF_MARK_TRACE"), ".json.gz"), r), read(t, filepath.Join("..", "..", "testdata", "ranks", "rank"+r+".trace.json.gz")))
		}
		return 0
	}
	if r := b.prof("capture", "--run", "r", "--tools", "torch", "--", "work", "0", "1"); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	b.wantRows(map[string]string{
		"SELECT pass, status, source_count FROM capture_passes('r')":                 "pass,status,source_count\ntorch-1,ok,2\n",
		"SELECT DISTINCT member FROM rank_wait ORDER BY 1":                           "member\nrank 0\nrank 1\n",
		"SELECT count(*) AS n, count(skew_ns) AS told FROM rank_skew('r', top := 0)": "n,told\n40,40\n",
		"SELECT count(*) AS n FROM caveat WHERE kind = 'several-repeats'":            "n\n0\n",
	})
	// The same on two nodes: their clocks are not known to be one.
	b.ok("rm", "r")
	for _, node := range []string{"0", "1"} {
		if r := b.prof("capture", "--run", "n", "--node-rank", node, "--tools", "torch", "--", "work", node); r.code != 0 {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
	}
	b.ok("ingest", b.path(".prof/runs/n-node0"), b.path(".prof/runs/n-node1"))
	b.wantRows(map[string]string{
		"SELECT source_id, host, basis, reason FROM clock_offsets('n')":                                                                   "source_id,host,basis,reason\n1,node 0,reference,\n2,node 1,bounds,\n",
		"SELECT DISTINCT member, device_id FROM rank_wait ORDER BY 1":                                                                     "member,device_id\nrank 0,0\nrank 1,1001\n",
		"SELECT count(*) AS n, bool_and((skew_ns IS NULL) = (coalesce(reason, '') = 'within-error')) AS ok FROM rank_skew('n', top := 0)": "n,ok\n40,true\n",
	})
	if r := b.run("prune", "--keep", "0", "--max-total", "1B", "--dry-run"); r.code != 0 || !strings.Contains(r.out, "n-node0/torch/") || !strings.Contains(r.out, "n-node1/torch/") {
		t.Errorf("prune: exit %d: %s%s", r.code, r.out, r.err)
	}
}

// wantRows holds what queries give.
func (p *place) wantRows(queries map[string]string) {
	p.t.Helper()
	for query, want := range queries {
		if got := p.sql(query); got != want {
			p.t.Errorf("%s gives\n%swant\n%s", query, got, want)
		}
	}
}
