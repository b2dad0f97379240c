package chart

import (
	"strings"
	"testing"

	"prof/render/rendertest"
)

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
