package render

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
)

func ptr(v float64) *float64 { return &v }

const vectorised = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>(int, T1)"

// screens are runs of several kinds, by the name of their golden files.
func screens() map[string]Screen {
	full := Screen{
		Facts: [][2]string{{"run", "a  captured 2025-11-21 09:40 UTC on box"}, {"gpus", "2 x NVIDIA H200"}, {"from", "nsys 2025.3.2, ncu 2025.3.1"},
			{"command", "python3 serve.py --model " + strings.Repeat("x", 60) + " --batch 32\x1b[2J"}, {"attribution", "exact, 41,760 kernels"}},
		Report: &judge.Report{Name: "a", Frames: map[string]*frame.Frame{
			"accounting": frameOf("accounting", "stage device part total_ns share_ratio span_total_ns",
				[]any{"prefill", n(0), "compute", n(900), 0.9, n(1000)}, []any{"prefill", n(0), "copy", n(100), 0.1, n(1000)},
				[]any{"prefill", n(1), "compute", n(1000), 0.5, n(2000)}, []any{"prefill", n(1), "collective-exposed", n(1000), 0.5, n(2000)},
				[]any{"decode", n(0), "compute", n(1), 0.01, n(100)}, []any{"decode", n(0), "launch", n(49), 0.49, n(100)}, []any{"decode", n(0), "host", n(50), 0.5, n(100)}),
			"top-kernels": frameOf("top-kernels", "rank kernel calls total_ns mean_ns share_ratio bound role family",
				[]any{n(1), "void flash::flash_fwd_kernel<Traits<128, 64>, true>(Flash_fwd_params)", n(41760), n(1234567890), 29563.4, 0.4123, "memory", "attention", "flash attention"},
				[]any{n(2), vectorised, n(20), n(823412001), 39435.4, 0.275, nil, "elementwise", "pytorch elementwise"},
				[]any{n(3), strings.Replace(vectorised, "_add", "_mul", 1), n(3), n(82341200), 3943.4, 0.0275, nil, "elementwise", "pytorch elementwise"},
				[]any{n(4), "生命の核🚀\x1b[31m", n(1), n(800), 800.0, 0.0000003, nil, nil, nil}),
			"top-operators": frameOf("top-operators", "rank operator calls self_device_ns self_cpu_ns share_ratio", []any{n(1), "aten::mm", n(12), n(500_000), n(90_000), 0.75}, []any{n(2), "aten::add", n(3), n(0), n(80_000), 0.0}, []any{n(3), "aten::mul", n(3), n(0), n(80_000), 0.0}, []any{n(4), "aten::cat", n(3), n(0), n(80_000), 0.0},
				[]any{n(5), "(graph replay)", nil, n(160_000), nil, 0.24}, []any{n(6), "(none)", nil, n(6_000), nil, 0.009}),
		}},
		Summary: judge.Summary{
			Stages: []judge.StageSummary{
				{Stage: "prefill", Passes: 3, MedianNs: 45.9e6, MinNs: 45.9e6 - 168e3, MaxNs: 45.9e6 + 168e3, MFU: ptr(0.4567), MBU: ptr(0.02), TokensPerS: ptr(14849.3), Bound: "communication"},
				{Stage: "decode", Passes: 1640, MedianNs: 398e6, MinNs: 391e6, MaxNs: 1.88e9, TokensPerS: ptr(40.17), Bound: "launch", Next: "host"},
				{Stage: "a stage with a name that is very long", Passes: 1, MedianNs: 398e3, IsCPU: true, Bound: "unknown"}},
			Advice: []judge.Advice{
				{Rule: "launch-bound", Title: "GPU idle because launches arrive late", Stage: "decode", SavingNs: 631_584_123, SpanNs: 1_194_000_000, ShareRatio: 0.5287, Bound: "at most", Why: "numbers",
					Text: "replay the work as a CUDA graph (torch.cuda.CUDAGraph, torch.compile with mode=\"reduce-overhead\", the graph mode of an engine), or launch fewer and larger kernels"},
				{Text: "capture with the PyTorch profiler too", Command: "prof capture --tools nsys,torch -- CMD..."}},
		},
		Doubts: []string{"the clock of GPU 0 was held down (sw_power_cap) in 25.0 % of the samples in which it worked: times are longer than they would be with enough power and cooling",
			"twice", "twice", "three", "four", "five", "six", "seven"},
		Next: []string{"prof explain a", "prof report a", "prof query stages --run a"},
	}
	whole := Screen{Report: &judge.Report{Frames: map[string]*frame.Frame{
		"accounting":    frameOf("accounting", "stage device part total_ns share_ratio span_total_ns", []any{"(run)", n(0), "graph", n(30), 0.3, n(100)}, []any{"(run)", n(0), "queued", n(70), 0.7, n(100)}),
		"top-operators": frameOf("top-operators", "rank operator calls self_device_ns self_cpu_ns share_ratio", []any{n(1), "aten::mm", n(12), n(0), n(90_000), nil}),
	}}, Summary: judge.Summary{All: &judge.StageSummary{MedianNs: 12.6e6, Bound: "queue"}}, Next: []string{"prof explain '" + strings.Repeat("long ", 20) + "'", "prof report a"}}
	profiled := Screen{Report: &judge.Report{Frames: map[string]*frame.Frame{
		"top-kernels": {Query: "top-kernels"},
		"bottlenecks": frameOf("bottlenecks", "kernel bound limiter sm_ratio memory_ratio launches replayed_mean_ns", []any{"tiled_matmul", "memory", "l1", 0.697, 0.89, n(2), 277_000.0}, []any{"transpose", "memory", "l2", 0.077, 0.79, n(2), 16_900.0})}},
		Summary: judge.Summary{Profiled: "Nsight Compute profiled 2 kernels", Advice: []judge.Advice{{Text: "capture a timeline", Command: "prof capture -- CMD..."}}}}
	onCPU := Screen{Report: &judge.Report{}, Summary: judge.Summary{Stages: []judge.StageSummary{{Stage: "prefill", Passes: 1, MedianNs: 1e6, IsCPU: true, Bound: "unknown"}}}, Facts: [][2]string{{"run", "cpu"}}}
	return map[string]Screen{"full": full, "whole": whole, "profiled": profiled, "cpu": onCPU}
}

func shown(t *testing.T, s Screen, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Show(&out, s, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestShow(t *testing.T) {
	for name, s := range screens() {
		for suffix, o := range map[string]Options{".60": {Width: 60}, ".80": {Width: 80}, ".200": {Width: 200}, ".wide": {Width: 60, Wide: true}, "": {}} {
			t.Run(name+suffix, func(t *testing.T) {
				compare(t, filepath.Join("testdata", "show", name+suffix+".txt"), []byte(shown(t, s, o)))
			})
		}
	}
	plain, coloured := shown(t, screens()["full"], Options{Width: 80}), shown(t, screens()["full"], Options{Width: 80, Color: true})
	if bare := strings.NewReplacer(bold, "", dim, "", "\x1b[0m", "").Replace(coloured); bare != plain || coloured == plain {
		t.Errorf("in colour:\n%s", coloured)
	}
}

// TestShowFits holds that no line is wider than the terminal, but for commands, which are to be copied.
func TestShowFits(t *testing.T) {
	for name, s := range screens() {
		for limit := 40; limit < 240; limit++ {
			text := shown(t, s, Options{Width: limit})
			body, _, _ := strings.Cut(text, "\nmore  ")
			for line := range strings.Lines(body) {
				if w := width(strings.TrimSuffix(line, "\n")); w > limit {
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
	bars, gpus, err := stageBars(s.Report.Frame("accounting"), s.Summary.Stages)
	if err != nil || gpus != 2 {
		t.Fatal(gpus, err)
	}
	var got []string
	for _, p := range bars[0].pieces {
		got = append(got, fmt.Sprintf("%s %d %.4f", p.name, p.ns, p.share))
	}
	if want := []string{"compute 1900 0.6333", "collective-exposed 1000 0.3333", "copy 100 0.0333"}; !slices.Equal(got, want) || bars[0].span != 3000 {
		t.Errorf("%q of %d, want %q", got, bars[0].span, want)
	}
	if len(bars[2].pieces) != 0 {
		t.Errorf("a stage without accounting has %v", bars[2])
	}
	for _, p := range parts {
		if partWords[p.name] == "" {
			t.Errorf("the legend has no word for %s", p.name)
		}
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
	if got := plainNames(in); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestShowOfOtherFrames holds that an answer without the columns is refused.
func TestShowOfOtherFrames(t *testing.T) {
	other := frameOf("other", "x", []any{n(1)})
	for key, want := range map[string]string{"accounting": "render other: it has no column total_ns", "top-kernels": "render other: it has no column kernel", "top-operators": "render other: it has no column self_device_ns"} {
		s := screens()["full"]
		s.Report.Frames[key] = other
		if err := Show(&bytes.Buffer{}, s, Options{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", key, err, want)
		}
	}
	if err := Show(failing{}, screens()["full"], Options{}); err == nil {
		t.Error("a writer that fails is not reported")
	}
}
