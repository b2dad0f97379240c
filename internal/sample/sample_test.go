package sample

import (
	"flag"
	"slices"
	"testing"
)

func TestOf(t *testing.T) {
	was := *Whole
	*Whole = false
	t.Cleanup(func() { *Whole = was })
	all := []int{1, 2, 3, 4, 5}
	if got := Of(all, 3); !slices.Equal(got, []int{1, 4}) {
		t.Errorf("every third: %v", got)
	}
	for _, on := range []*bool{Whole, flag.Bool("update", false, "")} {
		*on = true
		if got := Of(all, 3); !slices.Equal(got, all) {
			t.Errorf("all: %v", got)
		}
		*on = false
	}
}
