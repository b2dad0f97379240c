package tree

import (
	"cmp"
	"slices"
	"strings"
)

// spot is what two modules or operators that are the same have in them, in the order of the programs.
type spot struct {
	marks [][2]int64 // when each side first came to what both have
	a, b  []piece    // what only that side has
}

// piece is the work of a module, an operator, or an operator with certain inputs.
type piece struct {
	path  string
	first int64
	work  *Work
}

func (n *node) piece(path string) piece { return piece{below(path, n.name), n.first, n.work()} }

func (l *leaf) piece(path string) piece { return piece{path, l.first, l.work()} }

func (p *spot) mark(a, b int64) { p.marks = append(p.marks, [2]int64{a, b}) }

// settle takes what stands on both sides between the same neighbours for one another: fewer ones are fused, several in place of one are that
// one split.
func (t *twins) settle(p *spot) {
	if len(p.a) == 0 || len(p.b) == 0 {
		return
	}
	marks := inOrder(p.marks)
	runsA, runsB := runs(p.a, marks, 0), runs(p.b, marks, 1)
	p.a, p.b = nil, nil
	for i, a := range runsA {
		b := runsB[i]
		if len(a) == 0 || len(b) == 0 {
			p.a, p.b = append(p.a, a...), append(p.b, b...)
			continue
		}
		t.replace(a, b)
		p.mark(a[0].first, b[0].first)
	}
}

// inOrder returns the most marks that follow each other on both sides.
func inOrder(marks [][2]int64) [][2]int64 {
	marks = slices.Clone(marks)
	slices.SortFunc(marks, func(x, y [2]int64) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(y[1], x[1])) })
	var ends, before []int // the mark that ends the best list of each length, and the one before each mark
	for i, m := range marks {
		at, _ := slices.BinarySearchFunc(ends, m[1], func(end int, b int64) int { return cmp.Compare(marks[end][1], b) })
		if at == len(ends) {
			ends = append(ends, i)
		} else {
			ends[at] = i
		}
		before = append(before, -1)
		if at > 0 {
			before[i] = ends[at-1]
		}
	}
	out := make([][2]int64, len(ends))
	if len(ends) == 0 {
		return out
	}
	at := ends[len(ends)-1]
	for i := len(ends) - 1; i >= 0; i-- {
		out[i] = marks[at]
		at = before[at]
	}
	return out
}

// runs divides pieces at the marks of a side.
func runs(list []piece, marks [][2]int64, side int) [][]piece {
	list = slices.Clone(list)
	slices.SortFunc(list, func(x, y piece) int { return cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(x.path, y.path)) })
	out := make([][]piece, len(marks)+1)
	at := 0
	for _, p := range list {
		for at < len(marks) && marks[at][side] < p.first {
			at++
		}
		out[at] = append(out[at], p)
	}
	return out
}

// rest gives what is left a row each.
func (t *twins) rest(p *spot) {
	for _, x := range p.a {
		*t = append(*t, Twin{Path: x.path, A: x.work})
	}
	for _, y := range p.b {
		*t = append(*t, Twin{Path: y.path, B: y.work})
	}
}

// replace makes one row of pieces and those that took their place.
func (t *twins) replace(a, b []piece) {
	within := slices.Concat(a, b)[0].path
	for _, p := range slices.Concat(a, b) {
		within = sharedPath(within, p.path)
	}
	workA, namesA := together(a, within)
	workB, namesB := together(b, within)
	how := Replaced
	switch {
	case len(namesB) < len(namesA):
		how = Fused
	case len(namesA) == 1 && len(namesB) > 1:
		how = Split
	}
	*t = append(*t, Twin{Path: within + strings.Join(namesA, " + "), A: workA, B: workB, Partner: strings.Join(namesB, " + "), How: how})
}

// sharedPath returns what the paths of two things have in common, the marks behind it included, but nothing of what is the last of either.
func sharedPath(a, b string) string {
	at := 0
	for {
		end := strings.Index(a[at:], Mark) + at + len(Mark)
		if end < at+len(Mark) || !strings.HasPrefix(b, a[:end]) {
			return a[:at]
		}
		at = end
	}
}

// together adds up pieces, and names each by what it is or is in below a path.
func together(list []piece, within string) (*Work, []string) {
	sum := newWork()
	var names []string
	seen := map[string]bool{}
	for _, p := range list {
		sum.add(p.work)
		name := strings.TrimPrefix(p.path, within)
		if len(list) > 1 {
			name, _, _ = strings.Cut(name, Mark)
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return sum, names
}
