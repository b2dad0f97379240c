package diff

import (
	"math"
	"testing"

	some "prof/internal/sample"
	"prof/queries/judge/stats"
)

// TestNoiseRate holds that noise alone is called a change no more often than stated: in one comparison of 100 at most, whatever stage or
// item of it. Passes vary by 3 %, so that changes above the 1 % that counts are common. The margin is three standard deviations of a
// share of so many comparisons.
func TestNoiseRate(t *testing.T) {
	t.Parallel()
	all := some.Of(seeds(300), 3)
	comparisons := len(all)
	most := float64(comparisons) * (stats.DefaultAlpha + 3*math.Sqrt(stats.DefaultAlpha*(1-stats.DefaultAlpha)/float64(comparisons)))
	for _, passes := range []int{3, 5, 10} {
		stages, items, told := 0, 0, 0
		for _, seed := range all {
			side := func(name string, seed uint64) []runData {
				prefill := base(func(st *madeStage) { st.passes, st.passNoise = passes, 0.03 })
				decode := prefill
				prefill.name = "prefill"
				for _, st := range []*madeStage{&prefill, &decode} {
					st.kernels = append([]kernel(nil), st.kernels...)
					for i := range st.kernels {
						st.kernels[i].calls /= 6 // quicker to make
					}
				}
				return []runData{made(name, seed, prefill, decode)}
			}
			r := compared(t, side("a", 2*seed+1), side("b", 2*seed+2), bare)
			wrong := false
			for _, st := range r.Stages {
				wrong = wrong || st.Verdict == Better || st.Verdict == Worse
				if st.Verdict == NoChange {
					told++
				}
			}
			if wrong {
				stages++
			}
			wrong = false
			for _, it := range r.Items {
				wrong = wrong || it.Verdict == Better || it.Verdict == Worse
			}
			if wrong {
				items++
			}
		}
		t.Logf("%d passes: of %d comparisons %d have a stage and %d an item that is called changed; %d of %d stages do not change", passes, comparisons, stages, items, told, 2*comparisons)
		if float64(stages) > most || float64(items) > most {
			t.Errorf("%d passes: of %d comparisons of noise %d have a stage and %d an item that is called changed, at most %.1f should", passes, comparisons, stages, items, most)
		}
	}
}
