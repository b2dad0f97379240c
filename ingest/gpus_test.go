package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"prof/ingest"
)

// host makes an export that of another session, of a GPU of another UUID or of another host; "" leaves it.
func (b *bench) host(to, session, uuid, host string) string {
	data := b.unpacked("../testdata/nsys/kernels/kernels.sqlite.gz")
	for _, c := range [][2]string{{"8ca5bde5-63ec-49d2-b321-6b72997cadfd", session}, {"a5595ee9-a0d3-837e-6f39-be86ef45b92c", uuid}, {"gpuhost", host}} {
		if c[1] != "" {
			data = bytes.ReplaceAll(data, []byte(c[0]), []byte(c[0][:len(c[0])-len(c[1])]+c[1]))
		}
	}
	return b.file(to, string(data))
}

// gpuSums are the kernels of each GPU of a run.
const gpuSums = `SELECT x.device_id, count(*), sum(x.duration_ns) // 1000 FROM kernel` + byRun + ` GROUP BY ALL ORDER BY 1`

// TestGPUsOfHosts holds that GPUs of two exports of Nsight Systems are one only if nothing says that they are two.
func TestGPUsOfHosts(t *testing.T) {
	b := newBench(t)
	one := b.host("one.sqlite", "", "", "")
	for i, c := range []struct{ uuid, host, want string }{
		{"", "", "0"},
		{"ffff", "", "0|1"},
		{"ffff", "box", "0|1"},
	} {
		run := fmt.Sprintf("hosts%d", i)
		other := b.host(run+".sqlite", fmt.Sprintf("aaa%d", i), c.uuid, c.host)
		b.ok(ingest.Options{Name: run}, one, other)
		for _, table := range []string{"kernel", "device", "memop", "range_device", "device_time", "idle_part", "gap_sum", "gap", "gap_part"} {
			b.of(run, `SELECT DISTINCT x.device_id FROM `+table+byRun+` ORDER BY 1`, c.want)
		}
		b.remove(run)
		b.ok(ingest.Options{Name: run}, one)
		b.ok(ingest.Options{Name: run, Add: true}, other)
		b.of(run, `SELECT DISTINCT x.device_id FROM kernel`+byRun+` ORDER BY 1`, c.want)
		b.remove(run)
	}
}

// TestGPUsOfRanks holds that ranks that each see one GPU, by the number 0, have GPUs of their own.
func TestGPUsOfRanks(t *testing.T) {
	b := newBench(t)
	one, two := "../testdata/lost/ranks-device0/t19_rank0.trace.json.gz", "../testdata/lost/ranks-device0/t19_rank1.trace.json.gz"
	const want, slow = "0 12 6300|1 12 6300", `SELECT x.device_id, max(x.duration_ns) // 1000 FROM kernel` + byRun + ` GROUP BY ALL ORDER BY 1`
	for run, files := range map[string][]string{"forth": {one, two}, "back": {two, one}} {
		b.ok(ingest.Options{Name: run}, files...)
		b.of(run, gpuSums, want)
		b.of(run, slow, "0 800|1 1000")
		b.of(run, `SELECT x.key, x.value FROM source_fact`+byRun+` AND x.key LIKE 'device.number%%'`, "device.number.1 0")
		b.remove(run)
	}
	b.ok(ingest.Options{Name: "added"}, two)
	b.ok(ingest.Options{Name: "added", Add: true}, one)
	b.of("added", gpuSums, want)
	b.of("added", slow, "0 1000|1 800") // what is stored keeps its number
	b.remove("added")

	merged := b.merged("nodes.trace.json", one, two)
	b.ok(ingest.Options{Name: "nodes"}, merged)
	b.of("nodes", gpuSums, want)
	b.of("nodes", slow, "0 800|1 1000")
	b.of("nodes", `SELECT x.device_id FROM device`+byRun+` ORDER BY 1`, "0|1")
	b.of("nodes", `SELECT count(x.launch_start_ns) FROM kernel`+byRun, "24") // correlation ids of the parts are the same
	b.ok(ingest.Options{Name: "nodes", Add: true}, one, two)
	b.of("nodes", gpuSums, want)
}

// TestGPUsShared holds that ranks of one machine, which each see all its GPUs, may share one; of ranks that see some of them each has its own.
func TestGPUsShared(t *testing.T) {
	b := newBench(t)
	one := b.unpacked("../testdata/ranks/rank0.trace.json.gz")
	two := bytes.ReplaceAll(b.unpacked("../testdata/ranks/rank1.trace.json.gz"), []byte(`"device": 1`), []byte(`"device": 0`))
	for devices, want := range map[int]string{2: "0", 4: "0|2"} {
		run := fmt.Sprint("of", devices)
		b.file(run+"/torch/trace-1-rank0.json", string(one))
		b.file(run+"/torch/trace-1-rank1.json", string(two))
		list := `{"device": 0, "name": "NVIDIA H200"}`
		for i := 1; i < devices; i++ {
			list += fmt.Sprintf(`, {"device": %d, "name": "NVIDIA H200"}`, i)
		}
		b.ok(ingest.Options{Name: run}, filepath.Dir(b.file(run+"/run.json", `{"version": 1, "prof_version": "9", "run": "r", "host": "a", "started_at": "2026-01-02T03:04:05Z", "status": "ok", "devices": [`+list+`],
			"passes": [{"pass": 1, "name": "torch-1", "tool": "torch", "mode": "operators", "repeat": 1, "status": "ok", "started_at": "2026-01-02T03:04:05Z", "artifacts": ["torch/trace-1-rank0.json", "torch/trace-1-rank1.json"]}]}`)))
		b.of(run, `SELECT DISTINCT x.device_id FROM kernel`+byRun+` ORDER BY 1`, want)
		b.of(run, `SELECT count(DISTINCT x.source_id) FROM kernel`+byRun, "2")
		b.remove(run)
	}
}

// merged merges traces as SGLang's profile merger does.
func (b *bench) merged(to string, from ...string) string {
	var events []any
	for i, name := range from {
		var trace struct{ TraceEvents []map[string]any }
		d := json.NewDecoder(bytes.NewReader(b.unpacked(name)))
		d.UseNumber()
		if err := d.Decode(&trace); err != nil {
			b.t.Fatal(err)
		}
		for _, e := range trace.TraceEvents {
			e["pid"] = fmt.Sprintf("[TP%02d] %v", i, e["pid"])
			events = append(events, e)
		}
	}
	data, err := json.Marshal(map[string]any{"deviceProperties": []any{map[string]any{"id": 0, "name": "NVIDIA H100"}, map[string]any{"id": 0, "name": "NVIDIA H100"}}, "traceEvents": events})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.file(to, string(data))
}

// TestMergedBesideParts holds that a merged trace and its parts count once, in whichever order they come.
func TestMergedBesideParts(t *testing.T) {
	b := newBench(t)
	const dir = "../testdata/lost/sglang-merged/"
	parts := []string{b.copied(dir+"1700000001.5-TP-0.trace.json.gz", "c.gz"), b.copied(dir+"1700000001.5-TP-1.trace.json.gz", "a.gz")}
	merged := b.copied(dir+"merged-1700000001.5.trace.json.gz", "b.gz") // names say nothing
	for i, c := range []struct{ first, then []string }{
		{first: []string{parts[0], parts[1], merged}},
		{first: []string{merged, parts[1], parts[0]}},
		{first: []string{merged}},
		{first: []string{merged}, then: parts},
		{first: parts, then: []string{merged}},
		{first: parts[:1], then: []string{merged}},
		{first: []string{merged, parts[1]}},
	} {
		run := fmt.Sprint("merged", i)
		b.ok(ingest.Options{Name: run}, c.first...)
		if c.then != nil {
			b.ok(ingest.Options{Name: run, Add: true}, c.then...)
		}
		b.of(run, gpuSums, "0 5 400|1 5 350")
		b.of(run, `SELECT count(*) FROM nvtx_range`+byRun, "2")
		b.remove(run)
	}
}

// TestHealthyGPUs holds that captures whose GPUs have numbers of their own keep them.
func TestHealthyGPUs(t *testing.T) {
	b := newBench(t)
	b.ok(ingest.Options{Name: "ranks"}, "../testdata/ranks/rank0.trace.json.gz", "../testdata/ranks/rank1.trace.json.gz", "../testdata/ranks/rank0.sqlite.gz")
	b.of("ranks", `SELECT DISTINCT s.kind, x.device_id FROM kernel x JOIN source s USING (run_id, source_id) JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY ALL`, "nsys 0|torch 0|torch 1")
	b.ok(ingest.Options{Name: "two"}, "../testdata/graph/two-capture.trace.json.gz", "../testdata/graph/two-replay.trace.json.gz") // one process
	b.of("two", `SELECT DISTINCT x.device_id FROM kernel`+byRun, "0")
	b.of("ranks", `SELECT count(*) FROM source_fact`+byRun+` AND x.key LIKE 'device.number%%'`, "0")
}
