package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	rounds    = 3
	tolerance = 0.15                   // a larger part more than before is too much
	weighty   = 300 * time.Millisecond // rows that take less differ by chance
)

// row is what a step took before the change and now, at best.
type row struct {
	verb, of string
	took     [2]time.Duration
}

func (r row) slower() bool {
	return max(r.took[0], r.took[1]) >= weighty && r.took[1].Seconds() > (1+tolerance)*r.took[0].Seconds()
}

type rows []row

// all are the rows and the sum of what reads, none of which takes enough to be judged alone.
func (rs rows) all() rows {
	sum := row{verb: "query and show,", of: "all"}
	for _, r := range rs {
		if r.verb != "ingest" {
			sum.took[0] += r.took[0]
			sum.took[1] += r.took[1]
		}
	}
	return append(slices.Clone(rs), sum)
}

// slower are the rows that took too much more.
func (rs rows) slower() rows {
	var out rows
	for _, r := range rs.all() {
		if r.slower() {
			out = append(out, r)
		}
	}
	return out
}

func (rs rows) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%-28s%8s%8s%10s\n", "prof", "before", "now", "change")
	for _, r := range rs.all() {
		mark := ""
		if r.slower() {
			mark = "  SLOWER"
		}
		before, now := r.took[0].Seconds(), r.took[1].Seconds()
		fmt.Fprintf(&out, "%-28s%8.2f%8.2f%+8.0f %%%s\n", r.verb+" "+r.of, before, now, 100*(now/before-1), mark)
	}
	return out.String()
}
