package diff

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	some "prof/internal/sample"
)

// TestTotals holds that for random measures items add up to the ledger, the ledger to the change of the stage, parts of a change to the
// change, and what a side takes for one unit to the time of its stage: in whole ns, by each dimension that is said to add up.
func TestTotals(t *testing.T) {
	t.Parallel()
	for _, seed := range some.Of(seeds(60), 4) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, b := []runData{random("a", r)}, []runData{random("b", r), random("b2", r)}
		for _, by := range []Dimension{ByKernel, ByFamily, ByGrid} {
			for i, metric := range []string{spanMetric, spanMetric, "gpu_busy_ns", "gpu_sum_ns", "cpu_ns"} {
				top := i % 2 * 3
				res := compared(t, a, b, Options{By: by, Top: top, Metric: metric, Stats: bare.Stats})
				for _, st := range res.Stages {
					items := slices.DeleteFunc(slices.Clone(res.Items), func(it Item) bool { return it.Stage != st.Name })
					checkTotals(t, fmt.Sprintf("seed %d by %s and %s, top %d: items of %q", seed, by, metric, top, st.Name), st, items, true)
					checkTotals(t, fmt.Sprintf("seed %d by %s: ledger of %q", seed, metric, st.Name), st, st.Ledger, false)
				}
			}
		}
	}
}

func seeds(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i)
	}
	return out
}

func checkTotals(t *testing.T, what string, st Stage, items []Item, parts bool) {
	t.Helper()
	var a, b, totalA, totalB int64
	var d Delta
	for _, it := range items {
		a, b, totalA, totalB = a+it.A.PerUnitNs, b+it.B.PerUnitNs, totalA+it.A.TotalNs, totalB+it.B.TotalNs
		if sum := it.Delta.CountNs + it.Delta.DurationNs + it.Delta.InteractionNs + it.Delta.NewNs + it.Delta.RemovedNs; it.Delta.Ns != sum || it.Delta.Ns != it.B.PerUnitNs-it.A.PerUnitNs {
			t.Errorf("%s: %s changes by %d, its parts by %d, its sides by %d", what, it.Name, it.Delta.Ns, sum, it.B.PerUnitNs-it.A.PerUnitNs)
		}
		d.add(it.Delta)
	}
	if totalA != st.A.TimeNs || totalB != st.B.TimeNs {
		t.Errorf("%s: totals %d and %d, of the stage %d and %d", what, totalA, totalB, st.A.TimeNs, st.B.TimeNs)
	}
	if a != st.A.PerUnitNs || b != st.B.PerUnitNs {
		t.Errorf("%s: for one unit %d and %d, of the stage %d and %d", what, a, b, st.A.PerUnitNs, st.B.PerUnitNs)
	}
	if (st.Delta == nil) != (st.A.Passes == 0 || st.B.Passes == 0) {
		t.Errorf("%s: change %v of %d and %d passes", what, st.Delta, st.A.Passes, st.B.Passes)
	}
	if st.Delta != nil && (d.Ns != st.Delta.Ns || d.Ns != st.B.PerUnitNs-st.A.PerUnitNs || parts && d != *st.Delta) {
		t.Errorf("%s: change %+v, of the stage %+v from %d to %d", what, d, *st.Delta, st.A.PerUnitNs, st.B.PerUnitNs)
	}
}

// TestWholes holds what the parts of a stage add up to: what the stage is judged by, without idle time where that is its work.
func TestWholes(t *testing.T) {
	t.Parallel()
	a := []runData{made("a", 1, base(nil))}
	for metric, of := range map[string]func(pass) int64{"gpu_busy_ns": func(p pass) int64 { return p.busy }, "gpu_sum_ns": func(p pass) int64 { return p.sum }, spanMetric: func(p pass) int64 { return *p.time }} {
		var want int64
		for _, p := range a[0].passes[1:] {
			want += of(p)
		}
		res := compared(t, a, []runData{made("b", 2, base(nil))}, Options{Metric: metric, Stats: bare.Stats})
		st := stageOf(t, res, "decode")
		idle := slices.ContainsFunc(slices.Concat(res.Items, st.Ledger), func(it Item) bool { return it.Kind == "idle" })
		if st.A.TimeNs != want || idle != (metric == spanMetric) {
			t.Errorf("%s: parts add up to %d, want %d; with idle time: %v", metric, st.A.TimeNs, want, idle)
		}
	}
}

// TestCut holds that what a table leaves out is added up by kind: no row of other kernels holds idle time.
func TestCut(t *testing.T) {
	t.Parallel()
	part := func(kind, name string, ns int64) Item {
		return Item{Stage: "decode", Kind: kind, Name: name, A: Measure{TotalNs: ns, PerUnitNs: ns}, Delta: &Delta{Ns: -ns, RemovedNs: -ns}}
	}
	items := []Item{part("kernel", "a", 90), part("idle", "host", 80), part("kernel", "b", 70), part("idle", "queued", 60), part("copy", "memcpy", 50), part("kernel", "c", 40), part("fill", "memset", 30), part("overlap", "overlap", -20), part("idle", "waiting", 10)}
	for top, want := range map[int]string{
		0: "a 90, host 80, b 70, queued 60, memcpy 50, c 40, memset 30, overlap -20, waiting 10",
		1: "a 90, 3 other idle causes 150, 2 other kernels 110, 2 other copies and fills 80, overlap -20",
		3: "a 90, host 80, b 70, 2 other idle causes 70, 2 other copies and fills 80, c 40, overlap -20",
		8: "a 90, host 80, b 70, queued 60, memcpy 50, c 40, memset 30, overlap -20, waiting 10",
	} {
		var got []string
		for _, it := range Cut(items, top) {
			if it.Delta.Ns != -it.A.TotalNs || it.Delta.RemovedNs != it.Delta.Ns {
				t.Errorf("top %d: %+v changes by %+v", top, it, it.Delta)
			}
			got = append(got, fmt.Sprint(it.Name, " ", it.A.PerUnitNs))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("top %d: %s, want %s", top, text, want)
		}
	}
	items[0].Verdict, items[5].Verdict = NoChange, NoChange
	rows := Cut(items, 3)
	if last := rows[len(rows)-1]; last.Name != "2 kernels unchanged" || last.A.TotalNs != 130 || last.Verdict != NoChange {
		t.Errorf("kernels that do not change are %+v", last)
	}
	said.Add(rows)
}

// TestNested holds that kernels add up to their family for one unit, not only in total.
func TestNested(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		a, b := []runData{random("a", r)}, []runData{random("b", r)}
		families := map[string]int64{}
		for _, it := range compared(t, a, b, Options{By: ByKernel, Stats: bare.Stats}).Items {
			if it.Kind == "kernel" && it.Family != "" {
				families[it.Stage+it.Family] += it.A.PerUnitNs - 3*it.B.PerUnitNs
			}
		}
		for _, it := range compared(t, a, b, Options{By: ByFamily, Stats: bare.Stats}).Items {
			if want, ok := families[it.Stage+it.Name]; it.Kind == "family" && (!ok || want != it.A.PerUnitNs-3*it.B.PerUnitNs) {
				t.Errorf("seed %d: family %s of %s takes %+v and %+v, which its kernels do not add up to", seed, it.Name, it.Stage, it.A, it.B)
			}
		}
	}
}

// TestShown holds that the change of a row is what its time in B has over that in A, each as it is shown, also of stages that one side lacks.
func TestShown(t *testing.T) {
	t.Parallel()
	alone := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		got := compared(t, []runData{random("a", r)}, []runData{random("b", r)}, bare)
		for _, it := range slices.Concat(got.Items, Cut(got.Items, 5)) {
			if d := it.Shown(); d != nil && d.Ns != it.B.ShownNs()-it.A.ShownNs() {
				t.Errorf("seed %d: %s of %s takes %d and %d, and changes by %d", seed, it.Name, it.Stage, it.A.ShownNs(), it.B.ShownNs(), d.Ns)
			}
			if st := stageOf(t, got, it.Stage); it.Stage != outside && (st.A.Passes == 0) != (st.B.Passes == 0) {
				alone++
			}
		}
	}
	if alone == 0 {
		t.Error("no stage is of one side alone")
	}
}

// TestSwap holds that swapping the sides swaps signs and verdicts.
func TestSwap(t *testing.T) {
	t.Parallel()
	contrary := map[Verdict]Verdict{Better: Worse, Worse: Better, NoChange: NoChange, CannotTell: CannotTell, "": ""}
	status := map[Status]Status{Both: Both, New: Removed, Removed: New, Moved: Moved}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		a, b := []runData{random("a", r)}, []runData{random("b", r)}
		there, back := compared(t, a, b, bare), compared(t, b, a, bare)
		for _, st := range there.Stages {
			other := stageOf(t, back, st.Name)
			if st.Verdict != contrary[other.Verdict] || st.Delta != nil && st.Delta.Ns != -other.Delta.Ns || st.Unit != other.Unit {
				t.Errorf("seed %d: %s is %s by %v, back %s by %v", seed, st.Name, st.Verdict, st.Delta, other.Verdict, other.Delta)
			}
		}
		for _, it := range there.Items {
			at := slices.IndexFunc(back.Items, func(o Item) bool { return o.Stage == it.Stage && o.Kind == it.Kind && o.Name == it.Name })
			if at < 0 {
				t.Fatalf("seed %d: %s of %s is not there the other way", seed, it.Name, it.Stage)
			}
			if o := back.Items[at]; it.Delta.Ns != -o.Delta.Ns || it.Verdict != contrary[o.Verdict] || it.Status != status[o.Status] {
				t.Errorf("seed %d: %s of %s is %s %s by %d, back %s %s by %d", seed, it.Name, it.Stage, it.Status, it.Verdict, it.Delta.Ns, o.Status, o.Verdict, o.Delta.Ns)
			}
		}
	}
}

// TestSelf holds that a run does not differ from itself, whatever its samples are.
func TestSelf(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		a := []runData{random("a", rand.New(rand.NewPCG(seed, 4)))}
		res := compared(t, a, a, bare)
		if !res.Same || res.Verdict != NoChange && len(res.Stages) > 1 {
			t.Errorf("seed %d: same %v, %s: %s", seed, res.Same, res.Verdict, res.Words)
		}
		for _, it := range res.Items {
			if *it.Delta != (Delta{}) || it.Status != Both || it.Verdict != NoChange && it.Verdict != "" {
				t.Errorf("seed %d: %s of %s: %s %s %+v", seed, it.Name, it.Stage, it.Status, it.Verdict, it.Delta)
			}
		}
	}
}

// TestSplit holds the parts of a change against exact fractions.
func TestSplit(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	for range 3000 {
		some := func(bits int) int64 { return 1 + r.Int64N(int64(1)<<(1+r.IntN(bits))) }
		ca, cb, ua, ub, ta, tb := some(16), some(16), some(20), some(20), some(45), some(45)
		a, b := &amount{tally: tally{calls: ca, total: ta}}, &amount{tally: tally{calls: cb, total: tb}}
		d := split(divided(ta, ua), divided(tb, ub), a, b, ua, ub)
		count := new(big.Rat).Mul(new(big.Rat).Sub(big.NewRat(cb, ub), big.NewRat(ca, ua)), big.NewRat(ta, ca))
		duration := new(big.Rat).Mul(big.NewRat(ca, ua), new(big.Rat).Sub(big.NewRat(tb, cb), big.NewRat(ta, ca)))
		for _, c := range []struct {
			got  int64
			want *big.Rat
		}{{d.CountNs, count}, {d.DurationNs, duration}} {
			off := new(big.Rat).Sub(big.NewRat(c.got, 1), c.want)
			if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
				t.Fatalf("%d of %s: %d/%d calls, %d/%d ns in %d/%d units", c.got, c.want.FloatString(3), ca, cb, ta, tb, ua, ub)
			}
		}
		if d.CountNs+d.DurationNs+d.InteractionNs != d.Ns {
			t.Fatalf("%+v does not add up", d)
		}
	}
}

// TestTallyWithoutExtremes: the shortest and longest of executions of which sums do not say them are unknown, also beside some that do.
func TestTallyWithoutExtremes(t *testing.T) {
	known, unknown := tally{calls: 2, total: 10, min: 3, max: 7}, tally{calls: 1, total: 5}
	for _, list := range [][]tally{{unknown}, {known, unknown}, {unknown, known}, {known, unknown, known}} {
		var sum tally
		for _, x := range list {
			sum.add(x)
		}
		if m := sum.measure(1); m.MinNs != nil || m.MaxNs != nil || m.MeanNs == nil || *m.MeanNs != 5 {
			t.Errorf("%v: %+v", list, m)
		}
	}
	if m := known.measure(1); *m.MinNs != 3 || *m.MaxNs != 7 {
		t.Errorf("%+v", m)
	}
}
