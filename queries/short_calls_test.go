package queries_test

import (
	"fmt"
	"testing"

	"prof/ingest"
	ingestload "prof/ingest/load"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// TestShortCalls asks the same of runs with a row for each API call and without: sums answer as rows do, to the nanosecond, and a timeline lacks
// only short calls that launched nothing.
func TestShortCalls(t *testing.T) {
	t.Parallel()
	var runs []testkit.Run
	names := []string{"llama", "trace", "nccl"}
	for i, file := range sample.Of([]string{"nsys/llama-graph-node/llama-graph-node.sqlite.gz", "torch/train.trace.json.gz", "nsys/nccl2/nccl2.sqlite.gz"}, 3) {
		runs = append(runs, testkit.Run{Name: names[i] + "-rows", Files: []string{file}, Options: ingest.Options{Load: ingestload.Options{APIRows: true}}}, testkit.Run{Name: names[i] + "-sums", Files: []string{file}})
	}
	w := testkit.Warehouse(t, runs...)
	for _, name := range sample.Of(names, 3) {
		rows, sums := name+"-rows", name+"-sums"
		same := func(name string, args queries.Args) {
			answer := func(run string) *frame.Frame {
				args["run"] = run
				return testkit.Query(t, w, name, args)
			}
			if a, b := answer(rows), answer(sums); fmt.Sprint(a.Rows) != fmt.Sprint(b.Rows) || len(a.Rows) == 0 && len(args) == 2 {
				t.Errorf("%s %v: from rows\n%v\nfrom sums\n%v", name, args, a.Rows, b.Rows)
			}
		}
		same("api-calls", queries.Args{"top": "0"})
		for _, stage := range []string{"prefill", "decode", "(none)", "none of them"} {
			same("api-calls", queries.Args{"top": "0", "stage": stage})
		}
		same("conservation", queries.Args{})
		for table, columns := range map[string]string{"finding_call": "x.* EXCLUDE (run_id)", "finding": "x.* EXCLUDE (run_id)", "cold_sign": "_id_number(x.range_id), x.* EXCLUDE (run_id, range_id)"} {
			of := func(run string) string {
				return fmt.Sprint(rowsOf(t, w, "SELECT %s FROM %s x JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY ALL", columns, table, run))
			}
			if a, b := of(rows), of(sums); a != b {
				t.Errorf("%s of %s: from rows\n%s\nfrom sums\n%s", table, name, a, b)
			}
		}
		key := func(f *frame.Frame, r []any) string {
			return fmt.Sprint(r[f.Index("pid")], r[f.Index("tid")], r[f.Index("api")], r[f.Index("start_ns")], r[f.Index("duration_ns")], r[f.Index("is_launch")])
		}
		few := testkit.Query(t, w, "timeline-calls", queries.Args{"run": sums, "others": "0"})
		has := map[string]bool{}
		for _, r := range few.Rows {
			has[key(few, r)] = true
		}
		all := testkit.Query(t, w, "timeline-calls", queries.Args{"run": rows, "others": "0"})
		missing := 0
		for _, r := range all.Rows {
			if k := key(all, r); !has[k] {
				missing++
				if number(all, r, "duration_ns") >= 5000 || r[all.Index("is_launch")] == true {
					t.Errorf("%s: the timeline lacks %v", name, r)
				}
			}
		}
		if len(few.Rows)+missing != len(all.Rows) || len(few.Rows) == 0 || few.Rows[0][few.Index("is_short_hidden")] != true || all.Rows[0][all.Index("is_short_hidden")] != false {
			t.Errorf("%s: %d calls, %d with rows for all", name, len(few.Rows), len(all.Rows))
		}
	}
}
