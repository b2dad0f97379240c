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

// Work is one piece of device work, as the sums by range and the idle time between pieces need it.
type Work struct {
	Start, End int64
	Launch     int32 // the call that launched it; NoLaunch when it was not captured
	Label      int32 // what it is, by Labels
	Stream     int32 // where it ran, by Streams; NoStream when work of one number may overlap
}

// NoLaunch stands for a call that was not captured.
const NoLaunch = int32(-1)

// before orders work by start, and what starts together so that the order is the same each time.
func (o *Work) before(p *Work) int {
	return cmp.Or(cmp.Compare(o.Start, p.Start), cmp.Compare(o.Launch, p.Launch), cmp.Compare(o.End, p.End))
}

// WorkList keeps the work that one worker saw.
type WorkList struct {
	load.Blocks[Work]
	last       Work
	isShuffled bool     // some work came behind work that starts later
	ordered    [][]Work // once all is in it
	heads      []Work   // the first of each stream
}

// NewWorkList makes a list whose work lies in a room.
func NewWorkList(room *load.Room) *WorkList { return &WorkList{Blocks: load.Blocks[Work]{Room: room}} }

// Add puts work at the end.
func (l *WorkList) Add(w Work) {
	l.isShuffled = l.isShuffled || l.Len() > 0 && w.Start <= l.last.Start && w.before(&l.last) < 0
	l.last = w
	l.Blocks.Add(w)
	if w.Stream == NoStream {
		return
	}
	for int(w.Stream) >= len(l.heads) {
		l.heads = append(l.heads, Work{Start: Forever})
	}
	if head := &l.heads[w.Stream]; w.Start < head.Start {
		*head = w
	}
}

// byStart returns the list in the order of starts; exports are mostly in this order already.
func (l *WorkList) byStart() [][]Work {
	if l.ordered == nil && l.Len() > 0 { // an empty list has no order to keep, and several goroutines ask
		l.ordered = l.order()
	}
	return l.ordered
}

func (l *WorkList) order() [][]Work {
	if !l.isShuffled {
		return l.Pieces()
	}
	all := load.Reserve[Work](l.Room, l.Len())[:0]
	for _, b := range l.Pieces() {
		all = append(all, b...)
	}
	slices.SortStableFunc(all, func(a, b Work) int { return a.before(&b) })
	return [][]Work{all}
}

// merge reads several sorted lists as one. Workers take exports piece by piece, so that what follows is mostly in the list of what came last.
type merge struct {
	heads []*workCursor
	now   *workCursor // the list that came last
	until int64       // the least start in the other lists
}

type workCursor struct {
	room   *load.Room
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
		c.room.LetGo()
	}
}

func newMerge(lists []*WorkList) *merge {
	m := &merge{}
	for _, l := range lists {
		if blocks := l.byStart(); len(blocks) > 0 {
			m.heads = append(m.heads, &workCursor{room: l.Room, blocks: blocks})
		}
	}
	return m
}

func (m *merge) next() *Work {
	if m.now != nil {
		if o := m.now.head(); o != nil && o.Start < m.until {
			m.now.step()
			return o
		}
	}
	m.now, m.until = nil, Forever
	var o *Work
	for _, c := range m.heads {
		h := c.head()
		switch {
		case h == nil:
		case o == nil || h.before(o) < 0:
			if o != nil {
				m.until = min(m.until, o.Start)
			}
			m.now, o = c, h
		default:
			m.until = min(m.until, h.Start)
		}
	}
	if o != nil {
		m.now.step()
	}
	return o
}
