package compare

import (
	"slices"
	"time"

	"prof/queries/judge/diff"
	"prof/queries/judge/diff/conditions"
	"prof/queries/judge/stats"
	"prof/render/rendertest"
)

// Names as kernels have them.
const (
	flashKernel   = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::bfloat16_t>, false, true>(Flash_fwd_params)"
	softmaxKernel = "void (anonymous namespace)::cunn_SoftMaxForward<8, float, float, at::native::SoftMaxForwardEpilogue>(float*, float const*, int)"
	gemmKernel    = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x3_tn"
)

// partOf makes an item of a stage that a pass takes so long of on each side, by calls of equal length.
func partOf(stage, kind, name, family string, callsA, nsA, callsB, nsB int64) diff.Item {
	const passes = 3
	i := diff.Item{Stage: stage, Kind: kind, Name: name, Family: family, Unit: "ns", Status: diff.Both, Delta: &diff.Delta{Ns: nsB - nsA}}
	side := func(calls, ns int64) diff.Measure {
		m := diff.Measure{Calls: passes * calls, TotalNs: passes * ns, PerUnitNs: ns, TypicalNs: new(ns), PerUnitCalls: float64(calls)}
		if calls > 0 {
			mean := float64(ns) / float64(calls)
			m.MeanNs, m.StdNs, m.MinNs, m.MaxNs = new(mean), new(mean/40), new(int64(mean*0.9)), new(int64(mean*1.1))
		}
		return m
	}
	i.A, i.B = side(callsA, nsA), side(callsB, nsB)
	switch {
	case callsA == 0 && callsB > 0:
		i.Status, i.Delta.NewNs = diff.New, nsB
	case callsB == 0 && callsA > 0:
		i.Status, i.Delta.RemovedNs = diff.Removed, -nsA
	case callsA == 0:
		i.Delta.DurationNs = nsB - nsA
	default:
		i.Delta.CountNs = (callsB - callsA) * nsA / callsA
		i.Delta.DurationNs = callsA*nsB/callsB - nsA
		i.Delta.InteractionNs = i.Delta.Ns - i.Delta.CountNs - i.Delta.DurationNs
	}
	return i
}

// moved returns what took the place of an item, or what it took the place of.
func moved(i diff.Item, partner, how string) diff.Item {
	i.Status, i.Partner, i.How = diff.Moved, partner, how
	return i
}

// judged gives an item a verdict.
func judged(i diff.Item, v diff.Verdict, p float64) diff.Item {
	effect := float64(i.Delta.Ns) / float64(i.A.PerUnitNs)
	i.Verdict, i.Comparison = v, &stats.Comparison{NA: 3, NB: 3, A: float64(i.A.PerUnitNs), B: float64(i.B.PerUnitNs), Effect: &effect, Low: new(effect - 0.04), High: new(effect + 0.045), P: &p, Method: "Welch's t"}
	return i
}

// stageOf makes a stage of three passes a side from its ledger.
func stageOf(name string, v diff.Verdict, p float64, ledger []diff.Item) diff.Stage {
	var a, b int64
	d := diff.Delta{}
	for _, i := range ledger {
		a, b = a+i.A.PerUnitNs, b+i.B.PerUnitNs
		d.Ns, d.CountNs, d.DurationNs = d.Ns+i.Delta.Ns, d.CountNs+i.Delta.CountNs, d.DurationNs+i.Delta.DurationNs
		d.InteractionNs, d.NewNs, d.RemovedNs = d.InteractionNs+i.Delta.InteractionNs, d.NewNs+i.Delta.NewNs, d.RemovedNs+i.Delta.RemovedNs
	}
	effect, x, y := float64(b)/float64(a)-1, float64(a), float64(b)
	side := func(ns float64) diff.StageSide {
		return diff.StageSide{Passes: 3, Warmups: 1, Units: 3, Tokens: new(int64(96)), TimeNs: int64(ns) * 3, PerUnitNs: int64(ns), TypicalNs: new(int64(ns)), Samples: []float64{ns * 0.99, ns, ns * 1.01}, Std: new(ns / 100), Launches: new(int64(300))}
	}
	return diff.Stage{Name: name, Unit: diff.PerPass, A: side(x), B: side(y), Delta: &d, Level: "passes", Verdict: v, Ledger: ledger,
		Comparison: stats.Comparison{NA: 3, NB: 3, A: x, B: y, LoA: new(x * 0.97), HiA: new(x * 1.03), LoB: new(y * 0.97), HiB: new(y * 1.03), Effect: &effect, Low: new(effect - 0.04), High: new(effect + 0.045), P: &p, Method: "Welch's t", Smallest: new(0.052), Why: "the passes tell it"},
		More: []diff.Metric{{Name: "cpu_ns", Unit: "ns", LessIsBetter: true, Verdict: diff.NoChange, Comparison: stats.Comparison{NA: 3, NB: 3, A: x, B: y, Effect: new(0.004)}},
			{Name: "tokens_per_s", Verdict: v, Comparison: stats.Comparison{NA: 3, NB: 3, A: 1e9 / x, B: 1e9 / y, Effect: new(1/(1+effect) - 1)}}}}
}

// exampleDiff is a comparison in which decode became faster as attention was fused, and prefill did not change.
func exampleDiff() *diff.Result {
	decode := []diff.Item{
		moved(partOf("decode", "kernel", softmaxKernel, "softmax", 40, 31_000_123, 0, 0), flashKernel, "fused"),
		moved(partOf("decode", "kernel", flashKernel, "attention", 0, 0, 40, 24_500_001), gemmKernel+" + "+softmaxKernel, "fused"),
		moved(partOf("decode", "kernel", gemmKernel, "gemm", 80, 12_345_678, 0, 0), flashKernel, "fused"),
		judged(partOf("decode", "kernel", "rms_norm_kernel", "norm", 80, 8_000_000, 120, 13_200_000), diff.Worse, 0.0004),
		partOf("decode", "kernel", "k<"+rendertest.Breakout, "", 4, 40_000, 4, 40_120),
		partOf("decode", "copy", "host to device", "", 2, 9_000, 2, 9_000),
		partOf("decode", "overlap", "overlap", "", 0, -500_000, 0, -100_000),
		partOf("decode", "idle", "launch-bound", "", 0, 22_000_000, 0, 20_240_000),
	}
	prefill := []diff.Item{judged(partOf("prefill", "kernel", gemmKernel, "gemm", 10, 61_000_000, 10, 61_200_000), diff.NoChange, 0.4)}
	r := &diff.Result{
		A:       diff.Side{Label: "eager", Runs: []diff.Run{{ID: "01", Name: "eager", CreatedAt: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), StartedAt: new(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)), Host: "gpu-7"}}},
		B:       diff.Side{Label: "@latest", Runs: []diff.Run{{ID: "02", Name: "sdpa", CreatedAt: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}}},
		Options: diff.Options{Stats: stats.Options{Alpha: 0.01, MinEffect: 0.01, Margin: 0.05}, Top: 10},
		Verdict: diff.Better, Words: "decode 21.1 % faster: attention kernels instead of softmax + gemm -43 %, norm kernels +65 %, launch-bound idle -8.0 %; prefill unchanged",
		Stages: []diff.Stage{stageOf("decode", diff.Better, 0.00012, decode), stageOf("prefill", diff.NoChange, 0.4, prefill)},
		Items:  slices.Concat(decode, prefill),
		Differences: []conditions.Difference{{Aspect: "attention", A: "eager", B: "sdpa", Weight: conditions.Tells}, {Aspect: "driver", A: "550.54.15", B: "560.28.03", Weight: conditions.Clouds},
			{Aspect: "GPU", A: "NVIDIA A100-SXM4-80GB", B: "NVIDIA H100 80GB HBM3", Effect: "another GPU: times compare hardware too", Weight: conditions.Decides}, {Aspect: "commit", A: "1f2e3d4", B: "not known", Weight: conditions.Tells}},
		Notes:   []string{"decode has 3 passes a side: run with --repeats to tell smaller changes " + rendertest.Breakout},
		Queries: []diff.Source{{Run: "eager", Query: "stage-samples.v1", SQL: "FROM stage_samples_v1('01')"}, {Run: "sdpa", Query: "stage-samples.v1", SQL: "FROM stage_samples_v1('02')"}},
	}
	r.Stages[0].Words = "decode is 21.1 % faster (73.4 ms → 57.9 ms per pass, p 0.00012): attention kernels instead of softmax + gemm -43 %, norm kernels +65 %, launch-bound idle -8.0 %"
	r.Stages[0].StageExpected = "another GPU"
	r.Stages[1].Words = "prefill: no change (+0.3 %, p 0.4); changes below 5.2 % could have gone unnoticed"
	return r
}

// unsureDiff is a comparison of single passes, one stage of which only B has, by metrics.
func unsureDiff() *diff.Result {
	r := &diff.Result{A: diff.Side{Label: "tag:branch=" + rendertest.Breakout, Runs: make([]diff.Run, 8)}, B: diff.Side{Label: "b", Runs: []diff.Run{{Name: "b"}}},
		Options: diff.Options{By: diff.ByMetric}, Verdict: diff.CannotTell, Words: "",
		Stages: []diff.Stage{{Name: "", Unit: diff.PerRun, Verdict: diff.CannotTell, Level: "runs", Comparison: stats.Comparison{NA: 1, NB: 1, A: 5e6, B: 6e6, Effect: new(0.2), Why: "one sample a side"},
			A: diff.StageSide{Units: 1, TimeNs: 5e6, PerUnitNs: 5e6, Samples: []float64{5e6}}, B: diff.StageSide{Units: 1, TimeNs: 6e6, PerUnitNs: 6e6, Samples: []float64{6e6}}, Delta: &diff.Delta{Ns: 1e6, DurationNs: 1e6}},
			{Name: "only " + rendertest.Hostile, Unit: diff.PerPass, Verdict: diff.CannotTell, Comparison: stats.Comparison{NB: 1, B: 7e6}, B: diff.StageSide{Passes: 1, Units: 1, TimeNs: 7e6, PerUnitNs: 7e6}}},
		Items: []diff.Item{{Kind: "metric", Name: "dram__bytes.sum", Unit: "bytes", A: diff.Measure{Value: new(2.5e9)}, B: diff.Measure{Value: new(3e9)}},
			{Kind: "metric", Name: "sm__warps_active.avg.pct_of_peak_sustained_active", Unit: "%", A: diff.Measure{Value: new(0.0)}, B: diff.Measure{Value: new(31.25)}},
			{Kind: "metric", Name: "gpu__time_duration.sum", Unit: "ns", A: diff.Measure{Value: new(1200.0)}}},
	}
	for i := range r.A.Runs {
		r.A.Runs[i].Name = string(rune('a'+i)) + "-run"
	}
	return r
}
