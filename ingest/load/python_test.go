package load

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestFiniteJSON: the words of Python outside of texts, wherever a read ends, and places stay.
func TestFiniteJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": Infinity, "b": [-Infinity, NaN, -1], "c": "NaN \" Infinity \\"}`: `{"a": "Infin.", "b": ["-Infin.", "N", -1], "c": "NaN \" Infinity \\"}`,
		`["", "\\", "\\\"", NaN, "a\\\\", NaN]`:                                 `["", "\\", "\\\"", "N", "a\\\\", "N"]`,
		`Inf Na -Infinit`:                                                       `Inf Na -Infinit`,
		"":                                                                      "",
	} {
		for _, r := range []io.Reader{FiniteJSON(strings.NewReader(in)), iotest.OneByteReader(FiniteJSON(strings.NewReader(in))), FiniteJSON(iotest.OneByteReader(strings.NewReader(in)))} {
			if got, err := io.ReadAll(r); string(got) != want || err != nil {
				t.Errorf("%s gives %s, %v", in, got, err)
			}
		}
	}
}
