package report

import (
	"io"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

// SummaryJSON writes what `show` shows of a run as one object, in base units and full precision.
func SummaryJSON(w io.Writer, run string, pairs [][2]string, s judge.Summary, doubts []string) error {
	out, facts := &typeset.Object{}, &typeset.Object{}
	for _, pair := range pairs {
		facts.Put(pair[0], pair[1])
	}
	return typeset.WriteIndented(w, out.Put("run", run).Put("facts", facts).Put("stages", boundObjects(s)).Put("ranks", rankObjects(s)).Put("kernels", kernelObjects(s)).
		Put("findings", findingObjects(s.Findings)).Put("advice", adviceObjects(s.Advice)).Put("doubts", textList(typeset.Unique(doubts))))
}

// FindingsJSON writes the findings of a run, and what they are to be read with, as one object, in base units and full precision.
func FindingsJSON(w io.Writer, run string, list []judge.Finding, f *frame.Frame) error {
	return typeset.WriteIndented(w, (&typeset.Object{}).Put("run", run).Put("findings", findingObjects(list)).Put("notes", textList(f.Notes)))
}

// boundObjects say of each stage, or of all device work, how long it takes and what bounds it.
func boundObjects(s judge.Summary) []any {
	stages := s.Stages
	if s.All != nil {
		stages = []judge.StageSummary{*s.All}
	}
	out := []any{}
	for _, x := range stages {
		o := (&typeset.Object{}).Put("stage", typeset.TextOrNull(x.Stage)).Put("passes", x.Passes).Put("median_ns", typeset.Finite(x.MedianNs)).Put("min_ns", typeset.Finite(x.MinNs)).Put("max_ns", typeset.Finite(x.MaxNs)).Put("mean_ns", typeset.Finite(x.MeanNs)).Put("std_ns", typeset.FinitePointer(x.StdNs)).Put("basis", map[bool]string{false: "gpu_span", true: "cpu"}[x.IsCPU]).
			Put("share_ratio", typeset.Finite(x.ShareRatio)).Put("device", x.Device).Put("device_count", x.GPUs).Put("busy_ratio", typeset.FinitePointer(x.BusyRatio)).Put("mfu_ratio", typeset.FinitePointer(x.MFU)).Put("mbu_ratio", typeset.FinitePointer(x.MBU)).Put("is_least", x.IsLeast).
			Put("tokens_per_s", typeset.FinitePointer(x.TokensPerS)).Put("bound", string(x.Bound)).Put("next_bound", typeset.TextOrNull(string(x.Next))).Put("why", x.Why).Put("but", typeset.TextOrNull(x.But)).Put("command", x.Query)
		out = append(out, o)
	}
	return out
}

// rankObjects say of each stage, or of steps, for which rank the others waited.
func rankObjects(s judge.Summary) []any {
	out := []any{}
	for _, x := range s.Ranks {
		out = append(out, (&typeset.Object{}).Put("range", x.Range).Put("rank", x.Rank).Put("rank_count", x.Ranks).Put("is_slow", x.IsSlow).Put("late_ns", x.LateNs).Put("waited_ns", x.WaitedNs).Put("wait_ratio", typeset.Finite(x.WaitRatio)).Put("share_ratio", typeset.Finite(x.ShareRatio)).
			Put("slowest_count", x.Slowest).Put("pass_count", x.Passes).Put("most_ns", x.MostNs).Put("most_pass", x.MostPass).Put("cold_late_ns", x.ColdNs).Put("cold_count", x.ColdPasses).Put("words", x.Words).Put("command", x.Query))
	}
	return out
}

func kernelObjects(s judge.Summary) []any {
	out := []any{}
	for _, k := range s.Kernels {
		out = append(out, (&typeset.Object{}).Put("kernel", k.Name).Put("role", typeset.TextOrNull(k.Role)).Put("stage", typeset.TextOrNull(k.Stage)).Put("calls", k.Calls).Put("total_ns", k.TotalNs).Put("mean_ns", typeset.Finite(k.MeanNs)).Put("share_ratio", typeset.Finite(k.ShareRatio)))
	}
	return out
}

func findingObjects(list []judge.Finding) []any {
	out := []any{}
	for _, x := range list {
		out = append(out, (&typeset.Object{}).Put("id", x.ID).Put("stage", typeset.TextOrNull(x.Stage)).Put("device", x.Device).Put("saving_ns", x.SavingNs).Put("share_ratio", typeset.Finite(x.ShareRatio)).Put("bound", x.Bound).Put("passes", x.Passes).Put("span_ns", x.SpanNs).
			Put("device_count", x.DeviceCount).Put("title", x.Title).Put("subject", typeset.TextOrNull(x.Subject)).Put("numbers", map[string]any(x.Numbers)).Put("evidence", x.Evidence).Put("advice", x.Advice).
			Put("query", typeset.TextOrNull(x.Query)).Put("command", typeset.TextOrNull(x.Command)).Put("detail_command", typeset.TextOrNull(x.Detail)))
	}
	return out
}

// adviceObjects are what to try, by its finding, and what to capture next, which has none.
func adviceObjects(list []judge.Advice) []any {
	out := []any{}
	for _, a := range list {
		out = append(out, (&typeset.Object{}).Put("finding", typeset.TextOrNull(a.Rule)).Put("stage", typeset.TextOrNull(a.Stage)).Put("advice", a.Text).Put("why", a.Why).Put("command", a.Command))
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
