package nsys

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/operator"
)

// operators are the calls that ranges of torch.autograd.profiler.emit_nvtx enclose. A capture without such ranges has none and
// pays for none. Memory: about 60 bytes for each operator, 4 for each range and 24 for each API call made in an operator.
type operators struct {
	calls   []opCall // in the order of operator.Sweep; the number of a call is its place plus 1; let go when stored
	stored  int      // how many these were
	names   load.Texts
	sizes   load.Texts
	threads []operator.Thread
	keys    load.Distinct[int64] // of the threads
	next    []int                // by thread: where its next call goes
	ids     map[int64]*idRange   // by process

	firstOp int32   // last op_id given to the sources before
	finish  int64   // when calls end that never did
	unended int64   // how many these are
	at      []int32 // by node: number of the innermost operator open in it; 0 none
	mu      sync.Mutex
	apis    []*load.Blocks[opAPI]
}

// opCall is one call of an operator.
type opCall struct {
	sequence int64 // autograd's sequence number; -1 none
	device   int64 // time of the device work launched in it but not in an operator inside it, ns
	api      int64 // time in API calls likewise, ns
	span     int32 // its range
	thread   int32
	name     int32
	sizes    int32 // -1 not recorded
	work     int32 // pieces of device work
	forward  int32 // number of its forward operator; 0 none known
	hasAPI   bool
}

// idRange is which of PyTorch's own numbers of calls were seen in one process.
type idRange struct {
	first, last uint64
	seen        uint64
	sizes       bool // some tell the sizes of their inputs
}

// missing counts the numbers in between that were not seen.
func (r *idRange) missing() uint64 { return r.last - r.first - min(r.last-r.first, r.seen-1) }

// newOperators has room for the calls of the parts, thread by thread.
func newOperators(parts []spanPart) *operators {
	o := &operators{ids: map[int64]*idRange{}}
	for i := range parts {
		for _, c := range parts[i].calls {
			id := o.threadOf(parts[i].spans[c.span].Thread)
			if int(id) == len(o.next) {
				o.next = append(o.next, 0)
			}
			o.next[id]++
		}
	}
	at := 0
	for t, n := range o.next {
		o.next[t], at = at, at+n
	}
	o.calls = make([]opCall, at)
	return o
}

// threadOf returns the number of a thread.
func (o *operators) threadOf(thread int64) int32 {
	id := o.keys.Of(thread)
	if int(id) == len(o.threads) {
		o.threads = append(o.threads, operator.Thread{PID: pidOf(thread), TID: tidOf(thread), Key: thread})
	}
	return id
}

// addOperator takes the call that a range, the spans so far plus the call's own, encloses.
func (r *ranges) addOperator(from *spanReader, e emittedCall, thread int64) {
	o := r.operators
	c := opCall{sequence: e.sequence, span: int32(len(r.spans)) + e.span, name: o.names.OfString(from.names.List[e.name]), sizes: -1, thread: o.threadOf(thread)}
	if e.sizes >= 0 {
		c.sizes = o.sizes.OfString(from.sizes.List[e.sizes])
	}
	o.calls[o.next[c.thread]] = c
	o.next[c.thread]++
	if e.id == 0 {
		return
	}
	ids := o.ids[procOf(thread)]
	if ids == nil {
		ids = &idRange{first: e.id, last: e.id}
		o.ids[procOf(thread)] = ids
	}
	ids.first, ids.last, ids.seen = min(ids.first, e.id), max(ids.last, e.id), ids.seen+1
	ids.sizes = ids.sizes || e.sizes >= 0
}

// orderOperators numbers the operators, once the ranges are swept.
func (l *loader) orderOperators() {
	r, o := l.ranges, l.ranges.operators
	if o == nil {
		return
	}
	o.firstOp = l.target.Run.OpID
	if o.finish = r.finish; o.finish == attribute.Forever {
		o.finish = r.last()
	}
	for i := range o.calls {
		if r.spans[o.calls[i].span].End == attribute.Forever {
			o.unended++
		}
	}
	o.sortCalls(r.spans)
	numbers := make([]int32, len(r.spans))
	for i := range o.calls {
		numbers[o.calls[i].span] = int32(i + 1)
	}
	o.at = make([]int32, r.lines.Len())
	for n := range o.at {
		node := int32(n)
		if o.at[n] = numbers[r.lines.Span(node)]; o.at[n] == 0 {
			if parent := r.lines.Parent(node); parent != attribute.NoNode { // made before it
				o.at[n] = o.at[parent]
			}
		}
	}
	o.findForward(r)
}

// sortCalls puts the calls of each thread in the order of operator.Sweep, in which they nearly always are: nsys writes ranges in the order of
// their starts.
func (o *operators) sortCalls(spans []attribute.Span) {
	order := func(a, b opCall) int {
		x, y := &spans[a.span], &spans[b.span]
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End), cmp.Compare(a.span, b.span))
	}
	at := 0
	for _, end := range o.next {
		if of := o.calls[at:end]; !slices.IsSortedFunc(of, order) {
			slices.SortFunc(of, order)
		}
		at = end
	}
}

// last is the end of what the ranges say.
func (r *ranges) last() int64 {
	last := int64(0)
	for i := range r.spans {
		if last = max(last, r.spans[i].Start); r.spans[i].End != attribute.Forever {
			last = max(last, r.spans[i].End)
		}
	}
	return last
}

// end is when a call ended, or the capture did.
func (o *operators) end(s *attribute.Span) int64 {
	if s.End == attribute.Forever {
		return max(o.finish, s.Start)
	}
	return s.End
}

// evaluates begins the name of the operator right around every backward function.
const evaluates = "autograd::engine::evaluate_function: "

// isBackward reports whether a call is a backward function.
func (r *ranges) isBackward(c *opCall) bool {
	s := &r.spans[c.span]
	if s.Parent < 0 {
		return false
	}
	name, ok := strings.CutPrefix(r.names[r.spans[s.Parent].Name].Norm, evaluates)
	return ok && name == r.names[s.Name].Norm
}

// findForward finds the forward operators of backward functions: the call with the same sequence number that began last, since
// the number goes up as soon as one has made its backward function. Threads count on their own and the text of a backward
// function does not say which thread it comes from, so a number that calls of several threads of its process have tells nothing.
func (o *operators) findForward(r *ranges) {
	type key struct{ proc, sequence int64 }
	const several = -1
	made := map[key]int32{}
	for i := range o.calls {
		c := &o.calls[i]
		if c.sequence < 0 || r.isBackward(c) {
			continue
		}
		k := key{procOf(r.spans[c.span].Thread), c.sequence}
		if before, ok := made[k]; ok && (before == several || o.calls[before-1].thread != c.thread) {
			made[k] = several
			continue
		}
		made[k] = int32(i + 1) // calls of a thread are in the order of their starts
	}
	for i := range o.calls {
		c := &o.calls[i]
		if c.sequence < 0 || !r.isBackward(c) {
			continue
		}
		s := &r.spans[c.span]
		if f := made[key{procOf(s.Thread), c.sequence}]; f > 0 && r.spans[o.calls[f-1].span].Start < s.Start {
			c.forward = f
		}
	}
}
