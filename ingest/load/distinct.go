package load

import "sync"

// Distinct numbers the keys that one goroutine meets: 0, 1, ...
type Distinct[K comparable] struct {
	ids  map[K]int32
	List []K // by number
}

// Of returns the number of a key.
func (d *Distinct[K]) Of(key K) int32 {
	id, ok := d.ids[key]
	if !ok {
		if d.ids == nil {
			d.ids = map[K]int32{}
		}
		id = int32(len(d.List))
		d.ids[key] = id
		d.List = append(d.List, key)
	}
	return id
}

// Shared is a Distinct that is safe for concurrent use.
type Shared[K comparable] struct {
	mu   sync.RWMutex
	keys Distinct[K]
}

// Of returns the number of a key.
func (s *Shared[K]) Of(key K) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys.Of(key)
}

// Key returns the key of a number.
func (s *Shared[K]) Key(id int32) K {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys.List[id]
}

// All returns every key by its number.
func (s *Shared[K]) All() []K {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys.List
}
