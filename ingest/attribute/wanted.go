package attribute

// Wanted is the set of correlation ids, per process, that some device work refers to. API calls outnumber launches, and ids
// are sparse, so the launch table keeps only calls with a bit here.
type Wanted map[int64]*idSet

// idSet is a set of correlation ids in pages of 1024, with ranks once frozen.
type idSet struct {
	pages map[int64]*idPage
}

type idPage struct {
	bits  [16]uint64
	ranks [16]int32 // of each word's first id among all wanted ids
}

// Adder takes ids in for one goroutine; those of one page mostly come together.
type Adder struct {
	to   Wanted
	proc int64
	key  int64
	page *idPage
}

// Adder makes an adder to the set.
func (w Wanted) Adder() *Adder { return &Adder{to: w} }

// Add takes an id of a process in.
func (a *Adder) Add(proc, id int64) {
	if a.page == nil || proc != a.proc || id>>10 != a.key {
		a.proc, a.key, a.page = proc, id>>10, a.to.page(proc, id>>10)
	}
	a.page.bits[id>>6&15] |= 1 << (id & 63)
}

// page gives a page of a process's ids, made when it is not there.
func (w Wanted) page(proc, key int64) *idPage {
	s := w[proc]
	if s == nil {
		s = &idSet{pages: map[int64]*idPage{}}
		w[proc] = s
	}
	p := s.pages[key]
	if p == nil {
		p = &idPage{}
		s.pages[key] = p
	}
	return p
}

// Merge takes all ids of another set in, whose memory it may keep.
func (w Wanted) Merge(o Wanted) {
	for proc, from := range o {
		to := w[proc]
		if to == nil {
			w[proc] = from
			continue
		}
		for k, p := range from.pages {
			have := to.pages[k]
			if have == nil {
				to.pages[k] = p
				continue
			}
			for i, word := range p.bits {
				have.bits[i] |= word
			}
		}
	}
}
