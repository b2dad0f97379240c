package trace

import (
	"strings"
	"testing"
	"testing/iotest"
)

// TestOddNumbers: what is no number of JSON costs the value or the event that has it, wherever it stands, and no more.
func TestOddNumbers(t *testing.T) {
	for _, word := range oddNumbers {
		for _, c := range []struct {
			member, arg string
			want        string // of the event; Odd ones are marked
		}{
			{`"ts": W, "dur": 1`, `"correlation": 5`, "X 4 k pid 1 tid 2 0+1000 1=5"},
			{`"ts": 1, "dur": W`, `"correlation": 5`, "X 4 k pid 1 tid 2 1000+0 1=5"},
			{`"ts": 1, "dur": 1`, `"correlation": W`, "X 4 k pid 1 tid 2 1000+1000 odd"},
			{`"ts": 1, "dur": 1`, `"grid": [1, W, 1]`, "X 4 k pid 1 tid 2 1000+1000 odd"},
			{`"ts": 1, "dur": 1`, `"Input Dims": [[W]]`, "X 4 k pid 1 tid 2 1000+1000 odd"},
			{`"ts": 1, "dur": 1`, `"est. achieved occupancy %": W, "correlation": 5`, "X 4 k pid 1 tid 2 1000+1000 1=5"},
			{`"ts": 1, "dur": 1`, `"x": {"y": [W]}, "correlation": 5`, "X 4 k pid 1 tid 2 1000+1000 1=5"},
			{`"ts": 1, "dur": 1, "more": W`, `"correlation": 5`, "X 4 k pid 1 tid 2 1000+1000 1=5"},
			{`"ts": 1, "dur": 1, "tid": W`, `"correlation": 5`, "X 4 k pid 1 tid 2 1000+1000 1=5"},
		} {
			text := strings.ReplaceAll(`{"deviceProperties": W, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 1, "tid": 2, `+c.member+`, "args": {`+c.arg+`}}]}`, "W", word)
			for name, r := range map[string]*Reader{"at once": NewReader(strings.NewReader(text)), "byte by byte": NewReader(iotest.OneByteReader(strings.NewReader(text))),
				"in blocks": NewParallel(strings.NewReader(text), 2, 64)} {
				got, h, err := allOf(r, func(e *Event) string {
					if e.Odd {
						return describe(e) + " odd"
					}
					return describe(e)
				})
				if err != nil || strings.Join(got, "\n") != c.want || strings.Join(h.Odd, " ") != "deviceProperties" || r.Torn().Events > 0 {
					t.Errorf("%s: %s: %v, header without %q, gives %q, not %q", name, text, err, h.Odd, got, c.want)
				}
			}
		}
	}
}
