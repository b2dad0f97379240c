package torch

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/torch/trace"
)

const smallTrace = `{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "prefill", "pid": 1, "tid": 1, "ts": 0, "dur": 100, "args": {"External id": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 1, "dur": 50, "args": {"External id": 2, "Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 2, "dur": 40, "args": {"External id": 3, "Sequence number": 4, "Fwd thread id": 1}},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 1, "dur": 60, "args": {"Python id": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 5, "dur": 2, "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 3, "args": {"External id": 3, "correlation": 9, "device": 0, "stream": 7, "grid": [1, 1, 1], "block": [32, 1, 1]}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7, "ts": 30, "dur": 3, "args": {"External id": 2, "correlation": 10, "bytes": 12}},
{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 6, "args": {"Bytes": 512, "Device Type": 1, "Device Id": 0, "Addr": 4096, "Total Allocated": 512}},
{"ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0, "tid": 7, "ts": 40, "dur": 1, "args": {"correlation": 11, "stream": -1, "device": 0, "context": 1}},
{"ph": "X", "cat": "overhead", "name": "Buffer Flush", "pid": -1, "tid": 0, "ts": 50, "dur": 1},
{"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 2, "cat": "fwdbwd", "name": "fwdbwd"},
{"ph": "f", "id": 1, "pid": 1, "tid": 1, "ts": 1, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"}
]}`

// FuzzTrace reads whatever is given and puts it together. What is read must hang together: times of calls hold those inside
// them, and device work is lost nowhere.
func FuzzTrace(f *testing.F) {
	f.Add([]byte(smallTrace))
	f.Add([]byte(smallTrace[:900]))
	f.Add(bytes.ReplaceAll([]byte(smallTrace), []byte(`"dur": 3`), []byte(`"dur": 9e18`)))
	f.Add(bytes.ReplaceAll([]byte(smallTrace), []byte(`"ts": 2,`), []byte(`"ts": -9e15,`)))
	f.Add(bytes.ReplaceAll([]byte(smallTrace), []byte(`"tid": 1`), []byte(`"tid": 99999999999`)))
	f.Add([]byte(strings.NewReplacer(`"kernel"`, `"mtia_ccp_events"`, `"cuda_runtime"`, `"mtia_runtime"`, `"gpu_memcpy"`, `"cuda_profiler_range"`, `"pid": 1`, `"pid": "rank 1"`).Replace(smallTrace)))
	f.Add(bytes.ReplaceAll([]byte(smallTrace), []byte(`"cpu_op"`), []byte(`"python_function"`)))
	f.Add([]byte(`[{"name": "process_labels", "pid": 9, "ph": "M", "args": {"labels": "NPU 3"}}, {"name": "k", "pid": 9, "tid": 4, "ts": "1.5", "dur": "2", "ph": "X", "args": {"Task Type": "AI_CORE", "Stream Id": 4}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newCollector(base{})
		truncated, err := c.read(trace.NewReader(bytes.NewReader(data)), func(int64) error { return nil })
		if err != nil {
			if !errors.Is(err, trace.ErrSyntax) {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		if c.first > c.end {
			if err := nothing("x", c, truncated); !errors.Is(err, ErrNoEvents) {
				t.Fatal(err)
			}
			return
		}
		c.numberNPUs()
		linked, err := link(c, &load.Target{Run: &load.Run{}})
		if err != nil {
			return
		}
		l := &loader{linked: linked, name: "x", header: &trace.Header{}, info: &load.SourceInfo{}}
		l.describe(truncated, 1)
		l.prepare()
		checkSweep(t, l)
	})
}

// checkSweep sweeps and compares with what the records hold.
func checkSweep(t *testing.T, l *loader) {
	ops, device, given, ids := 0, int64(0), int64(0), []int32{}
	err := l.sweep(func(c *opCall) error {
		ops++
		device += c.SelfDevice
		ids = append(ids, c.ID)
		if c.SelfCPU() > c.Duration() || c.TotalDevice < c.SelfDevice && c.SelfDevice < math.MaxInt64/8 || c.Depth < 1 || c.Parent >= c.ID {
			t.Fatalf("a call that cannot be: %+v", *c)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	if p := l.counts["cpu_op"]; p != nil {
		want += int(p.stored)
	}
	if p := l.counts["Operator"]; p != nil {
		want += int(p.stored)
	}
	if ops != want {
		t.Fatalf("%d operators came out, %d went in", ops, want)
	}
	slices.Sort(ids)
	for i, id := range ids {
		if id != int32(i+1) {
			t.Fatalf("operator %d has the number %d", i+1, id)
		}
	}
	for i := range int32(l.works()) {
		w := l.work(i)
		named := l.named[w.external]
		if w.launch >= 0 && w.op > 0 || w.launch < 0 && w.external != w.correlation && named != nil && named.op > 0 {
			given += w.duration
		}
	}
	stacks := int32(len(l.target.Run.Stacks.All()))
	for _, a := range l.launches {
		if a.stack < 0 || a.stack > stacks || a.stack > 0 && !l.hasStacks() {
			t.Fatalf("a launch has stack %d of %d", a.stack, stacks)
		}
	}
	if given != device {
		t.Fatalf("operators have %d ns of device work, of %d that was launched in them", device, given)
	}
}
