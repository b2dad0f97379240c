package sqlite

import (
	"strings"
	"unicode/utf8"
)

// internTable remembers a column's last texts, so that ones that repeat, as range names and enum labels do, are
// copied out of the buffer once. It forgets on collision and so needs no bound.
type internTable [256]string

// internMax is the longest text that is remembered.
const internMax = 256

// text returns b as a string of its own. What is not UTF-8 is replaced.
func (t *internTable) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > internMax {
		return valid(string(b))
	}
	// The ends and the length tell most texts apart.
	h := uint32(len(b)) * 0x9e3779b1
	for i := range min(len(b), 8) {
		h = (h ^ uint32(b[len(b)-1-i])) * 0x01000193
		h = (h ^ uint32(b[i])) * 0x01000193
	}
	slot := &t[h>>24]
	if *slot != string(b) {
		s := string(b)
		if !utf8.ValidString(s) {
			return valid(s)
		}
		*slot = s
	}
	return *slot
}

func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
