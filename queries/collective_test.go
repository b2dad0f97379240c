package queries_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// rankFacts are what is known of collectives and of who waited for whom.
var rankFacts = []string{"collective", "rank_wait", "host_clock", "device_part", "caveat", "caveat_skew"}

// span is a kernel: which process ran it where, whether it is a collective of which family, and when.
type span struct {
	pid, device int64
	family      string
	start, end  int64
}

func spansOf(t *testing.T, w *schema.Warehouse, run string) []span {
	t.Helper()
	f, err := queries.Raw(t.Context(), w, fmt.Sprintf(`SELECT k.pid::BIGINT, k.device_id::BIGINT, CASE WHEN c.role = 'collective' THEN c.family ELSE '' END, k.start_ns, k.start_ns + k.duration_ns FROM kernel k
		JOIN kernel_class c USING (run_id, kernel_name_id) WHERE k.run_id = (SELECT run_id FROM run WHERE name = '%s') ORDER BY k.start_ns`, run))
	if err != nil {
		t.Fatal(err)
	}
	var out []span
	for _, r := range f.Rows {
		out = append(out, span{r[0].(int64), r[1].(int64), r[2].(string), r[3].(int64), r[4].(int64)})
	}
	return out
}

// TestLateRank: in step[3] of nccl2 rank 1, which is the second process, does extra work before each all-reduce.
func TestLateRank(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	f := testkit.Query(t, w, "stragglers", queries.Args{"run": "nccl2", "range": "step[#]"})
	if len(f.Rows) != 6 {
		t.Fatalf("%d steps", len(f.Rows))
	}
	row := f.Rows[3]
	if get := func(c string) any { return row[f.Index(c)] }; get("name") != "step[3]" || get("slowest") != "GPU 1 (pid 757)" || get("calls") != int64(17) || get("last_count") != int64(17) ||
		get("share_ratio") != 1.0 || get("clock_error_ns") != int64(0) {
		t.Errorf("step[3] is %v", row)
	}
	for i, r := range f.Rows {
		if i != 3 && number(f, r, "waited_ns") > number(f, row, "waited_ns")/3 {
			t.Errorf("%v", r)
		}
	}
	for _, r := range rows(t, w, `SELECT reason FROM collectives('nccl2')`) {
		if r != "[no-bytes]" {
			t.Error(r)
		}
	}
	if notes := testkit.Query(t, w, "collectives", queries.Args{"run": "nccl2"}).Notes; !slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, "the bytes of 206 of 206 collectives are unknown") }) {
		t.Errorf("collectives notes %q", notes)
	}
	// By stages: both of that step, and no less than the whole step but for its all-gather, which is outside them.
	p := testkit.Query(t, w, "stragglers", queries.Args{"run": "nccl2"})
	var late int64
	for _, r := range p.Rows {
		if r[p.Index("pass")] == int64(4) {
			late += number(p, r, "waited_ns")
			if r[p.Index("slowest")] != "GPU 1 (pid 757)" || r[p.Index("calls")] != r[p.Index("last_count")] {
				t.Errorf("%v", r)
			}
		}
	}
	if all := number(f, row, "waited_ns"); late > all || late < all*99/100 {
		t.Errorf("the stages of step[3] waited for %d ns of %d", late, all)
	}
}

// TestSkewByHand holds the skew of each matched collective to one computed here: the k-th of a family of one process is the k-th of the other.
func TestSkewByHand(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	ranks := map[string]map[int64][]span{}
	for _, s := range spansOf(t, w, "nccl2") {
		if s.family != "" {
			if ranks[s.family] == nil {
				ranks[s.family] = map[int64][]span{}
			}
			ranks[s.family][s.pid] = append(ranks[s.family][s.pid], s)
		}
	}
	var want []string
	for family, by := range ranks {
		a, b := by[756], by[757]
		if len(a) != len(b) || len(a) == 0 {
			t.Fatalf("%s: %d and %d", family, len(a), len(b))
		}
		for i := range a {
			first, last := a[i], b[i]
			if last.start < first.start {
				first, last = last, first
			}
			want = append(want, fmt.Sprint(family, " ", last.start-first.start, " GPU ", last.device, " (pid ", last.pid, ") ", min(last.start, first.end)-first.start, " ", last.end-last.start, " ", first.start, " ",
				max(first.end, last.end)-min(first.end, last.end), " ", last.start <= first.end))
		}
	}
	f := testkit.Query(t, w, "rank-skew", queries.Args{"run": "nccl2", "top": "0"})
	var got []string
	for _, r := range f.Rows {
		get := func(c string) any { return r[f.Index(c)] }
		got = append(got, fmt.Sprint(get("family"), " ", get("skew_ns"), " ", get("last"), " ", get("waited_ns"), " ", get("transfer_ns"), " ", get("start_ns"), " ", get("end_spread_ns"), " ", get("is_joint")))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(got) != 103 {
		t.Errorf("%d matched collectives are\n%s\nnot\n%s", len(got), strings.Join(got[:3], "\n"), strings.Join(want[:3], "\n"))
	}
}

// TestExposedByHand holds the exposed time of collectives to one computed here nanosecond interval by interval, on a capture whose other
// kernels were moved over them, and its sum to that of the source as a whole.
func TestExposedByHand(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "nccl2")...)
	testkit.Exec(t, w, `UPDATE kernel SET start_ns = start_ns + hash(start_ns, 1) % 60000 - 30000, duration_ns = 1 + duration_ns * (hash(start_ns, 2) % 8)
		WHERE kernel_name_id NOT IN (SELECT kernel_name_id FROM kernel_class WHERE role = 'collective')`)
	testkit.DeriveOnly(t, w, rankFacts...)
	spans := spansOf(t, w, "nccl2")
	want, sum := map[string]int64{}, int64(0)
	for _, c := range spans {
		if c.family == "" {
			continue
		}
		at, exposed := c.start, int64(0) // spans are in the order of their starts
		for _, o := range spans {
			if o.family == "" && o.device == c.device && o.end > at && o.start < c.end {
				exposed += max(o.start-at, 0)
				at = max(at, o.end)
			}
		}
		exposed += max(c.end-at, 0)
		want[fmt.Sprint(c.family, " ", c.device)] += exposed
		sum += exposed
	}
	f := testkit.Query(t, w, "collectives", queries.Args{"run": "nccl2", "warmup": "true"})
	got := map[string]int64{}
	for _, r := range f.Rows {
		got[fmt.Sprint(r[f.Index("family")], " ", r[f.Index("device")])] += number(f, r, "exposed_ns")
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("exposed are %v, not %v", got, want)
	}
	if all := total(f, "total_ns"); sum <= all/100 || sum >= all*99/100 {
		t.Errorf("%d of %d ns are exposed: nothing is tried", sum, all)
	}
	if whole := rows(t, w, `SELECT sum(collective_exposed_ns)::BIGINT, sum(collective_count)::BIGINT FROM device_part WHERE range_id IS NULL AND run_id = _run_id('nccl2')`); whole[0] != fmt.Sprintf("[%d %d]", sum, total(f, "calls")) {
		t.Errorf("of the source as a whole %s, of families %d", whole, sum)
	}
}

// TestBandwidth holds bytes and bandwidths of a program whose sizes are known to NCCL's definitions.
func TestBandwidth(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	f := testkit.Query(t, w, "collectives", queries.Args{"run": "ranks", "warmup": "true"})
	seen := 0
	for _, r := range f.Rows {
		get := func(c string) any { return r[f.Index(c)] }
		want := map[string][3]float64{ // calls, bytes of a call, factor for two ranks
			"all-reduce prefill": {8, 1 << 20, 1}, "all-reduce decode": {16, 1 << 15, 1}, "all-gather (none)": {4, 1 << 16, 0.5}, "reduce-scatter (none)": {4, 1 << 15, 0.5},
			"all-to-all (none)": {4, 1 << 15, 0.5}, "broadcast (none)": {4, 1 << 15, 1}, "send (none)": {4, 1 << 15, 1}, "recv (none)": {4, 1 << 15, 1},
		}[fmt.Sprint(get("operation"), " ", get("stage"))]
		bytes := want[0] * want[1]
		algorithm := bytes / float64(number(f, r, "total_ns")) * 1e9
		if float64(number(f, r, "calls")) != want[0] || float64(number(f, r, "total_bytes")) != bytes || get("rank_count") != int64(2) || get("rank") != get("device") || get("reason") != nil ||
			math.Abs(get("algorithm_bytes_per_s").(float64)/algorithm-1) > 1e-12 || math.Abs(get("bus_bytes_per_s").(float64)/(algorithm*want[2])-1) > 1e-12 {
			t.Errorf("%v", r)
		}
		seen++
	}
	if seen != 14 {
		t.Errorf("%d rows", seen)
	}
	if got := rows(t, w, `SELECT _bus_factor('all-reduce', 8), _bus_factor('all-gather', 8), _bus_factor('broadcast', NULL), _bus_factor('all-reduce', NULL), _bus_factor('barrier', 8)`); got[0] != "[1.75 0.875 1 <nil> <nil>]" {
		t.Errorf("factors are %s", got)
	}
	skew := testkit.Query(t, w, "rank-skew", queries.Args{"run": "ranks", "top": "0"})
	for _, r := range skew.Rows {
		if r[skew.Index("operation")] == "all-reduce" {
			want := float64(number(skew, r, "total_bytes")) / float64(number(skew, r, "transfer_ns")) * 1e9
			if got := r[skew.Index("bus_bytes_per_s")]; math.Abs(got.(float64)/want-1) > 1e-12 {
				t.Errorf("%v", r)
			}
		}
	}
	// One call without bytes: the sum is not known, and says so.
	w = testkit.Copy(t, testkit.Named(t, "ranks")...)
	testkit.Exec(t, w, `UPDATE collective_call SET out_bytes = NULL WHERE kernel_start_ns = (SELECT min(kernel_start_ns) FROM collective_call WHERE operation = 'all-gather')`)
	testkit.DeriveOnly(t, w, rankFacts...)
	unknown := rows(t, w, `SELECT total_bytes, bus_bytes_per_s, reason FROM collectives('ranks', warmup := true) WHERE operation = 'all-gather' ORDER BY device`)
	if unknown[0] != "[<nil> <nil> no-bytes]" && unknown[1] != "[<nil> <nil> no-bytes]" {
		t.Errorf("%q", unknown)
	}
}

// TestClocks holds that clocks of sources are told from collectives, whatever the wall clocks say, and that nothing else depends on them.
func TestClocks(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "ranks")...)
	offset := func() (f *frame.Frame, ns int64) {
		t.Helper()
		f = testkit.Query(t, w, "clock-offsets", queries.Args{"run": "ranks"})
		if len(f.Rows) != 2 || f.Rows[0][f.Index("basis")] != "reference" || number(f, f.Rows[0], "offset_ns") != 0 {
			t.Fatalf("%v", f.Rows)
		}
		return f, number(f, f.Rows[1], "offset_ns")
	}
	const skews = `SELECT match_id, last, skew_ns, waited_ns, start_ns, end_spread_ns, clock_error_ns FROM rank_skew('ranks', top := 0) ORDER BY match_id`
	f, first := offset()
	r := f.Rows[1]
	// Both ranks ran on one machine: the wall clocks, which are kept in microseconds, agree with the collectives.
	if r[f.Index("basis")] != "collectives" || r[f.Index("match_count")] != int64(36) || r[f.Index("reason")] != nil || number(f, r, "error_max_ns") > 5000 ||
		first-number(f, r, "session_offset_ns") > 5000 || first-number(f, r, "session_offset_ns") < -5000 {
		t.Errorf("%v", r)
	}
	before := rows(t, w, skews)
	late := testkit.Query(t, w, "stragglers", queries.Args{"run": "ranks", "range": "step[#]"})
	if step := late.Rows[2]; step[late.Index("name")] != "step[2]" || step[late.Index("slowest")] != "rank 1" || step[late.Index("last_count")] != int64(10) || step[late.Index("calls")] != int64(10) {
		t.Errorf("%v", step)
	}
	// Rank 1's clock goes 1 ms ahead, and its wall clock a second back.
	testkit.Exec(t, w, `UPDATE kernel SET start_ns = start_ns + 1000000 WHERE source_id = 2;
		UPDATE collective_call SET kernel_start_ns = kernel_start_ns + 1000000 WHERE source_id = 2;
		UPDATE source SET started_at = started_at - INTERVAL 100 MILLISECOND WHERE source_id = 2`)
	testkit.DeriveOnly(t, w, rankFacts...)
	f, moved := offset()
	if moved != first-1000000 || number(f, f.Rows[1], "session_offset_ns") != number(f, r, "session_offset_ns")-100e6 {
		t.Errorf("the clock was moved by 1 ms: %v, not %d", f.Rows[1], first-1000000)
	}
	if after := rows(t, w, skews); !slices.Equal(before, after) || len(after) != 40 {
		t.Errorf("%d skews became\n%s\nof\n%s", len(after), strings.Join(after[:2], "\n"), strings.Join(before[:2], "\n"))
	}
	// A capture that lacks the last collective of one kind: the order tells nothing certain any more.
	testkit.Exec(t, w, `DELETE FROM kernel WHERE source_id = 2 AND start_ns = (SELECT max(kernel_start_ns) FROM collective_call WHERE source_id = 2 AND operation = 'all-gather')`)
	testkit.DeriveOnly(t, w, rankFacts...)
	f, session := offset()
	if last := f.Rows[1]; last[f.Index("basis")] != "session" || session != number(f, last, "session_offset_ns") || last[f.Index("error_max_ns")] != nil ||
		last[f.Index("reason")] != "uneven-counts" {
		t.Errorf("%v", last)
	}
	notes := strings.Join(testkit.Query(t, w, "rank-skew", queries.Args{"run": "ranks"}).Notes, "\n")
	if !strings.Contains(notes, "so the capture start times align them") || !strings.Contains(notes, "never overlapped") {
		t.Errorf("the notes are %q", notes)
	}
	if unknown := rows(t, w, `SELECT DISTINCT clock_error_ns FROM rank_skew('ranks', top := 0)`); !slices.Equal(unknown, []string{"[<nil>]"}) {
		t.Errorf("errors of the clocks are %s", unknown)
	}
	// Without wall clocks nothing ties the two together: the ranks, which are known, do, but no time does.
	testkit.Exec(t, w, `UPDATE source SET started_at = NULL`)
	testkit.DeriveOnly(t, w, rankFacts...)
	f = testkit.Query(t, w, "clock-offsets", queries.Args{"run": "ranks"})
	if last := f.Rows[1]; last[f.Index("offset_ns")] != nil || last[f.Index("basis")] != nil {
		t.Errorf("%v", last)
	}
	if left := rows(t, w, skews); len(left) != 0 {
		t.Errorf("skews without a clock: %q", left)
	}
}

// TestRepeatsAreNoRanks: captures of one workload run one after another are not matched.
func TestRepeatsAreNoRanks(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "ranks")...)
	testkit.Exec(t, w, `UPDATE source SET rank_id = NULL; UPDATE source SET started_at = started_at + INTERVAL 1 HOUR WHERE source_id = 2`)
	testkit.DeriveOnly(t, w, rankFacts...)
	f := testkit.Query(t, w, "rank-skew", queries.Args{"run": "ranks"})
	if len(f.Rows) != 0 || !strings.Contains(strings.Join(f.Notes, "\n"), "no collective is matched between ranks") {
		t.Errorf("%v %q", f.Rows, f.Notes)
	}
}

// TestCommunicators: collectives of different communicators are never one, though their kinds and order are the same.
func TestCommunicators(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "ranks")...)
	count := func() string {
		return rows(t, w, `SELECT count(*), count(*) FILTER (operation = 'all-gather') FROM rank_skew('ranks', top := 0)`)[0]
	}
	if got := count(); got != "[40 4]" {
		t.Fatalf("%s matched collectives", got)
	}
	testkit.Exec(t, w, `UPDATE collective_call SET group_name = 'other' WHERE source_id = 2 AND operation = 'all-gather'`)
	testkit.DeriveOnly(t, w, rankFacts...)
	if got := count(); got != "[36 0]" {
		t.Errorf("%s matched collectives", got)
	}
}

// TestNoCollectives: a run without any says so.
func TestNoCollectives(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, name := range []string{"collectives", "rank-skew", "stragglers"} {
		if f := testkit.Query(t, w, name, queries.Args{"run": "kernels"}); len(f.Rows) != 0 {
			t.Errorf("%s: %v", name, f.Rows)
		}
	}
	f := testkit.Query(t, w, "clock-offsets", queries.Args{"run": "kernels"})
	if len(f.Rows) != 1 || f.Rows[0][f.Index("basis")] != "reference" {
		t.Errorf("%v", f.Rows)
	}
}
