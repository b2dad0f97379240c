package report

import (
	"io"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

// SummaryJSON writes what `show` shows of a run as one object, in base units and full precision.
func SummaryJSON(w io.Writer, run string, pairs [][2]string, s judge.Summary, doubts []string) error {
	facts := new(typeset.Object)
	for _, pair := range pairs {
		facts.Put(pair[0], pair[1])
	}
	return typeset.WriteIndented(w, new(typeset.Object).Put("run", run).Put("facts", facts).
		Put("stages", boundObjects(s)).Put("ranks", typeset.List(s.Ranks, rankObject)).Put("kernels", typeset.List(s.Kernels, kernelObject)).
		Put("findings", typeset.List(s.Findings, findingObject)).Put("advice", typeset.List(s.Advice, adviceObject)).
		Put("doubts", typeset.Unique(doubts)))
}

// FindingsJSON writes the findings of a run, and what they are to be read with, as one object, in base units and full precision.
func FindingsJSON(w io.Writer, run string, list []judge.Finding, f *frame.Frame) error {
	return typeset.WriteIndented(w, new(typeset.Object).Put("run", run).Put("findings", typeset.List(list, findingObject)).Put("notes", f.Notes))
}

// boundObjects say of each stage, or of all device work, how long it takes and what bounds it.
func boundObjects(s judge.Summary) []any {
	if s.All != nil {
		return []any{boundObject(*s.All)}
	}
	return typeset.List(s.Stages, boundObject)
}

func boundObject(x judge.StageSummary) *typeset.Object {
	basis := "gpu_span"
	if x.IsCPU {
		basis = "cpu"
	}
	o := new(typeset.Object).PutText("stage", x.Stage).Put("passes", x.Passes).
		Put("median_ns", x.MedianNs).Put("min_ns", x.MinNs).Put("max_ns", x.MaxNs).Put("mean_ns", x.MeanNs).Put("std_ns", x.StdNs).Put("basis", basis).
		Put("share_ratio", x.ShareRatio).Put("device", x.Device).Put("device_count", x.GPUs).Put("busy_ratio", x.BusyRatio).
		Put("mfu_ratio", x.MFU).Put("mbu_ratio", x.MBU).Put("is_least", x.IsLeast).Put("tokens_per_s", x.TokensPerS).
		Put("bound", x.Bound).PutText("next_bound", string(x.Next)).Put("why", x.Why).PutText("but", x.But).Put("command", x.Query)
	if x.Alone.MedianNs != nil {
		o.Put("alone_median_ns", x.Alone.MedianNs).Put("alone_mfu_ratio", x.Alone.MFU).Put("alone_mbu_ratio", x.Alone.MBU).Put("alone_tokens_per_s", x.Alone.TokensPerS)
	}
	return o
}

// rankObject says of a stage, or of steps, for which rank the others waited.
func rankObject(x judge.SlowRank) *typeset.Object {
	return new(typeset.Object).Put("range", x.Range).Put("rank", x.Rank).Put("rank_count", x.Ranks).Put("is_slow", x.IsSlow).
		Put("late_ns", x.LateNs).Put("waited_ns", x.WaitedNs).Put("wait_ratio", x.WaitRatio).Put("share_ratio", x.ShareRatio).
		Put("slowest_count", x.Slowest).Put("pass_count", x.Passes).Put("most_ns", x.MostNs).Put("most_pass", x.MostPass).
		Put("cold_late_ns", x.ColdNs).Put("cold_count", x.ColdPasses).Put("words", x.Words).Put("command", x.Query)
}

func kernelObject(k judge.TopKernel) *typeset.Object {
	return new(typeset.Object).Put("kernel", k.Name).PutText("role", k.Role).PutText("stage", k.Stage).Put("calls", k.Calls).
		Put("total_ns", k.TotalNs).Put("mean_ns", k.MeanNs).Put("share_ratio", k.ShareRatio)
}

func findingObject(x judge.Finding) *typeset.Object {
	return new(typeset.Object).Put("id", x.ID).PutText("stage", x.Stage).Put("device", x.Device).
		Put("saving_ns", x.SavingNs).Put("share_ratio", x.ShareRatio).Put("bound", x.Bound).Put("passes", x.Passes).Put("span_ns", x.SpanNs).
		Put("device_count", x.DeviceCount).Put("title", x.Title).PutText("subject", x.Subject).Put("numbers", map[string]any(x.Numbers)).
		Put("evidence", x.Evidence).Put("advice", x.Advice).
		PutText("query", x.Query).PutText("command", x.Command).PutText("detail_command", x.Detail)
}

// adviceObject is what to try, by its finding, or what to capture next, which has none.
func adviceObject(a judge.Advice) *typeset.Object {
	return new(typeset.Object).PutText("finding", a.Rule).PutText("stage", a.Stage).Put("advice", a.Text).Put("why", a.Why).Put("command", a.Command)
}
