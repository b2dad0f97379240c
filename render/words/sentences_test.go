package words

import (
	"bytes"
	"fmt"
	"testing"

	"prof/queries/judge"
	"prof/queries/judge/serving"
	"prof/queries/judge/trend"
	"prof/render/rendertest"
)

// TestSentences holds what is said of each bound, of utilisations, of kernels and of what a trend follows, so that a reader can go over it.
func TestSentences(t *testing.T) {
	bounds := []judge.Bound{judge.LaunchBound, judge.HostBound, judge.WaitBound, judge.CommBound, judge.QueueBound, judge.CopyBound, judge.MemoryBound, judge.ComputeBound, judge.BusyBound, judge.MixedBound, judge.LateBound, judge.UnknownBound}
	var out bytes.Buffer
	say := func(text string) { fmt.Fprintln(&out, text) }
	stage := judge.StageSummary{Stage: "decode", Passes: 3, MedianNs: 2e6, MinNs: 1e6, MaxNs: 3e6, MeanNs: 2e6, ShareRatio: 1, Why: "WHY"}
	for i, b := range bounds {
		stage.Bound, stage.Meaning, stage.Next, stage.But = b, b.Meaning(), bounds[(i+1)%len(bounds)], ""
		say(BoundText(stage))
	}
	stage.Bound, stage.Meaning, stage.Next, stage.But = judge.LateBound, judge.LateBound.Meaning(), judge.WaitBound, "BUT"
	say(BoundText(stage))
	onCPU := stage
	onCPU.Stage, onCPU.IsCPU = "prefill", true
	for _, s := range []judge.Summary{{Stages: []judge.StageSummary{stage}}, {Stages: []judge.StageSummary{stage, onCPU}}, {Stages: []judge.StageSummary{onCPU}}, {All: &stage, WarmOnly: []string{"decode"}}, {All: &stage}, {All: &stage, Timeless: "decode"}, {Profiled: "PROFILED"}, {Rest: "REST"}, {}} {
		say(LeadOf(s))
	}
	ttft, e2e := serving.Latency{Metric: "ttft", P50: new(50e6), P99: new(90e6)}, serving.Latency{Metric: "e2e", Mean: new(2e9)}
	slow := serving.Measured{Benchmark: serving.Benchmark{Row: serving.Row{Tool: "TOOL", Completed: new(8.0), Failed: new(2.0)}}, Latencies: []serving.Latency{e2e}}
	fast := serving.Measured{Benchmark: serving.Benchmark{Row: serving.Row{Rate: new(4.0), Failed: new(1.0)}, RequestsPerS: new(3.75), OutputTokensPerS: new(481.0)}, Latencies: []serving.Latency{ttft, e2e}}
	for _, list := range [][]serving.Measured{{slow}, {fast}, {slow, fast}, {slow, slow}} {
		say(LeadOf(judge.Summary{Benchmarks: list, Profiled: "PROFILED"}))
	}
	prefill := judge.StageSummary{Stage: "prefill", MedianNs: 45.9e6}
	graph := []judge.Finding{{ID: "launch-bound", Stage: "decode", Gain: judge.Gain{NowNs: 18.2e6, ThenNs: 2.49e6, Per: "token", Bound: "at most"}}}
	for _, b := range bounds {
		decode := judge.StageSummary{Stage: "decode", MedianNs: 291e6, Bound: b, Meaning: b.Meaning(), Why: "WHY", Token: &judge.TokenTime{Ns: 18.2e6, BusyNs: new(2.46e6), Kernels: new(980.0), RoofNs: new(0.5e6)}}
		say(LeadOf(judge.Summary{Stages: []judge.StageSummary{decode, prefill}, Findings: graph}))
	}
	decode := judge.StageSummary{Stage: "decode", MedianNs: 291e6, Bound: judge.LaunchBound, Meaning: judge.LaunchBound.Meaning(), Token: &judge.TokenTime{Ns: 18.2e6, AloneNs: new(15e6), BusyNs: new(2.46e6), Kernels: new(980.0)}}
	say(LeadOf(judge.Summary{Stages: []judge.StageSummary{decode}}))
	say(LeadOf(judge.Summary{Stages: []judge.StageSummary{decode, prefill}})) // the prefill is only known under the profiler
	prefill.Alone.MedianNs = new(40e6)
	say(LeadOf(judge.Summary{Stages: []judge.StageSummary{decode, prefill}}))
	say(LeadOf(judge.Summary{Stages: []judge.StageSummary{decode}, Findings: []judge.Finding{{ID: "graph-gaps", Stage: "decode"}}}))
	decode.Graphs = "a CUDA graph of 827 kernels"
	say(LeadOf(judge.Summary{Stages: []judge.StageSummary{decode}}))
	decode.Graphs, decode.Token = "", &judge.TokenTime{Ns: 18.2e6}
	say(LeadOf(judge.Summary{Stages: []judge.StageSummary{decode}}))
	for _, k := range []judge.TopKernel{{Role: "collective"}, {Stage: "decode"}, {Bound: "unknown"}, {Bound: "memory", Limiter: "dram"}} {
		k.ShareRatio, k.TotalNs, k.Calls, k.MeanNs = 0.25, 8e6, 4, 2e6
		say(KernelText(k))
	}
	for _, gpus := range []int{1, 2, 8} {
		say(CategoryTime(judge.TimeCategory{TotalNs: 2e6, GPUs: gpus}))
	}
	for _, ratio := range []float64{0.5, 2} {
		say(UseText(ratio, true) + ", " + UseText(ratio, false))
	}
	for _, m := range []trend.Metric{trend.GPUSpan, trend.GPUBusy, trend.GPUSum, trend.CPU, trend.MFU, trend.MBU, trend.TokenRate, "ttft_mean_ns", "tpot_p50_ns", "itl_p90_ns", "e2e_p99_ns", "requests_per_s", "output_tokens_per_s", "total_tokens_per_s"} {
		say(TrendMetric(m) + ": " + TrendValue(m, 12.5))
	}
	rendertest.Compare(t, "testdata/sentences.txt", out.Bytes())
}
