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

// replay is a graph in the order in which it is replayed, without pointers: it is replayed once for each thing that could be saved.
type replay struct {
	labels []Label // of all that the end may depend on
	nodes  []moment
	edges  []lag
	parts  []part
}

// moment is a node: what is before the given ends in edges is its own.
type moment struct {
	at      int64 // of a fixed one, which has no edges
	edges   int32
	arrival int32 // label of the wait for another rank; None without one
	came    int64
}

type lag struct {
	ns    int64
	from  int32 // index of nodes
	parts int32 // as moment.edges
}

type part struct {
	ns    int64
	label int32
}

func (g *Graph) flat() replay {
	r := replay{nodes: make([]moment, 0, len(g.order))}
	ids, index := map[Label]int32{}, make([]int32, len(g.nodes))
	id := func(l Label) int32 {
		n, has := ids[l]
		if !has {
			n = int32(len(r.labels))
			ids[l], r.labels = n, append(r.labels, l)
		}
		return n
	}
	for i, n := range g.order {
		x := &g.nodes[n]
		index[n] = int32(i)
		for _, e := range x.edges {
			for _, s := range e.shares {
				r.parts = append(r.parts, part{s.ns, id(s.Label)})
			}
			r.edges = append(r.edges, lag{e.lag, index[e.from], int32(len(r.parts))})
		}
		m := moment{at: x.at, edges: int32(len(r.edges)), arrival: None}
		if x.ready != nil {
			m.arrival, m.came = id(x.ready.Label), x.ready.at
		}
		r.nodes = append(r.nodes, m)
	}
	return r
}

// Length is how long the step would have been if all time for which none is true had taken none: each call and each piece of work begins when
// all that it waited for is done, as long after as it did. What other ranks did, and what is not of the step, stays as it was.
func (g *Graph) Length(none func(Label) bool) int64 {
	r := &g.replay
	gone := make([]bool, len(r.labels))
	for i, l := range r.labels {
		gone[i] = none(l)
	}
	at := make([]int64, len(r.nodes))
	edge, part := int32(0), int32(0)
	for i := range r.nodes {
		m := &r.nodes[i]
		if edge == m.edges {
			at[i] = m.at
			continue
		}
		now, came := g.t.Start, g.t.Start // nothing of the step is before it
		if m.arrival != None && !gone[m.arrival] {
			came = m.came
		}
		for ; edge < m.edges; edge++ {
			e := &r.edges[edge]
			ns := e.ns
			for ; part < e.parts; part++ {
				if p := &r.parts[part]; gone[p.label] {
					ns -= p.ns
				}
			}
			now = max(now, max(at[e.from], came)+ns)
		}
		at[i] = now
	}
	return at[len(at)-1] - g.t.Start
}
