package queries_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// one returns the only cell of a statement's result.
func one(t *testing.T, w *schema.Warehouse, stmt string) int64 {
	t.Helper()
	f, err := queries.Raw(t.Context(), w, stmt)
	if err != nil || len(f.Rows) != 1 {
		t.Fatalf("%s: %v, %v", stmt, f, err)
	}
	n, _ := f.Rows[0][0].(int64)
	return n
}

// testOperatorKernels holds that each piece of device work has one innermost and one outermost operator or none, and that the work of
// an operator is what top-operators says.
func testOperatorKernels(t *testing.T, w *schema.Warehouse) {
	for _, run := range append(slices.Clone(different), "emit-nvtx") {
		work := one(t, w, fmt.Sprintf("SELECT coalesce(sum(duration_ns), 0)::BIGINT FROM (SELECT run_id, duration_ns FROM kernel UNION ALL SELECT run_id, duration_ns FROM memop) WHERE run_id = _run_id('%s')", run))
		ops := testkit.Query(t, w, "top-operators", queries.Args{"run": run, "top": "0"})
		want := byKey(ops, "operator")
		for by, col := range map[string]string{"self": "self_device_ns", "outermost": "", "total": "total_device_ns"} {
			f := testkit.Query(t, w, "operator-kernels", queries.Args{"run": run, "by": by})
			got, calls := map[string]int64{}, map[string]int64{}
			for _, r := range f.Rows {
				name := r[f.Index("operator")].(string)
				got[name] += number(f, r, "total_ns")
				calls[name] += number(f, r, "calls")
			}
			if by != "total" && total(f, "total_ns") != work {
				t.Errorf("%s: by %s %d ns of %d", run, by, total(f, "total_ns"), work)
			}
			if (len(f.Rows) == 0) != (run == "torch-cpu") {
				t.Errorf("%s: by %s %d rows", run, by, len(f.Rows))
			}
			for name, row := range want {
				if col != "" && got[name] != number(ops, row, col) || by == "self" && calls[name] != number(ops, row, "work_count") {
					t.Errorf("%s: by %s %s has %d ns in %d pieces, of top-operators %v", run, by, name, got[name], calls[name], row)
				}
			}
			if run != "torch-graph" || len(f.Rows) == 0 {
				continue
			}
			var stages int64
			for _, s := range []string{"prefill", "decode", "(none)"} {
				stages += total(testkit.Query(t, w, "operator-kernels", queries.Args{"run": run, "by": by, "stage": s}), "calls")
			}
			if stages != total(f, "calls") {
				t.Errorf("%s: by %s the stages have %d pieces of %d", run, by, stages, total(f, "calls"))
			}
		}
	}
	f := testkit.Query(t, w, "operator-kernels", queries.Args{"run": "train", "operator": "aten::scaled_dot_product_attention"})
	if len(f.Rows) != 1 || !strings.HasPrefix(f.Rows[0][1].(string), "fmha_cutlassF_f32_aligned_64x64_rf_sm80(") || number(f, f.Rows[0], "calls") != 4 {
		t.Errorf("attention ends up in %v", f.Rows)
	}
	if f := testkit.Query(t, w, "operator-kernels", queries.Args{"run": "train", "top": "1"}); len(f.Rows) == 0 || len(byKey(f, "operator")) != len(f.Rows) {
		t.Errorf("one kernel each: %d rows of %d operators", len(f.Rows), len(byKey(f, "operator")))
	}
}

// testTree holds that the levels of the tree add up, and that its first level is the outermost operators.
func testTree(t *testing.T, w *schema.Warehouse) {
	for _, run := range append(slices.Clone(different), "emit-nvtx") {
		all := queries.Args{"run": run, "depth": "0", "min_ratio": "0"}
		f := testkit.Query(t, w, "operator-tree", all)
		if got, want := total(f, "calls"), one(t, w, fmt.Sprintf("SELECT count(*) FROM op WHERE run_id = _run_id('%s')", run)); got != want {
			t.Errorf("%s: %d calls of %d", run, got, want)
		}
		checkTree(t, run, f)
		for col, from := range map[string]string{"total_device_ns": "total_device_ns", "total_cpu_ns": "duration_ns"} {
			var top int64
			for _, r := range f.Rows {
				if number(f, r, "depth") == 1 {
					top += number(f, r, col)
				}
			}
			if want := one(t, w, fmt.Sprintf("SELECT sum(%s)::BIGINT FROM op WHERE run_id = _run_id('%s') AND parent_op_id IS NULL", from, run)); top != want {
				t.Errorf("%s: %s of the first level is %d, of the outermost operators %d", run, col, top, want)
			}
		}
		some := testkit.Query(t, w, "operator-tree", queries.Args{"run": run, "depth": "2", "min_ratio": "0.02"})
		if len(some.Rows) == 0 || len(some.Rows) >= len(f.Rows) || slices.ContainsFunc(column(some, "depth"), func(d any) bool { return d.(int64) > 2 }) ||
			slices.ContainsFunc(column(some, "share_ratio"), func(x any) bool { return x.(float64) < 0.02 }) {
			t.Errorf("%s: two levels: %v", run, some.Rows)
		}
		if run != "torch-graph" {
			continue
		}
		var stages int64
		for _, s := range []string{"prefill", "decode", "(none)"} {
			all["stage"] = s
			stages += total(testkit.Query(t, w, "operator-tree", all), "calls")
		}
		if stages != total(f, "calls") {
			t.Errorf("%s: the stages have %d calls of %d", run, stages, total(f, "calls"))
		}
	}
	ops := testkit.Query(t, w, "top-operators", queries.Args{"run": "train", "operator": "aten::linear"})
	f := testkit.Query(t, w, "operator-tree", queries.Args{"run": "train", "root": "aten::linear"})
	if len(f.Rows) < 4 || f.Rows[0][f.Index("operator")] != "aten::linear" || number(f, f.Rows[0], "calls") != number(ops, ops.Rows[0], "calls") ||
		number(f, f.Rows[0], "total_device_ns") != number(ops, ops.Rows[0], "total_device_ns") ||
		f.Rows[0][f.Index("share_ratio")] != float64(number(f, f.Rows[0], "total_device_ns"))/float64(one(t, w, "SELECT (SELECT sum(duration_ns) FROM kernels WHERE run = 'train')::BIGINT + (SELECT sum(duration_ns) FROM memops WHERE run = 'train')::BIGINT")) {
		t.Errorf("the tree of aten::linear is %v, in top-operators %v", f.Rows, ops.Rows)
	}
	// Roots inside other operators give one tree: mm is called by several.
	if f := testkit.Query(t, w, "operator-tree", queries.Args{"run": "train", "root": "aten::mm"}); len(f.Rows) != 1 || number(f, f.Rows[0], "calls") != 40 {
		t.Errorf("the tree of aten::mm is %v", f.Rows)
	}
}

// checkTree holds that device time is that of the operator itself and of its branches, that CPU time of the branches is no more than
// the whole, and that branches are indented and in order.
func checkTree(t *testing.T, run string, f *frame.Frame) {
	t.Helper()
	for i, r := range f.Rows {
		depth, device, cpu := number(f, r, "depth"), number(f, r, "self_device_ns"), number(f, r, "self_cpu_ns")
		last := int64(-1)
		for _, b := range f.Rows[i+1:] {
			d := number(f, b, "depth")
			if d <= depth {
				break
			}
			if d > depth+1 {
				continue
			}
			n := number(f, b, "total_device_ns")
			if last >= 0 && n > last {
				t.Errorf("%s: %v stands behind a smaller branch", run, b)
			}
			device, cpu, last = device+n, cpu+number(f, b, "total_cpu_ns"), n
		}
		if device != number(f, r, "total_device_ns") || cpu > number(f, r, "total_cpu_ns") {
			t.Errorf("%s: the branches of %v have %d ns of device and %d ns of CPU time", run, r, device, cpu)
		}
		name := r[f.Index("operator")].(string)
		if int64(len(name)-len(strings.TrimLeft(name, " "))) != 2*(depth-1) {
			t.Errorf("%s: %q is on level %d", run, name, depth)
		}
	}
}

// testModules holds that the times of modules add up: each module is itself and those next inside it, the outermost ones are the
// whole, and other keys give the same sums.
func testModules(t *testing.T, w *schema.Warehouse) {
	for _, run := range []string{"train-stack"} {
		f := testkit.Query(t, w, "module-times", queries.Args{"run": run})
		rows := byKey(f, "module")
		if len(rows) < 10 {
			t.Fatalf("%s: %v", run, column(f, "module"))
		}
		var device, cpu int64
		inside := map[string][2]int64{}
		for name, r := range rows {
			own := [2]int64{number(f, r, "total_device_ns"), number(f, r, "total_cpu_ns")}
			at := strings.LastIndex(name, " > ")
			if at < 0 {
				device, cpu = device+own[0], cpu+own[1]
				continue
			}
			around := inside[name[:at]]
			inside[name[:at]] = [2]int64{around[0] + own[0], around[1] + own[1]}
		}
		for name, r := range rows {
			if in := inside[name]; number(f, r, "self_device_ns")+in[0] != number(f, r, "total_device_ns") || number(f, r, "self_cpu_ns")+in[1] != number(f, r, "total_cpu_ns") {
				t.Errorf("%s: those inside %s have %v, it has %v", run, name, in, r)
			}
		}
		for _, by := range []string{"path", "name", "class"} {
			g := testkit.Query(t, w, "module-times", queries.Args{"run": run, "by": by})
			if total(g, "self_device_ns") != device || total(g, "self_cpu_ns") != cpu || total(g, "calls") != total(f, "calls") || total(g, "backward_device_ns") != total(f, "backward_device_ns") || device == 0 {
				t.Errorf("%s: by %s %d ns of device and %d ns of CPU time in %d calls; the outermost have %d and %d", run, by, total(g, "self_device_ns"), total(g, "self_cpu_ns"), total(g, "calls"), device, cpu)
			}
		}
		if g := testkit.Query(t, w, "module-times", queries.Args{"run": run, "depth": "1"}); total(g, "total_device_ns") != device || slices.ContainsFunc(column(g, "module"), func(n any) bool { return strings.Contains(n.(string), ">") }) {
			t.Errorf("%s: the outermost modules are %v", run, g.Rows)
		}
	}
	// The backward of each operator that a module called is that module's.
	f := testkit.Query(t, w, "module-times", queries.Args{"run": "train-stack", "by": "class"})
	classes := byKey(f, "module")
	back := testkit.Query(t, w, "top-operators", queries.Args{"run": "train-stack", "operator": "ConvolutionBackward0"})
	if got, want := number(f, classes["Conv2d"], "backward_device_ns"), total(back, "total_device_ns"); got != want || got == 0 {
		t.Errorf("the backward of Conv2d has %d ns, not %d", got, want)
	}
	if calls := number(f, classes["Linear"], "calls"); calls != 18 {
		t.Errorf("%d calls of Linear", calls)
	}
	// A module inside one of its own class is not added again.
	nested := testkit.Warehouse(t, testkit.Run{Name: "train-stack", Files: []string{"torch/train-stack.trace.json.gz", "torch/train-stack.key_averages.json.gz"}, Facts: []string{"module_sum"},
		SQL: "UPDATE python_stack SET module_path = replace(module_path, 'Sequential_', 'Block_1') WHERE run_id = $run"})
	g := testkit.Query(t, nested, "module-times", queries.Args{"run": "train-stack", "by": "class"})
	if now := byKey(g, "module")["Block"]; number(g, now, "total_device_ns") != number(f, classes["Block"], "total_device_ns") || number(g, now, "calls") != number(f, classes["Block"], "calls")+number(f, classes["Sequential"], "calls") ||
		number(g, now, "self_cpu_ns") != number(f, classes["Block"], "self_cpu_ns")+number(f, classes["Sequential"], "self_cpu_ns") {
		t.Errorf("nested in its own class: %v, before %v", now, classes["Block"])
	}
}

// testStacks holds that the functions of operators are a partition of the operators' self times.
func testStacks(t *testing.T, w *schema.Warehouse) {
	for _, run := range append(slices.Clone(different), "emit-nvtx") {
		ops := testkit.Query(t, w, "top-operators", queries.Args{"run": run, "top": "0"})
		ops.Rows = slices.DeleteFunc(ops.Rows, func(r []any) bool { return strings.HasPrefix(r[ops.Index("operator")].(string), "(") }) // what ran outside them
		for _, args := range []queries.Args{{}, {"by": "function"}, {"frames": "1", "with_torch": "true"}} {
			args["run"], args["top"] = run, "0"
			f := testkit.Query(t, w, "operator-stacks", args)
			for _, c := range []string{"calls", "self_device_ns", "self_cpu_ns"} {
				if total(f, c) != total(ops, c) {
					t.Errorf("%s: %v: %s is %d, of the operators %d", run, args, c, total(f, c), total(ops, c))
				}
			}
		}
	}
	f := testkit.Query(t, w, "operator-stacks", queries.Args{"run": "train-stack", "operator": "aten::cudnn_convolution", "frames": "2"})
	if len(f.Rows) != 1 || f.Rows[0][f.Index("functions")] != "nn.Module: Conv2d_0 < torch_more.py(32): forward" {
		t.Errorf("the convolution is called in %v", f.Rows)
	}
	f = testkit.Query(t, w, "operator-stacks", queries.Args{"run": "train-stack", "operator": "aten::cudnn_convolution", "frames": "2", "with_torch": "true"})
	if len(f.Rows) != 1 || !strings.HasPrefix(f.Rows[0][f.Index("functions")].(string), "<built-in method conv2d") {
		t.Errorf("the convolution is called in %v", f.Rows)
	}
}

// stepTrace writes a trace of the PyTorch profiler of steps of these names and lengths in us, each of which launches a kernel of 5 us four times.
func stepTrace(t *testing.T, names []string, lengths []int) string {
	t.Helper()
	var events []string
	at, id := 1000, 1
	for i, name := range names {
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":%q,"pid":7,"tid":7,"ts":%d,"dur":%d,"args":{}}`, name, at, lengths[i]-10))
		for call := range 4 {
			start := at + (call+1)*lengths[i]/5
			events = append(events,
				fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":%d,"dur":6,"args":{"External id":%d}}`, start, id),
				fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":%d,"dur":3,"args":{"External id":%d,"correlation":%d}}`, start+1, id, id),
				fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":%d,"dur":5,"args":{"External id":%d,"correlation":%d,"device":0,"stream":7,"context":1,"grid":[1,1,1],"block":[32,1,1]}}`, start+5, id, id))
			id++
		}
		at += lengths[i]
	}
	path := filepath.Join(t.TempDir(), "steps.trace.json")
	text := `{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H200"}],"traceEvents":[` + strings.Join(events, ",\n") + `]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNodesOfSteps holds that nodes divide the work of the steps that they count: cold steps are left out of both, and steps of several names are
// counted by name.
func TestNodesOfSteps(t *testing.T) {
	t.Parallel()
	repeat := func(name string, n int) (out []string) {
		for i := range n {
			out = append(out, fmt.Sprint(name, i))
		}
		return out
	}
	w := testkit.Warehouse(t, testkit.Run{Name: "cold", Files: []string{stepTrace(t, repeat("ProfilerStep#", 8), []int{2000, 200, 200, 200, 200, 200, 200, 200})}},
		testkit.Run{Name: "kinds", Files: []string{stepTrace(t, append(repeat("train_step_", 6), repeat("eval_step_", 3)...), slices.Repeat([]int{200}, 9))}})
	for run, want := range map[string][]string{
		"cold":  {"step|ProfilerStep##|false|28|7", "step|ProfilerStep##|true|4|7"},
		"kinds": {"step|eval_step_#|false|12|3", "step|train_step_#|false|24|6"},
	} {
		got := shownCells(testkit.Query(t, w, "operator-nodes", queries.Args{"run": run}), "unit", "step", "is_warmup", "work_count", "unit_count")
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", run, got, want)
		}
	}
}
