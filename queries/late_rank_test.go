package queries_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// lateRank writes the trace of a rank of data-parallel training as that of rank 1, which comes later to each all-reduce of its steps and
// leaves it when the other does.
func lateRank(t *testing.T, path string, lateUs float64) string {
	t.Helper()
	var trace map[string]any
	if err := json.Unmarshal(unpacked(t, path), &trace); err != nil {
		t.Fatal(err)
	}
	trace["distributedInfo"].(map[string]any)["rank"] = 1
	for _, e := range trace["traceEvents"].([]any) {
		e := e.(map[string]any)
		if name, _ := e["name"].(string); e["cat"] == "kernel" && strings.Contains(name, "AllReduce") {
			e["ts"], e["dur"] = e["ts"].(float64)+lateUs, e["dur"].(float64)-lateUs
		}
	}
	out := filepath.Join(t.TempDir(), "rank1.trace.json")
	text, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLateRankByTime: all-reduces that a thread of communication launches belong to the training step in whose time they run.
func TestLateRankByTime(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	path := shared(t, "../../shared/captures/others/hta_nccl.trace.json.gz")
	load(t, w, "ddp", path, lateRank(t, path, 500))
	matched := testkit.Query(t, w, "rank-skew", queries.Args{"run": "ddp", "top": "0"})
	all := 0
	for _, v := range column(matched, "operation") {
		if v == "all-reduce" {
			all++
		}
	}
	if all != 15 {
		t.Fatalf("%d all-reduces are matched, want 15", all)
	}
	f := testkit.Query(t, w, "stragglers", queries.Args{"run": "ddp", "range": "ProfilerStep##"})
	if len(f.Rows) != 3 || total(f, "calls") != int64(len(matched.Rows)) {
		t.Fatalf("%d steps with %d of %d collectives: %v", len(f.Rows), total(f, "calls"), len(matched.Rows), f.Rows)
	}
	for _, r := range f.Rows {
		if r[f.Index("slowest")] != "rank 1" || number(f, r, "last_count") < 5 || number(f, r, "blamed_ns") < 5*499_000 || number(f, r, "blamed_ns") > 5*501_000 {
			t.Errorf("%v", r)
		}
	}
	if got := testkit.Query(t, w, "stragglers", queries.Args{"run": "ddp"}); fmt.Sprint(got.Rows) != fmt.Sprint(f.Rows) {
		t.Errorf("without stages it is not about steps: %v", got.Rows)
	}
	if got := testkit.Query(t, w, "stragglers", queries.Args{"run": "ddp", "range": "ProfilerStep##", "by": "launch"}); len(got.Rows) != 0 && total(got, "calls") >= total(f, "calls") {
		t.Errorf("by launch %v", got.Rows)
	}
	late := testkit.Query(t, w, "late-ranks", queries.Args{"run": "ddp"})
	if got := shownCells(late, "range", "rank", "slowest_count", "pass_count"); !slices.Equal(got, []string{"ProfilerStep##|rank 1|3|3", "ProfilerStep##|rank 0|0|3"}) || total(late, "late_ns") != total(f, "waited_ns") {
		t.Errorf("late-ranks says %v", late.Rows)
	}
}

// TestLateRanks holds the totals to the passes that stragglers lists, those that are left out apart.
func TestLateRanks(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, args := range []queries.Args{{}, {"range": "step[#]"}, {"range": "step[#]", "by": "time"}} {
		args["run"] = "nccl2"
		f, late := testkit.Query(t, w, "stragglers", args), testkit.Query(t, w, "late-ranks", args)
		type sum struct{ waited, cold, slowest, calls, passes int64 }
		want := map[any]*sum{}
		slowest := map[[2]any]int64{}
		for _, r := range f.Rows {
			at := r[f.Index("range")]
			if want[at] == nil {
				want[at] = &sum{}
			}
			s := want[at]
			if r[f.Index("is_warmup")] == true {
				s.cold += number(f, r, "waited_ns")
				continue
			}
			s.waited, s.calls, s.passes = s.waited+number(f, r, "waited_ns"), s.calls+number(f, r, "calls"), s.passes+1
			slowest[[2]any{at, r[f.Index("slowest")]}]++
		}
		got := map[any]*sum{}
		for _, r := range late.Rows {
			most := int64(0) // the most that others waited for it in a pass in which they waited for nobody longer
			for _, p := range f.Rows {
				if p[f.Index("range")] == r[late.Index("range")] && p[f.Index("is_warmup")] != true && p[f.Index("slowest")] == r[late.Index("rank")] {
					most = max(most, number(f, p, "blamed_ns"))
				}
			}
			if number(late, r, "most_ns") != most {
				t.Errorf("%v: %v, want %d at most in a pass", args, r, most)
			}
			at := r[late.Index("range")]
			if got[at] == nil {
				got[at] = &sum{}
			}
			g := got[at]
			g.waited, g.cold, g.slowest = g.waited+number(late, r, "late_ns"), g.cold+number(late, r, "cold_late_ns"), g.slowest+number(late, r, "slowest_count")
			if number(late, r, "calls") != want[at].calls || number(late, r, "pass_count") != want[at].passes || number(late, r, "slowest_count") != slowest[[2]any{at, r[late.Index("rank")]}] {
				t.Errorf("%v: %v, want %+v", args, r, *want[at])
			}
		}
		for at, g := range got {
			if w := want[at]; g.waited != w.waited || g.cold != w.cold || g.slowest != w.passes {
				t.Errorf("%v: %v: %+v, want %+v", args, at, *g, *w)
			}
		}
		if len(got) != len(want) || total(late, "wait_ns") != total(late, "late_ns") {
			t.Errorf("%v: %d kinds, want %d; ranks waited %d ns, and for ranks %d ns", args, len(got), len(want), total(late, "wait_ns"), total(late, "late_ns"))
		}
	}
	// The first step holds the cold passes, and is left out as they are.
	late := testkit.Query(t, w, "late-ranks", queries.Args{"run": "nccl2", "range": "step[#]"})
	if got := shownCells(late, "rank", "slowest_count", "pass_count", "cold_count"); !slices.Equal(got, []string{"GPU 1 (pid 757)|3|5|1", "GPU 0 (pid 756)|2|5|1"}) {
		t.Errorf("%v", got)
	}
}

// TestWaitIsNoTransfer holds that what a timely rank saves is the waiting that ranks show pass by pass, and that the rest of the time not
// overlapped is another finding.
func TestWaitIsNoTransfer(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	const exposed = "SELECT f.stage, f.device_id, sum(f.saving_ns)::BIGINT FROM finding f JOIN run r USING (run_id) WHERE r.name = 'nccl2' AND f.finding_id IN ('collective-wait', 'exposed-collectives') GROUP BY 1, 2 ORDER BY 1, 2"
	const parts = "SELECT p.stage, p.device_id, sum(p.collective_exposed_ns)::BIGINT FROM device_part p JOIN run r USING (run_id) WHERE r.name = 'nccl2' AND NOT p.is_warmup AND p.range_id IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2"
	if got, want := rows(t, w, exposed), rows(t, w, parts); len(got) != 4 || !slices.Equal(got, want) {
		t.Errorf("findings add up to %q, passes to %q", got, want)
	}
	const waited = "SELECT f.stage, sum(f.saving_ns)::BIGINT FROM finding f JOIN run r USING (run_id) WHERE r.name = 'nccl2' AND f.finding_id = 'collective-wait' GROUP BY 1 ORDER BY 1"
	if got, want := rows(t, w, waited), rows(t, w, "SELECT range, sum(waited_ns)::BIGINT FROM stragglers('nccl2') WHERE NOT is_warmup GROUP BY 1 ORDER BY 1"); !slices.Equal(got, want) {
		t.Errorf("findings wait %q, stragglers %q", got, want)
	}
	if got := rows(t, w, "SELECT stage FROM findings('nccl2', min_share := 0) WHERE finding = 'collective-wait' AND pass_saving_ns > 0.7 * pass_span_ns"); len(got) > 0 {
		t.Errorf("all time in collectives counts as waiting: %q", got)
	}
	const late = "SELECT f.saving_ns - sum((l.value->>'wait_ns')::BIGINT) FROM finding f JOIN run r USING (run_id), json_each(f.evidence->'late') l WHERE r.name = 'nccl2' AND f.finding_id = 'collective-wait' GROUP BY f.finding_id, f.stage, f.device_id, f.saving_ns"
	if got := rows(t, w, late); len(got) != 4 || slices.ContainsFunc(got, func(r string) bool { return r != "[0]" }) {
		t.Errorf("waits for each later GPU are off all waiting by %q", got)
	}
	const cause = "SELECT f.evidence->'late'->0->>'device', f.evidence->'late'->0->>'cause', f.evidence->'late'->0->>'call' FROM finding f JOIN run r USING (run_id) WHERE r.name = 'nccl2' AND f.finding_id = 'collective-wait' AND f.stage = 'prefill' AND f.device_id = 0"
	if got := rows(t, w, cause); !slices.Equal(got, []string{"[1 call cuLibraryLoadData]"}) {
		t.Errorf("the late GPU is %q", got)
	}
}

// TestNoneLate holds that free launches save nothing of a median pass in which none comes late.
func TestNoneLate(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	const late = "SELECT g.stage, g.device_id, g.pass_saving_ns, g.is_by_path FROM finding_gain g JOIN finding f USING (run_id, kind, finding_id, stage, device_id) JOIN run r USING (run_id) WHERE r.name = 'nccl2' AND g.finding_id = 'launch-bound' AND (f.evidence->>'median_ns')::DOUBLE = 0 AND (g.pass_saving_ns > 0 OR g.is_by_path)"
	if got := rows(t, w, late); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestSharedStream holds that collectives on a stream of computing are found: by the raw rows, and none where communication has its own.
func TestSharedStream(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	const evidence = `SELECT device_id, (evidence->>'shared_count')::BIGINT, (evidence->>'shared_ns')::BIGINT, (evidence->>'collectives_ns')::BIGINT, evidence->>'streams' FROM finding JOIN run USING (run_id) WHERE name = '%s' AND finding_id = 'exposed-collectives' AND is_counted ORDER BY 1`
	got := rows(t, w, fmt.Sprintf(evidence, "windows-before"))
	want := rows(t, w, `SELECT device_id, count(*), sum(duration_ns)::BIGINT, sum(duration_ns)::BIGINT, '[' || any_value(stream_id) || ']' FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) JOIN run r USING (run_id) WHERE r.name = 'windows-before' AND n.name LIKE 'nccl%' GROUP BY 1 ORDER BY 1`)
	if len(got) != 2 || !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	w = testkit.Warehouse(t, testkit.Run{Name: "ddp", Files: []string{shared(t, testkit.Path("../../shared/captures/others/hta_nccl.trace.json.gz"))}})
	if got := rows(t, w, fmt.Sprintf(evidence, "ddp")); len(got) != 1 || !strings.Contains(got[0], "<nil> <nil>") {
		t.Errorf("a stream of its own: %q", got)
	}
}
