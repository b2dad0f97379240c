package jobs

import (
	"strings"
	"testing"
)

// What a job writes is masked over lines, in whatever pieces it comes.
func TestLinesMasked(t *testing.T) {
	text := "begin\n-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ\nMC4C\rabcdef=\n-----END PRIVATE KEY-----\nMY_TOKEN=\\\nhunter2\nend"
	for _, piece := range []int{1, 7, len(text)} {
		var got []string
		w := lines{each: func(line string) { got = append(got, line) }}
		for rest := text; rest != ""; rest = rest[min(piece, len(rest)):] {
			_, _ = w.Write([]byte(rest[:min(piece, len(rest))]))
		}
		w.end()
		if all := strings.Join(got, "|"); all != `begin|-----BEGIN PRIVATE KEY-----|***|***|***|MY_TOKEN=\|***|end` {
			t.Errorf("in pieces of %d: %q", piece, all)
		}
	}
}
