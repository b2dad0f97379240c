package attribute

import "sync"

// Threads numbers the threads of a source from 0 on. Safe for concurrent use.
type Threads struct {
	mu   sync.RWMutex
	ids  map[int64]int32
	keys []int64
}

// Of gives the number of a thread.
func (t *Threads) Of(key int64) int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.ids[key]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[int64]int32{}
	}
	id := int32(len(t.keys))
	t.ids[key] = id
	t.keys = append(t.keys, key)
	return id
}

// Key gives the thread of a number.
func (t *Threads) Key(id int32) int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.keys[id]
}
