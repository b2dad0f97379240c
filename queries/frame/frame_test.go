package frame

import (
	"math"
	"testing"
)

// TestCheck holds that rows as long as the columns are asked for.
func TestCheck(t *testing.T) {
	f := &Frame{Query: "q", Columns: []Column{{Name: "name"}, {Name: "total_ns"}}, Rows: [][]any{{"a", nil}, {"b"}}}
	if err := f.Check(); err == nil || err.Error() != "query q: row 2 has 1 values for 2 columns" {
		t.Errorf("a short row: %v", err)
	}
}

// TestFinite holds that NULL and what cannot be drawn are no numbers.
func TestFinite(t *testing.T) {
	for _, v := range []*float64{nil, new(math.NaN()), new(math.Inf(1)), new(math.Inf(-1))} {
		if _, known := Finite(v); known {
			t.Errorf("%v is known", v)
		}
	}
	if v, known := Finite(new(0.5)); !known || v != 0.5 {
		t.Errorf("0.5 is %v", v)
	}
}
