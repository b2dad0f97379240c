package diff

import (
	"fmt"
	"math"
	"strings"

	"prof/queries/judge"
	"prof/queries/judge/stats"
)

// launchVaries is what a kernel of a single pass differs by between processes, as a standard deviation of logarithms. Of 2,800 kernels with two launches
// and more in measured passes of testdata it was 0.9 % within a process and 2.6 % between processes, 30 % at most; but a single pass may be cold, and clocks
// that still rise make all its launches longer: by up to 55 % in the first step of one capture.
const launchVaries = 0.1

var loneNoise = stats.Noise{SD: launchVaries, DF: noiseDF, From: "a single pass may be cold"}

// isLone reports whether a side has one pass only, so that passes show no spread, and both do the same work.
func (s *stagePair) isLone() bool {
	return s.level == byPass && s.tokens == nil && min(len(s.a.groups), len(s.b.groups)) == 1
}

// compareItem compares what kernels, or another part of a stage, take for one unit: lines are the kernels by grid. Where a side has one pass, launches of
// the same grid tell how much a kernel varies.
func (s *stagePair) compareItem(lines []pair, a, b []float64, o stats.Options, among int) stats.Comparison {
	se, df, told := s.launchError(lines)
	if !told || o.Noise != nil || !s.isLone() {
		return s.compare(itemFigure, a, b, o, among)
	}
	o.Comparisons, o.Noise = among, &loneNoise
	return stats.CompareLaunches(stats.Centre(a), stats.Centre(b), se, df, o)
}

// launchError is how far the launches of kernels leave open how their time changed. Both sides must have as many launches of each grid, else it is other
// work. Launches in one place of the model do the same on both sides, in another place other work, so what is compared is the shortest launch of each grid
// with the shortest, and the longest with the longest: where all change alike, the change is sure. Launches share what slows a process down, so that many
// tell no more than one. It is not told of collectives, which last as long as they wait, and of a single launch.
func (s *stagePair) launchError(lines []pair) (se, df float64, told bool) {
	var changes, weights []float64
	var totalA, totalB, sum float64
	for _, l := range lines {
		a, b := l.a, l.b
		if a == nil || b == nil || l.key.grid == "" || a.role == "collective" || a.tally.calls*int64(len(s.b.groups)) != b.tally.calls*int64(len(s.a.groups)) || min(a.tally.min, b.tally.min) <= 0 {
			return 0, 0, false
		}
		totalA, totalB = totalA+float64(a.tally.total), totalB+float64(b.tally.total)
		weight := float64(a.tally.total)/float64(len(s.a.groups)) + float64(b.tally.total)/float64(len(s.b.groups))
		changes = append(changes, math.Log(float64(b.tally.min)/float64(a.tally.min)))
		weights, sum = append(weights, weight), sum+weight
		if max(a.tally.calls, b.tally.calls) > 1 {
			changes = append(changes, math.Log(float64(b.tally.max)/float64(a.tally.max)))
			weights, sum = append(weights, weight), sum+weight
		}
	}
	if len(changes) < 2 {
		return 0, 0, false
	}
	whole := math.Log(totalB / float64(len(s.b.groups)) / (totalA / float64(len(s.a.groups))))
	for i, c := range changes {
		se += weights[i] / sum * (c - whole) * (c - whole)
	}
	return 2 * math.Sqrt(se), float64(len(changes) - 1), true
}

// sureKernels names the kernels that are certain to change, those that change most.
func sureKernels(list []Item) string {
	var sure []Item
	for _, it := range list {
		if it.Kind == "kernel" && (it.Verdict == Better || it.Verdict == Worse) {
			sure = append(sure, it)
		}
	}
	byChange(sure)
	var texts []string
	for _, it := range sure[:min(mostNamed, len(sure))] {
		c := it.Comparison
		texts = append(texts, fmt.Sprintf("kernel %s takes %s (%s -> %s)", shortName(it.Name), longerText(*c.Effect), judge.DurationText(c.A), judge.DurationText(c.B)))
	}
	if len(texts) == 0 {
		return ""
	}
	return "launches show that " + strings.Join(texts, ", ")
}

// gridsOf are those of a stage's kernels by grid that an item is made of.
func gridsOf(byGrid []pair, of lineKey) (out []pair) {
	for _, l := range byGrid {
		if of.kind == "kernel" && l.key.kind == of.kind && l.key.class == of.class && (of.name == "" || l.key.name == of.name) && (of.grid == "" || l.key.grid == of.grid && l.key.block == of.block) {
			out = append(out, l)
		}
	}
	return out
}
