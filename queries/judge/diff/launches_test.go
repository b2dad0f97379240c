package diff

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	some "prof/internal/sample"
	"prof/internal/testkit"
)

// onlyPass is a run with one pass of one stage, not the first of its process where there are others.
func onlyPass(d runData, at place) runData {
	out := runData{run: d.run, hashes: []string{"changed"}}
	for _, p := range d.passes {
		if at == (place{p.stage, p.number, p.repeat}) {
			p.basis = ""
			out.passes = append(out.passes, p)
		}
	}
	for _, w := range d.work {
		if at == (place{w.stage, w.number, w.repeat}) {
			out.work = append(out.work, w)
		}
	}
	return out
}

// TestLonePasses compares single passes of captures with each other: of passes that do the same no kernel may be said to change, and one that takes twice
// as long is found by its launches.
func TestLonePasses(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	kernels, wrong, planted, found := 0, 0, 0, 0
	for _, run := range some.Of(testkit.Captures, 3) {
		if strings.HasPrefix(run.Name, "engine-") {
			continue // passes of a server do other work each, by kernels of the same grid
		}
		d := stored(t, w, run.Name)
		if d.steps != nil && !slices.ContainsFunc(d.passes, func(p pass) bool { return p.stage != "" }) {
			d.passes, d.work = d.steps.passes, d.steps.work
		}
		stages := map[string][]place{}
		for _, p := range d.passes {
			if at := (place{p.stage, p.number, p.repeat}); !p.isWarmup && p.stage != outside && !slices.Contains(stages[p.stage], at) {
				stages[p.stage] = append(stages[p.stage], at)
			}
		}
		for stage, list := range stages {
			if stage == "" || len(list) < 2 {
				continue
			}
			first := onlyPass(d, list[0])
			for _, other := range []place{list[1], list[len(list)/2], list[len(list)-1]} {
				r := compared(t, []runData{first}, []runData{onlyPass(d, other)}, bare)
				for _, it := range r.Items {
					if it.Kind != "kernel" || it.Comparison == nil {
						continue
					}
					kernels++
					if it.Verdict == Better || it.Verdict == Worse {
						wrong++
						t.Logf("%s, %s, pass %d against %d: %s is %s: %s (%d, %d calls)", run.Name, stage, other.number, list[0].number, it.Name, it.Verdict, it.Comparison.Why, it.A.Calls, it.B.Calls)
					}
				}
			}
			largest, most := "", int64(0)
			for _, w := range first.work {
				if w.kind == "kernel" && w.role != "collective" && w.tally.calls > 1 && w.tally.total > most {
					largest, most = w.name, w.tally.total
				}
			}
			if largest == "" {
				continue
			}
			r := compared(t, []runData{first}, []runData{longer(onlyPass(d, list[1]), rand.New(rand.NewPCG(6, uint64(planted))), largest, 2)}, bare)
			for _, it := range r.Items {
				if it.Name != largest || it.Comparison == nil || it.A.Calls != it.B.Calls {
					continue
				}
				planted++
				if it.Verdict == Worse {
					found++
				} else {
					t.Logf("%s, %s: %s: %s", run.Name, stage, it.Name, it.Comparison.Why)
				}
			}
		}
	}
	if wrong > 0 || kernels < 200 || 4*found < 3*planted {
		t.Errorf("of %d kernels %d are said to change; of %d that take twice as long %d are found", kernels, wrong, planted, found)
	}
	t.Logf("of %d kernels %d are said to change; of %d that take twice as long %d are found", kernels, wrong, planted, found)
}
