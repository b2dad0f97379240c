package stats

import (
	"math"
	"strings"
	"testing"

	export "prof/ingest/nsys/table"
)

// TestCheckSums: figures that cannot be are refused, each by its name.
func TestCheckSums(t *testing.T) {
	wants := []export.Want{{Name: "Count"}, {Name: "Sum"}, {Name: "Min"}, {Name: "Max"}, {Name: "Mean"}, {Name: "Median"}, {Name: "Std"}}
	for want, c := range map[string]struct {
		ints   [4]int64
		floats [3]float64
	}{
		"":                      {[4]int64{2, 30, 10, 20}, [3]float64{15, 15, 7}},
		"Count is 9.22337":      {[4]int64{math.MaxInt64, 30, 10, 20}, [3]float64{15, 15, 7}},
		"Sum is -30":            {[4]int64{2, -30, 10, 20}, [3]float64{15, 15, 7}},
		"the least of its time": {[4]int64{2, 30, 20, 10}, [3]float64{15, 15, 7}},
		"Mean is NaN":           {[4]int64{2, 30, 10, 20}, [3]float64{math.NaN(), 15, 7}},
		"Std is +Inf":           {[4]int64{2, 30, 10, 20}, [3]float64{15, 15, math.Inf(1)}},
	} {
		b := &export.Batch{N: 1, Cols: make([]export.Vector, 7)}
		for k := range 7 {
			if k < 4 {
				b.Cols[k].Ints = []int64{c.ints[k]}
			} else {
				b.Cols[k].Floats = []float64{c.floats[k-4]}
			}
		}
		err := checkSums(b, 0, wants)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
