package nsys

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
func sumOracle(lists []*opList, c *sweepCase) map[sumKey]rangeDevice {
	work := map[sumKey][]op{}
	for _, l := range lists {
		for _, b := range l.blocks {
			for _, o := range b {
				for n := o.node; n != noNode; n = c.lines.nodes[n].parent {
					k := sumKey{c.lines.nodes[n].span, o.device}
					work[k] = append(work[k], o)
				}
			}
		}
	}
	out := map[sumKey]rangeDevice{}
	for k, ops := range work {
		r := rangeDevice{span: k.span, device: k.device, first: forever, last: -forever}
		slices.SortFunc(ops, func(a, b op) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
		from, to := ops[0].start, ops[0].end
		for _, o := range ops {
			r.first, r.last = min(r.first, o.start), max(r.last, o.end)
			r.sum += o.end - o.start
			switch o.kind {
			case kernelOp:
				r.kernels++
				r.kernelSum += o.end - o.start
			case memOp:
				r.mems++
			case graphOp:
				r.reps++
			}
			if o.start > to {
				r.busy += to - from
				from, to = o.start, o.end
			}
			to = max(to, o.end)
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
		lists := make([]*opList, 1+random.IntN(4))
		for i := range lists {
			lists[i] = &opList{}
			at := int64(-50)
			for range random.IntN(40) {
				if random.IntN(3) == 0 { // a list of several streams is not in order
					at = random.Int64N(200) - 50
				}
				at += random.Int64N(8)
				o := op{start: at, end: at + random.Int64N(10), device: int16(random.IntN(3)), kind: opKind(random.IntN(3))}
				if o.node = (&placer{lines: c.lines}).node(thread(1, 1+random.Int64N(2)), random.Int64N(60)); o.node != noNode {
					lists[i].add(o)
				}
			}
		}
		want := sumOracle(lists, c)
		got := sumRanges(lists, c.lines, len(c.spans))
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
	sorted, reversed := &opList{}, &opList{}
	const n = 2*opBlock + 5
	for i := range int64(n) {
		sorted.add(op{start: i * 10, end: i*10 + 7, kind: kernelOp})
		reversed.add(op{start: (n - i) * 10, end: (n-i)*10 + 5, kind: memOp})
	}
	got := sumRanges([]*opList{sorted, reversed, {}}, c.lines, 1)
	r := got.rows[0]
	if len(got.rows) != 1 || r.kernels != n || r.mems != n || r.kernelSum != 7*n || r.sum != 12*n || r.busy != 7*n+5 || r.first != 0 || r.last != n*10+5 {
		t.Errorf("%+v", r)
	}
}
