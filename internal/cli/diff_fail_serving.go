package cli

import (
	"fmt"
	"strings"

	"prof/queries/judge/diff"
)

// failServing judges the figures of each load, as failStage does stages, and adds what follows: an exit code and a line for figures that are worse, and one for those that
// cannot be told.
func failServing(limit float64, r *diff.Result, add func(what string, code int, why string)) {
	if len(r.Serving) == 0 || r.Same {
		return
	}
	figures := 0
	for _, l := range r.Serving {
		what := "serving under " + l.Load
		var worse, unsure []string
		reason := ""
		figures += len(l.Figures)
		for _, f := range l.Figures {
			effect, _ := f.Slowdown()
			switch failFigure(limit, f) {
			case exitRegression:
				worse = append(worse, fmt.Sprintf("%s by %s", f.Words(), percentText(*effect)))
			case exitCannotTell:
				if unsure = append(unsure, f.Words()); reason == "" {
					reason = strings.TrimSuffix(f.Comparison.Why, ".")
				}
			}
		}
		if len(worse) > 0 {
			add(what, exitRegression, fmt.Sprintf("worse by more than %s: %s", percentText(limit), strings.Join(worse, ", ")))
		}
		switch n := len(unsure); {
		case n == 1:
			add(what, exitCannotTell, fmt.Sprintf("%s cannot be told: %s", unsure[0], reason))
		case n > 1:
			add(what, exitCannotTell, fmt.Sprintf("%d of %d figures cannot be told: %s: %s", n, len(l.Figures), unsure[0], reason))
		}
		if len(l.Figures) > 0 && l.FailsMoreThan(limit) {
			add(what, exitCannotTell, "cannot tell: "+l.FailedWords())
		}
	}
	if figures == 0 {
		add("serving", exitCannotTell, "cannot tell: there is no load that both sides were benchmarked under")
	}
}

// failFigure turns the verdict of a figure, which has the limit as its margin, into an exit code.
func failFigure(limit float64, f diff.ServingFigure) int {
	effect, most := f.Slowdown()
	switch {
	case f.Verdict == diff.CannotTell && most != nil && *most <= limit:
	case f.Verdict == diff.CannotTell || effect == nil:
		return exitCannotTell
	case f.Verdict == diff.Worse && *effect > limit:
		return exitRegression
	}
	return exitOK
}
