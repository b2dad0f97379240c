package load

// Memo remembers what was made of keys, for one goroutine that meets few of them millions of times. What was met last of each slot is found
// without a look at the map.
type Memo[K comparable, V any] struct {
	make  func(K) (V, error)
	slot  func(K) uint64
	known map[K]V
	slots [1 << 10]memoSlot[K, V]
}

type memoSlot[K comparable, V any] struct {
	key    K
	isUsed bool
	value  V
}

// NewMemo returns a memo of what make makes. slot spreads keys: those that come together should differ in its lowest ten bits.
func NewMemo[K comparable, V any](slot func(K) uint64, make func(K) (V, error)) *Memo[K, V] {
	return &Memo[K, V]{make: make, slot: slot, known: map[K]V{}}
}

// Of returns what was made of a key.
func (m *Memo[K, V]) Of(key K) (V, error) {
	s := &m.slots[m.slot(key)%uint64(len(m.slots))]
	if s.isUsed && s.key == key {
		return s.value, nil
	}
	v, ok := m.known[key]
	if !ok {
		var err error
		if v, err = m.make(key); err != nil {
			return v, err
		}
		m.known[key] = v
	}
	*s = memoSlot[K, V]{key, true, v}
	return v, nil
}
