package caveat

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the sentences of all kinds of caveats into testdata")

// TestSentences holds what each kind of caveat says of one thing and of several, so that a reader can go over all of them.
func TestSentences(t *testing.T) {
	one := C{Stage: "decode", Subject: "SUBJECT", Object: "OBJECT", Detail: "DETAIL", Count: 1, OfCount: 1, TimeNs: 2e6, OfTimeNs: 8e6, Ratio: 0.25}
	several := one
	several.Count, several.OfCount = 3, 4
	var out strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(words)) {
		out.WriteString(kind + "\n")
		said := ""
		for _, c := range []C{one, several} {
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
	const path = "testdata/sentences.txt"
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("%s differs (-update writes it); got:\n%s", path, out.String())
	}
}
