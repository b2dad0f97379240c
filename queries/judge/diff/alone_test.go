package diff

import (
	"testing"

	"prof/internal/testkit"
	"prof/queries/judge/stats"
)

// TestByWork holds that a stage judged by its GPU work alone is said to change by what that work changes it by, and to come from that work: how much of
// the idle time is noise nobody knows.
func TestByWork(t *testing.T) {
	t.Parallel()
	a := []runData{made("a", 1, base(nil))}
	b := []runData{made("b", 2, base(func(st *madeStage) { st.kernels[1].ns *= 0.7; st.gap *= 0.6 }))}
	r := compared(t, a, b, bare)
	st := stageOf(t, r, "decode")
	if st.Verdict != Better || st.WorkEffect == nil || st.Comparison.Low != nil {
		t.Fatalf("%s by %v: %s", st.Verdict, st.WorkEffect, st.Words)
	}
	if !(*st.WorkLow < *st.WorkEffect && *st.WorkEffect < *st.WorkHigh && *st.Comparison.Effect < *st.WorkEffect) {
		t.Errorf("by %v, from %v to %v; in total by %v", *st.WorkEffect, *st.WorkLow, *st.WorkHigh, *st.Comparison.Effect)
	}
	want := "decode " + exactPercent(*st.WorkEffect) + " faster by GPU busy time (" + exactPercent(*st.Comparison.Effect) + " in total, where the idle part may be noise): cudnn sdpa kernels -30 %"
	if r.Words != want {
		t.Errorf("%q, want %q", r.Words, want)
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
