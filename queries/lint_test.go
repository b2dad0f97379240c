package queries_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// shipped are the captures in testdata, each a run of its name; profiled has the captures of Nsight Compute, with timelines of two.
var shipped = []string{"kernels", "llama-graph-node", "nccl2", "profiled", "variants-graph", "variants-node"}

// timelines are the runs of testkit.All with kernels, ranges or operators of every kind.
var timelines = append(slices.Clone(shipped), "train", "train-stack", "torch-graph", "torch-cpu", "torch-llama", "llama-stack")

func allQueries(t *testing.T) []queries.Query {
	t.Helper()
	all, err := queries.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("only %d queries", len(all))
	}
	return all
}

// rows returns a statement's result as text, for comparison.
func rows(t *testing.T, w *schema.Warehouse, stmt string) []string {
	t.Helper()
	f, err := queries.Raw(t.Context(), w, stmt)
	if err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	return asText(f)
}

func asText(f *frame.Frame) []string {
	out := make([]string, len(f.Rows))
	for i, r := range f.Rows {
		out[i] = fmt.Sprintf("%v", r)
	}
	return out
}

// wholeWindow is an aggregate over all rows; row_number() OVER () is none.
const wholeWindow = `(?i)[^(]\)\s+OVER\s*\(\s*\)`

// TestFiles holds how query files are written.
func TestFiles(t *testing.T) {
	for _, q := range allQueries(t) {
		body := regexp.MustCompile(`(?m)--.*$|'[^']*'`).ReplaceAllString(q.Body, "")
		for what, bad := range map[string]string{
			"a star hides which columns it gives": `(?i)\bselect\s+(distinct\s+)?\*|[\w"]\.\*|,\s*\*\s*(,|\bfrom\b)`,
			"nothing is rounded in SQL":           `(?i)\b(round|trunc|floor|ceil)\s*\(`,
			"numbers are BIGINT or DOUBLE":        `(?i)\b(decimal|numeric|float|real)\b`,
			"only reading":                        `(?i)\b(insert|update|delete|create|drop|alter|copy|attach)\b`,
			"DuckDB 1.5.5 now and then fails in aggregates over all rows (its issue 25713)": wholeWindow,
			"the result must not change by the day":                                         `(?i)\b(now|current_\w+|random|uuid)\s*\(`,
		} {
			if m := regexp.MustCompile(bad).FindString(body); m != "" {
				t.Errorf("%s: %s: %q", q.Relation(), what, m)
			}
		}
		said := regexp.MustCompile(`(?m)--.*$|error\('[^']*'`).ReplaceAllString(q.Body, "")
		if m := regexp.MustCompile(`'[a-z]+( [a-z]+){3,}[^']*'`).FindString(said); m != "" {
			t.Errorf("%s: words are Go's, cells have kinds: %s", q.Relation(), m)
		}
		if !q.Private && !strings.Contains(body, "ORDER BY") && q.Name != "conservation" {
			t.Errorf("%s has no order", q.Relation())
		}
		for _, c := range q.Columns {
			if len(c[1]) < 3 {
				t.Errorf("%s: %s is hardly explained: %q", q.Relation(), c[0], c[1])
			}
		}
	}
}

// TestFactFiles holds it of facts.
func TestFactFiles(t *testing.T) {
	tables, err := derive.Facts{}.Tables()
	if err != nil || len(tables) < 50 {
		t.Error(len(tables), err)
	}
	for _, f := range tables {
		if m := regexp.MustCompile(wholeWindow).FindString(regexp.MustCompile(`--[^\n]*`).ReplaceAllString(f.Query, "")); m != "" {
			t.Errorf("%s: DuckDB 1.5.5 now and then fails in aggregates over all rows: %q", f.Name, m)
		}
	}
}

// plain are columns of numbers that measure nothing or count what their name says.
var plain = []string{"rank", "part", "first_nth", "last_nth", "gpu_nth", "match_nth", "node", "pass", "calls", "captured_calls", "pass_calls", "instances", "gpu_instances", "passes", "warmup_passes", "replays", "kernels_per_replay", "queued", "samples", "sources", "gpus", "rows",
	"pid", "blocks", "most_blocks", "plan_rank", "tid", "device", "context", "stream", "priority", "mean", "median", "std", "min", "max", "kernel_calls", "window",
	"gpu_span_tokens_per_s", "alone_tokens_per_s", "launch", "launches", "nth", "step", "model", "layer", "hidden_size", "vocab_size", "window_size", "bits", "candidates", "timeline_calls", "depth", "waves", "stall_cycles", "intensity", "ridge", "value", "repeat", "exit_code", "busy_samples", "invocation",
	"grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "deviation_ns2", "computed", "row_number", "column_number", "table_number", "benchmark", "request", "target_requests_per_s", "requests_per_s", "output_tokens_per_s", "total_tokens_per_s", "tokens_per_s", "decode_tokens_per_s",
	"line", "code_offset", "active_threads", "mean_cycles", "min_cycles", "max_cycles"} // the unit of a value stands beside it

// column returns a column's cells.
func column(f *frame.Frame, name string) []any {
	out := make([]any, len(f.Rows))
	for i, r := range f.Rows {
		out[i] = r[f.Index(name)]
	}
	return out
}

// total adds up a column of whole numbers; NULL adds nothing.
func total(f *frame.Frame, name string) int64 {
	var n int64
	for _, v := range column(f, name) {
		x, _ := v.(int64)
		n += x
	}
	return n
}

// TestIdentities holds what must be true between the answers to different questions about one run.
func TestIdentities(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	p, noted := newPlans(t, w), queries.NewAsker(w)
	for _, run := range shipped {
		id := testkit.RunID(run)
		whole := p.ask("FROM {top-kernels}(?::UUID, top := 0, warmup := true)", id)
		calls, ns := total(whole, "calls"), total(whole, "total_ns")
		if calls == 0 || ns == 0 {
			t.Fatalf("%s: no kernels", run)
		}
		check := func(what string, c, n int64) {
			t.Helper()
			if c != calls || n != ns {
				t.Errorf("%s: %s: %d calls and %d ns of %d and %d", run, what, c, n, calls, ns)
			}
		}
		for _, by := range []string{"name", "short", "family"} {
			f := p.ask(`FROM {top-kernels}(?::UUID, top := 0, warmup := true, "by" := ?)`, id, by)
			check("by "+by, total(f, "calls"), total(f, "total_ns"))
		}
		stages := p.ask("FROM {stage-kernels}(?::UUID, top := 0, warmup := true)", id)
		check("stage-kernels", total(stages, "calls"), total(stages, "total_ns"))
		grids := p.ask("FROM {kernel-grids}(?::UUID, top := 0, warmup := true)", id)
		check("kernel-grids", total(grids, "calls"), total(grids, "total_ns"))
		devices := column(p.ask("FROM {devices}(?::UUID)", id), "device")
		for _, name := range []string{"top-kernels", "kernel-grids", "stage-kernels"} {
			for param, values := range map[string][]any{"stage": append(column(stages, "stage"), "(none)"), "device": devices} { // by each value of a parameter they add up to the whole
				var c, n int64
				seen := map[any]bool{}
				for _, v := range values {
					if !seen[v] {
						f := p.ask(fmt.Sprintf("FROM {%s}(?::UUID, top := 0, warmup := true, %s := ?)", name, param), id, v)
						c, n = c+total(f, "calls"), n+total(f, "total_ns")
					}
					seen[v] = true
				}
				check(fmt.Sprintf("%s by %s %v", name, param, values), c, n)
			}
		}
		c := p.ask("FROM {conservation}(?::UUID)", id)
		check("conservation", total(c, "attributed_count")+total(c, "outside_count")+total(c, "unlaunched_count"),
			total(c, "attributed_ns")+total(c, "outside_ns")+total(c, "unlaunched_ns"))
		if column(c, "is_exact")[0] != true {
			t.Errorf("%s: conservation is not exact", run)
		}
		testDeviations(p, run, id)
		testTimes(p, run, id, len(devices))
		testNotes(t, noted, run)
	}
}

// testDeviations holds that the deviation of one value is NULL and of several never.
func testDeviations(p plans, run, id string) {
	p.Helper()
	for _, c := range [][3]string{{"top-kernels", "calls", "std_ns"}, {"kernel-grids", "calls", "std_ns"}, {"range-kernels", "calls", "std_ns"}, {"memops", "calls", "std_bytes"},
		{"api-calls", "calls", "std_ns"}, {"graphs", "replays", "std_ns"}, {"ranges", "gpu_instances", "gpu_span_std_ns"}, {"stages", "passes", "cpu_std_ns"}} {
		f := p.ask("FROM {"+c[0]+"}(?::UUID)", id)
		n, std := column(f, c[1]), column(f, c[2])
		for i := range n {
			if (n[i].(int64) > 1) != (std[i] != nil) {
				p.Errorf("%s: %s: %s is %v of %v %s", run, c[0], c[2], std[i], n[i], c[1])
			}
		}
	}
}

// testTimes holds how the times of ranges stand to each other: busy is no more than the sum, and on one GPU no more than the span.
func testTimes(p plans, run, id string, devices int) {
	p.Helper()
	for _, bad := range asText(p.ask(`SELECT d.range_id, d.gpu_span_ns, d.gpu_busy_ns, d.gpu_sum_ns FROM (
			SELECT range_id, max(last_end_ns) - min(first_start_ns) AS gpu_span_ns, sum(busy_ns) AS gpu_busy_ns, sum(sum_ns) AS gpu_sum_ns, sum(kernel_sum_ns) AS kernel_sum_ns, sum(kernel_count + memop_count + graph_count) AS work
			FROM range_device WHERE run_id = ?::UUID GROUP BY range_id) d
		WHERE d.gpu_busy_ns > d.gpu_sum_ns OR d.kernel_sum_ns > d.gpu_sum_ns OR (d.gpu_busy_ns > d.gpu_span_ns AND ? = 1) OR d.work = 0`, id, devices)) {
		p.Errorf("%s: a range's times contradict each other: %s", run, bad)
	}
}

// testNotes holds that a table of kernels says when replays were traced as a whole, and only then.
func testNotes(t *testing.T, noted *queries.Asker, run string) {
	t.Helper()
	for _, name := range []string{"top-kernels", "kernel-grids", "stage-kernels", "range-kernels", "launches"} {
		notes := strings.Join(queryNoted(t, noted, name, queries.Args{"run": run}).Notes, "\n")
		if got, want := strings.Contains(notes, "--cuda-graph-trace=node"), run == "variants-graph"; got != want {
			t.Errorf("%s: the notes are %q", name, notes)
		}
	}
}
