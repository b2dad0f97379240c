package diff

import "math"

// tally adds up durations of executions.
type tally struct {
	calls, total int64 // ns
	min, max     int64
	m2           float64 // sum of the squares of the differences between durations and their mean, ns2; NaN where one is not known
}

// add adds what another tally counted. Squares by Chan, Golub and LeVeque, Updating Formulae and a Pairwise Algorithm for Computing Sample
// Variances (1979).
func (t *tally) add(o tally) {
	switch {
	case o.calls == 0:
		return
	case t.calls == 0:
		*t = o
		return
	}
	d := o.mean() - t.mean()
	t.m2 += o.m2 + d*d*float64(t.calls)*float64(o.calls)/float64(t.calls+o.calls)
	t.calls += o.calls
	t.total += o.total
	t.min, t.max = min(t.min, o.min), max(t.max, o.max)
}

func (t *tally) mean() float64 { return float64(t.total) / float64(t.calls) }

// measure tells them as those of so many units.
func (t *tally) measure(units int64) Measure {
	m := Measure{Calls: t.calls, TotalNs: t.total}
	if units > 0 {
		m.PerUnitCalls = float64(t.calls) / float64(units)
	}
	if t.calls > 0 {
		m.MeanNs, m.MinNs, m.MaxNs = new(t.mean()), new(t.min), new(t.max)
	}
	if t.calls > 1 && !math.IsNaN(t.m2) {
		m.StdNs = new(math.Sqrt(t.m2 / float64(t.calls-1)))
	}
	return m
}
