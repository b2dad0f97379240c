package diff

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/stats"
	"prof/schema/terms"
)

// whole fills in what the caller left open.
func (o Options) whole() (Options, error) {
	if o.By == "" {
		o.By = ByKernel
	}
	if o.Metric == "" {
		o.Metric, o.paced = spanMetric, true
	}
	o.Metric = Canonical(o.Metric)
	if !slices.Contains(terms.StageTimes(), o.Metric) {
		return o, fmt.Errorf("%w: stages are judged by %s, not %q", frame.ErrBadArgument, strings.Join(terms.StageTimes(), ", "), o.Metric)
	}
	if !slices.Contains(Dimensions, o.By) {
		return o, fmt.Errorf("%w: work is compared by %s, not %q", frame.ErrBadArgument, dimensionsText(), o.By)
	}
	if o.Stats.Alpha == 0 && o.Stats.MinEffect == 0 && o.Stats.Margin == 0 {
		noise := o.Stats.Noise
		o.Stats = stats.DefaultOptions()
		o.Stats.Noise = noise
	}
	if o.AssumeNoise != nil {
		if o.Stats.Noise = stats.AssumeNoise(*o.AssumeNoise); o.Stats.Noise == nil {
			return o, fmt.Errorf("%w: noise of %v is not a share; write 0.02 for 2 %%", frame.ErrBadArgument, *o.AssumeNoise)
		}
	}
	return o, nil
}

// Dimensions are what work can be compared by.
var Dimensions = []Dimension{ByKernel, ByFamily, ByGrid, ByStage, ByOperator, ByRange, ByMetric, ByTree}

func dimensionsText() string {
	var names []string
	for _, d := range Dimensions {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}

// adds reports whether the items of a dimension are parts of the time of their stage.
func (d Dimension) adds() bool { return d == ByKernel || d == ByFamily || d == ByGrid }

// distinctSources leaves out queries of a run that is on both sides.
func distinctSources(list []Source) []Source {
	seen := map[Source]bool{}
	return slices.DeleteFunc(list, func(s Source) bool {
		twice := seen[s]
		seen[s] = true
		return twice
	})
}

// StageMeasure is a figure of stages that verdicts are about: those of diff, and rules of check.
type StageMeasure struct {
	terms.Measure
	kind figureKind
}

// The names of measures that others are told by.
const (
	spanMetric     = "gpu_span_ns" // what stages are judged by unless the caller says otherwise
	intervalMetric = "interval_ns" // or the CPU paces them
	busyMetric     = "gpu_busy_ns"
	idleMetric     = "gpu_idle_ns"
	aloneMetric    = "alone_ns" // without a profiler: of recordings, not of what they hold
	tokenRateName  = "tokens_per_s"
	tokenTimeName  = "ns_per_token"
	launchesName   = "launches"
)

// StageMeasures are all of them, in the order in which they are told.
var StageMeasures = func() (out []StageMeasure) {
	kinds := map[string]figureKind{spanMetric: spanFigure, busyMetric: workFigure, idleMetric: idleFigure, "gpu_sum_ns": workFigure, "cpu_ns": cpuFigure, intervalMetric: paceFigure, tokenRateName: rateFigure, tokenTimeName: rateFigure, launchesName: countFigure}
	for _, m := range terms.MeasuresIn(terms.Measures, terms.Diff) {
		out = append(out, StageMeasure{m, kinds[m.Name]})
	}
	return out
}()

// measureOf finds a measure by its name, or the other one.
func measureOf(name string) (StageMeasure, bool) {
	i := slices.IndexFunc(StageMeasures, func(m StageMeasure) bool { return m.Name == name || m.Also != "" && m.Also == name })
	if i < 0 {
		return StageMeasure{}, false
	}
	return StageMeasures[i], true
}

// Canonical is the first name of a measure of stages, by either; the name as it is of what is none.
func Canonical(name string) string {
	if m, known := measureOf(name); known {
		return m.Name
	}
	return name
}

// unitOf returns what a stage's times are for: a pass, or a token where the passes of the sides work on different numbers of tokens.
func unitOf(stage string, a, b *stageSide) (Unit, func(group) *int64) {
	switch {
	case stage == "" || stage == outside:
		return PerRun, nil
	case a.basis+b.basis != "":
		return PerStep, nil
	}
	// A stage that does both, such as a step of a server, has no one token that its time could be for.
	prompt, decode := tokenStates(a, b, func(g group) *int64 { return g.prompt }), tokenStates(a, b, func(g group) *int64 { return g.decode })
	switch {
	case prompt.differ && !decode.some:
		return PerToken, func(g group) *int64 { return g.prompt }
	case decode.differ && (!prompt.some || stage == "decode"):
		return PerToken, func(g group) *int64 { return g.decode }
	case prompt.differ && stage == "prefill":
		return PerToken, func(g group) *int64 { return g.prompt }
	}
	return PerPass, nil
}

// tokenState is what is known of a kind of tokens.
type tokenState struct {
	some   bool // of a pass that works on some
	differ bool // of all passes of both sides, and the mean pass of one side has more
}

func tokenStates(a, b *stageSide, of func(group) *int64) tokenState {
	var out tokenState
	all := true
	sums := [2]int64{}
	for i, s := range []*stageSide{a, b} {
		all = all && len(s.groups) > 0
		for _, g := range s.groups {
			n := of(g)
			all = all && n != nil && *n > 0
			if n != nil {
				out.some = out.some || *n > 0
				sums[i] += *n
			}
		}
	}
	out.differ = all && sums[0]*int64(len(b.groups)) != sums[1]*int64(len(a.groups))
	return out
}

// tokensOf returns the tokens of a stage by what it is called: those that its passes decode, or those of their prompts.
func tokensOf(stage string, s *stageSide) func(group) *int64 {
	prompt, decode := func(g group) *int64 { return g.prompt }, func(g group) *int64 { return g.decode }
	known := func(of func(group) *int64) bool {
		return len(s.groups) > 0 && !slices.ContainsFunc(s.groups, func(g group) bool { n := of(g); return n == nil || *n <= 0 })
	}
	switch {
	case stage != "prefill" && known(decode):
		return decode
	case known(prompt) && !slices.ContainsFunc(s.groups, func(g group) bool { return g.decode != nil && *g.decode > 0 && stage != "prefill" }):
		return prompt
	}
	return nil
}

// unitsIn returns the units of a group: 1, or its tokens.
func unitsIn(g group, tokens func(group) *int64) int64 {
	if tokens == nil {
		return 1
	}
	return *tokens(g)
}

func (s *stageSide) units(tokens func(group) *int64) int64 {
	var out int64
	for _, g := range s.groups {
		out += unitsIn(g, tokens)
	}
	return out
}
