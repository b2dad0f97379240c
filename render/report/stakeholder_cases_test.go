package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/render/words"
)

// holds checks that a text has lines.
func holds(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, want := range lines {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// glanceText is what report.md says first.
func glanceText(t *testing.T, r *judge.Report) string {
	t.Helper()
	g, err := newGlance(r)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := doc.Markdown(&out, []doc.Document{{Blocks: append([]doc.Block{doc.Lead{Text: g.Lead}}, g.section(nil).Blocks...)}}, typeset.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// plainReport is stakeholderReport of a run that is named plainly.
func plainReport() *judge.Report {
	r := stakeholderReport("decode")
	r.Name = "a"
	return r
}

// TestStakeholderRates holds that the median comes first, a deviation stands beside the mean that it is of, and numbers have three digits.
func TestStakeholderRates(t *testing.T) {
	holds(t, fileText(t, plainReport(), markdown(stakeholderFile)), "| Decode tokens/s | 54.9 | 47.3 | 17 | 3 |\n", "| Prefill tokens/s | 14,800 | 14,800 | - | 1 |\n", " Tokens in each pass of decode: 16. ")
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 14_849: "14,800", 569_180_160: "569 million", 2_929_825_024: "2.93 billion"} {
		if got := large(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

// TestStakeholderParts holds that the time of a part inside a stage is that of all its executions in a pass, and outside stages of one.
func TestStakeholderParts(t *testing.T) {
	holds(t, fileText(t, plainReport(), markdown(stakeholderFile)), "\nInside prefill, as part of its time: sam 22 ms, clip - (mean per pass).\n", "\nOutside any stage: projector 1 us (mean per execution).\n")
}

// TestStakeholderOver holds that a utilisation of more than all is marked wherever it is shown.
func TestStakeholderOver(t *testing.T) {
	r := plainReport()
	f := r.Frames["mfu"]
	f.Rows[0][1] = 7.328
	f.Rows = append(f.Rows, slices.Clone(f.Rows[0]))
	copy(f.Rows[len(f.Rows)-1], []any{"model", 3.18, 0.2, "bf16", "full", "gpu_span", nil, false})
	holds(t, fileText(t, r, markdown(stakeholderFile)), "| Model-level | 318.0 % (an input is wrong) | 20.0 % |\n", "| prefill | 732.8 % (an input is wrong) | ≥ 10.0 % |\n",
		"MFU of 732.8 % means that an input is wrong", "- MFU of the model as a whole is 318.0 %: over 100 % means that an input is wrong")
	holds(t, glanceText(t, r), "| 732.8 % (an input is wrong) | ≥ 10.0 % |")
}

// TestStakeholderCPU holds that a stage without work on a GPU has its time on the CPU, named as such, and no share of the time on the GPU.
func TestStakeholderCPU(t *testing.T) {
	r := plainReport()
	copy(r.Frames["stages"].Rows[0], []any{"prefill", int64(3), 5e6, nil, nil, nil, nil, nil, int64(1), 5e6, 4e6, 6e6, nil, nil, nil})
	text := fileText(t, r, markdown(stakeholderFile))
	holds(t, text, "Decode takes 100.0 % of the time on the GPU by median passes, 291 ms per pass as traced.", "Prefill takes 5 ms on the CPU; no GPU work can be attributed to it.", "| prefill | 5 ms (on the CPU) | 4 to 6 ms | 3 | - |\n", "On the CPU: no GPU work can be attributed to the stage")
	if strings.Contains(text, "dominates") {
		t.Error("a stage dominates one whose time is of something else")
	}
}

// TestStakeholderCaptures holds that operators and kernels of two captures are said to be of two executions, and of one are not.
func TestStakeholderCaptures(t *testing.T) {
	r := plainReport()
	const text = "Operators come from the PyTorch profiler's trace, all other times from the Nsight Systems capture: these are two executions of the program"
	if strings.Contains(fileText(t, r, markdown(stakeholderFile)), text) {
		t.Error("two executions of one capture")
	}
	f := r.Frames["sources"]
	f.Rows = append(f.Rows, slices.Clone(f.Rows[0]))
	copy(f.Rows[len(f.Rows)-1], []any{"torch", "ok", nil, "a.json"})
	holds(t, fileText(t, r, markdown(stakeholderFile)), text)
}

// TestGlanceGPUs holds that figures of one GPU of several and of all together are told apart.
func TestGlanceGPUs(t *testing.T) {
	r := plainReport()
	f := r.Frames["accounting"]
	for _, row := range f.Rows[2:] {
		second := append([]any{}, row...)
		second[1] = int64(1)
		f.Rows = append(f.Rows, second)
	}
	holds(t, glanceText(t, r), "| 10.0 % over 2 GPUs |", "60.0 % of ", " (600 ms over both GPUs): ")
}

// TestGlanceWarmup holds that stages of which all is warm-up are not said to be missing.
func TestGlanceWarmup(t *testing.T) {
	r := plainReport()
	stages := r.Frames["stages"]
	for _, row := range stages.Rows {
		row[1] = int64(0)
	}
	for _, row := range r.Frames["accounting"].Rows {
		row[0] = "(run)"
	}
	holds(t, glanceText(t, r), "All passes of prefill, decode count as warm-up: no stage was measured.")
	text := fileText(t, r, markdown(stakeholderFile))
	holds(t, text, "Not known: all passes of prefill, decode count as warm-up\n")
	if strings.Contains(text, "names no stages") || strings.Contains(text, "named as a stage") {
		t.Error("the capture is said to name no stages")
	}
}

// TestGlanceLate holds how a GPU that is waited for is spoken of.
func TestGlanceLate(t *testing.T) {
	late := judge.StageSummary{Bound: judge.LateBound, Label: "waits for GPU 1", Next: judge.HostBound, Meaning: "GPU 0 waits for GPU 1"}
	if got, want := words.BoundText(late), "It waits for GPU 1: GPU 0 waits for GPU 1. The late GPU is host-bound."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	late.Next = judge.WaitBound
	if got := words.BoundText(late); !strings.HasSuffix(got, " The late GPU idles while the CPU waits for a result, allocates memory or loads code.") {
		t.Errorf("%q", got)
	}
}

// TestGlanceNames holds that names of kernels are shortened alike, however many rows were asked for.
func TestGlanceNames(t *testing.T) {
	long := func(end string) []any {
		return []any{strings.Repeat("x", 80) + end, int64(4), int64(8), 2e6, 0.25, "copy", "f"}
	}
	const columns = "kernel calls total_ns mean_ns share_ratio role family"
	r := plainReport()
	whole := frametest.Answer("top-kernels", columns, long("first"), long("second"))
	r.Frames["top-kernels"] = whole
	all, err := newGlance(r)
	if err != nil {
		t.Fatal(err)
	}
	r.Whole = map[string]*frame.Frame{"top-kernels": whole}
	r.Frames["top-kernels"] = frametest.Answer("top-kernels", columns, long("first"))
	one, err := newGlance(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(one.Kernels) != 2 || one.Kernels[0].Short != all.Kernels[0].Short {
		t.Errorf("kernels %+v, want names as in %+v", one.Kernels, all.Kernels)
	}
}
