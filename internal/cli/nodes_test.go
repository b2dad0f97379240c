package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestCaptureNodes captures on the two nodes of a job, each of two processes, and stores their folders as one run by the command that is printed.
func TestCaptureNodes(t *testing.T) {
	t.Parallel()
	dir, _ := compiledStandIn(t)
	p := fakes(t, "", "LD_LIBRARY_PATH="+dir, "CUDA_HOME="+filepath.Join(dir, "cuda"), "SLURM_JOB_ID=77")
	work := filepath.Join(dir, "work")
	var command string
	for _, node := range []string{"1", "0"} {
		ranks := map[string]string{"0": "RANK=0 " + work + " & RANK=1 " + work + "; wait", "1": "RANK=2 " + work + " & RANK=3 " + work + "; wait"}[node]
		r := p.run("capture", "--run", "tp2", "--node-rank", node, "--nodes", "2", "--mode", "light", "--baseline", "--", "sh", "-c", ranks)
		_, after, said := strings.Cut(r.err, "store them as one run: prof ")
		if r.code != 0 || !said {
			t.Fatalf("exit %d: %s", r.code, r.err)
		}
		command, _, _ = strings.Cut(after, "\n")
	}
	if !strings.HasSuffix(command, filepath.Join("runs", "tp2-node0")+" "+p.path(".prof/runs/tp2-node1")) {
		t.Errorf("the command is %s", command)
	}
	if p.sql("SELECT count(*) AS runs FROM run") != "runs\n0\n" {
		t.Error("a node was stored alone")
	}
	p.ok(strings.Fields(command)...)
	p.wantRows(map[string]string{
		"SELECT node, pass_count, status FROM captures('tp2')":                                                 "node,pass_count,status\n0,2,ok\n1,2,ok\n",
		"SELECT node, pass, pass_id, source_count FROM capture_passes('tp2')":                                  "node,pass,pass_id,source_count\n0,baseline-1,1,0\n0,prof-1,2,1\n1,baseline-1,1001,0\n1,prof-1,1002,1\n",
		"SELECT count(*) AS n, sum(duration_ns)::BIGINT AS ns FROM kernel":                                     "n,ns\n12000,24000000\n",
		"SELECT string_agg(rank_id, ' ' ORDER BY rank_id) AS ranks FROM process":                               "ranks\n0 1 2 3\n",
		"SELECT count(DISTINCT device_id // 1000) AS nodes FROM device_time":                                   "nodes\n2\n",
		"SELECT count(DISTINCT job_key) AS jobs FROM capture_node":                                             "jobs\n1\n",
		"SELECT mode, pass_count, baseline_count FROM overhead('tp2')":                                         "mode,pass_count,baseline_count\nlight,1,1\n",
		"SELECT string_agg(kind, ' ') AS kinds FROM caveat WHERE kind IN ('several-repeats', 'several-nodes')": "kinds\nseveral-nodes\n",
	})
	r := p.run("ingest", p.path(".prof/runs/tp2-node1"), p.path(".prof/runs/tp2-node0"))
	if r.code != 0 || !strings.Contains(r.err, "is already in the warehouse, as run tp2; nothing to do") {
		t.Errorf("again: exit %d: %s", r.code, r.err)
	}
	// The same run of another job is none of it, and a node alone says so.
	p.ok("rm", "tp2")
	p.env = append(p.env, "SLURM_JOB_ID=78")
	p.ok("capture", "--run", "tp2", "--node-rank", "2", "--mode", "light", "--", "sh", "-c", work)
	r = p.run("ingest", p.path(".prof/runs/tp2-node0"), p.path(".prof/runs/tp2-node2"))
	if r.code != 1 || !strings.Contains(r.err, "they are of different jobs (run tp2, identified by --run and SLURM_JOB_ID; run tp2, identified by --run and SLURM_JOB_ID)") {
		t.Errorf("another job: exit %d: %s", r.code, r.err)
	}
	p.ok("ingest", p.path(".prof/runs/tp2-node1"))
	if notes := p.run("query", "top-kernels", "--run", "tp2").out; !strings.Contains(notes, "the run has 1 of the job's 2 nodes") {
		t.Errorf("notes of one node: %s", notes)
	}
}

// TestCaptureNodeMistakes: what says that a capture is of a node, and does not, is refused before anything runs.
func TestCaptureNodeMistakes(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	for args, said := range map[string]string{
		"--node-rank 0":                    "--node-rank needs --run NAME, the same on every node",
		"--run a --node-rank -1":           "--node-rank is -1: it must be 0, 1, ..., one number for each node",
		"--run a --node-rank 2 --nodes 2":  "--node-rank is 2 of --nodes 2: ranks begin at 0",
		"--run a --nodes 2":                "--nodes and --job need --node-rank",
		"--run a --job 7":                  "--nodes and --job need --node-rank",
		"--run a --node-rank 0 --nodes -2": "--nodes is -2: it must be the number of nodes",
	} {
		r := p.run(append(append([]string{"capture", "--mode", "light"}, strings.Fields(args)...), "--", "true")...)
		if r.code != 2 || !strings.Contains(r.err, said) {
			t.Errorf("%s: exit %d: %s", args, r.code, r.err)
		}
	}
	r := p.run("capture", "--run", "a", "--node-rank", "0", "--", "sh", "-c", "true")
	if !strings.Contains(r.err, "name kernels with --ncu-kernels") || !strings.Contains(r.err, "runs/a-node0 ... (with the folders of the other nodes)") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestCaptureTraceRanks: the PyTorch profiler leaves a trace of each rank, and one recording has them all.
func TestCaptureTraceRanks(t *testing.T) {
	t.Parallel()
	from, err := filepath.Abs("../../testdata/ranks")
	if err != nil {
		t.Fatal(err)
	}
	p := fakes(t, "")
	copies := func(ranks string) string {
		return "for r in " + ranks + "; do cp " + from + "/rank$r.trace.json.gz \"${PROF_MARK_TRACE%.json.gz}-rank$r.json.gz\"; done"
	}
	p.ok("capture", "--run", "r", "--tools", "torch", "--", "sh", "-c", copies("0 1"))
	p.wantRows(map[string]string{
		"SELECT pass, status, source_count FROM capture_passes('r')":                 "pass,status,source_count\ntorch-1,ok,2\n",
		"SELECT DISTINCT member FROM rank_wait ORDER BY 1":                           "member\nrank 0\nrank 1\n",
		"SELECT count(*) AS n, count(skew_ns) AS told FROM rank_skew('r', top := 0)": "n,told\n40,40\n",
		"SELECT count(*) AS n FROM caveat WHERE kind = 'several-repeats'":            "n\n0\n",
	})
	// The same on two nodes: their clocks are not known to be one.
	p.ok("rm", "r")
	for _, node := range []string{"0", "1"} {
		p.ok("capture", "--run", "n", "--node-rank", node, "--tools", "torch", "--", "sh", "-c", copies(node))
	}
	p.ok("ingest", p.path(".prof/runs/n-node0"), p.path(".prof/runs/n-node1"))
	p.wantRows(map[string]string{
		"SELECT source_id, host, basis, reason FROM clock_offsets('n')":                                                                   "source_id,host,basis,reason\n1,node 0,reference,\n2,node 1,bounds,\n",
		"SELECT DISTINCT member, device_id FROM rank_wait ORDER BY 1":                                                                     "member,device_id\nrank 0,0\nrank 1,1001\n",
		"SELECT count(*) AS n, bool_and((skew_ns IS NULL) = (coalesce(reason, '') = 'within-error')) AS ok FROM rank_skew('n', top := 0)": "n,ok\n40,true\n",
	})
	if r := p.run("prune", "--keep", "0", "--max-total", "1B", "--dry-run"); r.code != 0 || !strings.Contains(r.out, "n-node0/torch/") || !strings.Contains(r.out, "n-node1/torch/") {
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
