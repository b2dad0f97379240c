package diff

import (
	"slices"
	"testing"

	"prof/queries/judge/stats"
)

// TestUsable holds that noise of too few runs is no floor for passes, and that noise which is known well enough is one.
func TestUsable(t *testing.T) {
	t.Parallel()
	few, enough := &stats.Noise{Floor: 9, SD: 0.02, DF: 1}, &stats.Noise{Floor: 0.5, SD: 0.06, DF: 3}
	passes, several := &stagePair{level: byPass}, &stagePair{level: byRun}
	assumed := &stats.Noise{Floor: 0.1, Assumed: true}
	for _, c := range []struct {
		s    *stagePair
		n    *stats.Noise
		kept bool
	}{{passes, few, false}, {passes, enough, true}, {several, few, true}, {passes, assumed, true}, {passes, nil, false}} {
		if got := c.s.usable(c.n); (got != nil) != c.kept {
			t.Errorf("%+v of %s: %+v", c.n, c.s.level, got)
		}
	}
	a, b := []runData{made("a", 1, base(nil))}, []runData{made("b", 2, base(func(st *madeStage) { st.kernels[0].ns *= 1.3 }))}
	for noise, want := range map[*stats.Noise]Verdict{nil: Worse, enough: CannotTell} {
		o := bare
		o.Stats.Noise = noise
		if r := compared(t, a, b, o); r.Verdict != want {
			t.Errorf("noise %+v: %s, want %s: %s", noise, r.Verdict, want, r.Stages[0].Words)
		}
	}
}

// TestJudgedItems holds which items are judged: not those that one side lacks or that take next to nothing, nor how much runs at once, nor idle time of one
// process.
func TestJudgedItems(t *testing.T) {
	t.Parallel()
	small := kernel{"tiny", "", "1 x 1 x 1", 1, 50}
	a := []runData{made("a", 1, base(func(st *madeStage) { st.kernels = append(st.kernels, small, kernel{"old", "", "2 x 1 x 1", 5, 9000}) }))}
	b := []runData{made("b", 2, base(func(st *madeStage) { st.kernels = append(st.kernels, small) }))}
	for i := range a[0].passes { // some of the work runs at the same time
		p := &a[0].passes[i]
		p.parts.work -= 1000
		p.time, p.span = new(*p.time-1000), new(*p.span-1000)
	}
	r := compared(t, a, b, bare)
	var without []string
	for _, it := range r.Items {
		if (it.Comparison == nil) != (it.Verdict == "") {
			t.Errorf("%s: verdict %q with %+v", it.Name, it.Verdict, it.Comparison)
		}
		if it.Comparison == nil {
			without = append(without, it.Name)
		}
	}
	slices.Sort(without)
	if want := []string{"launch-bound", "old", "overlap", "tiny"}; !slices.Equal(without, want) {
		t.Errorf("%q are not judged, want %q", without, want)
	}
}

// TestMixed holds that stages which are better and worse are weighed by their time.
func TestMixed(t *testing.T) {
	t.Parallel()
	prefill := func(scale float64) madeStage {
		return base(func(st *madeStage) {
			st.name, st.decode = "prefill", 0
			for i := range st.kernels {
				st.kernels[i].ns *= 5 * scale
			}
		})
	}
	a := []runData{made("a", 1, base(nil), prefill(1))}
	slower := base(func(st *madeStage) { st.kernels[0].ns *= 2 })
	b := []runData{made("b", 2, slower, prefill(0.5))}
	r := compared(t, a, b, bare)
	if d, p := stageOf(t, r, "decode"), stageOf(t, r, "prefill"); d.Verdict != Worse || p.Verdict != Better || r.Verdict != Better || r.sureChange() >= 0 {
		t.Errorf("decode %s, prefill %s, together %s: %s", d.Verdict, p.Verdict, r.Verdict, r.Words)
	}
	if back := compared(t, b, a, bare); back.Verdict != Worse {
		t.Errorf("back: %s: %s", back.Verdict, back.Words)
	}
}
