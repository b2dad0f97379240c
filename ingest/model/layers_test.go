package model

import "testing"

func TestLayerNames(t *testing.T) {
	for _, c := range []struct {
		want    string
		indexes []int
	}{
		{"layer 0", []int{0}},
		{"layer 7", []int{7}},
		{"layers 1-11", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{"layers 0-1,3-4", []int{0, 1, 3, 4}},
		{"layers 2,5,8,11", []int{2, 5, 8, 11}},
		{"layers 0,2-3", []int{0, 2, 3}},
	} {
		if got := LayerNames(c.indexes); got != c.want {
			t.Errorf("%v: %q, want %q", c.indexes, got, c.want)
		}
	}
}
