package trend

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"prof/queries/judge/stats"
)

// searched is how many items of a stage are searched for changes of their own, those that take most: each more makes the others less sure.
const searched = 10

// findChanges looks where stages and their items change level. Stages are one family of tests and items another: Alpha is shared out
// evenly within each, so that a trend of many series finds no more that is not there than one of a single series. Which items moved where
// a stage did is a question of its own (see addMoved).
func (r *Result) findChanges() {
	items := 0
	for _, s := range r.Series {
		items += min(searched, len(s.Items))
	}
	found := make([][]stats.Change, len(r.Series)) // those of thousands of runs take most of the time
	var searching sync.WaitGroup
	for i, s := range r.Series {
		searching.Go(func() { found[i] = r.changePoints(s.values(), len(r.Series)) })
	}
	searching.Wait()
	for i := range r.Series {
		s := &r.Series[i]
		for j := range min(searched, len(s.Items)) {
			s.Items[j].changes = r.changePoints(s.Items[j].Values, items)
		}
		s.setLevels(found[i])
		var own []Change
		from := 0
		for n, c := range found[i] {
			to := len(s.Points)
			if n+1 < len(found[i]) {
				to = found[i][n+1].Index
			}
			own = append(own, r.change(i, nil, c))
			r.addMoved(&own[n], from, to)
			from = c.Index
		}
		r.Changes = append(r.Changes, r.withItems(i, own)...)
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int { return cmp.Compare(a.First, b.First) })
}

// changePoints looks at one of so many series. A value that is not known is left out.
func (r *Result) changePoints(values []*float64, among int) []stats.Change {
	list := make([]float64, len(values))
	for i, v := range values {
		if list[i] = math.NaN(); v != nil {
			list[i] = *v
		}
	}
	return stats.ChangePoints(list, stats.ChangeOptions{Alpha: r.Options.Alpha / float64(max(1, among)), MinEffect: r.Options.MinEffect})
}

func (s *Series) values() []*float64 {
	out := make([]*float64, len(s.Points))
	for i, p := range s.Points {
		out[i] = p.Value
	}
	return out
}

// setLevels cuts the points at the changes that are sure.
func (s *Series) setLevels(found []stats.Change) {
	from := 0
	end := func(to int) {
		var known []float64
		for _, v := range s.values()[from:to] {
			if v != nil {
				known = append(known, *v)
			}
		}
		if len(known) > 0 {
			s.Levels = append(s.Levels, Level{from, to - 1, stats.Centre(known)})
		}
		from = to
	}
	for _, c := range found {
		if !c.Suspect {
			end(c.Index)
		}
	}
	end(len(s.Points))
}

// change puts what was found in terms of runs. The last run of the old level is the one before that has a value.
func (r *Result) change(series int, it *Item, c stats.Change) Change {
	s := r.Series[series]
	values := s.values()
	if it != nil {
		values = it.Values
	}
	last := c.Index - 1
	for last > 0 && values[last] == nil {
		last--
	}
	less := it != nil || r.Options.Metric.LessIsBetter()
	out := Change{Series: series, Item: it, First: s.Points[c.Index].Run, Last: s.Points[last].Run, Point: c.Index, Before: c.Before, After: c.After, Effect: c.Effect, P: c.P,
		Suspect: c.Suspect, Verdict: Worse}
	if (c.After < c.Before) == less {
		out.Verdict = Better
	}
	if it != nil {
		out.CallsBefore, out.CallsAfter = it.Calls[last], it.Calls[c.Index]
	}
	return out
}

// beside is how many points an item's own change may lie from that of its stage to be a part of it: noise moves where a change is found by one.
const beside = 1

// withItems returns the changes of a stage, with the items' own changes that are beside them and not told of yet, and those of items that
// moved without it.
func (r *Result) withItems(series int, own []Change) []Change {
	s := &r.Series[series]
	var alone []Change
	for j := range s.Items {
		for _, found := range s.Items[j].changes {
			c := r.change(series, &s.Items[j], found)
			at := -1
			for i, stage := range own {
				if d := distance(stage, c); d <= beside && stage.Suspect == c.Suspect && (at < 0 || d < distance(own[at], c)) {
					at = i
				}
			}
			switch {
			case at >= 0 && slices.ContainsFunc(own[at].Moved, func(m Change) bool { return m.Item == c.Item }):
			case at >= 0:
				own[at].Moved = append(own[at].Moved, c)
			case !c.Suspect: // outliers of single kernels in the last runs are many
				alone = append(alone, c)
			}
		}
	}
	for i := range own {
		slices.SortStableFunc(own[i].Moved, func(a, b Change) int { return -cmp.Compare(a.size(), b.size()) })
	}
	return append(own, alone...)
}

func distance(a, b Change) int { return max(a.Point-b.Point, b.Point-a.Point) }

// size is how much a change moves the level.
func (c Change) size() float64 { return math.Abs(c.After - c.Before) }
