package queries_test

import (
	"encoding/json"
	"fmt"
	"math"
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

// testHotLines holds hot-lines to all device work, idle time and CPU time of the traces with Python stacks, however it is asked.
func testHotLines(t *testing.T, w *schema.Warehouse) {
	for _, run := range []string{"llama-stack", "train-stack"} {
		of := fmt.Sprintf("run_id = (SELECT r.run_id FROM run r WHERE r.name = '%s')", run)
		want := rows(t, w, fmt.Sprintf(`SELECT (SELECT sum(d) FROM (SELECT duration_ns AS d FROM kernel WHERE %[1]s UNION ALL SELECT duration_ns FROM memop WHERE %[1]s))::BIGINT,
			(SELECT count(*) FROM kernel WHERE %[1]s) + (SELECT count(*) FROM memop WHERE %[1]s), (SELECT sum(duration_ns) FROM gap_sum WHERE %[1]s)::BIGINT,
			(SELECT sum(gap_count) FROM gap_sum WHERE %[1]s)::BIGINT, (SELECT sum(self_cpu_ns) FROM python_call WHERE %[1]s)::BIGINT, 1.0::DOUBLE`, of))
		for _, by := range []string{"own", "any"} {
			got := rows(t, w, fmt.Sprintf(`SELECT sum(device_ns + backward_device_ns)::BIGINT, sum(work_count)::BIGINT, sum(idle_ns)::BIGINT, sum(gap_count)::BIGINT, sum(cpu_ns)::BIGINT, round(sum(share_ratio), 12)
				FROM hot_lines('%s', top := 0, "by" := '%s')`, run, by))
			if !slices.Equal(got, want) {
				t.Errorf("%s by %s adds up to %s, want %s", run, by, got, want)
			}
			staged := rows(t, w, fmt.Sprintf(`SELECT sum(h.device_ns + h.backward_device_ns)::BIGINT, sum(h.idle_ns)::BIGINT, sum(h.cpu_ns)::BIGINT
				FROM (SELECT DISTINCT stage FROM stack_sum WHERE %s) s, hot_lines('%s', top := 0, "by" := '%s', stage := s.stage) h`, of, run, by))
			whole := rows(t, w, fmt.Sprintf(`SELECT sum(device_ns + backward_device_ns)::BIGINT, sum(idle_ns)::BIGINT, sum(cpu_ns)::BIGINT FROM hot_lines('%s', top := 0, "by" := '%s')`, run, by))
			if !slices.Equal(staged, whole) {
				t.Errorf("%s by %s: the stages add up to %s, the run to %s", run, by, staged, whole)
			}
		}
		for _, by := range []string{"own", "any"} {
			odd := rows(t, w, fmt.Sprintf(`SELECT h.line, h.function, h.ns, k.ns FROM (SELECT line, function, path, device_ns, backward_device_ns, device_ns + backward_device_ns AS ns, work_count FROM hot_lines('%[1]s', top := 0, "by" := '%[2]s') WHERE work_count > 0) h
				FULL JOIN (SELECT line, function, path, sum(total_ns) FILTER (NOT is_backward) AS device_ns, sum(total_ns)::BIGINT AS ns, sum(calls) AS n FROM line_kernels('%[1]s', top := 0, "by" := '%[2]s') GROUP BY ALL) k
				ON k.line = h.line AND k.function IS NOT DISTINCT FROM h.function AND k.path IS NOT DISTINCT FROM h.path WHERE h.ns IS DISTINCT FROM k.ns OR k.n <> h.work_count OR coalesce(k.device_ns, 0) <> h.device_ns`, run, by))
			if len(odd) > 0 {
				t.Errorf("%s by %s: line-kernels and hot-lines differ: %s", run, by, odd)
			}
			odd = rows(t, w, fmt.Sprintf(`SELECT k.kernel, k.ns, t.total_ns FROM (SELECT kernel, sum(total_ns) AS ns, sum(calls) AS n, min(min_ns) AS least, max(max_ns) AS most FROM line_kernels('%[1]s', top := 0, "by" := '%[2]s') WHERE kind = 'kernel' GROUP BY kernel) k
				FULL JOIN top_kernels('%[1]s', top := 0, warmup := true) t ON t.kernel = k.kernel WHERE k.ns IS DISTINCT FROM t.total_ns OR k.n <> t.calls OR k.least <> t.min_ns OR k.most <> t.max_ns`, run, by))
			if len(odd) > 0 {
				t.Errorf("%s by %s: line-kernels and top-kernels differ: %s", run, by, odd)
			}
		}
		// Calls and launches are stored apart: both must say the same.
		odd := rows(t, w, fmt.Sprintf(`SELECT coalesce(c.stack_id, k.stack_id), c.ns, k.ns FROM (SELECT stack_id, sum(self_device_ns) AS ns FROM python_call WHERE %[1]s GROUP BY stack_id HAVING sum(self_device_ns) > 0) c
			FULL JOIN (SELECT stack_id, sum(duration_ns) AS ns FROM (SELECT stack_id, duration_ns FROM kernel WHERE %[1]s UNION ALL SELECT stack_id, duration_ns FROM memop WHERE %[1]s) WHERE stack_id > 0 GROUP BY stack_id) k
			ON k.stack_id = c.stack_id WHERE c.ns IS DISTINCT FROM k.ns`, of))
		if len(odd) > 0 {
			t.Errorf("%s: device work by launch differs from that by call: %s", run, odd)
		}
		// The innermost function open for half of each gap, looked for among all calls.
		odd = rows(t, w, fmt.Sprintf(`WITH want AS (
				SELECT g.device_id, g.start_ns, arg_max(c.stack_id, (s.depth, c.start_ns, c.stack_id)) AS stack_id
				FROM gap g JOIN python_call c ON c.run_id = g.run_id AND c.pid = g.pid AND c.tid = g.tid JOIN python_stack s ON s.stack_id = c.stack_id
				WHERE g.%[1]s AND 2 * (least(c.start_ns + c.duration_ns, g.start_ns + g.duration_ns) - greatest(c.start_ns, g.start_ns)) >= g.duration_ns
				GROUP BY ALL)
			SELECT x.start_ns, want.start_ns FROM (SELECT * FROM gap_stack WHERE %[1]s AND found_by = 'open') x FULL JOIN want ON want.start_ns = x.start_ns AND want.device_id = x.device_id WHERE x.stack_id IS DISTINCT FROM want.stack_id`, of))
		if len(odd) > 0 {
			t.Errorf("%s: gaps are in other functions: %s", run, odd)
		}
		if n := rows(t, w, fmt.Sprintf(`SELECT count(*) > 50 FROM gap_stack WHERE %s AND found_by = 'open'`, of)); n[0] != "[true]" {
			t.Errorf("%s: hardly a gap has its function", run)
		}
		checkOwnLines(t, w, run, torchData+run+".trace.json.gz", `^(llm_torch|torch_more)\.py\(`)
	}
	for _, run := range []string{"train", "torch-llama"} {
		if f := testkit.Query(t, w, "hot-lines", queries.Args{"run": run}); len(f.Rows) != 0 {
			t.Errorf("%s without stacks has %v", run, f.Rows)
		}
		if n := rows(t, w, fmt.Sprintf(`SELECT count(line) FROM longest_gaps('%s')`, run)); n[0] != "[0]" {
			t.Errorf("%s without stacks has gaps with lines", run)
		}
	}
	if n := rows(t, w, `SELECT count(*), min(line), max(line) FROM longest_gaps('llama-stack') WHERE line IS NOT NULL`); n[0] != "[20 llm_torch.py:84 once llm_torch.py:84 once]" {
		t.Errorf("lines of the longest gaps: %s", n)
	}
	for _, run := range []string{"llama-stack", "train-stack"} {
		if n := rows(t, w, fmt.Sprintf(`SELECT count(*) > 0, bool_and((evidence->>'line') SIMILAR TO '(llm_torch|torch_more).py:[0-9]+ [a-z]+'), bool_and((evidence->>'line_ns')::BIGINT BETWEEN 1 AND saving_ns)
			FROM findings('%s') WHERE finding = 'host'`, run)); n[0] != "[true true true]" {
			t.Errorf("%s: lines of host: %s", run, n)
		}
	}
	if n := rows(t, w, `SELECT count(*) > 0, count(evidence->>'line') FROM findings('torch-llama') WHERE finding = 'host'`); n[0] != "[true 0]" {
		t.Errorf("lines of host without stacks: %s", n)
	}
	if _, err := queries.Run(t.Context(), w, must(queries.Find("hot-lines")), queries.Args{"run": "llama-stack", "by": "file"}); err == nil || !strings.Contains(err.Error(), "own or any") {
		t.Errorf("--by file: %v", err)
	}
}

func must(q queries.Query, err error) queries.Query {
	if err != nil {
		panic(err)
	}
	return q
}

// checkOwnLines finds in the trace itself which function of the test program launched what: the last to begin of those around the launch.
func checkOwnLines(t *testing.T, w *schema.Warehouse, run, path, files string) {
	t.Helper()
	type event struct {
		Cat, Name string
		TS, Dur   float64
		TID       any
		Args      struct{ Correlation int64 }
	}
	var trace struct{ TraceEvents []event }
	if err := json.Unmarshal(unpacked(t, path), &trace); err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(files)
	calls, launches, want := map[string][]event{}, map[int64]event{}, map[string]int64{}
	for _, e := range trace.TraceEvents {
		switch {
		case e.Cat == "python_function" && own.MatchString(e.Name):
			calls[fmt.Sprint(e.TID)] = append(calls[fmt.Sprint(e.TID)], e)
		case e.Cat == "cuda_runtime" || e.Cat == "cuda_driver":
			launches[e.Args.Correlation] = e
		}
	}
	for _, e := range trace.TraceEvents {
		if e.Cat != "kernel" && e.Cat != "gpu_memcpy" && e.Cat != "gpu_memset" {
			continue
		}
		from, at := launches[e.Args.Correlation], event{}
		for _, c := range calls[fmt.Sprint(from.TID)] {
			if c.TS <= from.TS && from.TS+from.Dur <= c.TS+c.Dur && c.TS >= at.TS {
				at = c
			}
		}
		if at.Name != "" {
			want[at.Name] += int64(math.Round(e.Dur * 1000))
		}
	}
	got := map[string]int64{}
	for _, r := range testkit.Query(t, w, "hot-lines", queries.Args{"run": run, "top": "0"}).Rows {
		if line, ok := r[1].(string); ok && r[3] == "own" && r[4].(int64) > 0 {
			file, number, _ := strings.Cut(line, ":")
			got[fmt.Sprintf("%s(%s): %s", file, number, r[2])] = r[4].(int64)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(want) == 0 {
		t.Errorf("%s: lines launched %v, in the trace %v", run, got, want)
	}
}

// TestHotLinesReal reads the trace of a program that is known: each launch is of the function that makes it, and the GPU waits for wait_on_cpu 4 ms in each of six steps.
func TestHotLinesReal(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	checkOwnLines(t, w, "torch-hot", torchData+"lines/hot.trace.json.gz", `^(hot|lib/model)\.py\(`)
	got := rows(t, w, `SELECT line, function, gap_count, calls FROM hot_lines('torch-hot') WHERE device_ns > 0 OR idle_ns > 0`)
	want := []string{"[lib/model.py:11 forward 95 12]", "[lib/model.py:16 sample 6 6]", "[hot.py:16 step 12 6]", "[hot.py:10 wait_on_cpu 6 6]"}
	if !slices.Equal(got, want) {
		t.Errorf("lines %s, want %s", got, want)
	}
	if got := rows(t, w, `SELECT count(*), min(duration_ns) BETWEEN 4e6 AND 4.1e6, max(duration_ns) < 4.3e6, any_value(cause) FROM longest_gaps('torch-hot', top := 6) WHERE line = 'hot.py:10 wait_on_cpu'`); got[0] != "[6 true true host]" {
		t.Errorf("the longest gaps are %s", got)
	}
	if got := rows(t, w, `SELECT count(*) FROM longest_gaps('torch-hot', top := 0) WHERE duration_ns > 1e6`); got[0] != "[6]" {
		t.Errorf("gaps of over 1 ms: %s", got)
	}
	if got := rows(t, w, `SELECT evidence->>'line', (evidence->>'line_ns')::BIGINT > 0.9 * saving_ns FROM findings('torch-hot') WHERE finding = 'host'`); len(got) != 1 || got[0] != "[hot.py:10 wait_on_cpu true]" {
		t.Errorf("host is %s", got)
	}
}

// TestHotLinesSampled reads samples of a program that is known, in which the GPU waits for Python at work, asleep, in a long built-in, in the garbage collector, in a file and for a lock. The times are those of
// the program's own clock; its gaps are longer by the calls around. The first of the six waits in spin began in a gap that the start of the profiler takes most of.
func TestHotLinesSampled(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, line := range []struct {
		line, function string
		gaps           int64
		ms             float64
	}{
		{"idle.py:31", "collect_garbage", 5, 108.942 + 97.252 + 97.772 + 108.864 + 117.073}, {"idle.py:23", "sleep_here", 5, 6.134 + 6.109 + 6.125 + 6.121 + 6.129},
		{"idle.py:27", "one_long_builtin", 5, 9.087 + 7.496 + 6.12 + 10.526 + 10.359}, {"idle.py:49", "wait_for_lock", 5, 6.116 + 6.045 + 6.063 + 6.088 + 5.954},
		{"idle.py:14", "spin", 7, 6.007 + 6.011 + 6.009 + 6.009 + 6.01 + 6.009 + 6.01}, {"idle.py:37", "read_file", 5, 3.355 + 3.384 + 3.199 + 3.213 + 3.447},
	} {
		got := rows(t, w, fmt.Sprintf(`SELECT gap_count, idle_ns / 1e6 BETWEEN %f AND %f, idle_sample_count > 0.75 * idle_ns / 1e6, idle_sample_count < 1.05 * idle_ns / 1e6 + 1 FROM hot_lines('cpu-idle') WHERE line = '%s' AND function = '%s'`,
			line.ms, line.ms+0.4*float64(line.gaps), line.line, line.function))
		if want := fmt.Sprintf("[%d true true true]", line.gaps); len(got) != 1 || got[0] != want {
			t.Errorf("%s %s: %v, want %s", line.line, line.function, got, want)
		}
	}
	// Gaps of 0.3 ms, of which few have a sample, count for the launch or for what the sample says; none has more samples than its length allows.
	if got := rows(t, w, `SELECT count(*) FROM longest_gaps('cpu-idle', top := 0) WHERE line_by = 'sample' AND (samples = 0 OR samples > duration_ns / 0.9e6 + 1) OR line_by = 'launch' AND samples * 1e6 > duration_ns OR samples IS NULL`); got[0] != "[0]" {
		t.Errorf("gaps with impossible samples: %s", got)
	}
	for _, by := range []string{"own", "any"} {
		got := rows(t, w, fmt.Sprintf(`SELECT sum(idle_ns)::BIGINT, sum(gap_count)::BIGINT, sum(samples) BETWEEN sum(idle_sample_count) AND (SELECT count(*) FROM python_sample WHERE run_id = _run_id('cpu-idle')), min(work_count + gap_count) FROM hot_lines('cpu-idle', top := 0, "by" := '%s')`, by))
		if want := rows(t, w, `SELECT sum(duration_ns)::BIGINT, sum(gap_count)::BIGINT, true, 1 FROM gap_sum WHERE run_id = _run_id('cpu-idle')`); !slices.Equal(got, want) {
			t.Errorf("by %s the lines have %s, the run %s", by, got, want)
		}
	}
}

// TestHotLinesXLA: a trace of XLA does not say in which folders files lie.
func TestHotLinesXLA(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	if got := rows(t, w, `SELECT count(*) FILTER (code = 'own'), count(*) FILTER (code = 'library') > 0, sum(device_ns)::BIGINT = (SELECT sum(duration_ns) FROM (SELECT duration_ns FROM kernel WHERE run_id = _run_id('foreign-jax') UNION ALL SELECT duration_ns FROM memop WHERE run_id = _run_id('foreign-jax')))
		FROM hot_lines('foreign-jax', top := 0)`); got[0] != "[0 true true]" {
		t.Errorf("functions of the user's own, of libraries, all work: %s", got)
	}
}

// TestHotLinesMade reads a trace of known lines: a step of the user's that calls a library, waits in a function of its own, and has a backward pass on a thread without Python.
func TestHotLinesMade(t *testing.T) {
	t.Parallel()
	at := func(cat, name string, tid int, ts, dur float64, args string) string {
		return fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %q, "pid": 1, "tid": %d, "ts": %.3f, "dur": %.3f, "args": {%s}}`, cat, name, tid, ts, dur, args)
	}
	python := func(name string, ts, dur float64) string { return at("python_function", name, 1, ts, dur, "") }
	launch := func(tid int, ts float64, id int) string {
		return at("cuda_runtime", "cudaLaunchKernel", tid, ts, 1, fmt.Sprintf(`"correlation": %d`, id))
	}
	kernel := func(ts, dur float64, id int) string {
		return fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %.3f, "dur": %.3f, "args": {"correlation": %d, "device": 0, "context": 1, "stream": 7}}`, ts, dur, id)
	}
	events := []string{
		python("/home/ann/proj/run.py(3): main", 0, 1000),
		python("/home/ann/proj/lib/model.py(10): step", 10, 900),
		python("torch/nn/functional.py(5): linear", 20, 10), python("<built-in method addmm of type object at 0x7f00aa>", 22, 5), launch(1, 23, 1), kernel(30, 70, 1),
		at("cpu_op", "aten::addmm", 1, 22.5, 4, `"Sequence number": 7, "Fwd thread id": 0, "External id": 1`),
		python("/home/ann/proj/lib/model.py(40): wait", 110, 300), // the GPU is idle from 100 to 425
		launch(1, 420, 2), kernel(425, 5, 2), // by step itself
		python("/usr/lib/python3.12/random.py(7): shuffle", 431, 100), launch(1, 540, 3), kernel(545, 5, 3), // by step; idle from 430 to 545, most of it in a library
		at("cpu_op", "AddmmBackward0", 2, 600, 20, `"Sequence number": 7, "Fwd thread id": 1, "External id": 2`), launch(2, 605, 4), kernel(610, 40, 4), // idle from 550 to 610 before it
		`{"ph": "s", "id": 9, "pid": 1, "tid": 1, "ts": 22.5, "cat": "fwdbwd", "name": "fwdbwd"}`, `{"ph": "f", "id": 9, "pid": 1, "tid": 2, "ts": 600, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"}`,
		kernel(660, 2, 99),                   // whose launch was not captured: idle from 650
		launch(1, 950, 5), kernel(955, 3, 5), // after step, by main; idle from 662, of which step was open for 248 us
	}
	path := filepath.Join(t.TempDir(), "made.json")
	if err := os.WriteFile(path, []byte(`{"schemaVersion": 1, "traceEvents": [`+strings.Join(events, ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w := testkit.Copy(t)
	load(t, w, "made", path)
	columns := []string{"line", "function", "code", "device_ns", "backward_device_ns", "total_device_ns", "work_count", "idle_ns", "gap_count", "cpu_ns", "calls", "inside"}
	check := func(args queries.Args, want ...string) {
		t.Helper()
		args["run"] = "made"
		if got := shownCells(testkit.Query(t, w, "hot-lines", args), columns...); !slices.Equal(got, want) {
			t.Errorf("%v: %s, want %s", args, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	check(queries.Args{},
		"lib/model.py:10|step|own|80000|40000|120000|4|408000|2|600000|1|<built-in addmm>",
		"run.py:3|main|own|3000|0|123000|1|0|0|100000|1|<nil>",
		"lib/model.py:40|wait|own|0|0|0|0|325000|1|300000|1|<nil>",
		"(not recorded)|<nil>|<nil>|2000|0|2000|1|10000|1|0|0|<nil>",
		"(no stack)|<nil>|<nil>|0|0|0|0|60000|1|0|0|<nil>")
	check(queries.Args{"by": "any", "top": "5"},
		"torch/nn/functional.py:5|linear|library|70000|40000|110000|2|0|0|10000|1|<built-in addmm>",
		"lib/model.py:10|step|own|10000|0|120000|2|293000|1|490000|1|<nil>",
		"run.py:3|main|own|3000|0|123000|1|0|0|100000|1|<nil>",
		"lib/model.py:40|wait|own|0|0|0|0|325000|1|300000|1|<nil>",
		"/usr/lib/python3.12/random.py:7|shuffle|library|0|0|0|0|115000|1|100000|1|<nil>")
	kernels := shownCells(testkit.Query(t, w, "line-kernels", queries.Args{"run": "made", "line": "*step,(no*"}), "line", "function", "kernel", "is_backward", "calls", "total_ns", "mean_ns", "min_ns", "max_ns", "inside")
	if want := []string{"lib/model.py:10|step|k|false|3|80000|26666.666666666668|5000|70000|<built-in addmm>", "lib/model.py:10|step|k|true|1|40000|40000|40000|40000|<built-in addmm>", "(not recorded)|<nil>|k|false|1|2000|2000|2000|2000|<nil>"}; !slices.Equal(kernels, want) {
		t.Errorf("kernels: %q, want %q", kernels, want)
	}
	gaps := shownCells(testkit.Query(t, w, "longest-gaps", queries.Args{"run": "made"}), "duration_ns", "line")
	if want := []string{"325000|lib/model.py:40 wait", "293000|lib/model.py:10 step", "115000|lib/model.py:10 step", "60000|<nil>", "10000|<nil>"}; !slices.Equal(gaps, want) {
		t.Errorf("gaps: %q, want %q", gaps, want)
	}

	// A run that was stored before launches had their stacks: what the calls say stays known.
	change(t, w, "UPDATE kernel SET stack_id = NULL")
	check(queries.Args{"top": "4"},
		"lib/model.py:10|step|own|0|0|0|0|408000|2|600000|1|<nil>",
		"lib/model.py:40|wait|own|0|0|0|0|325000|1|300000|1|<nil>",
		"run.py:3|main|own|0|0|0|0|0|0|100000|1|<nil>",
		"(not recorded)|<nil>|<nil>|125000|0|125000|6|70000|2|0|0|<nil>")
}

// TestOwnCode asks of functions as profilers record them whether they are the user's.
func TestOwnCode(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for function, want := range map[string]bool{
		"train.py(12): step":                              true,
		"/home/me/proj/model.py(1): f":                    true,
		`C:\Users\me\proj\model.py(1): f`:                 true,
		"/tmp/ipykernel_123/3284.py(3): <module>":         true,
		"<ipython-input-3-abc>(5): f":                     true,
		"models/llama.py(5): forward":                     true,
		"datasets/coco.py(5): __getitem__":                true,
		"torchless/x.py(5): f":                            true,
		"my.torch/x.py(5): f":                             true,
		"/opt/torch/x.py(5): f":                           true, // only relative paths are cut off at a package
		"torch/nn/modules/module.py(17): _call_impl":      false,
		"transformers/cache_utils.py(129): update":        false,
		"contextlib.py(78): inner":                        false,
		"logging/__init__.py(1): info":                    false,
		"/run/mark/prof_mark_models.py(73): run":          false,
		"/run/.prof-1/mark/prof_mark/calls.py(77): run":   false,
		"prof_mark/calls.py(77): run":                     false,
		"my_prof_mark/calls.py(3): f":                     true,
		"/tmp/.prof~1/mark/sitecustomize.py(32): _arm":    false,
		"my_prof_mark.py(3): f":                           true,
		"aiter/ops/gemm.py(3): gemm":                      false,
		"six.py(1): f":                                    true, // a module that no list has
		"/x/site-packages/foo/a.py(1): f":                 false,
		"/x/dist-packages/foo/a.py(1): f":                 false,
		`C:\Python312\Lib\contextlib.py(1): f`:            false,
		"/usr/lib/python3.12/random.py(7): shuffle":       false,
		"/opt/conda/lib/python3.10/random.py(7): shuffle": false,
		"/tmp/torchinductor_root/ab/cab.py(100): call":    false,
		"<built-in method mm of type object at 0x7f1>":    false,
		"<frozen importlib._bootstrap>(1): _find":         false,
		"<string>(1): __init__":                           false,
		"<eval_with_key>.12(3): forward":                  false,
		"nn.Module: Linear_3":                             false,
		"":                                                false,
		"model.py":                                        false,
	} {
		if got := rows(t, w, fmt.Sprintf("SELECT _is_own_code('%s')", function)); got[0] != fmt.Sprintf("[%v]", want) {
			t.Errorf("%q: %s, want %v", function, got, want)
		}
	}
}
