package queries_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

const graphData = "../testdata/graph/"

// replayFacts are what is known of operators and of what they captured.
var replayFacts = []string{"op_cost", "op_node", "op_sum", "op_work", "module_sum", "stack_line", "stack_sum", "caveat", "caveat_module", "caveat_operator", "caveat_replay", "caveat_stack"}

// conserved holds that operators and the rest have all device work of a run, each piece once.
func conserved(t *testing.T, w *schema.Warehouse, run string) {
	t.Helper()
	device := one(t, w, fmt.Sprintf(`SELECT (SELECT sum(duration_ns) FROM kernels WHERE run = '%[1]s')::BIGINT + coalesce((SELECT sum(duration_ns) FROM memops WHERE run = '%[1]s'), 0)::BIGINT`, run))
	for _, by := range []string{"name", "name+shape"} {
		if got := total(testkit.Query(t, w, "top-operators", queries.Args{"run": run, "by": by, "top": "0"}), "self_device_ns"); got != device {
			t.Errorf("%s by %s: operators and the rest have %d ns, the device %d", run, by, got, device)
		}
	}
	for _, by := range []string{"self", "outermost"} {
		if got := total(testkit.Query(t, w, "operator-kernels", queries.Args{"run": run, "by": by}), "total_ns"); got != device {
			t.Errorf("%s: operator-kernels by %s have %d ns, the device %d", run, by, got, device)
		}
	}
	sum := func(table, count string) string {
		return fmt.Sprintf(`SELECT w.source_id, op_name_ids, w.outside, w.kernel_name_id, w.operation, sum(%s), sum(w.total_ns) FROM %s WHERE run_id = _run_id('%s') GROUP BY ALL`, count, table, run)
	}
	work, node := sum("op_work w LEFT JOIN op_chain USING (run_id, chain_id)", "w.call_count"), sum("op_node w", "w.work_count")
	if got, want := one(t, w, `SELECT sum(self_device_ns)::BIGINT FROM op_cost WHERE run_id = _run_id('`+run+`')`), one(t, w, `SELECT sum(total_ns)::BIGINT FROM op_work WHERE outside IS NULL AND run_id = _run_id('`+run+`')`); got != want {
		t.Errorf("%s: operators by cost have %d ns, by kernel %d", run, got, want)
	}
	if n := one(t, w, fmt.Sprintf(`SELECT count(*) FROM ((%s EXCEPT ALL %s) UNION ALL (%[2]s EXCEPT ALL %[1]s))`, work, node)); n != 0 {
		t.Errorf("%s: op_node has other operators than op_work, in %d rows", run, n)
	}
}

// nodesOf numbers the kernels of each replay in the order of their starts, and the replays. $1 stands for the run.
const nodesOf = `(SELECT k.kernel, k.duration_ns, row_number() OVER (PARTITION BY k.correlation_id ORDER BY k.start_ns) AS place, dense_rank() OVER (ORDER BY k.correlation_id) AS replay
	FROM kernels k WHERE k.run = '$1' AND k.launch_api = 'cudaGraphLaunch')`

// TestReplaysOfCapturedGraphs holds which operators have the work of graphs that a trace of its own says the capture of. What is right is in the program, capture.py: three blocks of a
// normalisation, a product of 512 x 2048, gelu, a product back and one addition.
func TestReplaysOfCapturedGraphs(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range []string{"graph-two", "graph-fork", "graph-stack"} {
		conserved(t, w, run)
		want := map[string]string{"layer_norm": "aten::native_layer_norm", "nvjet": "aten::addmm", "GeluCUDA": "aten::gelu", "CUDAFunctor_add": "aten::add"}
		if run == "graph-fork" {
			want["launch_clamp_scalar"], want["AUnaryFunctor"] = "aten::clamp_min", "aten::mul"
		}
		if n := one(t, w, "SELECT count(*) FROM op_work WHERE outside = '(graph replay)' AND run_id = _run_id('"+run+"')"); n != 0 {
			t.Errorf("%s: %d rows of replays are outside every operator", run, n)
		}
		for kernel, operator := range want {
			got := one(t, w, fmt.Sprintf(`SELECT sum(o.self_replay_ns)::BIGINT FROM op_sum o JOIN op_name n USING (run_id, op_name_id) WHERE run_id = _run_id('%s') AND n.name = '%s'`, run, operator))
			if ns := one(t, w, strings.ReplaceAll(fmt.Sprintf(`SELECT sum(duration_ns)::BIGINT FROM %s WHERE kernel LIKE '%%%s%%'`, nodesOf, kernel), "$1", run)); got != ns || ns == 0 {
				t.Errorf("%s: %s has %d ns of replays, its kernels %d", run, operator, got, ns)
			}
		}
	}

	// Two batch sizes have the same operators with other inputs. The first six replays are of four sequences, the others of eight.
	for _, c := range []struct{ batch, place, from, to int }{{4, 2, 1, 6}, {4, 4, 1, 6}, {8, 2, 7, 12}, {8, 4, 7, 12}} {
		width := map[int]int{2: 512, 4: 2048}[c.place]
		got := one(t, w, fmt.Sprintf(`SELECT sum(o.self_replay_ns)::BIGINT FROM op_sum o JOIN op_name n USING (run_id, op_name_id) JOIN op_input i USING (run_id, op_input_id)
			WHERE run_id = _run_id('graph-two') AND n.name = 'aten::addmm' AND contains(i.shapes, '[%d, %d]')`, c.batch, width))
		want := one(t, w, strings.ReplaceAll(fmt.Sprintf(`SELECT sum(duration_ns)::BIGINT FROM %s WHERE (place - 1) %% 5 + 1 = %d AND replay BETWEEN %d AND %d`, nodesOf, c.place, c.from, c.to), "$1", "graph-two"))
		if got != want || want == 0 {
			t.Errorf("addmm of %d x %d has %d ns of replays, not %d", c.batch, width, got, want)
		}
	}

	modules := byKey(testkit.Query(t, w, "module-times", queries.Args{"run": "graph-stack", "by": "name", "top": "0"}), "module")
	for block := range 3 {
		replays := one(t, w, strings.ReplaceAll(fmt.Sprintf(`SELECT sum(duration_ns)::BIGINT FROM %s WHERE (place - 1) // 5 = %d`, nodesOf, block), "$1", "graph-stack"))
		eager := one(t, w, fmt.Sprintf(`SELECT sum(duration_ns)::BIGINT FROM (SELECT duration_ns, row_number() OVER (ORDER BY start_ns) AS place FROM kernels WHERE run = 'graph-stack' AND source_id = 1) WHERE (place - 1) // 5 = %d AND place <= 15`, block))
		name := fmt.Sprintf("Block_%d", block)
		if r := modules[name]; r == nil || r[4] != replays+eager || replays == 0 {
			t.Errorf("%s has %v, want %d + %d ns", name, r, eager, replays)
		}
	}

	// In a trace that has both, what the operators of a replay are is the same as Nsight Systems records node by node.
	const counts = `SELECT n.name || ' ' || sum(w.call_count) FROM op_work w JOIN op_name n USING (run_id, op_name_id) WHERE run_id = _run_id('%s') AND w.stage = 'decode' GROUP BY n.name ORDER BY ALL`
	if got, want := listed(t, w, fmt.Sprintf(counts, "graph-trace")), listed(t, w, fmt.Sprintf(counts, "graph-node")); !slices.Equal(got, want) || len(want) < 6 {
		t.Errorf("operators of the replays in a trace are %q, of Nsight Systems %q", got, want)
	}
	conserved(t, w, "graph-trace")
}

// TestReplaysInModules holds that a module that replays a graph in a range opened inside its forward loses that work where it counted: in the stage that the module was called in.
func TestReplaysInModules(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, editedRun(t, "inside", unedited, func(e []map[string]any) []map[string]any {
		all := e[placesOf(e, "decode_all")[0]]
		call := func(id int, parent any, name string, wider float64) map[string]any {
			return map[string]any{"ph": "X", "cat": "python_function", "name": name, "pid": all["pid"], "tid": all["tid"], "ts": all["ts"].(float64) - wider, "dur": all["dur"].(float64) + 2*wider,
				"args": map[string]any{"Python id": id, "Python parent id": parent, "Python thread": 0}}
		}
		return append(e, call(1, nil, "nn.Module: Server_0", 4), call(2, 1, "nn.Module: Engine_0", 2), call(3, 2, "engine.py(9): decode", -1))
	}))
	conserved(t, w, "inside")
	const of = ` FROM module_sum WHERE run_id = _run_id('inside')`
	if n := one(t, w, "SELECT count(*)"+of+" AND least(self_device_ns, total_device_ns, launched_ns) < 0"); n != 0 {
		t.Errorf("%d modules have negative times: %q", n, listed(t, w, "SELECT module_path, stage, self_device_ns, total_device_ns, launched_ns"+of))
	}
	const work = `(SELECT source_id, launch_api, duration_ns, stack_id FROM kernels JOIN kernel USING (run_id, source_id, device_id, stream_id, start_ns, duration_ns) WHERE run = 'inside' UNION ALL
		SELECT source_id, launch_api, duration_ns, stack_id FROM memops JOIN memop USING (run_id, source_id, device_id, stream_id, start_ns, duration_ns) WHERE run = 'inside')`
	left := one(t, w, `SELECT sum(duration_ns)::BIGINT FROM `+work+` WHERE source_id = 2 AND stack_id > 0 AND launch_api <> 'cudaGraphLaunch'`)
	for column, module := range map[string]string{"self_device_ns": "Server_0 > Engine_0", "total_device_ns": "Server_0"} {
		if got := one(t, w, "SELECT sum("+column+")::BIGINT"+of+" AND module_path = '"+module+"'"); got != left || left == 0 {
			t.Errorf("%s has %s %d, and launched %d outside replays", module, column, got, left)
		}
	}
	launched := one(t, w, `SELECT sum(duration_ns)::BIGINT FROM `+work+` WHERE stack_id > 0`)
	if got := one(t, w, "SELECT sum(launched_ns)::BIGINT"+of); got != launched {
		t.Errorf("functions launched %d ns, modules and the rest have %d", launched, got)
	}
}

// TestReplaysOfLargeGraphs holds that replays of thousands of kernels have their operators within the memory that an ingest may have.
func TestReplaysOfLargeGraphs(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	if _, err := w.DB.Exec("SET memory_limit = '512MB'"); err != nil {
		t.Fatal(err)
	}
	const nodes, replays, names = 2000, 10, 50
	type events = []map[string]any
	var capture, replay events
	add := func(to *events, cat, name string, at, dur float64, args map[string]any) {
		*to = append(*to, map[string]any{"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": at, "dur": dur, "args": args})
	}
	kernel := func(to *events, node, correlation int, at float64) {
		add(to, "kernel", fmt.Sprint("gemm_", node%names), at, 2, map[string]any{"device": 0, "stream": 7, "correlation": correlation, "grid": []int{10, 1, 1}, "block": []int{128, 1, 1}})
	}
	at, id := 1000.0, 0
	for _, captures := range []bool{false, true} { // an eager pass comes first
		if captures {
			add(&capture, "cuda_runtime", "cudaStreamBeginCapture", at, 1, nil)
		}
		for node := range nodes {
			at, id = at+10, id+1
			add(&capture, "cpu_op", fmt.Sprint("aten::op", node%names), at, 8, map[string]any{"External id": id, "Input Dims": [][]int{{8, 8}}, "Input type": []string{"float"}})
			add(&capture, "cuda_runtime", "cudaLaunchKernel", at+1, 4, map[string]any{"External id": id, "correlation": id})
			if !captures {
				kernel(&capture, node, id, at+6)
			}
		}
	}
	add(&capture, "cuda_runtime", "cudaStreamEndCapture", at+10, 1, nil)
	add(&replay, "cpu_op", "aten::other", 1e6, 8, map[string]any{"External id": 1})
	for r := range replays {
		at := 1e6 + float64(r+1)*1e4
		add(&replay, "cuda_runtime", "cudaGraphLaunch", at, 10, map[string]any{"correlation": r + 1})
		for node := range nodes {
			kernel(&replay, node, r+1, at+20+3*float64(node))
		}
	}
	made := func(e events) string { return edited(t, "stack-replay", func(events) events { return e }) }
	if err := testkit.Ingest(t.Context(), w, 0, testkit.Run{Name: "large", Files: []string{made(capture), made(replay)}, Facts: replayFacts}); err != nil {
		t.Fatal(err)
	}
	conserved(t, w, "large")
	for _, op := range []int{0, 7, names - 1} {
		got := one(t, w, fmt.Sprintf(`SELECT sum(w.call_count)::BIGINT FROM op_work w JOIN op_name n USING (run_id, op_name_id) JOIN kernel_name k USING (kernel_name_id) WHERE w.run_id = _run_id('large') AND n.name = 'aten::op%d' AND k.name = 'gemm_%[1]d'`, op))
		if want := int64(nodes / names * (1 + replays)); got != want {
			t.Errorf("aten::op%d has %d kernels, not %d", op, got, want)
		}
	}
}

// listed returns the texts of a statement's rows.
func listed(t *testing.T, w *schema.Warehouse, stmt string) (out []string) {
	t.Helper()
	f, err := queries.Raw(t.Context(), w, stmt)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Rows {
		out = append(out, fmt.Sprint(r...))
	}
	return out
}

// eventsOf reads the events of a trace.
func eventsOf(t *testing.T, name string) []map[string]any {
	t.Helper()
	var trace struct{ TraceEvents []map[string]any }
	if err := json.Unmarshal(unpacked(t, graphData+name+".trace.json.gz"), &trace); err != nil {
		t.Fatal(err)
	}
	return trace.TraceEvents
}

// edited writes a trace with other events.
func edited(t *testing.T, name string, to func([]map[string]any) []map[string]any) string {
	t.Helper()
	dir := t.TempDir() // another one each time, so that a warehouse takes each as a trace of its own
	text, err := json.Marshal(map[string]any{"schemaVersion": 1, "trace_id": dir, "deviceProperties": []any{}, "traceEvents": to(eventsOf(t, name))})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "edited.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// editedRun is a run of the capture and the replays of stack, edited.
func editedRun(t *testing.T, name string, capture, replay func([]map[string]any) []map[string]any) testkit.Run {
	return testkit.Run{Name: name, Facts: replayFacts, Sources: []string{"testdata/graph", "queries/operator_capture_test.go"}, Make: func(string) ([]string, error) {
		return []string{edited(t, "stack-capture", capture), edited(t, "stack-replay", replay)}, nil
	}}
}

// unedited leaves the events of a trace as they are.
func unedited(events []map[string]any) []map[string]any { return events }

// placesOf returns the places of the events that have a name which holds a text.
func placesOf(events []map[string]any, text string) (places []int) {
	for i, e := range events {
		if e["ph"] == "X" && strings.Contains(fmt.Sprint(e["name"]), text) {
			places = append(places, i)
		}
	}
	return places
}

// TestReplaysOfOtherGraphs holds that no operator has work of a replay that no stream capture fits, and that a note says why.
func TestReplaysOfOtherGraphs(t *testing.T) {
	t.Parallel()
	type events = []map[string]any
	cases := map[string]struct {
		capture, replay func(events) events
		why             string
	}{
		"another graph": {func(events) events { return eventsOf(t, "fork-capture") }, unedited, "launched as many"},
		"a launch less": {func(e events) events {
			at := placesOf(e, "cudaLaunchKernel")
			return slices.Delete(e, at[len(at)-1], at[len(at)-1]+1)
		}, unedited, "launched as many"},
		"a kernel more": {unedited, func(e events) events {
			for _, at := range placesOf(e, "layer_norm_kernel") { // in each replay
				more := maps.Clone(e[at])
				more["ts"] = more["ts"].(float64) - 1
				e = append(e, more)
			}
			return e
		}, "launched as many"},
		"other kernels": {unedited, func(e events) events {
			for _, at := range placesOf(e, "Gelu") {
				e[at]["name"] = "silu_kernel"
			}
			return e
		}, "launched others"},
		"unknown kernels": {func(e events) events {
			return slices.DeleteFunc(e, func(e map[string]any) bool { return e["cat"] == "kernel" })
		}, unedited, "unknown for more than half"},
		"kernels at one time": {unedited, func(e events) events {
			at := map[any]any{}
			for _, x := range e {
				if args, ok := x["args"].(map[string]any); ok && x["cat"] == "kernel" {
					if at[args["correlation"]] == nil {
						at[args["correlation"]] = x["ts"]
					}
					x["ts"] = at[args["correlation"]]
				}
			}
			return e
		}, "starts at the same time"},
		"two operators": {func(e events) events { // the capture once more, later, in operators of another name
			return again(e, func(x map[string]any) {
				if x["name"] == "aten::linear" {
					x["name"] = "aten::other"
				}
			})
		}, unedited, "different operators"},
	}
	var runs []testkit.Run
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		runs = append(runs, editedRun(t, name, cases[name].capture, cases[name].replay))
	}
	w := testkit.Warehouse(t, runs...)
	for name, c := range cases {
		conserved(t, w, name)
		if n := one(t, w, "SELECT sum(self_replay_ns)::BIGINT FROM op_sum WHERE run_id = _run_id('"+name+"')"); n != 0 {
			t.Errorf("%s: operators have %d ns of replays", name, n)
		}
		if notes := strings.Join(testkit.Query(t, w, "top-operators", queries.Args{"run": name}).Notes, "\n"); !strings.Contains(notes, "graph replays of which no operators are known: ") || !strings.Contains(notes, c.why) {
			t.Errorf("%s: the notes do not say %q: %s", name, c.why, notes)
		}
	}
}

// TestCapturedCalls holds that calls which only a stream capture recorded are no calls of 0 ns of device time, wherever they are counted.
func TestCapturedCalls(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range []string{"graph-stack", "graph-trace", "graph-node", "graph-whole"} {
		f := testkit.Query(t, w, "operator-shapes", queries.Args{"run": run, "top": "0"})
		seen := 0
		for shape, r := range byKey(f, "operator", "shapes") {
			if number(f, r, "captured_calls") != 3 || number(f, r, "self_device_ns") == 0 {
				continue
			}
			seen++
			at := fmt.Sprintf(`FROM operators WHERE run = '%s' AND operator || ' ' || shapes = '%s' AND total_device_ns > 0`, run, shape)
			if n, least, sum := one(t, w, "SELECT count(*) "+at), one(t, w, "SELECT min(total_device_ns) "+at), one(t, w, "SELECT sum(total_device_ns)::BIGINT "+at); n != 3 || number(f, r, "calls") != 6 ||
				r[f.Index("min_ns")] != least || r[f.Index("mean_ns")] != float64(sum)/3 {
				t.Errorf("%s: %s has %v, and %d calls of %d ns in all that ran, the shortest %d ns", run, shape, r, n, sum, least)
			}
		}
		if seen < 5 { // layer_norm, two products, gelu, add
			t.Errorf("%s: only %d operators were captured", run, seen)
		}
		top := testkit.Query(t, w, "top-operators", queries.Args{"run": run, "top": "0"})
		gelu := byKey(top, "operator")["aten::gelu"]
		calls := number(top, gelu, "calls") - number(top, gelu, "captured_calls")
		if want := float64(number(top, gelu, "self_device_ns")-number(top, gelu, "replay_ns")) / float64(calls); calls == 0 || gelu[top.Index("self_device_mean_ns")] != want {
			t.Errorf("%s: aten::gelu has %v, want a mean of %v", run, gelu, want)
		}
	}
}

// TestRooflineOfReplays holds that each execution by a replay counts with the FLOP and bytes of the captured call's inputs, and its own time.
func TestRooflineOfReplays(t *testing.T) {
	t.Parallel()
	// the capture once more, with a gelu of other inputs: which of the two a replay is of is not known
	inputs := testkit.Warehouse(t, editedRun(t, "inputs", func(e []map[string]any) []map[string]any {
		return again(e, func(x map[string]any) {
			if args := x["args"].(map[string]any); x["name"] == "aten::gelu" {
				args["Input Dims"] = []any{[]int{2, 8, 1024}, []int{}}
			}
		})
	}, unedited))
	roof := map[string]map[string][]any{}
	for run, w := range map[string]*schema.Warehouse{"inputs": inputs, "graph-two": testkit.All(t), "graph-fork": testkit.All(t), "graph-node": testkit.All(t)} {
		roof[run] = byKey(testkit.Query(t, w, "operator-roofline", queries.Args{"run": run, "top": "0"}), "operator", "shapes")
	}
	f := testkit.Query(t, inputs, "operator-roofline", queries.Args{"run": "inputs"})
	at := func(r []any, column string) any {
		if r == nil {
			return nil
		}
		return r[f.Index(column)]
	}
	for _, c := range []struct {
		run, operator  string
		calls, replays int64
		flop           float64 // of one
	}{
		{"graph-two", "aten::addmm [[2048], [4, 512], [512, 2048], [], []]", 3, 18, 2 * 4 * 512 * 2048},
		{"graph-two", "aten::addmm [[512], [8, 2048], [2048, 512], [], []]", 3, 18, 2 * 8 * 512 * 2048},
		{"graph-fork", "aten::addmm [[512], [8, 2048], [2048, 512], [], []]", 3, 18, 2 * 8 * 512 * 2048},
		{"graph-fork", "aten::clamp_min [[8, 512], []]", 3, 18, 8 * 512},
		{"graph-fork", "aten::add [[8, 512], [8, 512], []]", 6, 36, 8 * 512},
		{"graph-node", "aten::addmm [[512], [8, 2048], [2048, 512], [], []]", 3, 48, 2 * 8 * 512 * 2048},
		{"inputs", "aten::addmm [[512],[8,2048],[2048,512],[],[]]", 3, 18, 2 * 8 * 512 * 2048},
	} {
		r := roof[c.run][c.operator]
		ns, _ := at(r, "self_device_ns").(int64)
		flop := float64(c.calls+c.replays) * c.flop
		if c.operator[:15] == "aten::clamp_min" {
			flop = 0
		}
		if r == nil || at(r, "calls") != c.calls || at(r, "replays") != c.replays || flop > 0 && (at(r, "flop") != flop || at(r, "achieved_flop_per_s") != 1e9*flop/float64(ns)) {
			t.Errorf("%s: %s has %v", c.run, c.operator, r)
		}
	}
	for column, want := range map[string]any{"calls": int64(0), "replays": int64(18), "unknown": "several-inputs", "flop": nil, "read_bytes": nil,
		"replay_ns": one(t, inputs, strings.ReplaceAll(`SELECT sum(duration_ns)::BIGINT FROM `+nodesOf+` WHERE kernel LIKE '%GeluCUDA%'`, "$1", "inputs"))} {
		if got := at(roof["inputs"]["aten::gelu <nil>"], column); got != want {
			t.Errorf("gelu of unknown inputs has %s %v, not %v", column, got, want)
		}
	}
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "several stream captures fit their graph replays, with other inputs") {
		t.Errorf("the notes do not say why there is no roof: %s", notes)
	}
}

// again adds the capture of a trace once more, later, with other operators.
func again(events []map[string]any, other func(map[string]any)) []map[string]any {
	for _, x := range slices.Clone(events) {
		if args, ok := x["args"].(map[string]any); ok && x["ph"] == "X" && x["cat"] != "kernel" {
			copied := maps.Clone(x)
			copied["ts"], args = x["ts"].(float64)+1e7, maps.Clone(args)
			delete(args, "correlation")
			copied["args"] = args
			other(copied)
			events = append(events, copied)
		}
	}
	return events
}

// TestLinesOfReplays holds that replayed work counts for the line that captured it, and for the one that launched it where the capture is not known.
func TestLinesOfReplays(t *testing.T) {
	t.Parallel()
	launched := func(e []map[string]any) []map[string]any { // in a function of another file
		all := e[placesOf(e, "decode_all")[0]]
		return append(e, map[string]any{"ph": "X", "cat": "python_function", "name": "engine.py(9): decode", "pid": all["pid"], "tid": all["tid"], "ts": all["ts"].(float64) - 1, "dur": all["dur"].(float64) + 2,
			"args": map[string]any{"Python id": 1, "Python parent id": nil, "Python thread": 0}})
	}
	cases := map[string]func([]map[string]any) []map[string]any{
		"known": launched,
		"other": func(e []map[string]any) []map[string]any {
			for _, at := range placesOf(e, "Gelu") {
				e[at]["name"] = "silu_kernel"
			}
			return launched(e)
		},
	}
	var runs []testkit.Run
	for _, run := range slices.Sorted(maps.Keys(cases)) {
		runs = append(runs, editedRun(t, run, unedited, cases[run]))
	}
	w := testkit.Warehouse(t, runs...)
	for run := range cases {
		conserved(t, w, run)
		f := testkit.Query(t, w, "hot-lines", queries.Args{"run": run, "top": "0"})
		lines := byKey(f, "line")
		of := func(where string) int64 {
			return one(t, w, `SELECT coalesce(sum(duration_ns), 0)::BIGINT FROM (SELECT source_id, launch_api, duration_ns FROM kernels WHERE run = '`+run+`' UNION ALL SELECT source_id, launch_api, duration_ns FROM memops WHERE run = '`+run+`') WHERE `+where)
		}
		replays, rest, eager := of("launch_api = 'cudaGraphLaunch'"), of("source_id = 2 AND launch_api <> 'cudaGraphLaunch'"), number(f, lines["cap.py:11"], "device_ns")
		note := strings.Contains(strings.Join(f.Notes, "\n"), "graph replays that count for the lines which launched them")
		if run == "known" {
			eager -= replays
		} else {
			rest += replays
		}
		if got := number(f, lines["engine.py:9"], "device_ns"); got != rest || replays == 0 || note == (run == "known") {
			t.Errorf("%s: the line that launches replays has %d ns, not %d; note %v", run, got, rest, note)
		}
		if want := of("source_id = 1") - number(f, lines["cap.py:28"], "device_ns"); eager != want {
			t.Errorf("%s: the captured line has %d ns outside replays, not %d", run, eager, want)
		}
		if got, all := total(f, "device_ns")+total(f, "backward_device_ns"), of("true"); got != all {
			t.Errorf("%s: lines have %d ns, the device %d", run, got, all)
		}
	}
}

// TestCapturedKernels holds in which ranges the graphs of a capture were made, and that all replayed work has one or none.
func TestCapturedKernels(t *testing.T) {
	t.Parallel()
	const work = `(SELECT sum(duration_ns) FROM kernel WHERE graph_node_id IS NOT NULL AND run_id = _run_id('graph-node'))::BIGINT + coalesce((SELECT sum(duration_ns) FROM memop WHERE graph_node_id IS NOT NULL AND run_id = _run_id('graph-node')), 0)::BIGINT`
	for _, known := range []bool{true, false} {
		w := testkit.All(t)
		if !known { // without the making of the captured nodes, as where the program captured before the profiler recorded
			w = testkit.Warehouse(t, testkit.Run{Name: "graph-node", Files: []string{"graph/node.sqlite.gz"}, SQL: "DELETE FROM graph_node WHERE original_graph_node_id IS NULL", Facts: []string{"captured_work"}})
		}
		f := testkit.Query(t, w, "captured-kernels", queries.Args{"run": "graph-node", "top": "0"})
		if asked := testkit.Query(t, w, "captured-kernels", queries.Args{"run": "graph-node", "top": "0", "source": "nsys"}); fmt.Sprint(asked.Rows) != fmt.Sprint(f.Rows) || len(testkit.Query(t, w, "captured-kernels", queries.Args{"run": "graph-node", "source": "torch"}).Rows) > 0 {
			t.Errorf("known %v: of nsys are %v, of all sources %v", known, asked.Rows, f.Rows)
		}
		if got, want := total(f, "total_ns"), one(t, w, "SELECT "+work); got != want || want == 0 {
			t.Errorf("known %v: ranges have %d ns of replays, the device %d", known, got, want)
		}
		for _, r := range f.Rows {
			if path := fmt.Sprint(r[f.Index("path")]); strings.HasPrefix(path, "capture > aten::") != known || (path == "(not recorded)") == known {
				t.Errorf("known %v: replayed work was captured in %s", known, path)
			}
		}
	}
}
