package caveat

import (
	"fmt"
	"slices"
	"strings"

	"prof/schema/say"
)

// coldKinds are what cold_sign counts, in words.
var coldKinds = [][2]string{{"load", "loading code"}, {"launch", "slow first launches"}, {"allocate", "allocating memory"}, {"graph", "capturing CUDA graphs"}}

// From a twentieth of what a cold pass takes longer on, a cost is named.
const worthSaying = 0.05

// coldPass is the longest cold pass of a stage, or what it spent time on.
type coldPass struct {
	Stage   string  `col:"stage"`
	SpentOn string  `col:"subject"` // "" for the pass itself
	Passes  int64   `col:"item_count"`
	Time    float64 `col:"time_ns"`
	Steady  float64 `col:"of_time_ns"`
}

// coldPasses returns which passes of a stage were found cold and what they cost.
func coldPasses(c coldPass, alike []coldPass) string {
	longest, costs := c, []string{}
	for _, x := range alike {
		if x.Stage == c.Stage && x.SpentOn == "" {
			longest = x
		}
	}
	for _, kind := range coldKinds {
		at := slices.IndexFunc(alike, func(x coldPass) bool { return x.Stage == c.Stage && x.SpentOn == kind[0] })
		if at >= 0 && alike[at].Time >= worthSaying*(longest.Time-longest.Steady) {
			costs = append(costs, kind[1]+" "+say.Duration(alike[at].Time))
		}
	}
	takes := fmt.Sprintf("takes %s, %.3g times the median pass of %s", say.Duration(longest.Time), longest.Time/longest.Steady, say.Duration(longest.Steady))
	text := fmt.Sprintf("the first %s pass is cold and excluded: it %s", c.Stage, takes)
	if c.Passes > 1 {
		text = fmt.Sprintf("%d cold passes of %s are excluded: the longest %s", c.Passes, c.Stage, takes)
	}
	if len(costs) > 0 {
		text += " (" + strings.Join(costs, ", ") + ")"
	}
	return text + "; prof ingest --warmup 0 counts every pass"
}
