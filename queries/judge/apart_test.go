package judge_test

import (
	"slices"
	"strings"
	"testing"
)

// TestPassesApart holds that time between passes is said, where passes directly follow each other.
func TestPassesApart(t *testing.T) {
	decode := func(intervals ...any) (rows [][]any) {
		for i, every := range append(intervals, nil) {
			rows = append(rows, []any{"decode", int64(i + 1), int64(1), int64(7), false, 40 * ms, 20 * ms, int64(i) * 200 * ms, int64(1), every})
		}
		return rows
	}
	for name, c := range map[string]struct {
		rows [][]any
		want string
	}{
		"between":            {decode(120.0*ms, 123.0*ms, nil, 117.0*ms), "passes of decode begin 120 ms apart (median), and their work on the GPU takes 100 ms of that"},
		"back to back":       {decode(101.0*ms, 102.0*ms, 101.0*ms), ""},
		"one distance":       {decode(120.0 * ms), ""},
		"others lie between": {decode(nil, nil, nil), ""},
		"several ranks":      {append(decode(120.0*ms, 123.0*ms), decode(120.0*ms, 123.0*ms)...), ""},
	} {
		s := summarise(t, reportOf(threePasses("decode"), passesAnswer("passes", c.rows...), accountingOf("decode", busyParts())))
		at := slices.IndexFunc(s.Doubts, func(d string) bool { return strings.Contains(d, " apart (median)") })
		if (at >= 0) != (c.want != "") || at >= 0 && !strings.HasPrefix(s.Doubts[at], c.want) {
			t.Errorf("%s: %q, want %q", name, s.Doubts, c.want)
		}
	}
}
