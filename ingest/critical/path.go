package critical

import (
	"slices"
)

// Path is what the step's length was made of, in the order of time: disjoint pieces from its start to its end.
func (g *Graph) Path() []Piece {
	var out []Piece // last first
	add := func(l Label, from, to int64) {
		if from = max(from, g.t.Start); from < to {
			out = append(out, Piece{l, from, to})
		}
	}
	n := g.end
	for g.nodes[n].at > g.t.Start {
		x := &g.nodes[n]
		if len(x.edges) == 0 {
			add(Label{Unknown, None, None, None, None}, g.t.Start, x.at)
			break
		}
		e := g.latest(x)
		at := x.at
		for _, s := range slices.Backward(e.shares) {
			add(s.Label, at-s.ns, at)
			at -= s.ns
		}
		n = e.from
		if a := x.ready; a != nil {
			add(a.Label, g.nodes[a.start].at, a.at)
		}
	}
	slices.Reverse(out)
	return out
}

// latest is the edge that a node waited for: the one whose end it is. Of several the first.
func (g *Graph) latest(x *node) *edge {
	if x.ready != nil {
		return &x.edges[0]
	}
	best := &x.edges[0]
	for i := range x.edges {
		e := &x.edges[i]
		if g.nodes[e.from].at+e.lag > g.nodes[best.from].at+best.lag {
			best = e
		}
	}
	return best
}

// Length is how long the step would have been if all time for which none is true had taken none: each call and each piece of work begins when
// all that it waited for is done, as long after as it did. What other ranks did, and what was launched before the step, stays as it was.
func (g *Graph) Length(none func(Label) bool) int64 {
	return g.replay(none)[g.end] - g.t.Start
}

// replay gives when each node is then.
func (g *Graph) replay(none func(Label) bool) []int64 {
	at := make([]int64, len(g.nodes))
	for _, n := range g.order {
		x := &g.nodes[n]
		if len(x.edges) == 0 || x.at <= g.t.Start {
			at[n] = x.at
			continue
		}
		at[n] = g.t.Start // nothing of the step is before it
		for i := range x.edges {
			e := &x.edges[i]
			lag, from := e.lag, at[e.from]
			for _, s := range e.shares {
				if none(s.Label) {
					lag -= s.ns
				}
			}
			if a := x.ready; a != nil && !none(a.Label) {
				from = max(from, a.at)
			}
			at[n] = max(at[n], from+lag)
		}
	}
	return at
}
