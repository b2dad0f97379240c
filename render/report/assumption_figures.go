package report

import (
	"fmt"
	"strings"

	"prof/queries/judge"
	"prof/render/typeset"
)

// times says what the times are times of, which ranges are stages, and which passes are left out.
func (a *assumptions) times() {
	a.say("stages", "Four times are shown side by side and never mixed: cpu (the range on its thread), gpu_span (first start to last end of its GPU work), gpu_busy (union of the intervals of that work), gpu_sum (sum of their durations).")
	a.say("", "GPU work belongs to the innermost range on the launching thread that contains the start of the launch call. Kernels of a graph replay belong to the range that launched the replay.")
	a.say("aggregates", "Standard deviations are those of a sample (n-1); a single pass has none. A rate is all tokens over all time, not the mean of the rates per pass.")
	passes := read(a.reader, passRows)
	var order []string
	count := map[string]int{}
	for _, p := range passes {
		what := fmt.Sprintf("%s is the range %s", p.Stage, p.Path)
		if p.IsWarmup {
			what += " as warm-up"
		}
		if count[what]++; count[what] == 1 {
			order = append(order, what)
		}
	}
	const most = 12
	for i, what := range order {
		if i == most {
			a.say("passes", "%d more kinds of ranges count as stages.", len(order)-most)
			break
		}
		a.say("passes", "Stage %s; passes: %d.", what, count[what])
	}
	if len(passes) == 0 {
		a.none("passes", "Stages")
	}
	a.say("", "Stages, their parts and warm-up passes are recognised by range name with the rules in the table stage_rule (prof sql 'FROM stage_rule'). A workload's facts can also mark warm-up.")
	parts := read(a.reader, noteRows)
	for _, row := range parts {
		a.say("stage-notes", "%s is a part of %s: its time is included there and never added to it; executions: %d.", row.Note, row.Stage, row.Instances)
	}
	if f := a.Frame("stages"); f != nil { // which says which of two timelines is counted
		for _, n := range f.Notes {
			a.say("stages", "%s.", strings.TrimSuffix(n, "."))
		}
	}
}

// operations says how operations and bytes are counted.
func (a *assumptions) operations() {
	rows := read(a.reader, useRows)
	if len(rows) == 0 {
		a.none("mfu", "Utilisation")
		return
	}
	row := rows[0]
	a.say("mfu", "A multiply-add is 2 operations; softmax, norms, activations, rotary embeddings and lookups are not counted.")
	switch row.Convention {
	case "full":
		a.say("mfu", "Convention full: prompt attention counts every query with every key, as PyTorch's FlopCounterMode and the PaLM paper do; causal would count only the keys that a token may see.")
	default:
		a.say("mfu", "Convention of prompt attention: %s.", row.Convention)
	}
	if row.MLA != "" {
		a.say("mfu", "Latent attention (MLA) in decode is counted as %s: expanded recomputes keys and values of the whole context at each step, as transformers does; absorbed works on the cached latents, as serving engines do.", row.MLA)
	}
	a.say("mfu", "By default, logits are computed for the last position of a prompt only (option head); the decode context grows with each step.")
	a.say("mfu", "MFU is model operations / (dense peak x time), with %s as the time; a value over 1 means that an input is wrong. MBU is the bytes that must be read (weights touched, KV cache) / (peak bandwidth x time).", row.TimeBasis)
	a.say("mfu", "Precision of the peak: %s (source: %s).", orUnknown(row.Precision), orUnknown(row.PrecisionOrigin))
	f := a.Frame("mfu")
	for _, n := range append(f.Said("fault"), f.Said("mfu")...) {
		a.say("mfu", "%s.", strings.TrimSuffix(n, "."))
	}
	if s := a.Static; s != nil && s.DTypeAssumed {
		a.say("models", "Model bytes in static_compute assume %s: %s.", s.DType, saidOfPrecision(row, s.DType))
	}
	if why := a.lackOfPeak(row, "under Peaks"); why != "" {
		a.say("mfu", "The peak of all GPUs that a pass uses is not known: %s.", why)
	}
}

// saidOfPrecision says what backs a precision that the model's configuration does not name, by the row of mfu.
func saidOfPrecision(row useRow, dtype string) string {
	told, by := row.Precision, row.PrecisionOrigin
	switch {
	case told == dtype && by == "kernels":
		return "the configuration names no precision, and kernel names agree"
	case told == dtype:
		return "the configuration names no precision, and utilisation uses the same"
	case told != "":
		return fmt.Sprintf("the configuration names no precision; utilisation uses %s (source: %s)", told, orUnknown(by))
	}
	return "no source names a precision"
}

// peakLines are the rows of the table of peaks that the run's GPUs are judged by.
func (a *assumptions) peakLines() {
	rows := read(a.reader, peakRows)
	said := false
	for _, p := range rows {
		rate := ""
		switch {
		case p.PeakBytesPerS != nil:
			rate = fixed(p.PeakBytesPerS, 1e12, 3) + " TB/s"
		case p.PeakFlopPerS != nil:
			rate = fixed(p.PeakFlopPerS, 1e12, 1) + " TFLOP/s"
		default:
			continue
		}
		sums := ""
		if p.Accumulate != "" {
			sums = ", sums in " + p.Accumulate
		}
		clock := ""
		if p.PeakClockHz != nil && p.ClockHz != nil {
			clock = fmt.Sprintf("; at an SM clock of %s MHz, of at most %s MHz by the capture", fixed(p.PeakClockHz, 1e6, 0), fixed(p.ClockHz, 1e6, 0))
		}
		said = true
		a.say("peaks", "%s, %s%s: %s (%s%s; %s, read %s; %s).", p.Device, p.Resource, sums, rate, orUnknown(p.Doc), clock, orUnknown(p.Reference),
			orUnknown(p.CheckedOn), map[bool]string{true: "built in", false: "set by the user"}[p.Origin == "builtin"])
	}
	if !said {
		a.say("peaks", "No peak is known for the run's GPUs, so utilisation is not known. Give them to prof query mfu and mbu (--peak, --bandwidth), or add rows to device_peak.")
		a.lackOfPeaks()
		return
	}
	a.say("peaks", "Peaks are dense and looked up by exact device name; there is no default. prof sql 'FROM device_peak' shows the table; user rows take precedence.")
}

// lackOfPeaks reports whether the GPUs have no name, or names that the table does not have.
func (a *assumptions) lackOfPeaks() {
	all := a.gpuNames()
	for _, g := range workingGPUs(all) {
		switch {
		case len(g.names) == 0:
			a.say("devices", "%s: peaks are looked up by exact device name.", g.saying())
		default:
			a.say("devices", "GPU %d is %s, which is not in the table of peaks.", g.device, strings.Join(g.names, ", "))
		}
	}
}

// thresholds are the rules of idle time and findings.
func (a *assumptions) thresholds() {
	rules := read(a.reader, ruleRows)
	if a.has("accounting") {
		a.say("accounting", "The time per pass on a GPU is split completely into busy and idle parts. Idle time is named by what the thread that launched the next work did meanwhile; "+
			"the finding host has the shortest stretch without CUDA calls that counts as CPU time.")
	}
	for _, row := range rules {
		limit := ""
		if row.Value != nil {
			limit = fmt.Sprintf(" Threshold: %s %s.", strings.TrimSuffix(strings.TrimRight(fixed(row.Value, 1, 3), "0"), "."), orUnknown(row.Unit))
		}
		a.say("finding-rules", "Finding %s (%s). Saving, %s: %s.%s Needs: %s.", row.Finding, row.Title, row.Bound, row.Saving, limit, row.Needs)
	}
}

// unseen says what no capture of the run tells.
func (a *assumptions) unseen() {
	a.unlaunched()
	kinds := a.sourceKinds()
	for _, s := range read(a.reader, sourceRows) {
		if s.Status != "ok" {
			a.say("sources", "Source %d is %s: %s.", s.SourceID, s.Status, orUnknown(s.Reason))
		}
	}
	if !kinds["torch"] {
		a.say("top-operators", "No PyTorch profiler trace: operators, their inputs and memory are known only from NVTX annotations, if any.")
	}
	if a.isForeign() {
		a.say("bottlenecks", "What bounds a kernel, its occupancy and its memory traffic are not known: %s.", judge.NoTool)
	} else if !kinds["ncu"] {
		a.say("bottlenecks", "No Nsight Compute report: what bounds a kernel, its occupancy and its memory traffic are not known.")
	}
	if !hasTimeline(kinds) {
		a.say("sources", "No timeline: when and where kernels ran is not known.")
	}
	if !a.has("models") {
		a.say("models", "No model configuration: operations, MFU and MBU are not known.")
	}
	a.warned()
}

// unlaunched says how much kernel time no range or launch is known of.
func (a *assumptions) unlaunched() {
	rows := read(a.reader, conservationRows)
	for _, row := range rows {
		verdict := "the parts add up exactly"
		if row.UnmetCount > 0 {
			verdict = fmt.Sprintf("the parts are of what was recorded: %d launches have no GPU work", row.UnmetCount)
		} else if !row.IsExact {
			verdict = "THE PARTS DO NOT ADD UP"
		}
		a.say("conservation", "Kernel time in %s: %d ns in ranges + %d ns outside any range + %d ns without a launch = %d ns; %s.", row.Capture, row.AttributedNs, row.OutsideNs,
			row.UnlaunchedNs, row.KernelSumNs, verdict)
	}
}

// warned counts what the profilers and the ingest warned of.
func (a *assumptions) warned() {
	rows := read(a.reader, diagnosticRows)
	count := map[string]int64{}
	for _, row := range rows {
		count[row.Severity]++
	}
	if count["warning"]+count["error"] > 0 {
		a.say("diagnostics", "Profilers and ingest reported %s and %s.", typeset.Plural(count["warning"], "warning", "warnings"), typeset.Plural(count["error"], "error", "errors"))
	}
}
