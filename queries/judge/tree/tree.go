// Package tree aligns what two programs called: trees of modules and operators. Of each piece of work it says what became of it on the other side:
// the same, other kernels or shapes, fused, split, replaced, new, gone. It knows no times.
package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mark joins the names of modules and operators in paths, the outermost first.
const Mark = " > "

// Tree is what one side called.
type Tree struct {
	root   *node
	leaves int
}

// New returns a tree without any work.
func New() *Tree { return &Tree{root: newNode("", true)} }

// Row is work of kernels of one name.
type Row struct {
	Modules   string // path of the modules that called it; "" where none is known
	Operators string // path of operators, the one that launched the work last
	Inputs    string // shapes and types of its inputs, by which calls of the operator differ
	Shapes    string // those of the inputs, for the reader
	Kernel    string
	First     int64 // ns: when the program first came here
}

// Add puts work where its modules and operators say, and gives the number of the leaf that it is in: the work that an operator in a place
// launched itself when called with the same inputs. Leaves are numbered from 0.
func (t *Tree) Add(r Row) int {
	operators := strings.Split(r.Operators, Mark)
	content := operators[len(operators)-1] + " " + r.Inputs // in whatever wrappers
	at := t.root
	at.contents[content] = true
	if r.Modules != "" {
		for name := range strings.SplitSeq(r.Modules, Mark) {
			at = at.child(name, true, r.First)
			at.contents[content] = true
		}
	}
	for _, name := range operators {
		at = at.child(name, false, r.First)
		at.contents[content] = true
	}
	l := at.leafOf(r.Inputs, r.Shapes, r.First)
	if l.numbers == nil {
		l.numbers = []int{t.leaves}
		t.leaves++
	}
	l.kernels[r.Kernel] = true
	return l.numbers[0]
}

// node is a module or an operator of one side, with the work that it launched itself and what was called in it.
type node struct {
	name     string
	class    string // of a module its name without the number of the instance, which shifts where one is added
	key      string // what it must share with the one it is the same as
	isModule bool
	first    int64 // ns: when the program first came here
	inside   []*node
	own      []*leaf
	contents map[string]bool // innermost operators with their inputs, all of those inside included
	works    string          // of does, once asked for
	index    map[string]*node
	leaves   map[string]*leaf // own, by inputs
}

// leaf is the work that an operator launched itself when called with the same inputs.
type leaf struct {
	inputs, shapes string
	numbers        []int
	kernels        map[string]bool
	first          int64
}

func newNode(name string, isModule bool) *node {
	n := &node{name: name, class: name, key: name, isModule: isModule, index: map[string]*node{}, leaves: map[string]*leaf{}, contents: map[string]bool{}}
	if cut := strings.LastIndexByte(name, '_'); isModule && cut > 0 && strings.Trim(name[cut+1:], "0123456789") == "" {
		n.class = name[:cut]
	}
	if isModule {
		n.key = "module " + n.class
	}
	return n
}

// child returns the one of that name, which the program came to at that time.
func (n *node) child(name string, isModule bool, first int64) *node {
	key := fmt.Sprint(isModule, name)
	c := n.index[key]
	if c == nil {
		c = newNode(name, isModule)
		c.first = first
		n.index[key] = c
		n.inside = append(n.inside, c)
	}
	c.first = min(c.first, first)
	return c
}

// leafOf returns the work of an operator with these inputs.
func (n *node) leafOf(inputs, shapes string, first int64) *leaf {
	l := n.leaves[inputs]
	if l == nil {
		l = &leaf{inputs: inputs, shapes: shapes, kernels: map[string]bool{}, first: first}
		n.leaves[inputs] = l
		n.own = append(n.own, l)
	}
	l.first = min(l.first, first)
	return l
}

// sort puts what was called into the order of the program.
func (n *node) sort() {
	slices.SortFunc(n.inside, func(a, b *node) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.name, b.name)) })
	slices.SortFunc(n.own, func(a, b *leaf) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.inputs, b.inputs)) })
	for _, c := range n.inside {
		c.sort()
	}
}

// total is the work of a node and all inside it.
func (n *node) total() *Work {
	out := newWork()
	for _, l := range n.own {
		out.add(l.work())
	}
	for _, c := range n.inside {
		out.add(c.total())
	}
	return out
}
