package chart

import (
	"fmt"
	"strings"
	"testing"

	"prof/render/rendertest"
)

// TestSamples holds the points of lines, where a line breaks, and what is shaded.
func TestSamples(t *testing.T) {
	f, err := newSampleFigure(rendertest.SamplesFrame(), rendertest.ThrottlingFrame())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Groups) != 1 || f.Groups[0].Title != "nsys-1, GPU 0" || len(f.Groups[0].Plots) != len(quantities) || strings.Contains(f.Hint, "are drawn") {
		t.Fatalf("%+v", f.Groups)
	}
	use := f.Groups[0].Plots[0]
	if len(use.Lines) != 2 || use.Lines[0].Points != "25.0,50.0 125.0,0.0 175.0,100.0" || use.Lines[1].Points != "975.0,100.0 975.0,100.0" {
		t.Errorf("the lines of SM use are %+v", use.Lines)
	}
	if use.Said != "mean 37.5 %, 0 to 100 %" || use.YTicks[2].Text != "100 %" || use.YTicks[0].At != Pixels(sampleHeight) {
		t.Errorf("it says %q, %v", use.Said, use.YTicks)
	}
	if len(use.Shades) != 2 || use.Shades[0] != (sampleShade{classSlowed, "0.000%", "5.000%", "sw_power_cap, gpu_idle from 0 to 10 ns"}) || use.Shades[1].Class != classUnknown || !strings.Contains(f.Hint, "Shaded: ") || !strings.Contains(f.Hint, "Shaded lightly: ") {
		t.Errorf("shaded is %+v", use.Shades)
	}
	if !strings.HasSuffix(use.Spoken, "; throttled: sw_power_cap, gpu_idle from 0 to 10 ns, bit 40 from 30 ns to 115 ns") {
		t.Errorf("it is spoken of as %q", use.Spoken)
	}
	clock := f.Groups[0].Plots[1]
	if len(clock.Lines) != 4 || clock.Lines[0].Class != "line extreme" || clock.YTicks[2].Text != "2 GHz" || clock.Said != "mean 1.50 GHz, 1.20 GHz to 1.50 GHz" {
		t.Errorf("the clock is %+v", clock)
	}
	if f, err = newSampleFigure(rendertest.SamplesFrame(), nil); err != nil || len(f.Groups[0].Plots[0].Shades) != 0 {
		t.Errorf("without throttling it shades %+v, %v", f.Groups[0].Plots[0].Shades, err)
	}
}

// TestSamplesNotTold holds that what NVML did not tell has no picture.
func TestSamplesNotTold(t *testing.T) {
	f := rendertest.SamplesFrame()
	for _, row := range f.Rows {
		row[7], row[8] = nil, nil
	}
	figure, err := newSampleFigure(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range figure.Groups[0].Plots {
		if p.Title == "SM clock" {
			t.Errorf("a clock that is not known is drawn: %+v", p)
		}
	}
}

// TestSamplesLeaveOut holds that many passes are not all drawn, and that it says which of the others were slowed down.
func TestSamplesLeaveOut(t *testing.T) {
	f := rendertest.SamplesFrame()
	f.Rows = nil
	for i := range groupsShown + 2 {
		var throttle any
		if i == groupsShown {
			throttle = "sw_power_cap"
		}
		f.Rows = append(f.Rows, rendertest.SampleRow(fmt.Sprintf("nsys-%d", i+1), 0, 0.5, throttle))
	}
	figure, err := newSampleFigure(f, rendertest.ThrottlingFrame())
	want := "The first 8 of 10 recordings and GPUs are drawn; the query gives the others. Throttled among the others: nsys-9, GPU 0."
	if err != nil || len(figure.Groups) != groupsShown || !strings.HasSuffix(figure.Hint, " "+want) {
		t.Errorf("%d, %q, %v", len(figure.Groups), figure.Hint, err)
	}
}

// TestCourses: a launch has a line for each unit that was busy, all on one scale; each sample stands for all of its time.
func TestCourses(t *testing.T) {
	row := func(launch int64, label any, metric string, start, end int64, value float64, samples int64) []any {
		return []any{launch, rendertest.Breakout, label, metric, start, end, value, "%", samples}
	}
	const of = ".avg.pct_of_peak_sustained_elapsed"
	f := rendertest.FrameOf("ncu-samples", "launch kernel label metric start_ns end_ns value unit samples",
		row(3, "L2 Throughput", "LTS.TriageCompute.lts__throughput"+of, -10, 10, 0, 1), row(3, "L2 Throughput", "LTS.TriageCompute.lts__throughput"+of, 10, 70, 20, 3),
		row(3, nil, "pmsampling:dramc__throughput"+of, 0, 80, 40, 4),
		row(3, "idle", "sm__pipe_tensor_cycles_active_realtime"+of, 0, 80, 0, 4), // was not busy
		row(3, "read", "dramc__read_throughput"+of, 0, 80, 40, 4),                // part of a unit
		row(3, "count", "sm__cycles_active.avg", 0, 80, 40, 4),                   // no share
		row(4, "idle", "sm__inst_executed_realtime"+of, 0, 80, 0, 4))
	figure, err := newCourseFigure(f)
	if err != nil || len(figure.Groups) != 1 || len(figure.Groups[0].Plots) != 2 {
		t.Fatalf("%+v, %v", figure, err)
	}
	l2, dram := figure.Groups[0].Plots[0], figure.Groups[0].Plots[1]
	if l2.Title != "L2 Throughput" || l2.Said != "mean 15.0 %, 0 to 20 %" || l2.Lines[0].Points != "0.0,100.0 250.0,100.0 250.0,60.0 1000.0,60.0" || l2.YTicks[2].Text != "50 %" {
		t.Errorf("%+v", l2)
	}
	if dram.Title != "pmsampling:dramc__throughput"+of || dram.Lines[0].Points != "0.0,20.0 1000.0,20.0" || !strings.HasSuffix(figure.Groups[0].Title, ", launch 3") {
		t.Errorf("%s: %+v", figure.Groups[0].Title, dram)
	}
	f.Rows = f.Rows[len(f.Rows)-1:]
	if figure, err := newCourseFigure(f); figure != nil || err != nil {
		t.Errorf("of nothing but zeros it is %+v, %v", figure, err)
	}
}
