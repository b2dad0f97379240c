package judge_test

import "testing"

// TestWindowsAreOneProcess holds that passes run in as many processes as do the same one: windows of one session are one, whose passes are numbered on.
func TestWindowsAreOneProcess(t *testing.T) {
	type pass struct{ number, source, pid int64 }
	for name, c := range map[string]struct {
		passes []pass
		want   int64
	}{
		"three windows":                     {[]pass{{1, 1, 642}, {2, 1, 642}, {3, 2, 642}, {4, 3, 642}}, 1},
		"two ranks":                         {[]pass{{1, 1, 10}, {2, 1, 10}, {1, 1, 11}, {2, 1, 11}}, 2},
		"two containers with the same pids": {[]pass{{1, 1, 1}, {1, 2, 1}}, 2},
		"one process":                       {[]pass{{1, 1, 1}, {2, 1, 1}}, 1},
	} {
		var rows [][]any
		for i, p := range c.passes {
			rows = append(rows, []any{"decode", p.number, int64(i) * ms, 1e6, 1e6, false, p.source, p.pid, int64(1)})
		}
		r := reportOf(threePasses("decode"), accountingOf("decode", busyParts()), answer("passes", "stage pass start_ns gpu_span_ns gpu_busy_ns is_warmup source_id pid repeat", rows...))
		if got := summarise(t, r).Stages[0].Ranks; got != c.want {
			t.Errorf("%s: %d ranks, want %d", name, got, c.want)
		}
	}
}
