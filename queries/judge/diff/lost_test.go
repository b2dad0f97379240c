package diff

import (
	"slices"
	"strings"
	"testing"

	"prof/queries/judge"
)

// TestLost holds that passes which lost GPU work are no samples, and that nothing is said of what changed in a stage that a side did not record all of.
func TestLost(t *testing.T) {
	for _, test := range []struct {
		name    string
		loss    judge.Loss
		decides bool
	}{
		{"in the stage", judge.Loss{Stage: "decode", Text: "18 of 24 launches in decode have no GPU work in the capture"}, false},
		{"in any stage", judge.Loss{Text: "the profiler lost events"}, false},
		{"in another stage", judge.Loss{Stage: "prefill", Text: "2 launches in prefill have no GPU work in the capture"}, true},
		{"at the end of the capture", judge.Loss{Stage: "decode", IsCut: true, Text: "the last 2 launches in decode ran after the capture ended"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			whole, lossy := made("a", 1, base(nil)), made("b", 2, base(func(st *madeStage) { st.kernels[0].ns *= 1.3 }))
			lossy.losses = []judge.Loss{test.loss}
			p := &lossy.passes[slices.IndexFunc(lossy.passes, func(p pass) bool { return !p.isWarmup })]
			p.lost, p.span, p.busy, p.sum, p.time = 3, nil, 0, 0, nil
			r := compared(t, []runData{whole}, []runData{lossy}, bare)
			s := r.Stages[0]
			if s.B.Passes != s.A.Passes-1 {
				t.Errorf("B has %d samples of %d passes, of which one lost work", s.B.Passes, s.A.Passes)
			}
			decided := s.Verdict == Worse
			if decided != test.decides || s.NotWhole == test.decides || s.NotWhole != strings.Contains(s.Comparison.Why, test.loss.Text) {
				t.Errorf("%s, not whole: %t: %s", s.Verdict, s.NotWhole, s.Comparison.Why)
			}
		})
	}
}

// TestMostCut holds that a stage of which more passes lost work than the ends of a capture can cut off is not compared.
func TestMostCut(t *testing.T) {
	for lost, want := range map[int]Verdict{mostCut: Worse, mostCut + 1: CannotTell} {
		whole, lossy := made("a", 1, base(nil)), made("b", 2, base(func(st *madeStage) { st.kernels[0].ns *= 1.3 }))
		left := lost
		for i := range lossy.passes {
			if p := &lossy.passes[i]; !p.isWarmup && left > 0 {
				p.lost, p.span, p.busy, p.sum, p.time, left = 1, nil, 0, 0, nil, left-1
			}
		}
		if r := compared(t, []runData{whole}, []runData{lossy}, bare); r.Stages[0].Verdict != want {
			t.Errorf("%d passes lost work: %s, want %s: %s", lost, r.Stages[0].Verdict, want, r.Stages[0].Comparison.Why)
		}
	}
}
