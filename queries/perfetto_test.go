package queries_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/perfetto"
	"prof/render/perfettotest"
	"prof/schema"
)

// traceOf writes a run as a trace and reads it as Perfetto does.
func traceOf(t *testing.T, w *schema.Warehouse, o perfetto.Options, args queries.Args) (*perfettotest.Trace, perfetto.Sum) {
	t.Helper()
	a := queries.NewAsker(w)
	ask := func(name string) *frame.Frame {
		f, err := a.Ask(t.Context(), name, args)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	o.Run, o.Clocks, o.Devices, o.Streams = args["run"], ask("clock-offsets"), ask("devices"), ask("streams")
	var err error
	if o.Findings, err = (&judge.Report{Frames: map[string]*frame.Frame{"findings": ask("findings"), "finding-rules": ask("finding-rules")}}).Findings(); err != nil {
		t.Fatal(err)
	}
	if o.Part == 0 {
		o.Part = perfetto.PartRows
	}
	var out bytes.Buffer
	sum, err := perfetto.Write(&out, func(relation string, args frame.Args, to func(*frame.Cells) error) error {
		return queries.Each(t.Context(), w, relation, args, to)
	}, o)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Slices == 0 {
		if out.Len() > 0 {
			t.Errorf("%d bytes of a trace without slices", out.Len())
		}
		return &perfettotest.Trace{}, sum
	}
	got, err := perfettotest.Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(got.Slices)) != sum.Slices || int64(len(got.Flows)) != sum.Flows {
		t.Errorf("%d slices and %d flows, but said are %d and %d", len(got.Slices), len(got.Flows), sum.Slices, sum.Flows)
	}
	return got, sum
}

// countAndSum are slices of one kind.
type countAndSum struct{ count, ns int64 }

func (c *countAndSum) add(s *perfettotest.Slice) {
	c.count++
	if s.End >= 0 {
		c.ns += s.End - s.Start
	}
}

// TestPerfetto writes runs of every kind of timeline: what is on each track adds up to what the queries say, to the nanosecond.
func TestPerfetto(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	withKernels, withFlows := 0, 0
	runs := append([]string{"nccl2", "ranks", "sdpa-1"}, sample.Of([]string{"variants-graph", "kernels", "variants-node", "torch-graph", "train-stack", "torch-cpu", "foreign-jax", "foreign-rocprof", "emit-nvtx"}, 3)...)
	for _, name := range runs {
		t.Run(name, func(t *testing.T) {
			run, err := w.Resolve(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			got, sum := traceOf(t, w, perfetto.Options{}, queries.Args{"run": run.ID, "top": "0"})
			if got.First < 0 {
				t.Errorf("it starts at %d", got.First)
			}
			testTraceWork(t, w, run.ID, got)
			testTraceCalls(t, w, run.ID, got)
			switch name {
			case "ranks":
				testTraceClocks(t, w, got)
			case "sdpa-1":
				testTraceSamples(t, got, sum)
				testTraceFindings(t, w, run.ID, got, "stage = 'decode'", "27 passes of 3 recordings")
				if fmt.Sprint(sum.Warm) != "map[decode:3 prefill:3]" {
					t.Errorf("warm-up passes: %v", sum.Warm)
				}
				for _, k := range got.Tracks {
					if strings.HasPrefix(k.Name, "/") {
						t.Errorf("a process %s", k.Name)
					}
				}
			case "nccl2":
				testTraceFindings(t, w, run.ID, got, "stage = 'decode'", "5 passes of 1 recording")
			}
			testTraceFindings(t, w, run.ID, got, "true", "")
			if len(got.Flows) > 0 {
				withFlows++
			}
			if slices.ContainsFunc(got.Slices, func(s *perfettotest.Slice) bool { return s.Category == "kernel" }) {
				withKernels++
			}
		})
	}
	if withKernels < len(runs)-1 || withFlows < len(runs)*3/4 {
		t.Errorf("of %d runs only %d have kernels and %d flows", len(runs), withKernels, withFlows)
	}
}

func testTraceWork(t *testing.T, w *schema.Warehouse, run string, got *perfettotest.Trace) {
	t.Helper()
	kernels, copies, tracks := map[string]countAndSum{}, map[string]countAndSum{}, map[string][3]countAndSum{}
	graphs, passes := countAndSum{}, int64(0)
	for _, s := range got.Slices {
		on := tracks[got.Path(s.Track)]
		switch s.Category {
		case "kernel":
			c := kernels[s.Name]
			c.add(s)
			kernels[s.Name] = c
			on[0].add(s)
		case "copy":
			c := copies[s.Name]
			c.add(s)
			copies[s.Name] = c
			on[1].add(s)
		case "graph":
			graphs.add(s)
			on[2].add(s)
		case "pass":
			passes++
			continue
		default:
			continue
		}
		if tracks[got.Path(s.Track)] = on; s.Depth != 0 {
			t.Errorf("%s lies within other work on %s", s.Name, got.Path(s.Track))
		}
	}
	a := queries.NewAsker(w)
	type countedRow struct {
		Kernel    string `col:"kernel,optional"`
		Operation string `col:"operation,optional"`
		Calls     int64  `col:"calls"`
		TotalNs   int64  `col:"total_ns"`
	}
	want := func(query string, of map[string]countAndSum) {
		args := queries.Args{"run": run, "warmup": "true"}
		if query == "top-kernels" {
			args["top"] = "0"
		}
		f := queryNoted(t, a, query, args)
		if len(f.Rows) != len(of) {
			t.Errorf("%s: %d names, of %d", query, len(of), len(f.Rows))
		}
		list, err := frame.Into[countedRow](f)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			name := r.Kernel + r.Operation
			if x := of[name]; x != (countAndSum{r.Calls, r.TotalNs}) {
				t.Errorf("%s: %s: %d in %d ns, want %d in %d", query, name, x.count, x.ns, r.Calls, r.TotalNs)
			}
		}
	}
	want("top-kernels", kernels)
	want("memops", copies)
	var streams [][3]countAndSum
	f := queryNoted(t, a, "streams", queries.Args{"run": run})
	list, err := frame.Into[struct {
		Kernels  int64 `col:"kernel_count"`
		KernelNs int64 `col:"kernel_sum_ns"`
		Copies   int64 `col:"memop_count"`
		CopyNs   int64 `col:"memop_sum_ns"`
		Graphs   int64 `col:"graph_count"`
		GraphNs  int64 `col:"graph_sum_ns"`
	}](f)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		streams = append(streams, [3]countAndSum{{r.Kernels, r.KernelNs}, {r.Copies, r.CopyNs}, {r.Graphs, r.GraphNs}})
	}
	if x, y := fmt.Sprint(sorted(streams)), fmt.Sprint(sorted(slices.Collect(maps.Values(tracks)))); x != y {
		t.Errorf("tracks have %s, streams %s", y, x)
	}
	counted := fmt.Sprintf(`run_id = '%s' AND source_id IN (SELECT source_id FROM timeline WHERE run_id = '%s' AND is_counted)`, run, run)
	both := rows(t, w, fmt.Sprintf(`SELECT (SELECT count(*) FROM stage_pass WHERE %[1]s) + (SELECT count(*) FROM device_part WHERE %[1]s AND range_id IS NOT NULL)`, counted))
	if fmt.Sprint(both) != fmt.Sprintf("[[%d]]", passes) {
		t.Errorf("%d passes, want %v", passes, both)
	}
}

// testTraceFindings finds each finding of a run once, with what its saving is over.
func testTraceFindings(t *testing.T, w *schema.Warehouse, run string, got *perfettotest.Trace, which, over string) {
	t.Helper()
	count, saving := 0, int64(0)
	for _, s := range got.Slices {
		if s.Category != "finding" || which != "true" && s.Args["stage"] != "decode" {
			continue
		}
		count++
		saving += s.Args["saving_ns"].(int64)
		if said := fmt.Sprintf("%v passes of %v recording", s.Args["passes"], s.Args["recordings"]); over != "" && (s.Args["over"] != over || !strings.HasPrefix(over, said)) {
			t.Errorf("finding %s is over %v: %v passes, %v recordings", s.Name, s.Args["over"], s.Args["passes"], s.Args["recordings"])
		}
	}
	if want := rows(t, w, fmt.Sprintf("SELECT count(*), coalesce(sum(saving_ns), 0)::BIGINT FROM findings('%s', top := 0) WHERE %s", run, which)); fmt.Sprint(want) != fmt.Sprintf("[[%d %d]]", count, saving) {
		t.Errorf("%d findings that save %d ns, want %v", count, saving, want)
	}
}

// testTraceClocks holds that ranks are on one clock.
func testTraceClocks(t *testing.T, w *schema.Warehouse, got *perfettotest.Trace) {
	t.Helper()
	first := map[string]int64{}
	for _, s := range got.Slices {
		if s.Category == "kernel" {
			gpu, _, _ := strings.Cut(got.Path(s.Track), " / ")
			if at, known := first[gpu]; !known || s.Start < at {
				first[gpu] = s.Start
			}
		}
	}
	want := rows(t, w, `SELECT (max(x.at_ns) - min(x.at_ns))::BIGINT FROM (
		SELECT min(k.start_ns) + any_value(o.offset_ns) AS at_ns FROM kernel k JOIN clock_offsets('ranks') o ON o.source_id = k.source_id WHERE k.run_id = _run_id('ranks') GROUP BY k.source_id) x`)
	a, b := first["GPU 0 NVIDIA H200, rank 0"], first["GPU 1 NVIDIA H200, rank 1"]
	if a == 0 || b == 0 || fmt.Sprint(want) != fmt.Sprintf("[[%d]]", max(a-b, b-a)) {
		t.Errorf("the ranks begin at %v, want %v between them", first, want)
	}
}

// TestEach says what cannot be read so, and ends where it should.
func TestEach(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	args := queries.Args{"run": testkit.RunID("nccl2")}
	all, some, enough := 0, 0, errors.New("enough")
	count := func(*frame.Cells) error { all++; return nil }
	if err := queries.Each(t.Context(), w, "_trace-nothing", args, count); !errors.Is(err, queries.ErrUnknownQuery) {
		t.Errorf("a relation that is not there: %v", err)
	}
	if err := queries.Each(t.Context(), w, "_timeline", args, count); err == nil || !strings.Contains(err.Error(), "column source_id is neither BIGINT nor DOUBLE nor VARCHAR") {
		t.Errorf("a column of another type: %v", err)
	}
	if err := queries.Each(t.Context(), w, "_trace-work", args, count); err != nil || all == 0 {
		t.Errorf("%d rows, %v", all, err)
	}
	if err := queries.Each(t.Context(), w, "_trace-work", args, func(c *frame.Cells) error {
		if some++; some == 10 {
			return enough
		}
		return nil
	}); !errors.Is(err, enough) || some != 10 {
		t.Errorf("%d rows, %v", some, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := queries.Each(ctx, w, "_trace-work", args, count); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestTraceOrder: work that starts at the same time on several GPUs is in the same order in a trace, and in timeline-work, however its rows were stored, which many cores do in any order.
func TestTraceOrder(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "nccl2")...)
	testkit.Exec(t, w, `UPDATE kernel SET start_ns = start_ns // 100000 * 100000, duration_ns = 10`)
	order := func() (out []string) {
		for _, r := range testkit.Query(t, w, "timeline-work", queries.Args{"run": "nccl2", "top": "501"}).Rows {
			out = append(out, fmt.Sprint(r))
		}
		if err := queries.Each(t.Context(), w, "_trace-work", queries.Args{"run": testkit.RunID("nccl2")}, func(c *frame.Cells) error {
			row := ""
			for i := range 15 { // without what ties it to its launch
				row += fmt.Sprint(c.Known(i), c.Whole(i), " ")
			}
			out = append(out, row)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := order()
	testkit.Exec(t, w, `CREATE TABLE reversed AS SELECT k.* FROM kernel k ORDER BY k.rowid DESC`)
	testkit.Exec(t, w, `DELETE FROM kernel`)
	testkit.Exec(t, w, `INSERT INTO kernel FROM reversed`)
	if got := order(); !slices.Equal(got, want) || len(got) < 1000 {
		t.Errorf("%d rows are in another order than the %d of work stored the other way round", len(got), len(want))
	}
}

// slicesOf are the slices of a trace by time, as text.
func slicesOf(got *perfettotest.Trace) (out []string) {
	for _, s := range got.Slices {
		out = append(out, fmt.Sprint(s.Start, s.End, s.Depth, s.Category, s.Name, got.Path(s.Track), s.Args))
	}
	slices.Sort(out)
	return out
}

func sorted(list [][3]countAndSum) []string {
	var out []string
	for _, x := range list {
		out = append(out, fmt.Sprint(x))
	}
	slices.Sort(out)
	return out
}

func testTraceCalls(t *testing.T, w *schema.Warehouse, run string, got *perfettotest.Trace) {
	t.Helper()
	sums := map[string]countAndSum{}
	for _, s := range got.Slices {
		c := sums[s.Category]
		c.add(s)
		sums[s.Category] = c
		if p := got.Tracks[s.Track]; p.IsThread != slices.Contains([]string{"api", "range", "python", "operator", "library", "system", "profiler"}, s.Category) && !strings.HasSuffix(got.Path(s.Track), "/ overlapping") && p.Name != "start/end ranges" {
			t.Errorf("%s is on %s", s.Category, got.Path(s.Track))
		}
	}
	counted := fmt.Sprintf(`x.run_id = '%s' AND x.source_id IN (SELECT source_id FROM timeline WHERE run_id = '%s' AND is_counted)`, run, run)
	for category, from := range map[string]string{"range": "nvtx_range x", "python": "python_call x", "library": "library_call x", "system": "osrt_call x", "profiler": "(FROM profiler_overhead WHERE tid IS NOT NULL) x",
		"operator": "(FROM op o ANTI JOIN (FROM source WHERE kind IN ('nsys', 'prof')) s ON s.run_id = o.run_id AND s.source_id = o.source_id) x",
		"api": `(SELECT DISTINCT run_id, source_id, pid, tid, start_ns, duration_ns, api_name_id FROM (SELECT run_id, source_id, pid, tid, start_ns, duration_ns, api_name_id FROM api_call
			UNION ALL SELECT run_id, source_id, pid, tid, launch_start_ns, launch_duration_ns, launch_name_id FROM kernel UNION ALL SELECT run_id, source_id, pid, tid, launch_start_ns, launch_duration_ns, launch_name_id FROM memop
			UNION ALL SELECT run_id, source_id, pid, tid, launch_start_ns, launch_duration_ns, launch_name_id FROM graph_launch WHERE mode = 'graph') WHERE start_ns IS NOT NULL) x`} {
		want := rows(t, w, fmt.Sprintf(`SELECT count(*), coalesce(sum(x.duration_ns), 0)::BIGINT FROM %s WHERE %s`, from, counted))
		if c := sums[category]; fmt.Sprint(want) != fmt.Sprintf("[[%d %d]]", c.count, c.ns) {
			t.Errorf("%s: %d in %d ns, want %v", category, c.count, c.ns, want)
		}
	}
	for _, f := range got.Flows {
		if f[0].Category != "api" || !slices.Contains([]string{"kernel", "copy", "graph"}, f[1].Category) || f[0].Start > f[1].Start {
			t.Fatalf("a flow goes from %s at %d to %s at %d", f[0].Category, f[0].Start, f[1].Category, f[1].Start)
		}
	}
	want := rows(t, w, fmt.Sprintf(`SELECT count(*) FROM (SELECT x.start_ns FROM kernel x WHERE %[1]s AND launch_start_ns <= start_ns UNION ALL SELECT x.start_ns FROM memop x WHERE %[1]s AND launch_start_ns <= start_ns
		UNION ALL SELECT x.start_ns FROM graph_launch x WHERE %[1]s AND mode = 'graph' AND launch_start_ns <= start_ns)`, counted))
	if fmt.Sprint(want) != fmt.Sprintf("[[%d]]", len(got.Flows)) {
		t.Errorf("%d flows, want %v", len(got.Flows), want)
	}
}

// TestPerfettoCuts writes parts of a run: a stage and its passes, a GPU, a window of time. What a cut shows, it shows whole.
func TestPerfettoCuts(t *testing.T) {
	t.Parallel()
	// With GPU metrics, which no capture here has: of a GPU and of none that is known, stored in no order.
	w := testkit.Warehouse(t, testkit.Run{Name: "nccl2", Files: testkit.Named(t, "nccl2")[0].Files, SQL: `INSERT INTO gpu_metric_name VALUES ($run, 1, 0, 7, 1, 'SMs Active', 'ratio'), ($run, 1, NULL, 8, 1, 'Other', 'raw');
		INSERT INTO gpu_metric SELECT $run, 1, 7 + i % 2, 1, 8000000000 + (i * 7919) % 3000 * 1000, i FROM range(3000) x(i)`})
	run := runID(t, w, "nccl2")
	kernels := func(got *perfettotest.Trace) (c countAndSum) {
		for _, s := range got.Slices {
			if s.Category == "kernel" {
				c.add(s)
			}
		}
		return c
	}
	check := func(what string, c countAndSum, filter string) {
		t.Helper()
		want := rows(t, w, `SELECT count(*), coalesce(sum(duration_ns), 0)::BIGINT FROM kernels WHERE run = 'nccl2' AND is_counted AND `+filter)
		if fmt.Sprint(want) != fmt.Sprintf("[[%d %d]]", c.count, c.ns) || c.count == 0 {
			t.Errorf("%s: %d kernels in %d ns, want %v", what, c.count, c.ns, want)
		}
	}
	args := func(more ...string) queries.Args {
		a := queries.Args{"run": run, "top": "0"}
		for i := 0; i < len(more); i += 2 {
			a[more[i]] = more[i+1]
		}
		return a
	}
	whole, all := traceOf(t, w, perfetto.Options{}, args())
	parts, sum := traceOf(t, w, perfetto.Options{Part: 1000}, args())
	if x, y := slicesOf(parts), slicesOf(whole); !slices.Equal(x, y) {
		t.Errorf("in parts there are other slices: %d, want %d", len(x), len(y))
	}
	if sum.Samples != 3000 || len(parts.Samples) != 2 {
		t.Errorf("%d samples of %d metrics", sum.Samples, len(parts.Samples))
	}
	stage, _ := traceOf(t, w, perfetto.Options{Stage: "decode"}, args("stage", "decode"))
	check("decode", kernels(stage), "stage = 'decode'")
	for _, s := range stage.Slices {
		if !slices.Contains([]any{nil, "decode"}, s.Args["stage"]) {
			t.Errorf("a slice of %v in decode: %s", s.Args["stage"], s.Name)
		}
	}
	pass, ofPass := traceOf(t, w, perfetto.Options{Stage: "decode", Pass: new(int64(2))}, args("stage", "decode"))
	check("pass 2", kernels(pass), "pass_range_id IN (SELECT range_id FROM stage_pass WHERE stage = 'decode' AND pass_id = 2)")
	testTraceFindings(t, w, run, pass, "stage = 'decode'", "5 passes of 1 recording")
	if len(all.Warm) == 0 || len(ofPass.Warm) > 0 {
		t.Errorf("warm-up passes: %v, in pass 2 %v", all.Warm, ofPass.Warm)
	}
	device, _ := traceOf(t, w, perfetto.Options{Device: new(int64(1))}, args("device", "1"))
	check("GPU 1", kernels(device), "device_id = 1")
	for _, k := range device.Tracks {
		if strings.HasPrefix(k.Name, "GPU 0") {
			t.Errorf("a track %s", k.Name)
		}
	}
	starts := []int64{}
	for _, s := range whole.Slices {
		if s.Category == "kernel" {
			starts = append(starts, s.Start)
		}
	}
	from, until := starts[len(starts)*2/5], starts[len(starts)*3/5]
	window, _ := traceOf(t, w, perfetto.Options{From: &from, Until: &until}, args())
	check("window", kernels(window), fmt.Sprintf("start_ns < %d AND start_ns + duration_ns >= %d", until, from))
	if got := len(window.Flows); got == 0 || got >= len(whole.Flows) {
		t.Errorf("%d flows in the window, %d in all", got, len(whole.Flows))
	}
	for name, part := range map[string]*perfettotest.Trace{"stage": stage, "pass": pass, "device": device, "window": window} {
		if len(part.Slices) >= len(whole.Slices) || len(part.Flows) == 0 {
			t.Errorf("%s: %d slices of %d, %d flows", name, len(part.Slices), len(whole.Slices), len(part.Flows))
		}
	}
	for track, list := range parts.Samples {
		path, unit := parts.Path(track), parts.Tracks[track].Unit
		if path != "GPU 0 NVIDIA H200 / SMs Active" && path != "GPU metrics / Other" || (unit == "ratio") != (path != "GPU metrics / Other") || len(list) != 1500 {
			t.Errorf("%d samples of %s in %q", len(list), path, unit)
		}
		for _, x := range list {
			if i := int64(x.Value); x.Time != 8_000_000_000+i*7919%3000*1000 {
				t.Fatalf("%v is at %d", x.Value, x.Time)
			}
		}
	}
	empty, sum := traceOf(t, w, perfetto.Options{Device: new(int64(7))}, args("device", "7"))
	if sum.Slices != 0 || len(empty.Slices) != 0 {
		t.Errorf("%d slices of a GPU that is not there", sum.Slices)
	}
}

// testTraceSamples finds clocks, power and memory of a capture next to its kernels, and idle times and findings with the query that shows them.
func testTraceSamples(t *testing.T, got *perfettotest.Trace, sum perfetto.Sum) {
	t.Helper()
	units, count := map[string]string{}, int64(0)
	end := int64(0)
	for _, s := range got.Slices {
		end = max(end, s.End)
	}
	for track, list := range got.Samples {
		units[got.Tracks[track].Name] = got.Tracks[track].Unit
		count += int64(len(list))
		for _, x := range list {
			if x.Time < got.First || x.Time > end || x.Value < 0 {
				t.Fatalf("%s: %v at %d, outside %d to %d", got.Path(track), x.Value, x.Time, got.First, end)
			}
		}
	}
	for name, unit := range map[string]string{"SM clock": "Hz", "power": "W", "memory used": "bytes", "temperature": "C", "GPU utilisation": "ratio"} {
		if units[name] != unit {
			t.Errorf("%s is in %q", name, units[name])
		}
	}
	if count != sum.Samples || count < 1000 {
		t.Errorf("%d samples, said are %d", count, sum.Samples)
	}
	idle, findings := 0, 0
	for _, s := range got.Slices {
		switch s.Category {
		case "idle":
			idle++
		case "finding":
			if findings++; !strings.HasPrefix(fmt.Sprint(s.Args["query"]), "prof query ") || s.Args["evidence"] == nil || s.End <= s.Start {
				t.Errorf("finding %s has %v", s.Name, s.Args)
			}
		}
	}
	if idle == 0 || findings == 0 {
		t.Errorf("%d idle times, %d findings", idle, findings)
	}
}
