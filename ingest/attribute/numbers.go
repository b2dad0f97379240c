package attribute

import "sync"

// numbers numbers what comes up in a source from 0 on. Safe for concurrent use.
type numbers[K comparable] struct {
	mu   sync.RWMutex
	ids  map[K]int32
	list []K
}

// Of gives the number of a key.
func (n *numbers[K]) Of(key K) int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok := n.ids[key]; ok {
		return id
	}
	if n.ids == nil {
		n.ids = map[K]int32{}
	}
	id := int32(len(n.list))
	n.ids[key] = id
	n.list = append(n.list, key)
	return id
}

// Key gives the key of a number.
func (n *numbers[K]) Key(id int32) K {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.list[id]
}
