package judge_test

import (
	"slices"
	"strings"
	"testing"

	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/queries/judge"
)

// answer makes an answer of a query from its columns. Findings have all figures of their rule, and no others.
func answer(query, columns string, rows ...[]any) *frame.Frame {
	if columns == findingColumns {
		for i, row := range rows {
			rows[i] = slices.Clone(row)
			rows[i][7] = judge.WholeFigures(row[1].(string), row[7].(string))
		}
	}
	return frametest.Answer(query, columns, rows...)
}

// reportOf makes the report of a run "a" from answers.
func reportOf(frames ...*frame.Frame) *judge.Report {
	r := &judge.Report{Name: "a", Frames: map[string]*frame.Frame{}}
	for _, f := range frames {
		r.Frames[f.Query] = f
	}
	return r
}

const ms = int64(1_000_000)

// idlePart is one part of a stage's time: its total, and how much of it is in the pass that has most.
type idlePart struct {
	name, kind  string
	total, most int64
}

// accountingOf makes accounting of one stage from the parts of each GPU in three passes.
func accountingOf(stage string, gpus ...[]idlePart) *frame.Frame {
	var rows [][]any
	for device, parts := range gpus {
		span := int64(0)
		for _, p := range parts {
			span += p.total
		}
		for _, p := range parts {
			rows = append(rows, []any{stage, int64(device), p.name, p.kind, p.total, int64(3), span, p.most})
		}
	}
	return answer("accounting", "stage device part kind total_ns passes span_total_ns max_ns", rows...)
}

const stageColumns = "stage passes cpu_mean_ns cpu_std_ns gpu_span_mean_ns gpu_span_std_ns gpu_span_tokens_per_s busy_ratio warmup_passes"

func stageAnswer(rows ...[]any) *frame.Frame {
	full := make([][]any, len(rows))
	for i, r := range rows { // medians and ranges are their means unless said
		if full[i] = r; len(r) == len(strings.Fields(stageColumns)) {
			full[i] = append(slices.Clone(r), r[2], r[2], r[2], r[4], r[4], r[4])
		}
	}
	return answer("stages", stageColumns+" cpu_median_ns cpu_min_ns cpu_max_ns gpu_span_median_ns gpu_span_min_ns gpu_span_max_ns", full...)
}

// passesAnswer makes an answer of passes, by the key that it is asked with.
func passesAnswer(key string, rows ...[]any) *frame.Frame {
	full := make([][]any, len(rows))
	for i, r := range rows { // of the first repeat unless said
		if full[i] = r; len(r) == 8 {
			full[i] = append(slices.Clone(r), int64(1))
		}
		if len(full[i]) == 9 {
			full[i] = append(slices.Clone(full[i]), nil)
		}
		full[i] = full[i][:10:10] // of another such answer it has the other columns too
	}
	return answer(key, "stage pass source_id pid is_warmup gpu_span_ns gpu_busy_ns start_ns repeat interval_ns", full...)
}

// threePasses are three passes of a stage of 100 ms.
func threePasses(stage string) *frame.Frame {
	return stageAnswer([]any{stage, int64(3), 101e6, 1e6, 100e6, 1e6, 40.2, 0.5, int64(1)})
}

func utilisationOf(stage string, mfu, mbu any) *frame.Frame {
	return answer("mfu", "stage mfu_ratio mbu_ratio precision convention part_of is_least fault", []any{stage, mfu, mbu, "bf16", "full", nil, false, nil})
}

func summarise(t *testing.T, r *judge.Report) judge.Summary {
	t.Helper()
	s, err := judge.Summarise(r)
	if err != nil {
		t.Fatal(err)
	}
	said.Add(s)
	return s
}

// busyParts are a GPU that works 92 % of the time.
func busyParts() []idlePart {
	return []idlePart{{"compute", "busy", 274 * ms, 92 * ms}, {"copy", "busy", 2 * ms, ms}, {"launch", "launch-bound", 14 * ms, 5 * ms}, {"queued", "queued", 10 * ms, 4 * ms}}
}

// profiledKernels are the answers that tell what is profiled of a stage whose only kernels are k1 (75 %) and k2.
func profiledKernels(stage string, k1 int64) []*frame.Frame {
	return []*frame.Frame{
		answer("stage-kernels", "stage kernel total_ns share_ratio", []any{stage, "k1", 75 * ms, 0.75}, []any{stage, "k2", 25 * ms, 0.25}),
		answer("top-kernels", "kernel total_ns role mean_ns calls share_ratio family", []any{"k1", 80 * ms, "gemm", 8e6, int64(10), 0.76, "f"}, []any{"k2", 25 * ms, "copy", 5e6, int64(5), 0.24, "g"}),
		answer("bottlenecks", "kernel bound timeline_total_ns replayed_mean_ns launches", []any{"k1", "memory", k1, 1e3, int64(2)}, []any{"k3", "compute", nil, 1e3, int64(1)}),
	}
}

// TestSummaryBound holds what is said to bound a stage, and the sentence it is said with.
func TestSummaryBound(t *testing.T) {
	for _, c := range []struct {
		name        string
		frames      []*frame.Frame
		bound, next judge.Bound
		why         string
	}{
		{"decode launch-bound", []*frame.Frame{accountingOf("decode", []idlePart{{"compute", "busy", 116 * ms, 39 * ms}, {"copy", "busy", 2 * ms, ms}, {"launch", "launch-bound", 217 * ms, 73 * ms}, {"launch-delay", "launch-bound", 415 * ms, 143 * ms},
			{"wait", "wait", 10 * ms, 5 * ms}, {"call", "call", 17 * ms, 12 * ms}, {"host", "host", 308 * ms, 303 * ms}, {"queued", "queued", 112 * ms, 38 * ms}})}, judge.LaunchBound, judge.HostBound,
			"the GPU is busy 9.9 % of the time; it waits for the next launch 52.8 % of the time (632 ms of 1.20 s); it also idles while the CPU is busy outside CUDA 25.7 % of the time (308 ms of 1.20 s), 303 ms of that in one of 3 passes"},
		{"waits of two kinds add up", []*frame.Frame{accountingOf("decode", []idlePart{{"compute", "busy", 100 * ms, 40 * ms}, {"wait", "wait", 60 * ms, 20 * ms}, {"call", "call", 50 * ms, 20 * ms}, {"host", "host", 90 * ms, 30 * ms}})}, judge.WaitBound, judge.HostBound,
			"the GPU is busy 33.3 % of the time; it idles while the CPU waits for it, allocates memory or loads code 36.7 % of the time (110 ms of 300 ms); it also idles while the CPU is busy outside CUDA 30.0 % of the time (90.0 ms of 300 ms)"},
		{"device-side latency", []*frame.Frame{accountingOf("decode", []idlePart{{"graph", "busy", 100 * ms, 40 * ms}, {"queued", "queued", 100 * ms, 40 * ms}})}, judge.QueueBound, "",
			"the GPU is busy 50.0 % of the time; it pauses while work waits in its queue 50.0 % of the time (100 ms of 200 ms)"},
		{"the profiler's own time", []*frame.Frame{accountingOf("decode", []idlePart{{"compute", "busy", 100 * ms, 40 * ms}, {"profiler", "profiler", 100 * ms, 40 * ms}})}, judge.UnknownBound, "",
			"the GPU is busy 50.0 % of the time; it idles while the profiler works 50.0 % of the time (100 ms of 200 ms)"},
		{"memory-bound prefill", []*frame.Frame{accountingOf("prefill", busyParts()), utilisationOf("prefill", 0.12, 0.61)}, judge.MemoryBound, "",
			"the GPU is busy 92.0 % of the time and reads weights and KV cache at 61.0 % of its peak memory bandwidth (MBU); MFU is 12.0 %"},
		{"compute-bound GEMMs", []*frame.Frame{accountingOf("prefill", busyParts()), utilisationOf("prefill", 0.55, 0.09)}, judge.ComputeBound, "",
			"the GPU is busy 92.0 % of the time and computes at 55.0 % of its dense bf16 peak (MFU)"},
		{"more compute than memory", []*frame.Frame{accountingOf("prefill", busyParts()), utilisationOf("prefill", 0.56, 0.52)}, judge.ComputeBound, "",
			"the GPU is busy 92.0 % of the time and computes at 56.0 % of its dense bf16 peak (MFU)"},
		{"utilisation over 1 is no evidence", []*frame.Frame{accountingOf("prefill", busyParts()), utilisationOf("prefill", 1.2, nil)}, judge.BusyBound, "",
			"the GPU is busy 92.0 % of the time; MFU of 120.0 % means that an input is wrong, MBU is unknown; no kernels were profiled: Nsight Compute would show what limits them"},
		{"a GPU of another maker", []*frame.Frame{accountingOf("prefill", busyParts()), answer("devices", "name", []any{"AMD Instinct MI300X"})}, judge.BusyBound, "",
			"the GPU is busy 92.0 % of the time; MFU and MBU are unknown; what limits its kernels is unknown: prof reads no tool that measures it on this GPU"},
		{"exposed communication", []*frame.Frame{accountingOf("decode", []idlePart{{"compute", "busy", 70 * ms, 40 * ms}, {"collective-exposed", "busy", 90 * ms, 30 * ms}, {"launch", "launch-bound", 40 * ms, 20 * ms}})}, judge.CommBound, judge.LaunchBound,
			"the GPU exchanges data with other GPUs and computes nothing 45.0 % of the time (90.0 ms of 200 ms); that includes waiting for slower GPUs; it also waits for the next launch 20.0 % of the time (40.0 ms of 200 ms)"},
		{"less communication than computing", []*frame.Frame{accountingOf("decode", []idlePart{{"compute", "busy", 140 * ms, 60 * ms}, {"collective-exposed", "busy", 60 * ms, 20 * ms}})}, judge.BusyBound, judge.CommBound,
			"the GPU is busy 100.0 % of the time; MFU and MBU are unknown; no kernels were profiled: Nsight Compute would show what limits them; it also exchanges data with other GPUs and computes nothing 30.0 % of the time (60.0 ms of 200 ms)"},
		{"communication less than idle time", []*frame.Frame{accountingOf("decode", []idlePart{{"compute", "busy", 40 * ms, 40 * ms}, {"collective-exposed", "busy", 60 * ms, 30 * ms}, {"launch", "launch-bound", 100 * ms, 40 * ms}})}, judge.LaunchBound, judge.CommBound,
			"the GPU is busy 50.0 % of the time; it waits for the next launch 50.0 % of the time (100 ms of 200 ms); it also exchanges data with other GPUs and computes nothing 30.0 % of the time (60.0 ms of 200 ms)"},
		{"copies", []*frame.Frame{accountingOf("prefill", []idlePart{{"compute", "busy", 70 * ms, 25 * ms}, {"copy", "busy", 122 * ms, 41 * ms}, {"wait", "wait", 8 * ms, 4 * ms}})}, judge.CopyBound, "",
			"the GPU copies or fills memory and computes nothing 61.0 % of the time (122 ms of 200 ms)"},
		{"less copies than computing", []*frame.Frame{accountingOf("prefill", []idlePart{{"compute", "busy", 150 * ms, 50 * ms}, {"copy", "busy", 50 * ms, 17 * ms}})}, judge.BusyBound, judge.CopyBound,
			"the GPU is busy 100.0 % of the time; MFU and MBU are unknown; no kernels were profiled: Nsight Compute would show what limits them; it also copies or fills memory and computes nothing 25.0 % of the time (50.0 ms of 200 ms)"},
		{"kernels, and much idle time", []*frame.Frame{accountingOf("decode", []idlePart{{"compute", "busy", 63 * ms, 21 * ms}, {"host", "host", 37 * ms, 13 * ms}})}, judge.BusyBound, judge.HostBound,
			"the GPU is busy 63.0 % of the time; MFU and MBU are unknown; no kernels were profiled: Nsight Compute would show what limits them; it also idles while the CPU is busy outside CUDA 37.0 % of the time (37.0 ms of 100 ms)"},
		{"beside work of others", []*frame.Frame{accountingOf("decode", []idlePart{{"compute", "busy", 63 * ms, 21 * ms}, {"other", "other", 37 * ms, 13 * ms}})}, judge.BusyBound, "",
			"the GPU is busy 63.0 % of the time and runs other work 37.0 %; MFU and MBU are unknown; no kernels were profiled: Nsight Compute would show what limits them"},
		{"part of it is not counted", []*frame.Frame{accountingOf("prefill", busyParts()), answer("mfu", "stage mfu_ratio mbu_ratio precision convention part_of is_least fault", []any{"prefill", 0.013, 0.025, "bf16", "full", nil, true, nil}, []any{"vision", nil, nil, "bf16", "full", "prefill", false, nil})}, judge.BusyBound, "",
			"the GPU is busy 92.0 % of the time; MFU is at least 1.3 %, MBU is at least 2.5 % (without the operations of vision); no kernels were profiled: Nsight Compute would show what limits them"},
		{"launches not captured", []*frame.Frame{accountingOf("decode", busyParts()), answer("conservation", "capture kernel_count kernel_sum_ns outside_ns unlaunched_count unlaunched_ns", []any{"nsys", int64(150), 3 * ms, int64(0), int64(150), 3 * ms})}, judge.UnknownBound, "",
			"no GPU work can be attributed to its passes: the launches of 150 kernels were not captured"},
		{"other work", []*frame.Frame{accountingOf("prefill", []idlePart{{"compute", "busy", 100 * ms, 50 * ms}, {"other", "other", 90 * ms, 30 * ms}})}, judge.UnknownBound, "",
			"the GPU runs other work 47.4 % of the time (90.0 ms of 190 ms), so the stage's own time cannot be judged"},
		{"too little data", []*frame.Frame{accountingOf("prefill", []idlePart{{"compute", "busy", 40_000, 20_000}, {"launch", "launch-bound", 20_000, 10_000}})}, judge.UnknownBound, "",
			"too little was captured: all its passes take 60.0 us in total, and idle gaps are classified only from 100 us up"},
		{"no work on a GPU", []*frame.Frame{accountingOf("decode", busyParts())}, judge.UnknownBound, "",
			"its measured passes have no GPU work in the capture"},
		{"several GPUs", []*frame.Frame{accountingOf("decode", busyParts(), []idlePart{{"compute", "busy", 100 * ms, 40 * ms}, {"host", "host", 300 * ms, 100 * ms}})}, judge.HostBound, "",
			"on GPU 1, which has the most measured time of 2 GPUs, the GPU is busy 25.0 % of the time; it idles while the CPU is busy outside CUDA 75.0 % of the time (300 ms of 400 ms)"},
		{"busy and far from every limit", []*frame.Frame{accountingOf("decode", busyParts()), utilisationOf("decode", 0.0009, 0.189)}, judge.BusyBound, "",
			"the GPU is busy 92.0 % of the time; MFU is 0.09 %, MBU is 18.9 %; no kernels were profiled: Nsight Compute would show what limits them"},
		{"busy, with one utilisation known", []*frame.Frame{accountingOf("decode", busyParts()), utilisationOf("decode", nil, 0.189)}, judge.BusyBound, "",
			"the GPU is busy 92.0 % of the time; MFU is unknown, MBU is 18.9 %; no kernels were profiled: Nsight Compute would show what limits them"},
		// k1 takes 80 ms, 75 of them here: of 60 ms in profiled grids 5 may be elsewhere, and 55 of the stage's 100 ms are certain.
		{"profiled kernels", append(profiledKernels("decode", 60*ms), accountingOf("decode", busyParts()), utilisationOf("decode", nil, nil)), judge.MemoryBound, "",
			"the GPU is busy 92.0 % of the time; Nsight Compute profiled kernels with 55.0 % of its kernel time, and 100.0 % of that is in kernels that are memory-bound"},
		{"too few profiled kernels", append(profiledKernels("decode", 20*ms), accountingOf("decode", busyParts()), utilisationOf("decode", 0.1, 0.1)), judge.BusyBound, "",
			"the GPU is busy 92.0 % of the time; MFU is 10.0 %, MBU is 10.0 %; Nsight Compute profiled kernels with 15.0 % of its kernel time, too little to say what limits it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stage := c.frames[0].Rows[0][0].(string)
			for _, f := range c.frames {
				if f.Query == "accounting" {
					stage = f.Rows[0][0].(string)
				}
			}
			if c.name == "no work on a GPU" || c.name == "launches not captured" {
				stage = "prefill"
			}
			s := summarise(t, reportOf(append(c.frames, threePasses(stage))...))
			if len(s.Stages) != 1 {
				t.Fatalf("%d stages: %+v", len(s.Stages), s.Stages)
			}
			got := s.Stages[0]
			if got.Bound != c.bound || got.Next != c.next || got.Why != c.why {
				t.Errorf("bound %s, next %q\n%s\nwant %s, %q\n%s", got.Bound, got.Next, got.Why, c.bound, c.next, c.why)
			}
			if want := "prof query accounting --run a --stage " + stage; got.Query != want {
				t.Errorf("query %s, want %s", got.Query, want)
			}
		})
	}
}

// TestSummaryStages holds the figures of stages, by time, and that of passes without device work the time on the CPU is said.
func TestSummaryStages(t *testing.T) {
	s := summarise(t, reportOf(stageAnswer(
		[]any{"prefill", int64(1), 101e6, nil, 100e6, nil, nil, 0.9, int64(0)},
		[]any{"decode", int64(3), 101e6, 1e6, 300e6, 400e6, 40.2, 0.9, int64(1), 101e6, 100e6, 102e6, 200e6, 190e6, 700e6},
		[]any{"tail", int64(2), 7e6, 1e6, nil, nil, nil, nil, int64(1)},
		[]any{"old", int64(0), nil, nil, nil, nil, nil, nil, int64(2)})))
	var names []string
	for _, stage := range s.Stages {
		names = append(names, stage.Stage)
	}
	if want := []string{"decode", "prefill", "tail"}; !slices.Equal(names, want) {
		t.Fatalf("stages %v, want %v", names, want)
	}
	decode, prefill, tail := s.Stages[0], s.Stages[1], s.Stages[2]
	if decode.ShareRatio != 600.0/700 || *decode.StdNs != 400e6 || *decode.TokensPerS != 40.2 || decode.BusyRatio != nil || decode.MFU != nil || decode.Unknown == "" {
		t.Errorf("decode: %+v", decode)
	}
	if prefill.StdNs != nil || prefill.ShareRatio != 100.0/700 {
		t.Errorf("prefill: %+v", prefill)
	}
	if decode.MedianNs != 200e6 || decode.MinNs != 190e6 || decode.MaxNs != 700e6 || !tail.IsCPU || tail.MeanNs != 7e6 || tail.MedianNs != 7e6 || tail.ShareRatio != 0 {
		t.Errorf("tail: %+v", tail)
	}
	for _, want := range []string{"all passes of old count as warm-up: none was measured", "prefill was measured once: its spread is unknown",
		"tail was measured twice: two passes do not show its spread",
		"the passes of decode vary by more than 10.0 %: 190 ms to 700 ms, median 200 ms; prof query passes --run a --stage decode"} {
		if !slices.Contains(s.Doubts, want) {
			t.Errorf("no doubt %q in %q", want, s.Doubts)
		}
	}
}

// TestSummaryStagesWithoutWork holds that passes without device work have no share of the time on the GPU.
func TestSummaryStagesWithoutWork(t *testing.T) {
	stages := func() *frame.Frame {
		return stageAnswer([]any{"prefill", int64(4), 101e6, 1e6, 100e6, nil, nil, 0.9, int64(0)}, []any{"decode", int64(1), 101e6, nil, 300e6, nil, nil, 0.9, int64(0)})
	}
	passes := passesAnswer("passes", []any{"prefill", int64(1), int64(1), int64(7), false, 100 * ms, ms, int64(1)}, []any{"prefill", int64(2), int64(1), int64(7), false, nil, nil, int64(2)},
		[]any{"prefill", int64(3), int64(1), int64(7), false, nil, nil, int64(3)}, []any{"prefill", int64(4), int64(1), int64(7), false, nil, nil, int64(4)}, []any{"decode", int64(1), int64(1), int64(7), false, 300 * ms, ms, int64(5)})
	s := summarise(t, reportOf(stages(), passes))
	if s.Stages[0].Stage != "decode" || s.Stages[0].ShareRatio != 0.75 || s.Stages[1].ShareRatio != 0.25 {
		t.Errorf("stages %+v", s.Stages)
	}
	if p := s.Stages[1]; p.Passes != 1 || p.Workless != 3 {
		t.Errorf("the mean of prefill is said to be over %d passes, with %d beside them", p.Passes, p.Workless)
	}
	if want := "the GPU time of prefill is the mean over 1 of its 4 passes: the others have no GPU work"; !slices.Contains(s.Doubts, want) {
		t.Errorf("no doubt %q in %q", want, s.Doubts)
	}
	idle := stageAnswer([]any{"prefill", int64(1), 101e6, nil, 0.0, nil, nil, nil, int64(0)})
	if s := summarise(t, reportOf(idle)); s.Stages[0].ShareRatio != 0 {
		t.Errorf("of a stage without time the share is %v", s.Stages[0].ShareRatio)
	}
}

// TestSummaryMissingColumn holds that a summary of an answer that is not what it is taken for is an error.
func TestSummaryMissingColumn(t *testing.T) {
	_, err := judge.Summarise(reportOf(&frame.Frame{Query: "stages", Columns: []frame.Column{{Name: "stage"}}, Rows: [][]any{{"decode"}}}))
	if err == nil || !strings.Contains(err.Error(), "query stages: no column passes") {
		t.Errorf("error %v", err)
	}
}

// TestSummaryAlone holds that times by the GPU's clock alone are quoted: the host's may be those of launching the work.
func TestSummaryAlone(t *testing.T) {
	for clock, want := range map[string]any{"gpu": 60e6, "cpu": (*float64)(nil)} {
		f := threePasses("decode")
		for column, value := range map[string]any{"alone_median_ns": 60e6, "alone_clock": clock, "alone_tokens_per_s": 67.0} {
			f.Rows[0][f.Index(column)] = value
		}
		use := answer("mfu", "stage mfu_ratio mbu_ratio precision convention part_of is_least fault alone_mfu_ratio alone_mbu_ratio", []any{"decode", 0.1, 0.2, "bf16", "full", nil, false, nil, 0.15, 0.3})
		got := summarise(t, reportOf(f, accountingOf("decode", busyParts()), use)).Stages[0]
		if ns := got.Alone.MedianNs; clock == "gpu" && (ns == nil || *ns != want || *got.Alone.TokensPerS != 67 || *got.Alone.MFU != 0.15 || *got.Alone.MBU != 0.3) || clock == "cpu" && (ns != nil || got.Alone.TokensPerS != nil) || *got.MFU != 0.1 || *got.TokensPerS != 40.2 {
			t.Errorf("%s: %+v", clock, got)
		}
	}
}

// TestSummaryLacking: of a run without facts nothing is captured again, and no timeline is missed.
func TestSummaryLacking(t *testing.T) {
	f := answer("stages", "stage")
	f.Caveats = []frame.Caveat{{Topic: caveat.Facts, Kind: caveat.FactsLacking, Text: "facts are missing"}}
	s := summarise(t, reportOf(f, answer("accounting", "stage")))
	if len(s.Advice) != 1 || s.Advice[0].Command != "prof --memory SIZE tag a KEY=VALUE" || s.Lacking != "facts are missing" || !slices.Equal(s.Doubts, []string{"facts are missing"}) {
		t.Errorf("%+v", s)
	}
}

// TestSummaryRest holds what is said of a run without a timeline and counters.
func TestSummaryRest(t *testing.T) {
	kernels := answer("top-kernels", "kernel total_ns role mean_ns calls share_ratio family", []any{"k1", 80 * ms, "gemm", 8e6, int64(10), 0.8, "f"})
	operators := func(device any, share any) *frame.Frame {
		return answer("top-operators", "operator self_device_ns self_cpu_ns share_ratio", []any{"(none)", device, nil, share}, []any{"aten::mm", device, 90e6, share})
	}
	sources := func(kinds ...string) *frame.Frame {
		var rows [][]any
		for _, kind := range kinds {
			rows = append(rows, []any{kind, "ok", nil, kind})
		}
		return answer("sources", "kind status reason path", rows...)
	}
	for _, c := range []struct {
		want   string
		frames []*frame.Frame
	}{
		{"Kernels take 100 ms on the GPU; only their sums are known, not when each ran", []*frame.Frame{kernels, operators(20*ms, 0.5), sources("nsys-stats")}},
		{"Operators take 40.0 ms on the GPU, 50.0 % of it in aten::mm; only their sums are known, not when each ran", []*frame.Frame{operators(20*ms, 0.5), sources("torch")}},
		{"No GPU work was recorded; of the operators on the CPU aten::mm takes most, 90.0 ms", []*frame.Frame{operators(int64(0), nil), sources("torch")}},
		{"No GPU timeline was recorded: all that is known is from a model's configuration and a load generator", []*frame.Frame{sources("serving", "model")}},
		{"", []*frame.Frame{sources("nsys", "model")}}, // it lost its kernels, which is said elsewhere
		{"", []*frame.Frame{accountingOf("(run)", busyParts()), kernels, sources("nsys")}},
	} {
		if s := summarise(t, reportOf(c.frames...)); s.Rest != c.want {
			t.Errorf("%q, want %q", s.Rest, c.want)
		}
	}
}
