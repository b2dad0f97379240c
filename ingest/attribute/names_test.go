package attribute

import (
	"slices"
	"testing"

	"prof/schema/terms"
)

// TestPartNames: every part of idle time that there is a word for is found here, and in the same order, by which the first of equals is told.
func TestPartNames(t *testing.T) {
	var want []string
	for _, p := range terms.IdleParts() {
		want = append(want, p.Name)
	}
	if !slices.Equal(partNames[:], want) {
		t.Errorf("parts are %q, want %q", partNames, want)
	}
	for most, want := range map[Parts]Part{{InLaunch: 2, InWait: 2}: InLaunch, {Late: 1, Unknown: 3}: Unknown, {Latency: 5, Queued: 4}: Latency} {
		if got := most.largest(); got != want {
			t.Errorf("of %v the largest is %s, want %s", most, partNames[got], partNames[want])
		}
	}
}
