package screen

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/queries/judge"
	"prof/queries/judge/serving"
	"prof/render/chart"
	"prof/render/doc"
	"prof/render/rendertest"
	"prof/render/typeset"
)

func ptr(v float64) *float64 { return &v }

const vectorised = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>(int, T1)"

// screens are runs of several kinds, by the name of their golden files.
func screens() map[string]Screen {
	full := Screen{
		Facts: [][2]string{{"run", "a  captured 2025-11-21 09:40 UTC on box"}, {"gpus", "2 x NVIDIA H200"}, {"from", "nsys 2025.3.2, ncu 2025.3.1"},
			{"command", "python3 serve.py --model " + strings.Repeat("x", 60) + " --batch 32\x1b[2J"}, {"attribution", "exact, 41,760 kernels"}},
		Report: &judge.Report{Name: "a", Frames: map[string]*frame.Frame{
			"accounting": rendertest.FrameOf("accounting", "stage device part total_ns share_ratio span_total_ns",
				[]any{"prefill", rendertest.N(0), "compute", rendertest.N(900), 0.9, rendertest.N(1000)}, []any{"prefill", rendertest.N(0), "copy", rendertest.N(100), 0.1, rendertest.N(1000)},
				[]any{"prefill", rendertest.N(1), "compute", rendertest.N(1000), 0.5, rendertest.N(2000)}, []any{"prefill", rendertest.N(1), "collective-exposed", rendertest.N(1000), 0.5, rendertest.N(2000)},
				[]any{"decode", rendertest.N(0), "compute", rendertest.N(1), 0.01, rendertest.N(100)}, []any{"decode", rendertest.N(0), "launch", rendertest.N(49), 0.49, rendertest.N(100)}, []any{"decode", rendertest.N(0), "host", rendertest.N(50), 0.5, rendertest.N(100)}),
			"top-kernels": rendertest.FrameOf("top-kernels", "rank kernel calls total_ns mean_ns share_ratio bound role family",
				[]any{rendertest.N(1), "void flash::flash_fwd_kernel<Traits<128, 64>, true>(Flash_fwd_params)", rendertest.N(41760), rendertest.N(1234567890), 29563.4, 0.4123, "memory", "attention", "flash attention"},
				[]any{rendertest.N(2), vectorised, rendertest.N(20), rendertest.N(823412001), 39435.4, 0.275, nil, "elementwise", "pytorch elementwise"},
				[]any{rendertest.N(3), strings.Replace(vectorised, "_add", "_mul", 1), rendertest.N(3), rendertest.N(82341200), 3943.4, 0.0275, nil, "elementwise", "pytorch elementwise"},
				[]any{rendertest.N(4), "生命の核🚀\x1b[31m", rendertest.N(1), rendertest.N(800), 800.0, 0.0000003, nil, nil, nil}),
			"top-operators": rendertest.FrameOf("top-operators", "rank operator calls self_device_ns self_cpu_ns share_ratio", []any{rendertest.N(1), "aten::mm", rendertest.N(12), rendertest.N(500_000), rendertest.N(90_000), 0.75}, []any{rendertest.N(2), "aten::add", rendertest.N(3), rendertest.N(0), rendertest.N(80_000), 0.0}, []any{rendertest.N(3), "aten::mul", rendertest.N(3), rendertest.N(0), rendertest.N(80_000), 0.0}, []any{rendertest.N(4), "aten::cat", rendertest.N(3), rendertest.N(0), rendertest.N(80_000), 0.0},
				[]any{rendertest.N(5), "(graph replay)", nil, rendertest.N(160_000), nil, 0.24}, []any{rendertest.N(6), "(none)", nil, rendertest.N(6_000), nil, 0.009}),
		}},
		Summary: judge.Summary{
			Stages: []judge.StageSummary{
				{Stage: "prefill", Passes: 3, MedianNs: 45.9e6, MinNs: 45.9e6 - 168e3, MaxNs: 45.9e6 + 168e3, BusyRatio: ptr(1.0), MFU: ptr(0.4567), MBU: ptr(0.02), TokensPerS: ptr(14849.3), Bound: "communication", Label: "communication-bound"},
				{Stage: "decode", Passes: 1640, MedianNs: 398e6, MinNs: 391e6, MaxNs: 1.88e9, BusyRatio: ptr(0.01), TokensPerS: ptr(40.17), Bound: "launch-bound", Label: "launch-bound", Next: "host"},
				{Stage: "a stage with a name that is very long", Passes: 1, MedianNs: 398e3, IsCPU: true, Bound: "unknown", Label: "unknown"}},
			Advice: []judge.Advice{
				{Finding: judge.Finding{ID: "launch-bound", Title: "GPU idle: launches arrive too late", Stage: "decode", SavingNs: 631_584_123, SpanNs: 1_194_000_000, ShareRatio: 0.5287, Bound: "at most", Gain: judge.Gain{NowNs: 18.2e6, ThenNs: 2.49e6, Per: "token", Bound: "at most"},
					Advice: "replay the work as a CUDA graph (torch.cuda.CUDAGraph, torch.compile with mode=\"reduce-overhead\", the graph mode of an engine), or launch fewer and larger kernels"}, Why: "numbers"},
				{Finding: judge.Finding{Advice: "capture with the PyTorch profiler too", Command: "prof capture --tools nsys,torch -- CMD..."}}},
		},
		Doubts: []string{"the clock of GPU 0 was held down (sw_power_cap) in 25.0 % of the samples in which it worked: times are longer than they would be with enough power and cooling",
			"twice", "twice", "three", "four", "five", "six", "seven"},
		Next: []string{"prof explain a", "prof report a", "prof query stages --run a"},
	}
	whole := Screen{Report: &judge.Report{Frames: map[string]*frame.Frame{
		"accounting":    rendertest.FrameOf("accounting", "stage device part total_ns share_ratio span_total_ns", []any{"(run)", rendertest.N(0), "graph", rendertest.N(30), 0.3, rendertest.N(100)}, []any{"(run)", rendertest.N(0), "queued", rendertest.N(70), 0.7, rendertest.N(100)}),
		"top-operators": rendertest.FrameOf("top-operators", "rank operator calls self_device_ns self_cpu_ns share_ratio", []any{rendertest.N(1), "aten::mm", rendertest.N(12), rendertest.N(0), rendertest.N(90_000), nil}),
	}}, Summary: judge.Summary{All: &judge.StageSummary{MedianNs: 12.6e6, BusyRatio: ptr(0.3), Bound: "queued", Label: "queue-bound"}}, Next: []string{"prof explain '" + strings.Repeat("long ", 20) + "'", "prof report a"}}
	profiled := Screen{Report: &judge.Report{Frames: map[string]*frame.Frame{
		"bottlenecks": rendertest.FrameOf("bottlenecks", "kernel bound limiter sm_ratio memory_ratio launches replayed_mean_ns kind", []any{"tiled_matmul", "memory", "l1", 0.697, 0.89, rendertest.N(2), 277_000.0, "kernel"}, []any{"transpose", "memory", "l2", 0.077, 0.79, rendertest.N(2), 16_900.0, "kernel"},
			[]any{"(graph) decode", "latency", nil, 0.002, 0.001, rendertest.N(2), 329_000.0, "graph"})}},
		Summary: judge.Summary{Profiled: "Nsight Compute profiled 2 kernels", Advice: []judge.Advice{{Finding: judge.Finding{Advice: "capture a timeline", Command: "prof capture -- CMD..."}}}}}
	onCPU := Screen{Report: &judge.Report{}, Summary: judge.Summary{Stages: []judge.StageSummary{{Stage: "prefill", Passes: 1, MedianNs: 1e6, IsCPU: true, Bound: "unknown", Label: "unknown"}}}, Facts: [][2]string{{"run", "cpu"}}}
	cause := func(kind, cause string, ns, iterations any) []any {
		return []any{kind, cause, ns, float64(ns.(int64)) / 672, float64(ns.(int64)) / 680, iterations, 14.9e6, 14.4e6, 14.3e6, 11.9e6, 14.6e6, 84.5e6, rendertest.N(1), rendertest.N(556), rendertest.N(0)}
	}
	served := Screen{Report: &judge.Report{Frames: map[string]*frame.Frame{
		"tpot-causes": rendertest.FrameOf("tpot-causes", "kind cause time_ns per_step_ns per_token_ns iteration_count step_mean_ns token_mean_ns all_token_mean_ns client_tpot_ns window_tpot_ns window_ttft_ns source_id pid device",
			cause("decode", "kernel", int64(5_819_180_000), int64(630)), cause("mixed", "host", int64(1_690_920_000), int64(43)), cause("mixed", "launch-bound", int64(850_050_000), int64(43)),
			cause("decode", "launch-bound", int64(696_710_000), int64(630)), cause("mixed", "kernel", int64(657_310_000), int64(43)), cause("between", "host", int64(144_920_000), nil), cause("decode", "wait", int64(8_840_000), int64(630)),
			[]any{"decode", "kernel", int64(9_000_000_000), 13.9e6, 14.2e6, int64(640), 14.5e6, 14.2e6, 14.3e6, 11.9e6, 14.6e6, 84.5e6, rendertest.N(1), rendertest.N(557), rendertest.N(1)})}},
		Next: []string{"prof query tpot-causes --run a"}}
	for _, s := range []Screen{full, whole, profiled, served} {
		for _, f := range s.Report.Frames {
			frametest.Fill(f)
		}
	}
	rows, err := serving.Causes.Of(served.Report.Frame("tpot-causes"))
	if err != nil {
		panic(err)
	}
	served.Summary.Served = serving.TokenOf(rows)
	return map[string]Screen{"full": full, "whole": whole, "profiled": profiled, "cpu": onCPU, "served": served}
}

func screenOf(t *testing.T, s Screen, o typeset.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out, s, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// write shows a run on a terminal.
func write(w io.Writer, s Screen, o typeset.Options) error {
	d, err := Show(s)
	if err != nil {
		return err
	}
	return doc.Terminal(w, []doc.Document{d}, o)
}

func TestShow(t *testing.T) {
	for name, s := range screens() {
		for suffix, o := range map[string]typeset.Options{".60": {Width: 60}, ".80": {Width: 80}, ".200": {Width: 200}, ".wide": {Width: 60, Wide: true}, "": {}} {
			t.Run(name+suffix, func(t *testing.T) {
				rendertest.Compare(t, filepath.Join("testdata", "show", name+suffix+".txt"), []byte(screenOf(t, s, o)))
			})
		}
	}
	for name, s := range screens() {
		d, err := Show(s)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := doc.Markdown(&out, []doc.Document{d}, typeset.Options{}); err != nil {
			t.Fatal(err)
		}
		rendertest.Compare(t, filepath.Join("testdata", "show", name+".md"), out.Bytes())
	}
	plain, coloured := screenOf(t, screens()["full"], typeset.Options{Width: 80}), screenOf(t, screens()["full"], typeset.Options{Width: 80, Color: true})
	if bare := strings.NewReplacer(typeset.Bold, "", typeset.Dim, "", "\x1b[0m", "").Replace(coloured); bare != plain || coloured == plain {
		t.Errorf("in colour:\n%s", coloured)
	}
}

// TestShowFits holds that no line is wider than the terminal, but for commands, which are to be copied.
func TestShowFits(t *testing.T) {
	for name, s := range screens() {
		for limit := 40; limit < 240; limit++ {
			text := screenOf(t, s, typeset.Options{Width: limit})
			body, _, _ := strings.Cut(text, "\nmore  ")
			for line := range strings.Lines(body) {
				if w := typeset.Width(strings.TrimSuffix(line, "\n")); w > limit {
					t.Errorf("%s in %d columns: %d wide: %q", name, limit, w, line)
				}
			}
			if strings.Contains(text, "\x1b") {
				t.Errorf("%s in %d columns has an escape", name, limit)
			}
		}
	}
}

// TestBarsTogether holds that the bar of several GPUs is cut by their times, not by the mean of their shares.
func TestBarsTogether(t *testing.T) {
	s := screens()["full"]
	bars, gpus, err := chart.StageBars(s.Report.Frame("accounting"), s.Summary.Stages)
	if err != nil || gpus != 2 {
		t.Fatal(gpus, err)
	}
	var got []string
	for _, p := range bars[0].Pieces {
		got = append(got, fmt.Sprintf("%s %.0f %.4f", p.Name, p.Ns, p.Share))
	}
	if want := []string{"compute 1900 0.6333", "collective-exposed 1000 0.3333", "copy 100 0.0333"}; !slices.Equal(got, want) || bars[0].Span != 3000 {
		t.Errorf("%q of %g, want %q", got, bars[0].Span, want)
	}
	if len(bars[2].Pieces) != 0 {
		t.Errorf("a stage without accounting has %v", bars[2])
	}
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{{0, ""}, {1, "████"}, {0.5, "██"}, {1.0 / 32, "▏"}, {1e-9, "▏"}, {15.0 / 32, "█▉"}} {
		if got := blocks(c.share, 4); got != c.want {
			t.Errorf("%g: %q, want %q", c.share, got, c.want)
		}
	}
}

func TestPlainNames(t *testing.T) {
	in := []string{"void a<int>(int, f(*)(int))", "void b(int)", "void b(float)", "c(T) const", "nvjet_TNT", "(anonymous)", "ops::operator()(int)"}
	want := []string{"a<int>", "void b(int)", "void b(float)", "c(T) const", "nvjet_TNT", "(anonymous)", "ops::operator()"}
	if got := typeset.PlainNames(in); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestShowOfOtherFrames holds that an answer without the columns is refused.
func TestShowOfOtherFrames(t *testing.T) {
	other := rendertest.FrameOf("other", "x", []any{rendertest.N(1)})
	for key, want := range map[string]string{"accounting": "query other: no column stage", "top-kernels": "query other: no column family", "top-operators": "query other: no column operator"} {
		s := screens()["full"]
		s.Report.Frames[key] = other
		if err := write(io.Discard, s, typeset.Options{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", key, err, want)
		}
	}
	if err := write(rendertest.Failing{}, screens()["full"], typeset.Options{}); err == nil {
		t.Error("a writer that fails is not reported")
	}
}

// TestShowOfUnknownNumbers holds the same of the screen of a run.
func TestShowOfUnknownNumbers(t *testing.T) {
	for name := range screens() {
		for key, f := range screens()[name].Report.Frames {
			rendertest.Changed(f, false, func(what string, f *frame.Frame) {
				s := screens()[name]
				s.Report.Frames[key] = f
				if err := write(io.Discard, s, typeset.Options{Width: 100}); err != nil {
					t.Errorf("%s: %s: %s: %v", name, key, what, err)
				}
			})
		}
	}
}
