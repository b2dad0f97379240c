package judge_test

import (
	"slices"
	"strings"
	"testing"
)

// TestPassesApart holds that time between passes is said, where passes directly follow each other.
func TestPassesApart(t *testing.T) {
	pass := func(stage string, nth, start, repeat int64) []any {
		return []any{stage, nth, int64(1), int64(7), false, 40 * ms, 20 * ms, start * ms, repeat, int64(1)}
	}
	decode := func(starts ...int64) (rows [][]any) {
		for i, start := range starts {
			rows = append(rows, pass("decode", int64(i+1), start, 1))
		}
		return rows
	}
	for name, c := range map[string]struct {
		rows [][]any
		want string
	}{
		"between":          {decode(0, 120, 243, 360), "passes of decode begin 120 ms apart (median), and their work on the GPU takes 100 ms of that"},
		"back to back":     {decode(0, 101, 203, 304), ""},
		"one distance":     {decode(0, 120), ""},
		"a prefill before": {append(decode(0, 120, 243), pass("prefill", 1, 60, 1), pass("prefill", 2, 180, 1)), ""},
		"other repeats":    {[][]any{pass("decode", 1, 0, 1), pass("decode", 2, 120, 2), pass("decode", 3, 240, 3)}, ""},
	} {
		s := summarise(t, reportOf(threePasses("decode"), passesAnswer("passes", c.rows...), accountingOf("decode", busyParts())))
		at := slices.IndexFunc(s.Doubts, func(d string) bool { return strings.Contains(d, " apart (median)") })
		if (at >= 0) != (c.want != "") || at >= 0 && !strings.HasPrefix(s.Doubts[at], c.want) {
			t.Errorf("%s: %q, want %q", name, s.Doubts, c.want)
		}
	}
}
