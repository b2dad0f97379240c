package diff

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"prof/schema/terms"
)

// Kinds of items that make up the time of a stage, in the order in which they are added up.
var kindOrder = []string{"kernel", "copy", "fill", "graph", "overlap", "other", "idle"}

// lineKey names the finest part of a stage's time. Family goes before name, so that the parts of a family are next to each other.
type lineKey struct {
	kind        string
	class       string // family of a kernel, else its name; that of the others is their name
	name        string
	grid, block string
}

func compareLines(a, b lineKey) int {
	return cmp.Or(cmp.Compare(slices.Index(kindOrder, a.kind), slices.Index(kindOrder, b.kind)), cmp.Compare(a.class, b.class), cmp.Compare(a.name, b.name),
		cmp.Compare(a.grid, b.grid), cmp.Compare(a.block, b.block))
}

func (w work) lineKey() lineKey {
	kind, name := w.kind, w.name
	switch {
	case kind == "copy" && !strings.HasPrefix(name, "memcpy"):
		kind = "fill"
	case kind == "graph" && name == "":
		name = "graph replays"
	}
	return lineKey{kind, cmp.Or(w.family, name), name, w.grid, w.block}
}

// amount is what a side has of a part.
type amount struct {
	tally  tally
	role   string  // of a kernel; "" when not known
	family string  // of a kernel; "" when not known
	groups []int64 // ns of each group
	calls  []int64 // executions in each group
}

func (s *stageSide) line(key lineKey) *amount {
	if s.lines[key] == nil {
		s.lines[key] = &amount{}
	}
	return s.lines[key]
}

func (a *amount) add(group int, w work) {
	a.tally.add(w.tally)
	a.role, a.family = w.role, w.family
	a.addGroup(group, w.tally.calls, w.tally.total)
}

func (a *amount) addGroup(group int, calls, ns int64) {
	for len(a.groups) <= group {
		a.groups, a.calls = append(a.groups, 0), append(a.calls, 0)
	}
	a.groups[group] += ns
	a.calls[group] += calls
}

// merge adds what another part has.
func (a *amount) merge(o *amount) {
	a.tally.add(o.tally)
	if o.tally.calls == 0 {
		a.tally.total += o.tally.total
	}
	a.role, a.family = cmp.Or(a.role, o.role), cmp.Or(a.family, o.family)
	for i, ns := range o.groups {
		a.addGroup(i, o.calls[i], ns)
	}
}

// in returns the time of a group.
func (a *amount) in(group int) int64 {
	if group < len(a.groups) {
		return a.groups[group]
	}
	return 0
}

// addParts adds the parts of the groups' time that are no work: how much of the work ran at the same time, and idle time by cause.
func (s *stageSide) addParts() {
	sums := make([]int64, len(s.groups))
	for _, a := range s.lines {
		for i, ns := range a.groups {
			sums[i] += ns
		}
	}
	for i, g := range s.groups {
		s.addPart("overlap", "overlap", i, g.parts.work-sums[i])
		s.addPart("other", "other work", i, g.parts.other)
		for cause, ns := range g.parts.idle {
			s.addPart("idle", terms.Causes[cause].Name, i, ns)
		}
	}
}

func (s *stageSide) addPart(kind, name string, group int, ns int64) {
	if ns == 0 {
		return
	}
	a := s.line(lineKey{kind: kind, class: name, name: name})
	a.tally.total += ns
	a.addGroup(group, 0, ns)
}

// total returns the time of all groups by a metric: the sum of the lines that count for it.
func (s *stageSide) total(metric string) int64 {
	var out int64
	for _, g := range s.groups {
		out += g.whole(metric)
	}
	return out
}

// coarse returns the key of the item that a line belongs to.
func (k lineKey) coarse(by Dimension) lineKey {
	if k.kind != "kernel" {
		return k
	}
	switch by {
	case ByFamily:
		return lineKey{kind: k.kind, class: k.class}
	case ByGrid:
		return k
	}
	return lineKey{kind: k.kind, class: k.class, name: k.name}
}

// pair is an item on both sides; nil where a side has none of it.
type pair struct {
	key  lineKey
	a, b *amount
}

// pairs puts the lines of both sides together, in the order in which they are added up, which is the same for every dimension: that of
// the finest lines.
func pairs(a, b *stageSide, by Dimension) []pair {
	found := map[lineKey]*pair{}
	collect := func(s *stageSide, side func(*pair) **amount) {
		for _, key := range slices.SortedFunc(maps.Keys(s.lines), compareLines) { // sums of squares depend on their order
			to := key.coarse(by)
			if found[to] == nil {
				found[to] = &pair{key: to}
			}
			at := side(found[to])
			if *at == nil {
				*at = &amount{}
			}
			(*at).merge(s.lines[key])
		}
	}
	collect(a, func(p *pair) **amount { return &p.a })
	collect(b, func(p *pair) **amount { return &p.b })
	out := make([]pair, 0, len(found))
	for _, p := range found {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(x, y pair) int { return compareLines(x.key, y.key) })
	return out
}

// tally adds up durations of executions.
type tally struct {
	calls, total int64   // ns
	min, max     int64   // 0 where one is not known, as in sums without them
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
	if t.max == 0 || o.max == 0 {
		t.min, t.max = 0, 0
	} else {
		t.min, t.max = min(t.min, o.min), max(t.max, o.max)
	}
}

func (t *tally) mean() float64 { return float64(t.total) / float64(t.calls) }

// measure tells them as those of so many units.
func (t *tally) measure(units int64) Measure {
	m := Measure{Calls: t.calls, TotalNs: t.total}
	if units > 0 {
		m.PerUnitCalls = float64(t.calls) / float64(units)
	}
	if t.calls > 0 {
		m.MeanNs = new(t.mean())
	}
	if t.max > 0 {
		m.MinNs, m.MaxNs = new(t.min), new(t.max)
	}
	if t.calls > 1 && !math.IsNaN(t.m2) {
		m.StdNs = new(math.Sqrt(t.m2 / float64(t.calls-1)))
	}
	return m
}

// shares divides totals by units so that the shares add up to the rounded share of the totals' sum: each is the difference between
// neighbours of the rounded cumulative sums. Shares of totals that follow each other add up to the share of their sum likewise, whatever
// they are grouped by.
func shares(totals []int64, units int64) []int64 {
	out := make([]int64, len(totals))
	if units == 0 {
		return out
	}
	var sum, before int64
	for i, t := range totals {
		sum += t
		now := divided(sum, units)
		out[i] = now - before
		before = now
	}
	return out
}

// divided is n / units rounded to the nearest whole number, halves up.
func divided(n, units int64) int64 {
	q, r := n/units, n%units
	if r < 0 {
		q, r = q-1, r+units
	}
	if r >= units-r {
		q++
	}
	return q
}

// split returns what the change of an item from a ns to b ns for one unit comes from. Sides with calls are split by the number of calls and
// their mean duration: with n calls for one unit of mean duration m on side A and n', m' on side B,
//
//	n' m' - n m = (n' - n) m + n (m' - m) + (n' - n) (m' - m)
//
// each rounded, the last one what is left, so that the parts add up to the change in whole ns. They fit as long as the calls of one side
// at the mean of the other take less than the 292 years that 64 bits hold.
func split(a, b int64, sideA, sideB *amount, unitsA, unitsB int64) *Delta {
	d := &Delta{Ns: b - a}
	switch {
	case sideA == nil:
		d.NewNs = d.Ns
	case sideB == nil:
		d.RemovedNs = d.Ns
	case sideA.tally.calls == 0 || sideB.tally.calls == 0:
		d.DurationNs = d.Ns // a part of a time without calls
	default:
		ca, cb := sideA.tally.calls, sideB.tally.calls
		// (cb/ub - ca/ua) ta/ca = ta (cb ua - ca ub) / (ca ua ub)
		d.CountNs = quotient(product(sideA.tally.total), difference(product(cb, unitsA), product(ca, unitsB)), product(ca, unitsA, unitsB))
		// ca/ua (tb/cb - ta/ca) = (tb ca - ta cb) / (ua cb)
		d.DurationNs = quotient(product(1), difference(product(sideB.tally.total, ca), product(sideA.tally.total, cb)), product(unitsA, cb))
		d.InteractionNs = d.Ns - d.CountNs - d.DurationNs
	}
	return d
}

func product(factors ...int64) *big.Int {
	out := big.NewInt(1)
	for _, f := range factors {
		out.Mul(out, big.NewInt(f))
	}
	return out
}

func difference(a, b *big.Int) *big.Int { return a.Sub(a, b) }

// quotient is factor * over / under rounded to the nearest whole number, halves up; under is above 0.
func quotient(factor, over, under *big.Int) int64 {
	over.Mul(over, factor)
	over.Lsh(over, 1).Add(over, under)
	return over.Div(over, under.Lsh(under, 1)).Int64() // Div is Euclidean: down for a divisor above 0
}

// add adds the parts of another change.
func (d *Delta) add(o *Delta) {
	d.Ns += o.Ns
	d.CountNs += o.CountNs
	d.DurationNs += o.DurationNs
	d.InteractionNs += o.InteractionNs
	d.NewNs += o.NewNs
	d.RemovedNs += o.RemovedNs
}
