package queries_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/ingest"
	ingestload "prof/ingest/load"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// twin is what a copy of a run's timeline adds to the numbers of the original.
type twin struct{ source, rng, context int64 }

// untouched takes no number for one of a copy's.
var untouched = twin{source: 1 << 40, rng: 1 << 40}

// ofSources are tables whose rows are about a source as a whole, or only of Nsight Systems or Nsight Compute.
var ofSources = []string{"source", "source_part", "source_fact", "diagnostic", "gpu_metric", "gpu_metric_name", "ncu_launch"}

// twinOf returns the statements that copy the timeline within the only run of a warehouse to new sources, as if the PyTorch profiler had captured the same.
func twinOf(t *testing.T, w *schema.Warehouse) (twin, []string) {
	t.Helper()
	var by twin
	if err := w.DB.QueryRow(`SELECT (SELECT max(source_id) FROM source), (SELECT max(range_id & 134217727) FROM nvtx_range), (SELECT max(range_context_id & 134217727) FROM range_context)`).
		Scan(&by.source, &by.rng, &by.context); err != nil {
		t.Fatal(err)
	}
	f, err := queries.Raw(t.Context(), w, `SELECT table_name, list(column_name ORDER BY column_index)::VARCHAR FROM duckdb_columns()
		WHERE schema_name = 'main' AND table_name IN (SELECT t.table_name FROM duckdb_tables() t) GROUP BY table_name HAVING bool_or(column_name = 'source_id') OR table_name IN ('range_device', 'range_context') ORDER BY table_name`)
	if err != nil {
		t.Fatal(err)
	}
	shift := map[string]string{"source_id": fmt.Sprint("source_id + ", by.source), "range_id": fmt.Sprint("range_id + ", by.rng), "parent_range_id": fmt.Sprint("parent_range_id + ", by.rng),
		"range_context_id": fmt.Sprintf("CASE WHEN range_context_id > 0 THEN range_context_id + %d ELSE range_context_id END", by.context)}
	var stmts []string
	for _, r := range f.Rows {
		table, columns := r[0].(string), strings.Split(strings.Trim(r[1].(string), "[]"), ", ")
		if slices.Contains(ofSources, table) {
			continue
		}
		values := slices.Clone(columns)
		for i, c := range columns {
			if s := shift[c]; s != "" {
				values[i] = s
			}
		}
		where := "WHERE run_id = $run"
		if slices.Contains(columns, "source_id") {
			where += " AND source_id IN " + originals
		}
		stmts = append(stmts, fmt.Sprintf("INSERT INTO %[1]s (%[2]s) SELECT %[3]s FROM %[1]s %[4]s", table, strings.Join(columns, ", "), strings.Join(values, ", "), where))
	}
	return by, append(stmts, fmt.Sprintf("INSERT INTO source_fact SELECT f.* REPLACE (f.source_id + %d AS source_id) FROM source_fact f WHERE f.key = 'host.name' AND run_id = $run AND f.source_id IN %s", by.source, originals),
		fmt.Sprintf("INSERT INTO source SELECT * REPLACE (source_id + %d AS source_id, 'torch' AS kind, 'torch-trace' AS form) FROM source WHERE kind = 'nsys' AND run_id = $run", by.source))
}

// originals are the sources that have a twin.
const originals = "(SELECT s.source_id FROM source s WHERE s.kind = 'nsys' AND s.run_id = $run)"

// otherTwin returns the statements that make the copy another timeline than the original.
func otherTwin(by twin) (stmts []string) {
	for _, table := range []string{"kernel", "memop", "graph_launch", "api_call", "library_call", "osrt_call", "sync", "nvtx_range"} {
		stmts = append(stmts, fmt.Sprintf("UPDATE %s SET duration_ns = 3 * duration_ns + 1 WHERE source_id > %d AND run_id = $run", table, by.source))
	}
	return append(stmts, fmt.Sprintf("UPDATE range_device SET sum_ns = 3 * sum_ns, kernel_sum_ns = 3 * kernel_sum_ns, busy_ns = 2 * busy_ns, last_end_ns = last_end_ns + 1 WHERE range_id & 134217727 > %d AND run_id = $run", by.rng),
		fmt.Sprintf("UPDATE device_time SET end_ns = end_ns + 7 WHERE source_id > %d AND run_id = $run", by.source),
		fmt.Sprintf("UPDATE gap_sum SET duration_ns = duration_ns + 7, max_ns = max_ns + 7 WHERE source_id > %d AND run_id = $run", by.source),
		fmt.Sprintf("UPDATE gap SET duration_ns = duration_ns + 7 WHERE source_id > %d AND run_id = $run", by.source),
		fmt.Sprintf("INSERT INTO idle_part SELECT run_id, source_id, device_id, range_id, 'launch-delay', 7 FROM device_time WHERE source_id > %d AND run_id = $run", by.source),
		fmt.Sprintf("INSERT INTO gap_sum_part SELECT run_id, source_id, pattern_id, 'launch-delay', 7 FROM gap_sum WHERE source_id > %d AND run_id = $run", by.source),
		fmt.Sprintf("INSERT INTO gap_part SELECT run_id, source_id, device_id, start_ns, 'launch-delay', 7 FROM gap WHERE source_id > %d AND run_id = $run", by.source))
}

// asked are the arguments that the queries of these tests are run with: none, and a form other than the usual one of a stage on one GPU.
func asked(q queries.Query) []queries.Args {
	values := map[string]string{"raw": "true", "by": "family", "with_ncu": "true", "unmatched": "true"}
	switch q.Domain {
	case "ncu":
		values["by"] = "instruction"
	case "stages", "ranks": // which work is a step's
		values["by"] = "time"
	case "model":
		values["by"] = "layer"
	case "serving": // what its rows are of
		values["by"] = "stage"
	}
	other := queries.Args{}
	for _, p := range q.Params {
		if v := cmp.Or(values[p.Name], map[string]string{"stage": "decode", "device": "0"}[p.Name]); v != "" {
			other[p.Name] = v
		}
	}
	if len(other) == 0 {
		return []queries.Args{{}}
	}
	return []queries.Args{{}, other}
}

// catalogue are all queries but some.
func catalogue(t *testing.T, but ...string) []queries.Query {
	t.Helper()
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(q queries.Query) bool { return slices.Contains(but, q.Name) })
}

// once asks without arguments.
func once(queries.Query) []queries.Args { return []queries.Args{{}} }

// frames runs queries on a run, with a source or by default.
func frames(t *testing.T, w *schema.Warehouse, list []queries.Query, run, source string, asked func(q queries.Query) []queries.Args) map[string]*frame.Frame {
	t.Helper()
	out, noted, id := map[string]*frame.Frame{}, queries.NewAsker(w), runID(t, w, run)
	for _, q := range list {
		for _, args := range asked(q) {
			name := fmt.Sprint(q.Name, " ", args)
			if q.TakesRun() {
				args["run"] = id
			}
			if source != "" {
				args["source"] = source
			}
			f, err := noted.Run(t.Context(), q, args)
			if err != nil {
				t.Fatal(err)
			}
			out[name] = f
		}
	}
	return out
}

func takesSource(q queries.Query) bool {
	return slices.Contains(q.Notes, "timelines") && q.Takes("source")
}

// lines returns a frame's rows as text, whatever the run is called, with the numbers of a twin's sources and ranges taken back to the original's.
func lines(f *frame.Frame, by twin) []string {
	out := make([]string, len(f.Rows))
	for i, r := range f.Rows {
		r = slices.Clone(r)
		for at, v := range r {
			switch v := v.(type) {
			case int64:
				if v > schema.MaxIDs && f.Columns[at].Unit == frame.None { // an id of the run
					r[at] = v & schema.MaxIDs
				}
			case string:
				r[at] = aRun.ReplaceAllString(v, "RUN")
				if strings.HasSuffix(f.Columns[at].Name, "_ids") { // a list of ids of the run
					r[at] = anID.ReplaceAllStringFunc(v, func(id string) string {
						n, err := strconv.ParseInt(id, 10, 64)
						if err != nil {
							return id
						}
						return strconv.FormatInt(n&schema.MaxIDs, 10)
					})
				}
			}
		}
		for column, last := range map[string]int64{"source_id": by.source, "range_id": by.rng, "job_id": by.source, "reference_id": by.source} {
			at := f.Index(column)
			if at < 0 {
				continue
			}
			if id, ok := r[at].(int64); ok {
				if id &= schema.MaxIDs; id > last {
					id -= last
				}
				r[at] = id
			}
		}
		for _, of := range [][2]string{{"findings", "evidence_query"}, {"findings", "command"}, {"findings", "detail_command"}, {"collectives", "reason"}, {"run-details", "created_at"}} { // they name the source, or what it lacks, or when it was stored
			if at := f.Index(of[1]); at >= 0 && f.Query == of[0] {
				r[at] = nil
			}
		}
		out[i] = fmt.Sprintf("%#v", r)
	}
	if f.Query == "devices" { // reports of Nsight Compute lie between the two
		slices.Sort(out)
	}
	return out
}

var anID = regexp.MustCompile(`[0-9]+`)

// aRun is the name or the id of a run of TestTwoTimelines.
var aRun = regexp.MustCompile(`two-[a-z]+|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}`)

func sameFrames(t *testing.T, what string, got, want map[string]*frame.Frame, by twin) {
	t.Helper()
	for name, g := range got {
		if a, b := lines(g, by), lines(want[name], by); !slices.Equal(a, b) {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			t.Errorf("%s: %s: %d rows, want %d; they differ from row %d on: %.300q, want %.300q", what, name, len(a), len(b), at+1, a[at:min(at+1, len(a))], b[at:min(at+1, len(b))])
		}
	}
}

// TestTwoTimelines holds that no query adds up a timeline of Nsight Systems and one of the PyTorch profiler: a copy of the timeline
// as a source of the other kind changes nothing, asking for it gives the same again, and it may itself be something else without
// any influence on the original. The captures of the run have rows of every query together. Each query that tells them apart is held to the first, some of all are held to all of it.
func TestTwoTimelines(t *testing.T) {
	t.Parallel()
	files := []string{"nsys/kernels/kernels.sqlite.gz", "ncu/kernels-prefill.ncu-rep.gz", "ncu/kernels-range.ncu-rep.gz", "ncu/variants-graph.ncu-rep.gz", "ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz", "nsys/nccl2/nccl2.sqlite.gz", "nsys/variants-graph/variants-graph.sqlite.gz"}
	made := func(name string, stmts ...[]string) testkit.Run { // which have no library calls and notes
		return testkit.Run{Name: name, Files: files, Options: ingest.Options{Load: ingestload.Options{WithOSRT: true}}, SQL: strings.Join(slices.Concat(append([][]string{{"INSERT INTO library_call SELECT run_id, source_id, 'cuDNN', pid, tid, start_ns, duration_ns, api_name_id, range_context_id FROM api_call WHERE run_id = $run",
			"UPDATE path_stage SET note = 'part', note_path_id = path_id WHERE stage IS NOT NULL AND run_id = $run"}}, stmts...)...), ";\n")}
	}
	by, twin := twinOf(t, testkit.Warehouse(t, made("two-alone")))
	var without []string
	for _, table := range []string{"kernel", "memop", "graph_launch", "api_call", "library_call", "osrt_call", "sync", "nvtx_range", "stream", "device", "device_time", "idle_part", "gap_sum", "gap_sum_part", "gap", "gap_part", "source"} {
		without = append(without, fmt.Sprintf("DELETE FROM %s WHERE run_id = $run AND source_id IN %s", table, originals))
	}
	w := testkit.Warehouse(t, made("two-alone"), made("two-beside", twin), made("two-changed", twin, otherTwin(by)), made("two-left", twin, otherTwin(by), without))

	about := []string{"sources", "runs", "run-list", "facts", "conservation", "run-conditions"} // they show both
	all := catalogue(t, about...)
	var list, sourced []queries.Query // of the second all tell timelines apart
	further := map[string]bool{}
	for _, q := range sample.Of(all, 12) {
		if further[q.Name] = true; takesSource(q) {
			sourced = append(sourced, q)
		}
	}
	for _, q := range all {
		if further[q.Name] || takesSource(q) {
			list = append(list, q)
		}
	}
	asked := func(q queries.Query) []queries.Args {
		if !further[q.Name] {
			return once(q)
		}
		return asked(q)
	}
	alone := frames(t, w, list, "two-alone", "", asked)
	found := map[string]bool{}
	for _, f := range alone {
		found[f.Query] = found[f.Query] || len(f.Rows) > 0
	}
	for name, some := range found {
		isOfTraces := slices.Contains([]string{"hot-lines", "line-kernels", "captured-kernels", "gemm-speed"}, name) // which have functions and graphs' captures, or need a model
		if q, err := queries.Find(name); err != nil || takesSource(q) && !some && !isOfTraces && (elsewhere[name] == "" || elsewhere[name] == "TestTwoTimelines") {
			t.Errorf("%s gives no row of any capture: it is not tested (%v)", name, err)
		}
	}
	byDefault, copied := frames(t, w, list, "two-changed", "", asked), frames(t, w, sourced, "two-beside", "torch", asked)
	sameFrames(t, "beside another timeline", byDefault, alone, untouched)
	sameFrames(t, "of the copy", copied, alone, by)
	testTwoNotes(t, alone, copied, byDefault)
	exact, both := testkit.Query(t, w, "conservation", queries.Args{"run": "two-alone"}), testkit.Query(t, w, "conservation", queries.Args{"run": "two-beside"})
	if len(both.Rows) != 2 || len(exact.Rows) != 1 || both.Rows[1][0] != "torch" || fmt.Sprint(both.Rows[0]) != fmt.Sprint(exact.Rows[0]) ||
		fmt.Sprint(both.Rows[1][1:]) != fmt.Sprint(exact.Rows[0][1:]) || total(both, "range_count") == 0 || total(both, "api_call_count") == 0 {
		t.Errorf("conservation of both is %v, of the original alone %v", both.Rows, exact.Rows)
	}
	other := frames(t, w, sourced, "two-changed", "torch", once)
	for name, f := range other {
		without := f.Query == "clock-offsets" || f.Query == "stream-queues" // they have no durations of the timeline
		if len(f.Rows) > 0 && !without && slices.Equal(lines(f, by), lines(copied[name], by)) {
			t.Errorf("%s: another timeline as the copy gives the same rows", name)
		}
	}
	// Without the original the copy is the default, and gives what it gave beside it.
	sameFrames(t, "without the original", frames(t, w, sourced, "two-left", "", once), other, untouched)
}

// testTwoNotes holds that each query which counts one of two timelines says so, and that there are no other new notes.
func testTwoNotes(t *testing.T, alone, copied, now map[string]*frame.Frame) {
	t.Helper()
	for name, f := range now {
		q, err := queries.Find(f.Query)
		if err != nil {
			t.Fatal(err)
		}
		want, wantCopy := slices.Clone(alone[name].Notes), slices.Clone(alone[name].Notes)
		wantCopy = slices.DeleteFunc(wantCopy, func(n string) bool { return strings.HasPrefix(n, "the bytes of ") }) // NCCL tells none to PyTorch
		if takesSource(q) {
			const both = "the run has timelines from Nsight Systems and the PyTorch profiler; this counts the one from "
			want, wantCopy = append(want, both+"Nsight Systems (--source torch for the other)"), append(wantCopy, both+"the PyTorch profiler (--source nsys for the other)")
		}
		check := func(got, want []string) {
			t.Helper()
			for _, notes := range [][]string{got, want} {
				for i, n := range notes {
					notes[i] = aRun.ReplaceAllString(n, "RUN")
				}
				slices.Sort(notes)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: the notes are %q, want %q", name, got, want)
			}
		}
		check(slices.Clone(f.Notes), want)
		if c := copied[name]; c != nil {
			check(slices.Clone(c.Notes), wantCopy)
		}
	}
}
