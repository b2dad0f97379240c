package mask

import (
	"fmt"
	"strings"
	"testing"
)

// TestMemo: a memo gives what Stored gives, of a text seen before, of more texts than it keeps, and of a long one.
func TestMemo(t *testing.T) {
	t.Parallel()
	var m Memo
	for i := range 2 * mostKnown {
		for _, text := range []string{"", "short", "a range of words", fmt.Sprintf("password=hunter%d", i), fmt.Sprintf("/home/ann/%d/x of a step", i), strings.Repeat("x", longestText+1)} {
			if got, want := m.Stored(text), Stored(text); got != want {
				t.Fatalf("%q gives %q, want %q", text, got, want)
			}
		}
	}
	if len(m.known) > mostKnown {
		t.Errorf("it keeps %d texts", len(m.known))
	}
}
