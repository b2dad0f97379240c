package attribute

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// made is a source whose launches are those of its work, one each.
type made struct {
	Source
	callers []Caller
}

// piece is a piece of work as tests think of it.
type piece struct {
	Work
	node   int32
	device int32
	kind   WorkKind
}

func newMade(lines *Timelines) *made {
	m := &made{Source: Source{Lines: lines, Labels: &Labels{}, Calls: &Calls{}, Overhead: &Overhead{}}}
	m.Caller = func(launch int32) Caller { return m.callers[launch] }
	return m
}

// add puts a piece of work that some call launched into a list.
func (m *made) add(l *WorkList, label Label, start, end int64, c Caller) {
	m.callers = append(m.callers, c)
	l.Add(Work{Start: start, End: end, Launch: int32(len(m.callers) - 1), Label: m.Labels.Of(label)})
}

// pieces returns all work of the lists, list by list.
func (m *made) pieces() (out []piece) {
	for _, l := range m.Work {
		for _, b := range l.Pieces() {
			for _, o := range b {
				label := m.Labels.All()[o.Label]
				out = append(out, piece{o, m.node(&o), label.Device, label.Kind})
			}
		}
	}
	return out
}

type sumKey struct {
	span   int32
	device int32
}

// sumOracle adds work up one range and device at a time; busy is the union of the intervals.
func sumOracle(m *made, c *sweepCase) map[sumKey]rangeDevice {
	work := map[sumKey][]piece{}
	for _, o := range m.pieces() {
		k := sumKey{int32(len(c.spans)), o.device}
		work[k] = append(work[k], o)
		for n := o.node; n != NoNode; n = c.lines.nodes[n].parent {
			k := sumKey{c.lines.nodes[n].span, o.device}
			work[k] = append(work[k], o)
		}
	}
	out := map[sumKey]rangeDevice{}
	for k, ops := range work {
		r := rangeDevice{span: k.span, device: k.device, first: Forever, last: -Forever}
		slices.SortFunc(ops, func(a, b piece) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
		from, to := ops[0].Start, ops[0].End
		for _, o := range ops {
			r.first, r.last = min(r.first, o.Start), max(r.last, o.End)
			r.sum += o.End - o.Start
			switch o.kind {
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
		r.kernel.ns = covered(ops, func(o piece) bool { return o.kind == Kernel })
		r.traced.ns = covered(ops, func(o piece) bool { return o.kind != Memop })
		out[k] = r
	}
	return out
}

// covered is how many nanoseconds some of the work covers.
func covered(work []piece, of func(piece) bool) int64 {
	at := map[int64]bool{}
	for _, o := range work {
		for t := o.Start; of(o) && t < o.End; t++ {
			at[t] = true
		}
	}
	return int64(len(at))
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
		m := newMade(c.lines)
		for range 1 + random.IntN(4) {
			list := &WorkList{}
			m.Work = append(m.Work, list)
			at := int64(-50)
			for range random.IntN(40) {
				if random.IntN(3) == 0 { // a list of several streams is not in order
					at = random.Int64N(200) - 50
				}
				at += random.Int64N(8)
				node := c.lines.Placer().Node(thread(1, 1+random.Int64N(2)), random.Int64N(60))
				m.add(list, Label{Device: random.Int32N(3), Kind: WorkKind(random.IntN(3))}, at, at+random.Int64N(10), Caller{Node: node})
			}
		}
		want := sumOracle(m, c)
		got := SumRanges(m.Source, len(c.spans))
		if len(got.rows) != len(want) {
			t.Fatalf("seed %d: %d rows, want %d", seed, len(got.rows), len(want))
		}
		for _, r := range got.rows {
			r.next, r.kernel.end, r.traced.end = 0, 0, 0
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
	m, sorted, reversed := newMade(c.lines), &WorkList{}, &WorkList{}
	m.Work = []*WorkList{sorted, reversed, {}}
	const n = 1<<16 + 5 // several blocks and a part of one
	for i := range int64(n) {
		m.add(sorted, Label{Kind: Kernel}, i*10, i*10+7, Caller{})
		m.add(reversed, Label{Kind: Memop}, (n-i)*10, (n-i)*10+5, Caller{})
	}
	got := SumRanges(m.Source, 1)
	r := got.rows[1]
	if len(got.rows) != 2 || !got.isWhole(&got.rows[0]) || got.isWhole(&got.rows[1]) || r.kernels != n || r.mems != n || r.kernelSum != 7*n || r.sum != 12*n || r.busy != 7*n+5 || r.first != 0 || r.last != n*10+5 {
		t.Errorf("%+v", r)
	}
}
