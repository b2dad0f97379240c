package trend

import (
	"cmp"
	"math"
	"slices"

	"prof/queries/judge/stats"
)

const (
	// nearRuns is how many runs on either side of a stage's change its items are compared by at most, those next to it.
	nearRuns = 30
	// leastShare is how much of a stage's change an item must take, on the side on which it takes more, to be tested: what could not make up
	// 2 % of the change even by going away explains nothing of it, and would only make the others less sure. It depends on the size of an
	// item and not on how much it changed, so that it does not choose among noise.
	leastShare = 0.02
)

// pairing is an item on both sides of a change of its stage.
type pairing struct {
	change     Change
	a, b       []float64 // ns of a pass in the runs before and since
	comparison stats.Comparison
	tested     bool // it takes part in Holm's procedure
	sure       bool // without a test: it came, went, or is called another number of times
}

// addMoved tells which items moved where a stage did: own is its change, between the points from and to that the levels on both sides
// begin and end at. Where the stage changed is known, so that items are compared there instead of being searched for changes of their own.
func (r *Result) addMoved(own *Change, from, to int) {
	s := &r.Series[own.Series]
	var pairs []pairing
	total := 0.0
	for j := range s.Items {
		it := &s.Items[j]
		p, known := r.pair(*own, it, max(from, own.Point-nearRuns), min(to, own.Point+nearRuns))
		if known {
			pairs = append(pairs, p)
			total += p.change.After - p.change.Before
		}
	}
	own.Around = [2]int{s.known(from, own.Point), s.known(own.Point, to)}
	r.judgeItems(pairs, leastShare*math.Abs(total))
	slices.SortStableFunc(pairs, func(a, b pairing) int { return -cmp.Compare(a.change.size(), b.change.size()) })
	for _, p := range pairs {
		switch {
		case p.sure:
			own.Moved = append(own.Moved, p.change)
		case own.Largest == nil && p.change.size() > 0:
			own.Largest = new(p.change)
		}
	}
}

// pair compares an item before and after a change of its stage, as far as it has no change of its own in between; known is false where it
// has no value on a side.
func (r *Result) pair(own Change, it *Item, from, to int) (p pairing, known bool) {
	for _, c := range it.changes {
		switch {
		case c.Suspect:
		case c.Index < own.Point-beside:
			from = max(from, c.Index)
		case c.Index > own.Point+beside:
			to = min(to, c.Index)
		}
	}
	a, b := knownValues(it.Values[from:own.Point]), knownValues(it.Values[own.Point:to])
	if len(a) == 0 || len(b) == 0 {
		return p, false
	}
	found := stats.Change{Index: own.Point, Before: stats.Centre(a), After: stats.Centre(b), P: math.NaN(), Suspect: own.Suspect}
	if found.Before != 0 {
		found.Effect = new(found.After/found.Before - 1)
	}
	p.change, p.a, p.b = r.change(own.Series, it, found), a, b
	callsA, callsB := knownValues(it.Calls[from:own.Point]), knownValues(it.Calls[own.Point:to])
	none, some := func(v float64) bool { return v == 0 }, func(v float64) bool { return v > 0 }
	switch {
	case all(a, none) && all(b, some), all(a, some) && all(b, none):
		p.sure = true
	case len(callsA) > 1 && len(callsB) > 1 && all(callsA, is(callsA[0])) && all(callsB, is(callsB[0])) && callsA[0] != callsB[0]:
		p.sure = true
	}
	return p, true
}

// judgeItems compares those whose levels are at least least ns, as one family of tests. The samples are runs.
func (r *Result) judgeItems(pairs []pairing, least float64) {
	tests := 0
	for i := range pairs {
		p := &pairs[i]
		if p.tested = !p.sure && max(p.change.Before, p.change.After) >= least; p.tested {
			tests++
		}
	}
	o := stats.DefaultOptions()
	o.Alpha, o.MinEffect, o.Comparisons = r.Options.Alpha, r.Options.MinEffect, tests
	p := make([]*float64, len(pairs))
	for i := range pairs {
		if pairs[i].tested {
			pairs[i].comparison = stats.CompareRuns(pairs[i].a, pairs[i].b, o)
			p[i] = pairs[i].comparison.P
		}
	}
	adjusted := stats.Holm(p)
	for i := range pairs {
		if !pairs[i].tested {
			continue
		}
		c := stats.Judge(pairs[i].comparison, adjusted[i], o)
		if adjusted[i] != nil {
			pairs[i].change.P = *adjusted[i]
		}
		pairs[i].sure = c.Verdict == stats.Changed
	}
}

// known counts the points of a stretch that have a value.
func (s *Series) known(from, to int) int { return len(knownValues(s.values()[from:to])) }

func knownValues(list []*float64) []float64 {
	var out []float64
	for _, v := range list {
		if v != nil {
			out = append(out, *v)
		}
	}
	return out
}

func all(values []float64, holds func(float64) bool) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return !holds(v) })
}

func is(want float64) func(float64) bool { return func(v float64) bool { return v == want } }
