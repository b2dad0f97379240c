package gate

import (
	"fmt"
	"slices"
	"testing"

	"prof/queries/judge/diff"
)

// TestServing: a check for each load, of several runs by the median; loads that not every run has, and figures that are missing, are not judged.
func TestServing(t *testing.T) {
	run := func(ttft any, more ...[]any) madeRun {
		return madeRun{serving: append([][]any{{int64(1), 4.0, nil, 3.5, int64(1)}}, more...), times: [][]any{{int64(1), "ttft", ttft}, {int64(1), "itl", 9e9}}}
	}
	runs := madeRuns{"a": run(2e6), "b": run(3e6), "c": run(7e6, []any{int64(2), nil, int64(8), 2.0, nil}), "d": run(nil), "empty": {},
		"e": run(2e6, []any{int64(2), 4.0, nil, 3.25, nil}),
		"f": {serving: [][]any{{int64(1), nil, int64(8), 3.0, nil, nil, int64(10), int64(10_000), int64(1000)}, {int64(2), nil, int64(8), 2.0, nil, nil, int64(10), int64(20_000), int64(1000)}, {int64(3), nil, int64(16), 1.0, nil, nil, int64(10), int64(20_000), int64(1000)}}}}
	for _, c := range []struct {
		runs []string
		rule string
		want []string
	}{
		{[]string{"a"}, "serving.ttft_p99 <= 2ms", []string{"holds serving.ttft_p99 2e+06 "}},
		{[]string{"a", "b"}, "serving.ttft_p99 <= 2ms", []string{"broken serving.ttft_p99 2.5e+06 25 % above the limit"}},
		{[]string{"a", "b", "c"}, "serving.requests_per_s >= 3", []string{"holds serving.requests_per_s (rate=4) 3.5 ", "cannot tell serving.requests_per_s (concurrency=8) - 1 of 3 runs were benchmarked under this load"}},
		{[]string{"a", "d"}, "serving.ttft_p99 <= 2ms", []string{"cannot tell serving.ttft_p99 - the load generator did not report this figure: see prof query serving-latency --run d"}},
		{[]string{"a"}, "serving.tpot_p99 <= 2ms", []string{"cannot tell serving.tpot_p99 - the load generator did not report this figure: see prof query serving-latency --run a"}},
		{[]string{"empty"}, "serving.tpot_p99 <= 2ms", []string{"cannot tell serving.tpot_p99 - empty has no result of a load generator: prof ingest --run empty --add FILE"}},
		{[]string{"e"}, "serving.requests_per_s >= 3", []string{"holds serving.requests_per_s (rate=4) 3.5 ", "holds serving.requests_per_s (rate=4, repeat 2) 3.25 "}},
		{[]string{"f"}, "serving{concurrency=8 in=2000}.requests_per_s >= 2", []string{"holds serving{concurrency=8,in=2000}.requests_per_s 2 "}},
		{[]string{"f"}, "serving{in=2040}.requests_per_s >= 2", []string{"holds serving{in=2040}.requests_per_s (concurrency=8 in=2000 out=100) 2 ", "broken serving{in=2040}.requests_per_s (concurrency=16 in=2000 out=100) 1 50 % below the limit"}},
		{[]string{"f"}, "serving{rate=4}.requests_per_s >= 2", []string{"cannot tell serving{rate=4}.requests_per_s - no benchmark was under this load; there are concurrency=8 in=1000 out=100; concurrency=8 in=2000 out=100; concurrency=16 in=2000 out=100"}},
		{[]string{"a"}, "serving.failed <= 0", []string{"broken serving.failed 1 above the limit"}},
	} {
		side := diff.Side{Label: c.runs[0]}
		for _, name := range c.runs {
			side.Runs = append(side.Runs, diff.Run{ID: name, Name: name})
		}
		r, err := Judge(t.Context(), runs, side, nil, []Rule{rule(t, c.rule)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range r.Checks {
			value := "-"
			if k.Value != nil {
				value = fmt.Sprint(*k.Value)
			}
			said.Add([]string{k.Reason, k.Subject})
			got = append(got, fmt.Sprintf("%s %s %s %s", k.Outcome, k.Subject, value, k.Reason))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s of %q: %q, want %q", c.rule, c.runs, got, c.want)
		}
	}
}
