package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// items tells the parts of the stage's time by a dimension that they add up by, in the order in which they are added up.
func (s *stagePair) items(by Dimension) []Item {
	list := s.parts(by)
	moves := s.moves
	if by == ByGrid {
		moves = s.match(list)
	} else if by == ByFamily {
		moves = nil
	}
	unitsA, unitsB := s.a.units(s.tokens), s.b.units(s.tokens)
	perA, perB := shares(totals(list, func(p pair) *amount { return p.a }), unitsA), shares(totals(list, func(p pair) *amount { return p.b }), unitsB)
	out := make([]Item, len(list))
	for i, p := range list {
		it := Item{Stage: s.name, Name: cmp.Or(p.key.name, p.key.class), Kind: p.key.kind, Grid: p.key.grid, Block: p.key.block, Unit: "ns", Status: Both,
			A: p.a.measure(unitsA, perA[i]), B: p.b.measure(unitsB, perB[i])}
		a, b := p.a, p.b
		if p.isTime() && s.both() {
			a, b = cmp.Or(a, &amount{}), cmp.Or(b, &amount{})
		}
		switch {
		case a == nil:
			it.Status = New
		case b == nil:
			it.Status = Removed
		}
		for _, side := range []*amount{p.a, p.b} {
			if side != nil && side.family != "" {
				it.Family = side.family
			}
		}
		if by == ByFamily && it.Kind == "kernel" && it.Family != "" {
			it.Kind = "family"
		} else if by == ByGrid && it.Kind == "kernel" {
			it.Kind = "grid"
		}
		it.Delta = split(perA[i], perB[i], a, b, unitsA, unitsB)
		it.A.TypicalNs, it.B.TypicalNs = s.typical(s.a, p.a), s.typical(s.b, p.b)
		if it.A.TypicalNs != nil && it.B.TypicalNs != nil {
			it.Typical = split(*it.A.TypicalNs, *it.B.TypicalNs, a.lasting(*it.A.TypicalNs*unitsA), b.lasting(*it.B.TypicalNs*unitsB), unitsA, unitsB)
		}
		if m, moved := moves[p.key]; moved {
			it.Status, it.Partner, it.How = Moved, m.partner, m.how
		}
		out[i] = it
	}
	return out
}

// parts returns what the stage's time is made of by a dimension: of the GPUs' work alone where that is what the stage is judged by.
func (s *stagePair) parts(by Dimension) []pair {
	list := s.fine
	if by != ByKernel {
		list = pairs(s.a, s.b, by)
	}
	return slices.DeleteFunc(slices.Clone(list), func(p pair) bool { return !p.counts(s.metric) })
}

// isTime reports whether the part is no work but a part of the time around it, of which there can be none.
func (p pair) isTime() bool {
	return p.key.kind == "idle" || p.key.kind == "overlap" || p.key.kind == "other"
}

func totals(list []pair, side func(pair) *amount) []int64 {
	out := make([]int64, len(list))
	for i, p := range list {
		if a := side(p); a != nil {
			out[i] = a.tally.total
		}
	}
	return out
}

func (a *amount) measure(units, perUnit int64) Measure {
	if a == nil {
		return Measure{}
	}
	m := a.tally.measure(units)
	m.PerUnitNs = perUnit
	return m
}

// samples returns what the part takes of each sample of its stage, for one unit.
func (s *stagePair) samples(x *stageSide, a *amount) []float64 {
	return x.values(s.level, func(i int) *float64 {
		if a == nil {
			return new(0.0)
		}
		return new(float64(a.in(i)) / float64(unitsIn(x.groups[i], s.tokens)))
	})
}

// typical is the centre of the samples of a part; nil where the side has none.
func (s *stagePair) typical(x *stageSide, a *amount) *int64 {
	if len(x.groups) == 0 {
		return nil
	}
	return new(int64(math.Round(s.centre(s.samples(x, a)))))
}

// lasting is as many calls that take another time together.
func (a *amount) lasting(total int64) *amount {
	if a == nil {
		return nil
	}
	return &amount{tally: tally{calls: a.tally.calls, total: total}}
}

// byChange puts the largest change first.
func byChange(list []Item) {
	size := func(it Item) int64 { return max(it.Shown().Ns, -it.Shown().Ns) }
	slices.SortStableFunc(list, func(x, y Item) int {
		return cmp.Or(cmp.Compare(size(y), size(x)), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Grid, y.Grid), cmp.Compare(x.Block, y.Block))
	})
}

// restNouns name what the rows of a kind are, kernels and copies each together.
var restNouns = map[string]string{"kernel": "kernels", "family": "families", "grid": "grids", "copy": "copies and fills", "fill": "copies and fills", "graph": "graphs",
	"idle": "idle causes", "operator": "operators", "node": "operators", "range": "ranges", "metric": "metrics"}

// isSame reports whether both sides have the same calls of an item, which take the same time.
func (it Item) isSame() bool {
	return it.Shown() != nil && it.Shown().Ns == 0 && it.A.Calls > 0 && it.A.PerUnitCalls == it.B.PerUnitCalls
}

// unchanged adds up the kernels that are certain not to change in one row, where there are several.
func unchanged(list []Item) []Item {
	var same, others []Item
	for _, it := range list {
		if slices.Contains([]string{"kernel", "family", "grid"}, it.Kind) && (it.Verdict == NoChange || it.isSame()) {
			same = append(same, it)
		} else {
			others = append(others, it)
		}
	}
	if len(same) < 2 {
		return list
	}
	noun := restNouns[same[0].Kind]
	sum := rest(same, noun)
	sum.Name, sum.Verdict = fmt.Sprintf("%d %s unchanged", len(same), noun), NoChange
	return append(others, sum)
}

// Cut leaves the first items, and adds up the others, those of a kind in one more: a row of other kernels holds no idle time. One that is alone of its
// kind stays. Kernels without change are one row, the last.
func Cut(list []Item, top int) []Item {
	if top <= 0 {
		return list
	}
	list = unchanged(list)
	if last := len(list) - 1; last >= 0 && list[last].Kind == "rest" {
		return append(cut(list[:last], top), list[last])
	}
	return cut(list, top)
}

func cut(list []Item, top int) []Item {
	if len(list) <= top+1 {
		return list
	}
	out := slices.Clone(list[:top])
	others := map[string][]Item{}
	for _, it := range list[top:] {
		noun := cmp.Or(restNouns[it.Kind], it.Kind)
		others[noun] = append(others[noun], it)
	}
	for _, it := range list[top:] { // the kind of the largest change first
		noun := cmp.Or(restNouns[it.Kind], it.Kind)
		if len(others[noun]) > 0 {
			out = append(out, rest(others[noun], noun))
		}
		delete(others, noun)
	}
	return out
}

// rest adds up items of a kind.
func rest(list []Item, noun string) Item {
	if len(list) == 1 {
		return list[0]
	}
	out := Item{Stage: list[0].Stage, Name: fmt.Sprintf("%d other %s", len(list), noun), Kind: "rest", Unit: list[0].Unit, Status: Both}
	if slices.ContainsFunc(list, func(it Item) bool { return it.Delta == nil }) { // values of metrics do not add up
		return out
	}
	out.Delta = &Delta{}
	for _, it := range list {
		out.A.add(it.A)
		out.B.add(it.B)
		out.Delta.add(it.Delta)
		if it.Typical != nil {
			if out.Typical == nil {
				out.Typical = &Delta{}
			}
			out.Typical.add(it.Typical)
		}
	}
	return out
}

func (m *Measure) add(o Measure) {
	m.Calls += o.Calls
	m.TotalNs += o.TotalNs
	if o.TypicalNs != nil {
		if m.TypicalNs == nil {
			m.TypicalNs = new(int64)
		}
		*m.TypicalNs += *o.TypicalNs
	}
	m.PerUnitNs += o.PerUnitNs
	m.PerUnitCalls += o.PerUnitCalls
}
