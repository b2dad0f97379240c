package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
)

const findingColumns = "rank finding stage saving_ns share_ratio bound title evidence subject advice device device_count run_device_count passes span_ns"

func findingRow(rule, stage string, saving int64, subject any) []any {
	var of any = stage
	if stage == "" {
		of = nil
	}
	return []any{int64(1), rule, of, saving, float64(saving) / float64(300*ms), "at most", rule + " title", `{"call_count":2,"calls_ns":3000,"least_count":4,"most_count":5,"sm_count":132,"pass_count":3,"max_ns":1000,"median_ns":7,"gap_count":9,"block_count":300,"slot_count":264,"busy_ratio":0.4,"launch_ns":60e6,"collective_count":96,"collectives_ns":300e6}`,
		subject, "do " + rule, int64(0), int64(1), int64(1), int64(3), 300 * ms}
}

// TestSummaryAdvice holds that advice is of the findings that could save most, one of a rule and stage, and none that could save little.
func TestSummaryAdvice(t *testing.T) {
	s := summarise(t, reportOf(threePasses("decode"), accountingOf("decode", busyParts()), answer("sources", "kind status reason path", []any{"nsys", "ok", nil, "a"}),
		answer("finding-rules", "finding query options detail", []any{"small-grids", "kernel-grids", "stage device source top", nil}),
		answer("findings", findingColumns, findingRow("small-grids", "decode", 100*ms, "k1"), findingRow("small-grids", "decode", 90*ms, "k2"), findingRow("queued", "decode", 10*ms, nil), findingRow("wave-tail", "decode", 2*ms, nil))))
	var rules []string
	for _, a := range s.Advice {
		rules = append(rules, a.ID)
	}
	if want := []string{"small-grids", "queued"}; !slices.Equal(rules, want) {
		t.Fatalf("rules %v, want %v", rules, want)
	}
	if len(s.Findings) != 4 || s.Findings[0].Query != "FROM kernel_grids('a', top := 0, stage := 'decode', device := 0)" {
		t.Errorf("findings %+v", s.Findings)
	}
	if a := s.Advice[0]; a.Subject != "k1" || a.Why != a.Number+": over 3 passes, 2 executions, mean 1.50 us, total 3.00 us; enough blocks for 4 to 5 of 132 SMs" ||
		a.Number != "decode 100 -> 66.7 ms per pass at best (33.3 % less)" || a.Command != "prof query kernel-grids --run a --stage decode --device 0 --top 0" {
		t.Errorf("advice %+v", a)
	}
}

// TestSummaryGain holds that what could be gained is said of the stage's own median pass, whatever the sums over passes are, and of a token where
// one is known.
func TestSummaryGain(t *testing.T) {
	pass := func(nth, span int64) []any {
		return []any{"decode", nth, int64(1), int64(7), false, span, 20 * ms, nth, int64(1), 6.25e6, int64(16)}
	}
	tokens := answer("passes", "stage pass source_id pid is_warmup gpu_span_ns gpu_busy_ns start_ns repeat token_time_ns decode_count", pass(1, 100*ms), pass(2, 100*ms), pass(3, 900*ms))
	for _, c := range []struct {
		passes       *frame.Frame
		saving, span float64
		isByPath     bool
		gain, said   string
	}{
		{nil, 40e6, 80e6, false, "100 -> 60.0 ms per pass at best", ""},
		{nil, 0, 80e6, false, "less than 1 % of 100 ms per pass", ""},
		{tokens, 84e6, 100e6, true, "6.25 -> 1.00 ms/token at best", "; with launches free it takes 1.00 ms/token, by the critical path: the CPU then runs ahead, so other idle time goes too"},
		{nil, 0, 80e6, true, "less than 1 % of 100 ms per pass", "; with launches free it still takes 100 ms per pass, by the critical path"},
		{tokens, 84.2e6, 100e6, false, "6.25 ms -> 988 us/token at best", ""},
	} {
		r := reportOf(threePasses("decode"), accountingOf("decode", busyParts()), answer("findings", findingColumns+" pass_saving_ns pass_span_ns is_by_path", append(findingRow("launch-bound", "decode", 290*ms, nil), c.saving, c.span, c.isByPath)))
		r.Frames["findings"].Rows[0][7] = judge.WholeFigures("launch-bound", r.Frames["findings"].Rows[0][7].(string))
		if c.passes != nil {
			r.Frames["passes"] = c.passes
		}
		s := summarise(t, r)
		if x := s.Findings[0]; x.Gain.Text() != c.gain || !strings.HasSuffix(x.Evidence, c.said) || c.said == "" && strings.Contains(x.Evidence, "critical path") {
			t.Errorf("%q, %q, want %q, %q", x.Gain.Text(), x.Evidence, c.gain, c.said)
		}
	}
}

// TestSummaryAdviceOnce holds that of what happened in one pass it is asked first whether that is warm-up.
func TestSummaryAdviceOnce(t *testing.T) {
	slow := func(number int64) *frame.Frame {
		var rows [][]any
		for i := range int64(3) {
			span := 37 * ms
			if i+1 == number {
				span = 226 * ms
			}
			rows = append(rows, []any{"decode", i + 1, int64(1), int64(7), false, span, 20 * ms, i, int64(1)})
		}
		return passesAnswer("passes", rows...)
	}
	r := reportOf(threePasses("decode"), slow(1), accountingOf("decode", []idlePart{{"compute", "busy", 100 * ms, 40 * ms}, {"host", "host", 200 * ms, 190 * ms}}),
		answer("findings", findingColumns, findingRow("host", "decode", 200*ms, nil), findingRow("launch-bound", "decode", 50*ms, nil)))
	s := summarise(t, r)
	if got, want := s.Advice[0].Advice, "nearly all of it is in pass 1, the first measured: if that is warm-up, exclude it (prof ingest --run a --warmup 1); otherwise do host"; got != want {
		t.Errorf("advice %q, want %q", got, want)
	}
	if got := s.Advice[1].Advice; got != "do launch-bound" {
		t.Errorf("advice %q", got)
	}
	if got, want := s.Stages[0].But, "nearly all of that time (190 ms) is in pass 1, the first of 3, which may be warm-up"; got != want {
		t.Errorf("but %q, want %q", got, want)
	}
	r.Frames["passes"] = slow(2)
	if got, want := summarise(t, r), "nearly all of that time (190 ms) is in pass 2 alone (of 3 passes)"; got.Stages[0].But != want {
		t.Errorf("but %q, want %q", got.Stages[0].But, want)
	} else if got, want := got.Advice[0].Advice, "check what differs in pass 2, which has nearly all of it (prof query passes --run a --stage decode); then do host"; got != want {
		t.Errorf("advice %q, want %q", got, want)
	}
	r.Frames["passes"] = slow(1)
	r.Frames["accounting"] = accountingOf("decode", []idlePart{{"compute", "busy", 80 * ms, 40 * ms}, {"collective-exposed", "busy", 90 * ms, 80 * ms}})
	if got, want := summarise(t, r).Stages[0], "nearly all of that time (80.0 ms) is in pass 1, the first of 3, which may be warm-up"; got.Bound != judge.CommBound || got.But != want {
		t.Errorf("bound %s, but %q, want %q", got.Bound, got.But, want)
	}
	r.Frames["accounting"] = accountingOf("decode", []idlePart{{"compute", "busy", 100 * ms, 40 * ms}, {"host", "host", 200 * ms, 190 * ms}})
	r.Frames["sources"] = answer("sources", "kind status reason path", []any{"workload", "ok", nil, "a"})
	if got, want := summarise(t, r).Advice[0].Advice, "nearly all of it is in pass 1, the first measured: if that is warm-up, exclude it (prof query passes --run a --stage decode shows it); otherwise do host"; got != want {
		t.Errorf("advice %q, want %q", got, want)
	}
}

// TestSummaryAdvicePlans holds that of a host that is busy before cuDNN's attention it is said why that may be, and of no other.
func TestSummaryAdvicePlans(t *testing.T) {
	for _, c := range [][3]string{
		{"attention", "cuDNN", "cuDNN is likely to build a plan for each new length: warm up with every length that follows, or take another attention backend (torch.backends.cuda.enable_cudnn_sdp(False))"},
		{"attention", "FlashAttention", "do host"},
		{"convolution", "cuDNN", "do host"},
	} {
		row := findingRow("host", "decode", 200*ms, nil)
		row[7] = judge.WholeFigures("host", fmt.Sprintf(`{"before":"fmha","before_role":%q,"before_library":%q,"before_ns":2e8}`, c[0], c[1]))
		r := reportOf(threePasses("decode"), accountingOf("decode", []idlePart{{"compute", "busy", 100 * ms, 40 * ms}, {"host", "host", 200 * ms, 70 * ms}}), answer("findings", findingColumns, row))
		if got := summarise(t, r).Advice[0].Advice; got != c[2] {
			t.Errorf("%s of %s: %q", c[0], c[1], got)
		}
	}
}

// TestSummaryAdviceReplays holds that nobody is told to use a CUDA graph who has one.
func TestSummaryAdviceReplays(t *testing.T) {
	for replays, want := range map[int]string{0: "do launch-bound", 3: "take what is still launched one by one into the CUDA graph too, or launch fewer, larger kernels"} {
		row := findingRow("launch-bound", "decode", 200*ms, nil)
		row[7] = judge.WholeFigures("launch-bound", fmt.Sprintf(`{"replay_count":%d,"launch_ns":1e8,"busy_ratio":0.3}`, replays))
		r := reportOf(threePasses("decode"), accountingOf("decode", []idlePart{{"compute", "busy", 100 * ms, 40 * ms}, {"launch", "launch-bound", 200 * ms, 70 * ms}}), answer("findings", findingColumns, row))
		if got := summarise(t, r).Advice[0].Advice; got != want {
			t.Errorf("%d replays: %q", replays, got)
		}
	}
}

// TestSummaryGraphs holds what is said of the graphs that a stage replays.
func TestSummaryGraphs(t *testing.T) {
	for want, rows := range map[string][][]any{
		"":                                {{"prefill", "node", int64(8)}},
		"a CUDA graph of 827 kernels":     {{"decode", "node", int64(827)}, {"decode", "node", int64(827)}, {"prefill", "node", int64(8)}},
		"CUDA graphs of 1 to 827 kernels": {{"decode", "node", int64(827)}, {"decode", "node", int64(1)}},
		"CUDA graphs":                     {{"decode", "node", int64(827)}, {"decode", "graph", nil}},
	} {
		if got := summarise(t, reportOf(threePasses("decode"), accountingOf("decode", busyParts()), answer("graphs", "stage mode kernels_per_replay", rows...))).Stages[0].Graphs; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestLargestWithAdvice holds of which kernels a summary says what to do: the largest of a stage, where no finding does.
func TestLargestWithAdvice(t *testing.T) {
	row := func(stage, kernel, limit, input, found string) []any {
		return []any{stage, kernel, "convolution", 0.2, limit, nil, "", "", "", "", nil, nil, nil, input, found, int64(3), int64(9 * ms), 1.0, 3 * ms, nil, int64(3), int64(0), int64(1), int64(1)}
	}
	s := summarise(t, reportOf(threePasses("decode"), accountingOf("decode", busyParts()), answer("large-kernels", largeColumns,
		row("decode", "a", "", "", ""), row("decode", "b", "tensor-cores", "bf16", ""), // the largest has none
		row("prefill", "c", "tensor-cores", "bf16", ""), row("prefill", "d", "tensor-cores", "bf16", ""),
		row("vision", "e", "tensor-cores", "bf16", "small-grids"), row("other", "f", "tensor-cores", "fp32", ""),
		row("said", "g", "tensor-cores", "bf16", "small-grids")), // by a finding too small to be listed
		answer("findings", findingColumns, findingRow("small-grids", "vision", 100*ms, "e"), findingRow("small-grids", "said", 100*ms, "e")),
		answer("bottlenecks", "kernel bound timeline_total_ns replayed_mean_ns launches", []any{"a", "memory", nil, 1e3, int64(1)})))
	if list := s.LargestWithAdvice(); len(list) != 2 || list[0].Name != "c" || list[1].Name != "g" || list[1].Found != "" {
		t.Errorf("%+v", list)
	}
	if got := s.Large[0].Why; got != "limit unknown: what Nsight Compute profiled is less than 90 % of its time" {
		t.Errorf("a kernel of which some was profiled: %q", got)
	}
}

// TestSummaryMissing holds what is said to be captured next, by what the run has.
func TestSummaryMissing(t *testing.T) {
	sources := func(kinds ...string) *frame.Frame {
		var rows [][]any
		for _, k := range kinds {
			rows = append(rows, []any{k, "ok", nil, k + ".file"})
		}
		return answer("sources", "kind status reason path", rows...)
	}
	measured := answer("overhead", "mode tool overhead_ratio stage", []any{"deep", "nsys", 0.01, nil})
	lossy := answer("conservation", "capture kernel_count kernel_sum_ns outside_ns unlaunched_count unlaunched_ns")
	lossy.Caveats = []frame.Caveat{{Kind: "tool-lost-data", Detail: "nsys-import-strings"}}
	for _, c := range []struct {
		name   string
		frames []*frame.Frame
		want   []string
	}{
		{"torch only", []*frame.Frame{sources("torch"), threePasses("decode"), accountingOf("decode", busyParts()), measured},
			[]string{"give the model's configuration and the tokens of each pass", "profile the kernels that take the most time with Nsight Compute"}},
		{"not of NVIDIA", []*frame.Frame{sources("torch"), threePasses("decode"), accountingOf("decode", busyParts()), answer("devices", "name", []any{"AMD Instinct MI300X"})},
			[]string{"give the model's configuration and the tokens of each pass"}},
		{"all but a baseline", []*frame.Frame{sources("nsys", "torch", "ncu"), threePasses("decode"), accountingOf("decode", busyParts()), utilisationOf("decode", 0.1, 0.1), answer("overhead", "mode tool overhead_ratio stage")},
			[]string{"measure the profiling overhead: record the workload without a profiler too"}},
		{"no stages", []*frame.Frame{sources("nsys"), accountingOf("(run)", busyParts()), measured},
			[]string{"mark the stages of the workload with NVTX ranges or record_function blocks, those of inference as prefill and decode", "profile the kernels that take the most time with Nsight Compute", "capture with the PyTorch profiler too"}},
		{"operators without the PyTorch profiler", []*frame.Frame{sources("nsys"), accountingOf("(run)", busyParts()), measured, answer("top-operators", "operator", []any{"aten::mm"})},
			[]string{"mark the stages of the workload with NVTX ranges or record_function blocks, those of inference as prefill and decode", "profile the kernels that take the most time with Nsight Compute"}},
		{"all passes are warm-up", []*frame.Frame{sources("nsys", "torch", "ncu"), accountingOf("(run)", busyParts()), measured, stageAnswer([]any{"decode", int64(0), nil, nil, nil, nil, nil, nil, int64(2)})},
			[]string{"measure passes after warm-up: run more passes, or count fewer as warm-up"}},
		{"ncu only", []*frame.Frame{sources("ncu"), answer("accounting", "stage")},
			[]string{"capture a timeline with Nsight Systems", "capture with the PyTorch profiler too"}},
		{"the importer lost all", []*frame.Frame{sources("nsys"), answer("accounting", "stage"), lossy},
			[]string{"capture with prof's own tracer (--tools prof), or with another version of Nsight Systems", "capture with the PyTorch profiler too"}},
		{"accounting was not asked", []*frame.Frame{sources("nsys"), threePasses("decode")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, a := range summarise(t, reportOf(c.frames...)).Advice {
				got = append(got, a.Advice)
				if a.Why == "" || !strings.HasPrefix(a.Command, "prof ") || a.SavingNs != 0 {
					t.Errorf("advice %+v", a)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("advice %q, want %q", got, c.want)
			}
		})
	}
}

// TestSummaryDoubts holds what figures are to be read with.
func TestSummaryDoubts(t *testing.T) {
	for _, c := range []struct {
		name   string
		frames []*frame.Frame
		want   string
	}{
		{"throttled", []*frame.Frame{answer("throttling", "pass device reason is_slowdown samples busy_samples busy_share_ratio", []any{"nsys-1", int64(0), "SW power cap", true, int64(40), int64(12), 0.3}, []any{"nsys-1", int64(0), "idle", false, int64(9), int64(0), nil})},
			"GPU 0 was throttled (SW power cap) in 30.0 % of the busy samples of recording nsys-1: with enough power and cooling times would be shorter; prof query throttling --run a"},
		{"throttled, work not told", []*frame.Frame{answer("throttling", "pass device reason is_slowdown samples busy_samples busy_share_ratio", []any{"nsys-1", int64(2), "HW slowdown", true, int64(40), nil, nil})},
			"GPU 2 was throttled (HW slowdown) in samples of recording nsys-1 (whether it was busy is unknown): with enough power and cooling times would be shorter; prof query throttling --run a"},
		{"shared", []*frame.Frame{answer("device-use", "device other_process_max_count", []any{int64(0), int64(0)}, []any{int64(1), int64(2)})},
			"other processes used GPU 1 while the workload ran: times are not the workload's alone"},
		{"overhead", []*frame.Frame{answer("overhead", "mode tool overhead_ratio stage", []any{"deep", "nsys", 0.123, nil}, []any{"kernels", "ncu", 40.0, nil})},
			"profiling overhead: under Nsight Systems (deep) the whole workload took 12.3 % longer than without a profiler, mostly in launches"},
		{"overhead in noise", []*frame.Frame{answer("overhead", "mode tool overhead_ratio stage noise_ratio reason", []any{"deep", "prof", nil, "decode", 0.4, "noise"}, []any{"deep", "prof", 0.3, nil, 0.1, nil})},
			"profiling overhead: how much longer a pass of decode takes under prof's tracer (deep) is not measurable, since recordings differ by up to 40 % by chance"},
		{"overhead not measured", []*frame.Frame{answer("overhead", "mode tool overhead_ratio stage", []any{"deep", "nsys", nil, nil})},
			"profiling overhead was not measured: no recording without a profiler succeeded"},
		{"partial", []*frame.Frame{answer("sources", "kind status reason path", []any{"nsys", "partial", "cut short at row 9", "a.sqlite"})},
			"only part of a.sqlite was read: cut short at row 9"},
		{"unattributed", []*frame.Frame{accountingOf("decode", []idlePart{{"compute", "busy", 90 * ms, 30 * ms}, {"unknown", "unknown", 10 * ms, 4 * ms}})},
			"for 10.0 % of the time of decode, GPU 0 was idle before work whose launch was not captured: the cause is unknown"},
		{"the profiler's own", []*frame.Frame{accountingOf("decode", []idlePart{{"compute", "busy", 95 * ms, 30 * ms}, {"profiler", "profiler", 5 * ms, 4 * ms}})},
			"for 5.0 % of the time of decode, GPU 0 was idle while the profiler worked"},
		{"slow first pass", []*frame.Frame{passesAnswer("passes", []any{"decode", int64(3), int64(1), int64(7), false, 100 * ms, ms, int64(7)}, []any{"decode", int64(1), int64(1), int64(7), true, 900 * ms, ms, int64(1)}, []any{"decode", int64(2), int64(1), int64(7), false, 300 * ms, ms, int64(5)}, []any{"decode", int64(4), int64(1), int64(7), false, 110 * ms, ms, int64(9)})},
			"the first measured pass of decode takes 300 ms, the median of the others 105 ms: it may be warm-up"},
		{"slow first of two passes", []*frame.Frame{passesAnswer("passes", []any{"decode", int64(1), int64(1), int64(7), false, 300 * ms, ms, int64(5)}, []any{"decode", int64(2), int64(1), int64(7), false, 110 * ms, ms, int64(9)})},
			"the first measured pass of decode takes 300 ms, the other 110 ms: it may be warm-up"},
		{"repeats that do not agree, whose passes do", []*frame.Frame{passesAnswer("passes", []any{"decode", int64(1), int64(1), int64(7), false, 100 * ms, ms, int64(1), int64(1)}, []any{"decode", int64(2), int64(1), int64(7), false, 101 * ms, ms, int64(2), int64(1)}, []any{"decode", int64(1), int64(2), int64(8), false, 140 * ms, ms, int64(3), int64(2)}, []any{"decode", int64(1), int64(3), int64(9), false, 99 * ms, ms, int64(4), int64(3)})},
			"the 3 repeats of decode vary by more than 10.0 %: their medians are 99.0 ms to 140 ms"},
		{"passes that do not repeat, the first of which may be warm-up", []*frame.Frame{stageAnswer([]any{"decode", int64(3), 100 * ms, 0.0, 100 * ms, 0.0, 0.0, 0.9, int64(0), 100 * ms, 99 * ms, 300 * ms, 100 * ms, 99 * ms, 300 * ms}), passesAnswer("passes", []any{"decode", int64(1), int64(1), int64(7), false, 300 * ms, ms, int64(1)}, []any{"decode", int64(2), int64(1), int64(7), false, 99 * ms, ms, int64(5)}, []any{"decode", int64(3), int64(1), int64(7), false, 100 * ms, ms, int64(9)})},
			"the passes of decode vary by more than 10.0 %: 99.0 ms to 300 ms, median 100 ms; the first measured one takes 300 ms, the median of the others 99.5 ms: it may be warm-up; prof query passes --run a --stage decode"},
		{"kernels without a launch", []*frame.Frame{answer("conservation", "capture kernel_count kernel_sum_ns outside_ns unlaunched_count unlaunched_ns", []any{"nsys", int64(10), 100 * ms, ms, int64(4), 40 * ms})},
			"the launches of 4 of 10 kernels (40.0 % of all kernel time) were not captured: their stage, and why the GPU idled before them, are unknown; prof query conservation --run a"},
		{"kernels outside every range", []*frame.Frame{answer("conservation", "capture kernel_count kernel_sum_ns outside_ns unlaunched_count unlaunched_ns", []any{"nsys", int64(10), 100 * ms, 30 * ms, int64(0), int64(0)})},
			"30.0 % of all kernel time was launched outside every range and belongs to no stage; prof query conservation --run a"},
		{"MFU of the model over 1", []*frame.Frame{utilisationOf("model", 3.18, 0.1)},
			"MFU of the model as a whole is 318.0 %: over 100 % means that an input is wrong (tokens, model, peak or precision)"},
		{"MFU over 1", []*frame.Frame{utilisationOf("decode", 1.2, 0.1)},
			"MFU of decode is 120.0 %: over 100 % means that an input is wrong (tokens, model, peak or precision)"},
		{"MFU not known", []*frame.Frame{utilisationOf("decode", nil, nil)},
			"MFU is unknown: the model's operations were not counted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			frames := []*frame.Frame{threePasses("decode"), accountingOf("decode", busyParts())}
			s := summarise(t, reportOf(append(frames, c.frames...)...))
			if !slices.Contains(s.Doubts, c.want) {
				t.Errorf("no doubt %q in %q", c.want, s.Doubts)
			}
			if c.name == "throttled" && (len(s.Doubts) != 1 || s.Stages[0].Bound != judge.BusyBound) {
				t.Errorf("bound %s, doubts %q", s.Stages[0].Bound, s.Doubts)
			}
		})
	}
}

// TestSummaryUtilisationNotes holds that caveats about utilisation are doubts about it, and the reason where it is not known.
func TestSummaryUtilisationNotes(t *testing.T) {
	stages, use := threePasses("decode"), utilisationOf("decode", 0.1, 0.2)
	warm, vision := frame.Caveat{Topic: "pass", Text: "2 warm-up passes are excluded"}, frame.Caveat{Topic: "mfu", Text: "vision is not counted"}
	stages.Caveats, use.Caveats = []frame.Caveat{warm}, []frame.Caveat{vision, warm}
	if s := summarise(t, reportOf(stages, use)); !slices.Equal(s.Doubts, []string{"MFU and MBU: vision is not counted"}) {
		t.Errorf("doubts %q", s.Doubts)
	}
	use.Rows[0][1] = nil
	if s := summarise(t, reportOf(stages, use)); s.Stages[0].Unknown != "vision is not counted" || s.Stages[0].MFU != nil {
		t.Errorf("stage %+v", s.Stages[0])
	}
}

// TestSummaryDearestDoubts holds that the stage whose passes differ by the most time is doubted first, and cold passes, which figures leave out, last.
func TestSummaryDearestDoubts(t *testing.T) {
	stages := stageAnswer([]any{"decode", int64(3), 1e6, 1e6, 0.8e6, 1e6, 40.2, 0.5, int64(1)}, []any{"prefill", int64(3), 5e6, 1e6, 0.8e6, 0.7e6, 40.2, 0.5, int64(1)})
	for i, most := range []float64{1.4e6, 13e6} {
		stages.Rows[i][stages.Index("gpu_span_median_ns")], stages.Rows[i][stages.Index("gpu_span_min_ns")], stages.Rows[i][stages.Index("gpu_span_max_ns")] = 0.8e6, 0.7e6, most
	}
	stages.Caveats = []frame.Caveat{{Kind: "cold-passes", Stage: "decode", TimeNs: 16e6, Text: "cold decode"}, {Kind: "cold-passes", Stage: "prefill", TimeNs: 179e6, Text: "cold prefill"}}
	var got []string
	for _, d := range summarise(t, reportOf(stages)).Doubts {
		for _, of := range []string{"the passes of prefill vary", "the passes of decode vary", "cold prefill", "cold decode"} {
			if strings.HasPrefix(d, of) {
				got = append(got, of)
			}
		}
	}
	if want := []string{"the passes of prefill vary", "the passes of decode vary", "cold prefill", "cold decode"}; !slices.Equal(got, want) {
		t.Errorf("doubts in the order %q, want %q", got, want)
	}
}

// TestSummaryWithoutStages holds what is said of a run without stages, and of one that was only profiled by Nsight Compute.
func TestSummaryWithoutStages(t *testing.T) {
	s := summarise(t, reportOf(accountingOf("(run)", busyParts()), answer("time-breakdown", "stage category kind total_ns stage_ns", []any{nil, "queued", "idle", ms, 10 * ms}, []any{nil, "cublas nvjet", "kernels", ms, 10 * ms})))
	if s.All == nil || s.All.Bound != judge.BusyBound || s.All.MeanNs != 300e6 || s.All.Passes != 0 {
		t.Errorf("all: %+v", s.All)
	}
	if len(s.Breakdown) != 2 || s.Breakdown[0].StageRatio != 0.1 || s.Breakdown[0].Stage != "" || s.Breakdown[0].Words != "GPU idle: waiting in the GPU's queue" || s.Breakdown[1].Words != "kernels: cublas nvjet" {
		t.Errorf("categories %+v", s.Breakdown)
	}
	scopes := stageAnswer()
	scopes.Caveats = []frame.Caveat{{Topic: "stage", Kind: "stages-without-passes", Subject: "decode, prefill"}}
	s = summarise(t, reportOf(scopes, accountingOf("(run)", busyParts())))
	if want := "the scopes of decode, prefill have no times: figures cover the whole capture, maybe with loading and warm-up; prof query stage-kernels --run a"; !slices.Contains(s.Doubts, want) || s.Timeless == "" {
		t.Errorf("doubts %q", s.Doubts)
	}
	if a := s.Advice; len(a) == 0 || a[0].Advice != "capture the passes of decode, prefill with Nsight Systems" {
		t.Errorf("advice %+v", a)
	}
	s = summarise(t, reportOf(answer("bottlenecks", "kernel bound timeline_total_ns replayed_mean_ns launches", []any{"k1", "latency", nil, 3e3, int64(2)}, []any{"k2", "memory", nil, 1e3, int64(2)})))
	if want := "Nsight Compute profiled 4 launches of 2 kernels in isolation; without a timeline, whether there were more is unknown; 75.0 % of their time is in kernels that are latency-bound (near neither peak: too little parallel work, or stalls), 25.0 % in kernels that are memory-bound"; s.All != nil || s.Profiled != want {
		t.Errorf("all %+v, profiled %q", s.All, s.Profiled)
	}
	// A kernel is said to be near the peak of the unit that limits it, with the number, and not of DRAM for L1.
	s = summarise(t, reportOf(answer("bottlenecks", "kernel bound limiter timeline_total_ns replayed_mean_ns launches memory_ratio grid block dram_ratio", []any{"matmul", "memory", "l1", nil, 277e3, int64(2), 0.891, "64", "16", 0.006}, []any{"saxpy", "memory", "dram", nil, 57e3, int64(6), 0.667, "6", "1", 0.667}, []any{"sum", "latency", "grid", nil, 1e3, int64(1), 0.5, "5", "2", 0.5}, []any{"few", "latency", "occupancy", nil, 100.0, int64(1), 0.5, "5", "2", 0.5}, []any{"slow", "latency", "long scoreboard", nil, 100.0, int64(1), 0.5, "5", "2", 0.5}),
		answer("ncu-rules", "kernel finding speedup_ratio scope grid block rule", []any{"saxpy", "Uncoalesced", 0.3, "global", "7", "1", "UncoalescedGlobalAccess"}, []any{"saxpy", "Stalls", 0.25, "global", "6", "1", "CPIStall"}, []any{"saxpy", "Low Compression Rate", 0.2, "global", "6", "1", "MemoryL2Compression"}, []any{"matmul", "Tail Effect", 0.25, "global", "64", "16", "LaunchConfiguration"}, []any{"matmul", "Bank Conflicts", 0.1, "local", "64", "16", "SharedMemoryConflicts"},
			[]any{"sum", "Low Compression Rate", 0.496, "global", "5", "2", "MemoryL2Compression"}, []any{"sum", "Achieved Occupancy", 0.495, "global", "5", "2", "AchievedOccupancy"}, []any{"few", "Stalls", 0.1, "global", "5", "2", "CPIStall"}, []any{"slow", "Long Scoreboard Stalls", 0.1, "global", "5", "2", "CPIStall"})))
	if want := "Nsight Compute profiled 11 launches of 5 kernels in isolation; without a timeline, whether there were more is unknown; 61.7 % of their time is in kernels that are memory-bound by L1 throughput (89.1 % of peak), 38.1 % in kernels that are memory-bound by DRAM throughput (66.7 % of peak)"; s.Profiled != want {
		t.Errorf("profiled %q, want %q", s.Profiled, want)
	}
	if want := []judge.ReplayedKernel{
		{"matmul", "61.7 % of the profiled time: 277 us in each of 2 launches when replayed", "memory-bound by L1 throughput (89.1 % of peak), not by DRAM (0.6 %), which the roofline is about", "Bank Conflicts: Nsight Compute estimates that a unit of the GPU could do 10.0 % better", "prof query ncu-rules --run a --kernel matmul"},
		{"saxpy", "38.1 % of the profiled time: 57.0 us in each of 6 launches when replayed", "memory-bound by DRAM throughput (66.7 % of peak)", "Low Compression Rate: Nsight Compute estimates up to 20.0 % less time without it", "prof query ncu-rules --run a --kernel saxpy"},
		{"sum", "0.1 % of the profiled time: 1.00 us in 1 launch when replayed", "latency-bound: the grid is too small to fill the GPU", "Achieved Occupancy: Nsight Compute estimates up to 49.5 % less time without it", "prof query ncu-rules --run a --kernel sum"},
		{"few", "0.01 % of the profiled time: 100 ns in 1 launch when replayed", "latency-bound: too few warps run at once", "", "prof query bottlenecks --run a --kernel few"},
		{"slow", "0.01 % of the profiled time: 100 ns in 1 launch when replayed", "latency-bound: warps stall for long scoreboard", "Long Scoreboard Stalls: Nsight Compute estimates up to 10.0 % less time without it", "prof query ncu-rules --run a --kernel slow"},
	}; !slices.Equal(s.Replayed, want) {
		t.Errorf("replayed %+v\nwant %+v", s.Replayed, want)
	}
	for launches, want := range map[int64]string{1: "1 launch of a graph as a whole, gaps between its kernels included; it is latency-bound", 4: "5 launches of graphs as wholes, gaps between their kernels included; 75.0 % of their time is in graphs that are latency-bound"} {
		rows := [][]any{{"(graph) decode", "latency", nil, 3e3, launches, "graph"}}
		if launches > 1 {
			rows = append(rows, []any{"(graph)", "memory", nil, 4e3, int64(1), "graph"})
		}
		s = summarise(t, reportOf(answer("bottlenecks", "kernel bound timeline_total_ns replayed_mean_ns launches kind", rows...)))
		if want := "Nsight Compute profiled " + want + " (near neither peak: too little parallel work, or stalls)"; s.Profiled != want {
			t.Errorf("profiled %q, want %q", s.Profiled, want)
		}
	}
	s = summarise(t, reportOf(answer("bottlenecks", "kernel bound timeline_total_ns replayed_mean_ns launches kind", []any{"(range) a", "unknown", nil, 3e3, int64(2), "range"}, []any{"(command list)", "unknown", nil, nil, int64(1), "cmdlist"})))
	if want := "Nsight Compute profiled 2 ranges as wholes, gaps between their kernels included; 100.0 % of their time is in ranges that are not classified by the measured metrics. Nsight Compute profiled 1 command list as a whole, gaps between its kernels included"; s.Profiled != want {
		t.Errorf("profiled %q, want %q", s.Profiled, want)
	}
	// Sums that nsys stats reported have the calls, by grid or not.
	profiled := func(k1, k2 any) string {
		return summarise(t, reportOf(answer("top-kernels", "kernel role family calls mean_ns total_ns share_ratio", []any{"k1", "gemm", "gemm", int64(2), 30e3, int64(60e3), 0.6}, []any{"k2", "gemm", "gemm", int64(1), 20e3, int64(20e3), 0.2}, []any{"k3", "gemm", "gemm", int64(1), 20e3, int64(20e3), 0.2}),
			answer("bottlenecks", "kernel bound timeline_total_ns replayed_mean_ns launches", []any{"k1", "latency", k1, 3e3, int64(2)}, []any{"k2", "memory", k2, 1e3, int64(2)}))).Profiled
	}
	for got, want := range map[string]string{
		profiled(int64(10e3), int64(20e3)): "by the reported sums they take 30.0 % of the kernel time; 66.7 % of their time is in kernels that are memory-bound, 33.3 % in kernels that are latency-bound (near neither peak: too little parallel work, or stalls)",
		profiled(nil, int64(20e3)):         "the reported sums have 1 of them, with 20.0 % of the kernel time; how often the others run is unknown; 100.0 % of their time is in kernels that are memory-bound",
		profiled(nil, nil):                 "the reported sums are not by grid, so how often each grid runs is unknown; 75.0 % of their time is in kernels that are latency-bound (near neither peak: too little parallel work, or stalls), 25.0 % in kernels that are memory-bound",
	} {
		if got != "Nsight Compute profiled 4 launches of 2 kernels in isolation; "+want {
			t.Errorf("profiled %q\nwant %q", got, want)
		}
	}
}

// TestLargeCollectives holds that a collective of a capture of one rank is looked up where it has rows.
func TestLargeCollectives(t *testing.T) {
	s := summarise(t, reportOf(answer("large-kernels", largeColumns, []any{"decode", "k", "collective", 0.5, "ranks", nil, "", "", "", "", nil, nil, nil, "", "", int64(3), 9 * ms, 1.0, 3e6, nil, int64(3), int64(0), int64(1), nil}), answer("late-ranks", "job_id")))
	if len(s.Large) != 1 || !strings.HasPrefix(s.Large[0].Command, "prof query collectives ") {
		t.Errorf("%+v", s.Large)
	}
}
