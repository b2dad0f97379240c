package report

import (
	"fmt"
	"slices"
	"strings"

	"prof/render/typeset"
)

// profiling says with what and how the run was captured, and what that cost.
func (a *assumptions) profiling() error {
	sources, err := answers(a.r, "sources", "source_id", "kind", "tool_version", "path", "duration_ns")
	if err != nil {
		return err
	}
	tools := map[string]bool{}
	for _, s := range sources {
		if kind := s.Text("kind"); slices.Contains([]string{"nsys", "torch", "ncu"}, kind) {
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
	captures, err := capturesOf(a.r)
	if err != nil {
		return err
	}
	for _, c := range captures {
		var words []string
		for _, m := range c.options.Members {
			words = append(words, fmt.Sprintf("%s %v", m.Key, m.Value))
		}
		a.say("facts", "Options of source %d: %s.", c.source.Count("source_id"), strings.Join(words, "; "))
	}
	if len(tools) > 1 {
		a.say("sources", "Each tool saw an execution of its own unless they ran together: times of different tools do not add up, and no sum here holds two of them.")
	}
	made, err := answers(a.r, "captures", "mode", "status", "reason")
	if err != nil {
		return err
	}
	for _, row := range made {
		a.say("captures", "prof capture ran in mode %s; it ended as %s.", row.Text("mode"), row.Text("status"))
	}
	return a.overhead(len(made) > 0)
}

// overhead says what profiling cost.
func (a *assumptions) overhead(made bool) error {
	rows, err := answers(a.r, "overhead", "mode", "tool", "overhead_ratio", "pass_count", "baseline_count")
	if err != nil {
		return err
	}
	known := false
	for _, row := range rows {
		if row.value("overhead_ratio") == nil {
			continue
		}
		known = true
		a.say("overhead", "Profiling (%s, %s) made the whole process take %s longer: median of %d passes against %d without a tool.", row.Text("tool"), row.Text("mode"), row.percent("overhead_ratio"),
			row.Count("pass_count"), row.Count("baseline_count"))
	}
	switch {
	case known:
	case made:
		a.say("overhead", "Times hold what profiling costs; how much that is is not known, since no pass without a tool ended well (prof capture --baseline).")
	default:
		a.say("overhead", "Times hold what profiling costs; how much that is is not known, since the run was not made by prof capture --baseline.")
	}
	return nil
}

// mostClockLines is how many lines a list of passes and GPUs has.
const mostClockLines = 32

// clocks says what is known of the GPUs' clocks while passes ran.
func (a *assumptions) clocks() error {
	passes, err := answers(a.r, "capture-passes", "pass", "clock_control")
	if err != nil {
		return err
	}
	for _, p := range passes {
		if c := p.Text("clock_control"); c != "" {
			a.say("capture-passes", "Clock control of Nsight Compute in pass %s: %s.", p.Text("pass"), clockControl(c))
		}
	}
	facts, err := answers(a.r, "facts", "source_id", "key", "value")
	if err != nil {
		return err
	}
	for _, f := range facts {
		if f.Text("key") == "capture.clock_control" {
			a.say("facts", "Clock control of Nsight Compute in source %d: %s.", f.Count("source_id"), clockControl(f.Text("value")))
		}
	}
	use, err := answers(a.r, "device-use", "pass", "device", "busy_sm_clock_mean_hz", "sm_clock_max_hz", "power_max_w", "temperature_max_c")
	if err != nil {
		return err
	}
	shown, left := typeset.FirstOf(use, mostClockLines)
	for _, row := range shown {
		if row.value("sm_clock_max_hz") == nil {
			a.say("device-use", "Pass %s, GPU %d: NVML did not tell the SM clock.", row.Text("pass"), row.Count("device"))
			continue
		}
		a.say("device-use", "Pass %s, GPU %d: mean SM clock at work %s MHz, highest %s MHz, power up to %s W, temperature up to %s °C.", row.Text("pass"), row.Count("device"),
			row.fixed("busy_sm_clock_mean_hz", 1e6, 0), row.fixed("sm_clock_max_hz", 1e6, 0), row.fixed("power_max_w", 1, 0), row.fixed("temperature_max_c", 1, 0))
	}
	if left > 0 {
		a.say("device-use", "The same of %s is in the query only.", typeset.Plural(int64(left), "more pass on a GPU", "more passes on GPUs"))
	}
	if len(use) == 0 {
		a.say("device-use", "Clocks, power and temperature during the run are not known: no samples of NVML were taken (prof capture takes them). Times are those at whatever clock the GPU had.")
		return nil
	}
	held, err := answers(a.r, "throttling", "pass", "device", "reason", "is_slowdown", "busy_share_ratio")
	if err != nil {
		return err
	}
	held = slices.DeleteFunc(slices.Clone(held), func(r answered) bool { return !r.Is("is_slowdown") })
	first, more := typeset.FirstOf(held, mostClockLines)
	for _, row := range first {
		a.say("throttling", "Pass %s, GPU %d: clocks were held down (%s) in %s of the samples in which it was at work; times are longer by it.", row.Text("pass"), row.Count("device"), row.Text("reason"),
			row.percent("busy_share_ratio"))
	}
	if more > 0 {
		a.say("throttling", "%s in which clocks were held down, by pass, GPU and reason, in the query only.", typeset.Plural(int64(more), "more case", "more cases"))
	}
	if len(held) == 0 {
		a.say("throttling", "No sample shows clocks throttled by power or temperature.")
	}
	return nil
}

func clockControl(value string) string {
	switch value {
	case "none":
		return "none, kernels ran at the clocks that the GPU had"
	case "base":
		return "base, clocks were locked to their base: durations there are longer than the workload's own"
	}
	return value
}
