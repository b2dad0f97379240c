package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Equal work differs by a tenth of its time and more on a machine that is shared, downwards too, so that no best of a few runs can be compared.
// Both programs run in turn instead, and what counts is in how many of these pairs the new one took longer by half the tolerance: of equal
// programs that is the smaller part, of one that is slower by the tolerance the larger. A row is decided as soon as one part leads by enough
// (Wald's sequential test of a sign). Where that is 0.28 of the pairs or 0.72, which is the case when pairs vary by 12 %, equal programs are
// called slower once in 80,000 times, and one that is slower by the tolerance is found 99 times in 100.
const (
	tolerance = 0.15                   // a larger part more than before is too much
	weighty   = 300 * time.Millisecond // shorter rows are judged by their sum
	leadFine  = 5                      // pairs
	leadWorse = 12
	most      = 100 // pairs of a row; one that is undecided then is slower by about half the tolerance, which is no more than that
)

// pair is what a step took before the change and now, measured one right after the other.
type pair [2]time.Duration

func (p pair) change() float64 { return p[1].Seconds()/p[0].Seconds() - 1 }

type verdict int

const (
	undecided verdict = iota
	fine
	slower
)

// row is what was measured of a step.
type row struct {
	verb, of string
	pairs    []pair
}

func (r row) verdict() verdict {
	if len(r.pairs) >= leadFine && max(r.median(0), r.median(1)) < weighty {
		return fine
	}
	lead := 0
	for i, p := range r.pairs {
		if p.change() > tolerance/2 {
			lead++
		} else {
			lead--
		}
		switch {
		case lead == leadWorse:
			return slower
		case lead == -leadFine, i == most-1:
			return fine
		}
	}
	return undecided
}

// median is what the step took before (0) or now (1).
func (r row) median(side int) time.Duration {
	return middle(r.pairs, func(p pair) time.Duration { return p[side] })
}

func middle[X any, T time.Duration | float64](from []X, of func(X) T) T {
	var all []T
	for _, x := range from {
		all = append(all, of(x))
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// rows are those of the steps and, last, the sum of what reads.
type rows []row

// slower are the rows that took too much more.
func (rs rows) slower() rows {
	return slices.DeleteFunc(slices.Clone(rs), func(r row) bool { return r.verdict() != slower })
}

func (rs rows) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-28s%8s%8s%10s%7s\n", "prof, medians", "before", "now", "change", "pairs")
	for _, r := range rs {
		mark := ""
		if r.verdict() == slower {
			mark = "  SLOWER"
		}
		fmt.Fprintf(&out, "%-28s%8.2f%8.2f%+8.0f %%%7d%s\n", r.verb+" "+r.of, r.median(0).Seconds(), r.median(1).Seconds(), 100*middle(r.pairs, pair.change), len(r.pairs), mark)
	}
	return out.String()
}
