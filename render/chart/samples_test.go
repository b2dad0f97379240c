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
