package attribute

import (
	"cmp"
	"slices"
)

// WorkKind tells device work apart in the sums of a range.
type WorkKind uint8

const (
	Kernel WorkKind = iota
	Memop           // a copy or a fill
	Graph           // a graph launch whose nodes were not traced
)

// Work is one piece of device work launched inside a range, as the range sums need it.
type Work struct {
	Start, End int64
	Node       int32 // ranges open at its launch; not NoNode
	Device     int16 // the machine's number of the GPU
	Kind       WorkKind
}

// WorkList keeps the work that one worker saw, in blocks so that growing copies nothing.
type WorkList struct{ blocks [][]Work }

const workBlock = 1 << 15

// Add puts one piece at the end.
func (l *WorkList) Add(o Work) {
	n := len(l.blocks)
	if n == 0 || len(l.blocks[n-1]) == workBlock {
		l.blocks = append(l.blocks, make([]Work, 0, workBlock))
		n++
	}
	l.blocks[n-1] = append(l.blocks[n-1], o)
}

// sortByStart orders the list; exports are in this order already, so it mostly only looks.
func (l *WorkList) sortByStart() {
	sorted, last := true, -Forever
	for _, b := range l.blocks {
		for i := range b {
			if b[i].Start < last {
				sorted = false
			}
			last = b[i].Start
		}
	}
	if sorted {
		return
	}
	all := slices.Concat(l.blocks...)
	slices.SortStableFunc(all, func(a, b Work) int { return cmp.Compare(a.Start, b.Start) })
	l.blocks = [][]Work{all}
}

// merge reads several sorted lists as one.
type merge struct{ heads []*workCursor }

type workCursor struct {
	blocks [][]Work
	b, i   int
}

func (c *workCursor) head() *Work {
	if c.b == len(c.blocks) {
		return nil
	}
	return &c.blocks[c.b][c.i]
}

func (c *workCursor) step() {
	if c.i++; c.i == len(c.blocks[c.b]) {
		c.b, c.i = c.b+1, 0
	}
}

func newMerge(lists []*WorkList) *merge {
	m := &merge{}
	for _, l := range lists {
		if l.sortByStart(); len(l.blocks) > 0 {
			m.heads = append(m.heads, &workCursor{blocks: l.blocks})
		}
	}
	return m
}

func (m *merge) next() *Work {
	var best *workCursor
	var o *Work
	for _, c := range m.heads {
		if h := c.head(); h != nil && (o == nil || h.Start < o.Start) {
			best, o = c, h
		}
	}
	if best != nil {
		best.step()
	}
	return o
}
