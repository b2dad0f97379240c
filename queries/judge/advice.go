package judge

import (
	"fmt"
	"strings"

	"prof/queries/caveat"
)

// How much advice a summary gives.
const (
	mostAdvice  = 5
	leastAdvice = 2
	// What could save less of the measured time than that is not worth a stakeholder's attention.
	leastSaving = 0.01
)

// addAdvice takes the findings that could save most, one of each rule and stage; where that is too little, what to capture next.
func (s *summariser) addAdvice() error {
	if s.out.Lacking != "" {
		s.out.Advice = []Advice{toCapture("derive the facts of the run", s.out.Lacking, strings.Replace(caveat.Derives, "RUN", ShellWord(s.name), 1))}
		return nil
	}
	seen := map[[2]string]bool{}
	for _, x := range s.out.Findings {
		key := [2]string{x.ID, x.Stage}
		if len(s.out.Advice) == mostAdvice || seen[key] || !s.isWorthwhile(x) {
			continue
		}
		seen[key] = true
		s.out.Advice = append(s.out.Advice, Advice{Finding: x, Number: x.number(), Why: x.number() + ": " + x.Evidence})
	}
	if len(s.out.Advice) < leastAdvice && s.r.Frame("accounting") != nil {
		s.out.Advice = append(s.out.Advice, s.missing()...)
	}
	return nil
}

// isWorthwhile reports whether a finding could save enough of the measured time of its GPU.
func (s *summariser) isWorthwhile(x Finding) bool {
	all := 0.0
	for stage, gpus := range s.parts {
		for _, d := range gpus {
			if d.device == x.Device && (stage == wholeCapture) == (x.Stage == "") {
				all += d.sum
			}
		}
	}
	return float64(x.SavingNs) >= leastSaving*all
}

// number words what could be gained, and where.
func (x Finding) number() string {
	return fmt.Sprintf("%s %s (%s less)", stageText(x.Stage), x.Gain.Text(), percentText(x.Gain.Ratio()))
}

// toCapture is advice that comes from no finding.
func toCapture(text, why, command string) Advice {
	return Advice{Finding: Finding{Advice: text, Command: command}, Why: why}
}

// toolLosses returns what to capture instead where tools say that they lost data.
func (s *summariser) toolLosses(capture string) []Advice {
	var out []Advice
	conservation := s.r.Frame("conservation")
	if conservation == nil {
		return nil
	}
	for _, c := range conservation.Caveats {
		if lost, is := caveat.ToolLostOf(c); is && caveat.ToolLosses[lost.Cause].Remedy != "" {
			l := caveat.ToolLosses[lost.Cause]
			command := s.command("diagnostics")
			if l.Tools != "" {
				command = capture + " --tools " + l.Tools + " -- CMD..."
			}
			out = append(out, toCapture(l.Remedy, lost.What(), command))
		}
	}
	return out
}

// missing returns what to capture next, since it keeps questions open: what would tell most comes first.
func (s *summariser) missing() []Advice {
	run, capture := ShellWord(s.name), "prof capture --run "+ShellWord(s.name+"-2")
	hasTimeline, hasStages := len(s.parts) > 0, len(s.out.Stages) > 0
	var out []Advice
	add := func(text, why, command string) { out = append(out, toCapture(text, why, command)) }
	orForeign := func(command string) string { // prof captures on NVIDIA's GPUs
		if s.isForeign {
			return "prof ingest --run " + ShellWord(s.name+"-2") + " trace.json.gz"
		}
		return command
	}
	lost := s.toolLosses(capture)
	out = append(out, lost...)
	switch {
	case len(lost) > 0 && !hasTimeline:
	case !hasTimeline && s.isForeign:
		add("capture a timeline with the PyTorch profiler", "without a timeline, what takes the time and where the GPU idles are unknown", "prof ingest --run "+run+" trace.json.gz")
	case !hasTimeline:
		add("capture a timeline with Nsight Systems", "without a timeline, what takes the time and where the GPU idles are unknown", capture+" --tools nsys --baseline -- CMD...")
	case !hasStages && len(s.out.WarmOnly) > 0:
		add("measure passes after warm-up: run more passes, or count fewer as warm-up", "all passes of "+strings.Join(s.out.WarmOnly, ", ")+" count as warm-up, so all figures include loading and warm-up", s.command("passes"))
	case !hasStages && s.out.Timeless != "":
		add("capture the passes of "+s.out.Timeless+" with Nsight Systems", "scopes without times tell neither a pass from the next nor why the GPU idled", orForeign(capture+" --auto-stages -- CMD..."))
	case !hasStages:
		add("mark the stages of the workload with NVTX ranges or record_function blocks, those of inference as prefill and decode", "no range is named as a stage, so loading and warm-up cannot be separated from the work", orForeign(capture+" --auto-stages -- CMD..."))
	}
	if hasStages && s.out.Stages[0].MFU == nil {
		add("give the model's configuration and the tokens of each pass", "MFU is unknown: "+s.out.Stages[0].Unknown, "prof ingest --run "+run+" --model config.json --workload workload.json")
	}
	if hasTimeline && !s.kinds["ncu"] && !s.isForeign {
		add("profile the kernels that take the most time with Nsight Compute", "what limits them is unknown: the run has no profiled kernels", capture+" --tools nsys,ncu -- CMD...")
	}
	if operators := s.r.Frame("top-operators"); !s.kinds["torch"] && (operators == nil || len(operators.Rows) == 0) {
		add("capture with the PyTorch profiler too", "the time per PyTorch operator is unknown", orForeign(capture+" --tools nsys,torch -- CMD..."))
	}
	if f := s.r.Frame("overhead"); hasTimeline && !s.isForeign && (f == nil || len(f.Rows) == 0 || f.Warns("overhead-without-baseline")) {
		add("measure the profiling overhead: record the workload without a profiler too", "the profiling overhead is unknown", capture+" --baseline -- CMD...")
	}
	return out[:min(len(out), 3)]
}
