package diff

import (
	"fmt"
	"slices"
	"testing"

	"prof/internal/golden"
	"prof/queries/frame"
	"prof/queries/judge/diff/conditions"
	"prof/queries/judge/stats"
	"prof/schema/terms"
)

var said golden.Said

// TestSentences keeps what the tests of comparisons of made runs are told, so that a reader can go over it.
func TestSentences(t *testing.T) {
	said.Reset()
	t.Run("said", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T){"truth": TestTruth, "GPUs": TestOverGPUs, "cut": TestCut, "levels": TestLevels, "no stages": TestWithoutStages, "other amount": TestOtherAmount, "one-sided": TestOneSided,
			"usable": TestUsable, "items": TestJudgedItems, "mixed": TestMixed, "history": TestHistoryNoise, "serving": TestServing, "serving history": TestServingHistory, "trees": TestTreeNotes, "lost": TestLost, "most cut": TestMostCut, "host noise": TestHostNoise, "unprofiled": TestUnprofiled, "certain": TestCertainWork, "sessions": TestSessions, "paced": TestPaced} {
			t.Run(name, test)
		}
	})
	sayParts(t)
	sayMade(t)
	// The ways that work moves in are values. A repeat is said without what it begins with, and rows need a warehouse.
	said.Compare(t, "testdata/sentences.txt", " of repeat %d", "run %s has nothing to compare by", "in a graph")
}

// sayParts says what needs no runs.
func sayParts(t *testing.T) {
	said.Add([]any{loneNoise.From, shortNoise.From, terms.Causes, restNouns, nothingText("decod"), nothingText(""), noRows(&frame.Frame{Query: "memory"}), noRows(&frame.Frame{Query: "memory", Rows: [][]any{nil}}),
		History{Noise: &stats.Noise{Floor: 1.5}, Processes: 6, Commits: 2}.Words(), (&cause{kind: "overlap", name: "overlapping work", perA: 5, perB: 3}).tell(10).Words})
	for _, dim := range askedBy {
		said.Add(dim.note)
	}
}

// sayMade says what other tests leave unsaid of made runs.
func sayMade(t *testing.T) {
	side := func(seed uint64, changes ...func(*runData)) []runData {
		r := made(fmt.Sprint("run", seed), seed, base(nil))
		for _, change := range changes {
			change(&r)
		}
		return []runData{r}
	}
	long := func(d *runData) { // one pass takes longer, which the median does not show
		p := &d.passes[3]
		p.parts.idle[0] += 9e6
		p.time, p.span = new(*p.time+9e6), new(*p.span+9e6)
	}
	repeats := func(d *runData) {
		for i := range d.passes {
			d.passes[i].repeat = 1 + d.passes[i].number%3
		}
		for i := range d.work {
			d.work[i].repeat = 1 + d.work[i].number%3
		}
	}
	graphs := func(d *runData) {
		for i := range d.work {
			if d.work[i].name == "flash_fwd" {
				d.work[i].kind, d.work[i].grid, d.work[i].block = "graph", "", ""
			}
		}
		for i := range d.passes {
			d.passes[i].kernels = nil
		}
	}
	untimed := func(d *runData) { d.passes[2].time, d.passes[2].parts = nil, parts{} }
	sums := func(d *runData) { d.isSum = true }
	twice := func(d *runData) {
		for i := range d.work {
			d.work[i].tally.total *= 3
		}
		for i := range d.passes {
			p := &d.passes[i]
			p.busy, p.sum, p.parts.work = 3*p.busy, 3*p.sum, 3*p.parts.work
			p.time = new(p.parts.sum())
			p.span = p.time
		}
	}
	bySteps := func(basis string) func(*runData) {
		return func(d *runData) {
			d.steps = &stepData{passes: slices.Clone(d.passes), work: slices.Clone(d.work), share: 1, judged: 0.9}
			for i := range d.passes {
				d.steps.passes[i].stage, d.steps.passes[i].basis, d.passes[i].stage = stepStage, basis, ""
			}
			for i := range d.work {
				d.steps.work[i].stage, d.work[i].stage = stepStage, ""
			}
		}
	}
	cold := func(d *runData) {
		for i := range d.passes {
			d.passes[i].isWarmup = true
		}
		for i := range d.work {
			d.work[i].isWarmup = true
		}
	}
	two := func(seed uint64) []runData { return append(side(seed), side(seed+100)...) }
	none := side(90, func(d *runData) { d.passes, d.work = nil, nil })
	outsideWork := func(d *runData) {
		d.work = append(d.work, work{stage: outside, repeat: 1, kind: "kernel", name: "k", tally: tally{calls: 1, total: 5000, min: 5000, max: 5000}})
	}
	same := side(1)
	both := append(side(2), same...)
	for _, pair := range [][2][]runData{
		{same, same}, {both, same}, {side(3), side(4, long)}, {side(5), side(6, repeats, long)}, {side(7, graphs), side(8)}, {side(9, graphs), side(10, graphs)}, {side(11, untimed), side(12)}, {side(13), side(14, twice)},
		{two(15), two(17)}, {two(19), append(two(21), side(23, long)...)}, {side(24), append(none, side(25)...)}, {side(42), slices.Concat(none, side(91, func(d *runData) { d.passes, d.work = nil, nil }), side(43))}, {side(26, outsideWork), side(27, outsideWork)}, {side(28, bySteps("gpu_period")), side(29, bySteps("gpu_period"))}, {side(30, bySteps("gpu_span")), side(31, bySteps("gpu_span"))},
		{side(34, cold), side(35, cold)}, {side(40, sums), side(41, graphs)},
	} {
		compared(t, pair[0], pair[1], bare)
	}
	busy := func(st *madeStage) { st.gap, st.noise = 290, 0.001 }
	compared(t, []runData{made("busy", 36, base(busy))}, []runData{made("busy too", 37, base(busy))}, bare)
	compared(t, []runData{made("only", 32, base(nil), base(func(st *madeStage) { st.name = "prefill" }))}, side(33), bare)
	r := &Result{A: sideOf(same), B: sideOf(both), Options: Options{Metric: spanMetric, By: ByKernel, Stats: stats.DefaultOptions()}}
	if err := r.compare(side(38), side(39), surroundings{differences: []conditions.Difference{{Aspect: "decoded tokens", A: "16", B: "48"}}}); err != nil {
		t.Fatal(err)
	}
	said.Add(r.Stages)
}
