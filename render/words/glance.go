package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/queries/judge"
	"prof/queries/judge/serving"
	"prof/render/typeset"
)

// PassTimeText words the time of a pass: 291 ms (median of 3, 287 to 617 ms).
func PassTimeText(s judge.StageSummary) string {
	text := typeset.Nanoseconds(s.MedianNs)
	switch {
	case s.Passes == 1:
		text += " (measured once)"
	case s.Passes > 1:
		text += fmt.Sprintf(" (median of %s, %s)", Passes(s), PassRange(s))
	}
	if s.IsCPU {
		text += ", on the CPU"
	}
	return text
}

// Passes is how many passes a stage has, and of how many processes at once: 5 x 2 GPUs.
func Passes(s judge.StageSummary) string {
	if s.Ranks < 2 {
		return typeset.Int(s.Passes)
	}
	what := "ranks"
	if int64(s.GPUs) == s.Ranks {
		what = "GPUs"
	}
	return fmt.Sprintf("%s x %s %s", typeset.Int(s.Passes), typeset.Int(s.Ranks), what)
}

// PassRange is the shortest and the longest pass: 287 to 617 ms.
func PassRange(s judge.StageSummary) string {
	least, most := typeset.Nanoseconds(s.MinNs), typeset.Nanoseconds(s.MaxNs)
	if number, unit, _ := strings.Cut(least, " "); strings.HasSuffix(most, " "+unit) {
		least = number
	}
	return least + " to " + most
}

// dominates is how many times as long as the next a stage takes in all from which on it is said to dominate.
const dominates = 1.2

// LeadOf is what one would tell a colleague of a run: what a token takes, what bounds it and what it could take. Where no time of a token is
// known, which stage takes most, and what bounds it.
func LeadOf(s judge.Summary) string {
	decode := s.TokenStage()
	switch {
	case s.Lacking != "":
		return typeset.Sentence(s.Lacking) + "."
	case s.Served != nil:
		return servedLead(*s.Served)
	case decode != nil:
		return tokenLead(s, *decode)
	case len(s.Stages) > 0:
		first := s.Stages[0]
		if first.IsCPU {
			return fmt.Sprintf("No GPU work can be attributed to a stage: %s takes %s on the CPU. %s.", first.Stage, typeset.Nanoseconds(first.MedianNs), typeset.Sentence(first.Why))
		}
		verb, of, rest := "takes", "the time by median passes", ""
		for _, other := range s.Stages[1:] {
			if other.IsCPU {
				of, rest = "the time on the GPU by median passes", rest+fmt.Sprintf(" %s takes %s on the CPU; no GPU work can be attributed to it.", typeset.Sentence(other.Stage), typeset.Nanoseconds(other.MedianNs))
			}
		}
		if len(s.Stages) > 1 && !s.Stages[1].IsCPU && first.ShareRatio >= dominates*s.Stages[1].ShareRatio {
			verb = "dominates with"
		}
		if slices.ContainsFunc(s.Stages, func(x judge.StageSummary) bool { return x.Stage == "decode" }) {
			rest += " Time per token is unknown: nothing says how many tokens a pass decodes."
		}
		return fmt.Sprintf("%s %s %s of %s, %s per pass%s. %s%s", typeset.Sentence(first.Stage), verb, typeset.Percent(first.ShareRatio), of, typeset.Nanoseconds(first.MedianNs), traced, BoundText(first), rest)
	case s.All != nil && len(s.WarmOnly) > 0:
		return fmt.Sprintf("All passes of %s count as warm-up: no stage was measured. GPU work spans %s, loading and warm-up included. %s", strings.Join(s.WarmOnly, ", "), typeset.Nanoseconds(s.All.MeanNs), BoundText(*s.All))
	case s.All != nil && s.Timeless != "":
		return fmt.Sprintf("Passes of %s are unknown: the scopes of the capture have no times. GPU work spans %s in all. %s", s.Timeless, typeset.Nanoseconds(s.All.MeanNs), BoundText(*s.All))
	case s.All != nil:
		return fmt.Sprintf("The capture names no stages. GPU work spans %s in all. %s", typeset.Nanoseconds(s.All.MeanNs), BoundText(*s.All))
	case len(s.Benchmarks) > 0:
		return clientLead(s.Benchmarks)
	case s.Profiled != "":
		return s.Profiled + "."
	case s.Rest != "":
		return s.Rest + "."
	}
	return "The run has no GPU work with known times."
}

// traced is said of a time that is known only as a profiler traced it, which makes it longer.
const traced = " as traced"

// tokenLead says what a token takes: 18.2 ms/token as traced (GPU busy 13.5 % of it), 45.9 ms to the first token: launching the 980 kernels of a token takes longer than running them; a
// CUDA graph would bring it down to 2.46 ms/token at best.
func tokenLead(s judge.Summary, decode judge.StageSummary) string {
	t := *decode.Token
	token, first, alone := t.Ns, (*float64)(nil), t.AloneNs != nil
	at := slices.IndexFunc(s.Stages, func(x judge.StageSummary) bool { return x.Stage == "prefill" && !x.IsCPU })
	if at >= 0 {
		prefill := s.Stages[at]
		first, alone = &prefill.MedianNs, alone && prefill.Alone.MedianNs != nil
		if alone {
			first = prefill.Alone.MedianNs
		}
	}
	if alone {
		token = *t.AloneNs
	}
	text := typeset.Nanoseconds(token) + "/token"
	if !alone {
		text += traced
	}
	switch {
	case t.BusyNs == nil || *t.BusyNs > token:
	case alone: // shares are of the time under the profiler
		text += " (GPU busy for " + typeset.Nanoseconds(*t.BusyNs) + " of it)"
	default:
		text += " (GPU busy " + typeset.Percent(*t.BusyNs/t.Ns) + " of it)"
	}
	if first != nil {
		text += ", " + typeset.Nanoseconds(*first) + " to the first token"
	}
	switch {
	case alone && first != nil:
		text += ", both without a profiler"
	case alone:
		text += ", without a profiler"
	}
	if decode.Bound == judge.UnknownBound {
		return text + ": its bound is unknown: " + decode.Why + "."
	}
	text += ": " + tokenBound(s, decode, token)
	if decode.Graphs != "" {
		text += "; " + decode.Stage + " replays " + decode.Graphs
	}
	return text + "."
}

// servedLead says what a token takes of an engine under load, by its client where that knows, and the two largest parts of it.
func servedLead(t serving.Token) string {
	first := t.Slowest
	var text string
	switch {
	case first.Window != nil:
		text = typeset.Nanoseconds(*first.Window) + "/token (TPOT of the client, while it was recorded)"
	case first.Client != nil:
		text = typeset.Nanoseconds(*first.Client) + "/token (TPOT of the client, whole benchmark)"
	default:
		text = typeset.Nanoseconds(t.EngineNs()) + "/token in the engine"
	}
	if first.FirstWindow != nil {
		text += ", " + typeset.Nanoseconds(*first.FirstWindow) + " to the first token"
	}
	causes := slices.Clone(t.Causes)
	slices.SortStableFunc(causes, func(a, b serving.Cause) int { return cmp.Compare(b.PartNs(), a.PartNs()) })
	at := ""
	if t.GPUs > 1 {
		at = fmt.Sprintf(" on GPU %d, the slowest of %d", first.Device, t.GPUs)
	}
	part := func(c serving.Cause) string {
		if c.Iterations == nil {
			return c.Cause + " time between steps"
		}
		return fmt.Sprintf("%s time in %s steps", c.Cause, c.Kind)
	}
	text += fmt.Sprintf(": of %s%s, %s takes %s", typeset.Nanoseconds(first.TokenNs()), at, part(causes[0]), typeset.Nanoseconds(causes[0].PartNs()))
	if len(causes) > 1 {
		text += fmt.Sprintf(", %s %s", part(causes[1]), typeset.Nanoseconds(causes[1].PartNs()))
	}
	return text + "."
}

// tokenBound says what bounds the tokens, and what one would take without that.
func tokenBound(s judge.Summary, decode judge.StageSummary, now float64) string {
	t := *decode.Token
	better := func(ns *float64, how string) string {
		if ns == nil || *ns >= now {
			return ""
		}
		return fmt.Sprintf("; %s %s/token at best", how, typeset.Nanoseconds(*ns))
	}
	switch {
	case decode.Bound == judge.LaunchBound && s.FindingOf("graph-gaps", decode.Stage) == nil && t.Kernels != nil:
		var graph *float64
		if x := s.FindingOf("launch-bound", decode.Stage); x != nil {
			graph = &x.Gain.ThenNs
		}
		return "launching the " + typeset.Digits(*t.Kernels) + " kernels of a token takes longer than running them" + better(graph, map[bool]string{true: "a CUDA graph", false: "one graph of all of them"}[decode.Graphs == ""]+" would bring it down to")
	case decode.Bound == judge.ComputeBound:
		return decode.Meaning
	case decode.Bound == judge.MemoryBound || decode.Bound == judge.BusyBound || decode.Bound == judge.MixedBound:
		return decode.Meaning + better(t.RoofNs, "at peak memory bandwidth")
	}
	return decode.Meaning + better(t.BusyNs, "a GPU that never idles would bring it down to")
}

// BoundText returns what bounds a stage, and what comes next.
func BoundText(s judge.StageSummary) string {
	if s.Bound == judge.UnknownBound {
		return fmt.Sprintf("Its bound is unknown: %s.", s.Why)
	}
	text := fmt.Sprintf("It %s: %s.", s.Says(), s.Meaning)
	switch {
	case s.Next == "" || s.Next == s.Bound || s.Next == judge.UnknownBound:
	case s.Bound == judge.LateBound && s.Next == judge.WaitBound:
		text += " The late GPU idles while the CPU waits for a result, allocates memory or loads code."
	case s.Bound == judge.LateBound:
		text += fmt.Sprintf(" The late GPU %s.", s.Next.Says())
	default:
		text += fmt.Sprintf(" It %s.", also(s.Next.Says()))
	}
	if s.But != "" {
		text += " But " + s.But + "."
	}
	return text
}

// also puts an also into what a stage does or is.
func also(says string) string {
	if is, ok := strings.CutPrefix(says, "is "); ok {
		return "is also " + is
	}
	return "also " + says
}

// UseText words a utilisation. More than all is an error in what it was made from.
func UseText(ratio float64, isLeast bool) string {
	switch {
	case ratio > 1:
		return typeset.Percent(ratio) + " (an input is wrong)"
	case isLeast:
		return "≥ " + typeset.Percent(ratio)
	}
	return typeset.Percent(ratio)
}

// CategoryTime words what a category took: GPUs that work side by side add up.
func CategoryTime(c judge.TimeCategory) string {
	text := typeset.Nanoseconds(float64(c.TotalNs))
	switch {
	case c.GPUs == 2:
		text += " over both GPUs"
	case c.GPUs > 2:
		text += fmt.Sprintf(" over %d GPUs", c.GPUs)
	}
	return text
}

// KernelText says of a kernel what it takes, where, and what bounds it.
func KernelText(k judge.TopKernel) string {
	of := "all kernel time"
	if k.IsMeasured {
		of = "kernel time in measured passes"
	}
	text := fmt.Sprintf("%s of %s: %s in %s of %s", typeset.Percent(k.ShareRatio), of, typeset.Nanoseconds(float64(k.TotalNs)), typeset.Plural(k.Calls, "call", "calls"), typeset.Nanoseconds(k.MeanNs))
	if k.Role != "" {
		text += "; " + typeset.Neutral(k.Role)
	}
	if k.Stage != "" {
		text += "; mostly in " + typeset.Neutral(k.Stage)
	}
	switch {
	case k.Role == "collective":
		return text + "; its time includes waiting for later ranks"
	case k.Bound == "" && k.IsForeign:
		return text + "; bound unknown: " + judge.NoTool
	case k.Bound == "":
		return text + "; bound unknown: Nsight Compute did not profile it"
	case k.Bound == "unknown":
		return text + "; bound unknown from what Nsight Compute measured"
	}
	text += "; " + typeset.Neutral(k.Bound) + "-bound by Nsight Compute"
	if k.Limiter != "" {
		text += " (" + typeset.Neutral(k.Limiter) + ")"
	}
	return text
}
