package diff

import (
	"math"
	"slices"
	"strings"
	"testing"

	"prof/queries/judge/stats"
)

// TestHistoryNoise holds what runs of the same thing tell of their noise, against standard deviations by hand.
func TestHistoryNoise(t *testing.T) {
	t.Parallel()
	const alpha = 0.01
	row := func(commit, run string, repeat int64, stage string, span float64) noiseRow {
		return noiseRow{Group: "commit " + commit + ", driver 1", RunID: run, Repeat: repeat, Stage: stage, Span: &span}
	}
	runs := []noiseRow{row("a", "1", 1, "decode", 100), row("a", "2", 1, "decode", 102), row("a", "3", 1, "decode", 101), row("b", "4", 1, "decode", 200), row("b", "4", 2, "decode", 210),
		row("b", "5", 1, "decode", 206), row("c", "6", 1, "decode", 900), row("c", "6", 2, "decode", 400), row("a", "1", 1, "prefill", 10), {Group: "commit a, driver 1", RunID: "2", Repeat: 1, Stage: "prefill"},
		row("a", "7", 1, "", 7), row("a", "8", 1, "", 8)}
	spread := func(values ...float64) (ss float64) {
		var mean float64
		for _, v := range values {
			mean += math.Log(v) / float64(len(values))
		}
		for _, v := range values {
			ss += (math.Log(v) - mean) * (math.Log(v) - mean)
		}
		return ss
	}
	h := learnHistory(slices.Concat(runs, runs), "decode", "gpu_span_ns", alpha)
	want := math.Sqrt((spread(100, 102, 101) + spread(200, 210, 206) + spread(900, 400)) / 5)
	if h.Noise == nil || math.Abs(h.Noise.SD/want-1) > 1e-12 || h.Noise.DF != 5 || h.Processes != 8 || h.Commits != 3 {
		t.Fatalf("%+v, %+v, want a deviation of %v", h, h.Noise, want)
	}
	if w := h.Words(); !strings.Contains(w, "up to a factor of") || !strings.HasSuffix(w, "(from 8 processes of 3 commits)") {
		t.Errorf("%q", w)
	}
	// Runs that are compared do not tell.
	h = learnHistory(runs, "decode", "gpu_span_ns", alpha, "6", "5")
	want = math.Sqrt((spread(100, 102, 101) + spread(200, 210)) / 3)
	if h.Noise == nil || math.Abs(h.Noise.SD/want-1) > 1e-12 || h.Noise.DF != 3 || h.Processes != 5 || h.Commits != 2 || !strings.Contains(h.Words(), " %") {
		t.Errorf("%+v, %q, want a deviation of %v", h, h.Words(), want)
	}
	learned := func(rows []noiseRow, stage, metric string) *stats.Noise {
		return learnHistory(rows, stage, metric, alpha).Noise
	}
	if n := learned(runs, "", "gpu_span_ns"); n == nil || n.DF != 1 {
		t.Errorf("work outside stages: %+v", n)
	}
	for what, n := range map[string]any{"one value": learned(runs, "prefill", "gpu_span_ns") == nil, "no such metric": learned(runs, "decode", "mfu_ratio") == nil,
		"no such stage": learned(runs, "vision", "gpu_span_ns") == nil, "no answers": learned(nil, "decode", "gpu_span_ns") == nil} {
		if n != true {
			t.Errorf("%s tells a noise", what)
		}
	}
	if w := (History{}).Words(); w != "" {
		t.Errorf("no history says %q", w)
	}
}
