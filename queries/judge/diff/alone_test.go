package diff

import (
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries/judge/stats"
)

// TestCertainWork holds that what is certain of a stage whose idle time is too noisy is said: what its GPU work does, in one figure.
func TestCertainWork(t *testing.T) {
	t.Parallel()
	a := []runData{made("a", 1, base(func(st *madeStage) { st.gap = 40_000 }))}
	b := []runData{made("b", 2, base(func(st *madeStage) { st.gap = 40_000; st.kernels[1].ns *= 1.3 }))}
	st := stageOf(t, compared(t, a, b, bare), "decode")
	if st.Verdict != CannotTell || !st.workChanges() || !strings.Contains(st.Words, "ts GPU work is certain to take ") || !strings.Contains(st.Words, " longer (") {
		t.Errorf("%s: %s", st.Verdict, st.Words)
	}
}

// TestOneProcessEach compares single processes of the same code, each with each, both ways: a host's noise is no change, however sure
// the passes of either are. One of the six takes nearly twice as long for its decode passes as others.
func TestOneProcessEach(t *testing.T) {
	t.Parallel()
	var processes []runData
	for _, name := range []string{"sdpa-1", "sdpa-2"} {
		d := stored(t, testkit.All(t), name)
		for repeat := range int64(3) {
			p := runData{run: d.run, hashes: []string{name + string(rune('a'+repeat))}}
			p.run.ID = p.hashes[0]
			for _, x := range d.passes {
				// The capture says nothing of warm-up: its first two passes are.
				if x.isWarmup = x.number <= 2; x.repeat == repeat+1 {
					x.repeat = 1
					p.passes = append(p.passes, x)
				}
			}
			for _, x := range d.work {
				if x.isWarmup = x.number <= 2 && x.stage != outside; x.repeat == repeat+1 {
					x.repeat = 1
					p.work = append(p.work, x)
				}
			}
			processes = append(processes, p)
		}
	}
	items, longest := 0, 0.0
	for i := range processes {
		for j := range processes {
			if i == j {
				continue
			}
			r := compared(t, processes[i:i+1], processes[j:j+1], Options{Stats: stats.DefaultOptions()})
			for _, st := range r.Stages {
				if st.Verdict == Better || st.Verdict == Worse {
					t.Errorf("%s and %s: %s", processes[i].run.ID, processes[j].run.ID, st.Words)
				}
				if st.Comparison.Effect != nil {
					longest = max(longest, *st.Comparison.Effect)
				}
				for _, m := range st.More {
					if m.Verdict == Better || m.Verdict == Worse {
						t.Errorf("%s and %s: %s of %s is %s: %s", processes[i].run.ID, processes[j].run.ID, m.Name, st.Name, m.Verdict, m.Comparison.Why)
					}
				}
			}
			for _, it := range r.Items {
				if it.Verdict == Better || it.Verdict == Worse {
					items++
					t.Logf("%s and %s: %s of %s is %s: %s", processes[i].run.ID, processes[j].run.ID, it.Name, it.Stage, it.Verdict, it.Comparison.Why)
				}
			}
		}
	}
	if items > 1 {
		t.Errorf("%d items of 30 comparisons are said to have changed", items)
	}
	if longest < 0.8 {
		t.Errorf("no process takes longer than another by more than %v: this tests nothing", longest)
	}
}
