package caveat

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/internal/golden"
)

// reasons are the subjects that a kind has words for; the others of the kind end without a reason.
var reasons = map[string]map[string]string{"operators-without-roof": withoutRoof, "replays-unlike-captures": unlikeCaptures, "products-unmatched": unmatchedProducts, "no-layers": noLayers, "tool-lost-data": lossCauses}

// lossCauses are the causes of lost data.
var lossCauses = func() map[string]string {
	out := map[string]string{}
	for cause, l := range ToolLosses {
		out[cause] = l.What
	}
	return out
}()

// TestToolLosses holds that each cause that SQL finds has words, a remedy and a source, and that none is unused.
func TestToolLosses(t *testing.T) {
	file, err := os.ReadFile("../../schema/facts/sql/audit/_tool_loss.sql")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range regexp.MustCompile(`(?:THEN|ELSE) '([a-z]+(?:-[a-z]+)+)'`).FindAllStringSubmatch(string(file), -1) {
		found = append(found, m[1])
	}
	slices.Sort(found)
	if known := slices.Sorted(maps.Keys(ToolLosses)); !slices.Equal(slices.Compact(found), known) {
		t.Errorf("SQL finds %q, words are for %q", found, known)
	}
	for cause, l := range ToolLosses {
		if l.What == "" || l.Remedy == "" || l.Versions == "" || l.Reference == "" {
			t.Errorf("%s: %+v", cause, l)
		}
	}
}

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
			if strings.HasSuffix(kind, "faster-under-profiling") {
				c.Ratio = -c.Ratio
			}
			if text := words[kind].say(c, []C{c}); text != said {
				out.WriteString("  " + text + "\n")
				said = text
			}
		}
	}
	golden.Compare(t, "testdata/sentences.txt", []byte(out.String()))
}
