package ingest_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/schema/rundir"
)

// node makes the folder of a captured run that of a node of a job.
func (b *bench) node(name string, n rundir.Node, change ...func(m *rundir.Manifest)) string {
	b.t.Helper()
	dir := b.captured(name)
	for _, file := range []string{name + "/nsys/report-1.sqlite", name + "/nsys/report-2.sqlite"} { // no two nodes have the same session
		data, err := os.ReadFile(b.path(file))
		if err != nil {
			b.t.Fatal(err)
		}
		id := sessionID.Find(data)
		b.file(file, string(bytes.ReplaceAll(data, id[len(id)-6:], []byte(strings.Repeat(string(rune('a'+n.Rank)), 6)))))
	}
	m, err := rundir.ReadManifest(dir + "/run.json")
	if err != nil {
		b.t.Fatal(err)
	}
	m.Node, m.Run, m.Host = &n, "tp2", "box"+string(rune('0'+n.Rank))
	for _, c := range change {
		c(m)
	}
	if err := m.Write(dir); err != nil {
		b.t.Fatal(err)
	}
	return dir
}

// refused holds that folders are refused with an error.
func (b *bench) refused(want error, said string, paths ...string) {
	b.t.Helper()
	if _, err := b.try(ingest.Options{}, paths...); !errors.Is(err, want) || !strings.Contains(err.Error(), said) {
		b.t.Errorf("%v, want %q", err, said)
	}
}

const byRun = ` x JOIN run r USING (run_id) WHERE r.name = '%s'`

// TestNodes holds what the folders of the nodes of a job become: one run, in which no two GPUs, recordings or processes are one, and repeats are
// repeats of the job.
func TestNodes(t *testing.T) {
	facts, err := derive.Behind("timeline", "source_host", "work_sum", "stage_pass", "caveat")
	if err != nil {
		t.Fatal(err)
	}
	b := newBenchWith(t, facts)
	one, two := b.node("n1", rundir.Node{Rank: 1, Count: 2, Job: "j", JobBy: "--run"}), b.node("n0", rundir.Node{Rank: 0, Count: 2, Job: "j", JobBy: "--run"})
	alone := b.captured("alone")
	b.copied("../testdata/ncu/kernels-prefill.ncu-rep.gz", "n1/ncu/report-9.ncu-rep.gz")
	b.ok(ingest.Options{Name: "alone"}, alone)
	r := b.ok(ingest.Options{}, one, two)
	if r.Run.Name != "tp2" || r.Run.Host != "box0" {
		t.Errorf("%+v", r.Run)
	}
	b.of("tp2", `SELECT x.node_rank, x.node_count, x.host, x.job_key FROM capture_node`+byRun+` ORDER BY 1`, "0 2 box0 j|1 2 box1 j")
	b.of("tp2", `SELECT x.recording, x.host, count(*) FROM source_host`+byRun+` GROUP BY ALL ORDER BY 1, 2`, "nsys 1 node 0 1|nsys 1 node 1 1|nsys 2 node 0 1|nsys 2 node 1 1")
	for _, c := range []struct{ table, column string }{{"kernel", "device_id"}, {"memop", "device_id"}, {"device_time", "device_id"}, {"idle_part", "device_id"}, {"gap_part", "device_id"}, {"range_device", "device_id"}, {"capture_device", "device_id"},
		{"device_sample", "device_id"}, {"work_sum", "device_id"}, {"capture_pass", "pass_id"}, {"device_sample", "pass_id"}} {
		count := func(where string) string {
			return b.rows(`SELECT count(*), coalesce(list_sort(list(DISTINCT x.` + c.column + ` % 1000))::VARCHAR, '') FROM ` + c.table + ` x JOIN run r USING (run_id) WHERE ` + where)
		}
		want := count(`r.name = 'alone'`)
		for where, whose := range map[string]string{`r.name = 'tp2' AND x.` + c.column + ` < 1000`: "node 0", `r.name = 'tp2' AND x.` + c.column + ` BETWEEN 1000 AND 1999`: "node 1"} {
			if got := count(where); got != want || strings.HasPrefix(got, "0 ") {
				t.Errorf("%s.%s of %s: %s, want %s", c.table, c.column, whose, got, want)
			}
		}
	}
	b.of("tp2", `SELECT sum(x.duration_ns)::BIGINT = 2 * (SELECT sum(k.duration_ns) FROM kernel k JOIN run a USING (run_id) WHERE a.name = 'alone') FROM kernel`+byRun, "true")
	b.of("tp2", `SELECT x.device_id, count(*) FROM device`+byRun+` GROUP BY 1 ORDER BY 1`, "0 2|1000 3")
	b.of("tp2", `SELECT DISTINCT x.device_id FROM ncu_launch`+byRun, "1000")
	b.of("tp2", `SELECT count(DISTINCT x.repeat_id) FROM stage_pass`+byRun, "2")
	b.of("tp2", `SELECT x.kind, x.item_count, x.of_count FROM caveat`+byRun+` AND x.kind IN ('several-nodes', 'several-repeats') AND x.is_counted ORDER BY 1`, "several-nodes 2 2|several-repeats 2 ~")
	b.whole()
	before := b.state()
	if r := b.ok(ingest.Options{}, two, one); r.Made || b.state() != before {
		t.Errorf("again: %+v", r)
	}
	b.w.Facts = derive.Facts{Only: []string{}} // what follows is about what is captured
	b.ok(ingest.Options{Replace: true, Name: "tp2"}, one, two)
	// What a node says of itself is not put in the place of what all say.
	m, err := rundir.ReadManifest(one + "/run.json")
	if err != nil {
		t.Fatal(err)
	}
	m.Mode = rundir.ToolNsys
	if err := m.Write(one); err != nil {
		t.Fatal(err)
	}
	if _, err := b.try(ingest.Options{Name: "tp2"}, one+"/run.json"); !errors.Is(err, ingest.ErrSeveral) || !strings.Contains(err.Error(), "ingest the folders of all nodes together") {
		t.Errorf("a run.json alone: %v", err)
	}
}

// TestNodesRefused: folders that are not of different nodes of one job do not become one run.
func TestNodesRefused(t *testing.T) {
	b := newBenchWith(t, derive.Facts{Only: []string{"timeline", "source_host"}})
	first := b.node("n0", rundir.Node{Rank: 0, Job: "j", JobBy: "--run"})
	for name, c := range map[string]struct {
		node rundir.Node
		said string
	}{
		"other": {rundir.Node{Rank: 1, Job: "k", JobBy: "--run and SLURM_JOB_ID"}, "they are of different jobs (run tp2, identified by --run; run tp2, identified by --run and SLURM_JOB_ID)"},
		"same":  {rundir.Node{Rank: 0, Job: "j", JobBy: "--run"}, "both are node 0 of the job"},
	} {
		b.refused(ingest.ErrSeveral, c.said, first, b.node(name, c.node))
	}
	b.refused(ingest.ErrSeveral, "captures with --node-rank and the same --run become one run", first, b.captured("plain"))
	for said, n := range map[string]rundir.Node{"node.rank is 2 of 2 nodes": {Rank: 2, Count: 2, Job: "j"}, "node.rank is -1": {Rank: -1, Job: "j"}, "node.rank is 4000000": {Rank: 4_000_000, Job: "j"}, "node.job is missing": {Rank: 1}} {
		b.refused(rundir.ErrManifest, said, b.node("bad"+said, n))
	}
	many := func(m *rundir.Manifest) { m.Passes[0].ID = rundir.NodeStride }
	b.refused(rundir.ErrManifest, "want less than 1000", b.node("many", rundir.Node{Rank: 1, Job: "j"}, many))
	// A recording that failed on one node is one of none.
	failed := func(m *rundir.Manifest) {
		for i := range m.Passes {
			if m.Passes[i].Name == "nsys-1" {
				m.Passes[i].Status = rundir.StatusTimeout
			}
		}
	}
	b.ok(ingest.Options{}, first, b.node("n1", rundir.Node{Rank: 1, Job: "j", JobBy: "--run"}, failed))
	b.of("tp2", `SELECT x.recording, x.host FROM source_host`+byRun+` ORDER BY 2`, "nsys 2 node 0|nsys 2 node 1")
}

// TestSlices: an instance of a partitioned GPU never has the name, and so the peaks, of the whole one.
func TestSlices(t *testing.T) {
	b := newBench(t)
	const gpu = `SELECT DISTINCT x.name FROM device` + byRun
	for name, c := range map[string]struct {
		device rundir.Device
		want   string
	}{
		"whole":          {rundir.Device{UUID: "GPU-a5595ee9-a0d3-837e-6f39-be86ef45b92c"}, "NVIDIA H200"},
		"by uuid":        {rundir.Device{UUID: "GPU-a5595ee9-a0d3-837e-6f39-be86ef45b92c", MIG: new(true)}, "NVIDIA H200 MIG"},
		"by bus":         {rundir.Device{UUID: "GPU-0", BusID: "00000000:00:06.0", MIG: new(true)}, "NVIDIA H200 MIG"},
		"of another GPU": {rundir.Device{UUID: "GPU-0", BusID: "00000000:EE:00.0", MIG: new(true)}, "NVIDIA H200"},
	} {
		b.ok(ingest.Options{}, b.node(name, rundir.Node{Job: "j"}, func(m *rundir.Manifest) { m.Devices = []rundir.Device{c.device} }))
		b.of("tp2", gpu, c.want)
		b.remove("tp2")
	}
}
