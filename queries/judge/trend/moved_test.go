package trend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// fewRuns is a trend of nine runs of a stage that takes 8 % longer from the seventh on: one kernel takes 20 % longer, one is new, one has
// gone, one is called twice as often for the same time; so many others vary by 0.5 % and no more.
func fewRuns(random *rand.Rand, others int) *Result {
	const n, step = 9, 6
	r := &Result{Options: Options{Metric: GPUBusy}.withDefaults()}
	s := Series{Stage: "decode", Latest: true}
	noisy := func(v float64) *float64 { return new(v * (1 + 0.005*random.NormFloat64())) }
	for i := range n {
		r.Runs = append(r.Runs, Run{ID: fmt.Sprint(i), Name: fmt.Sprint(i)})
		s.Points = append(s.Points, Point{Run: i, Value: noisy([2]float64{1e6, 1.08e6}[i/step]), Passes: 3})
	}
	item := func(name string, before, after, callsBefore, callsAfter float64) {
		it := Item{Kind: "kernel", Name: name}
		for i := range n {
			it.Values = append(it.Values, noisy([2]float64{before, after}[i/step]))
			it.Calls = append(it.Calls, new([2]float64{callsBefore, callsAfter}[i/step]))
		}
		s.Items = append(s.Items, it)
	}
	item("longer", 400e3, 480e3, 10, 10)
	for i := range others {
		item(fmt.Sprint("same ", i), 20e3, 20e3, 5, 5)
	}
	item("new", 0, 9e3, 0, 3)
	item("gone", 9.5e3, 0, 3, 0)
	item("oftener", 5e3, 5e3, 10, 20)
	r.Series = []Series{s}
	return r
}

// TestFewRunsNameItems holds that where a stage changed for sure its items are compared there, however few the runs: too few to find a
// change of an item anywhere in them.
func TestFewRunsNameItems(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	const trends, others = 100, 30
	named, wrong := 0, 0
	for range trends {
		r := fewRuns(random, others)
		r.findChanges()
		at := slices.IndexFunc(r.Changes, func(c Change) bool { return c.Item == nil && !c.Suspect })
		if at < 0 || r.Changes[at].First != 6 {
			t.Fatalf("the stage's change was not found: %+v", r.Changes)
		}
		c := r.Changes[at]
		if c.Around != [2]int{6, 3} {
			t.Fatalf("compared by %v runs", c.Around)
		}
		said := map[string]Change{}
		for _, m := range c.Moved {
			said[m.Item.Name] = m
		}
		for _, name := range []string{"new", "gone", "oftener"} {
			m, is := said[name]
			if !is || *m.CallsBefore == *m.CallsAfter {
				t.Fatalf("%s is not told of, or not its calls: %+v", name, m)
			}
			delete(said, name)
		}
		if m, is := said["longer"]; is {
			named++
			if c.Moved[0].Item.Name != "longer" || m.Verdict != Worse || m.P > r.Options.Alpha {
				t.Errorf("the largest is not first, or told wrong: %+v", c.Moved[0])
			}
			delete(said, "longer")
		}
		if len(said) > 0 {
			wrong++
		}
	}
	t.Logf("the kernel that takes longer was named in %d of %d trends, others in %d", named, trends, wrong)
	// Alpha is 1 %: one of 100 trends is expected to name a kernel that did not move, and more than 4 come with a chance below 1 %.
	if named < 95 || wrong > 4 {
		t.Errorf("the kernel that takes longer was named in %d of %d trends, others in %d", named, trends, wrong)
	}
}

// TestNothingSurelyMoved holds that the largest change is told of where none is sure.
func TestNothingSurelyMoved(t *testing.T) {
	r := noisy(rand.New(rand.NewPCG(3, 11)), 9, 0, func(run int) float64 { return [2]float64{1, 1.1}[run/6] })
	it := Item{Kind: "kernel", Name: "wild", Calls: make([]*float64, 9)}
	for _, v := range []float64{10e3, 90e3, 40e3, 70e3, 20e3, 60e3, 95e3, 30e3, 80e3} {
		it.Values = append(it.Values, new(v))
	}
	r.Series[0].Items = []Item{it}
	r.findChanges()
	if len(r.Changes) != 1 || len(r.Changes[0].Moved) != 0 || r.Changes[0].Largest == nil || r.Changes[0].Largest.Item.Name != "wild" || r.Changes[0].Largest.After != 80e3 {
		t.Errorf("found %+v", r.Changes)
	}
}

// TestItemsOwnLevels holds that an item's step elsewhere within the levels of its stage is not taken for one at the stage's change.
func TestItemsOwnLevels(t *testing.T) {
	r := noisy(rand.New(rand.NewPCG(3, 13)), 40, 0, func(run int) float64 { return [2]float64{1, 1.1}[run/20] })
	it := Item{Kind: "kernel", Name: "later", Calls: make([]*float64, 40)}
	random := rand.New(rand.NewPCG(3, 15))
	for i := range 40 {
		it.Values = append(it.Values, new([2]float64{50e3, 80e3}[i/30]*(1+0.01*random.NormFloat64())))
	}
	r.Series[0].Items = []Item{it}
	r.findChanges()
	if len(r.Changes) != 2 || len(r.Changes[0].Moved) != 0 || r.Changes[1].Item == nil || r.Changes[1].First != 30 {
		t.Errorf("found %+v", r.Changes)
	}
}
