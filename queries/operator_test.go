package queries_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// tracedRuns are the captures of the PyTorch profiler in testdata with PyTorch's own sums beside them; different are those of them that hold
// something the others do not.
var (
	tracedRuns = []string{"train", "train-stack", "torch-graph", "torch-cpu", "torch-llama", "llama-stack"}
	different  = []string{"train-stack", "torch-graph", "torch-cpu"}
)

const torchData = "../testdata/torch/"

// sumsOf are the columns of top-operators that PyTorch's sums have too.
var sumsOf = []string{"calls", "self_device_ns", "total_device_ns", "self_cpu_ns", "total_cpu_ns", "flop_count", "device_net_bytes", "host_net_bytes"}

// byKey returns rows by the text of some of their columns.
func byKey(f *frame.Frame, key ...string) map[string][]any {
	out := map[string][]any{}
	for _, r := range f.Rows {
		var k []string
		for _, c := range key {
			k = append(k, fmt.Sprint(r[f.Index(c)]))
		}
		out[strings.Join(k, " ")] = r
	}
	return out
}

// number is a cell that holds a whole number; NULL is 0.
func number(f *frame.Frame, row []any, column string) int64 {
	n, _ := row[f.Index(column)].(int64)
	return n
}

// TestOperators holds the queries over operators on real traces.
func TestOperators(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for name, test := range map[string]func(*testing.T, *schema.Warehouse){"PyTorch": testPyTorch, "order": testOrder, "kernels": testOperatorKernels, "tree": testTree,
		"memory": testMemory, "memory peaks": testMemoryPeaks, "timeline": testMemoryTimeline, "modules": testModules, "stacks": testStacks, "hot lines": testHotLines, "notes": testOperatorNotes} {
		t.Run(name, func(t *testing.T) { test(t, w) })
	}
}

// testPyTorch holds top-operators to the sums that PyTorch saved of the same runs, to the nanosecond and byte.
func testPyTorch(t *testing.T, w *schema.Warehouse) {
	for _, run := range tracedRuns {
		ours := testkit.Query(t, w, "top-operators", queries.Args{"run": run, "top": "0"})
		theirs := testkit.Query(t, w, "top-operators", queries.Args{"run": run, "top": "0", "source": "key_averages"})
		want := byKey(theirs, "operator")
		overhead := want["Activity Buffer Request"]
		for name, got := range byKey(ours, "operator") {
			if strings.HasPrefix(name, "(") { // what ran outside operators
				continue
			}
			if want[name] == nil {
				t.Errorf("%s: PyTorch has no %s", run, name)
				continue
			}
			for _, c := range sumsOf {
				if c == "flop_count" && total(theirs, c) == 0 { // recorded without with_flops
					continue
				}
				diff := number(ours, got, c) - number(theirs, want[name], c)
				if diff != 0 && !known(c, name, diff, theirs, overhead) {
					t.Errorf("%s: %s of %s is %v, of PyTorch %v", run, c, name, got[ours.Index(c)], want[name][theirs.Index(c)])
				}
			}
			delete(want, name)
		}
		ranges := rangeNames(t, w, run)
		for name := range want {
			if !slices.Contains(ranges, name) && name != "ProfilerStep*" && name != "Activity Buffer Request" && name != "(none)" {
				t.Errorf("%s: we have no %s", run, name)
			}
		}
	}
}

// known reports whether a difference from PyTorch's sums has a known reason. It takes its profiler's overhead that begins inside an
// operator for one more operator there, with the kernels launched meanwhile; and it adds the total of a call within one of the
// same operator again.
func known(column, operator string, diff int64, theirs *frame.Frame, overhead []any) bool {
	again := operator == "aten::arange" && diff < 0 && strings.HasPrefix(column, "total_")
	return again || overhead != nil && column == "total_device_ns" && -diff == number(theirs, overhead, "self_device_ns")
}

// rangeNames are the raw names of a run's ranges, as PyTorch's sums write them.
func rangeNames(t *testing.T, w *schema.Warehouse, run string) []string {
	t.Helper()
	var out []string
	for _, r := range rows(t, w, "SELECT DISTINCT name FROM nvtx_range WHERE run_id = _run_id("+schema.Quote(run)+")") {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(r, "["), "]"))
	}
	return out
}

// plainShapes writes shapes as PyTorch's sums do, which leave out those of lists of tensors.
func plainShapes(t *testing.T, text any) string {
	t.Helper()
	if text == nil {
		return "[]"
	}
	var list []any
	if err := json.Unmarshal([]byte(text.(string)), &list); err != nil {
		t.Fatal(err)
	}
	for i, x := range list {
		if sizes := x.([]any); len(sizes) > 0 {
			if _, nested := sizes[0].([]any); nested {
				list[i] = []any{}
			}
		}
	}
	out, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(out), ",", ", ")
}

// TestPrintedOperators: shares of a table that an engine printed are of all GPU work, most of which no operator of it launched.
func TestPrintedOperators(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, operatorRuns...)
	for _, query := range []string{"top-operators", "operator-shapes"} {
		f := testkit.Query(t, w, query, queries.Args{"run": "printed"})
		var got []string
		for _, r := range f.Rows {
			got = append(got, fmt.Sprint(r[f.Index("operator")], " ", r[f.Index("self_device_ns")], " ", r[f.Index("share_ratio")]))
		}
		want := []string{"(none) 90000000 0.9", "aten::copy_ 10000000 0.1"}
		if query == "operator-shapes" {
			want = want[1:]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s gives %q, want %q", query, got, want)
		}
	}
}

// TestOperatorsByShape holds the sums by inputs to PyTorch's. Ours tell types apart too.
func TestOperatorsByShape(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, operatorRuns...)
	args := queries.Args{"run": "by shapes", "top": "0", "by": "name+shape"}
	f := testkit.Query(t, w, "top-operators", args)
	args["source"] = "key_averages"
	truth := testkit.Query(t, w, "top-operators", args)
	sums := func(f *frame.Frame) map[string][]int64 {
		out := map[string][]int64{}
		for _, r := range f.Rows {
			k := fmt.Sprint(r[f.Index("operator")], " ", plainShapes(t, r[f.Index("shapes")]))
			if out[k] == nil {
				out[k] = make([]int64, len(sumsOf))
			}
			for i, c := range sumsOf {
				out[k][i] += number(f, r, c)
			}
		}
		return out
	}
	want, compared := sums(truth), 0
	for k, got := range sums(f) {
		if !slices.Equal(got, want[k]) {
			t.Errorf("%s: %v, of PyTorch %v", k, got, want[k])
		}
		compared++
	}
	if compared < 250 || len(want)-compared > 10 {
		t.Errorf("%d rows compared of %d", compared, len(want))
	}
	if note := folder.ReplaceAllString(strings.Join(truth.Notes, "\n"), ""); !strings.Contains(note, "of 2 tables of sums this counts torch/train.key_averages.json.gz, and by shapes torch/train.shapes.key_averages.json.gz") {
		t.Errorf("the notes are %q", truth.Notes)
	}
	shapes := testkit.Query(t, w, "operator-shapes", queries.Args{"run": "by shapes", "top": "0"})
	if len(shapes.Rows) != len(f.Rows) || total(shapes, "calls") != total(f, "calls") || total(shapes, "self_device_ns") != total(f, "self_device_ns") {
		t.Errorf("operator-shapes has %d rows, top-operators %d", len(shapes.Rows), len(f.Rows))
	}
	for _, r := range shapes.Rows {
		at := func(c string) float64 { v, _ := r[shapes.Index(c)].(float64); return v }
		lo, hi := number(shapes, r, "min_ns"), number(shapes, r, "max_ns")
		if lo > hi || at("mean_ns") < float64(lo) || at("mean_ns") > float64(hi) || math.Abs(at("mean_ns")*float64(number(shapes, r, "calls"))-float64(number(shapes, r, "total_device_ns"))) > 1 {
			t.Errorf("the calls of %v contradict their sum", r)
		}
	}
}

// testOrder holds the orders of top-operators, what a glob picks, and that the stages are a partition of the whole.
func testOrder(t *testing.T, w *schema.Warehouse) {
	for sort, by := range map[string]string{"self_device": "self_device_ns", "total_device": "total_device_ns", "self_cpu": "self_cpu_ns", "total_cpu": "total_cpu_ns",
		"memory": "device_alloc_bytes", "calls": "calls"} {
		f := testkit.Query(t, w, "top-operators", queries.Args{"run": "train", "sort": sort, "top": "7"})
		if len(f.Rows) != 7 || !slices.IsSortedFunc(f.Rows, func(a, b []any) int { return int(number(f, b, by) - number(f, a, by)) }) {
			t.Errorf("by %s: %v", sort, column(f, by))
		}
	}
	for _, run := range []string{"torch-graph", "emit-nvtx"} {
		whole, of := testkit.Query(t, w, "top-operators", queries.Args{"run": run, "top": "0"}), []*frame.Frame{}
		for _, stage := range []string{"prefill", "decode", "(none)"} {
			of = append(of, testkit.Query(t, w, "top-operators", queries.Args{"run": run, "top": "0", "stage": stage}))
		}
		for _, c := range []string{"calls", "self_device_ns", "self_cpu_ns", "work_count", "flop_count"} {
			var parts int64
			for _, f := range of {
				parts += total(f, c)
			}
			if parts != total(whole, c) || parts == 0 {
				t.Errorf("%s: the stages have %d %s, the run %d", run, parts, c, total(whole, c))
			}
		}
		if f := testkit.Query(t, w, "top-operators", queries.Args{"run": run, "operator": "aten::mm, aten::add*"}); len(f.Rows) < 2 ||
			slices.ContainsFunc(column(f, "operator"), func(n any) bool { return !regexp.MustCompile(`^aten::(mm$|add)`).MatchString(n.(string)) }) {
			t.Errorf("%s: %v", run, column(f, "operator"))
		}
	}
}

// TestRanksAreSummed holds that several traces of a run are one whole.
func TestRanksAreSummed(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, operatorRuns...)
	for _, c := range []struct {
		query   string
		columns []string
		args    queries.Args
	}{
		{"top-operators", []string{"calls", "self_device_ns", "total_device_ns", "total_cpu_ns", "flop_count"}, queries.Args{"top": "0"}},
		{"operator-kernels", []string{"calls", "total_ns"}, queries.Args{"by": "outermost"}},
		{"operator-tree", []string{"calls", "self_device_ns", "self_cpu_ns"}, queries.Args{"depth": "0", "min_ratio": "0"}},
		{"operator-stacks", []string{"calls", "self_cpu_ns"}, queries.Args{"top": "0"}},
		{"memory", []string{"live_bytes"}, queries.Args{}},
		{"memory-timeline", []string{"alloc_bytes", "alloc_count"}, queries.Args{}},
	} {
		of := func(w *schema.Warehouse, run string) *frame.Frame {
			args := maps.Clone(c.args)
			args["run"] = run
			return testkit.Query(t, w, c.query, args)
		}
		both, one, other := of(w, "both"), of(w, "alone"), of(testkit.All(t), "train-stack")
		for _, x := range c.columns {
			if got, want := total(both, x), total(one, x)+total(other, x); got != want || got == 0 {
				t.Errorf("%s: %s of both is %d, not %d", c.query, x, got, want)
			}
		}
		if says := slices.Contains(both.Notes, "the operators of 2 traces are added up"); says != !strings.HasPrefix(c.query, "memory") {
			t.Errorf("%s: the notes are %q", c.query, both.Notes)
		}
	}
}
