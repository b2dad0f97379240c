package diff

import (
	"cmp"
	"fmt"
	"slices"
)

// items tells the parts of the stage's time by a dimension that they add up by, in the order in which they are added up.
func (s *stagePair) items(by Dimension) []Item {
	list := s.fine
	if by != ByKernel {
		list = pairs(s.a, s.b, by)
	}
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
		if m, moved := moves[p.key]; moved {
			it.Status, it.Partner, it.How = Moved, m.partner, m.how
		}
		out[i] = it
	}
	return out
}

// isTime says whether the part is no work but a part of the time around it, of which there can be none.
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

// samples gives what the part takes of each sample of its stage, for one unit.
func (s *stagePair) samples(x *stageSide, a *amount) []float64 {
	return x.values(s.level, func(i int) *float64 {
		if a == nil {
			return new(0.0)
		}
		return new(float64(a.in(i)) / float64(unitsIn(x.groups[i], s.tokens)))
	})
}

// byChange puts the largest change first; where stages are judged by the GPU's work, what is none comes after all work.
func byChange(list []Item, metric string) {
	size := func(it Item) int64 { return max(it.Delta.Ns, -it.Delta.Ns) }
	rank := func(it Item) int {
		if (it.Kind == "idle" || it.Kind == "other") && kindOf(metric) == workFigure {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(x, y Item) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(size(y), size(x)), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Grid, y.Grid), cmp.Compare(x.Block, y.Block))
	})
}

// cut leaves the first items, and adds up the others in one more.
func cut(list []Item, top int) []Item {
	if top <= 0 || len(list) <= top+1 {
		return list
	}
	rest := Item{Stage: list[0].Stage, Name: fmt.Sprintf("%d others", len(list)-top), Kind: "rest", Unit: list[0].Unit, Status: Both}
	if slices.ContainsFunc(list[top:], func(it Item) bool { return it.Delta == nil }) { // values of metrics do not add up
		return append(slices.Clone(list[:top]), rest)
	}
	rest.Delta = &Delta{}
	for _, it := range list[top:] {
		rest.A.add(it.A)
		rest.B.add(it.B)
		rest.Delta.add(it.Delta)
	}
	return append(slices.Clone(list[:top]), rest)
}

func (m *Measure) add(o Measure) {
	m.Calls += o.Calls
	m.TotalNs += o.TotalNs
	m.PerUnitNs += o.PerUnitNs
	m.PerUnitCalls += o.PerUnitCalls
}
