package chart

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

// threadKey is a source, process and thread.
type threadKey [3]int64

// callKey is a call: its thread, and when it began by the source's own clock. The zero value is no call.
type callKey struct {
	thread threadKey
	start  int64
	known  bool
}

func threadOf(r frame.Record) threadKey {
	return threadKey{r.Count("source_id"), r.Count("pid"), r.Count("tid")}
}

// launchOf is the call that launched a piece of work.
func launchOf(w frame.Record) callKey {
	if w.Value("launch_start_ns") == nil || w.Value("pid") == nil || w.Value("tid") == nil {
		return callKey{}
	}
	return callKey{threadOf(w), w.Count("launch_start_ns"), true}
}

// callKind is a kind of API calls.
type callKind struct{ Name, Doc string }

// callKinds are the kinds of calls in the order of the legend. Their names in the page end in call, since work has kinds of the same names.
var callKinds = []callKind{
	{Name: "launch", Doc: "of kernels and graphs"},
	{Name: "copy", Doc: "of memory, and fills"},
	{Name: "sync", Doc: "wait for the GPU"},
	{Name: "other"},
}

func (d *TimelineData) callKinds() []callKind {
	return slices.DeleteFunc(slices.Clone(callKinds), func(p callKind) bool {
		at, known := d.names.at[p.Name+" call"]
		return !known || !slices.ContainsFunc(d.Works, func(w [2]int64) bool { return w[1] == at })
	})
}

// layCalls puts calls in the lines of their threads, and says which are not drawn.
func (d *TimelineData) layCalls(t *judge.Timeline, threads map[threadKey]*timelineThread) ([]string, error) {
	if t.Calls == nil || len(t.Calls.Rows) == 0 {
		return nil, nil
	}
	calls, err := t.Calls.Records("source_id", "pid", "tid", "thread", "kind", "api", "start_ns", "duration_ns", "call_count", "is_short_hidden")
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		thread, start := d.thread(threads, c), d.start(c)
		d.Begin = min(d.Begin, start)
		if thread.API = "CUDA API"; strings.HasPrefix(c.Text("api"), "hip") {
			thread.API = "HIP API"
		}
		key := callKey{threadOf(c), c.Count("start_ns"), true}
		if _, known := d.callAt[key]; !known { // of calls that begin at once the longest comes first
			d.callAt[key] = int64(len(thread.Calls) / 3)
		}
		thread.Calls = append(thread.Calls, start-thread.called, c.Count("duration_ns"), d.work(c.Text("api"), c.Text("kind")+" call"))
		thread.called = start + c.Count("duration_ns")
	}
	if err := d.layKnownCalls(t, threads); err != nil {
		return nil, err
	}
	var notes []string
	if calls[0].Is("is_short_hidden") {
		notes = append(notes, "API calls shorter than 5 us are drawn only if they launched something: the warehouse keeps the others as sums.")
	}
	shown, all := int64(len(calls)), calls[0].Count("call_count")
	if shown == all {
		return notes, nil
	}
	return append(notes, fmt.Sprintf("API calls of these threads: the page has %s of %s: those that launched what is drawn, and the longest others.", typeset.Int(shown), typeset.Int(all))), nil
}

// layKnownCalls marks the stretches of each thread whose calls are in its line: of each window from the thread's first launch to the window's
// end, as timeline-calls has them.
func (d *TimelineData) layKnownCalls(t *judge.Timeline, threads map[threadKey]*timelineThread) error {
	windows, err := t.Windows.Records("window", "source_id", "end_ns")
	if err != nil {
		return err
	}
	works, err := t.Kernels.Records("window", "source_id", "pid", "tid", "launch_start_ns")
	if err != nil {
		return err
	}
	type stretch struct {
		thread threadKey
		window int64
	}
	from := map[stretch]int64{}
	for _, w := range works {
		if launch := launchOf(w); launch.known {
			at := stretch{launch.thread, w.Count("window")}
			if first, known := from[at]; !known || launch.start < first {
				from[at] = launch.start
			}
		}
	}
	for _, w := range windows {
		for key, thread := range threads {
			if first, known := from[stretch{key, w.Count("window")}]; known {
				shift := d.from + d.clocks[key[0]]
				thread.Known = append(thread.Known, [2]int64{first - shift, w.Count("end_ns") - shift})
			}
		}
	}
	return nil
}

// link says of each piece of work which call launched it.
func (d *TimelineData) link(threads map[threadKey]*timelineThread) {
	if len(d.callAt) == 0 {
		return
	}
	first, next := map[*timelineThread]int64{}, int64(1)
	for _, t := range d.Threads {
		first[t] = next
		next += int64(len(t.Calls) / 3)
	}
	for _, row := range d.Rows {
		for _, s := range row.Streams {
			last := int64(0)
			for _, p := range s.pieces {
				call := int64(0)
				if at, known := d.callAt[p.launch]; known {
					if from, drawn := first[threads[p.launch.thread]]; drawn {
						call = from + at
					}
				}
				s.Launches = repeat(s.Launches, call-last)
				last = call
			}
		}
	}
}
