package diff

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// longer is a run as another process of its code would be, with kernels that take so many times as long: those of one name, or "" for all. What idles
// and what else runs stays, and each pass differs by what processes do.
func longer(d runData, random *rand.Rand, name string, times float64) runData {
	out := runData{run: d.run, hashes: []string{"changed"}, isSum: d.isSum, losses: d.losses}
	out.run.ID, out.run.Name = "changed", "changed"
	process := math.Exp(workVaries / 2 * random.NormFloat64())
	type at struct {
		stage          string
		number, repeat int64
	}
	added := map[at]int64{}
	for _, w := range d.work {
		by := process
		if w.kind == "kernel" && (name == "" || w.name == name) {
			by *= times
		}
		was := w.tally.total
		w.tally.total, w.tally.min, w.tally.max, w.tally.m2 = int64(float64(was)*by), int64(float64(w.tally.min)*by), int64(float64(w.tally.max)*by), w.tally.m2*by*by
		out.work = append(out.work, w)
		added[at{w.stage, w.number, w.repeat}] += w.tally.total - was
	}
	counted := map[at]bool{} // of ranks, the first takes it all
	for _, p := range d.passes {
		if key := (at{p.stage, p.number, p.repeat}); !counted[key] {
			counted[key] = true
			more := added[key]
			p.busy, p.sum, p.parts.work = p.busy+more, p.sum+more, p.parts.work+more
			for _, ns := range []**int64{&p.time, &p.span} {
				if *ns != nil {
					*ns = new(**ns + more)
				}
			}
		}
		out.passes = append(out.passes, p)
	}
	return out
}

// TestFoundInCaptures puts 5 % into the GPU work, and 20 % into the kernel that takes most time, of each stage of the captures of testdata that has two
// passes or more: one process a side is enough to find it.
func TestFoundInCaptures(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	tried, busy, kernels := 0, 0, 0
	for _, run := range testkit.Captures {
		name := run.Name
		d := stored(t, w, name)
		if !slices.ContainsFunc(d.passes, func(p pass) bool { return p.stage != "" }) || slices.ContainsFunc(d.work, func(w work) bool { return w.family == "nccl" || strings.HasPrefix(w.name, "nccl") }) {
			continue // collectives last as long as they wait
		}
		if name == "profiled" || slices.ContainsFunc(d.work, func(w work) bool { return w.kind == "graph" }) {
			continue // one of two passes is under Nsight Compute; graphs traced as a whole hold idle time too
		}
		random := rand.New(rand.NewPCG(5, uint64(tried)))
		r := compared(t, []runData{d}, []runData{longer(d, random, "", 1.05)}, bare)
		for _, st := range r.Stages {
			if st.Name == outside || st.NotWhole || st.Comparison.NA < 2 || st.work() == nil || st.Level != "passes" {
				continue
			}
			tried++
			if st.work().Verdict == Worse {
				busy++
			} else {
				t.Logf("%s, %s, GPU work +5 %%: %s: %s", name, st.Name, st.work().Verdict, st.work().Comparison.Why)
			}
			largest, most := "", int64(0)
			for _, it := range r.Items {
				if it.Stage == st.Name && it.Kind == "kernel" && it.A.TotalNs > most && it.Comparison != nil {
					largest, most = it.Name, it.A.TotalNs
				}
			}
			if largest == "" {
				kernels++ // there is none to find
				continue
			}
			one := compared(t, []runData{d}, []runData{longer(d, random, largest, 1.2)}, bare)
			for _, it := range one.Items {
				if it.Stage != st.Name || it.Name != largest {
					continue
				}
				if it.Verdict == Worse {
					kernels++
				} else {
					t.Logf("%s, %s, %s +20 %%: %s: %+v", name, st.Name, largest, it.Verdict, it.Comparison)
				}
			}
		}
	}
	t.Logf("of %d stages: GPU work %d, one kernel %d", tried, busy, kernels)
	if tried < 8 || busy < tried*95/100 || kernels < tried*95/100 {
		t.Errorf("of %d stages, GPU work +5 %% was found in %d, one kernel +20 %% in %d", tried, busy, kernels)
	}
}
