package diff

import (
	"cmp"
	"maps"
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
