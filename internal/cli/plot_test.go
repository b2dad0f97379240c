package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// TestPlot draws each kind of picture of real captures.
func TestPlot(t *testing.T) {
	t.Parallel()
	p := reading(t, testkit.Captures)
	for _, c := range []struct {
		args string
		want []string // texts of the picture
	}{
		{"stages ncu-llama", []string{"Stages of ncu-llama", "GPU busy", "decode, 1 pass"}},
		{"roofline ncu-llama", []string{"Roofline of ncu-llama", "NVIDIA H200", "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "DRAM 4,811 GB/s"}},
		{"roofline --run ncu-llama --stage decode", []string{"Roofline of ncu-llama, decode", "nvjet_sm90_tst_256x8_64x6_2x1_v_bz_TNT"}},
		{"samples ncu-samples", []string{"Throughput within kernels of ncu-samples", "saxpy(int, float, const float *, float *), launch 1", "DRAM Throughput: mean 64.8 %, 0.03 % to 74.9 %", "40 us"}},
		{"timeline kernels", []string{"Timeline of kernels", "GPU 0", "tiled_matmul", "552 us"}},
		{"timeline kernels --stage decode", []string{"Window ", "saxpy", "decode"}},
		{"timeline kernels --window 0s..362.45ms", []string{"Window 362.3", " to 362.45", "start of the capture", "copies and fills"}},
		{"timeline kernels --source nsys", []string{"Timeline of kernels", "tiled_matmul"}},
		{"stages kernels --source nsys", []string{"Stages of kernels", "decode"}},
		{"timeline engine-node --stage decode", []string{"Window 908.629 ms to 908.881 ms (252 us)", "decode, pass 6: 252 us<"}},
		{"diff kernels ncu-llama", []string{"ncu-llama against kernels", "prefill: "}},
	} {
		got := p.run(append([]string{"plot"}, strings.Fields(c.args)...)...)
		if got.code != 0 {
			t.Errorf("%s: code %d, %s", c.args, got.code, got.err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(got.out, want) {
				t.Errorf("%s lacks %q", c.args, want)
			}
		}
		for d := xml.NewDecoder(strings.NewReader(got.out)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", c.args, err)
				break
			}
		}
	}
	svg, pixels := p.path("stages.svg"), p.path("stages.png")
	if got := p.run("plot", "stages", "ncu-llama", "--out", svg); got.code != 0 || !strings.HasSuffix(got.err, "wrote "+svg+"\n") {
		t.Errorf("code %d, %s", got.code, got.err)
	}
	if text, err := os.ReadFile(svg); err != nil || string(text) != p.ok("plot", "stages", "ncu-llama") {
		t.Errorf("a file of %d bytes differs from the output: %v", len(text), err)
	}
	p.ok("plot", "stages", "ncu-llama", "-o", pixels)
	text, err := os.ReadFile(pixels)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := png.Decode(bytes.NewReader(text)); err != nil || m.Bounds().Dx() != 1920 {
		t.Errorf("PNG: %v", err)
	}
}

// TestPlotTrend follows the runs of a workload.
func TestPlotTrend(t *testing.T) {
	t.Parallel()
	p := reading(t, trendRuns)
	if got := p.ok("plot", "trend", "--stage", "decode"); !strings.Contains(got, "Trend of ./kernels, gpu_span_ns") || strings.Count(got, "<circle") != 14 || !strings.Contains(got, "decode 6.0 % slower from copy-7 on") {
		t.Errorf("got\n%s", got)
	}
	if got := p.ok("plot", "trend", "copy-3", "--metric", "gpu_busy_ns"); !strings.Contains(got, "Trend of ./kernels, gpu_busy_ns") || !strings.Contains(got, ">prefill<") {
		t.Errorf("of a run's workload:\n%s", got)
	}
}

// TestPlotMistakes: what is wrong is said before anything is drawn.
func TestPlotMistakes(t *testing.T) {
	t.Parallel()
	p := reading(t, filled)
	for want, args := range map[string]string{
		"plot takes what to draw: stages, roofline, samples, timeline, trend, diff": "",
		`no plot "stage"; did you mean stages?`:                                     "stage a",
		`no plot "pie": use one of stages, roofline`:                                "pie",
		"plot stages takes one run":                                                 "stages a b",
		"plot diff takes two runs or more, the base first":                          "diff a",
		"plot diff takes its runs as arguments":                                     "diff --run a",
		"two runs are given, a and --run b":                                         "stages a --run b",
		"plot stages takes no --stage":                                              "stages a --stage decode",
		"plot roofline takes no --window":                                           "roofline a --window 1ms..2ms",
		"give --stage or --window, not both":                                        "timeline a --stage decode --window 1ms..2ms",
		`--window "5ms": give two times, the earlier first`:                         "timeline a --window 5ms",
		"the earlier first, as in 10ms..12.5ms":                                     "timeline a --window 5ms..1ms",
		"begins after the last GPU work":                                            "timeline a --window 500s..600s",
		"ends before the first GPU work":                                            "timeline a --window 0s..1ns",
		"plot roofline takes no --source":                                           "roofline a --source torch",
		`no measured pass of a stage "decod"; it has`:                               "timeline a --stage decod",
		"a picture ends in .svg or .png":                                            "stages a --out x.jpg",
		`there is no metric "speed"`:                                                "trend a --metric speed",
	} {
		if got := p.run(append([]string{"plot"}, strings.Fields(args)...)...); got.code != 2 || got.out != "" || !strings.Contains(got.err, want) {
			t.Errorf("%q: code %d, %s, want %s", args, got.code, got.err, want)
		}
	}
	for _, kind := range []string{"stages", "timeline"} {
		if got := p.run("plot", kind, "a", "--source", "torch"); got.code != 1 || !strings.Contains(got.err, "nothing to draw") {
			t.Errorf("%s of a kind of capture that there is not: code %d, %s", kind, got.code, got.err)
		}
	}
	if got := p.run("plot", "roofline", "a"); got.code != 1 || !strings.Contains(got.err, "nothing to draw: no profiled launch") {
		t.Errorf("without a profile: code %d, %s", got.code, got.err)
	}
}
