package queries_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// event is a row of memory_event.
type event struct {
	device               string
	address, size, total int64
	at                   int64
	operator             string
}

// events returns a run's allocations and releases in order.
func events(t *testing.T, w *schema.Warehouse, run string) []event {
	t.Helper()
	f, err := queries.Raw(t.Context(), w, fmt.Sprintf(`SELECT m.device_type, m.address, m.size_bytes, coalesce(m.allocated_bytes, 0), m.time_ns, coalesce(n.name, '(none)')
		FROM memory_event m LEFT JOIN op o USING (run_id, op_id) LEFT JOIN op_name n USING (run_id, op_name_id) WHERE m.run_id = _run_id('%s') ORDER BY m.time_ns`, run))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]event, len(f.Rows))
	for i, r := range f.Rows {
		out[i] = event{r[0].(string), r[1].(int64), r[2].(int64), r[3].(int64), r[4].(int64), r[5].(string)}
	}
	return out
}

// replay plays allocations and releases of one kind of memory up to its first highest total, and gives that moment, the total, and what
// each operator holds then.
func replay(all []event, device string) (at, peak int64, held map[string]int64) {
	live := map[int64]event{}
	for _, e := range all {
		if e.device != device {
			continue
		}
		delete(live, e.address)
		if e.size > 0 {
			live[e.address] = e
		}
		if e.total > peak {
			at, peak, held = e.at, e.total, map[string]int64{}
			for _, l := range live {
				held[l.operator] += l.size
			}
		}
	}
	return at, peak, held
}

// testMemory holds who holds the memory at its peak to a replay of the events, and that the rows add up to the peak.
func testMemory(t *testing.T, w *schema.Warehouse) {
	for _, run := range tracedRuns {
		f := testkit.Query(t, w, "memory", queries.Args{"run": run})
		all := events(t, w, run)
		for _, device := range []string{"cpu", "cuda"} {
			at, peak, want := replay(all, device)
			got, sum := map[string]int64{}, int64(0)
			for _, r := range f.Rows {
				if r[0] != device {
					continue
				}
				if number(f, r, "peak_bytes") != peak || number(f, r, "peak_time_ns") != at {
					t.Errorf("%s: the peak of %s is %d bytes at %d ns, in %v", run, device, peak, at, r)
				}
				got[r[f.Index("operator")].(string)] += number(f, r, "live_bytes")
				sum += number(f, r, "live_bytes")
			}
			if sum != peak || (peak == 0) != (run == "torch-cpu" && device == "cuda") {
				t.Errorf("%s: the rows of %s add up to %d bytes, the peak is %d", run, device, sum, peak)
			}
			if (got["(before the capture)"] > 0) != (device == "cuda" && peak > 0) {
				t.Errorf("%s: %s has %d bytes from before the capture", run, device, got["(before the capture)"])
			}
			delete(got, "(before the capture)")
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %s is held by %v, in a replay by %v", run, device, got, want)
			}
		}
	}
	f := testkit.Query(t, w, "memory", queries.Args{"run": "torch-graph"})
	if r := f.Rows[1]; fmt.Sprint(r[:6]) != "[cuda 0 aten::addmm aten::linear prefill prefill]" || number(f, r, "allocation_count") != 3 {
		t.Errorf("most is held by %v", r)
	}
	if f := testkit.Query(t, w, "memory", queries.Args{"run": "train", "top": "1"}); len(f.Rows) != 2 {
		t.Errorf("one row of each memory: %v", f.Rows)
	}
}

// testMemoryTimeline holds that the steps hold the peak and everything that was allocated and freed.
func testMemoryTimeline(t *testing.T, w *schema.Warehouse) {
	for _, run := range different {
		all := events(t, w, run)
		for _, n := range []int{1, 7, 5000} {
			f := testkit.Query(t, w, "memory-timeline", queries.Args{"run": run, "buckets": fmt.Sprint(n)})
			for _, device := range []string{"cpu", "cuda"} {
				_, peak, _ := replay(all, device)
				var alloc, free, count, most, wantAlloc, wantFree, wantCount int64
				steps := 0
				for _, r := range f.Rows {
					if r[0] == device {
						steps++
						alloc, free, count = alloc+number(f, r, "alloc_bytes"), free+number(f, r, "free_bytes"), count+number(f, r, "alloc_count")
						most = max(most, number(f, r, "allocated_max_bytes"))
					}
				}
				for _, e := range all {
					if e.device == device {
						wantAlloc, wantFree = wantAlloc+max(e.size, 0), wantFree+max(-e.size, 0)
						if e.size > 0 {
							wantCount++
						}
					}
				}
				if alloc != wantAlloc || free != wantFree || count != wantCount || most != peak || steps != n && wantCount > 0 {
					t.Errorf("%s: %s in %d steps (%d): %d allocations of %d bytes, %d freed, at most %d; want %d, %d, %d, %d", run, device, n, steps, count, alloc, free, most, wantCount, wantAlloc, wantFree, peak)
				}
			}
		}
	}
}

// TestMemoryCorners holds what is live when addresses are used again, releases are missing, totals unknown or moments the same.
func TestMemoryCorners(t *testing.T) {
	t.Parallel()
	cases := []struct{ events, want string }{
		// An address in use twice: freed, taken anew, and held at the peak.
		{"(1, 10, 4, 104), (2, 10, -4, 100), (3, 10, 8, 108), (4, 20, 1, 109), (5, 10, -8, 101)", "(before the capture) 100, (none) 9"},
		// Freed in the moment in which it is taken anew.
		{"(1, 10, 4, 104), (2, 10, 8, 108), (2, 10, -4, 100), (3, 10, -8, 100)", "(before the capture) 100, (none) 8"},
		// A release of what was there before the capture; one that is missing: the address is given out again.
		{"(1, 99, -7, 100), (2, 10, 4, 104), (3, 10, 6, 106)", "(before the capture) 100, (none) 6"},
		// Without addresses nothing is known to be live.
		{"(1, NULL, 4, 104), (2, NULL, 5, 109)", "(before the capture) 109"},
		// Without totals the sum counts.
		{"(1, 10, 4, NULL), (2, 20, 5, NULL), (3, 10, -4, NULL), (4, 30, 3, NULL)", "(none) 9"},
		// The first of equal peaks.
		{"(1, 10, 4, 4), (2, 10, -4, 0), (3, 20, 4, 4)", "(none) 4"},
	}
	var runs []testkit.Run
	for i, c := range cases {
		runs = append(runs, testkit.Run{Name: fmt.Sprint(i), Files: []string{"torch/cpu.trace.json.gz"}, Facts: []string{"memory_peak"}, SQL: `DELETE FROM memory_event WHERE run_id = $run;
			INSERT INTO memory_event SELECT $run, 1, 7, 7, x.ns, 'cuda', 0, x.address, x.size, x.total, NULL, 0, 0, 0 FROM (VALUES ` + c.events + `) x(ns, address, size, total)`})
	}
	w := testkit.Warehouse(t, runs...)
	for i, c := range cases {
		f := testkit.Query(t, w, "memory", queries.Args{"run": runs[i].Name})
		var got []string
		for _, r := range f.Rows {
			got = append(got, fmt.Sprint(r[f.Index("operator")], " ", r[f.Index("live_bytes")]))
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v, want %s", c.events, got, c.want)
		}
	}
}

// testOperatorNotes holds what is said when a run lacks what a query is about.
func testOperatorNotes(t *testing.T, w *schema.Warehouse) {
	more := testkit.Warehouse(t, operatorRuns...)
	const noCalls = "PyTorch's sums have no single operator calls: see prof query top-operators"
	const none = "the run has no operators: record them with the PyTorch profiler (activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) or with Nsight Systems inside torch.autograd.profiler.emit_nvtx(record_shapes=True)"
	const sums = "these are PyTorch's own sums, which count ranges and the profiler's overhead as operators"
	const tables = "of 2 tables of sums this counts torch/train.key_averages.json.gz, and by shapes torch/train.shapes.key_averages.json.gz"
	for _, c := range []struct {
		query string
		args  queries.Args
		rows  bool
		want  []string
	}{
		{"top-operators", queries.Args{"run": "kernels"}, false, []string{none}},
		{"operator-tree", queries.Args{"run": "kernels"}, false, []string{none}},
		{"operator-kernels", queries.Args{"run": "kernels"}, false, []string{none}},
		{"operator-shapes", queries.Args{"run": "kernels"}, false, []string{none}},
		{"operator-stacks", queries.Args{"run": "kernels"}, false, []string{none, "no Python functions were recorded: use torch.profiler.profile(with_stack=True)"}},
		{"memory", queries.Args{"run": "kernels"}, false, []string{"no allocations were recorded: use prof capture with --torch-memory, or torch.profiler.profile(profile_memory=True) without profile_all_threads"}},
		{"memory-timeline", queries.Args{"run": "averages"}, false, []string{"no allocations were recorded: use prof capture with --torch-memory, or torch.profiler.profile(profile_memory=True) without profile_all_threads"}},
		{"module-times", queries.Args{"run": "train"}, false, []string{"no Python functions were recorded: use torch.profiler.profile(with_stack=True)"}},
		{"module-times", queries.Args{"run": "train-stack"}, true, nil},
		{"top-operators", queries.Args{"run": "alone"}, true, nil},
		{"operator-shapes", queries.Args{"run": "alone"}, true, nil},
		{"top-operators", queries.Args{"run": "train"}, true, []string{"the run also has operators from key_averages; this counts those from torch: --source key_averages for others"}},
		{"operator-tree", queries.Args{"run": "train", "source": "key_averages"}, false, []string{"the run also has operators from torch; this counts those from key_averages: --source torch for others", noCalls}},
		{"operator-kernels", queries.Args{"run": "averages"}, false, []string{noCalls}},
		{"top-operators", queries.Args{"run": "averages"}, true, []string{sums, tables}},
		{"operator-shapes", queries.Args{"run": "averages"}, true, []string{sums, tables}},
		{"operator-shapes", queries.Args{"run": "plain"}, true, []string{sums, "the sums are not by input shape: save key_averages(group_by_input_shape=True), recorded with record_shapes=True"}},
		{"top-operators", queries.Args{"run": "two"}, true, []string{"the run also has operators from nsys; this counts those from torch: --source nsys for others", "the operators of 2 traces are added up"}},
		{"operator-tree", queries.Args{"run": "two", "source": "nsys"}, true, []string{"the run also has operators from torch; this counts those from nsys: --source torch for others"}},
		{"top-operators", queries.Args{"run": "alone", "operator": "linear"}, false, []string{"no operator matches linear; the nearest are aten::linear, "}},
		{"operator-tree", queries.Args{"run": "alone", "root": "linear"}, false, []string{"no operator matches linear; the nearest are aten::linear, "}},
		{"top-operators", queries.Args{"run": "alone", "source": "nsys"}, false, []string{"the run has no operators from nsys, only from torch"}},
	} {
		from := w
		if slices.ContainsFunc(operatorRuns, func(r testkit.Run) bool { return r.Name == c.args["run"] }) {
			from = more
		}
		f := testkit.Query(t, from, c.query, c.args)
		if (len(f.Rows) > 0) != c.rows {
			t.Errorf("%s of %v: %d rows", c.query, c.args, len(f.Rows))
		}
		for i, n := range f.Notes {
			f.Notes[i] = folder.ReplaceAllString(n, "")
		}
		notes := slices.DeleteFunc(slices.Clone(f.Notes), func(n string) bool {
			return strings.HasPrefix(n, "nothing has --source") || strings.Contains(n, "was launched outside every operator")
		})
		ok := len(notes) == len(c.want)
		for _, want := range c.want {
			ok = ok && slices.ContainsFunc(notes, func(n string) bool { return n == want || strings.HasSuffix(want, ", ") && strings.HasPrefix(n, want) })
		}
		if !ok {
			t.Errorf("%s of %v: the notes are %q, want %q", c.query, c.args, notes, c.want)
		}
	}
}

// folder is the path of testdata.
var folder = regexp.MustCompile(`\S*/testdata/`)

// operatorRuns have sums of operators alone, or traces alone, or several of them.
var operatorRuns = []testkit.Run{
	{Name: "averages", Files: []string{"torch/train.key_averages.json.gz", "torch/train.shapes.key_averages.json.gz"}},
	{Name: "by shapes", Files: []string{"torch/train.trace.json.gz", "torch/train.key_averages.json.gz", "torch/train.shapes.key_averages.json.gz"}},
	{Name: "plain", Files: []string{"torch/cpu.key_averages.json.gz"}},
	{Name: "alone", Files: []string{"torch/train.trace.json.gz"}},
	{Name: "two", Files: []string{"torch/llama.trace.json.gz", "torch/llama-stack.trace.json.gz", "nsys/emit-nvtx/emit-nvtx.sqlite.gz"}},
	{Name: "both", Files: []string{"torch/train.trace.json.gz", "torch/train-stack.trace.json.gz"}},
	{Name: "printed", Files: []string{"lost/profiler_out_0.txt"}},
}

// TestOperatorArguments holds that invalid arguments are said to be wrong.
func TestOperatorArguments(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, operatorRuns...)
	for _, c := range []struct{ query, run, param, value, want string }{
		{"top-operators", "both", "by", "shape", "--by is name or name+shape"},
		{"top-operators", "averages", "by", "shape", "--by is name or name+shape"},
		{"top-operators", "both", "sort", "time", "--sort is self_device, total_device, self_cpu, total_cpu, memory or calls"},
		{"top-operators", "both", "source", "ncu", "--source is torch, prof, nsys, xla or key_averages"},
		{"top-operators", "averages", "stage", "prefill", "--stage needs the calls of operators; key_averages has only their sums"},
		{"operator-kernels", "both", "by", "name", "--by is self, outermost or total"},
		{"operator-stacks", "both", "by", "name", "--by is operator or function"},
		{"module-times", "both", "by", "type", "--by is path, name or class"},
		{"memory-timeline", "both", "buckets", "0", "--buckets is 1 to 100000"},
	} {
		q, err := queries.Find(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = queries.Run(t.Context(), w, q, queries.Args{"run": c.run, c.param: c.value}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s --%s %s: the error is %v", c.query, c.param, c.value, err)
		}
	}
}

// TestPartial: a trace that was cut says under every answer what it lacks, and gives no zeros for what it does not know.
func TestPartial(t *testing.T) {
	t.Parallel()
	text := unpacked(t, torchData+"llama.trace.json.gz")
	path := filepath.Join(t.TempDir(), "cut.trace.json")
	if err := os.WriteFile(path, text[:len(text)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	w := testkit.Warehouse(t, testkit.Run{Name: "cut", Files: []string{path}})
	for _, name := range []string{"top-operators", "operator-tree", "stages", "memory"} {
		f := testkit.Query(t, w, name, queries.Args{"run": "cut"})
		if !slices.ContainsFunc(f.Notes, func(n string) bool { return strings.Contains(n, "is partial: at byte ") }) {
			t.Errorf("%s: the notes are %q", name, f.Notes)
		}
		if name == "top-operators" && (len(f.Rows) == 0 || f.Rows[0][f.Index("self_device_ns")] != nil || f.Rows[0][f.Index("self_cpu_ns")] == nil) {
			t.Errorf("the first operator is %v", f.Rows[0])
		}
	}
	f := testkit.Query(t, testkit.All(t), "top-operators", queries.Args{"run": "torch-graph"})
	if want := "75.2 % of the device work (0.355 of 0.473 ms) is graph replays, and the capture does not say"; !slices.ContainsFunc(f.Notes, func(n string) bool { return strings.HasPrefix(n, want) }) {
		t.Errorf("the notes of graph are %q", f.Notes)
	}
}

func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
