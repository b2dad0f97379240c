package conditions

import (
	"testing"

	"prof/internal/golden"
)

var said golden.Said

// TestSentences keeps what differences are said to be, so that a reader can go over it.
func TestSentences(t *testing.T) {
	said.Reset()
	t.Run("said", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T){"differences": TestDifferences, "sets": TestDifferencesOfSets, "expected": TestExpected} {
			t.Run(name, test)
		}
	})
	for _, r := range rules {
		said.Add(r.effect)
		if r.words != nil {
			said.Add(r.words(1.7))
		}
	}
	for _, ratio := range []float64{2, 3, 4, 1. / 2, 1. / 3, 1. / 4} {
		said.Add(times(ratio, "tokens"))
	}
	said.Compare(t, "testdata/sentences.txt", "precision of", "maximum SM clock", "nsys trace of CUDA graphs") // names of aspects are values
}
