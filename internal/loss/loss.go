// Package loss takes records out of real captures, or spoils them, as profilers do that lose some, so that what prof says of a capture that is not
// whole can be held to what was lost. Kinds lists how: a full buffer loses a window of records, a process that is killed the last ones, a GPU all of
// its own; two subscribers record each launch twice; a clock is off for one GPU, or from one moment on. Cases are 200 losses that leave evidence in
// the file, Silent 30 that leave none: a process, or a time, is gone with all that happened in it.
package loss

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"prof/internal/diagnosis"
)

// Kind is a way to lose records.
type Kind struct {
	Name string
	Text string   // what is lost, and of whom that is known
	Says []string // the kinds of the fact table loss of which one must say it; none where no file can show it
	lose func(l *losing)
}

// Loss is one that can be put into a capture: the same one gives the same file.
type Loss struct {
	Kind string
	Part float64 // of the records that it is about; one at least
	In   string  // only work launched within ranges whose names match, and its launches; "" for any
	Seed uint64
}

// losing is a loss under way.
type losing struct {
	Loss
	c    *diagnosis.Capture
	rng  *rand.Rand
	work []*diagnosis.Event // that it is about, in order of time
	n    int                // records lost or spoilt
}

// Put takes the loss out of a capture and returns how many records it lost or spoilt. Where the ranges launched nothing of the kind, it is anywhere.
func (l Loss) Put(c *diagnosis.Capture) (int, error) {
	at := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == l.Kind })
	if at < 0 {
		return 0, fmt.Errorf("no kind of loss is called %q", l.Kind)
	}
	if l.Kind != counted {
		c.Uncount()
	}
	if l.In != "" {
		if n := l.put(c, Kinds[at]); n > 0 {
			return n, nil
		}
		l.In = ""
	}
	n := l.put(c, Kinds[at])
	if n == 0 {
		return 0, fmt.Errorf("there is nothing that %s could lose", l.Kind)
	}
	return n, nil
}

func (l Loss) put(c *diagnosis.Capture, k Kind) int {
	h := fnv.New64a()
	h.Write([]byte(l.Kind))
	x := &losing{Loss: l, c: c, rng: rand.New(rand.NewPCG(l.Seed, h.Sum64()))}
	var ranges []*diagnosis.Event
	if l.In != "" {
		ranges = c.Ranges(l.In)
	}
	for _, e := range c.Events {
		if e.Kind == diagnosis.Work && (l.In == "" || e.Launch() != nil && slices.ContainsFunc(ranges, func(r *diagnosis.Event) bool { return r.Holds(e.Launch()) })) {
			x.work = append(x.work, e)
		}
	}
	slices.SortStableFunc(x.work, byTime)
	if len(x.work) > 0 {
		k.lose(x)
	}
	return x.n
}

func byTime(a, b *diagnosis.Event) int { return int(min(max(a.Start-b.Start, -1), 1)) }

// isAwaited reports whether work is of a kind that its launch never comes without: kernels, replays, and copies that do not wait for their end.
func isAwaited(e *diagnosis.Event) bool {
	l := e.Launch()
	return l != nil && (isKernel(e) || strings.Contains(l.Name, "Async") && strings.Contains(l.Name, "cpy"))
}

func isKernel(e *diagnosis.Event) bool {
	return e.Table == "kernel" || e.Table == "CUPTI_ACTIVITY_KIND_KERNEL" || e.Table == "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
}

// awaited is the work of the loss that is awaited.
func (l *losing) awaited() []*diagnosis.Event {
	return slices.DeleteFunc(slices.Clone(l.work), func(e *diagnosis.Event) bool { return !isAwaited(e) })
}

// launches are the calls that launched work, in order of time.
func launches(work []*diagnosis.Event) []*diagnosis.Event {
	calls := map[*diagnosis.Event]bool{}
	for _, e := range work {
		if e.Launch() != nil {
			calls[e.Launch()] = true
		}
	}
	list := slices.Collect(maps.Keys(calls))
	slices.SortFunc(list, func(a, b *diagnosis.Event) int {
		if a.Start != b.Start {
			return byTime(a, b)
		}
		return int(min(max(a.Correlation-b.Correlation, -1), 1))
	})
	return list
}

// count is how many of so many records the loss takes.
func (l *losing) count(of int) int { return min(of, max(1, int(float64(of)*l.Part))) }

// scattered picks records here and there.
func (l *losing) scattered(list []*diagnosis.Event) []*diagnosis.Event {
	if len(list) == 0 {
		return nil
	}
	at := l.rng.Perm(len(list))[:l.count(len(list))]
	slices.Sort(at)
	var out []*diagnosis.Event
	for _, i := range at {
		out = append(out, list[i])
	}
	return out
}

// window picks records one after the other, but none of the first tenth.
func (l *losing) window(list []*diagnosis.Event) []*diagnosis.Event {
	if len(list) == 0 {
		return nil
	}
	n := l.count(len(list))
	first := min(len(list)/10+1, len(list)-n)
	from := first
	if room := len(list) - n - first; room > 0 {
		from += l.rng.IntN(room)
	}
	return list[from : from+n]
}

// head and tail pick the first and the last ones.
func (l *losing) head(list []*diagnosis.Event) []*diagnosis.Event { return list[:l.count(len(list))] }
func (l *losing) tail(list []*diagnosis.Event) []*diagnosis.Event {
	return list[len(list)-l.count(len(list)):]
}

// group picks the records that share something with one of them: the one that the seed names of all that there are.
func (l *losing) group(list []*diagnosis.Event, by func(e *diagnosis.Event) string) []*diagnosis.Event {
	groups := map[string][]*diagnosis.Event{}
	for _, e := range list {
		groups[by(e)] = append(groups[by(e)], e)
	}
	if len(groups) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(groups))
	return groups[names[l.Seed%uint64(len(names))]]
}

func byDevice(e *diagnosis.Event) string  { return fmt.Sprintf("%d %d", e.Process, e.Device) }
func byProcess(e *diagnosis.Event) string { return fmt.Sprint(e.Process) }
func byTable(e *diagnosis.Event) string   { return e.Table }
func byStream(e *diagnosis.Event) string {
	return fmt.Sprintf("%d %d %d", e.Process, e.Device, e.Stream)
}

// drop takes records out.
func (l *losing) drop(list []*diagnosis.Event) {
	gone := map[*diagnosis.Event]bool{}
	for _, e := range list {
		gone[e] = true
	}
	l.c.Events = slices.DeleteFunc(l.c.Events, func(e *diagnosis.Event) bool { return gone[e] })
	l.n += len(gone)
}

// double records again.
func (l *losing) double(list []*diagnosis.Event) {
	for _, e := range list {
		l.c.Double(e)
	}
	l.n += len(list)
}

// move shifts records in time.
func (l *losing) move(list []*diagnosis.Event, by int64) {
	for _, e := range list {
		e.Place(e.Start+by, e.End+by)
	}
	l.n += len(list)
}

// alone picks the kernels of one stream that run one after the other, the longest such list: those of one replay of a graph need not.
func (l *losing) alone() []*diagnosis.Event {
	streams, of := map[string][]*diagnosis.Event{}, map[*diagnosis.Event]int{}
	for _, e := range l.work {
		of[e.Launch()]++
	}
	for _, e := range l.work {
		if isKernel(e) && e.Launch() != nil && of[e.Launch()] == 1 {
			streams[byStream(e)] = append(streams[byStream(e)], e)
		}
	}
	var longest []*diagnosis.Event
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		if len(streams[name]) > len(longest) {
			longest = streams[name]
		}
	}
	return longest
}

// gone takes everything out that happened in a process or a time: calls, ranges and work.
func (l *losing) gone(is func(e *diagnosis.Event) bool) {
	before := len(l.c.Events)
	l.c.Events = slices.DeleteFunc(l.c.Events, func(e *diagnosis.Event) bool {
		if e.Kind == diagnosis.Work && e.Launch() != nil {
			return is(e.Launch())
		}
		return is(e)
	})
	l.n += before - len(l.c.Events)
}

// moment is when the launch was made that comes so far in the order of all.
func (l *losing) moment(part float64) int64 {
	list := launches(l.work)
	return list[min(len(list)-1, int(float64(len(list))*part))].Start
}
