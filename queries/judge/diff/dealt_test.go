package diff

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	some "prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/judge/stats"
	"prof/schema"
)

// stored returns what a warehouse holds of a run.
func stored(t *testing.T, w *schema.Warehouse, run string) runData {
	t.Helper()
	out, _, err := load(t.Context(), queries.NewAsker(w), []Run{{ID: testkit.RunID(run), Name: run}}, "")
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// place names a pass within its run.
type place struct {
	stage          string
	number, repeat int64
}

// dealt returns the measured passes of each stage to two sides at random, half of them to each: what one has, the other does not.
func dealt(d runData, random *rand.Rand) (sides [2]runData) {
	stages := map[string][]place{}
	for _, p := range d.passes {
		if at := (place{p.stage, p.number, p.repeat}); !p.isWarmup && !slices.Contains(stages[p.stage], at) {
			stages[p.stage] = append(stages[p.stage], at)
		}
	}
	owner := map[place]int{}
	for _, stage := range slices.Sorted(maps.Keys(stages)) {
		list := stages[stage]
		half := max(1, (len(list)+random.IntN(2))/2)
		for i, at := range random.Perm(len(list)) {
			if i >= half {
				owner[list[at]] = 1
			}
		}
	}
	for side := range sides {
		s := runData{run: d.run, hashes: []string{fmt.Sprint("side ", side)}} // else they would be known to be the same
		for _, p := range d.passes {
			if p.isWarmup || owner[place{p.stage, p.number, p.repeat}] == side {
				s.passes = append(s.passes, p)
			}
		}
		for _, w := range d.work {
			if w.stage == outside || w.isWarmup || owner[place{w.stage, w.number, w.repeat}] == side {
				s.work = append(s.work, w)
			}
		}
		sides[side] = s
	}
	return sides
}

// TestDealt deals the passes of one capture to two sides many times. All are passes of the same thing, so no stage may be said to
// differ; of passes of that many, one comparison of a hundred might, by the error rate that is stated.
func TestDealt(t *testing.T) {
	t.Parallel()
	deals := len(some.Of(make([]int, 100), 4))
	// The margin is three standard deviations.
	most := int(math.Ceil(float64(deals)*stats.DefaultAlpha + 3*math.Sqrt(float64(deals)*stats.DefaultAlpha*(1-stats.DefaultAlpha))))
	const shared = "../../shared/captures/nsys/dsocr-sdpa/"
	for _, c := range []struct {
		name   string
		runs   []testkit.Run
		passes int // of a stage
		most   int // deals that may say that something changed
	}{
		// Three passes: one and two can never be sure of a change.
		{"dsocr-sdpa", []testkit.Run{{Name: "dsocr-sdpa", Files: []string{shared + "dsocr-sdpa.sqlite.gz", shared + "workload.json"}}}, 3, 0},
		// Nine steady passes of three processes each.
		{"sdpa-1", testkit.Captures, 27, most},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat(testkit.Path(c.runs[0].Files[0])); errors.Is(err, fs.ErrNotExist) {
				t.Skipf("no capture %s here", c.runs[0].Files[0])
			}
			d := stored(t, testkit.Warehouse(t, c.runs...), c.name)
			for i := range d.passes { // passes are the samples, whatever process they are of
				d.passes[i].number, d.passes[i].repeat = d.passes[i].number+1000*d.passes[i].repeat, 1
			}
			for i := range d.work {
				d.work[i].number, d.work[i].repeat = d.work[i].number+1000*d.work[i].repeat, 1
			}
			random, said, wrong, items := rand.New(rand.NewPCG(9, 9)), map[string]int{}, 0, 0
			for range deals {
				sides := dealt(d, random)
				r := compared(t, sides[:1], sides[1:], Options{Stats: stats.DefaultOptions()})
				changed := false
				for _, s := range r.Stages {
					if s.Name == outside {
						continue
					}
					said[fmt.Sprintf("%s: %s", s.Name, s.Verdict)]++
					if n := len(s.A.Samples) + len(s.B.Samples); n != c.passes {
						t.Fatalf("%s has %d passes, want %d", s.Name, n, c.passes)
					}
					changed = changed || s.Verdict == Better || s.Verdict == Worse
				}
				if changed {
					wrong++
				}
				if slices.ContainsFunc(r.Items, func(it Item) bool { return it.Verdict == Better || it.Verdict == Worse }) {
					items++
				}
			}
			for _, what := range slices.Sorted(maps.Keys(said)) {
				t.Logf("%d times %s", said[what], what)
			}
			t.Logf("of %d deals %d say that a stage changed, %d that an item did", deals, wrong, items)
			if wrong > c.most || items > c.most {
				t.Errorf("of %d deals %d say that a stage changed and %d that an item did, at most %d should", deals, wrong, items, c.most)
			}
		})
	}
}
