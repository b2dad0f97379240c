package sqlite

// pageSet is a set of pages, a bit each. It takes no memory before the first page is added.
type pageSet struct {
	bits []uint64
	used bool
}

// add adds one of a file's pages and reports whether it was new.
func (s *pageSet) add(page, pages uint32) bool {
	if s.bits == nil {
		s.bits = make([]uint64, pages/64+1)
	}
	s.used = true
	word, bit := &s.bits[page/64], uint64(1)<<(page%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// reset empties the set, keeping its memory.
func (s *pageSet) reset() {
	if s.used {
		clear(s.bits)
		s.used = false
	}
}
