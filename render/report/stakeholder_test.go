package report

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/queries/judge"
	"prof/render/rendertest"
	"prof/render/typeset"
)

// stakeholderReport is a report with every answer that the summary page shows. Its stage is named so that it would break out of its place.
func stakeholderReport(stage string) *judge.Report {
	ms := int64(1_000_000)
	r := &judge.Report{Name: rendertest.Breakout, Facts: [][2]string{{"captured", "2026-11-21 09:31:29 UTC on gpuhost"}, {"command", "python " + rendertest.Breakout}}, Frames: map[string]*frame.Frame{}}
	for _, f := range []*frame.Frame{
		rendertest.FrameOf("sources", "kind status reason path", []any{"nsys", "partial", "cut short", rendertest.Hostile}),
		rendertest.FrameOf("devices", "device name kernel_count", []any{int64(0), "NVIDIA H200", int64(5)}, []any{int64(1), "NVIDIA H200", int64(5)}, []any{int64(0), "NVIDIA H200", int64(0)}),
		rendertest.FrameOf("facts", "key value", []any{"driver.version", "580.159.04"}),
		rendertest.FrameOf("aggregates", "metric stage unit value mean std median passes basis", []any{"decode_tokens", "decode", "count", 16.0, 16.0, 0.0, 16.0, int64(3), "gpu_span"}, []any{"prefill_ns", "prefill", "ns", 45.86e6, 45.86e6, nil, 45.86e6, int64(1), "gpu_span"},
			[]any{"decode_tokens_per_s", "decode", "tokens_per_s", 54.9, 47.33, 17.0, 54.9, int64(3), "gpu_span"}, []any{"prefill_tokens_per_s", "prefill", "tokens_per_s", 14849.0, 14849.0, nil, 14849.0, int64(1), "gpu_span"},
			[]any{"workload_decode_ns", "decode", "ns", 398.3e6, 398.3e6, 1e5, 291e6, int64(3), "workload"}),
		rendertest.FrameOf("stages", "stage passes cpu_mean_ns cpu_std_ns gpu_span_mean_ns gpu_span_std_ns gpu_span_tokens_per_s busy_ratio warmup_passes "+medianColumns,
			[]any{"prefill", int64(1), 46e6, nil, 45.86e6, nil, nil, 0.95, int64(1), 46e6, 46e6, 46e6, 45.86e6, 45.86e6, 45.86e6}, []any{stage, int64(3), 400e6, 1e6, 398e6, 189e6, 40.2, 0.1, int64(1), 300e6, 290e6, 620e6, 291e6, 287e6, 617e6}),
		rendertest.FrameOf("stage-notes", "stage note gpu_span_mean_ns pass_mean_ns instances", []any{"prefill", "sam", 11e6, 22e6, int64(6)}, []any{"prefill", "clip", nil, nil, int64(3)}, []any{"(none)", "projector", 1e3, nil, int64(3)}),
		rendertest.FrameOf("accounting", "stage device part kind total_ns share_ratio passes span_total_ns max_ns", []any{"prefill", int64(0), "compute", "busy", 95 * ms, 0.95, int64(1), 100 * ms, 95 * ms}, []any{"prefill", int64(0), "queued", "queued", 5 * ms, 0.05, int64(1), 100 * ms, 5 * ms},
			[]any{stage, int64(0), "compute", "busy", 100 * ms, 0.1, int64(3), 1000 * ms, 40 * ms}, []any{stage, int64(0), "launch", "launch-bound", 600 * ms, 0.6, int64(3), 1000 * ms, 210 * ms}, []any{stage, int64(0), "host", "host", 300 * ms, 0.3, int64(3), 1000 * ms, 290 * ms}),
		rendertest.FrameOf("time-breakdown", "stage category kind total_ns stage_ns", []any{stage, "launch-bound", "idle", 600 * ms, 1000 * ms}, []any{stage, "host", "idle", 300 * ms, 1000 * ms}, []any{"prefill", rendertest.Breakout, "kernels", 95 * ms, 100 * ms}, []any{"prefill", "queued", "idle", 5 * ms, 100 * ms}),
		rendertest.FrameOf("mfu", "stage mfu_ratio mbu_ratio precision convention time_basis part_of is_least fault peak_flop_per_s peak_origin device_count", []any{"prefill", 0.55, 0.1, "bf16", "full", "gpu_span", nil, true, nil, 1978.8e12, "datasheet", int64(2)},
			[]any{stage, nil, nil, "bf16", "full", "gpu_span", nil, false, "tokens of " + stage, 1978.8e12, "datasheet", int64(2)}, []any{"vision", nil, nil, "bf16", "full", "gpu_span", "prefill", false, nil, 1978.8e12, "datasheet", int64(2)}),
		rendertest.FrameOf("mbu", "stage peak_bytes_per_s", []any{"prefill", 9.6e12}),
		rendertest.FrameOf("top-operators", "operator calls total_cpu_ns total_device_ns", []any{rendertest.Breakout, int64(4), 8 * ms, 6 * ms}, []any{"aten::mm", int64(3), ms, nil}),
		rendertest.FrameOf("top-kernels", "kernel calls total_ns mean_ns share_ratio role family", []any{rendertest.Breakout, int64(4), 8 * ms, 2e6, 0.25, "copy", "g"}, []any{strings.Repeat("a|b*c_", 40), int64(4), 8 * ms, 2e6, 0.25, "copy", "f"}, []any{"k3", int64(1), ms, 1e6, 0.25, "copy", "f"}, []any{"k4", int64(1), ms, 1e6, 0.25, "copy", "f"}, []any{"k5", int64(1), ms, 1e6, 0.25, "copy", "f"}, []any{"k6", int64(1), ms, 1e6, 0.25, "copy", "f"}),
		rendertest.FrameOf("kernel-devices", "kernel device share_ratio", []any{"k3", int64(0), 0.5}, []any{"k3", int64(1), 0.5}),
		rendertest.FrameOf("overhead", "mode tool overhead_ratio stage", []any{"deep", "nsys", 0.2, nil}),
		rendertest.FrameOf("findings", "rank finding stage saving_ns share_ratio bound title evidence subject advice device device_count run_device_count passes span_ns",
			[]any{int64(1), "launch-bound", stage, 600 * ms, 0.6, "at most", "GPU idle: launches arrive too late", `{"max_ns":0,"median_ns":0,"pass_count":0,"busy_ratio":0.1,"launch_ns":600000000,"launch_delay_ns":0,"launch_latency_ns":0,"single_count":0,"single_ns":0,"replay_count":0,"graph_ratio":null}`, rendertest.Breakout, "replay " + rendertest.Breakout, int64(0), int64(1), int64(1), int64(3), 1000 * ms},
			[]any{int64(2), "host", stage, 300 * ms, 0.3, "at most", "GPU idle: CPU busy outside CUDA", `{"max_ns":0,"median_ns":0,"pass_count":0}`, nil, "move work", int64(0), int64(1), int64(1), int64(3), 1000 * ms}),
		rendertest.FrameOf("finding-rules", "finding query options detail", []any{"launch-bound", "pass-accounting", "stage device", "gaps"}, []any{"host", "pass-accounting", "stage device", "gaps"}),
	} {
		r.Frames[f.Query] = frametest.Fill(f)
	}
	r.Frames["top-kernels family"] = frametest.Fill(rendertest.FrameOf("top-kernels", "kernel calls total_ns mean_ns share_ratio", []any{"gemm", int64(900), 15 * ms, 16e3, 0.6}, []any{"(unclassified)", int64(4), 8 * ms, 2e6, 0.4}))
	return r
}

// ncuOnly is the report of a run that was only profiled by Nsight Compute.
func ncuOnly() *judge.Report {
	r := &judge.Report{Name: "k", Frames: map[string]*frame.Frame{
		"sources":     rendertest.FrameOf("sources", "kind status reason path", []any{"ncu", "ok", nil, "k.ncu-rep"}),
		"bottlenecks": rendertest.FrameOf("bottlenecks", "kernel bound timeline_total_ns replayed_mean_ns launches", []any{"k1", "latency", nil, 3e3, int64(2)}, []any{"k2", "memory", nil, 1e3, int64(2)}),
	}}
	for _, query := range []string{"stages", "accounting", "aggregates", "mfu", "top-operators", "top-kernels"} {
		r.Frames[query] = frametest.Fill(&frame.Frame{Query: query, Version: 1, Notes: []string{"the run has no timeline"}})
	}
	for _, f := range r.Frames {
		frametest.Fill(f)
	}
	return r
}

func TestStakeholder(t *testing.T) {
	for name, r := range map[string]*judge.Report{"stakeholder_summary.md": stakeholderReport("decode"), "stakeholder_summary.ncu.md": ncuOnly()} {
		rendertest.Compare(t, filepath.Join("testdata", "report", name), []byte(fileText(t, r, markdown(stakeholderFile))))
	}
}

// TestStakeholderMarkdown holds that names stay in their cells and read as typed, whatever is in them.
func TestStakeholderMarkdown(t *testing.T) {
	text := fileText(t, stakeholderReport("decode|*x*"), markdown(stakeholderFile))
	page := rendertest.AsHTML(t, text)
	rendertest.OnlyOurs(t, page)
	want := 0
	for _, row := range rendertest.TableCells(page) {
		want += strings.Count(strings.Join(row, "\n"), "decode|*x*")
	}
	if want != 2 {
		t.Errorf("the stage is in %d cells of tables, want those of timings and MFU", want)
	}
	if n := strings.Count(rendertest.ShownText(page), rendertest.Breakout); n != 4 {
		t.Errorf("the name is shown as it is %d times, want 4: title, command, category and advice", n)
	}
	for _, title := range []string{"Environment", "Aggregates", "Per-Stage Timings", "MFU", "Stage Takeaways", "Top Operators", "Top Kernels", "Recommendations"} {
		if strings.Count(text, "\n## "+title+"\n") != 1 {
			t.Errorf("the section %s is not there once", title)
		}
	}
}

// TestStakeholderIncomplete holds that a report without what the page is about is an error.
func TestStakeholderIncomplete(t *testing.T) {
	if err := file(markdown(stakeholderFile))(&bytes.Buffer{}, &judge.Report{Name: "a"}); err == nil {
		t.Error("no error")
	}
}

// TestGlance holds what report.md begins with, and that report.html says the same.
func TestGlance(t *testing.T) {
	r := stakeholderReport("decode")
	md := fileText(t, r, markdown(reportFile))
	_, glanced, _ := strings.Cut(md, "\n\n")
	rendertest.Compare(t, filepath.Join("testdata", "report", "glance.md"), []byte(glanced))
	page := fileText(t, r, writeHTML)
	_, section, _ := strings.Cut(page, `<main`)
	section, _, _ = strings.Cut(section, "</section>\n<section id=\"section-")
	rendertest.Compare(t, filepath.Join("testdata", "report", "glance.html"), []byte(section))
	if strings.Contains(page, "<script>alert") {
		t.Error("a name gets out of its place")
	}
}

// TestGlanceOfSections holds that a report of chosen sections has no summary of what was not asked.
func TestGlanceOfSections(t *testing.T) {
	r := stakeholderReport("decode")
	delete(r.Frames, "accounting")
	if g, err := newGlance(r); g != nil || err != nil {
		t.Errorf("glance %v, error %v", g, err)
	}
}

// TestSentence holds that any first letter becomes a capital.
func TestSentence(t *testing.T) {
	for text, want := range map[string]string{"": "", "prefill": "Prefill", "état": "État", "解码": "解码", "2nd": "2nd"} {
		if got := typeset.Sentence(text); got != want {
			t.Errorf("%q begins a sentence as %q, want %q", text, got, want)
		}
	}
}

// TestPeaksWithoutPasses holds that the peaks of the run's GPU are said where no pass says by which its work is measured.
func TestPeaksWithoutPasses(t *testing.T) {
	peak := func(device, resource string, flop, bytes any) []any { return []any{device, resource, flop, bytes} }
	h200 := func() [][]any {
		return [][]any{peak("NVIDIA H200", "dram", nil, 4.8e12), peak("NVIDIA H200", "fp16", nil, nil), peak("NVIDIA H200", "fp32", 66.9e12, nil), peak("NVIDIA H200", "tensor_bf16", 989.4e12, nil)}
	}
	for name, c := range map[string]struct {
		rows        [][]any
		flop, bytes string
	}{
		"one":  {h200(), "66.9 TFLOP/s, fp32 outside tensor cores; 989 TFLOP/s, dense bf16", "4.8 TB/s"},
		"two":  {append(h200(), peak("NVIDIA L4", "dram", nil, 0.3e12)), "not known", "not known"},
		"none": {h200()[1:2], "not known", "not known"},
	} {
		r := &judge.Report{Name: "a", Frames: map[string]*frame.Frame{"peaks": frametest.Fill(rendertest.FrameOf("peaks", "device resource peak_flop_per_s peak_bytes_per_s", c.rows...))}}
		p := &stakeholder{reader: &reader{Report: r}}
		if flop, bytes := p.peakFlop(), p.peakBandwidth(); flop != c.flop || bytes != c.bytes {
			t.Errorf("%s: %q, %q", name, flop, bytes)
		}
	}
}
