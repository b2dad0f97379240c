package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/queries/judge"
	"prof/render/rendertest"
)

// ofSources is a report of a run with sources of these kinds and nothing else; the answer stages has caveats.
func ofSources(caveats []frame.Caveat, kinds ...string) *judge.Report {
	var rows [][]any
	for i, kind := range kinds {
		rows = append(rows, []any{int64(i + 1), kind, nil, "/data/" + kind, nil, nil, nil, nil, nil, "partial", "cut off", nil})
	}
	f := rendertest.FrameOf("sources", "source_id kind form path rank_id tool_version schema_version size_bytes sha256 status reason duration_ns", rows...)
	return &judge.Report{Name: "a", Frames: map[string]*frame.Frame{"sources": f, "stages": {Query: "stages", Caveats: caveats}, "accounting": {Query: "accounting"}, "top-kernels": {Query: "top-kernels"}, "devices": {Query: "devices"}}}
}

// TestWhyNone holds that what is said of an answer without rows is why it has none.
func TestWhyNone(t *testing.T) {
	held := frame.Caveat{Topic: "throttle", Kind: "gpu-throttled", Text: "GPU 0 was throttled"}
	others := frame.Caveat{Topic: "throttle", Kind: "gpu-shared", Text: "other processes used GPU 1"}
	no := frame.Caveat{Topic: "stage", Kind: "no-stage", Text: "no range is a stage"}
	lost := frame.Caveat{Topic: "launch", Kind: "kernels-without-launch", Text: "9 kernels have no launch in the capture"}
	partial := func(kind string) frame.Caveat {
		return frame.Caveat{Topic: "source", Kind: "source-partial", Subject: "/data/" + kind, Text: kind + " is partial"}
	}
	list := func(list ...frame.Caveat) []frame.Caveat { return list }
	for _, c := range []struct {
		r         *judge.Report
		key, want string
	}{
		{ofSources(list(held, others, partial("capture")), "workload", "capture"), "stages", noTimeline},
		{ofSources(nil, "ncu"), "stages", noTimeline + ", only what Nsight Compute profiled: see prof query bottlenecks and region-metrics"},
		{ofSources(list(held, others, no, partial("capture")), "nsys", "capture"), "stages", no.Text},
		{ofSources(list(lost, no), "nsys"), "stages", no.Text},
		{ofSources(list(held, partial("nsys"), partial("capture")), "nsys", "capture"), "stages", "nsys is partial"},
		{ofSources(list(held), "nsys", "capture"), "stages", "the query stages has no rows for this run"},
		{ofSources(nil, "torch"), "top-kernels", noneOnGPU},
		{ofSources(list(held), "nsys"), "devices", "no source names a GPU"},
		{ofSources(list(held), "nsys"), "captures", notCaptured},
		{ofSources(nil, "nsys", "capture"), "captures", "the query captures was not asked"},
		{&judge.Report{}, "captures", "the query captures was not asked"},
	} {
		if got := (&reader{Report: c.r}).whyNone(c.key); got != c.want {
			t.Errorf("%s: %q, want %q", c.key, got, c.want)
		}
	}
}

// TestNoKernels holds that a capture in which nothing ran on a GPU is told from one that was not made.
func TestNoKernels(t *testing.T) {
	whole := ofSources(nil, "nsys")
	whole.Frames["accounting"] = frametest.Fill(accountingFrame())
	whole.Frames["accounting"].Rows[0][2] = "graph"
	for want, r := range map[string]*judge.Report{"no timeline of the run": ofSources(nil, "ncu"), "no kernel ran on a GPU in the capture": ofSources(nil, "torch"), "only whole CUDA graphs": whole} {
		if text := fileText(t, r, markdown(kernelFile)); !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}

// TestFilesOfOtherMakers holds that no file advises tools of NVIDIA for GPUs of other makers.
func TestFilesOfOtherMakers(t *testing.T) {
	r := fileReport()
	r.Frames["sources"].Rows = r.Frames["sources"].Rows[:1]
	devices := r.Frames["devices"]
	for _, row := range devices.Rows {
		row[devices.Index("name")] = "AMD Instinct MI300X"
	}
	for _, key := range []string{"device-use", "overhead"} {
		r.Frames[key] = &frame.Frame{Query: key}
	}
	for name, write := range map[string]func(*bytes.Buffer, *reader){"kernels.md": markdown(kernelFile), "assumptions.md": markdown(assumptionsFile)} {
		text := fileText(t, r, write)
		if !strings.Contains(text, judge.NoTool) || strings.Contains(text, "prof capture --tools") || strings.Contains(text, "NVML") || strings.Contains(text, "--baseline") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// TestOperatorsOfAnotherCapture holds that operators.md says of which capture its operators are where there are two.
func TestOperatorsOfAnotherCapture(t *testing.T) {
	r := fileReport()
	r.Frames["conservation"].Rows = append(r.Frames["conservation"].Rows, []any{"torch", int64(57_000), int64(1), int64(1), int64(1), int64(0), int64(0), int64(0), int64(0), true, int64(0)})
	if text := fileText(t, r, markdown(operatorFile)); !strings.Contains(text, "Operators come from the PyTorch profiler's trace (57,000 kernels), source 2; kernels and stages in other files come from Nsight Systems (6 kernels)") {
		t.Errorf("with both: %s", text)
	}
	r.Frames["sources"].Rows = r.Frames["sources"].Rows[1:]
	if text := fileText(t, r, markdown(operatorFile)); strings.Contains(text, "Operators come from") {
		t.Errorf("with a trace alone: %s", text)
	}
}

// TestFaults holds that a utilisation over 1 stays a number and is named as an error in what was given.
func TestFaults(t *testing.T) {
	r := fileReport()
	f := r.Frames["mfu"]
	f.Rows[0][f.Index("mfu_ratio")] = 3.18
	f.Rows[1][f.Index("fault")], f.Rows[1][f.Index("mfu_ratio")] = "mfu-over-1", 7.3
	f.Rows[1][f.Index("mbu_ratio")] = 1.5
	o := parsed(t, fileText(t, r, writeMetrics))
	faults := o["faults"].(map[string]any)
	if o["mfu_model_level"] != 3.18 || len(faults) != 3 || faults["mfu_per_stage.prefill"] != "MFU is over 1: tokens, model, peak or precision must be wrong" {
		t.Errorf("%v: %v", o["mfu_model_level"], faults)
	}
	for _, path := range []string{"mfu_model_level", "mbu_per_stage.prefill"} {
		if why, _ := faults[path].(string); !strings.Contains(why, " is over 1: ") {
			t.Errorf("%s: %q", path, why)
		}
	}
	if faults := parsed(t, fileText(t, fileReport(), writeMetrics))["faults"].(map[string]any); len(faults) != 0 {
		t.Errorf("of a run without faults: %v", faults)
	}
}

// TestPeakOfOneGPU holds that metrics.json and assumptions.md say why there is no peak for a pass where there is one for a GPU.
func TestPeakOfOneGPU(t *testing.T) {
	for want, change := range map[string]func(row []any, f *frame.Frame){
		"how many GPUs work on a pass together is not known": func(row []any, f *frame.Frame) { row[f.Index("device_count")] = nil },
		"no measured pass has work on a GPU":                 func(row []any, f *frame.Frame) { row[f.Index("device_count")] = int64(0) },
		"the precision is not known":                         func(row []any, f *frame.Frame) { row[f.Index("precision")] = nil },
		"the GPU that ran the passes has no name":            func(row []any, f *frame.Frame) { row[f.Index("peak_origin")] = nil },
	} {
		r := fileReport()
		f := r.Frames["mfu"]
		for _, row := range f.Rows {
			row[f.Index("peak_flop_per_s")] = nil
			change(row, f)
		}
		missing := parsed(t, fileText(t, r, writeMetrics))["missing"].(map[string]any)
		if why, _ := missing["peak_tflops"].(string); !strings.Contains(why, want) {
			t.Errorf("peak_tflops: %q, want %q", why, want)
		}
		if text := fileText(t, r, markdown(assumptionsFile)); !strings.Contains(text, "The peak of all GPUs that a pass uses is not known: "+want) {
			t.Errorf("assumptions.md does not say %q", want)
		}
	}
	if text := fileText(t, fileReport(), markdown(assumptionsFile)); strings.Contains(text, "The peak of all GPUs that a pass uses is not known") {
		t.Error("a peak that is known is said not to be")
	}
}

// TestGPUNames holds that a GPU that did the work is named only by what names it, and that it is told which source does.
func TestGPUNames(t *testing.T) {
	devices := func(rows ...[]any) *judge.Report {
		return &judge.Report{Frames: map[string]*frame.Frame{"devices": rendertest.FrameOf("devices", "source_id device name compute_capability sm_count clock_hz memory_bytes memory_bytes_per_s l2_bytes uuid bus_id kernel_count", rows...)}}
	}
	gpu := func(source, device int64, name any, kernels int64) []any {
		return []any{source, device, name, nil, nil, nil, nil, nil, nil, nil, nil, kernels}
	}
	for _, c := range []struct {
		r    *judge.Report
		gpu  any
		why  string
		said []any
	}{
		{devices(gpu(1, 0, "A", 5), gpu(2, 0, "A", 0)), "A", "", nil},
		{devices(gpu(1, 0, "A", 5), gpu(1, 1, "B", 0)), "A", "", nil},
		{devices(gpu(1, 0, "A", 0), gpu(1, 9, nil, 5)), nil, "GPU 9, which ran kernels, is named by no source; the capture names A", []any{"GPU 9, which ran kernels, is named by no source"}},
		{devices(gpu(1, 0, "A", 5), gpu(2, 0, nil, 5)), "A", "", []any{"GPU 0 is A by source 1, and has no name in source 2"}},
		{devices(gpu(1, 0, "A", 0)), "A", "", nil},
		{devices(gpu(1, 0, "A", 1), gpu(2, 1, "B", 1)), "A, B", "", nil},
	} {
		o := parsed(t, fileText(t, c.r, writeEnvironment))
		why, _ := o["missing"].(map[string]any)["gpu"].(string)
		said, _ := o["gpu_names"].([]any)
		if o["gpu"] != c.gpu || why != c.why || !slices.Equal(said, c.said) {
			t.Errorf("%v, %q, %q; want %v, %q, %q", o["gpu"], why, said, c.gpu, c.why, c.said)
		}
	}
}
