package queries

import (
	"fmt"
	"strings"
)

// How much advice a summary gives.
const (
	mostAdvice  = 5
	leastAdvice = 2
	// What could save less of the measured time than that is not worth a stakeholder's attention.
	leastSaving = 0.01
)

// oncePasses are the parts of accounting that rules of findings are about, where a single pass may hold nearly all of it.
var oncePasses = map[string]string{"host-bound": "host", "cuda-calls": "call", "host-waits": "wait", "device-latency": "queued", "exposed-collectives": "collective-exposed"}

// addAdvice takes the findings that could save most, one of each rule and stage; where that is too little, what to capture next.
func (s *summariser) addAdvice() error {
	list, err := s.rows("findings", "finding", "stage", "saving_ns", "share_ratio", "bound", "title", "evidence", "subject", "advice", "device", "passes", "span_ns", "evidence_query", "command")
	if err != nil {
		return err
	}
	seen := map[[2]string]bool{}
	for _, r := range list {
		key := [2]string{r.text("finding"), r.text("stage")}
		if seen[key] || len(s.out.Advice) == mostAdvice || !s.isWorthwhile(r) {
			continue
		}
		seen[key] = true
		s.out.Advice = append(s.out.Advice, s.adviceOf(r))
	}
	if len(s.out.Advice) < leastAdvice && s.r.Frame("accounting") != nil {
		s.out.Advice = append(s.out.Advice, s.missing()...)
	}
	s.out.Advice = s.out.Advice[:min(len(s.out.Advice), mostAdvice)]
	return nil
}

// isWorthwhile says whether a finding could save enough of the measured time of its GPU.
func (s *summariser) isWorthwhile(r record) bool {
	all := 0.0
	for stage, gpus := range s.parts {
		for _, d := range gpus {
			if d.device == r.count("device") && (stage == wholeCapture) == (r.text("stage") == "") {
				all += d.span
			}
		}
	}
	return r.amount("saving_ns") >= leastSaving*all
}

// adviceOf words a finding.
func (s *summariser) adviceOf(r record) Advice {
	stage, saving, span := r.text("stage"), r.count("saving_ns"), r.count("span_ns")
	a := Advice{Rule: r.text("finding"), Title: r.text("title"), Stage: stage, Text: r.text("advice"), Subject: r.text("subject"), Command: r.text("command"), Query: r.text("evidence_query"),
		SavingNs: saving, SpanNs: span, ShareRatio: r.amount("share_ratio"), Bound: r.text("bound")}
	over := ""
	if passes := r.count("passes"); stage != "" {
		over = " in " + countText(passes, "pass", "passes")
	}
	a.Number = fmt.Sprintf("%s %s of %s%s of %s (%s)", a.Bound, durationText(float64(saving)), durationText(float64(span)), over, stageText(stage), percentText(a.ShareRatio))
	a.Why = a.Number + ": " + r.text("evidence")
	if s.isOnce(r) {
		a.Text = fmt.Sprintf("if the one pass that holds nearly all of it is warm-up, leave it out (%s); else %s", s.leaveOut(stage), a.Text)
	}
	return a
}

// leaveOut is how a pass becomes warm-up. A workload that lists its passes says so itself.
func (s *summariser) leaveOut(stage string) string {
	if s.kinds["workload"] {
		return s.command("passes", "stage", stage) + " shows it"
	}
	return "prof ingest --run " + shellWord(s.name) + " --warmup 1"
}

// isOnce says whether what a finding is about happened in one pass of several.
func (s *summariser) isOnce(r record) bool {
	name := oncePasses[r.text("finding")]
	for _, d := range s.parts[r.text("stage")] {
		if p := d.named(name); name != "" && d.device == r.count("device") && d.passes > 1 && p.most >= oncePart*p.total {
			return true
		}
	}
	return false
}

// missing says what to capture next, since it keeps questions open: what would tell most comes first.
func (s *summariser) missing() []Advice {
	run, capture := shellWord(s.name), "prof capture --run "+shellWord(s.name+"-2")
	hasTimeline, hasStages := len(s.parts) > 0, len(s.out.Stages) > 0
	var out []Advice
	add := func(text, why, command string) { out = append(out, Advice{Text: text, Why: why, Command: command}) }
	switch {
	case !hasTimeline && s.isAMD:
		add("capture a timeline with the PyTorch profiler", "there is no device work with its times, so that neither what takes the time nor where the GPU idles is known", "prof ingest --run "+run+" trace.json.gz")
	case !hasTimeline:
		add("capture a timeline with Nsight Systems", "there is no device work with its times, so that neither what takes the time nor where the GPU idles is known", capture+" --tools nsys --baseline -- CMD...")
	case !hasStages:
		add("mark the stages of the workload, with NVTX ranges or record_function named prefill and decode", "no range is named as a stage, so that loading and warm-up cannot be told from the work itself", capture+" --auto-stages -- CMD...")
	}
	if hasStages && s.out.Stages[0].MFU == nil {
		add("give the model's configuration and the tokens of each pass", "how far from the hardware's limit the work is (MFU) is not known: "+s.out.Stages[0].Unknown, "prof ingest --run "+run+" --model config.json --workload workload.json")
	}
	if hasTimeline && !s.kinds["ncu"] && !s.isAMD {
		add("profile the kernels that take most time with Nsight Compute", "what holds them back is not known: the run has no profiled kernels", capture+" --tools nsys,ncu -- CMD...")
	}
	if !s.kinds["torch"] {
		add("capture with the PyTorch profiler too", "which operators of PyTorch the time belongs to is not known", capture+" --tools nsys,torch -- CMD...")
	}
	if f := s.r.Frame("overhead"); hasTimeline && !s.isAMD && (f == nil || len(f.Rows) == 0 || strings.Contains(strings.Join(f.Notes, "\n"), "--baseline")) {
		add("measure what profiling costs with passes without a profiler", "how much longer the work takes while it is watched is not known", capture+" --baseline -- CMD...")
	}
	return out[:min(len(out), 3)]
}
