package load

import "strings"

// Texts numbers the texts of one source: 0, 1, ... It is for one goroutine.
type Texts struct{ Distinct[string] }

// Of returns the number of a text.
func (t *Texts) Of(b []byte) int32 {
	if id, ok := t.ids[string(b)]; ok {
		return id
	}
	return t.Distinct.Of(string(b))
}

// OfString returns the number of a text, which may be part of a longer one.
func (t *Texts) OfString(s string) int32 {
	if id, ok := t.ids[s]; ok {
		return id
	}
	return t.Distinct.Of(strings.Clone(s))
}
