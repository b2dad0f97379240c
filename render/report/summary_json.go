package report

import (
	"io"

	"prof/queries/judge"
	"prof/render/typeset"
	"prof/render/words"
)

// SummaryJSON writes what `show` shows of a run as SummaryForm.
func SummaryJSON(w io.Writer, run string, pairs [][2]string, s judge.Summary, doubts []string) error {
	facts := new(typeset.Object)
	for _, pair := range pairs {
		facts.Put(pair[0], pair[1])
	}
	return typeset.WriteIndented(w, SummaryForm[*typeset.Object]{
		Run: run, Lead: words.LeadOf(s), Facts: facts, Stages: boundForms(s), Ranks: typeset.Each(s.Ranks, rankForm), Kernels: typeset.Each(s.Kernels, kernelForm),
		Findings: typeset.Each(s.Findings, findingForm), Advice: typeset.Each(s.Advice, adviceForm), Doubts: typeset.Listed(typeset.Unique(doubts)),
	})
}

// FindingsJSON writes the findings of a run, its largest kernels and their notes as FindingsForm.
func FindingsJSON(w io.Writer, run string, list []judge.Finding, kernels []judge.LargeKernel, notes []string) error {
	return typeset.WriteIndented(w, FindingsForm{run, typeset.Each(list, findingForm), typeset.Each(kernels, largeForm), typeset.Listed(notes)})
}

// SummaryForm is a run on one screen as JSON: in base units and full precision, null where something is not known. Its facts are texts by name.
type SummaryForm[F *typeset.Object | map[string]string] struct {
	Run      string        `json:"run" doc:"run name"`
	Lead     string        `json:"lead" doc:"what one would tell a colleague: time per token, what bounds it and what it could be"`
	Facts    F             `json:"facts" doc:"what the run is, in words"`
	Stages   []BoundForm   `json:"stages" nullable:"false" doc:"stages with measured passes by time, or all device work"`
	Ranks    []RankForm    `json:"ranks" nullable:"false" doc:"which rank the others wait for, by stage"`
	Kernels  []KernelForm  `json:"kernels" nullable:"false" doc:"those that take most of the kernels' time in measured passes; in all the run where nothing was measured"`
	Findings []FindingForm `json:"findings" nullable:"false" doc:"what could make the run faster, by what it could save"`
	Advice   []AdviceForm  `json:"advice" nullable:"false" doc:"what to try, or to capture next"`
	Doubts   []string      `json:"doubts" nullable:"false" doc:"what to keep in mind when reading the figures"`
}

// FindingsForm is what could make a run faster, as JSON.
type FindingsForm struct {
	Run      string        `json:"run" doc:"run name"`
	Findings []FindingForm `json:"findings" nullable:"false" doc:"by what they could save"`
	Kernels  []LargeForm   `json:"kernels" nullable:"false" doc:"those that take 10 % or more of the GPU time of a stage's median pass"`
	Notes    []string      `json:"notes" nullable:"false" doc:"what a reader must know of the figures"`
}

// LargeForm is a kernel that takes a tenth of the GPU time of a stage's median pass or more, and what limits it.
type LargeForm struct {
	Stage         *string        `json:"stage" doc:"null is all device work"`
	Kernel        string         `json:"kernel"`
	Device        int64          `json:"device" doc:"of which it takes the largest share"`
	DeviceCount   int64          `json:"device_count" doc:"GPUs on which it takes so much"`
	ShareRatio    typeset.Number `json:"share_ratio" doc:"of the time in which the GPU works in the median pass"`
	Calls         int64          `json:"calls" doc:"in these passes"`
	TotalNs       int64          `json:"total_ns"`
	Passes        int64          `json:"passes"`
	PassCalls     typeset.Number `json:"pass_calls" doc:"in the median pass; of all device work, all"`
	PassNs        typeset.Number `json:"pass_ns" doc:"sum of their durations"`
	PathPassNs    *float64       `json:"path_pass_ns" doc:"by how much that pass would be shorter at most without it, by the critical path"`
	Limit         *string        `json:"limit" enum:"ranks,roof,below-roof,tensor-cores,grid" doc:"as in large-kernels; null is unknown"`
	RoofRatio     *float64       `json:"roof_ratio" doc:"of its roofline"`
	Findings      []string       `json:"findings" nullable:"false" doc:"rules with a finding about it"`
	Words         string         `json:"words" doc:"what limits it, or that nothing is known"`
	Without       *string        `json:"without" doc:"what a pass would take without it"`
	Advice        *string        `json:"advice" doc:"what to do about it"`
	Command       *string        `json:"command" doc:"shows more, or captures what is missing"`
	DetailCommand *string        `json:"detail_command" doc:"another one that shows more"`
}

// BoundForm is how long a stage takes and what bounds it.
type BoundForm struct {
	Stage       *string        `json:"stage" doc:"null is all device work"`
	Passes      int64          `json:"passes" doc:"measured ones, warm-up left out"`
	PassesText  string         `json:"passes_text" doc:"the same in words: 5 x 2 GPUs"`
	MedianNs    typeset.Number `json:"median_ns" doc:"of a pass, by basis"`
	MinNs       typeset.Number `json:"min_ns"`
	MaxNs       typeset.Number `json:"max_ns"`
	MeanNs      typeset.Number `json:"mean_ns"`
	StdNs       *float64       `json:"std_ns" doc:"sample standard deviation"`
	Basis       string         `json:"basis" enum:"gpu_span,cpu" doc:"first start to last end of device work, or the range on its thread"`
	ShareRatio  typeset.Number `json:"share_ratio" doc:"median pass x passes, of that of all stages"`
	Device      int64          `json:"device" doc:"the GPU that is judged"`
	DeviceCount int            `json:"device_count" doc:"GPUs that worked in it"`
	BusyRatio   *float64       `json:"busy_ratio" doc:"GPU busy, of the median pass; of several GPUs of that on each, together"`
	MFURatio    *float64       `json:"mfu_ratio" doc:"of the median pass, as the next"`
	MBURatio    *float64       `json:"mbu_ratio"`
	IsLeast     bool           `json:"is_least" doc:"MFU and MBU are at least that: not all work could be counted"`
	TokensPerS  *float64       `json:"tokens_per_s" doc:"tokens of the median pass / median_ns"`
	Bound       judge.Bound    `json:"bound" doc:"what keeps it from being faster"`
	BoundLabel  string         `json:"bound_label" doc:"the same in words, with the GPU that is waited for"`
	NextBound   *string        `json:"next_bound" doc:"what takes most time after that"`
	Why         string         `json:"why" doc:"a sentence with the figures that it follows from"`
	But         *string        `json:"but" doc:"why that may be no picture of a usual pass"`
	Command     string         `json:"command" doc:"shows the query behind it"`
	TokenNs     *float64       `json:"token_time_ns" required:"false" doc:"median time of an output token of a sequence: GPU span of a decode pass for each of its steps"`
	*AloneForm
}

// AloneForm is what a stage does without a profiler: the figures to quote.
type AloneForm struct {
	MedianNs   *float64 `json:"alone_median_ns" required:"false" doc:"of a pass without a profiler: the figure to quote"`
	MFURatio   *float64 `json:"alone_mfu_ratio" required:"false"`
	MBURatio   *float64 `json:"alone_mbu_ratio" required:"false"`
	TokensPerS *float64 `json:"alone_tokens_per_s" required:"false"`
}

// RankForm is for which rank the others waited, in a stage or in steps.
type RankForm struct {
	Range        string         `json:"range" doc:"the stage, or the name of the steps"`
	Rank         string         `json:"rank"`
	RankCount    int            `json:"rank_count"`
	IsSlow       bool           `json:"is_slow" doc:"it stands out"`
	LateNs       int64          `json:"late_ns" doc:"time that the others waited for it"`
	WaitedNs     int64          `json:"waited_ns" doc:"time that ranks waited for the last to come"`
	WaitRatio    typeset.Number `json:"wait_ratio" doc:"waited_ns as a share of the time in collectives"`
	ShareRatio   typeset.Number `json:"share_ratio" doc:"late_ns as a share of waited_ns"`
	SlowestCount int64          `json:"slowest_count" doc:"passes in which it was waited for longest"`
	PassCount    int64          `json:"pass_count"`
	MostNs       int64          `json:"most_ns" doc:"the most in one pass"`
	MostPass     int64          `json:"most_pass" doc:"that pass"`
	ColdLateNs   int64          `json:"cold_late_ns" doc:"in the passes that are left out"`
	ColdCount    int64          `json:"cold_count"`
	Words        string         `json:"words"`
	Command      string         `json:"command" doc:"shows it pass by pass"`
}

// KernelForm is a kernel that takes much of the kernels' time.
type KernelForm struct {
	Kernel     string         `json:"kernel"`
	Role       *string        `json:"role"`
	Stage      *string        `json:"stage" doc:"in which most of its time is"`
	Calls      int64          `json:"calls"`
	TotalNs    int64          `json:"total_ns"`
	MeanNs     typeset.Number `json:"mean_ns"`
	ShareRatio typeset.Number `json:"share_ratio" doc:"of all kernel time; in measured passes where there are any"`
}

// FindingForm is what could make the work faster, and by how much.
type FindingForm struct {
	ID            string         `json:"id" doc:"name of the rule"`
	Stage         *string        `json:"stage" doc:"null is all device work"`
	Device        int64          `json:"device" doc:"where it could save most"`
	Gain          string         `json:"gain" doc:"what the stage takes and would take: 18.2 -> 2.49 ms/token at best"`
	GainPer       *string        `json:"gain_per" enum:"token,pass" doc:"what now_ns and then_ns are of; null is all device work"`
	NowNs         typeset.Number `json:"now_ns" doc:"what it takes, median"`
	ThenNs        typeset.Number `json:"then_ns" doc:"what it would take, as bound says"`
	IsByPath      bool           `json:"is_by_path" doc:"then_ns is simulated on the critical path"`
	SavingNs      int64          `json:"saving_ns" doc:"of span_ns: over all passes, as numbers are"`
	ShareRatio    typeset.Number `json:"share_ratio" doc:"1 - then_ns / now_ns: of the median pass, as all that is printed"`
	Bound         string         `json:"bound" enum:"at most,about" doc:"how the saving is to be read"`
	Passes        int64          `json:"passes"`
	SpanNs        int64          `json:"span_ns" doc:"of all passes"`
	DeviceCount   int64          `json:"device_count"`
	Title         string         `json:"title"`
	Subject       *string        `json:"subject" doc:"kernel, family, function, operation or ranges that it is most about"`
	Numbers       map[string]any `json:"numbers" doc:"what it follows from, by name, in base units"`
	Evidence      string         `json:"evidence" doc:"the same in words"`
	Advice        string         `json:"advice" doc:"what to try"`
	Query         *string        `json:"query" doc:"SQL of the rows behind it"`
	Command       *string        `json:"command" doc:"the same as a command"`
	DetailCommand *string        `json:"detail_command" doc:"shows more"`
}

// AdviceForm is what to try, or to capture next.
type AdviceForm struct {
	Finding *string `json:"finding" doc:"id of its finding; null where something is to be captured"`
	Stage   *string `json:"stage"`
	Advice  string  `json:"advice"`
	Why     string  `json:"why"`
	Command string  `json:"command" doc:"shows the number and more, or captures what is missing"`
}

func boundForms(s judge.Summary) []BoundForm {
	if s.All != nil {
		return []BoundForm{boundForm(*s.All)}
	}
	return typeset.Each(s.Stages, boundForm)
}

func boundForm(x judge.StageSummary) BoundForm {
	f := BoundForm{
		Stage: typeset.Optional(x.Stage), Passes: x.Passes, PassesText: words.Passes(x), MedianNs: typeset.Number(x.MedianNs), MinNs: typeset.Number(x.MinNs), MaxNs: typeset.Number(x.MaxNs), MeanNs: typeset.Number(x.MeanNs), StdNs: typeset.Finite(x.StdNs), Basis: "gpu_span",
		ShareRatio: typeset.Number(x.ShareRatio), Device: x.Device, DeviceCount: x.GPUs, BusyRatio: typeset.Finite(x.BusyRatio), MFURatio: typeset.Finite(x.MFU), MBURatio: typeset.Finite(x.MBU),
		IsLeast: x.IsLeast, TokensPerS: typeset.Finite(x.TokensPerS), Bound: x.Bound, BoundLabel: x.Label, NextBound: typeset.Optional(string(x.Next)), Why: x.Why, But: typeset.Optional(x.But), Command: x.Query,
	}
	if x.Token != nil {
		f.TokenNs = typeset.Finite(&x.Token.Ns)
	}
	if x.IsCPU {
		f.Basis = "cpu"
	}
	if a := x.Alone; a.MedianNs != nil {
		f.AloneForm = &AloneForm{typeset.Finite(a.MedianNs), typeset.Finite(a.MFU), typeset.Finite(a.MBU), typeset.Finite(a.TokensPerS)}
	}
	return f
}

func rankForm(x judge.SlowRank) RankForm {
	return RankForm{
		Range: x.Range, Rank: x.Rank, RankCount: x.Ranks, IsSlow: x.IsSlow, LateNs: x.LateNs, WaitedNs: x.WaitedNs, WaitRatio: typeset.Number(x.WaitRatio), ShareRatio: typeset.Number(x.ShareRatio),
		SlowestCount: x.Slowest, PassCount: x.Passes, MostNs: x.MostNs, MostPass: x.MostPass, ColdLateNs: x.ColdNs, ColdCount: x.ColdPasses, Words: x.Words, Command: x.Query,
	}
}

func kernelForm(k judge.TopKernel) KernelForm {
	return KernelForm{k.Name, typeset.Optional(k.Role), typeset.Optional(k.Stage), k.Calls, k.TotalNs, typeset.Number(k.MeanNs), typeset.Number(k.ShareRatio)}
}

func findingForm(x judge.Finding) FindingForm {
	return FindingForm{
		ID: x.ID, Stage: typeset.Optional(x.Stage), Device: x.Device, SavingNs: x.SavingNs, ShareRatio: typeset.Number(x.Gain.Ratio()), Bound: x.Bound,
		Gain: x.Gain.Text(), GainPer: typeset.Optional(x.Gain.Per), NowNs: typeset.Number(x.Gain.NowNs), ThenNs: typeset.Number(x.Gain.ThenNs), IsByPath: x.IsByPath, Passes: x.Passes, SpanNs: x.SpanNs,
		DeviceCount: x.DeviceCount, Title: x.Title, Subject: typeset.Optional(x.Subject), Numbers: x.Numbers(), Evidence: x.Evidence, Advice: x.Advice,
		Query: typeset.Optional(x.Query), Command: typeset.Optional(x.Command), DetailCommand: typeset.Optional(x.Detail),
	}
}

func largeForm(k judge.LargeKernel) LargeForm {
	return LargeForm{
		Stage: typeset.Optional(k.Stage), Kernel: k.Name, Device: k.Device, DeviceCount: k.DeviceCount, ShareRatio: typeset.Number(k.ShareRatio), Calls: k.Calls, TotalNs: k.TotalNs, Passes: k.Passes,
		PassCalls: typeset.Number(k.PassCalls), PassNs: typeset.Number(k.PassNs), PathPassNs: typeset.Finite(k.PathPassNs), Limit: typeset.Optional(k.Limit), RoofRatio: typeset.Finite(k.RoofRatio), Findings: typeset.Listed(k.Findings), Words: k.Why,
		Without: typeset.Optional(k.Without), Advice: typeset.Optional(k.Advice), Command: typeset.Optional(k.Command), DetailCommand: typeset.Optional(k.Detail),
	}
}

func adviceForm(a judge.Advice) AdviceForm {
	return AdviceForm{typeset.Optional(a.ID), typeset.Optional(a.Stage), a.Advice, a.Why, a.Command}
}
