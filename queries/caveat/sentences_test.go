package caveat

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"prof/internal/golden"
)

// reasons are the subjects that a kind has words for; the others of the kind end without a reason.
var reasons = map[string]map[string]string{"operators-without-roof": withoutRoof, "replays-unlike-captures": unlikeCaptures}

// TestSentences holds what each kind of caveat says of one thing and of several, so that a reader can go over all of them.
func TestSentences(t *testing.T) {
	one := C{Stage: "decode", Subject: "SUBJECT", Object: "OBJECT", Detail: "DETAIL", Count: 1, OfCount: 1, TimeNs: 2e6, OfTimeNs: 8e6, Ratio: 0.25}
	several := one
	several.Count, several.OfCount = 3, 4
	var out strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(words)) {
		out.WriteString(kind + "\n")
		said, cases := "", []C{one, several}
		for _, reason := range slices.Sorted(maps.Keys(reasons[kind])) {
			c := one
			c.Subject = reason
			cases = append(cases, c)
		}
		for _, c := range cases {
			c.Kind = kind
			if kind == "faster-under-profiling" {
				c.Ratio = -c.Ratio
			}
			if text := words[kind](c, []C{c}); text != said {
				out.WriteString("  " + text + "\n")
				said = text
			}
		}
	}
	golden.Compare(t, "testdata/sentences.txt", []byte(out.String()))
}
