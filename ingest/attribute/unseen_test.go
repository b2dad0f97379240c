package attribute

import "testing"

// TestUnseen holds where a span begins behind work that the capture does not have: at the beginning, on a stream without anything before, while
// nothing runs.
func TestUnseen(t *testing.T) {
	const us = int64(1000)
	type work struct{ stream, device, start, end, launch int64 } // us
	before, waited, later := work{2, 0, 10, 14, 5}, work{3, 0, 90_000, 90_007, 120}, work{3, 0, 90_010, 90_900, 130}
	for name, c := range map[string]struct {
		work  []work
		sync  [2]int64 // of the launching thread; us
		first int64    // start of the span, us
		busy  int64
		gaps  int
	}{
		"behind work from before":           {[]work{before, waited, later}, [2]int64{140, 90_020}, 90_000, 897, 1},
		"and others of the stream":          {[]work{before, {2, 0, 15, 20, 6}, waited, later}, [2]int64{140, 90_020}, 90_000, 897, 1},
		"the stream has run":                {[]work{{3, 0, 10, 14, 5}, waited, later}, [2]int64{140, 90_020}, 10, 901, 2},
		"launched late":                     {[]work{before, {3, 0, 90_000, 90_007, 89_990}, later}, [2]int64{}, 10, 901, 2},
		"the thread has waited before":      {[]work{before, waited, later}, [2]int64{20, 60}, 10, 901, 2},
		"another GPU works to the end":      {[]work{before, {7, 1, 100, 89_950, 90}, waited, later}, [2]int64{140, 90_020}, 10, 901, 2},
		"more ran before than it waits":     {[]work{before, {2, 0, 60_000, 60_010, 8}, {3, 0, 90_000, 90_007, 59_000}, later}, [2]int64{}, 10, 911, 3},
		"nothing before: the span is right": {[]work{waited, later}, [2]int64{140, 90_020}, 90_000, 897, 1},
	} {
		tree := &sweepCase{}
		tree.build(t)
		m, list := newMade(tree.lines), &WorkList{}
		m.Work = []*WorkList{list}
		calls := m.Calls.List()
		for _, w := range c.work {
			m.callers = append(m.callers, Caller{Node: NoNode, Start: w.launch * us, End: (w.launch + 3) * us})
			calls.Add(0, w.launch*us, 3*us, LaunchCall)
			list.Add(Work{w.start * us, w.end * us, int32(len(m.callers) - 1), m.Labels.Of(Label{Device: int32(w.device)}), int32(w.stream)})
		}
		if c.sync[1] > 0 {
			calls.Break()
			calls.Add(0, c.sync[0]*us, (c.sync[1]-c.sync[0])*us, WaitCall)
		}
		sums, a := AccountFor(m.Source, 0)
		r := sums.all(0)
		if idle := a.idle[sums.whole[0]]; r.first != c.first*us || r.busy != c.busy*us || r.kernels != int64(len(c.work))-c.work[1].device || r.last-r.first-r.busy != idle.parts.Sum() || r.kernel.ns != r.busy {
			t.Errorf("%s: from %d us, busy %d us, %d kernels, idle %v", name, r.first/us, r.busy/us, r.kernels, idle.parts)
		}
		kept := 0
		if h := a.longest[0]; h != nil {
			kept = len(*h)
		}
		if kept != c.gaps || len(a.unseen) > 0 != (c.first > 10 && len(c.work) > 2) {
			t.Errorf("%s: %d gaps, unseen %v", name, kept, a.unseen)
		}
	}
}
