package gate

import (
	"testing"

	"prof/internal/golden"
)

var said golden.Said

// TestSentences keeps what the tests of rules are told, so that a reader can go over it.
func TestSentences(t *testing.T) {
	said.Reset()
	for name, test := range map[string]func(*testing.T){"change": TestJudgeChange, "value": TestJudgeValue, "outcome": TestOutcome, "parse": TestParseErrors, "serving": TestServing} {
		t.Run(name, test)
	}
	sayMade(t)
	// No samples were found that these four are said of.
	said.Compare(t, "testdata/sentences.txt", "; a regression could", ", which counts as noise", "0 on both sides", "no pass launches")
}
