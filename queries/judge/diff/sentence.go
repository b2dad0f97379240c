package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"prof/queries/judge"
	"prof/queries/judge/stats"
)

// IsPaced reports whether the CPU paces the stage, so that it is judged by the time from pass to pass.
func (st *Stage) IsPaced() bool { return st.Metric == intervalMetric }

// spanText is what became of the GPU span of a stage that is judged from pass to pass.
func (st *Stage) spanText() string {
	c, verdict := st.of(spanMetric)
	if !st.IsPaced() || c == nil {
		return ""
	}
	return fmt.Sprintf("the GPU span of a %s is %s (%s)", st.Unit, fromTo(*c, " -> "), verdict)
}

// sentence tells a stage: verdict, figures, what they follow from and where the change comes from.
func (st *Stage) sentence(s *stagePair) string {
	if !s.both() || s.name == outside {
		return fmt.Sprintf("%s: %s.", stageName(st.Name), st.Comparison.Why)
	}
	c := st.Comparison
	out := stageName(st.Name) + ": " + st.changeText()
	switch st.Metric {
	case spanMetric, "":
	case intervalMetric:
		out += " from pass to pass"
	default:
		out += " by " + st.Metric
	}
	if !math.IsNaN(c.A) && !math.IsNaN(c.B) {
		out += fmt.Sprintf(", from %s%s to %s per %s", centreText(c), judge.DurationText(c.A), judge.DurationText(c.B), st.Unit)
	}
	if seen := st.seenText(); seen != "" {
		out += "; " + seen
	}
	out += "; " + c.Why
	if st.StageExpected != "" {
		out += "; A and B differ by " + st.StageExpected
	}
	for _, words := range []string{st.spanText(), st.launches(s), st.aloneText(), st.sureText()} {
		if words != "" {
			out += ". " + capital(words)
		}
	}
	said := ""
	if work := st.workText(); work != "" {
		out += ". " + capital(work)
		if st.workChanges() {
			said = contributorWords(s.contributors(busyMetric), true)
		}
		if said != "" {
			out += ", which comes from " + said
		}
	}
	if words := contributorWords(st.Contributors, true); words != "" && words != said {
		_, verdict := st.ofParts()
		lead := leadOf(verdict, st.OverGPUs())
		out += ". " + lead + words
	}
	if st.Metric == spanMetric {
		out += st.meanText(s)
	}
	return out + "."
}

// leadOf begins what the largest differences are, times of which are added up over GPUs.
func leadOf(verdict Verdict, over string) string {
	switch isSure := verdict == Better || verdict == Worse; {
	case isSure && over != "":
		return "The change, " + over + ", comes from "
	case isSure:
		return "The change comes from "
	case over != "":
		return "Largest differences, " + over + ": "
	}
	return "Largest differences: "
}

// OverGPUs says of how many GPUs the times of a stage's parts are added up: they may be more than the stage takes. "" of one.
func (st *Stage) OverGPUs() string {
	a, b := st.A.GPUs, st.B.GPUs
	switch most := max(a, b); {
	case most < 2:
		return ""
	case min(a, b) == 0 || a == b:
		return fmt.Sprintf("sum over %d GPUs", most)
	}
	return fmt.Sprintf("sum over %d → %d GPUs", a, b)
}

// sureText names kernels that are certain to change where the stage is not.
func (st *Stage) sureText() string {
	if st.Verdict == Better || st.Verdict == Worse {
		return ""
	}
	return st.sure
}

// capital begins a sentence.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// unsureText returns what a change that cannot be told looks like.
func (st *Stage) unsureText() string {
	c := st.Comparison
	switch {
	case st.Verdict == NoChange && c.A > 0:
		return st.fromTo(" and ")
	case st.Verdict != CannotTell || c.Effect == nil:
		return ""
	}
	out := st.fromTo(" -> ")
	if st.IsPaced() {
		out += " from pass to pass"
	}
	out += ", " + signedPercent(*c.Effect)
	if doubt := c.Doubt(); doubt != "" {
		return out + "; " + doubt
	}
	if st.isApart() && c.Smallest != nil && *c.Smallest > math.Abs(*c.Effect) {
		by := "more"
		if c.Hidden() != "" {
			by = stats.SizeText(*c.Smallest)
		}
		return fmt.Sprintf("%s in these two processes; two of the same code may differ by %s", out, by)
	}
	if hidden := c.Hidden(); hidden != "" && *c.Smallest > math.Abs(*c.Effect) {
		out += "; " + hidden
	} else if text := c.Interval(); text != "" {
		out += "; " + text
	}
	return out
}

// isApart reports whether the passes of two processes do not overlap, and differ more from the others than among themselves: so much is known where it is
// not what processes of the same code differ by.
func (st *Stage) isApart() bool {
	a, b := st.A.Samples, st.B.Samples
	return st.Verdict == CannotTell && st.Level != string(byRepeat) && st.Level != string(byRun) && st.Comparison.Effect != nil && min(len(a), len(b)) > 1 && min(slices.Min(a), slices.Min(b)) > 0 &&
		(slices.Max(a) < slices.Min(b) || slices.Max(b) < slices.Min(a)) && math.Abs(*st.Comparison.Effect) > st.spread()
}

// spread is by how much the longest pass of a side is longer than its shortest, of the side where that is more.
func (st *Stage) spread() float64 {
	return max(slices.Max(st.A.Samples)/slices.Min(st.A.Samples), slices.Max(st.B.Samples)/slices.Min(st.B.Samples)) - 1
}

// seenText returns what is known of two processes whose passes do not overlap; "" of others.
func (st *Stage) seenText() string {
	if !st.isApart() {
		return ""
	}
	return fmt.Sprintf("in these two processes B's time is %s, and %s of one differ by %s at most", longerText(*st.Comparison.Effect), st.Level, percentText(st.spread()))
}

// fromTo are the centres of both sides.
func (st *Stage) fromTo(between string) string { return fromTo(st.Comparison, between) }

func fromTo(c stats.Comparison, between string) string {
	a, b := judge.DurationText(c.A), judge.DurationText(c.B)
	if a == b {
		return a
	}
	return a + between + b
}

// work is the part of the stage in which its GPUs work; nil where it is not told beside the stage.
func (st *Stage) work() *Metric { return st.figure(busyMetric) }

// figure is another figure of the stage that both sides have; nil for none.
func (st *Stage) figure(name string) *Metric {
	for k := range st.More {
		if m := &st.More[k]; m.Name == name && m.Comparison.Effect != nil {
			return m
		}
	}
	return nil
}

// aloneText returns what the stage does without a profiler; "" where no recordings say.
func (st *Stage) aloneText() string {
	m := st.figure(aloneMetric)
	if m == nil {
		return ""
	}
	c := m.Comparison
	fromTo := judge.DurationText(c.A) + " -> " + judge.DurationText(c.B)
	switch m.Verdict {
	case Better, Worse:
		return fmt.Sprintf("without a profiler it takes %s (%s)", longerText(*c.Effect), fromTo)
	case NoChange:
		return fmt.Sprintf("without a profiler it does not change (%s)", fromTo)
	}
	return fmt.Sprintf("without a profiler it cannot be told either (%s)", fromTo)
}

// workChanges reports whether the GPU's work is certain to change.
func (st *Stage) workChanges() bool {
	m := st.work()
	return m != nil && (m.Verdict == Better || m.Verdict == Worse)
}

// workText returns what is certain of the GPU's work where the whole stage cannot be told, or has no change: idle time varies more than work.
func (st *Stage) workText() string {
	m := st.work()
	if m == nil || st.Verdict == Better || st.Verdict == Worse {
		return ""
	}
	switch m.Verdict {
	case Better, Worse:
		return fmt.Sprintf("its GPU work is certain to take %s (%s %s %s)", longerText(*m.Comparison.Effect), judge.DurationText(m.Comparison.A), "->", judge.DurationText(m.Comparison.B))
	case NoChange:
		if st.Verdict == CannotTell {
			return fmt.Sprintf("its GPU work does not change (%s)", signedPercent(*m.Comparison.Effect))
		}
	}
	return ""
}

// longerText is a change of a time: "12 % longer".
func longerText(effect float64) string {
	switch {
	case effect > 1:
		return fmt.Sprintf("%.3g times as long", 1+effect)
	case effect > 0:
		return exactPercent(effect) + " longer"
	}
	return exactPercent(effect) + " less"
}

// launches returns how many kernels a pass has on either side where that differs, or why nobody knows.
func (st *Stage) launches(s *stagePair) string {
	a, b := st.A, st.B
	if a.Launches == nil || b.Launches == nil {
		if sides := s.wholeGraphs(); sides != "" {
			return "CUDA graphs of " + sides + " were traced as a whole: their kernels cannot be compared"
		}
		return ""
	}
	if a.Units == 0 || b.Units == 0 {
		return ""
	}
	before, now := float64(*a.Launches)/float64(a.Units), float64(*b.Launches)/float64(b.Units)
	if before == now {
		return ""
	}
	number := func(n float64) string { return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0") }
	return fmt.Sprintf("It launches %s kernels per %s instead of %s", number(now), st.Unit, number(before))
}

// centreText names what the times of both sides are where that is the same: medians of three samples and more, means of two.
func centreText(c stats.Comparison) string {
	switch {
	case c.NA >= 3 && c.NB >= 3 && !c.Paired:
		return "a median of "
	case c.NA == 2 && c.NB == 2, c.Paired:
		return "a mean of "
	}
	return ""
}

// wholeGraphs names the sides whose CUDA graphs were traced as a whole.
func (s *stagePair) wholeGraphs() string {
	switch a, b := s.a.wholeGraphs(), s.b.wholeGraphs(); {
	case a && b:
		return "both sides"
	case a:
		return "A"
	case b:
		return "B"
	}
	return ""
}

// wholeGraphs reports whether measured passes have CUDA graphs that were traced as a whole.
func (x *stageSide) wholeGraphs() bool {
	return slices.ContainsFunc(x.groups, func(g group) bool { return g.kernels == nil })
}

// meanText returns how the mean differs, which the ledger adds up to, where single passes move it and not the median.
func (st *Stage) meanText(s *stagePair) string {
	if st.Delta == nil || st.A.PerUnitNs == 0 || st.Delta.Ns == 0 {
		return ""
	}
	effect := float64(st.Delta.Ns) / float64(st.A.PerUnitNs)
	if c := st.Comparison; c.Effect == nil || math.Abs(effect-*c.Effect) <= max(0.02, math.Abs(*c.Effect)/4) {
		return ""
	}
	out := fmt.Sprintf(". The mean differs by %s", signedPercent(effect))
	stall, what := s.stallText()
	if stall != "" {
		out += ": " + stall
	}
	if what != "" {
		return out + "; " + what
	}
	size := func(it Item) int64 { return max(it.Delta.Ns, -it.Delta.Ns) }
	if first := slices.MaxFunc(st.Ledger, func(x, y Item) int { return cmp.Compare(size(x), size(y)) }); first.Kind == "idle" {
		out += fmt.Sprintf("; mostly %s (%s per pass on average)", idleText(first.Name), signedTime(first.Delta.Ns))
	}
	return out
}

// mostUsual is how many times the median of its side a pass takes at most that is not told of.
const mostUsual = 1.5

// stallText names the pass that stands out most, where one does, and what most of its time over the median is.
func (s *stagePair) stallText() (text, what string) {
	if text := s.slowProcess(); text != "" {
		return text, ""
	}
	worst := mostUsual
	for _, x := range []*stageSide{s.a, s.b} {
		var times []float64
		for _, g := range x.groups {
			times = append(times, float64(g.time)/float64(unitsIn(g, s.tokens)))
		}
		middle := stats.Centre(times)
		for i, g := range x.groups {
			if middle <= 0 || times[i] <= worst*middle || len(times) < 3 {
				continue
			}
			worst = times[i] / middle
			text = fmt.Sprintf("%s %d%s of %s takes %s, the median %s", s.sampleUnit(), g.number, s.whichText(x, g), s.sideName(x), judge.DurationText(times[i]), judge.DurationText(middle))
			what = s.moreIn(x, i, times[i]-middle)
		}
	}
	return text, what
}

// moreIn names the part that a group has most more of than the median one: half of all that it takes more, or none says why.
func (s *stagePair) moreIn(x *stageSide, group int, more float64) string {
	worst, text := more/2, ""
	for _, p := range s.fine {
		a := p.a
		if x == s.b {
			a = p.b
		}
		if a == nil {
			continue
		}
		var times []float64
		for i, g := range x.groups {
			times = append(times, float64(a.in(i))/float64(unitsIn(g, s.tokens)))
		}
		if middle := stats.Centre(times); times[group]-middle > worst {
			worst = times[group] - middle
			cause := s.causeOf(p)
			text = fmt.Sprintf("%s of that is %s (median %s)", judge.DurationText(times[group]), cmp.Or(cause.name, shortName(p.key.name)), judge.DurationText(middle))
		}
	}
	return text
}

// sampleUnit is what a group is: a pass, though times may be for a token of it, or a step.
func (s *stagePair) sampleUnit() Unit {
	if s.unit == PerToken {
		return PerPass
	}
	return s.unit
}

func (s *stagePair) sideName(x *stageSide) string {
	if x == s.a {
		return "A"
	}
	return "B"
}

// mostAlike is how many times the median of its side a process takes at most that is not told of.
const mostAlike = 1.25

// slowProcess names the process that takes longest where it takes much longer than the median one of its side.
func (s *stagePair) slowProcess() string {
	if s.level == byPass {
		return ""
	}
	worst, text := mostAlike, ""
	for _, x := range []*stageSide{s.a, s.b} {
		of := func(g group) float64 { return float64(g.time) / float64(unitsIn(g, s.tokens)) }
		all := x.values(s.level, func(i int) *float64 { return new(of(x.groups[i])) })
		if len(all) < 3 {
			continue
		}
		middle := stats.Centre(all)
		for _, g := range x.groups {
			same := x.values(s.level, func(i int) *float64 {
				if o := x.groups[i]; x.process(o) == x.process(g) && (o.repeat == g.repeat || s.level == byRun) {
					return new(of(o))
				}
				return nil
			})
			if middle > 0 && len(same) == 1 && same[0] > worst*middle {
				worst = same[0] / middle
				text = fmt.Sprintf("%s of %s takes %s, the median %s", strings.TrimPrefix(s.whichText(x, g), " of "), s.sideName(x), judge.DurationText(same[0]), judge.DurationText(middle))
			}
		}
	}
	return text
}

// whichText tells a pass from those of the same number.
func (s *stagePair) whichText(x *stageSide, g group) string {
	run, repeat := "", ""
	for _, o := range x.groups {
		if o.run != g.run {
			run = fmt.Sprintf(" of run %d", g.run+1)
		} else if o.repeat != g.repeat {
			repeat = fmt.Sprintf(" of repeat %d", g.repeat)
		}
	}
	return repeat + run
}
