package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// move is what took the place of a kernel that only one side has.
type move struct {
	partner string // names of the other side's kernels
	how     string
	group   int // the same for all that belong together
}

// How it is known that the work of kernels moved to others.
const (
	renamed    = "renamed"     // same grid, block and calls of a pass, and the same family or name but for its template and numbers; or the only ones of that grid, block and calls
	otherGrid  = "other grid"  // same calls of a pass, and the same family or such name: another tile or algorithm
	sameFamily = "same family" // same family, other calls
	fused      = "fused"       // several that run where the new one does, or this is the only new one with as many calls of a pass (likely)
	splitUp    = "split"       // one where several new ones run, or the only one and these with as many calls of a pass (likely)
	inGraph    = "in a graph"  // kernels of which one side has none and replays of CUDA graphs traced as a whole, which only the other has (likely)
	replaced   = "replaced"    // those of both sides that run in the same places, or the only ones with as many calls of a pass (likely)
)

// mover is a kernel that one side lacks.
type mover struct {
	key           lineKey
	name, base    string
	family, shape string
	calls, total  int64 // of all passes
	isNew, done   bool
}

// match finds which of the kernels that only side A has gave way to which that only B has.
func (s *stagePair) match(list []pair) map[lineKey]move {
	m := matcher{moves: map[lineKey]move{}, passesA: int64(len(s.a.groups)), passesB: int64(len(s.b.groups))}
	if !s.both() {
		return m.moves
	}
	shapes := s.shapes()
	for _, p := range list {
		if p.key.kind != "kernel" || (p.a == nil) == (p.b == nil) {
			continue
		}
		a := cmp.Or(p.a, p.b)
		v := &mover{key: p.key, name: p.key.name, base: baseName(p.key.name), family: a.family, calls: a.tally.calls, total: a.tally.total, isNew: p.a == nil}
		if v.shape = p.key.grid + " | " + p.key.block; p.key.grid == "" {
			v.shape = shapes[p.key]
		}
		if v.isNew {
			m.new = append(m.new, v)
		} else {
			m.gone = append(m.gone, v)
		}
	}
	m.oneToOne(renamed, func(x, y *mover) bool { return x.shape == y.shape && m.sameCalls(x, y) && related(x, y) })
	m.oneToOne(otherGrid, func(x, y *mover) bool { return m.sameCalls(x, y) && related(x, y) })
	m.byPlace(s.a.kernels, s.b.kernels)
	m.byFamily()
	m.byCalls()
	m.byGraph(list)
	return m.moves
}

// shapes returns the grids and blocks of each kernel.
func (s *stagePair) shapes() map[lineKey]string {
	out := map[lineKey]string{}
	for _, p := range pairs(s.a, s.b, ByGrid) {
		if key := p.key.coarse(ByKernel); p.key.kind == "kernel" && (p.a == nil || p.b == nil) {
			out[key] += p.key.grid + " | " + p.key.block + "\n"
		}
	}
	return out
}

type matcher struct {
	gone, new        []*mover
	passesA, passesB int64
	moves            map[lineKey]move
	groups           int
}

func (m *matcher) sameCalls(x, y *mover) bool { return x.calls*m.passesB == y.calls*m.passesA }

func related(x, y *mover) bool { return x.family != "" && x.family == y.family || x.base == y.base }

// oneToOne matches the best pairs first: those of the same name but for numbers, then those whose times are closest.
func (m *matcher) oneToOne(how string, fits func(x, y *mover) bool) {
	type candidate struct {
		x, y  *mover
		other int
		apart float64
	}
	var found []candidate
	for _, x := range open(m.gone) {
		for _, y := range open(m.new) {
			if !fits(x, y) {
				continue
			}
			c := candidate{x: x, y: y, apart: math.Abs(math.Log(float64(max(1, x.total)) / float64(max(1, y.total))))}
			if x.base != y.base {
				c.other = 1
			}
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(p, q candidate) int { return cmp.Or(cmp.Compare(p.other, q.other), cmp.Compare(p.apart, q.apart)) })
	for _, c := range found {
		if !c.x.done && !c.y.done {
			m.set(how, []*mover{c.x}, []*mover{c.y})
		}
	}
}

// byFamily matches what is left of a family with what is new in it.
func (m *matcher) byFamily() {
	for _, family := range distinct(open(m.gone), func(x *mover) string { return x.family }) {
		of := func(x *mover) bool { return x.family == family }
		gone, added := picked(open(m.gone), of), picked(open(m.new), of)
		if family != "" && len(added) > 0 {
			m.set(sameFamily, gone, added)
		}
	}
}

// mostApart is how many times longer what took the place of kernels may run than they did for that to be likely.
const mostApart = 10

// byCalls matches what is left by the number of calls of a pass alone, where one side has only one such kernel; several for several only
// where they are called more than once: once is what much has in common.
func (m *matcher) byCalls() {
	for _, calls := range distinct(open(m.gone), func(x *mover) int64 { return x.calls }) {
		gone := picked(open(m.gone), func(x *mover) bool { return x.calls == calls })
		added := picked(open(m.new), func(y *mover) bool { return m.sameCalls(gone[0], y) })
		if len(added) == 0 {
			continue
		}
		before, after := sum(gone)*m.passesB, sum(added)*m.passesA
		if before > mostApart*after || after > mostApart*before {
			continue
		}
		switch one, other := len(gone) == 1, len(added) == 1; {
		case one && other && gone[0].shape == added[0].shape:
			m.set(renamed, gone, added)
		case one && other:
			m.set(replaced, gone, added)
		case other:
			m.set(fused, gone, added)
		case one:
			m.set(splitUp, gone, added)
		case calls > m.passesA:
			m.set(replaced, gone, added)
		}
	}
}

func (m *matcher) set(how string, gone, added []*mover) {
	m.groups++
	for _, side := range [][2][]*mover{{gone, added}, {added, gone}} {
		var names []string
		for _, y := range side[1] {
			names = append(names, y.name)
		}
		for _, x := range side[0] {
			x.done = true
			m.moves[x.key] = move{strings.Join(names, " + "), how, m.groups}
		}
	}
}

func open(list []*mover) []*mover { return picked(list, func(x *mover) bool { return !x.done }) }

func picked(list []*mover, fits func(*mover) bool) []*mover {
	var out []*mover
	for _, x := range list {
		if fits(x) {
			out = append(out, x)
		}
	}
	return out
}

func distinct[T cmp.Ordered](list []*mover, of func(*mover) T) []T {
	var out []T
	for _, x := range list {
		out = append(out, of(x))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func sum(list []*mover) int64 {
	var out int64
	for _, x := range list {
		out += x.total
	}
	return out
}

// byGraph matches the kernels that are left of a side with replays of CUDA graphs that only the other side has: traced as a whole, these do
// not tell their kernels.
func (m *matcher) byGraph(list []pair) {
	for _, p := range list {
		if p.key.kind != "graph" || (p.a == nil) == (p.b == nil) {
			continue
		}
		graph := &mover{key: p.key, name: p.key.name}
		if p.a == nil {
			graph.total = p.b.tally.total
			m.setIfAlike(open(m.gone), []*mover{graph})
		} else {
			graph.total = p.a.tally.total
			m.setIfAlike([]*mover{graph}, open(m.new))
		}
	}
}

func (m *matcher) setIfAlike(gone, added []*mover) {
	before, after := sum(gone)*m.passesB, sum(added)*m.passesA
	if len(gone) > 0 && len(added) > 0 && before <= mostApart*after && after <= mostApart*before {
		m.set(inGraph, gone, added)
	}
}

// gather makes one item of kernels and what took their place.
func (s *stagePair) gather(list []Item, parts []pair) ([]Item, []pair) {
	var items []Item
	var pairs []pair
	at := map[int]int{} // by group: its place in items
	for i, it := range list {
		if it.group == 0 {
			items, pairs = append(items, it), append(pairs, parts[i])
			continue
		}
		to, known := at[it.group]
		if !known {
			to = len(items)
			at[it.group] = to
			items, pairs = append(items, Item{group: it.group}), append(pairs, pair{key: parts[i].key, a: &amount{}, b: &amount{}})
		}
		items[to].Members = append(items[to].Members, it)
		if p := parts[i]; p.a != nil {
			pairs[to].a.merge(p.a)
		} else {
			pairs[to].b.merge(p.b)
		}
	}
	for _, to := range at {
		items[to] = s.moved(items[to].Members, pairs[to])
	}
	return items, pairs
}

// moved is the item of kernels and of what took their place: of one that another replaced it has the name of this.
func (s *stagePair) moved(list []Item, p pair) Item {
	slices.SortStableFunc(list, func(x, y Item) int { return cmp.Compare(isNew(x), isNew(y)) })
	gone := slices.IndexFunc(list, func(it Item) bool { return isNew(it) > 0 })
	out := Item{Stage: s.name, Kind: "moved", Unit: "ns", Status: Moved, How: list[0].How, Members: list, Delta: &Delta{}}
	if len(list) == 2 {
		last := list[1]
		out.Name, out.Kind, out.Family, out.Grid, out.Block, out.Partner = last.Name, last.Kind, last.Family, last.Grid, last.Block, last.Partner
	} else {
		out.Name = fmt.Sprintf("%s → %s", countText(list[:gone]), countText(list[gone:]))
		if role := roleOf(list[gone:], list[:gone]); role != "" {
			out.Name = role + ": " + out.Name
		}
		out.Partner = list[gone].Partner + " → " + list[0].Partner
	}
	for _, it := range list {
		out.A.add(it.A)
		out.B.add(it.B)
		out.Delta.add(it.Delta)
	}
	out.A.TypicalNs, out.B.TypicalNs = s.typical(s.a, p.a), s.typical(s.b, p.b)
	out.Typical = &Delta{Ns: *out.B.TypicalNs - *out.A.TypicalNs, NewNs: *out.B.TypicalNs, RemovedNs: -*out.A.TypicalNs}
	return out
}

// isNew is 1 of an item that only B has, else 0.
func isNew(it Item) int {
	if it.A.Calls == 0 {
		return 1
	}
	return 0
}

func countText(list []Item) string {
	switch n := len(list); {
	case list[0].Kind == "graph":
		return graphsText
	case n > 1:
		return fmt.Sprintf("%d kernels", n)
	}
	return "1 kernel"
}

// roleOf is what kernels do, of either side those that take longest; attention where one of them is.
func roleOf(sides ...[]Item) (role string) {
	for _, list := range sides {
		for _, it := range slices.SortedStableFunc(slices.Values(list), func(x, y Item) int {
			return cmp.Compare(y.A.PerUnitNs+y.B.PerUnitNs, x.A.PerUnitNs+x.B.PerUnitNs)
		}) {
			if it.role == "attention" {
				return it.role
			}
			role = cmp.Or(role, it.role)
		}
	}
	return strings.ReplaceAll(role, "_", " ")
}

// members are items each by itself.
func members(list []Item) (out []Item) {
	for _, it := range list {
		if len(it.Members) == 0 {
			out = append(out, it)
		}
		out = append(out, it.Members...)
	}
	return out
}
