package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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

// addTwin copies the timeline within the only run to new sources, as if the PyTorch profiler had captured the same.
func addTwin(t *testing.T, w *schema.Warehouse) twin {
	t.Helper()
	var by twin
	if err := w.DB.QueryRow(`SELECT (SELECT max(source_id) FROM source), (SELECT max(range_id & 134217727) FROM nvtx_range), (SELECT max(range_context_id & 134217727) FROM range_context)`).
		Scan(&by.source, &by.rng, &by.context); err != nil {
		t.Fatal(err)
	}
	f, err := raw(t, w, `SELECT table_name, list(column_name ORDER BY column_index)::VARCHAR FROM duckdb_columns()
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
		where := ""
		if slices.Contains(columns, "source_id") {
			where = "WHERE source_id IN (SELECT source_id FROM source WHERE kind = 'nsys')"
		}
		stmts = append(stmts, fmt.Sprintf("INSERT INTO %[1]s (%[2]s) SELECT %[3]s FROM %[1]s %[4]s", table, strings.Join(columns, ", "), strings.Join(values, ", "), where))
	}
	stmts = append(stmts, fmt.Sprintf("INSERT INTO source SELECT * REPLACE (source_id + %d AS source_id, 'torch' AS kind, 'torch-trace' AS form) FROM source WHERE kind = 'nsys'", by.source))
	stmts = append(stmts, fmt.Sprintf("INSERT INTO source_fact SELECT f.* REPLACE (f.source_id + %d AS source_id) FROM source_fact f WHERE f.key = 'host.name' AND f.source_id IN (SELECT source_id FROM source WHERE kind = 'nsys')", by.source))
	exec(t, w, "BEGIN; "+strings.Join(stmts, "; ")+"; COMMIT")
	return by
}

// asked are the arguments that the queries of these tests are run with: none, and on some runs one at a time.
func asked(q queries.Query, run string) []queries.Args {
	out := []queries.Args{{}}
	if run != "profiled" && run != "nccl2" {
		return out
	}
	values := map[string]string{"stage": "decode", "device": "0", "raw": "true", "by": "family"}
	if q.Domain == "ncu" {
		values["by"] = "instruction"
	}
	if q.Domain == "stages" || q.Domain == "ranks" { // which work is a step's
		values["by"] = "time"
	} else if q.Domain == "serving" { // what its rows are of
		values["by"] = "stage"
	}
	if run == "profiled" { // the other has no launches of Nsight Compute to be with
		values = map[string]string{"with_ncu": "true", "unmatched": "true"}
	}
	for _, p := range q.Params {
		if v := values[p.Name]; v != "" {
			out = append(out, queries.Args{p.Name: v})
		}
	}
	return out
}

// frames runs each query of the catalogue but some, on a run, with a source or by default, and with each of its options.
func frames(t *testing.T, w *schema.Warehouse, run, source string, but ...string) map[string]*frame.Frame {
	t.Helper()
	return framesAsked(t, w, run, source, asked, but...)
}

// bare asks a query without options.
func bare(queries.Query, string) []queries.Args { return []queries.Args{{}} }

func framesAsked(t *testing.T, w *schema.Warehouse, run, source string, asked func(q queries.Query, run string) []queries.Args, but ...string) map[string]*frame.Frame {
	t.Helper()
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	out, noted, id := map[string]*frame.Frame{}, asker(t, w), runID(t, w, run)
	for _, q := range all {
		if slices.Contains(but, q.Name) || source != "" && !takesSource(q) {
			continue
		}
		for _, args := range asked(q, run) {
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

// sourceless are the queries that do not tell timelines apart.
func sourceless(t *testing.T) []string {
	t.Helper()
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, q := range all {
		if !takesSource(q) {
			out = append(out, q.Name)
		}
	}
	return out
}

func takesSource(q queries.Query) bool {
	return slices.Contains(q.Notes, "timelines") && slices.ContainsFunc(q.Params, func(p queries.Param) bool { return p.Name == "source" })
}

// lines gives a frame's rows as text, with the numbers of a twin's sources and ranges taken back to the original's.
func lines(f *frame.Frame, by twin) []string {
	out := make([]string, len(f.Rows))
	for i, r := range f.Rows {
		r = slices.Clone(r)
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
		for _, of := range [][2]string{{"findings", "evidence_query"}, {"findings", "command"}, {"findings", "detail_command"}, {"collectives", "reason"}} { // they name the source, or what it lacks
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
// any influence on the original.
func TestTwoTimelines(t *testing.T) {
	t.Parallel()
	about := []string{"sources", "runs", "run-list", "facts", "conservation", "run-conditions"} // they show both
	found := map[string]bool{}
	for _, run := range []string{"profiled", "nccl2", "variants-graph"} { // these have rows of every query
		t.Run(run, func(t *testing.T) {
			w := newWarehouse(t)
			if run == "profiled" {
				load(t, w, run, profiled...)
			} else {
				load(t, w, run, "../testdata/nsys/"+run+"/"+run+".sqlite.gz")
			}
			if run == "nccl2" { // which have none in these captures
				exec(t, w, "INSERT INTO library_call SELECT run_id, source_id, 'cuDNN', pid, tid, start_ns, duration_ns, api_name_id, range_context_id FROM api_call")
				exec(t, w, "UPDATE path_stage SET note = 'part', note_path_id = path_id WHERE stage IS NOT NULL")
			}
			about := slices.Clone(about)
			if run == "variants-graph" { // it is there for what had no rows before
				for name, some := range found {
					if some {
						about = append(about, name)
					}
				}
			}
			alone := frames(t, w, run, "", about...)
			for _, f := range alone {
				found[f.Query] = found[f.Query] || len(f.Rows) > 0
			}
			exact := query(t, w, "conservation", queries.Args{"run": run})
			by := addTwin(t, w)
			byDefault, copied := frames(t, w, run, "", about...), frames(t, w, run, "torch", about...)
			sameFrames(t, "by default", byDefault, alone, untouched)
			sameFrames(t, "of the copy", copied, alone, by)
			if run == "profiled" {
				sameFrames(t, "of the original", frames(t, w, run, "nsys", about...), alone, untouched)
			}
			testTwoNotes(t, alone, copied, byDefault)
			both := query(t, w, "conservation", queries.Args{"run": run})
			if len(both.Rows) != 2 || len(exact.Rows) != 1 || both.Rows[1][0] != "torch" || fmt.Sprint(both.Rows[0]) != fmt.Sprint(exact.Rows[0]) ||
				fmt.Sprint(both.Rows[1][1:]) != fmt.Sprint(exact.Rows[0][1:]) || total(both, "range_count") == 0 || total(both, "api_call_count") == 0 {
				t.Errorf("conservation of both is %v, of the original alone %v", both.Rows, exact.Rows)
			}
			testOtherTwin(t, w, run, by, alone, copied, about)
		})
	}
	for name, some := range found {
		if q, err := queries.Find(name); err != nil || takesSource(q) && !some && (elsewhere[name] == "" || elsewhere[name] == "TestTwoTimelines") {
			t.Errorf("%s gives no row of any capture: it is not tested (%v)", name, err)
		}
	}
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
		if takesSource(q) {
			const both = "the run has timelines from Nsight Systems and the PyTorch profiler; this counts the one from "
			want, wantCopy = append(want, both+"Nsight Systems (--source torch for the other)"), append(wantCopy, both+"the PyTorch profiler (--source nsys for the other)")
		}
		check := func(got, want []string) {
			t.Helper()
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: the notes are %q, want %q", name, got, want)
			}
		}
		check(slices.Clone(f.Notes), want)
		if takesSource(q) {
			check(slices.Clone(copied[name].Notes), wantCopy)
		}
	}
}

// testOtherTwin makes the copy another timeline than the original, and holds that each is counted for itself.
func testOtherTwin(t *testing.T, w *schema.Warehouse, run string, by twin, alone, copied map[string]*frame.Frame, about []string) {
	t.Helper()
	for _, table := range []string{"kernel", "memop", "graph_launch", "api_call", "library_call", "osrt_call", "sync", "nvtx_range"} {
		exec(t, w, fmt.Sprintf("UPDATE %s SET duration_ns = 3 * duration_ns + 1 WHERE source_id > %d", table, by.source))
	}
	exec(t, w, fmt.Sprintf("UPDATE range_device SET sum_ns = 3 * sum_ns, kernel_sum_ns = 3 * kernel_sum_ns, busy_ns = 2 * busy_ns, last_end_ns = last_end_ns + 1 WHERE range_id & 134217727 > %d", by.rng))
	exec(t, w, fmt.Sprintf("UPDATE device_time SET end_ns = end_ns + 7, launch_delay_ns = launch_delay_ns + 7 WHERE source_id > %d", by.source))
	exec(t, w, fmt.Sprintf("UPDATE gap_sum SET duration_ns = duration_ns + 7, max_ns = max_ns + 7, launch_delay_ns = launch_delay_ns + 7 WHERE source_id > %d", by.source))
	exec(t, w, fmt.Sprintf("UPDATE gap SET duration_ns = duration_ns + 7, launch_delay_ns = launch_delay_ns + 7 WHERE source_id > %d", by.source))
	sameFrames(t, "beside another timeline", framesAsked(t, w, run, "", bare, about...), alone, untouched)
	other := framesAsked(t, w, run, "torch", bare, about...)
	for name, f := range other {
		unmatched := strings.Contains(name, "unmatched:true") || f.Query == "clock-offsets" || f.Query == "stream-queues" // they have no durations of the timeline
		if len(f.Rows) > 0 && !unmatched && slices.Equal(lines(f, by), lines(copied[name], by)) {
			t.Errorf("%s: another timeline as the copy gives the same rows", name)
		}
	}
	// Without the original the copy is the default, and gives what it gave beside it.
	for _, table := range []string{"kernel", "memop", "graph_launch", "api_call", "library_call", "osrt_call", "sync", "nvtx_range", "stream", "device", "device_time", "gap_sum", "gap", "source"} {
		exec(t, w, fmt.Sprintf("DELETE FROM %s WHERE source_id IN (SELECT source_id FROM source WHERE kind = 'nsys')", table))
	}
	sameFrames(t, "without the original", framesAsked(t, w, run, "", bare, append(about, sourceless(t)...)...), other, untouched)
}
