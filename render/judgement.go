package render

import (
	"io"

	"prof/queries/frame"
	"prof/queries/judge"
)

// ShowJSON writes what Show does as one object, in base units and full precision.
func ShowJSON(w io.Writer, s Screen) error {
	out, facts := &object{}, &object{}
	for _, pair := range s.Facts {
		facts.put(pair[0], pair[1])
	}
	return writeIndented(w, out.put("run", s.Report.Name).put("facts", facts).put("stages", boundObjects(s.Summary)).put("ranks", rankObjects(s.Summary)).put("kernels", kernelObjects(s.Summary)).
		put("findings", findingObjects(s.Summary.Findings)).put("advice", adviceObjects(s.Summary.Advice)).put("doubts", textList(unique(s.Doubts))))
}

// FindingsJSON writes the findings of a run, and what they are to be read with, as one object, in base units and full precision.
func FindingsJSON(w io.Writer, run string, list []judge.Finding, f *frame.Frame) error {
	return writeIndented(w, (&object{}).put("run", run).put("findings", findingObjects(list)).put("notes", textList(f.Notes)))
}

// boundObjects say of each stage, or of all device work, how long it takes and what bounds it.
func boundObjects(s judge.Summary) []any {
	stages := s.Stages
	if s.All != nil {
		stages = []judge.StageSummary{*s.All}
	}
	out := []any{}
	for _, x := range stages {
		o := (&object{}).put("stage", textOrNull(x.Stage)).put("passes", x.Passes).put("median_ns", finite(x.MedianNs)).put("min_ns", finite(x.MinNs)).put("max_ns", finite(x.MaxNs)).put("mean_ns", finite(x.MeanNs)).put("std_ns", finitePointer(x.StdNs)).put("basis", map[bool]string{false: "gpu_span", true: "cpu"}[x.IsCPU]).
			put("share_ratio", finite(x.ShareRatio)).put("device", x.Device).put("device_count", x.GPUs).put("busy_ratio", finitePointer(x.BusyRatio)).put("mfu_ratio", finitePointer(x.MFU)).put("mbu_ratio", finitePointer(x.MBU)).put("is_least", x.IsLeast).
			put("tokens_per_s", finitePointer(x.TokensPerS)).put("bound", string(x.Bound)).put("next_bound", textOrNull(string(x.Next))).put("why", x.Why).put("but", textOrNull(x.But)).put("command", x.Query)
		out = append(out, o)
	}
	return out
}

// rankObjects say of each stage, or of steps, for which rank the others waited.
func rankObjects(s judge.Summary) []any {
	out := []any{}
	for _, x := range s.Ranks {
		out = append(out, (&object{}).put("range", x.Range).put("rank", x.Rank).put("rank_count", x.Ranks).put("is_slow", x.IsSlow).put("late_ns", x.LateNs).put("waited_ns", x.WaitedNs).put("wait_ratio", finite(x.WaitRatio)).put("share_ratio", finite(x.ShareRatio)).
			put("slowest_count", x.Slowest).put("pass_count", x.Passes).put("most_ns", x.MostNs).put("most_pass", x.MostPass).put("cold_late_ns", x.ColdNs).put("cold_count", x.ColdPasses).put("words", x.Words).put("command", x.Query))
	}
	return out
}

func kernelObjects(s judge.Summary) []any {
	out := []any{}
	for _, k := range s.Kernels {
		out = append(out, (&object{}).put("kernel", k.Name).put("role", textOrNull(k.Role)).put("stage", textOrNull(k.Stage)).put("calls", k.Calls).put("total_ns", k.TotalNs).put("mean_ns", finite(k.MeanNs)).put("share_ratio", finite(k.ShareRatio)))
	}
	return out
}

func findingObjects(list []judge.Finding) []any {
	out := []any{}
	for _, x := range list {
		out = append(out, (&object{}).put("id", x.ID).put("stage", textOrNull(x.Stage)).put("device", x.Device).put("saving_ns", x.SavingNs).put("share_ratio", finite(x.ShareRatio)).put("bound", x.Bound).put("passes", x.Passes).put("span_ns", x.SpanNs).
			put("device_count", x.DeviceCount).put("title", x.Title).put("subject", textOrNull(x.Subject)).put("numbers", map[string]any(x.Numbers)).put("evidence", x.Evidence).put("advice", x.Advice).
			put("query", textOrNull(x.Query)).put("command", textOrNull(x.Command)).put("detail_command", textOrNull(x.Detail)))
	}
	return out
}

// adviceObjects are what to try, by its finding, and what to capture next, which has none.
func adviceObjects(list []judge.Advice) []any {
	out := []any{}
	for _, a := range list {
		out = append(out, (&object{}).put("finding", textOrNull(a.Rule)).put("stage", textOrNull(a.Stage)).put("advice", a.Text).put("why", a.Why).put("command", a.Command))
	}
	return out
}

func textList(list []string) []any {
	out := []any{}
	for _, s := range list {
		out = append(out, s)
	}
	return out
}
