package attribute

// Wanted is the set of correlation ids, per process, that some device work refers to. API calls outnumber launches, and ids
// are sparse, so the launch table keeps only calls with a bit here.
type Wanted map[int64]*idSet

// idSet is a set of correlation ids in pages of 1024, with the rank of each page once frozen.
type idSet struct {
	pages map[int64]*idPage
}

type idPage struct {
	bits [16]uint64
	rank int32 // of the page's first id among all wanted ids
}

// Add takes an id of a process in.
func (w Wanted) Add(proc, id int64) {
	s := w[proc]
	if s == nil {
		s = &idSet{pages: map[int64]*idPage{}}
		w[proc] = s
	}
	p := s.pages[id>>10]
	if p == nil {
		p = &idPage{}
		s.pages[id>>10] = p
	}
	p.bits[id>>6&15] |= 1 << (id & 63)
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
