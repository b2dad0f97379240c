package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
)

// rankings are the queries that count measured passes alone, with the columns of their counts and times, and the relation of what they leave out.
var rankings = []struct{ query, count, time, left string }{
	{"top-kernels", "calls", "total_ns", "kernels"}, {"stage-kernels", "calls", "total_ns", "kernels"}, {"kernel-grids", "calls", "total_ns", "kernels"}, {"kernel-durations", "calls", "total_ns", "kernels"},
	{"kernel-devices", "calls", "total_ns", "kernels"}, {"memops", "calls", "total_ns", "copies"}, {"copy-sizes", "calls", "total_ns", "copies"}, {"gaps", "gap_count", "total_ns", "gaps"}, {"longest-gaps", "1", "duration_ns", "longest"},
	{"collectives", "calls", "total_ns", "collectives"}, {"syncs", "calls", "total_ns", "syncs"}, {"library-calls", "calls", "total_ns", "library"},
}

// TestLeftOut holds on every capture that the rows of a ranking and what it leaves out add up to all that it has with --warmup, in number and to the
// nanosecond, that with it nothing is left out, and that without it the kernels are those of the measured passes.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	named := map[string]string{"kernel-efficiency": "left-kernels"} // of the profiled kernels, in the whole timeline
	for _, r := range rankings {
		named[r.query] = "left-" + r.left
	}
	for _, q := range allQueries(t) {
		takes := slices.ContainsFunc(q.Params, func(p queries.Param) bool { return p.Name == "warmup" })
		if topic, is := named[q.Name]; !q.Private && (takes != is || takes != slices.Contains(q.Notes, topic)) {
			t.Errorf("%s: a query has --warmup where it leaves out work, a topic of caveats that says how much, and a row in this test", q.Name)
		}
	}
	w := testkit.All(t)
	p := newPlans(t, w)
	seen := map[string]int{}
	for nth, run := range sample.Of(rowsOf(t, w, "SELECT run_id::VARCHAR, name FROM run ORDER BY name"), 9) {
		id := run[0]
		stages := []any{nil}
		if nth%5 == 0 {
			for _, s := range rowsOf(t, w, "SELECT DISTINCT stage FROM path_stage WHERE run_id = '%s' AND stage IS NOT NULL UNION ALL SELECT '(none)' ORDER BY ALL", id) {
				stages = append(stages, s[0])
			}
		}
		for _, stage := range stages { // what syncs has no record of is whole functions of api-calls
			for _, row := range p.ask(`SELECT a.api, c.item_count, c.time_ns::BIGINT, a.calls, a.total_ns, EXISTS (SELECT 1 FROM sync y WHERE y.run_id = $1::UUID)
				FROM {api-calls}($1::UUID, top := 0, stage := $2::VARCHAR) a FULL JOIN _caveat_sync_calls($1::UUID, stage := $2::VARCHAR) c ON c.subject = a.api
				WHERE (contains(a.api, 'Synchronize') OR a.api IS NULL) AND NOT EXISTS (SELECT 1 FROM source s WHERE s.run_id = $1::UUID AND s.kind = 'nsys-stats')`, id, stage).Rows {
				if hasRecords := row[5].(bool); row[1] == nil && hasRecords {
					seen["recorded calls"]++
				} else if row[1] != row[3] || row[2] != row[4] {
					t.Errorf("%s of %s, stage %v: %v calls in %v ns, by api-calls %v in %v ns", row[0], run[1], stage, row[1], row[2], row[3], row[4])
				} else {
					seen["unrecorded calls"]++
				}
			}
		}
		for _, r := range rankings {
			q, err := queries.Find(r.query)
			if err != nil {
				t.Fatal(err)
			}
			for _, stage := range stages {
				args := map[bool]string{}
				for _, all := range []bool{false, true} {
					args[all] = "$1::UUID"
					for _, param := range q.Params {
						switch param.Name {
						case "top":
							args[all] += ", top := 0"
						case "stage":
							args[all] += ", stage := $2::VARCHAR"
						case "warmup":
							args[all] += fmt.Sprintf(", warmup := %t", all)
						}
					}
				}
				given := []any{id, stage}
				if !strings.Contains(args[true], "$2") {
					if given = given[:1]; stage != nil {
						continue
					}
				}
				sums := func(args string) string {
					return fmt.Sprintf("SELECT coalesce(sum(%s), 0)::BIGINT AS n, coalesce(sum(%s), 0)::BIGINT AS ns FROM {%s}(%s)", r.count, r.time, r.query, args)
				}
				left := func(all bool) string {
					of := strings.ReplaceAll(args[all], ", top := 0", "")
					return fmt.Sprintf("SELECT coalesce(sum(item_count), 0)::BIGINT AS n, coalesce(sum(time_ns), 0)::BIGINT AS ns FROM _caveat_left_%s(%s)", r.left, of)
				}
				got := p.ask(fmt.Sprintf("SELECT a.n, a.ns, b.n, b.ns, c.n, c.ns, d.n FROM (%s) a, (%s) b, (%s) c, (%s) d", sums(args[true]), sums(args[false]), left(false), left(true)), given...).Rows[0]
				n := make([]int64, len(got))
				for i, v := range got {
					n[i] = v.(int64)
				}
				if n[0] != n[2]+n[4] || n[1] != n[3]+n[5] || n[6] != 0 {
					t.Errorf("%s of %s, stage %v: %d in %d ns with --warmup, %d in %d ns without, left out %d in %d ns, and %d with --warmup", r.query, run[1], stage, n[0], n[1], n[2], n[3], n[4], n[5], n[6])
				}
				if n[4] > 0 && n[2] > 0 {
					seen[r.query]++
				}
			}
		}
		measured := p.ask(`WITH m AS (
				SELECT sum(w.sum_ns) FILTER (w.kind = 'kernel')::BIGINT AS ns FROM work_sum w JOIN stage_pass p ON p.run_id = w.run_id AND p.range_id = w.range_id WHERE w.run_id = $1::UUID AND w.is_counted AND NOT p.is_warmup
			) SELECT (SELECT coalesce(sum(total_ns), 0)::BIGINT FROM {top-kernels}($1::UUID, top := 0)), m.ns FROM m WHERE m.ns IS NOT NULL`, id)
		if len(measured.Rows) > 0 && measured.Rows[0][0] != measured.Rows[0][1] {
			t.Errorf("%s: top-kernels add up to %d ns, kernels of measured passes to %d", run[1], measured.Rows[0][0], measured.Rows[0][1])
		}
		for _, query := range []string{"top-kernels", "gaps"} {
			for _, c := range testkit.Query(t, w, query, queries.Args{"run": run[1].(string)}).Caveats {
				if c.Kind == "left-out" {
					seen[c.Detail]++
				}
			}
		}
	}
	want := []string{"warm-up", "initialisation", "outside", "recorded calls", "unrecorded calls"}
	for _, r := range rankings {
		if r.query != "library-calls" { // no capture has any in measured passes and elsewhere
			want = append(want, r.query)
		}
	}
	for _, what := range want {
		if *sample.Whole && seen[what] == 0 {
			t.Errorf("no capture leaves out anything of %s, and counts some", what)
		}
	}
}

// TestLaterGaps holds what gaps count where sets of ranges are not told apart: the same where no pass that is left out ends behind the first of a group, and otherwise all
// of them, which is said.
func TestLaterGaps(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "nccl2")...)
	ask := func() (ns string, notes string) {
		f := testkit.Query(t, w, "gaps", queries.Args{"run": "nccl2", "top": "0"})
		var sum int64
		for _, r := range f.Rows {
			sum += number(f, r, "total_ns")
		}
		return fmt.Sprint(sum), strings.Join(f.Notes, "\n")
	}
	apart, said := ask()
	const later = "UPDATE gap_sum SET range_context_id = NULL WHERE path_id IS NOT NULL AND start_ns >= %s"
	testkit.Exec(t, w, fmt.Sprintf(later, "(SELECT max(d.last_end_ns) FROM stage_pass p JOIN range_device d USING (run_id, range_id) WHERE p.is_warmup)"))
	if changed := one(t, w, "SELECT count(*) FROM gap_sum WHERE path_id > 0 AND range_context_id IS NULL"); changed == 0 {
		t.Fatal("no gap is later than warm-up")
	}
	if got, notes := ask(); got != apart || notes != said {
		t.Errorf("later ones not told apart: %s ns, %s\nwant %s, %s", got, notes, apart, said)
	}
	testkit.Exec(t, w, fmt.Sprintf(later, "0"))
	if got, notes := ask(); got == apart || !strings.Contains(notes, "the capture is too long to tell the pass") {
		t.Errorf("none told apart: %s ns, %s\nwant more than %s", got, notes, apart)
	}
}
