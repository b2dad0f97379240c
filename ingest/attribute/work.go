package attribute

import (
	"cmp"
	"slices"

	"prof/ingest/load"
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

// WorkList keeps the work that one worker saw.
type WorkList struct{ load.Blocks[Work] }

// byStart gives the list in the order of starts; exports are in this order already, so it mostly only looks.
func (l *WorkList) byStart() [][]Work {
	sorted, last := true, -Forever
	for _, b := range l.Pieces() {
		for i := range b {
			if b[i].Start < last {
				sorted = false
			}
			last = b[i].Start
		}
	}
	if sorted {
		return l.Pieces()
	}
	all := slices.Concat(l.Pieces()...)
	slices.SortStableFunc(all, func(a, b Work) int { return cmp.Compare(a.Start, b.Start) })
	return [][]Work{all}
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
		if blocks := l.byStart(); len(blocks) > 0 {
			m.heads = append(m.heads, &workCursor{blocks: blocks})
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
