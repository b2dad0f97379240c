package critical

import (
	"cmp"
	"context"
	"database/sql"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Version identifies what Read gives of a capture: it is raised with every change of the model.
const Version = "4"

// Bounds of what is stored: of a step with more pieces than mostPieces, and once a run has allPieces, pieces are not stored; of each grouping of a step what is
// longest has a saving.
const (
	mostPieces  = 20_000
	allPieces   = 200_000
	mostSavings = 100
)

// Read reads what happened in the steps in _critical_window of a run (as SQL), and returns what finds the rows of _critical_row, without the connection: fields end with the character 31, rows with 30.
func Read(ctx context.Context, query func(ctx context.Context, statement string, args ...any) (*sql.Rows, error), run string) (func(ctx context.Context) (string, error), error) {
	r := &reader{ctx: ctx, query: query, run: run}
	return r.find, r.read()
}

// found are the rows of a step.
type found struct {
	segments, whatIfs writer
	pieces            int
}

// find finds the rows of each step by itself. The graphs of all steps at once are no larger than that of one may be.
func (r *reader) find(ctx context.Context) (string, error) {
	all := make([]found, len(r.steps))
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(len(r.steps), runtime.GOMAXPROCS(0)) {
		working.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(all)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if s := r.steps[i]; !s.isLeft {
					all[i] = r.step(s)
					s.Timeline = Timeline{}
				}
			}
		})
	}
	working.Wait()
	w, pieces := writer{reader: r}, 0
	for i, s := range r.steps {
		f := fields{reason: "size"}
		if x := &all[i]; !s.isLeft {
			if f = (fields{pieces: known(int64(x.pieces))}); x.pieces > mostPieces || pieces+x.pieces > allPieces {
				f.reason = "segments"
			} else {
				pieces += x.pieces
				w.text = append(w.text, x.segments.text...)
			}
		}
		w.row(s, "step", 1, f)
		w.text = append(w.text, all[i].whatIfs.text...)
	}
	return string(w.text), ctx.Err()
}

// fields are the columns of a row but for those that all have.
type fields struct {
	grouping, cause, operation, family, reason string
	kernel, api, path, op                      number
	device, stream, tid                        number
	start, duration, pieces, saving            number
}

func known(v int64) number { return number{V: v, Valid: true} }

type writer struct {
	*reader
	text []byte
}

var separators = strings.NewReplacer("\x1e", " ", "\x1f", " ")

// row writes a row.
func (w *writer) row(s *step, kind string, nth int, f fields) {
	put := func(text string) { w.text = append(append(w.text, separators.Replace(text)...), 31) }
	num := func(n number) {
		if n.Valid {
			w.text = strconv.AppendInt(w.text, n.V, 10)
		}
		w.text = append(w.text, 31)
	}
	num(known(s.id))
	put(kind)
	num(known(int64(nth)))
	put(f.grouping)
	put(f.cause)
	num(f.kernel)
	put(f.operation)
	put(f.family)
	for _, n := range []number{f.api, f.path, f.op, f.device, f.stream, f.tid, f.start, f.duration, f.pieces, f.saving} {
		num(n)
	}
	put(f.reason)
	w.text = append(w.text, 30)
}

// step finds what there is of a step.
func (r *reader) step(s *step) found {
	if len(s.Threads) == 0 {
		s.thread(-1)
	}
	if s.Ending == OnNext {
		s.Thread = s.busiest()
	}
	g := Build(&s.Timeline)
	path := g.Path()
	x := found{writer{reader: r}, writer{reader: r}, len(path)}
	if len(path) <= mostPieces {
		for i, p := range path {
			x.segments.row(s, "segment", i+1, r.segment(s, p))
		}
	}
	sums := summed(path)
	for _, by := range groupings {
		x.whatIfs.whatIf(s, g, sums, by)
	}
	return x
}

// busiest is the thread that launched most of the work.
func (s *step) busiest() int32 {
	counts := make([]int, len(s.Threads))
	for _, w := range s.Works {
		if w.Thread != None {
			counts[w.Thread]++
		}
	}
	return int32(slices.Index(counts, slices.Max(counts)))
}

// names fills what a label says.
func (r *reader) names(f *fields, l Label) {
	if l.Work != None {
		if name := r.works.all[l.Work]; name.operation != "" {
			f.operation = name.operation
		} else {
			f.kernel = known(name.kernel)
		}
	}
	if l.API != None {
		f.api = known(r.apis.all[l.API])
	}
	if l.Frame != None {
		if name := r.frames.all[l.Frame]; name.isOp {
			f.op = known(name.id)
		} else {
			f.path = known(name.id)
		}
	}
}

// segment is a piece of a path.
func (r *reader) segment(s *step, p Piece) fields {
	f := fields{cause: p.Cause.String(), start: known(p.Start), duration: known(p.End - p.Start)}
	r.names(&f, p.Label)
	switch {
	case p.Place == None:
	case p.Cause.isOnCPU():
		f.tid = known(s.tids[p.Place])
	default:
		f.device, f.stream = r.streams.all[p.Place].device, r.streams.all[p.Place].stream
	}
	return f
}

// isOnCPU reports whether time of the cause is a thread's.
func (c Cause) isOnCPU() bool {
	return slices.Contains([]Cause{Launch, LaunchDelay, Wait, Call, Host, Profiler}, c)
}

// group is what labels are added up by: Label with what does not count as None, a family, or launch-bound.
type group struct {
	Label
	family  string
	isBound bool
}

// grouping adds up pieces by something.
type grouping struct {
	name string
	of   func(r *reader, l Label) []group
}

var groupings = []grouping{
	{"subject", func(_ *reader, l Label) []group { return []group{{Label: l.subject()}} }},
	{"cause", func(_ *reader, l Label) []group {
		all := []group{{Label: Label{l.Cause, None, None, None, None}}}
		if l.Cause == Launch || l.Cause == LaunchDelay || l.Cause == LaunchLatency {
			all = append(all, group{Label: Label{Unknown, None, None, None, None}, isBound: true})
		}
		return all
	}},
	{"family", func(r *reader, l Label) []group {
		if l.Cause != Kernel && l.Cause != Collective && l.Cause != CollectiveWait {
			return nil
		}
		family := r.family[r.works.all[l.Work].kernel]
		if family == "" {
			return nil
		}
		return []group{{Label: Label{Unknown, None, None, None, None}, family: family}}
	}},
	{"range", func(_ *reader, l Label) []group {
		if !slices.Contains([]Cause{Launch, LaunchDelay, Call, Host}, l.Cause) || l.Frame == None {
			return nil
		}
		return []group{{Label: Label{Unknown, None, None, l.Frame, None}}}
	}},
}

// subject is a label without what its cause is not about.
func (l Label) subject() Label {
	switch l.Cause {
	case LaunchLatency, Queued, Unknown:
		return Label{l.Cause, None, None, None, None}
	case Launch, Wait, Call:
		return Label{l.Cause, None, l.API, None, None}
	case LaunchDelay, Host, Profiler:
		return Label{l.Cause, None, None, l.Frame, None}
	}
	return Label{l.Cause, l.Work, None, None, None}
}

// whatIf writes what a grouping adds up to on the path, and what of it could be saved.
func (w *writer) whatIf(s *step, g *Graph, path []sum, by grouping) {
	type total struct {
		group
		ns, pieces int64
	}
	var all []*total
	at := map[group]*total{}
	for _, p := range path {
		for _, k := range by.of(w.reader, p.Label) {
			x := at[k]
			if x == nil {
				x = &total{group: k}
				at[k], all = x, append(all, x)
			}
			x.ns += p.ns
			x.pieces += p.pieces
		}
	}
	gone := map[group][]int32{}
	for i, l := range g.replay.labels {
		for _, k := range by.of(w.reader, l) {
			gone[k] = append(gone[k], int32(i))
		}
	}
	slices.SortStableFunc(all, func(a, b *total) int { return cmp.Compare(b.ns, a.ns) }) // of equal ones that which is first on the path
	var lengths [lanes]int64
	for i, x := range all {
		if i%lanes == 0 && i < mostSavings {
			var side [lanes][]int32
			for k, x := range all[i:min(i+lanes, len(all))] {
				side[k] = gone[x.group]
			}
			lengths = g.without(side)
		}
		f := fields{grouping: by.name, family: x.family, duration: known(x.ns), pieces: known(x.pieces)}
		if w.names(&f, x.Label); x.isBound {
			f.cause = "launch-bound"
		} else if by.name == "subject" || by.name == "cause" {
			f.cause = x.Cause.String()
		}
		if i < mostSavings && f.cause != Unknown.String() && f.cause != Earlier.String() {
			f.saving = known(s.End - s.Start - lengths[i%lanes])
		}
		w.row(s, "what-if", i+1, f)
	}
}

// sum is what a label has of a path.
type sum struct {
	Label
	ns, pieces int64
}

// summed returns the sums of a path's labels, in the order in which they are first on it.
func summed(path []Piece) (out []sum) {
	at := map[Label]int{}
	for _, p := range path {
		i, has := at[p.Label]
		if !has {
			i = len(out)
			at[p.Label], out = i, append(out, sum{Label: p.Label})
		}
		out[i].ns += p.End - p.Start
		out[i].pieces++
	}
	return out
}
