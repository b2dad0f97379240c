package chart

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
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

func (r threadRow) key() threadKey {
	return threadKey{r.SourceID, frame.Or(r.PID, 0), frame.Or(r.TID, 0)}
}

// launch is the call that launched a piece of work.
func (w workRow) launch() callKey {
	if w.LaunchStartNs == nil || w.PID == nil || w.TID == nil {
		return callKey{}
	}
	return callKey{threadKey{w.SourceID, *w.PID, *w.TID}, *w.LaunchStartNs, true}
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
func (d *TimelineData) layCalls(rows timelineRows, threads map[threadKey]*timelineThread) []string {
	calls := rows.calls
	if len(calls) == 0 {
		return nil
	}
	for _, c := range calls {
		thread, start := d.thread(threads, c.threadRow), d.start(c.SourceID, c.StartNs)
		d.Begin = min(d.Begin, start)
		if thread.API = "CUDA API"; strings.HasPrefix(c.API, "hip") {
			thread.API = "HIP API"
		}
		key := callKey{c.key(), c.StartNs, true}
		if _, known := d.callAt[key]; !known { // of calls that begin at once the longest comes first
			d.callAt[key] = int64(len(thread.Calls) / 3)
		}
		thread.Calls = append(thread.Calls, start-thread.called, c.DurationNs, d.work(c.API, c.Kind+" call"))
		thread.called = start + c.DurationNs
	}
	d.layKnownCalls(rows, threads)
	var notes []string
	if calls[0].IsShortHidden {
		notes = append(notes, "API calls shorter than 5 us are drawn only if they launched something: the warehouse keeps the others as sums.")
	}
	shown, all := int64(len(calls)), calls[0].CallCount
	if shown == all {
		return notes
	}
	return append(notes, fmt.Sprintf("API calls of these threads: the page has %s of %s: those that launched what is drawn, and the longest others.", typeset.Int(shown), typeset.Int(all)))
}

// layKnownCalls marks the stretches of each thread whose calls are in its line: of each window from the thread's first launch to the window's
// end, as timeline-calls has them.
func (d *TimelineData) layKnownCalls(rows timelineRows, threads map[threadKey]*timelineThread) {
	type stretch struct {
		thread threadKey
		window int64
	}
	from := map[stretch]int64{}
	for _, w := range rows.works {
		if launch := w.launch(); launch.known {
			at := stretch{launch.thread, w.Window}
			if first, known := from[at]; !known || launch.start < first {
				from[at] = launch.start
			}
		}
	}
	for _, w := range rows.windows {
		for key, thread := range threads {
			if first, known := from[stretch{key, w.Window}]; known {
				shift := d.clocks[key[0]]
				thread.Known = append(thread.Known, [2]int64{first - shift, w.EndNs - shift})
			}
		}
	}
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
