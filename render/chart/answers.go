package chart

import (
	"prof/queries/frame"
	"prof/queries/judge"
)

// What pictures read of answers.
var (
	partRows     = frame.RowsOf[partRow]("accounting")
	stageRows    = frame.RowsOf[stageRow]("stages")
	kernelRows   = frame.RowsOf[kernelRow]("stage-kernels")
	durationRows = frame.RowsOf[durationRow]("kernel-durations")
	launchRows   = frame.RowsOf[launchRow]("roofline")
	ceilingRows  = frame.RowsOf[ceilingRow]("ceilings")
	sampleRows   = frame.RowsOf[sampleRow]("sample-series")
	courseRows   = frame.RowsOf[courseRow]("ncu-samples")
	throttleRows = frame.RowsOf[throttleRow]("throttling")
	latenessRows = frame.RowsOf[latenessRow]("rank-passes")
	blockRows    = frame.RowsOf[blockRow]("timeline-blocks")
	passRows     = frame.RowsOf[passRow]("timeline-passes")
	gapRows      = frame.RowsOf[gapRow]("longest-gaps")
	windowRows   = frame.RowsOf[windowRow]("timeline-windows")
	workRows     = frame.RowsOf[workRow]("timeline-kernels")
	callRows     = frame.RowsOf[callRow]("timeline-calls")
	rangeRows    = frame.RowsOf[rangeRow]("timeline-ranges")
	clockRows    = frame.RowsOf[clockRow]("clock-offsets")
)

// partRow is a row of accounting.
type partRow struct {
	Stage  string   `col:"stage"`
	Device int64    `col:"device"`
	Part   string   `col:"part"`
	Ns     *float64 `col:"median_pass_ns"`
	SpanNs *float64 `col:"median_pass_span_ns"`
}

// stageRow is a row of stages.
type stageRow struct {
	Stage         string   `col:"stage"`
	Passes        int64    `col:"passes"`
	CPUMeanNs     *float64 `col:"cpu_mean_ns"`
	CPUStdNs      *float64 `col:"cpu_std_ns"`
	GPUSpanMeanNs *float64 `col:"gpu_span_mean_ns"`
	GPUSpanStdNs  *float64 `col:"gpu_span_std_ns"`
	GPUBusyMeanNs *float64 `col:"gpu_busy_mean_ns"`
	GPUBusyStdNs  *float64 `col:"gpu_busy_std_ns"`
}

// kernelRow is a row of stage-kernels.
type kernelRow struct {
	Stage      string   `col:"stage"`
	Kernel     string   `col:"kernel"`
	Calls      int64    `col:"calls"`
	TotalNs    int64    `col:"total_ns"`
	ShareRatio *float64 `col:"share_ratio"` // of no time it is not defined
	Role       string   `col:"role"`
}

// durationRow is a row of kernel-durations: a bin.
type durationRow struct {
	Kernel        string   `col:"kernel"`
	FromNs        *float64 `col:"from_ns"`
	ToNs          *float64 `col:"to_ns"`
	Calls         int64    `col:"calls"`
	TotalNs       int64    `col:"total_ns"`
	KernelCalls   int64    `col:"kernel_calls"`
	KernelTotalNs int64    `col:"kernel_total_ns"`
	MedianNs      *float64 `col:"median_ns"`
}

// launchRow is a row of roofline: a launch in one precision.
type launchRow struct {
	Launch           int64    `col:"launch"`
	Kernel           string   `col:"kernel"`
	Resource         string   `col:"resource"`
	AttainedRatio    *float64 `col:"attained_ratio"`
	Side             string   `col:"side"`
	AchievedFlopPerS *float64 `col:"achieved_flop_per_s"`
	Intensity        *float64 `col:"intensity"`
	Flop             *float64 `col:"flop"`
	Stage            string   `col:"stage"`
	Device           string   `col:"device"`
}

// ceilingRow is a row of ceilings.
type ceilingRow struct {
	Device        string   `col:"device"`
	Resource      string   `col:"resource"`
	Basis         string   `col:"basis"`
	PeakFlopPerS  *float64 `col:"peak_flop_per_s"`
	PeakBytesPerS *float64 `col:"peak_bytes_per_s"`
}

// sampleRow is a row of sample-series: a part of a recording's time.
type sampleRow struct {
	Pass            string   `col:"pass"`
	Device          int64    `col:"device"`
	StartNs         float64  `col:"start_ns"`
	EndNs           float64  `col:"end_ns"`
	SampleCount     int64    `col:"sample_count"`
	SMRatio         *float64 `col:"sm_ratio"`
	SMClockHz       *float64 `col:"sm_clock_hz"`
	SMClockMinHz    *float64 `col:"sm_clock_min_hz"`
	MemoryUsedBytes *float64 `col:"memory_used_bytes"`
	PowerW          *float64 `col:"power_w"`
	PowerMaxW       *float64 `col:"power_max_w"`
	TemperatureC    *float64 `col:"temperature_c"`
	Throttle        string   `col:"throttle"`
}

// courseRow is a row of ncu-samples: a metric over a part of a launch's time.
type courseRow struct {
	Launch  int64   `col:"launch"`
	Kernel  string  `col:"kernel"`
	Label   string  `col:"label"`
	Metric  string  `col:"metric"`
	StartNs float64 `col:"start_ns"`
	EndNs   float64 `col:"end_ns"`
	Value   float64 `col:"value"`
	Unit    string  `col:"unit"`
	Samples int64   `col:"samples"`
}

// throttleRow is a row of throttling.
type throttleRow struct {
	Reason     string `col:"reason"`
	IsSlowdown *bool  `col:"is_slowdown"`
}

// latenessRow is a row of rank-passes.
type latenessRow struct {
	JobID        int64    `col:"job_id"`
	Range        string   `col:"range"`
	Pass         int64    `col:"pass"`
	Rank         string   `col:"rank"`
	LateMeanNs   *float64 `col:"late_mean_ns"`
	Calls        int64    `col:"calls"`
	LateNs       float64  `col:"late_ns"`
	IsWarmup     *bool    `col:"is_warmup"`
	ClockErrorNs *float64 `col:"clock_error_ns"`
}

// place is a GPU of a source.
type place struct {
	SourceID int64 `col:"source_id"`
	Device   int64 `col:"device"`
}

// blockRow is a row of timeline-blocks.
type blockRow struct {
	place
	Lane      string `col:"lane"`
	StartNs   int64  `col:"start_ns"`
	EndNs     int64  `col:"end_ns"`
	BusyNs    int64  `col:"busy_ns"`
	WorkCount int64  `col:"work_count"`
	Longest   string `col:"longest"`
	LongestNs int64  `col:"longest_ns"`
}

// passRow is a row of timeline-passes.
type passRow struct {
	place
	Stage         string `col:"stage"`
	StartNs       int64  `col:"start_ns"`
	EndNs         int64  `col:"end_ns"`
	Passes        int64  `col:"passes"`
	Pass          int64  `col:"pass"`
	IsWarmup      bool   `col:"is_warmup"`
	BusyNs        int64  `col:"busy_ns"`
	LaunchBoundNs int64  `col:"launch_bound_ns"`
	SpanNs        int64  `col:"span_ns"`
}

// gapRow is a row of longest-gaps.
type gapRow struct {
	place
	StartNs    int64  `col:"start_ns"`
	DurationNs int64  `col:"duration_ns"`
	Cause      string `col:"cause"`
	Before     string `col:"before"`
	After      string `col:"after"`
	Stage      string `col:"stage"`
}

// windowRow is a row of timeline-windows; without a stage it is the whole capture.
type windowRow struct {
	place
	Window     int64  `col:"window"`
	Stage      string `col:"stage"`
	Pass       *int64 `col:"pass"`
	StartNs    int64  `col:"start_ns"`
	EndNs      int64  `col:"end_ns"`
	WorkCount  int64  `col:"work_count"`
	ShownCount int64  `col:"shown_count"`
	IsWhole    bool   `col:"is_whole"`
}

// workRow is a row of timeline-kernels.
type workRow struct {
	place
	Window        int64  `col:"window"`
	PID           *int64 `col:"pid"`
	Stream        *int64 `col:"stream"`
	Context       *int64 `col:"context"`
	Lane          string `col:"lane"`
	StartNs       int64  `col:"start_ns"`
	DurationNs    int64  `col:"duration_ns"`
	Name          string `col:"name"`
	Stage         string `col:"stage"`
	TID           *int64 `col:"tid"`
	LaunchStartNs *int64 `col:"launch_start_ns"`
}

// threadRow is the thread of a row.
type threadRow struct {
	SourceID int64  `col:"source_id"`
	PID      *int64 `col:"pid"`
	TID      *int64 `col:"tid"`
	Thread   string `col:"thread"`
	Rank     *int64 `col:"rank"`
}

// callRow is a row of timeline-calls.
type callRow struct {
	threadRow
	Kind          string `col:"kind"`
	API           string `col:"api"`
	StartNs       int64  `col:"start_ns"`
	DurationNs    int64  `col:"duration_ns"`
	CallCount     int64  `col:"call_count"`
	IsShortHidden bool   `col:"is_short_hidden"`
}

// rangeRow is a row of timeline-ranges.
type rangeRow struct {
	threadRow
	Depth      int64  `col:"depth"`
	StartNs    int64  `col:"start_ns"`
	DurationNs int64  `col:"duration_ns"`
	Name       string `col:"name"`
	Domain     string `col:"domain"`
	RangeCount int64  `col:"range_count"`
}

// clockRow is a row of clock-offsets.
type clockRow struct {
	SourceID    int64    `col:"source_id"`
	ReferenceID int64    `col:"reference_id"`
	OffsetNs    *int64   `col:"offset_ns"`
	Basis       string   `col:"basis"`
	DriftRatio  *float64 `col:"drift_ratio"`
}

// timelineRows are the answers of a timeline.
type timelineRows struct {
	blocks  []blockRow
	passes  []passRow
	gaps    []gapRow
	windows []windowRow
	works   []workRow
	calls   []callRow
	ranges  []rangeRow
	clocks  []clockRow
	parts   int64 // as judge.Timeline has them
}

func readTimeline(t *judge.Timeline) (r timelineRows, err error) {
	r.parts = max(t.Parts, 1)
	read := []func() error{
		func() (err error) { r.blocks, err = blockRows.Of(t.Blocks); return },
		func() (err error) { r.passes, err = passRows.Of(t.Passes); return },
		func() (err error) { r.gaps, err = gapRows.Of(t.Gaps); return },
		func() (err error) { r.windows, err = windowRows.Of(t.Windows); return },
		func() (err error) { r.works, err = workRows.Of(t.Kernels); return },
		func() (err error) { r.calls, err = callRows.Of(t.Calls); return },
		func() (err error) { r.ranges, err = rangeRows.Of(t.Ranges); return },
		func() (err error) { r.clocks, err = clockRows.Of(t.Clocks); return },
	}
	for _, f := range read {
		if err := f(); err != nil {
			return r, err
		}
	}
	return r, nil
}
