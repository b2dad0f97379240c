package judge_test

import (
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
)

const lateColumns = "range rank late_ns share_ratio slowest_count pass_count most_ns pass total_ns cold_late_ns cold_count job_id device"

// lateRow is a row of late-ranks.
func lateRow(rank string, late, slowest, passes, most, pass, total, cold, colds int64) []any {
	row := []any{"step", rank, late, nil, slowest, passes, most, pass, total, cold, colds, int64(1), int64(0)}
	if pass == 0 {
		row[7] = nil
	}
	return row
}

// TestSlowRank holds what is said of who is slow: nothing of a rank that the others wait for no more than for the next, nor where they hardly wait.
func TestSlowRank(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rows   [][]any
		isSlow bool
		words  string
	}{
		{"slow throughout", [][]any{lateRow("rank 3", 90*ms, 10, 10, 12*ms, 4, 50*ms, 0, 0), lateRow("rank 0", 6*ms, 0, 10, 2*ms, 1, 150*ms, 0, 0), lateRow("rank 1", 4*ms, 0, 10, 1*ms, 1, 150*ms, 0, 0)}, true,
			"step: rank 3 is slow: the ranks together waited 100 ms in 10 steady steps (28.6 % of their time in collectives), 90.0 % of it for this rank, which came last in 10 of them"},
		{"late once", [][]any{lateRow("rank 1", 90*ms, 3, 5, 80*ms, 4, 50*ms, 5*ms, 1), lateRow("rank 0", 10*ms, 2, 5, 2*ms, 1, 150*ms, 0, 1)}, true,
			"step: rank 1 was late in step 4: the ranks together waited 100 ms in 5 steady steps (50.0 % of their time in collectives), 90.0 % of it for this rank, 80.0 ms in step 4; excluded: 1 cold step, in which they waited 5.00 ms for this rank"},
		{"as the other", [][]any{lateRow("rank 1", 60*ms, 3, 5, 13*ms, 4, 100*ms, 0, 2), lateRow("rank 0", 40*ms, 2, 5, 9*ms, 1, 100*ms, 0, 2)}, false,
			"step: mostly rank 1 is late: the ranks together waited 100 ms in 5 steady steps (50.0 % of their time in collectives), 60.0 % of it for this rank, which came last in 3 of them; excluded: 2 cold steps"},
		{"no waiting", [][]any{lateRow("rank 1", 2*ms, 5, 5, 1*ms, 4, 100*ms, 0, 0), lateRow("rank 0", 0, 0, 5, 0, 0, 100*ms, 0, 0)}, false,
			"step: no rank is slow: the ranks together waited 2.00 ms in 5 steady steps, 1.0 % of their time in collectives"},
		{"cold", [][]any{lateRow("rank 1", 0, 0, 0, 0, 0, 0, 7*ms, 1), lateRow("rank 0", 0, 0, 0, 0, 0, 0, 0, 1)}, false,
			"step: the slow rank is unknown: all steps are cold; excluded: 1 cold step, in which they waited 7.00 ms for this rank"},
	} {
		f := answer("late-ranks", lateColumns, c.rows...)
		s, err := judge.Summarise(&judge.Report{Name: "a", Frames: map[string]*frame.Frame{"late-ranks": f}})
		if err != nil {
			t.Fatal(err)
		}
		said.Add(s)
		if len(s.Ranks) != 1 {
			t.Fatalf("%s: %+v", c.name, s.Ranks)
		}
		x := s.Ranks[0]
		if x.IsSlow != c.isSlow || x.Words != c.words || x.Ranks != len(c.rows) || !strings.HasPrefix(x.Query, "prof query stragglers --run a") {
			t.Errorf("%s: %+v, want\n%s", c.name, x, c.words)
		}
	}
}

// TestSlowRankOfEach holds that of several recordings each sentence says of which it is.
func TestSlowRankOfEach(t *testing.T) {
	t.Parallel()
	var list [][]any
	for _, job := range []int64{7, 3} {
		for _, rank := range []string{"rank 1", "rank 0"} {
			row := lateRow(rank, 0, 0, 5, 0, 0, 100*ms, 0, 0)
			row[11] = job
			list = append(list, row)
		}
	}
	s := summarise(t, reportOf(answer("late-ranks", lateColumns, list...)))
	var got []string
	for _, x := range s.Ranks {
		of, _, _ := strings.Cut(x.Words, ":")
		got = append(got, of)
	}
	if want := []string{"step, recording 2 of 2", "step, recording 1 of 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// TestSharedStreamWords holds that collectives on a stream of computing are said to be alone because of that, unless a late GPU is the cause.
func TestSharedStreamWords(t *testing.T) {
	t.Parallel()
	row := func(evidence string) []any {
		r := findingRow("exposed-collectives", "", 200*ms, nil)
		r[7] = evidence
		return r
	}
	for _, c := range []struct{ numbers, words, advice string }{
		{`"shared_count":null,"shared_ns":null,"streams":null`, "", "do exposed-collectives"},
		{`"shared_count":4,"shared_ns":200000000,"streams":[7]`, "; all are on stream 7, which compute kernels also use, so they cannot overlap with the kernels there", "run them on a separate stream"},
		{`"shared_count":2,"shared_ns":20000000,"streams":[7,13]`, "; 2 of them (20.00 ms not overlapped) are on streams 7 and 13, which compute kernels also use, so they cannot overlap with the kernels there", "do exposed-collectives"},
	} {
		f := answer("findings", findingColumns, row(`{"collective_count":4,"collectives_ns":210000000,"exposed_ns":200000000,"wait_ns":null,"pass_count":1,"max_ns":1,"median_ns":1,`+c.numbers+`}`))
		s, err := judge.Summarise(&judge.Report{Name: "a", Frames: map[string]*frame.Frame{"findings": f, "finding-rules": answer("finding-rules", "finding query options detail", []any{"exposed-collectives", "collectives", "stage device source", nil})}})
		if err != nil {
			t.Fatal(err)
		}
		said.Add(s)
		if len(s.Findings) != 1 || s.Findings[0].Evidence != "collectives take 210.00 ms in 4 calls, 200.00 ms of it not overlapped (95.2 %)"+c.words || !strings.HasPrefix(s.Findings[0].Advice, c.advice) {
			t.Errorf("%+v", s.Findings)
		}
	}
}
