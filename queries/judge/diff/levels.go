package diff

import (
	"cmp"
	"math"
	"slices"

	"prof/queries/judge/stats"
)

// level is what the samples of a comparison are.
type level string

const (
	byPass   level = "passes"
	byRepeat level = "repeats"
	byRun    level = "runs"
)

// levelOf takes processes where a side has several, as repeats of a run or runs of one each: passes of one process do not tell how much
// processes vary.
func levelOf(sides ...*stageSide) level {
	out, several := byPass, level("")
	for _, s := range sides {
		repeated := map[int]int64{}
		for _, g := range s.groups {
			if s.process(g) != s.process(s.groups[0]) {
				out = cmp.Or(several, byRun)
			}
			if last := repeated[s.process(g)]; last != 0 && last != g.repeat {
				out, several = byRepeat, byRepeat
			}
			repeated[s.process(g)] = g.repeat
		}
	}
	return out
}

// values returns a sample for each pass, or the median pass of each repeat or run; passes without a value have no say.
func (s *stageSide) values(l level, of func(i int) *float64) []float64 {
	var out, same []float64
	var last groupKey
	flush := func() {
		if len(same) > 0 {
			out = append(out, stats.Centre(same))
		}
		same = nil
	}
	for _, i := range s.order() {
		g := s.groups[i]
		key := groupKey{g.run, g.repeat, g.number}
		if l != byPass {
			key.run, key.number = s.process(g), 0
		}
		if l == byRun {
			key.repeat = 0
		}
		if key != last {
			flush()
		}
		last = key
		if v := of(i); v != nil {
			same = append(same, *v)
		}
	}
	flush()
	return out
}

// centre is that of samples, as comparisons have it: of pairs there is no typical one.
func (s *stagePair) centre(values []float64) float64 {
	if !s.paired || s.level != byPass || len(values) == 0 {
		return stats.Centre(values)
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// order returns the groups by process, repeat, run and pass.
func (s *stageSide) order() []int {
	out := make([]int, len(s.groups))
	for i := range out {
		out[i] = i
	}
	slices.SortFunc(out, func(i, j int) int {
		a, b := s.groups[i], s.groups[j]
		return cmp.Or(cmp.Compare(s.process(a), s.process(b)), cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.run, b.run), cmp.Compare(a.number, b.number))
	})
	return out
}

// By how much the launches of passes differ at least that do other work, and at most between passes of both sides that do the same.
const (
	unlikeWork = 0.05
	likeWork   = 0.01
)

// pairedPasses reports whether the passes of both sides go through the same work in the same order, other work in each: requests of several lengths, steps
// of a growing batch. Told by their kernels, where B may have more or fewer of them in all, by one factor.
func pairedPasses(a, b *stageSide) bool {
	if len(a.groups) != len(b.groups) || len(a.groups) < 2 {
		return false
	}
	x, y := a.order(), b.order()
	var own, between []float64
	for i := range x {
		n, m := a.groups[x[i]].kernels, b.groups[y[i]].kernels
		if n == nil || m == nil || *n <= 0 || *m <= 0 {
			return false
		}
		own, between = append(own, math.Log(float64(*n))), append(between, math.Log(float64(*m)/float64(*n)))
	}
	return slices.Max(own)-slices.Min(own) > unlikeWork && slices.Max(between)-slices.Min(between) <= likeWork
}
