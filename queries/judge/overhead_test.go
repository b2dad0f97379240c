package judge_test

import (
	"slices"
	"testing"

	"prof/queries/judge"
)

// TestOverheadLines holds what is said of measured overheads, the stages first, and that what tells nothing is left out.
func TestOverheadLines(t *testing.T) {
	row := func(stage, tool, mode string, alone, profiled float64, ratio, noise *float64, reason string, recordings ...int64) judge.OverheadRow {
		return judge.OverheadRow{Stage: stage, Tool: tool, Mode: mode, BaselineMedianNs: &alone, WorkloadMedianNs: &profiled, OverheadRatio: ratio, NoiseRatio: noise, Reason: reason,
			BaselineRecordingCount: recordings[0], RecordingCount: recordings[1]}
	}
	for _, c := range []struct {
		name string
		rows []judge.OverheadRow
		want []string
		why  string
	}{
		{"clear", []judge.OverheadRow{row("decode", "prof", "deep", 414e6, 431e6, new(0.0411), new(0.021), "", 3, 3), row("", "prof", "deep", 20e9, 22e9, new(0.1), new(0.02), "", 2, 3)},
			[]string{"decode: alone 414 ms, recorded by prof's tracer 431 ms: +4.1 % (3 recordings each, noise 2.1 %)", "the whole process: alone 20.0 s, recorded by prof's tracer 22.0 s: +10 % (2 recordings alone, 3 under it, noise 2.0 %)"}, "no recording without a profiler succeeded"},
		{"noise", []judge.OverheadRow{row("decode", "nsys", "deep", 414e6, 431e6, nil, new(0.4), "noise", 3, 3), row("", "nsys", "deep", 20e9, 22e9, nil, new(0.5), "noise", 2, 3)},
			[]string{"decode: alone 414 ms, recorded by Nsight Systems 431 ms: not measurable (3 recordings each, noise 40 %)"}, "no recording without a profiler succeeded"},
		{"one of each", []judge.OverheadRow{row("decode", "nsys", "deep", 414e6, 373e6, new(-0.099), nil, "", 1, 1), row("", "nsys", "deep", 30e9, 19e9, nil, nil, "cold", 0, 1)},
			[]string{"decode: alone 414 ms, recorded by Nsight Systems 373 ms: -9.9 % (1 recording each, noise unknown)"}, "on one side there is only the first recording of the capture, which loads and compiles what later ones find in caches"},
		{"processes in noise, and kernels", []judge.OverheadRow{row("", "prof", "light", 20e9, 21e9, nil, new(0.123), "noise", 3, 3), row("", "ncu", "kernels", 20e9, 900e9, new(44.0), new(0.3), "", 3, 1)},
			[]string{"the whole process: alone 20.0 s, recorded by prof's tracer 21.0 s: not measurable (3 recordings each, noise 12 %)"}, "no recording without a profiler succeeded"},
		{"two modes", []judge.OverheadRow{row("decode", "prof", "deep", 1e6, 2e6, new(1.0), new(0.1), "", 3, 3), row("decode", "prof", "light", 1e6, 1e6, new(0.0), new(0.001), "", 3, 3)},
			[]string{"decode: alone 1.00 ms, recorded by prof's tracer (deep) 2.00 ms: +100 % (3 recordings each, noise 10 %)", "decode: alone 1.00 ms, recorded by prof's tracer (light) 1.00 ms: +0.0 % (3 recordings each, noise 0.1 %)"}, "no recording without a profiler succeeded"},
		{"not compared", []judge.OverheadRow{{Stage: "decode", Tool: "nsys", Mode: "deep", Reason: "window"}}, nil, "of decode, the timeline does not have all of its executions"},
	} {
		said.Add(judge.OverheadLines(c.rows))
		if got := judge.OverheadLines(c.rows); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := judge.NoOverhead(c.rows); got != c.why {
			t.Errorf("%s: %q, want %q", c.name, got, c.why)
		}
	}
}
