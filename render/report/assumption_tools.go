package report

import (
	"fmt"
	"slices"
	"strings"

	"prof/render/typeset"
	"prof/schema/terms"
)

// profiling says with what and how the run was captured, and what that cost.
func (a *assumptions) profiling() {
	sources := a.rows("sources", "source_id", "kind", "tool_version", "path", "duration_ns")
	tools := map[string]bool{}
	for _, s := range sources {
		if kind := s.Text("kind"); slices.Contains(terms.Kinds(terms.Source.HasGPUs), kind) {
			tools[kind] = true
		}
		line := fmt.Sprintf("Source %d: %s", s.Count("source_id"), s.Text("kind"))
		if v := s.Text("tool_version"); v != "" {
			line += " " + v
		}
		if s.value("duration_ns") != nil {
			line += ", " + s.fixed("duration_ns", 1e9, 3) + " s long"
		}
		a.say("sources", "%s.", line)
	}
	captures := a.captures()
	for _, c := range captures {
		var words []string
		for _, m := range c.options.Members {
			words = append(words, fmt.Sprintf("%s %v", m.Key, m.Value))
		}
		a.say("facts", "Capture options of source %d: %s.", c.source.Count("source_id"), strings.Join(words, "; "))
	}
	if len(tools) > 1 {
		a.say("sources", "Unless the tools ran together, each one recorded an execution of its own: times from different tools do not add up, and no sum here mixes them.")
	}
	made := a.rows("captures", "mode", "status", "reason")
	for _, row := range made {
		a.say("captures", "prof capture ran in mode %s; status: %s.", row.Text("mode"), row.Text("status"))
	}
	a.overhead(len(made) > 0)
}

// overhead says what profiling cost.
func (a *assumptions) overhead(made bool) {
	rows := a.rows("overhead", "mode", "tool", "overhead_ratio", "pass_count", "baseline_count", "stage")
	known := false
	for _, row := range rows {
		if row.value("overhead_ratio") == nil {
			continue
		}
		known = true
		if stage := row.Text("stage"); stage != "" {
			a.say("overhead", "Profiling overhead of %s (%s, %s): a pass took %s longer than without a profiler; medians of %d passes with and %d without, by the same clocks.", stage, row.Text("tool"), row.Text("mode"),
				row.percent("overhead_ratio"), row.Count("pass_count"), row.Count("baseline_count"))
			continue
		}
		a.say("overhead", "Profiling overhead (%s, %s): the whole process took %s longer than without a profiler; medians of %d recordings with and %d without.", row.Text("tool"), row.Text("mode"), row.percent("overhead_ratio"),
			row.Count("pass_count"), row.Count("baseline_count"))
	}
	switch {
	case known:
	case made:
		a.say("overhead", "Times include profiling overhead. How much is not known: no recording without a profiler succeeded (prof capture --baseline).")
	default:
		a.say("overhead", "Times include profiling overhead. How much is not known: the run was not made with prof capture --baseline.")
	}
}

// mostClockLines is how many lines a list of passes and GPUs has.
const mostClockLines = 32

// clocks says what is known of the GPUs' clocks while recordings ran.
func (a *assumptions) clocks() {
	for _, p := range a.rows("capture-passes", "pass", "clock_control") {
		if c := p.Text("clock_control"); c != "" {
			a.say("capture-passes", "Clock control of Nsight Compute in recording %s: %s.", p.Text("pass"), clockControl(c))
		}
	}
	for _, f := range a.rows("facts", "source_id", "key", "value") {
		if f.Text("key") == "capture.clock_control" {
			a.say("facts", "Clock control of Nsight Compute in source %d: %s.", f.Count("source_id"), clockControl(f.Text("value")))
		}
	}
	use := a.rows("device-use", "pass", "device", "busy_sm_clock_mean_hz", "sm_clock_max_hz", "power_max_w", "temperature_max_c")
	if len(use) == 0 {
		a.say("device-use", "Clocks, power and temperature during the run are not known: there are no NVML samples (prof capture takes them). Times are at whatever clock the GPU ran.")
		return
	}
	shown, left := typeset.FirstOf(use, mostClockLines)
	for _, row := range shown {
		a.say("device-use", "Recording %s, GPU %d: %s.", row.Text("pass"), row.Count("device"), strings.Join(clockWords(row), ", "))
	}
	if left > 0 {
		a.say("device-use", "The query has %s.", typeset.Plural(int64(left), "more line like these", "more lines like these"))
	}
	slow := slices.DeleteFunc(a.rows("throttling", "pass", "device", "reason", "is_slowdown", "busy_share_ratio"), func(r answered) bool { return !r.Is("is_slowdown") })
	first, more := typeset.FirstOf(slow, mostClockLines)
	for _, row := range first {
		a.say("throttling", "Recording %s, GPU %d: throttled (%s) in %s of the busy samples, which makes times longer.", row.Text("pass"), row.Count("device"), row.Text("reason"), row.percent("busy_share_ratio"))
	}
	if more > 0 {
		a.say("throttling", "The query has %s of throttling.", typeset.Plural(int64(more), "more case", "more cases"))
	}
	if len(slow) == 0 {
		a.say("throttling", "No sample shows throttling by power or temperature.")
	}
}

// clockWords say what NVML reported of a GPU in a recording.
func clockWords(row answered) []string {
	if row.value("sm_clock_max_hz") == nil {
		return []string{"NVML did not report the SM clock"}
	}
	var out []string
	for _, x := range []struct {
		column, format string
		unit           float64
	}{{"busy_sm_clock_mean_hz", "mean SM clock while busy %s MHz", 1e6}, {"sm_clock_max_hz", "highest %s MHz", 1e6}, {"power_max_w", "power up to %s W", 1}, {"temperature_max_c", "temperature up to %s °C", 1}} {
		if row.value(x.column) != nil {
			out = append(out, fmt.Sprintf(x.format, row.fixed(x.column, x.unit, 0)))
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
