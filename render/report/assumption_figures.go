package report

import (
	"fmt"
	"strings"
)

// times says what the times are times of, which ranges are stages, and which passes are left out.
func (a *assumptions) times() error {
	a.say("stages", "Four times stand side by side and are never mixed: cpu (the range on its thread), gpu_span (first start to last end of its device work), gpu_busy (union of its device intervals), gpu_sum (sum of their durations).")
	a.say("", "Device work belongs to the innermost range of the launching thread that contains the start of its launch call; a graph replay gives its kernels to the range that launched it.")
	a.say("aggregates", "Deviations are of a sample (n-1), none of a single pass; a rate is all tokens by all time, and not the mean of the passes' rates.")
	passes, err := answers(a.r, "passes", "stage", "path", "is_warmup")
	if err != nil {
		return err
	}
	var order []string
	count := map[string]int{}
	for _, p := range passes {
		what := fmt.Sprintf("%s is the range %s", p.Text("stage"), p.Text("path"))
		if p.Is("is_warmup") {
			what += " as warm-up"
		}
		if count[what]++; count[what] == 1 {
			order = append(order, what)
		}
	}
	const most = 12
	for i, what := range order {
		if i == most {
			a.say("passes", "%d more kinds of ranges are stages.", len(order)-most)
			break
		}
		a.say("passes", "Stage %s; passes: %d.", what, count[what])
	}
	if len(passes) == 0 {
		a.none("passes", "Stages")
	}
	a.say("", "Stages, their parts and warm-up are told by the names of ranges, by the rules of the table stage_rule (prof sql 'FROM stage_rule'); the facts of a workload tell warm-up too.")
	parts, err := answers(a.r, "stage-notes", "stage", "note", "instances")
	if err != nil {
		return err
	}
	for _, row := range parts {
		a.say("stage-notes", "%s is a part of %s, in its time and never added to it; executions: %d.", row.Text("note"), row.Text("stage"), row.Count("instances"))
	}
	return a.counted()
}

// counted says which of two timelines is counted.
func (a *assumptions) counted() error {
	f := a.r.Frame("stages")
	if f == nil {
		return nil
	}
	for _, n := range f.Notes {
		a.say("stages", "%s.", strings.TrimSuffix(n, "."))
	}
	return nil
}

// operations says how operations and bytes are counted.
func (a *assumptions) operations() error {
	rows, err := answers(a.r, "mfu", mfuColumns...)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		a.none("mfu", "Utilisation")
		return nil
	}
	row := rows[0]
	a.say("mfu", "A multiply-add is 2 operations; softmax, norms, activations, rotary tables and lookups count nothing.")
	switch row.Text("convention") {
	case "full":
		a.say("mfu", "Convention full: attention of the prompt counts all queries with all keys, as PyTorch's FlopCounterMode and the PaLM paper do; causal would count what a token may see.")
	default:
		a.say("mfu", "Convention %s of attention of the prompt.", row.Text("convention"))
	}
	if mla := row.Text("mla"); mla != "" {
		a.say("mfu", "Latent attention (MLA) is counted %s in decode: expanded makes keys and values of the whole context anew at each step, as transformers does; absorbed is what serving engines do.", mla)
	}
	a.say("mfu", "Logits of the last position of a prompt only (option head), unless asked otherwise; the context of decode grows with each step.")
	a.say("mfu", "MFU is operations of the model / (dense peak x time), with %s as the time; over 1 is an error in what was given. MBU is bytes that must be read (weights touched, cache) / (peak bandwidth x time).", row.Text("time_basis"))
	a.say("mfu", "Precision of the peak: %s, from: %s.", orUnknown(row.value("precision"), ""), orUnknown(row.value("precision_origin"), ""))
	f := a.r.Frame("mfu")
	for _, n := range append(f.Said("fault"), f.Said("mfu")...) {
		a.say("mfu", "%s.", strings.TrimSuffix(n, "."))
	}
	if s := a.r.Static; s != nil && s.DTypeAssumed {
		a.say("models", "The bytes of the model in static_compute are for %s: %s.", s.DType, saidOfPrecision(row, s.DType))
	}
	return a.peakOfPass(row)
}

// saidOfPrecision says what backs a precision that the model's configuration does not name, by the row of mfu.
func saidOfPrecision(row answered, dtype string) string {
	told, by := row.Text("precision"), row.Text("precision_origin")
	switch {
	case told == dtype && by == "kernels":
		return "the configuration names no precision, and the names of kernels say the same"
	case told == dtype:
		return "the configuration names no precision, and utilisation is counted in the same"
	case told != "":
		return fmt.Sprintf("the configuration names no precision, and this is assumed; utilisation is counted in %s, from: %s", told, orUnknown(row.value("precision_origin"), ""))
	}
	return "no source says the precision, and this is assumed"
}

// peakOfPass says why there is no peak for a pass where that of one GPU is known.
func (a *assumptions) peakOfPass(row answered) error {
	if why := lackOfPeak(a.r, row, "under Peaks"); why != "" {
		a.say("mfu", "The peak of all GPUs of a pass is not known: %s.", why)
	}
	return nil
}

// peakLines are the rows of the table of peaks that the run's GPUs are judged by.
func (a *assumptions) peakLines() error {
	rows, err := answers(a.r, "peaks", "device", "resource", "accumulate", "peak_flop_per_s", "peak_bytes_per_s", "origin", "doc", "reference", "checked_on", "peak_clock_hz", "clock_hz")
	if err != nil {
		return err
	}
	said := false
	for _, p := range rows {
		rate := ""
		switch {
		case p.value("peak_bytes_per_s") != nil:
			rate = p.fixed("peak_bytes_per_s", 1e12, 3) + " TB/s"
		case p.value("peak_flop_per_s") != nil:
			rate = p.fixed("peak_flop_per_s", 1e12, 1) + " TFLOP/s"
		default:
			continue
		}
		sums := ""
		if acc := p.Text("accumulate"); acc != "" {
			sums = ", sums in " + acc
		}
		clock := ""
		if p.value("peak_clock_hz") != nil && p.value("clock_hz") != nil {
			clock = fmt.Sprintf("; at an SM clock of %s MHz, of %s MHz at most by the capture", p.fixed("peak_clock_hz", 1e6, 0), p.fixed("clock_hz", 1e6, 0))
		}
		said = true
		a.say("peaks", "%s, %s%s: %s (%s%s; %s, read %s; %s).", p.Text("device"), p.Text("resource"), sums, rate, orUnknown(p.value("doc"), ""), clock, orUnknown(p.value("reference"), ""),
			orUnknown(p.value("checked_on"), ""), map[bool]string{true: "a row of prof's table", false: "a row of the user's"}[p.Text("origin") == "builtin"])
	}
	if !said {
		a.say("peaks", "No peak of the run's GPUs is known: what share of it was reached is not said. The option --peak of the query mfu takes one.")
		return a.lackOfPeaks()
	}
	a.say("peaks", "Peaks are dense and by exact device name; there is no default. prof sql 'FROM device_peak' shows the table, whose user rows go first.")
	return nil
}

// lackOfPeaks says whether the GPUs have no name, or names that the table does not have.
func (a *assumptions) lackOfPeaks() error {
	all, err := gpuNames(a.r)
	for _, g := range workingGPUs(all) {
		switch {
		case len(g.names) == 0:
			a.say("devices", "%s: the table is by exact device name.", g.saying())
		default:
			a.say("devices", "GPU %d is %s, which the table of peaks does not have.", g.device, strings.Join(g.names, ", "))
		}
	}
	return err
}

// thresholds are the rules of idle time and findings.
func (a *assumptions) thresholds() error {
	rules, err := answers(a.r, "finding-rules", "finding", "title", "bound", "saving", "value", "unit", "needs")
	if err != nil {
		return err
	}
	if f := a.r.Frame("accounting"); f != nil && len(f.Rows) > 0 {
		a.say("accounting", "The time of a pass on a GPU is split without rest into busy parts and idle ones, idle by what the thread that launched the next work did meanwhile; "+
			"the finding host-bound says from what length on a stretch without CUDA calls is the host's.")
	}
	for _, row := range rules {
		limit := ""
		if row.value("value") != nil {
			limit = fmt.Sprintf(" Its number is %s %s.", strings.TrimSuffix(strings.TrimRight(row.fixed("value", 1, 3), "0"), "."), orUnknown(row.value("unit"), ""))
		}
		a.say("finding-rules", "Finding %s (%s). Its saving is %s: %s.%s It needs: %s.", row.Text("finding"), row.Text("title"), row.Text("bound"), row.Text("saving"), limit, row.Text("needs"))
	}
	return nil
}

// unseen says what no capture of the run tells.
func (a *assumptions) unseen() error {
	if err := a.unlaunched(); err != nil {
		return err
	}
	sources, err := answers(a.r, "sources", "source_id", "kind", "status", "reason")
	if err != nil {
		return err
	}
	kinds := map[string]bool{}
	for _, s := range sources {
		kinds[s.Text("kind")] = true
		if s.Text("status") != "ok" {
			a.say("sources", "Source %d is %s: %s.", s.Count("source_id"), s.Text("status"), orUnknown(s.value("reason"), ""))
		}
	}
	if !kinds["torch"] {
		a.say("top-operators", "No trace of the PyTorch profiler: operators, their inputs and memory are not known but from annotations of Nsight Systems.")
	}
	if !kinds["ncu"] {
		a.say("bottlenecks", "No report of Nsight Compute: what bounds a kernel, its occupancy and its bytes are not known.")
	}
	if !kinds["nsys"] && !kinds["torch"] {
		a.say("sources", "No timeline: nothing is known of when and where kernels ran.")
	}
	if f := a.r.Frame("models"); f == nil || len(f.Rows) == 0 {
		a.say("models", "No configuration of a model: operations, MFU and MBU are not known.")
	}
	return a.warned()
}

// unlaunched says how much kernel time no range or launch is known of.
func (a *assumptions) unlaunched() error {
	rows, err := answers(a.r, "conservation", "capture", "kernel_sum_ns", "attributed_ns", "outside_ns", "unlaunched_ns", "is_exact")
	if err != nil {
		return err
	}
	for _, row := range rows {
		verdict := "the parts add up exactly"
		if !row.Is("is_exact") {
			verdict = "THE PARTS DO NOT ADD UP"
		}
		a.say("conservation", "Kernel time of %s: %d ns in ranges + %d outside every range + %d without a launch = %d ns; %s.", row.Text("capture"), row.Count("attributed_ns"), row.Count("outside_ns"),
			row.Count("unlaunched_ns"), row.Count("kernel_sum_ns"), verdict)
	}
	return nil
}

// warned counts what the profilers and the ingest warned of.
func (a *assumptions) warned() error {
	rows, err := answers(a.r, "diagnostics", "severity")
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, row := range rows {
		count[row.Text("severity")]++
	}
	if count["warning"]+count["error"] > 0 {
		a.say("diagnostics", "The profilers and the ingest tell of warnings (%d) and errors (%d).", count["warning"], count["error"])
	}
	return nil
}
