package torch

import (
	"cmp"
	"slices"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/internal/mask"
)

// linked are a trace's records with the ranges swept and the launches known; the sweep over the operators does the rest.
type linked struct {
	*collector
	target   *load.Target
	spans    []attribute.Span
	lines    *attribute.Timelines
	ids      attribute.IDs
	origin   int64 // the moment from which stored times count
	byCorr   []int32
	launches []launch
	named    map[int64]*namedWork
	unplaced int64 // bodies of conditional nodes whose launch is not known
	astray   int64 // device work whose External id contradicts its launch
	calls    attribute.Calls
	called   *attribute.CallList
	clashing map[int64]bool // correlation ids of API calls that are not in each other
	captures []capture      // in the order of their starts
}

// namedWork is device work without a launch that names its operator.
type namedWork struct {
	op    int32
	start int64 // of the first piece
	sum   int64
	count int32
}

// link puts the records into order.
func link(c *collector, t *load.Target) (*linked, error) {
	l := &linked{collector: c, target: t, ids: attribute.NextIDs(t.Run), origin: c.first}
	l.called = l.calls.List()
	if c.span[0] <= c.first && c.span[0] > c.first-day { // else some event is from before the profiler says it began
		l.origin = c.span[0]
	}
	base := int32(0)
	for _, th := range c.of {
		for _, p := range []*packed{&th.ops, &th.apis, &th.python, &th.memory} {
			p.finish()
		}
		th.memOp = make([]int32, th.memory.n)
		th.base = base
		base += int32(th.ops.n)
	}
	if err := l.placeRanges(); err != nil {
		return nil, err
	}
	l.placeBodies()
	l.byCorr = ordered(l.works(), func(a, b int32) int {
		return cmp.Or(cmp.Compare(l.work(a).correlation, l.work(b).correlation), cmp.Compare(a, b))
	})
	l.findNamed()
	l.findCaptures()
	return l, nil
}

// works is the number of kernels, copies and fills.
func (l *linked) works() int { return l.kernels.Len() + l.memops.Len() }

// work returns a kernel, or a copy or fill, which are numbered after all kernels.
func (l *linked) work(i int32) *work {
	if n := int32(l.kernels.Len()); i >= n {
		return l.memops.At(i - n)
	}
	return l.kernels.At(i)
}

// ordered returns the numbers 0 to n-1 in an order; the file is mostly in it already.
func ordered(n int, order func(a, b int32) int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	if !slices.IsSortedFunc(out, order) {
		slices.SortFunc(out, order)
	}
	return out
}

// launched returns the device work of a correlation id. Ids begin at 1.
func (l *linked) launched(correlation int64) []int32 {
	if correlation <= 0 {
		return nil
	}
	from, ok := slices.BinarySearchFunc(l.byCorr, correlation, func(i int32, c int64) int { return cmp.Compare(l.work(i).correlation, c) })
	if !ok {
		return nil
	}
	if l.work(l.byCorr[from]).launch >= 0 { // all of it has its launch
		return l.byCorr[from : from+1]
	}
	to, _ := slices.BinarySearchFunc(l.byCorr, correlation, func(i int32, c int64) int {
		if l.work(i).correlation <= c {
			return -1
		}
		return 1
	})
	return l.byCorr[from:to]
}

// placeRanges sweeps the record_function ranges into timelines, as NVTX ranges are.
func (l *linked) placeRanges() error {
	var names []attribute.Name
	for _, name := range l.rgNames.List {
		names = append(names, attribute.Name{Norm: load.Normalise(mask.Stored(valid(name)))})
	}
	for _, r := range l.ranges {
		l.spans = append(l.spans, attribute.Span{Start: r.start, End: r.end, Thread: l.threads.list[r.thread].Key, Name: r.name})
	}
	var err error
	if l.lines, err = attribute.Build(l.spans, names, &l.target.Run.Paths, attribute.MaxCrossings); err != nil {
		return err
	}
	return attribute.CheckDepth(l.target.Run.Paths.All(), attribute.MaxSteps)
}

// lastCall is the outermost API call so far with a correlation id that device work has.
type lastCall struct {
	end    int64
	thread int32
	known  bool
}

// findNamed looks at the API calls once before the sweep. Correlation ids are unique in the traces of one process; where several
// calls have one and are not in each other, as where traces were merged, the id is no good. And it collects the device work
// without a launch that names its operator. Old versions of Kineto gave work outside every operator its correlation id for an
// External id, which names nothing.
func (l *linked) findNamed() {
	l.named, l.clashing = map[int64]*namedWork{}, map[int64]bool{}
	calls := make([]lastCall, len(l.byCorr)) // by the first work of each id
	for k, th := range l.of {
		for r := th.apis.rows(); r.next(); {
			work := l.launched(r.row[colCorrelation])
			if len(work) == 0 {
				continue
			}
			c := &calls[work[0]]
			if end := r.row[0] + r.row[1]; !c.known {
				*c = lastCall{end, int32(k), true}
			} else if c.thread != int32(k) || end > c.end {
				l.clashing[r.row[colCorrelation]] = true
			}
		}
	}
	if !l.hasOperator {
		return
	}
	for from := 0; from < len(l.byCorr); {
		first := l.work(l.byCorr[from])
		launched := calls[l.byCorr[from]].known && !l.clashing[first.correlation]
		to := from
		for ; to < len(l.byCorr) && l.work(l.byCorr[to]).correlation == first.correlation; to++ {
			if !launched {
				l.name(l.work(l.byCorr[to]))
			}
		}
		from = to
	}
}

// name notes device work that has only its External id to say what launched it.
func (l *linked) name(w *work) {
	if w.external == absent || w.external == w.correlation {
		return
	}
	n := l.named[w.external]
	if n == nil {
		n = &namedWork{op: unknownOp, start: w.start}
		l.named[w.external] = n
	}
	n.start, n.sum, n.count = min(n.start, w.start), n.sum+w.duration, n.count+1
}
