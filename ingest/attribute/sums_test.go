package attribute

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type sumKey struct {
	span   int32
	device int16
}

// sumOracle adds work up one range and device at a time; busy is the union of the intervals.
func sumOracle(lists []*WorkList, c *sweepCase) map[sumKey]rangeDevice {
	work := map[sumKey][]Work{}
	for _, l := range lists {
		for _, b := range l.Pieces() {
			for _, o := range b {
				for n := o.Node; n != NoNode; n = c.lines.nodes[n].parent {
					k := sumKey{c.lines.nodes[n].span, o.Device}
					work[k] = append(work[k], o)
				}
			}
		}
	}
	out := map[sumKey]rangeDevice{}
	for k, ops := range work {
		r := rangeDevice{span: k.span, device: k.device, first: Forever, last: -Forever}
		slices.SortFunc(ops, func(a, b Work) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
		from, to := ops[0].Start, ops[0].End
		for _, o := range ops {
			r.first, r.last = min(r.first, o.Start), max(r.last, o.End)
			r.sum += o.End - o.Start
			switch o.Kind {
			case Kernel:
				r.kernels++
				r.kernelSum += o.End - o.Start
			case Memop:
				r.mems++
			case Graph:
				r.reps++
			}
			if o.Start > to {
				r.busy += to - from
				from, to = o.Start, o.End
			}
			to = max(to, o.End)
		}
		r.busy += to - from
		out[k] = r
	}
	return out
}

func TestRangeSums(t *testing.T) {
	for seed := range uint64(1500) {
		random := rand.New(rand.NewPCG(seed, 5))
		c := &sweepCase{}
		for range 1 + random.IntN(8) {
			start := random.Int64N(40)
			c.add("r", thread(1, 1+random.Int64N(2)), start, start+random.Int64N(30), random.IntN(3) == 0)
		}
		c.build(t)
		lists := make([]*WorkList, 1+random.IntN(4))
		for i := range lists {
			lists[i] = &WorkList{}
			at := int64(-50)
			for range random.IntN(40) {
				if random.IntN(3) == 0 { // a list of several streams is not in order
					at = random.Int64N(200) - 50
				}
				at += random.Int64N(8)
				o := Work{Start: at, End: at + random.Int64N(10), Device: int16(random.IntN(3)), Kind: WorkKind(random.IntN(3))}
				if o.Node = c.lines.Placer().Node(thread(1, 1+random.Int64N(2)), random.Int64N(60)); o.Node != NoNode {
					lists[i].Add(o)
				}
			}
		}
		want := sumOracle(lists, c)
		got := SumRanges(lists, c.lines, len(c.spans))
		if len(got.rows) != len(want) {
			t.Fatalf("seed %d: %d rows, want %d", seed, len(got.rows), len(want))
		}
		for _, r := range got.rows {
			r.next = 0
			if w := want[sumKey{r.span, r.device}]; r != w {
				t.Fatalf("seed %d: range %d on device %d is\n%+v, want\n%+v", seed, r.span, r.device, r, w)
			}
		}
	}
}

// TestOpBlocks crosses the block size, sorted and not.
func TestOpBlocks(t *testing.T) {
	c := &sweepCase{}
	c.add("r", thread(1, 1), 0, 10, false)
	c.build(t)
	sorted, reversed := &WorkList{}, &WorkList{}
	const n = 1<<16 + 5 // several blocks and a part of one
	for i := range int64(n) {
		sorted.Add(Work{Start: i * 10, End: i*10 + 7, Kind: Kernel})
		reversed.Add(Work{Start: (n - i) * 10, End: (n-i)*10 + 5, Kind: Memop})
	}
	got := SumRanges([]*WorkList{sorted, reversed, {}}, c.lines, 1)
	r := got.rows[0]
	if len(got.rows) != 1 || r.kernels != n || r.mems != n || r.kernelSum != 7*n || r.sum != 12*n || r.busy != 7*n+5 || r.first != 0 || r.last != n*10+5 {
		t.Errorf("%+v", r)
	}
}
