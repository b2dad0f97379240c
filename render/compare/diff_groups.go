package compare

import (
	"math"
	"slices"

	"prof/queries/judge/diff"
)

// itemGroup is what is compared within one stage, or beside all stages.
type itemGroup struct {
	name  string      // of the stage
	stage *diff.Stage // whose time the items are parts of; nil where they are none
	items []diff.Item

	isExcerpt bool // of the operators only those that changed most
}

// itemGroups puts the items of a comparison under their stages, in the order of these; others follow.
func itemGroups(r *diff.Result) []itemGroup {
	var out []itemGroup
	for i := range r.Stages {
		s := &r.Stages[i]
		if addsUp(r.Options.By) {
			out = append(out, itemGroup{name: s.Name, stage: s, items: stageItems(r, s)})
		}
	}
	place := map[string]int{}
	for i, g := range out {
		place[g.name] = i
	}
	for _, item := range r.Items {
		at, known := place[item.Stage]
		if item.Kind == "stage" {
			continue
		}
		if !known {
			at = len(out)
			place[item.Stage] = at
			out = append(out, itemGroup{name: item.Stage})
		}
		if out[at].stage == nil {
			out[at].items = append(out[at].items, item)
		}
	}
	return slices.DeleteFunc(out, func(g itemGroup) bool { return len(g.items) == 0 })
}

// operatorGroups puts the operators that changed most under their stages.
func operatorGroups(r *diff.Result) []itemGroup {
	var out []itemGroup
	for _, item := range r.Operators {
		if len(out) == 0 || out[len(out)-1].name != item.Stage {
			out = append(out, itemGroup{name: item.Stage, isExcerpt: true})
		}
		last := &out[len(out)-1]
		last.items = append(last.items, item)
	}
	return out
}

// stageItems returns the items of a stage. Compared by stage these are the parts of its time, since the stages have a table of their own.
func stageItems(r *diff.Result, s *diff.Stage) []diff.Item {
	if r.Options.By == diff.ByStage {
		return s.Ledger
	}
	var out []diff.Item
	for _, item := range r.Items {
		if item.Stage == s.Name {
			out = append(out, item)
		}
	}
	return out
}

// addsUp reports whether what is compared by are parts of the time of a stage.
func addsUp(by diff.Dimension) bool {
	return slices.Contains([]diff.Dimension{"", diff.ByKernel, diff.ByFamily, diff.ByGrid, diff.ByStage}, by)
}

// shownGroups are those that are shown to people: none of captures that are the same, none of work outside stages that hardly changed,
// and of the parts of a stage as many as of kernels.
func shownGroups(r *diff.Result) []itemGroup {
	if r.Same {
		return nil
	}
	out := slices.DeleteFunc(itemGroups(r), func(g itemGroup) bool {
		return g.stage != nil && r.Options.Stage != outsideStages && hardlyChanged(*g.stage)
	})
	if r.Options.By == diff.ByStage && r.Options.Top > 0 {
		for i, g := range out {
			out[i].items = diff.Cut(g.items, r.Options.Top)
		}
	}
	return out
}

// leastOutside is the change of the work outside stages, as a share of its time in A, below which its parts are not shown to people.
const leastOutside = 0.01

// hardlyChanged reports whether a stage is the work outside stages and takes about as long on both sides.
func hardlyChanged(s diff.Stage) bool {
	effect := outsideEffect(s)
	return effect != nil && math.Abs(*effect) < leastOutside
}

// outsideEffect is the change of the work outside stages as a share of its time in A; nil for stages, and where a side has none.
func outsideEffect(s diff.Stage) *float64 {
	if s.Name != outsideStages || s.Delta == nil || s.A.PerUnitNs <= 0 {
		return nil
	}
	ratio := float64(s.Delta.Ns) / float64(s.A.PerUnitNs)
	return &ratio
}
