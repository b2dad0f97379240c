package mask

import "strings"

// Memo is Stored for a goroutine that masks many texts of which some recur, as names of ranges do. It keeps the first few thousand: where all
// differ, more would only take memory.
type Memo struct{ known map[string]string }

const (
	mostKnown   = 1 << 12
	longestText = 256
)

// Stored returns what Stored gives.
func (m *Memo) Stored(s string) string {
	if s == "" || len(s) > longestText {
		return Stored(s)
	}
	masked, isKnown := m.known[s]
	if isKnown {
		return masked
	}
	if len(m.known) == mostKnown {
		return Stored(s)
	}
	if m.known == nil {
		m.known = map[string]string{}
	}
	s = strings.Clone(s) // it may be part of a longer text
	masked = Stored(s)
	m.known[s] = masked
	return masked
}
