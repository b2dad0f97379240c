package caveat

import (
	"fmt"
	"slices"
	"strings"
)

// lossKinds are the kinds of what captures did not record, as in the table loss, what a run must be read with first, first.
var lossKinds = []string{"tool-lost-data", "ranks-missing", "launches-without-work", "replays-differ", "work-without-launch", "repeated-records", "stream-order", "stream-overlap", "work-before-launch", "work-after-wait", "no-time", "totals-differ", "passes-not-whole",
	"unseen-work", "unseen-wait", "ran-after-capture", "launched-before-capture"}

// IsCut reports whether a kind is of what the beginning or the end of a capture cuts off.
func IsCut(kind string) bool {
	return kind == "ran-after-capture" || kind == "launched-before-capture" || kind == "unseen-work" || kind == "unseen-wait"
}

// Losses are those of the caveats that are about what captures did not record, the gravest first.
func Losses(list []C) []C {
	var out []C
	for _, kind := range lossKinds {
		for _, c := range list {
			if c.Kind == kind {
				out = append(out, c)
			}
		}
	}
	return out
}

// inStage returns where something is missing: in a stage, outside them, or nothing where that is unknown.
func inStage(stage string) string {
	switch stage {
	case "":
		return ""
	case "(none)":
		return " outside every stage"
	}
	return " in " + stage
}

// processes names them by their ids, which are listed.
func processes(pids string) string {
	list := strings.Fields(pids)
	slices.Sort(list)
	switch n := len(list); {
	case n == 0:
		return ""
	case n == 1:
		return " (process " + pids + ")"
	case n > 4:
		return fmt.Sprintf(" (%d processes)", n)
	}
	return " (processes " + strings.Join(list, ", ") + ")"
}
