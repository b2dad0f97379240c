package queries_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/judge"
	"prof/schema"
)

// rankPassFacts are what is known of the ranks of passes.
var rankPassFacts = []string{"collective", "rank_wait", "host_clock", "device_part", "stage_pass", "caveat", "caveat_skew"}

// TestRankPasses holds the ranks of each pass to what stragglers says of it: of two ranks the distances from the first add up to the skew.
func TestRankPasses(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, args := range []queries.Args{{}, {"range": "step[#]"}, {"range": "step[#]", "by": "time"}} {
		args["run"] = "nccl2"
		f, passes := testkit.Query(t, w, "rank-passes", args), testkit.Query(t, w, "stragglers", args)
		if len(f.Rows) != 2*len(passes.Rows) || len(f.Rows) < 10 {
			t.Errorf("%v: %d rows of %d passes", args, len(f.Rows), len(passes.Rows))
		}
		for _, p := range passes.Rows {
			var late, wait, all, last, most int64
			var mean float64
			ranks := 0
			for _, r := range f.Rows {
				if r[f.Index("range")] != p[passes.Index("range")] || r[f.Index("pass")] != p[passes.Index("pass")] {
					continue
				}
				ranks++
				late, wait, all, last = late+number(f, r, "late_ns"), wait+number(f, r, "wait_ns"), all+number(f, r, "total_ns"), last+number(f, r, "last_count")
				most, mean = max(most, number(f, r, "late_max_ns")), mean+r[f.Index("late_mean_ns")].(float64)
				if number(f, r, "calls") != number(passes, p, "calls") || r[f.Index("is_warmup")] != p[passes.Index("is_warmup")] {
					t.Errorf("%v: %v, of the pass %v", args, r, p)
				}
			}
			if ranks != 2 || late != number(passes, p, "waited_ns") || wait != late || all != number(passes, p, "total_ns") || last != number(passes, p, "calls") || most != number(passes, p, "skew_max_ns") ||
				math.Abs(mean-p[passes.Index("skew_mean_ns")].(float64)) > 1e-6 {
				t.Errorf("%v: %d ranks are %v ns late, %d at most, and waited %d and %d of %d ns; the pass is %v", args, ranks, mean, most, late, wait, all, p)
			}
		}
	}
}

// TestRankPassesOfThree holds the numbers of three ranks, one of which lacks a collective.
func TestRankPassesOfThree(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	var work []madeCollective
	for i := range 4 {
		at := 1000 * (i + 1)
		work = append(work, madeCollective{0, at + 30, at + 100, "all-reduce"}, madeCollective{1, at, at + 100, "all-reduce"})
		if i > 0 {
			work = append(work, madeCollective{2, at + 10, at + 100, "all-reduce"})
		}
	}
	fillCollectives(t, w, work)
	testkit.DeriveOnly(t, w, rankPassFacts...)
	f := testkit.Query(t, w, "rank-passes", queries.Args{"run": "made"})
	want := []string{"decode|1|GPU 0 (pid 100)|30|30|4|4|180|0", "decode|1|GPU 1 (pid 101)|0|0|4|0|0|120", "decode|1|GPU 2 (pid 102)|10|10|3|0|0|60"}
	if got := shownCells(f, "range", "pass", "rank", "late_mean_ns", "late_max_ns", "calls", "last_count", "late_ns", "wait_ns"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRankPassesUnknown holds that ranks which never ran a collective at once have no lateness, and that the report says so; a run of one rank
// has no such section.
func TestRankPassesUnknown(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	section := func() *judge.Section {
		r, err := queries.NewReport(t.Context(), queries.NewAsker(w), schema.Run{ID: timelineRun, Name: "made"}, queries.ReportOptions{Page: true, Sections: []string{"rank-passes", "collectives"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Sections {
			if s.ID == "rank-passes" {
				return &s
			}
		}
		return nil
	}
	fillCollectives(t, w, []madeCollective{{0, 2000, 2100, "all-reduce"}, {1, 2500, 2600, "all-reduce"}})
	testkit.DeriveOnly(t, w, rankPassFacts...)
	if f := testkit.Query(t, w, "rank-passes", queries.Args{"run": "made"}); len(f.Rows) != 0 {
		t.Errorf("%v", f.Rows)
	}
	if s := section(); s == nil || !strings.Contains(s.Missing, "in 1 of 1 matched collective the ranks never overlapped, so which came last is unknown") {
		t.Errorf("the section is %s", fmt.Sprintf("%+v", s))
	}
	fillCollectives(t, w, lateSecond(1000))
	testkit.DeriveOnly(t, w, rankPassFacts...)
	if s := section(); s == nil || s.Missing != "" || len(s.Frame.Rows) != 2 {
		t.Errorf("of ranks that met the section is %+v", s)
	}
	fillCollectives(t, w, []madeCollective{{0, 2000, 2100, "all-reduce"}})
	testkit.DeriveOnly(t, w, rankPassFacts...)
	if s := section(); s != nil {
		t.Errorf("of one rank the section is %+v", s)
	}
}
