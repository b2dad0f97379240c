package caveat

import (
	"fmt"

	"prof/schema/say"
	"prof/schema/terms"
)

// unlikePass is a stage whose passes differ much, or what the longest of them spends its time on.
type unlikePass struct {
	Stage  string  `col:"stage"`
	Of     string  `col:"detail"`  // "" for the passes, time for what the longest one has most more of, call for its longest call
	What   string  `col:"subject"` // the cause of idle time, or busy; the call
	Pass   int64   `col:"item_count"`
	GPU    string  `col:"object"`  // where there are several
	Time   float64 `col:"time_ns"` // of the passes the shortest
	Median float64 `col:"of_time_ns"`
	Spread float64 `col:"ratio"`
}

// unlikePasses returns how much the passes of a stage differ, and what the longest one did.
func unlikePasses(c unlikePass, alike []unlikePass) string {
	for _, x := range alike {
		if x.Stage == c.Stage && x.Of == "" {
			c = x
		}
	}
	text := fmt.Sprintf("the passes of %s differ %.1f-fold: %s to %s, median %s", c.Stage, c.Spread, say.Duration(c.Time), say.Duration(c.Spread*c.Time), say.Duration(c.Median))
	if did := longestDid(alike, c.Stage); did != "" {
		text += "; " + did
	}
	return text + "; see prof query passes"
}

// longestDid returns what the longest of a stage's passes has most more of than the median one; "" where nothing stands out.
func longestDid(alike []unlikePass, stage string) string {
	text, call := "", ""
	for _, x := range alike {
		switch {
		case x.Stage != stage:
		case x.Of == "call":
			call = fmt.Sprintf(", its longest call %s takes %s", x.What, say.Duration(x.Time))
		case x.Of == "time":
			noun := "GPU busy time"
			if cause, is := terms.CauseNamed(x.What); is {
				noun = cause.Noun
			}
			if x.GPU != "" {
				noun += " of GPU " + x.GPU
			}
			text = fmt.Sprintf("%s of pass %d is %s (median %s)", say.Duration(x.Time), x.Pass, noun, say.Duration(x.Median))
		}
	}
	return text + call
}

// LongestDid returns what the longest of a stage's passes has most more of than the median one, by the caveats of an answer; "" where nothing stands out.
func LongestDid(caveats []C, stage string) string {
	var alike []unlikePass
	for _, c := range caveats {
		if c.Kind == "unlike-passes" {
			alike = append(alike, as[unlikePass](c))
		}
	}
	return longestDid(alike, stage)
}
