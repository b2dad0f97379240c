package tree

import (
	"maps"
	"slices"
	"strings"
)

// through opens wrappers until siblings have most in common: modules and operators that stand around what the other side has without them, such as
// those of compilers, of data parallelism and of adapters.
func through(a, b []*node) (x, y []*node) {
	for {
		if i := wrapper(a, b); i >= 0 {
			a = opened(a, i)
		} else if i := wrapper(b, a); i >= 0 {
			b = opened(b, i)
		} else {
			return a, b
		}
	}
}

// wrapper returns the place of the sibling that the other side lacks and that has in it what the other side has more of; of several that which has
// most in common with it. -1 for none.
func wrapper(list, other []*node) int {
	names, works := map[string]int{}, map[string]int{} // how many more the other side has
	count := func(list []*node, n int) {
		for _, x := range list {
			names[x.key] += n
			works[x.does()] += n
		}
	}
	known := map[string]bool{}
	for _, n := range other {
		known[n.key] = true
	}
	if !slices.ContainsFunc(list, func(n *node) bool { return !known[n.key] }) {
		return -1
	}
	count(other, 1)
	count(list, -1)
	wanted := map[string][]want{}
	for _, n := range other {
		if names[n.key] > 0 || works[n.does()] > 0 {
			wanted[n.key] = append(wanted[n.key], want{n, names[n.key] <= 0})
		}
	}
	at, best := -1, int64(0)
	for i, w := range list {
		if known[w.key] || len(w.own) > 0 || len(wanted) == 0 {
			continue
		}
		if s := holds(w, wanted); s > best {
			at, best = i, s
		}
	}
	return at
}

// want is a node that has no counterpart among the siblings of the other side.
type want struct {
	*node
	asIs bool // the others of its name have one: what stands for it must do exactly its work
}

// does names a node by its name and all that is done in it.
func (n *node) does() string {
	if n.works == "" {
		n.works = n.key + "\n" + strings.Join(slices.Sorted(maps.Keys(n.contents)), "\n")
	}
	return n.works
}

// holds returns how much of what is wanted a node has directly in it, or in the only one that it has in it: 0 for nothing.
func holds(w *node, wanted map[string][]want) int64 {
	var best int64
	for _, c := range w.inside {
		for _, n := range wanted[c.key] {
			if s := alike(c, n.node); s == most || !n.asIs && (s > nameWorth || len(w.inside) == 1) {
				best = max(best, s)
			}
		}
	}
	if inner := only(w.inside); best == 0 && inner != nil && len(inner.own) == 0 {
		return holds(inner, wanted)
	}
	return best
}

// only returns the one module of a list, or its one operator where it has no module; nil for none or several.
func only(list []*node) *node {
	if modules := modulesOf(list); len(modules) > 0 {
		list = modules
	}
	if len(list) != 1 {
		return nil
	}
	return list[0]
}

// opened puts what is in a sibling in its place.
func opened(list []*node, at int) []*node {
	inside := make([]*node, len(list[at].inside))
	for i, c := range list[at].inside {
		n := *c
		n.name = below(list[at].name, c.name)
		inside[i] = &n
	}
	return slices.Concat(list[:at], inside, list[at+1:])
}

// isFlattened reports whether one side has modules and the other none but operators, some of the same, as a compiler leaves them.
func isFlattened(a, b []*node) bool {
	if (len(modulesOf(a)) > 0) == (len(modulesOf(b)) > 0) {
		return false
	}
	names := map[string]bool{}
	for _, n := range flat(modulesOf(slices.Concat(a, b))) {
		names[n.name] = true
	}
	if len(modulesOf(a)) > 0 {
		a = b
	}
	return slices.ContainsFunc(flat(a), func(n *node) bool { return names[n.name] })
}

// flat returns the innermost operators of siblings, whatever they are called in.
func flat(list []*node) []*node {
	out := newNode("", true)
	var add func(n *node)
	add = func(n *node) {
		for _, l := range n.own {
			op := out.child(n.name, false, l.first)
			to := op.leafOf(l.inputs, l.shapes, l.first)
			to.numbers = append(to.numbers, l.numbers...)
			maps.Copy(to.kernels, l.kernels)
			op.contents[n.name+" "+l.inputs] = true
		}
		for _, c := range n.inside {
			add(c)
		}
	}
	for _, n := range list {
		add(n)
	}
	out.sort()
	return out.inside
}
