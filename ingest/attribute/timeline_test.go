package attribute

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
)

// thread returns a globalTid.
func thread(pid, tid int64) int64 { return pid<<24 | tid }

// sweepCase builds timelines for a test.
type sweepCase struct {
	spans []Span
	names []Name
	paths load.Paths
	lines *Timelines
}

// add takes a range; an end of Forever leaves it open.
func (c *sweepCase) add(name string, th, start, end int64, process bool) {
	domain, norm, ok := strings.Cut(name, ":")
	if !ok {
		domain, norm = "", name
	}
	at := slices.Index(c.names, Name{domain, norm})
	if at < 0 {
		at = len(c.names)
		c.names = append(c.names, Name{domain, norm})
	}
	c.spans = append(c.spans, Span{Start: start, End: end, Thread: th, Process: process, Name: int32(at)})
}

func (c *sweepCase) build(t testing.TB) {
	t.Helper()
	var err error
	if c.lines, err = Build(c.spans, c.names, &c.paths, 100_000); err != nil {
		t.Fatal(err)
	}
}

// open returns the open set at a moment as the names from the outermost in, and the path of the set.
func (c *sweepCase) open(th, at int64) (set, path string) {
	n := c.lines.Placer().Node(th, at)
	if n == NoNode {
		return "", ""
	}
	path = c.paths.String(c.lines.nodes[n].path)
	var names []string
	for m := n; m != NoNode; m = c.lines.nodes[m].parent {
		names = append(names, c.names[c.spans[c.lines.nodes[m].span].Name].Norm)
	}
	slices.Reverse(names)
	return strings.Join(names, " > "), path
}

func TestSweep(t *testing.T) {
	type r struct {
		name       string
		tid        int64
		start, end int64
		process    bool
	}
	type q struct {
		tid, at int64
		want    string
	}
	for _, c := range []struct {
		name    string
		ranges  []r
		asks    []q
		parents []int32
	}{
		{"nesting", []r{{"a", 1, 10, 100, false}, {"b", 1, 20, 60, false}, {"c", 1, 30, 40, false}},
			[]q{{1, 9, ""}, {1, 10, "a"}, {1, 19, "a"}, {1, 20, "a > b"}, {1, 35, "a > b > c"}, {1, 40, "a > b"}, {1, 60, "a"}, {1, 99, "a"}, {1, 100, ""}},
			[]int32{-1, 0, 1}},
		{"a launch at the very start and the very end", []r{{"a", 1, 10, 20, false}},
			[]q{{1, 9, ""}, {1, 10, "a"}, {1, 19, "a"}, {1, 20, ""}}, []int32{-1}},
		{"one ends as the next begins", []r{{"a", 1, 10, 20, false}, {"b", 1, 20, 30, false}},
			[]q{{1, 19, "a"}, {1, 20, "b"}, {1, 30, ""}}, []int32{-1, -1}},
		{"children touch within a parent", []r{{"p", 1, 0, 30, false}, {"a", 1, 10, 20, false}, {"b", 1, 20, 30, false}},
			[]q{{1, 5, "p"}, {1, 10, "p > a"}, {1, 20, "p > b"}, {1, 30, ""}}, []int32{-1, 0, 0}},
		{"crossing across domains", []r{{"x:a", 1, 10, 30, false}, {"y:b", 1, 20, 40, false}},
			[]q{{1, 15, "a"}, {1, 20, "a > b"}, {1, 29, "a > b"}, {1, 30, "b"}, {1, 39, "b"}, {1, 40, ""}}, []int32{-1, 0}},
		{"three crossing", []r{{"x:a", 1, 0, 30, false}, {"y:b", 1, 10, 40, false}, {"z:c", 1, 20, 50, false}},
			[]q{{1, 25, "a > b > c"}, {1, 30, "b > c"}, {1, 40, "c"}, {1, 50, ""}}, []int32{-1, 0, 1}},
		{"start/end holds for every thread of the process", []r{{"s", 1, 10, 50, true}, {"a", 2, 20, 30, false}},
			[]q{{1, 20, "s"}, {2, 10, "s"}, {2, 20, "s > a"}, {2, 30, "s"}, {3, 49, "s"}, {3, 50, ""}, {99, 20, "s"}}, []int32{-1, 0}},
		{"start/end crosses push/pop", []r{{"a", 1, 10, 30, false}, {"s", 1, 20, 40, true}},
			[]q{{1, 10, "a"}, {1, 20, "a > s"}, {2, 20, "s"}, {1, 30, "s"}, {2, 30, "s"}, {1, 40, ""}}, []int32{-1, 0}},
		{"start/end crossing each other", []r{{"s", 1, 0, 20, true}, {"u", 2, 10, 30, true}},
			[]q{{3, 0, "s"}, {3, 10, "s > u"}, {3, 20, "u"}, {1, 15, "s > u"}, {2, 25, "u"}}, []int32{-1, 0}},
		{"another thread's push/pop is no parent", []r{{"a", 1, 0, 100, false}, {"b", 2, 10, 20, false}},
			[]q{{1, 15, "a"}, {2, 15, "b"}, {3, 15, ""}}, []int32{-1, -1}},
		{"unfinished", []r{{"a", 1, 10, Forever, false}, {"b", 1, 20, 30, false}},
			[]q{{1, 9, ""}, {1, 10, "a"}, {1, 25, "a > b"}, {1, 1 << 60, "a"}}, []int32{-1, 0}},
		{"unfinished within a finished one", []r{{"a", 1, 0, 20, false}, {"b", 1, 10, Forever, false}},
			[]q{{1, 15, "a > b"}, {1, 20, "b"}, {1, 1 << 60, "b"}}, []int32{-1, 0}},
		{"zero length", []r{{"a", 1, 10, 20, false}, {"z", 1, 15, 15, false}, {"y", 1, 20, 20, false}},
			[]q{{1, 15, "a"}, {1, 20, ""}}, []int32{-1, 0, -1}},
		{"zero length where another begins", []r{{"z", 1, 10, 10, false}, {"a", 1, 10, 20, false}, {"b", 1, 20, 20, false}},
			[]q{{1, 10, "a"}, {1, 20, ""}}, []int32{1, -1, -1}},
		{"equal starts: the longer is outside", []r{{"short", 1, 10, 20, false}, {"long", 1, 10, 30, false}},
			[]q{{1, 10, "long > short"}, {1, 20, "long"}}, []int32{1, -1}},
		{"equal starts and ends: the first in the file is outside", []r{{"one", 1, 10, 20, false}, {"two", 1, 10, 20, false}},
			[]q{{1, 10, "one > two"}, {1, 20, ""}}, []int32{-1, 0}},
		{"several end at one moment", []r{{"a", 1, 0, 30, false}, {"b", 1, 10, 30, false}, {"c", 1, 20, 30, false}},
			[]q{{1, 29, "a > b > c"}, {1, 30, ""}}, []int32{-1, 0, 1}},
		{"negative times", []r{{"a", 1, -50, -10, false}},
			[]q{{1, -51, ""}, {1, -50, "a"}, {1, -11, "a"}, {1, -10, ""}}, []int32{-1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &sweepCase{}
			for _, r := range c.ranges {
				s.add(r.name, thread(7, r.tid), r.start, r.end, r.process)
			}
			s.build(t)
			for _, q := range c.asks {
				if got, path := s.open(thread(7, q.tid), q.at); got != q.want || path != q.want {
					t.Errorf("thread %d at %d: %q with path %q, want %q", q.tid, q.at, got, path, q.want)
				}
				if got, _ := s.open(thread(8, q.tid), q.at); got != "" {
					t.Errorf("process 8 at %d: %q", q.at, got)
				}
			}
			for i, want := range c.parents {
				if got := s.spans[i].Parent; got != want {
					t.Errorf("the parent of %s is %d, want %d", c.ranges[i].name, got, want)
				}
			}
		})
	}
}

// before is the documented order of open ranges: the earlier begun is outside; of those begun together the longer; of equal
// ones the first in the file.
func (c *sweepCase) before(i, j int) int {
	x, y := &c.spans[i], &c.spans[j]
	return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End), cmp.Compare(i, j))
}

// oracle returns the ranges open on a thread at a moment by looking at all of them, outermost first.
func (c *sweepCase) oracle(th, at int64) []int {
	var open []int
	for i := range c.spans {
		s := &c.spans[i]
		mine := s.Thread == th || s.Process && procOf(s.Thread) == procOf(th)
		if mine && s.Start <= at && at < s.End {
			open = append(open, i)
		}
	}
	slices.SortFunc(open, c.before)
	return open
}

// oracleParent returns the innermost range open on a range's thread when it began, -1 for none.
func (c *sweepCase) oracleParent(i int) int {
	parent := -1
	for _, j := range c.oracle(c.spans[i].Thread, c.spans[i].Start) {
		if c.before(j, i) < 0 {
			parent = j
		}
	}
	return parent
}

func (c *sweepCase) pathText(open []int) string {
	var names []string
	for _, i := range open {
		names = append(names, c.names[c.spans[i].Name].Norm)
	}
	return strings.Join(names, " > ")
}

// check compares everything with the oracle, at the moments given, through one placer whose hint goes from one to the next.
func (c *sweepCase) check(threads, moments []int64) error {
	p := c.lines.Placer()
	for k, at := range moments {
		th := threads[k%len(threads)]
		want := c.oracle(th, at)
		n := p.Node(th, at)
		if n != NoNode && !c.lines.IsUsed(n) {
			return fmt.Errorf("node %d was given out and not marked", n)
		}
		if n != NoNode {
			if got := c.paths.String(c.lines.nodes[n].path); got != c.pathText(want) {
				return fmt.Errorf("thread %x at %d: path %q, want %q", th, at, got, c.pathText(want))
			}
		}
		for i := len(want) - 1; i >= 0; i-- {
			if n == NoNode || int(c.lines.nodes[n].span) != want[i] {
				return fmt.Errorf("thread %x at %d: node %d instead of range %d of %v", th, at, n, want[i], want)
			}
			n = c.lines.nodes[n].parent
		}
		if n != NoNode {
			return fmt.Errorf("thread %x at %d: more ranges than %v", th, at, want)
		}
	}
	for i := range c.spans {
		if got, want := int(c.spans[i].Parent), c.oracleParent(i); got != want {
			return fmt.Errorf("the parent of range %d is %d, want %d", i, got, want)
		}
		var open []int
		for _, j := range c.oracle(c.spans[i].Thread, c.spans[i].Start) {
			if c.before(j, i) < 0 {
				open = append(open, j)
			}
		}
		if got, want := c.paths.String(c.spans[i].Path), c.pathText(append(open, i)); got != want {
			return fmt.Errorf("the path of range %d is %q, want %q", i, got, want)
		}
	}
	return nil
}

func (c *sweepCase) dump() string {
	var b strings.Builder
	for i, s := range c.spans {
		fmt.Fprintf(&b, "%d: thread %x process %v %d..%d\n", i, s.Thread, s.Process, s.Start, s.End)
	}
	return b.String()
}

// TestSweepOracle sweeps random ranges, few moments apart so that they tie and cross, and asks for the open sets in and out
// of the order of time.
func TestSweepOracle(t *testing.T) {
	rounds := uint64(6000)
	if testing.Short() {
		rounds = 600
	}
	for seed := range rounds {
		random := rand.New(rand.NewPCG(seed, 11))
		c := &sweepCase{}
		threads := []int64{thread(1, 1), thread(1, 2), thread(2, 1), thread(2, 2), thread(2, 3)} // 2.3 begins none
		for range random.IntN(14) {
			start := random.Int64N(30) - 5
			end := start + random.Int64N(12)
			if random.IntN(8) == 0 {
				end = Forever
			}
			c.add([]string{"a", "x:b", "y:c", "x:a"}[random.IntN(4)], threads[random.IntN(4)], start, end, random.IntN(3) == 0)
		}
		c.build(t)
		var moments []int64
		for at := int64(-7); at < 40; at++ { // each thread meets each moment in order, as exports mostly are
			moments = append(moments, at, at, at, at, at)
		}
		if err := c.check(threads, moments); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, c.dump())
		}
		moments = moments[:0]
		for range 60 {
			moments = append(moments, random.Int64N(60)-10)
		}
		one := threads[random.IntN(5)]
		if err := c.check([]int64{one}, moments); err != nil {
			t.Fatalf("seed %d, unsorted: %v\n%s", seed, err, c.dump())
		}
	}
}

// TestHint asks one timeline with every hint.
func TestHint(t *testing.T) {
	l := &Timeline{times: []int64{10, 20, 30, 40}, nodes: []int32{0, 1, 2, 3}}
	for at := int64(5); at < 50; at++ {
		want := NoNode
		if at >= 10 {
			want = min(int32(at-10)/10, 3)
		}
		for hint := range 7 {
			h := hint
			if got := l.At(at, &h); got != want {
				t.Errorf("at %d with hint %d: %d, want %d", at, hint, got, want)
			}
		}
	}
	var none *Timeline
	h := 0
	if none.At(5, &h) != NoNode || (&Timeline{}).At(5, &h) != NoNode {
		t.Error("an empty timeline has an open set")
	}
}

// TestSweepIsBounded: ranges that all cross make as many sets as their square; beyond a bound that is an error and not the
// machine's memory.
func TestSweepIsBounded(t *testing.T) {
	c := &sweepCase{}
	const n = 500
	for i := range int64(n) {
		c.add("r", thread(1, 1), i, i+n, true)
	}
	if _, err := Build(c.spans, c.names, &c.paths, 100_000); err == nil {
		t.Error("125 thousand sets were built")
	}
}

// TestSweepIsDeep: ranges that are pushed and never popped, under one that ends, are no danger to the stack.
func TestSweepIsDeep(t *testing.T) {
	c := &sweepCase{}
	for i := range int64(3000) {
		c.add("leak", thread(1, 1), i+1, Forever, false)
	}
	c.add("outer", thread(1, 1), 0, 5000, false)
	c.build(t)
	if set, _ := c.open(thread(1, 1), 4999); strings.Count(set, ">") != 3000 {
		t.Error("not all are open")
	}
	if set, _ := c.open(thread(1, 1), 5000); strings.Contains(set, "outer") || strings.Count(set, ">") != 2999 {
		t.Error("outer is still open, or another is not")
	}
}

// TestDepthIsBounded: ranges that are pushed and never popped make paths as long as their square; beyond a bound that is an error.
func TestDepthIsBounded(t *testing.T) {
	c := &sweepCase{}
	for i := range int64(100) {
		c.add("leak", thread(1, 1), i, Forever, false)
	}
	c.build(t)
	if err := CheckDepth(c.paths.All(), 5050); err != nil {
		t.Error(err)
	}
	if err := CheckDepth(c.paths.All(), 5049); err == nil || !strings.Contains(err.Error(), `100 deep, down to one named "leak"`) {
		t.Error(err)
	}
	for at := range int64(100) {
		c.open(thread(1, 1), at)
	}
	if err := c.lines.checkContexts("x.sqlite", c.paths.All(), 5050); err != nil {
		t.Error(err)
	}
	if err := c.lines.checkContexts("x.sqlite", c.paths.All(), 5049); err == nil || !strings.Contains(err.Error(), "x.sqlite") || !strings.Contains(err.Error(), "5050 rows") {
		t.Error(err)
	}
}

// TestIDs: ids of a source follow those of the sources before it; 0 is no open range.
func TestIDs(t *testing.T) {
	ids := NextIDs(&load.Run{RangeID: 7, ContextID: 40})
	for _, c := range []struct{ got, want int32 }{{ids.RangeID(0), 8}, {ids.RangeID(3), 11}, {ids.ContextID(0), 41}, {ids.ContextID(2), 43},
		{ids.ContextID(NoNode), 0}, {(&Timelines{}).Path(NoNode), 0}} {
		if c.got != c.want {
			t.Errorf("%d, want %d", c.got, c.want)
		}
	}
}

// FuzzTimeline makes ranges of five bytes each and compares with the oracle.
func FuzzTimeline(f *testing.F) {
	f.Add([]byte{0, 10, 20, 0, 1, 0, 15, 20, 1, 2})
	f.Add([]byte{0x41, 1, 200, 3, 255, 0x82, 1, 200, 3, 255, 5, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 5*60 {
			data = data[:5*60]
		}
		c := &sweepCase{}
		threads := []int64{thread(1, 1), thread(1, 2), thread(2, 1), thread(2, 2), 0, -1, -1 << 63}
		var moments []int64
		for ; len(data) >= 5; data = data[5:] {
			start := int64(int8(data[1]))
			end := start + int64(data[2]>>2)
			switch data[2] & 3 {
			case 1:
				end = Forever
			case 2:
				end = start
			}
			c.add([]string{"a", "x:b", "y:c", "x:a"}[data[3]&3], threads[int(data[0]&63)%len(threads)], start, end, data[0]&64 != 0)
			moments = append(moments, int64(int8(data[4])), start, start-1, end-1, min(end, 1000))
		}
		c.build(t)
		if len(moments) == 0 {
			return
		}
		if err := c.check(threads, moments); err != nil {
			t.Fatalf("%v\n%s", err, c.dump())
		}
	})
}
