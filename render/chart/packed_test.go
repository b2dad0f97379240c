package chart

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

// TestPacked holds that numbers come back as they were, in how many bytes, and that other texts are refused.
func TestPacked(t *testing.T) {
	numbers := Packed{0, 1, -1, 15, -15, 16, -16, 511, 512, 1_000_000_007, -3, math.MaxInt64, math.MinInt64, 0}
	text, err := json.Marshal(numbers)
	if err != nil {
		t.Fatal(err)
	}
	var again Packed
	if err := json.Unmarshal(text, &again); err != nil || !slices.Equal(again, numbers) {
		t.Errorf("%s gives %v, %v", text, again, err)
	}
	if text, _ := json.Marshal(Packed{0, -1, 16, 5000}); string(text) != `"ABgBw4J"` {
		t.Errorf("it is written as %s", text)
	}
	for _, bad := range []string{`"A,"`, `"g"`, `[1]`} {
		if err := json.Unmarshal([]byte(bad), &again); err == nil {
			t.Errorf("%s gives %v", bad, again)
		}
	}
}
