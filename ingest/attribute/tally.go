package attribute

// tally counts keys: a hash table with open addressing, since millions of calls are counted under few keys.
type tally struct {
	entries []tallyEntry // a power of 2 of them
	n       int          // keys
}

type tallyEntry struct {
	key   uint64
	count int64 // 0: free
}

func (t *tally) add(key uint64) { t.addN(key, 1) }

func (t *tally) addN(key uint64, count int64) {
	if 2*t.n >= len(t.entries) {
		t.grow()
	}
	e := t.find(key)
	if e.count == 0 {
		e.key = key
		t.n++
	}
	e.count += count
}

// find returns the key's entry, or the free one that is its place. Keys that differ only in their low bits, as durations of one function do, lie
// side by side, where the processor's cache has them.
func (t *tally) find(key uint64) *tallyEntry {
	mask := uint64(len(t.entries) - 1)
	h := (key >> durationBits) * 0x9E3779B97F4A7C15
	step := h>>17 | 1
	for i := h>>32 + key; ; i += step {
		if e := &t.entries[i&mask]; e.count == 0 || e.key == key {
			return e
		}
	}
}

func (t *tally) grow() {
	old := t.entries
	t.entries = make([]tallyEntry, max(1<<10, 2*len(old)))
	for _, e := range old {
		if e.count > 0 {
			*t.find(e.key) = e
		}
	}
}
