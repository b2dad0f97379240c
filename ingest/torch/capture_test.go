package torch_test

import (
	"cmp"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/ingest/rows/rowstest"
	"prof/ingest/torch/trace"
	"prof/internal/sample"
)

// shared is where captures lie that are too big for testdata.
const shared = "../../../shared/captures/torch/"

// average is a row of PyTorch's key_averages, in the form of the workload that took the capture; times in microseconds.
type average struct {
	Name        string
	Calls       int64
	CPUTotal    float64 `json:"cpu_total_us"`
	SelfCPU     float64 `json:"self_cpu_us"`
	DeviceTotal float64 `json:"device_total_us"`
	SelfDevice  float64 `json:"self_device_us"`
	Flops       int64
	SelfMemory  int64 `json:"self_device_mem"`
}

// operator is the same of ours, in nanoseconds.
type operator struct{ calls, cpuTotal, selfCPU, deviceTotal, selfDevice, flops, selfMemory int64 }

func operators(k *rowstest.Kept) map[string]operator {
	out := map[string]operator{}
	for _, r := range k.Table("op") {
		name := r.Text("op_name_id.name")
		o := out[name]
		if !r.Get("is_folded").(bool) {
			o.calls++
			o.cpuTotal += r.Int("duration_ns")
			o.deviceTotal += r.Int("total_device_ns")
		}
		o.selfCPU += r.Int("self_cpu_ns")
		o.selfDevice += r.Int("self_device_ns")
		o.flops += r.Int("flop_count")
		o.selfMemory += r.Int("device_alloc_bytes") - r.Int("device_free_bytes")
		out[name] = o
	}
	return out
}

// truth is a capture with PyTorch's own sums beside it.
type truth struct {
	name, trace, averages string
	operators             int               // compared
	disturbed             map[string]string // operators whose sums PyTorch has otherwise, and which of them
}

func readAverages(t *testing.T, path string) []average {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%v: this test needs the captures beside the repository", err)
	}
	var rows []average
	if err := json.Unmarshal(readAll(t, path), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func ns(us float64) int64 { return int64(math.Round(us * 1000)) }

// The operators that differ from PyTorch's own sums, each by what PyTorch counts besides.
//
// PyTorch takes Kineto's overhead events (Lazy Function Loading, Activity Buffer Request, Buffer Flush) for CPU calls of the thread that ended the
// profile (_populate_cpu_children in profiler_util.py), which so take self time from the operator in which they happened, as ours do, and memory, as ours
// do not. CUPTI flushes buffers on a thread of its own: where that crosses calls of an operator, PyTorch's self time of it can be less than 0. And it looks device work up by one number (device_corr_map in profiler.py's _parse_kineto_results), which is an operator's
// External id or a CUDA call's correlation id: where both are equal, the operator's device work is counted for the CUDA call
// again, and with it for the operators around the call once more.
var truths = []truth{
	{"dsocr", shared + "dsocr-sdpa.trace.json.gz", shared + "dsocr-sdpa.trace.json.key_averages.json", 97, map[string]string{
		"aten::mm":                       "total device",
		"aten::mul":                      "total device",
		"aten::_cudnn_attention_forward": "total device",
		"aten::masked_fill_":             "total device",
		"aten::random_":                  "total device",
		"aten::_to_copy":                 "self CPU, memory", // one call, whose self time PyTorch has as less than 0
		// around these
		"aten::randint": "total device", "aten::linear": "total device", "aten::matmul": "total device", "aten::masked_fill": "total device",
		"aten::scaled_dot_product_attention": "total device", "aten::_scaled_dot_product_cudnn_attention": "total device",
	}},
	{"llama", captures + "llama.trace.json.gz", captures + "llama.key_averages.json.gz", 44, map[string]string{
		"aten::random_": "total device", "aten::randint": "total device"}},
	{"llama-stack", captures + "llama-stack.trace.json.gz", captures + "llama-stack.key_averages.json.gz", 44, map[string]string{
		"aten::random_": "total device", "aten::randint": "total device"}},
}

// TestKeyAverages holds every operator of real traces to PyTorch's own key_averages of them.
func TestKeyAverages(t *testing.T) {
	for _, c := range truths {
		if strings.HasPrefix(c.trace, shared) && !*sample.Whole { // 40 times as large as the others
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			want := readAverages(t, c.averages)
			k, _ := stored(t, c.trace)
			checkOperators(t, operators(k), want, c)
			checkOverhead(t, c.trace, want)
			checkTotals(t, k, want)
			checkWhole(t, k)
		})
	}
}

func checkOperators(t *testing.T, ours map[string]operator, want []average, c truth) {
	t.Helper()
	compared := 0
	for _, a := range want {
		o, ok := ours[a.Name]
		if !ok {
			continue // a kernel, a CUDA call, a range or an overhead event: no operator
		}
		compared++
		// These are never touched by what disturbs PyTorch's sums.
		if d := differing(o, a, "calls", "total CPU", "self device", "FLOP"); d != "" {
			t.Errorf("%s differs in %s: %+v, PyTorch has %+v", a.Name, d, o, a)
		}
		if d := differing(o, a, "self CPU", "total device", "memory"); d != c.disturbed[a.Name] {
			t.Errorf("%s differs in %q, expected %q: %+v, PyTorch has %+v", a.Name, d, c.disturbed[a.Name], o, a)
		}
		delete(ours, a.Name)
	}
	for name := range ours {
		t.Errorf("PyTorch has no %s", name)
	}
	if compared != c.operators {
		t.Errorf("%d operators compared, not %d", compared, c.operators)
	}
}

// differing names the amounts that differ.
func differing(o operator, a average, amounts ...string) string {
	pairs := map[string][2]int64{"calls": {o.calls, a.Calls}, "total CPU": {o.cpuTotal, ns(a.CPUTotal)}, "self device": {o.selfDevice, ns(a.SelfDevice)},
		"FLOP": {o.flops, a.Flops}, "self CPU": {o.selfCPU, ns(a.SelfCPU)}, "total device": {o.deviceTotal, ns(a.DeviceTotal)}, "memory": {o.selfMemory, a.SelfMemory}}
	var out []string
	for _, name := range amounts {
		if p := pairs[name]; p[0] != p[1] {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// isRange matches the names of the ranges in these captures, which PyTorch lists as device rows too.
var isRange = regexp.MustCompile(`^(repeat|decode_step)\[|^LLM@`)

// checkTotals holds device work to the sums of PyTorch's device rows: kernels, copies and fills by name, ranges left out.
func checkTotals(t *testing.T, k *rowstest.Kept, want []average) {
	t.Helper()
	var device, count int64
	for _, a := range want {
		if a.CPUTotal == 0 && a.SelfDevice > 0 && !isRange.MatchString(a.Name) {
			device, count = device+ns(a.SelfDevice), count+a.Calls
		}
	}
	work := slices.Concat(k.Table("kernel"), k.Table("memop"))
	if ns, n := work.Sum("duration_ns"), int64(len(work)); ns != device || n != count {
		t.Errorf("device work is %d ns in %d, PyTorch has %d in %d", ns, n, device, count)
	}
}

// checkOverhead shows how PyTorch takes overhead events: with them among the calls, every operator's self CPU time is PyTorch's, also where that is less
// than 0.
func checkOverhead(t *testing.T, path string, want []average) {
	t.Helper()
	type call struct {
		name       string
		start, end int64
		inside     int64
		isOp       bool
	}
	var calls []*call
	each(t, path, func(e *trace.Event) {
		switch e.Category {
		case trace.CPUOp, trace.UserAnnotation, trace.Runtime, trace.Driver, trace.Overhead:
			calls = append(calls, &call{string(e.Name), e.Start, e.Start + e.Duration, 0, e.Category == trace.CPUOp})
		}
	})
	slices.SortStableFunc(calls, func(a, b *call) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	var stack []*call
	for _, c := range calls {
		for len(stack) > 0 && (stack[len(stack)-1].end <= c.start || stack[len(stack)-1].end < c.end) {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			stack[len(stack)-1].inside += c.end - c.start
		}
		stack = append(stack, c)
	}
	self := map[string]int64{}
	for _, c := range calls {
		if c.isOp {
			self[c.name] += c.end - c.start - c.inside
		}
	}
	for _, a := range want {
		if got, ok := self[a.Name]; ok && got != ns(a.SelfCPU) {
			t.Errorf("%s: with overhead events its self CPU is %d, PyTorch has %d", a.Name, got, ns(a.SelfCPU))
		}
	}
}

// each reads a trace's events.
func each(t *testing.T, path string, f func(e *trace.Event)) {
	t.Helper()
	src := unpack(t, path)
	defer src.Close()
	r := trace.NewReader(src)
	for {
		e, err := r.Next()
		switch {
		case err == io.EOF:
			return
		case err != nil:
			t.Fatalf("%s: %v", filepath.Base(path), err)
		}
		f(e)
	}
}
