package caveat

import (
	"fmt"
	"slices"
	"strings"
)

// coldKinds are what cold_sign counts, in words.
var coldKinds = [][2]string{{"load", "loading code"}, {"launch", "slow first launches"}, {"allocate", "allocating memory"}, {"graph", "capturing CUDA graphs"}}

// From a twentieth of what a cold pass takes longer on, a cost is named.
const worthSaying = 0.05

// coldPasses says which passes of a stage were found cold and what they cost; one row is the longest of them, the others what it spent
// time on.
func coldPasses(c C, alike []C) string {
	longest, costs := c, []string{}
	for _, x := range alike {
		if x.Stage == c.Stage && x.Subject == "" {
			longest = x
		}
	}
	for _, kind := range coldKinds {
		at := slices.IndexFunc(alike, func(x C) bool { return x.Stage == c.Stage && x.Subject == kind[0] })
		if at >= 0 && alike[at].TimeNs >= worthSaying*(longest.TimeNs-longest.OfTimeNs) {
			costs = append(costs, kind[1]+" "+Duration(alike[at].TimeNs))
		}
	}
	text := fmt.Sprintf("the first %s pass is cold and excluded: it takes %s, %.3g times a steady one", c.Stage, Duration(longest.TimeNs), longest.TimeNs/longest.OfTimeNs)
	if c.Count > 1 {
		text = fmt.Sprintf("%d cold passes of %s are excluded: the longest takes %s, %.3g times a steady one", c.Count, c.Stage, Duration(longest.TimeNs), longest.TimeNs/longest.OfTimeNs)
	}
	if len(costs) > 0 {
		text += " (" + strings.Join(costs, ", ") + ")"
	} else {
		text += "; no traced CUDA call explains it"
	}
	return text + "; prof ingest --warmup 0 counts every pass"
}
