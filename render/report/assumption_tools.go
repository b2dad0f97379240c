package report

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
	"prof/schema/terms"
)

// profiling says with what and how the run was captured, and what that cost.
func (a *assumptions) profiling() {
	sources := read(a.reader, sourceRows)
	tools := map[string]bool{}
	for _, s := range sources {
		if slices.Contains(terms.Kinds(terms.Source.HasGPUs), s.Kind) {
			tools[s.Kind] = true
		}
		line := fmt.Sprintf("Source %d: %s", s.SourceID, s.Kind)
		if s.ToolVersion != "" {
			line += " " + s.ToolVersion
		}
		if s.DurationNs != nil {
			line += ", " + fixed(s.DurationNs, 1e9, 3) + " s long"
		}
		a.say("sources", "%s.", line)
	}
	captures := a.captures()
	for _, c := range captures {
		var words []string
		for _, m := range c.options.Members {
			words = append(words, fmt.Sprintf("%s %v", m.Key, m.Value))
		}
		a.say("facts", "Capture options of source %d: %s.", c.source.SourceID, strings.Join(words, "; "))
	}
	if len(tools) > 1 {
		a.say("sources", "Unless the tools ran together, each one recorded an execution of its own: times from different tools do not add up, and no sum here mixes them.")
	}
	made := read(a.reader, captureRows)
	for _, row := range made {
		a.say("captures", "prof capture ran in mode %s; status: %s.", row.Mode, row.Status)
	}
	a.overhead(len(made) > 0)
}

// overhead says what profiling cost.
func (a *assumptions) overhead(made bool) {
	rows := read(a.reader, judge.OverheadRows)
	lines := judge.OverheadLines(rows)
	for _, line := range lines {
		a.say("overhead", "Profiling overhead of %s.", line)
	}
	switch why := judge.NoOverhead(rows); {
	case len(lines) > 0:
	case a.isForeign():
		a.say("overhead", "Times include profiling overhead. How much is not known.")
	case made:
		a.say("overhead", "Times include profiling overhead. How much is not known: %s (prof capture --baseline --repeats 3 --auto-stages).", why)
	default:
		a.say("overhead", "Times include profiling overhead. How much is not known: the run was not made with prof capture --baseline.")
	}
}

// mostClockLines is how many lines a list of passes and GPUs has.
const mostClockLines = 32

// clocks says what is known of the GPUs' clocks while recordings ran.
func (a *assumptions) clocks() {
	for _, p := range read(a.reader, recordingRows) {
		if p.ClockControl != "" {
			a.say("capture-passes", "Clock control of Nsight Compute in recording %s: %s.", p.Pass, clockControl(p.ClockControl))
		}
	}
	for _, f := range read(a.reader, factRows) {
		if f.Key == "capture.clock_control" {
			a.say("facts", "Clock control of Nsight Compute in source %d: %s.", f.SourceID, clockControl(f.Value))
		}
	}
	use := read(a.reader, deviceUseRows)
	if len(use) == 0 && a.isForeign() {
		a.say("device-use", "Clocks, power and temperature during the run are not known: prof samples GPUs of NVIDIA only. Times are at whatever clock the GPU ran.")
		return
	}
	if len(use) == 0 {
		a.say("device-use", "Clocks, power and temperature during the run are not known: there are no NVML samples (prof capture takes them). Times are at whatever clock the GPU ran.")
		return
	}
	shown, left := typeset.FirstOf(use, mostClockLines)
	var clocks []gpuLine
	for _, row := range shown {
		clocks = append(clocks, gpuLine{fmt.Sprintf("Recording %s, ", row.Pass), row.Device, ": " + strings.Join(clockWords(row), ", ") + "."})
	}
	a.sayGPUs("device-use", clocks)
	if left > 0 {
		a.say("device-use", "The query has %s.", typeset.Plural(int64(left), "more line like these", "more lines like these"))
	}
	slow := slices.DeleteFunc(read(a.reader, throttleRows), func(r throttleRow) bool { return !frame.Or(r.IsSlowdown, false) })
	first, more := typeset.FirstOf(slow, mostClockLines)
	var throttled []gpuLine
	for _, row := range first {
		throttled = append(throttled, gpuLine{fmt.Sprintf("Recording %s, ", row.Pass), row.Device, fmt.Sprintf(": throttled (%s) in %s of the busy samples, which makes times longer.", row.Reason, percent(row.BusyShareRatio))})
	}
	a.sayGPUs("throttling", throttled)
	if more > 0 {
		a.say("throttling", "The query has %s of throttling.", typeset.Plural(int64(more), "more case", "more cases"))
	}
	if len(slow) == 0 {
		a.say("throttling", "No sample shows throttling by power or temperature.")
	}
}

// clockWords say what NVML reported of a GPU in a recording.
func clockWords(row deviceUseRow) []string {
	if row.MostClockHz == nil {
		return []string{"NVML did not report the SM clock"}
	}
	var out []string
	for _, x := range []struct {
		value  *float64
		format string
		unit   float64
	}{{row.BusyClockHz, "mean SM clock while busy %s MHz", 1e6}, {row.MostClockHz, "highest %s MHz", 1e6}, {row.MostPowerW, "power up to %s W", 1}, {row.MostCelsiusC, "temperature up to %s °C", 1}} {
		if x.value != nil {
			out = append(out, fmt.Sprintf(x.format, fixed(x.value, x.unit, 0)))
		}
	}
	return out
}

func clockControl(value string) string {
	switch value {
	case "none":
		return "none (kernels ran at the clocks that the GPU had)"
	case "base":
		return "base (clocks were locked to base, so kernels there take longer than in the workload)"
	}
	return value
}
