package critical

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
)

// Version identifies what Rows gives of a capture: it is raised with every change of the model.
const Version = "4"

// Bounds of what is stored: of a step with more pieces than mostPieces, and once a run has allPieces, pieces are not stored; of each grouping of a step what is
// longest has a saving.
const (
	mostPieces  = 20_000
	allPieces   = 200_000
	mostSavings = 100
)

// Rows gives the rows of _critical_row for the steps in _critical_window of a run (as SQL): fields end with the character 31, rows with 30.
func Rows(ctx context.Context, query func(ctx context.Context, statement string, args ...any) (*sql.Rows, error), run string) (string, error) {
	r := &reader{ctx: ctx, query: query, run: run}
	if err := r.read(); err != nil {
		return "", err
	}
	w := writer{reader: r}
	for _, s := range r.steps {
		if s.isLeft {
			w.row(s, "step", 1, fields{reason: "size"})
			continue
		}
		w.step(s)
		*s = step{} // so that memory is that of one step's graph
	}
	return w.text.String(), nil
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
	text   strings.Builder
	pieces int
}

// row writes a row.
func (w *writer) row(s *step, kind string, nth int, f fields) {
	put := func(text string) {
		w.text.WriteString(strings.Map(func(r rune) rune {
			if r == 30 || r == 31 {
				return ' '
			}
			return r
		}, text))
		w.text.WriteByte(31)
	}
	num := func(n number) {
		if n.Valid {
			w.text.WriteString(strconv.FormatInt(n.V, 10))
		}
		w.text.WriteByte(31)
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
	w.text.WriteByte(30)
}

// step writes what is found of a step.
func (w *writer) step(s *step) {
	if len(s.Threads) == 0 {
		s.thread(-1)
	}
	if s.Ending == OnNext {
		s.Thread = s.busiest()
	}
	g := Build(&s.Timeline)
	path := g.Path()
	f := fields{pieces: known(int64(len(path)))}
	if len(path) > mostPieces || w.pieces+len(path) > allPieces {
		f.reason = "segments"
	} else {
		w.pieces += len(path)
		for i, p := range path {
			w.row(s, "segment", i+1, w.segment(s, p))
		}
	}
	w.row(s, "step", 1, f)
	sums := summed(path)
	for _, by := range groupings {
		w.whatIf(s, g, sums, by)
	}
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
func (w *writer) names(f *fields, l Label) {
	if l.Work != None {
		if name := w.works.all[l.Work]; name.operation != "" {
			f.operation = name.operation
		} else {
			f.kernel = known(name.kernel)
		}
	}
	if l.API != None {
		f.api = known(w.apis.all[l.API])
	}
	if l.Frame != None {
		if name := w.frames.all[l.Frame]; name.isOp {
			f.op = known(name.id)
		} else {
			f.path = known(name.id)
		}
	}
}

// segment is a piece of a path.
func (w *writer) segment(s *step, p Piece) fields {
	f := fields{cause: p.Cause.String(), start: known(p.Start), duration: known(p.End - p.Start)}
	w.names(&f, p.Label)
	switch {
	case p.Place == None:
	case p.Cause.isOnCPU():
		f.tid = known(s.tids[p.Place])
	default:
		f.device, f.stream = w.streams.all[p.Place].device, w.streams.all[p.Place].stream
	}
	return f
}

// isOnCPU says whether time of the cause is a thread's.
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
	of   func(w *writer, l Label) []group
}

var groupings = []grouping{
	{"subject", func(_ *writer, l Label) []group { return []group{{Label: l.subject()}} }},
	{"cause", func(_ *writer, l Label) []group {
		all := []group{{Label: Label{l.Cause, None, None, None, None}}}
		if l.Cause == Launch || l.Cause == LaunchDelay || l.Cause == LaunchLatency {
			all = append(all, group{Label: Label{Unknown, None, None, None, None}, isBound: true})
		}
		return all
	}},
	{"family", func(w *writer, l Label) []group {
		if l.Cause != Kernel && l.Cause != Collective && l.Cause != CollectiveWait {
			return nil
		}
		family := w.family[w.works.all[l.Work].kernel]
		if family == "" {
			return nil
		}
		return []group{{Label: Label{Unknown, None, None, None, None}, family: family}}
	}},
	{"range", func(_ *writer, l Label) []group {
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
		for _, k := range by.of(w, p.Label) {
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
		for _, k := range by.of(w, l) {
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

// summed gives the sums of a path's labels, in the order in which they are first on it.
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
