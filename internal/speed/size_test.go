package main

import (
	"slices"
	"testing"
	"time"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args     []string
		isWhole  bool
		revision string
		captures string // the first
		threads  []int
		times    int
	}{
		{nil, false, "", small.name, []int{2, 128}, 1},
		{[]string{"abc"}, false, "abc", small.name, []int{2, 128}, 1},
		{[]string{"-size"}, true, "", small.name, []int{1, 2, 8, 32, 128}, 1},
		{[]string{"-size", "-times", "10", "-threads", "64,128", "-capture", "a/deep", "-capture", "b", "abc"}, true, "abc", "deep", []int{64, 128}, 10},
	} {
		s, isWhole, revision := options(c.args)
		if isWhole != c.isWhole || revision != c.revision || s.captures[0].name != c.captures || !slices.Equal(s.threads, c.threads) || s.times != c.times {
			t.Errorf("%v: %v, %v, %q", c.args, s, isWhole, revision)
		}
	}
}

func TestCells(t *testing.T) {
	t.Parallel()
	run := func(s time.Duration, mb int64) took { return took{s * time.Second, 2 * s * time.Second, mb * 1e6} }
	all := stored{nil, {run(3, 100), run(1, 300), run(8, 200)}}
	if got := all.cells(4); got != "–, 3.00 | –, 6.00 | –, 300 | 4, 1 of 4" {
		t.Error(got)
	}
}
