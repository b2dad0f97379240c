package load

import "strings"

// Texts numbers the texts of one source: 0, 1, ... It is for one goroutine.
type Texts struct {
	ids  map[string]int32
	List []string // by number
}

// Of gives the number of a text.
func (t *Texts) Of(b []byte) int32 {
	if id, ok := t.ids[string(b)]; ok {
		return id
	}
	return t.add(string(b))
}

// OfString gives the number of a text, which may be part of a longer one.
func (t *Texts) OfString(s string) int32 {
	if id, ok := t.ids[s]; ok {
		return id
	}
	return t.add(strings.Clone(s))
}

func (t *Texts) add(s string) int32 {
	if t.ids == nil {
		t.ids = map[string]int32{}
	}
	id := int32(len(t.List))
	t.ids[s] = id
	t.List = append(t.List, s)
	return id
}
