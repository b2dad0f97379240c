package ask

import "container/list"

// mostKept bounds the answers that are kept, in bytes; an answer that takes more than a part of it is not.
const (
	mostKept    = 64 << 20
	largestKept = mostKept / 8
)

// answers keeps the answers that were asked for last. Those of older commits are asked for no more, and go first.
type answers struct {
	entries map[string]*answer
	order   list.List // of keys, the last used first
	bytes   int
}

type answer struct {
	Answer
	at *list.Element
}

func (k *answers) get(key string) *Answer {
	e := k.entries[key]
	if e == nil {
		return nil
	}
	k.order.MoveToFront(e.at)
	return &e.Answer
}

func (k *answers) put(key string, a Answer) {
	if len(a.Body) > largestKept || k.entries[key] != nil {
		return
	}
	k.entries[key] = &answer{a, k.order.PushFront(key)}
	k.bytes += len(a.Body)
	for k.bytes > mostKept {
		last := k.order.Back()
		key := k.order.Remove(last).(string)
		k.bytes -= len(k.entries[key].Body)
		delete(k.entries, key)
	}
}
