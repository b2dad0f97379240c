package diff

import (
	"math"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge/stats"
)

// historyOf makes an answer of run-noise; rows are group, run, repeat, stage and time.
func historyOf(rows ...[]any) *frame.Frame {
	return &frame.Frame{Query: "run-noise", Columns: []frame.Column{{Name: "group_name"}, {Name: "run_id"}, {Name: "repeat"}, {Name: "stage"}, {Name: "gpu_span_ns"}}, Rows: rows}
}

// TestHistoryNoise holds what runs of the same thing tell of their noise, against standard deviations by hand.
func TestHistoryNoise(t *testing.T) {
	t.Parallel()
	const alpha = 0.01
	runs := historyOf(
		[]any{"commit a, driver 1", "1", int64(1), "decode", 100.0}, []any{"commit a, driver 1", "2", int64(1), "decode", 102.0}, []any{"commit a, driver 1", "3", int64(1), "decode", 101.0},
		[]any{"commit b, driver 1", "4", int64(1), "decode", 200.0}, []any{"commit b, driver 1", "4", int64(2), "decode", 210.0}, []any{"commit b, driver 1", "5", int64(1), "decode", 206.0},
		[]any{"commit c, driver 1", "6", int64(1), "decode", 900.0}, []any{"commit c, driver 1", "6", int64(2), "decode", 400.0},
		[]any{"commit a, driver 1", "1", int64(1), "prefill", 10.0}, []any{"commit a, driver 1", "2", int64(1), "prefill", nil},
		[]any{"commit a, driver 1", "7", int64(1), nil, 7.0}, []any{"commit a, driver 1", "8", int64(1), nil, 8.0})
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
	h := LearnHistory([]*frame.Frame{runs, runs}, "decode", "gpu_span_ns", alpha)
	want := math.Sqrt((spread(100, 102, 101) + spread(200, 210, 206) + spread(900, 400)) / 5)
	if h.Noise == nil || math.Abs(h.Noise.SD/want-1) > 1e-12 || h.Noise.DF != 5 || h.Processes != 8 || h.Commits != 3 {
		t.Fatalf("%+v, %+v, want a deviation of %v", h, h.Noise, want)
	}
	if w := h.Words(); !strings.Contains(w, "up to a factor of") || !strings.HasSuffix(w, "(from 8 processes of 3 commits)") {
		t.Errorf("%q", w)
	}
	// Runs that are compared do not tell.
	h = LearnHistory([]*frame.Frame{runs}, "decode", "gpu_span_ns", alpha, "6", "5")
	want = math.Sqrt((spread(100, 102, 101) + spread(200, 210)) / 3)
	if h.Noise == nil || math.Abs(h.Noise.SD/want-1) > 1e-12 || h.Noise.DF != 3 || h.Processes != 5 || h.Commits != 2 || !strings.Contains(h.Words(), " %") {
		t.Errorf("%+v, %q, want a deviation of %v", h, h.Words(), want)
	}
	learned := func(frames []*frame.Frame, stage, metric string) *stats.Noise {
		return LearnHistory(frames, stage, metric, alpha).Noise
	}
	if n := learned([]*frame.Frame{runs}, "", "gpu_span_ns"); n == nil || n.DF != 1 {
		t.Errorf("work outside stages: %+v", n)
	}
	for what, n := range map[string]any{"one value": learned([]*frame.Frame{runs}, "prefill", "gpu_span_ns") == nil, "no such metric": learned([]*frame.Frame{runs}, "decode", "mfu_ratio") == nil,
		"no such stage": learned([]*frame.Frame{runs}, "vision", "gpu_span_ns") == nil, "no answers": learned(nil, "decode", "gpu_span_ns") == nil} {
		if n != true {
			t.Errorf("%s tells a noise", what)
		}
	}
	if w := (History{}).Words(); w != "" {
		t.Errorf("no history says %q", w)
	}
}
