package critical

import (
	"slices"
)

// Path is what the step's length was made of, in the order of time: disjoint pieces from its start to its end.
func (g *Graph) Path() []Piece {
	out := make([]Piece, 0, len(g.order)) // last first
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

// replay is a graph in the order in which it is replayed, without pointers: it is replayed once for each thing that could be saved. A replay looks at the lags alone: what is to
// take no time is taken from them before, and given back after. One of 60,000 edges waits for memory most of its time, so that lanes of them go side by side: six times as fast.
type replay struct {
	labels []Label // of all that the end may depend on
	ends   []int32 // by label, up to where its parts are in parts
	parts  []part
	nodes  []moment
	from   []int32        // of edges, indices of nodes
	lags   [][lanes]int64 // of edges
	at     [][lanes]int64 // when each node is
}

const lanes = 4

// moment is a node: what is before the given end in edges, and behind that of the node before, is its own. A fixed one, which has no edges, is at that time.
type moment struct {
	at    int64
	edges int32
}

// part is what a label has of an edge's lag.
type part struct {
	ns   int64
	edge int32
}

func (g *Graph) flat() replay {
	edges, shares := 0, 0
	for _, n := range g.order {
		x := &g.nodes[n]
		for _, e := range x.edges {
			edges, shares = edges+1, shares+len(e.shares)
			if x.ready != nil {
				edges, shares = edges+1, shares+len(e.shares)+1
			}
		}
	}
	r := replay{nodes: append(make([]moment, 0, len(g.order)+1), moment{at: g.t.Start}), from: make([]int32, 0, edges), lags: make([][lanes]int64, 0, edges)}
	ids, index, counts := map[Label]int32{}, make([]int32, len(g.nodes)), []int32(nil)
	parts, labels := make([]part, 0, shares), make([]int32, 0, shares) // in the order of edges
	edge := func(from int32, lag int64) {
		r.from, r.lags = append(r.from, from), append(r.lags, [lanes]int64{lag, lag, lag, lag})
	}
	add := func(l Label, ns int64) {
		n, has := ids[l]
		if !has {
			n = int32(len(r.labels))
			ids[l], r.labels, counts = n, append(r.labels, l), append(counts, 0)
		}
		counts[n]++
		parts, labels = append(parts, part{ns, int32(len(r.from))}), append(labels, n)
	}
	for i, n := range g.order {
		x := &g.nodes[n]
		index[n] = int32(i) + 1
		for _, e := range x.edges {
			for _, s := range e.shares {
				add(s.Label, s.ns)
			}
			edge(index[e.from], e.lag)
			if a := x.ready; a != nil { // as long after the moment that another rank decides
				for _, s := range e.shares {
					add(s.Label, s.ns)
				}
				add(a.Label, a.at-g.t.Start)
				edge(0, a.at-g.t.Start+e.lag)
			}
		}
		r.nodes = append(r.nodes, moment{x.at, int32(len(r.from))})
	}
	r.at = make([][lanes]int64, len(r.nodes))
	r.parts, r.ends = make([]part, len(parts)), make([]int32, len(counts))
	from := int32(0)
	for i, n := range counts {
		r.ends[i], from = from, from+n
	}
	for i, l := range labels {
		r.parts[r.ends[l]] = parts[i]
		r.ends[l]++
	}
	return r
}

// of returns the parts of a label.
func (r *replay) of(label int32) []part {
	if label == 0 {
		return r.parts[:r.ends[0]]
	}
	return r.parts[r.ends[label-1]:r.ends[label]]
}

// Length is how long the step would have been if all time for which none is true had taken none: each call and each piece of work begins when
// all that it waited for is done, as long after as it did. What other ranks did, and what is not of the step, stays as it was.
func (g *Graph) Length(none func(Label) bool) int64 {
	var gone []int32
	for i, l := range g.replay.labels {
		if none(l) {
			gone = append(gone, int32(i))
		}
	}
	return g.without([lanes][]int32{gone})[0]
}

// without is Length by indices of labels.
func (g *Graph) without(gone [lanes][]int32) (lengths [lanes]int64) {
	r, start := &g.replay, g.t.Start
	for k, labels := range gone {
		for _, l := range labels {
			for _, p := range r.of(l) {
				r.lags[p.edge][k] -= p.ns
			}
		}
	}
	edge := int32(0)
	for i := range r.nodes {
		m := &r.nodes[i]
		if edge == m.edges {
			r.at[i] = [lanes]int64{m.at, m.at, m.at, m.at}
			continue
		}
		a, b, c, d := start, start, start, start // nothing of the step is before it
		for ; edge < m.edges; edge++ {
			from, lag := &r.at[r.from[edge]], &r.lags[edge]
			a, b, c, d = max(a, from[0]+lag[0]), max(b, from[1]+lag[1]), max(c, from[2]+lag[2]), max(d, from[3]+lag[3])
		}
		r.at[i] = [lanes]int64{a, b, c, d}
	}
	for k, labels := range gone {
		for _, l := range labels {
			for _, p := range r.of(l) {
				r.lags[p.edge][k] += p.ns
			}
		}
	}
	for k, at := range r.at[len(r.at)-1] {
		lengths[k] = at - start
	}
	return lengths
}
