package attribute

import "prof/ingest/load"

// Wanted is the set of correlation ids, per process, that some device work refers to. API calls outnumber launches, and ids
// are sparse, so the launch table keeps only calls with a bit here.
type Wanted struct {
	sets map[int64]idSet // by process
	room *load.Room
	free []idPage
}

// idSet is a set of correlation ids in pages of 1024.
type idSet map[int64]*idPage

type idPage struct {
	bits  [16]uint64
	ranks [16]int32 // of each word's first id among all wanted ids, once frozen
}

const pagesAtOnce = 16

// NewWanted makes an empty set whose pages lie in a room.
func NewWanted(room *load.Room) *Wanted {
	return &Wanted{sets: map[int64]idSet{}, room: room}
}

// Adder takes ids in for one goroutine; those of one page mostly come together.
type Adder struct {
	to   *Wanted
	proc int64
	key  int64
	page *idPage
}

// Adder makes an adder to the set.
func (w *Wanted) Adder() *Adder { return &Adder{to: w} }

// Add takes an id of a process in.
func (a *Adder) Add(proc, id int64) {
	if a.page == nil || proc != a.proc || id>>10 != a.key {
		a.proc, a.key, a.page = proc, id>>10, a.to.page(proc, id>>10)
	}
	a.page.bits[id>>6&15] |= 1 << (id & 63)
}

// page returns a page of a process's ids, made when it is not there.
func (w *Wanted) page(proc, key int64) *idPage {
	s := w.sets[proc]
	if s == nil {
		s = idSet{}
		w.sets[proc] = s
	}
	p := s[key]
	if p == nil {
		if len(w.free) == 0 {
			w.free = load.Reserve[idPage](w.room, pagesAtOnce)
		}
		p, w.free = &w.free[0], w.free[1:]
		s[key] = p
	}
	return p
}

// Merge takes all ids of another set in, whose memory it may keep.
func (w *Wanted) Merge(o *Wanted) {
	for proc, from := range o.sets {
		to := w.sets[proc]
		if to == nil {
			w.sets[proc] = from
			continue
		}
		for k, p := range from {
			have := to[k]
			if have == nil {
				to[k] = p
				continue
			}
			for i, word := range p.bits {
				have.bits[i] |= word
			}
		}
	}
}
