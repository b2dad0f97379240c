package tree

import (
	"maps"
	"slices"
)

// How the work of a row differs where both sides have some.
const (
	OtherKernels = "other kernels" // same inputs, kernels of other names
	OtherShapes  = "other shapes"  // matched by their order, since the inputs differ
	Renamed      = "renamed"       // in a module of another class
	Fused        = "fused"         // fewer operators in place of several
	Split        = "split"         // several operators in place of one
	Replaced     = "replaced"      // other operators between the same neighbours
)

// Twin is what became of work: one row of the comparison. Each side's work is in exactly one.
type Twin struct {
	Path    string // of the modules and operators of A, of new work those of B
	A, B    *Work  // nil on the side that has none
	Partner string // what stands in B in its place, where that is something else
	How     string // "" where both sides do the same, or one does nothing
	Places  int    // in how many places it is; 0 where places are rows of their own
}

// Work is what a side did in a row.
type Work struct {
	Leaves  []int
	Kernels map[string]bool // names
	Shapes  string          // of the inputs, where the work is all of one leaf
}

func newWork() *Work { return &Work{Kernels: map[string]bool{}} }

// add puts other work to it.
func (w *Work) add(o *Work) {
	w.Leaves = append(w.Leaves, o.Leaves...)
	maps.Copy(w.Kernels, o.Kernels)
}

func (l *leaf) work() *Work { return &Work{l.numbers, l.kernels, l.shapes} }

type twins []Twin

// Align matches two trees from the top down. Folded makes one row of what is the same in several instances of modules, such as the layers of a model.
func Align(a, b *Tree, isFolded bool) []Twin {
	a.root.sort()
	b.root.sort()
	var out twins
	out.pair("", a.root, b.root, "")
	if isFolded {
		return out.folded(a.root, b.root)
	}
	return out
}

// pair takes two nodes for the same: their own work, and what is called in them. Of operators it gives back what has not been matched in them:
// around them it may have counterparts.
func (t *twins) pair(path string, a, b *node, how string) spot {
	var p spot
	t.pairOwn(&p, path, a.own, b.own, how)
	x, y := through(a.inside, b.inside)
	isFlat := isFlattened(x, y)
	if isFlat {
		x, y = flat(x), flat(y)
	}
	anchors := certain(common(x, y), x, y)
	anchors = append(anchors, [2]int{len(x), len(y)})
	late := crossed(x, y, anchors)
	i, j := 0, 0
	for _, at := range anchors {
		t.gap(&p, path, left(x[i:at[0]], late[0]), left(y[j:at[1]], late[1]))
		if at[0] < len(x) {
			t.pairIn(&p, path, x[at[0]], y[at[1]], howMatched(x[at[0]], y[at[1]], how))
		}
		i, j = at[0]+1, at[1]+1
	}
	for _, n := range x {
		if other := late[0][n]; other != nil {
			t.pairIn(&p, path, n, other, howMatched(n, other, how))
		}
	}
	if isFlat && len(p.marks) < len(p.a)+len(p.b) { // what a fused kernel does may be of many places
		p.marks = nil
	}
	t.settle(&p)
	if a.isModule {
		t.rest(&p)
	}
	return p
}

// pairIn is pair of two nodes in a place.
func (t *twins) pairIn(p *spot, path string, a, b *node, how string) {
	inside := t.pair(below(path, a.name), a, b, how)
	if a.isModule {
		p.mark(a.first, b.first)
		return
	}
	p.marks, p.a, p.b = append(p.marks, inside.marks...), append(p.a, inside.a...), append(p.b, inside.b...)
}

// howMatched reports whether a module is one of another class, for what is called in it but not in modules inside it.
func howMatched(a, b *node, how string) string {
	switch {
	case !a.isModule:
		return how
	case a.class != b.class:
		return Renamed
	}
	return ""
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + Mark + name
}

// left leaves out nodes that are matched elsewhere.
func left(list []*node, matched map[*node]*node) []*node {
	return slices.DeleteFunc(slices.Clone(list), func(n *node) bool { return matched[n] != nil })
}

// mostCells bounds the table of an alignment: siblings by siblings.
const mostCells = 4_000_000

// common returns the pairs of siblings that are the same on both sides, in order: of all such lists of pairs the one that has most in common.
func common(a, b []*node) [][2]int {
	var out [][2]int
	from := 0
	for from < len(a) && from < len(b) && alike(a[from], b[from]) == most {
		out = append(out, [2]int{from, from})
		from++
	}
	a, b = a[from:], b[from:]
	if len(a) == 0 || len(b) == 0 {
		return out
	}
	if len(a) > mostCells/len(b) {
		return append(out, inTurn(a, b, from)...)
	}
	wide := len(b) + 1
	best, same := make([]int64, (len(a)+1)*wide), make([]int64, len(a)*wide)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			best[i*wide+j] = max(best[(i+1)*wide+j], best[i*wide+j+1])
			if s := alike(a[i], b[j]); s > 0 {
				same[i*wide+j] = s
				best[i*wide+j] = max(best[i*wide+j], best[(i+1)*wide+j+1]+s)
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		s := same[i*wide+j]
		switch {
		case s > 0 && best[i*wide+j] == best[(i+1)*wide+j+1]+s:
			out = append(out, [2]int{from + i, from + j})
			i, j = i+1, j+1
		case best[i*wide+j] == best[(i+1)*wide+j]:
			i++
		default:
			j++
		}
	}
	return out
}

// certain leaves out pairs that share no work, where siblings that do tell the others apart, and one of the same class has no such neighbour:
// of q, k, v and o against qkv and o the first is not the same as qkv.
func certain(anchors [][2]int, a, b []*node) [][2]int {
	if !slices.ContainsFunc(anchors, func(at [2]int) bool { return alike(a[at[0]], b[at[1]]) > nameWorth }) {
		return anchors
	}
	isAnchor := [2]map[int]bool{{}, {}}
	for _, at := range anchors {
		isAnchor[0][at[0]], isAnchor[1][at[1]] = true, true
	}
	lone := func(list []*node, side, at int) bool {
		is := func(i int) bool {
			return i >= 0 && i < len(list) && !isAnchor[side][i] && list[i].key == list[at].key
		}
		return is(at-1) || is(at+1)
	}
	return slices.DeleteFunc(anchors, func(at [2]int) bool {
		return a[at[0]].isModule && alike(a[at[0]], b[at[1]]) == nameWorth && lone(a, 0, at[0]) != lone(b, 1, at[1])
	})
}

// inTurn matches each of very many siblings with the next one of its name.
func inTurn(a, b []*node, from int) [][2]int {
	places := map[string][]int{}
	for j, n := range b {
		places[n.key] = append(places[n.key], j)
	}
	var out [][2]int
	next := 0
	for i, n := range a {
		list := places[n.key]
		for len(list) > 0 && list[0] < next {
			list = list[1:]
		}
		if len(list) > 0 && list[0] < next+len(b)/100+1 { // not one so far on that all between are lost
			out = append(out, [2]int{from + i, from + list[0]})
			next = list[0] + 1
			list = list[1:]
		}
		places[n.key] = list
	}
	return out
}

// most is how alike two nodes are that hold the same work.
const most = 2 * nameWorth

// nameWorth is what the name counts, against at most as much for equal contents: a module that is one of many of its class is known by
// what it does.
const nameWorth = 1000

// alike returns how much two siblings have in common, 0 for nothing.
func alike(a, b *node) int64 {
	if a.key != b.key {
		return 0
	}
	both := shared(a, b)
	either := int64(len(a.contents)+len(b.contents)) - both
	return nameWorth + nameWorth*both/max(either, 1)
}

// shared counts what both nodes do, by operators and inputs.
func shared(a, b *node) int64 {
	var out int64
	for content := range a.contents {
		if b.contents[content] {
			out++
		}
	}
	return out
}

// crossed matches siblings that are the same but stand elsewhere, from A to B and from B to A: operators by name, modules by what they do.
func crossed(a, b []*node, anchors [][2]int) [2]map[*node]*node {
	out := [2]map[*node]*node{{}, {}}
	isAnchor := [2]map[*node]bool{{}, {}}
	for _, at := range anchors[:len(anchors)-1] {
		isAnchor[0][a[at[0]]], isAnchor[1][b[at[1]]] = true, true
	}
	free := map[string][]*node{}
	for _, n := range b {
		if !isAnchor[1][n] {
			free[n.key] = append(free[n.key], n)
		}
	}
	for _, n := range a {
		if isAnchor[0][n] {
			continue
		}
		i := slices.IndexFunc(free[n.key], func(o *node) bool { return !n.isModule || alike(n, o) == most })
		if i >= 0 {
			o := free[n.key][i]
			free[n.key] = slices.Delete(free[n.key], i, i+1)
			out[0][n], out[1][o] = o, n
		}
	}
	return out
}

// gap pairs siblings between two matched ones that have nothing in common by name.
func (t *twins) gap(p *spot, path string, a, b []*node) {
	if modulesA, modulesB := modulesOf(a), modulesOf(b); len(modulesA) == len(modulesB) && len(modulesA) > 0 && allShare(modulesA, modulesB) {
		for i, n := range modulesA {
			t.pairIn(p, path, n, modulesB[i], Renamed)
		}
		isModule := func(n *node) bool { return n.isModule }
		a, b = slices.DeleteFunc(a, isModule), slices.DeleteFunc(b, isModule)
	}
	for _, n := range a {
		p.a = append(p.a, n.piece(path))
	}
	for _, n := range b {
		p.b = append(p.b, n.piece(path))
	}
}

// work is total, with the shapes where the node launched all of it itself, with one kind of inputs.
func (n *node) work() *Work {
	out := n.total()
	if len(n.own) == 1 && len(n.inside) == 0 {
		out.Shapes = n.own[0].shapes
	}
	return out
}

func modulesOf(list []*node) []*node {
	return slices.DeleteFunc(slices.Clone(list), func(n *node) bool { return !n.isModule })
}

func allShare(a, b []*node) bool {
	for i := range a {
		if shared(a[i], b[i]) == 0 {
			return false
		}
	}
	return true
}

// pairOwn matches the work that two operators launched themselves: by inputs, and what is left in the order in which it was called.
func (t *twins) pairOwn(p *spot, path string, a, b []*leaf, how string) {
	inB := make(map[string]*leaf, len(b))
	for _, y := range b {
		inB[y.inputs] = y
	}
	var restA, restB []*leaf
	matched := map[*leaf]bool{}
	for _, x := range a {
		y := inB[x.inputs]
		if y == nil {
			restA = append(restA, x)
			continue
		}
		matched[y] = true
		t.pairLeaves(p, path, x, y, how)
	}
	for _, y := range b {
		if !matched[y] {
			restB = append(restB, y)
		}
	}
	switch {
	case len(restA) == len(restB):
		for i, x := range restA {
			t.pairLeaves(p, path, x, restB[i], OtherShapes)
		}
	case len(restA) > 0 && len(restB) > 0: // which of them became which is not known
		x, y := &node{own: restA}, &node{own: restB}
		*t = append(*t, Twin{Path: path, A: x.work(), B: y.work(), How: OtherShapes})
		p.mark(restA[0].first, restB[0].first)
	default:
		for _, x := range restA {
			p.a = append(p.a, x.piece(path))
		}
		for _, y := range restB {
			p.b = append(p.b, y.piece(path))
		}
	}
}

// pairLeaves takes the work of an operator on either side for the same.
func (t *twins) pairLeaves(p *spot, path string, a, b *leaf, how string) {
	p.mark(a.first, b.first)
	if (how == "" || how == Renamed) && !maps.Equal(a.kernels, b.kernels) {
		how = OtherKernels
	}
	*t = append(*t, Twin{Path: path, A: a.work(), B: b.work(), How: how})
}
