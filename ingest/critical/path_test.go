package critical

import (
	"fmt"
	"strings"
	"testing"

	"prof/ingest/attribute"
)

const us = 1_000

// TestPath holds the paths of small timelines to what is seen at a glance, in us.
func TestPath(t *testing.T) {
	launch := func(at int64) APICall {
		return APICall{at * us, (at + 5) * us, attribute.LaunchCall, 1, Mark{None, at * us}}
	}
	wait := func(from, to int64, stream int32) APICall {
		return APICall{from * us, to * us, attribute.WaitCall, 2, Mark{stream, from * us}}
	}
	work := func(name int32, stream int32, thread int32, launched, from, to int64) Work {
		return Work{Start: from * us, End: to * us, Thread: thread, LaunchStart: launched * us, Stream: stream, Name: name}
	}
	waits := func(stream, at int64, behind int32, recorded int64) EventWait {
		return EventWait{int32(stream), None, at * us, Mark{behind, recorded * us}}
	}
	shared := func(w Work, came int64) Work {
		w.Cause, w.Came = Collective, came*us
		return w
	}
	for _, c := range []struct {
		what   string
		line   Timeline
		want   string
		saving map[string]int64 // by cause, or by name of work
	}{
		{"a thread that is ahead", Timeline{End: 400 * us, Ending: OnWork, Returned: 50 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(20)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 200), work(2, 0, 0, 20, 202, 400)}},
			"host 10, launch 5, launch-latency 1, kernel 1 184, queued 2, kernel 2 198", map[string]int64{"1": 176, "2": 198, "host": 10}},
		{"a GPU that waits", Timeline{End: 500 * us, Returned: 500 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(300), wait(320, 480, 0)}, Frames: []Frame{{0, 450 * us, 3}}}},
			Works: []Work{work(1, 0, 0, 10, 16, 200), work(2, 0, 0, 300, 307, 470)}},
			"host 10, launch 5, host 285, launch 5, launch-latency 2, kernel 2 163, wait 10, host 20", map[string]int64{"1": 0, "2": 150, "host": 137}},
		{"an event between streams", Timeline{End: 600 * us, Ending: OnWork, Returned: 60 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(30), {40 * us, 41 * us, attribute.OtherCall, 3, Mark{None, 30 * us}}, launch(50)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 400), work(2, 1, 0, 30, 36, 100), work(3, 1, 0, 50, 410, 600)}, Waits: []EventWait{waits(1, 40, None, 40)}},
			"host 10, launch 5, launch-latency 1, kernel 1 384, stream-wait 1 10, kernel 3 190", map[string]int64{"1": 310, "2": 0}},
		{"an event that the capture does not show", Timeline{End: 600 * us, Ending: OnWork, Returned: 60 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(50)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 400), work(3, 1, 0, 50, 402, 600)}},
			"host 10, launch 5, launch-latency 1, kernel 1 384, queued 2, kernel 3 198", nil},
		{"an event behind the first of two kernels", Timeline{End: 600 * us, Ending: OnWork, Returned: 90 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(30), launch(50), launch(70)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 200), work(4, 2, 0, 30, 36, 208), work(2, 0, 0, 50, 202, 500), work(3, 1, 0, 70, 210, 600)}, Waits: []EventWait{waits(1, 60, 0, 40)}},
			"host 10, launch 5, launch-latency 1, kernel 1 184, stream-wait 1 10, kernel 3 390", map[string]int64{"1": 134, "4": 0, "2": 0, "stream-wait": 10}},
		{"an event of a stream that itself only waited", Timeline{End: 600 * us, Ending: OnWork, Returned: 60 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(50)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 400), work(3, 1, 0, 50, 450, 600)}, Waits: []EventWait{waits(2, 30, 0, 20), waits(1, 40, 2, 35), waits(2, 45, 3, 44)}},
			"host 10, launch 5, launch-latency 1, kernel 1 384, stream-wait 1 50, kernel 3 150", map[string]int64{"1": 384, "stream-wait": 50}},
		{"an event that is not said, recorded before other work", Timeline{End: 600 * us, Ending: OnWork, Returned: 90 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(30), launch(50), launch(70)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 200), work(4, 2, 0, 30, 36, 208), work(2, 0, 0, 50, 202, 500), work(3, 1, 0, 70, 203, 600)}, Waits: []EventWait{waits(1, 60, None, 20)}},
			"host 10, launch 5, launch-latency 1, kernel 1 184, stream-wait 1 3, kernel 3 397", map[string]int64{"4": 0}},
		{"an event long before", Timeline{End: 600 * us, Ending: OnWork, Returned: 60 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(50)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 400), work(3, 1, 0, 50, 550, 600)}, Waits: []EventWait{waits(1, 30, 0, 20)}},
			"host 10, launch 5, launch-latency 1, kernel 1 384, queued 150, kernel 3 50", nil},
		{"an event that a thread waits for", Timeline{End: 300 * us, Returned: 300 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(20), launch(40), {60 * us, 220 * us, attribute.WaitCall, 2, Mark{0, 30 * us}}}}},
			Works: []Work{work(1, 0, 0, 10, 16, 100), work(2, 0, 0, 20, 102, 200), work(3, 0, 0, 40, 202, 280), work(4, 1, 0, 40, 46, 215)}},
			"host 10, launch 5, launch-latency 1, kernel 1 84, queued 2, kernel 2 98, wait 20, host 80", map[string]int64{"4": 0, "2": 85}},
		{"a wait of a stream that is not named", Timeline{End: 600 * us, Ending: OnWork, Returned: 60 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(20), launch(50)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 400), work(2, 1, 0, 20, 26, 100), work(3, 1, 0, 50, 415, 600)}, Waits: []EventWait{{None, 0, 40 * us, Mark{None, 40 * us}}}},
			"host 10, launch 5, launch-latency 1, kernel 1 384, stream-wait 1 15, kernel 3 185", map[string]int64{"1": 315}},
		{"a wait that was before the launch on the stream before", Timeline{End: 600 * us, Ending: OnWork, Returned: 60 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(20), launch(50)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 400), work(2, 1, 0, 20, 26, 100), work(3, 1, 0, 50, 415, 600)}, Waits: []EventWait{{None, 0, 15 * us, Mark{None, 15 * us}}}},
			"host 10, launch 5, launch-delay 5, launch 5, launch-latency 1, kernel 2 74, queued 315, kernel 3 185", nil},
		{"a wait of another thread", Timeline{End: 600 * us, Ending: OnWork, Returned: 60 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(50)}}, {Calls: []APICall{launch(20)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 400), work(2, 1, 1, 20, 26, 100), work(3, 1, 0, 50, 415, 600)}, Waits: []EventWait{{None, 1, 40 * us, Mark{None, 40 * us}}}},
			"host 10, launch 5, launch-delay 5, launch 5, launch-latency 1, kernel 2 74, queued 315, kernel 3 185", nil},
		{"a wait that is not named, and work that was launched after it", Timeline{End: 600 * us, Ending: OnWork, Returned: 90 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(20), launch(50), launch(60)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 400), work(2, 1, 0, 20, 26, 100), work(4, 2, 0, 50, 56, 405), work(3, 1, 0, 60, 415, 600)}, Waits: []EventWait{{None, 0, 40 * us, Mark{None, 40 * us}}}},
			"host 10, launch 5, launch-latency 1, kernel 1 384, stream-wait 1 15, kernel 3 185", nil},
		{"a rank that is late", Timeline{End: 600 * us, Ending: OnWork, Returned: 60 * us, Threads: []Thread{{Calls: []APICall{launch(10), launch(30)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 100), shared(work(4, 0, 0, 30, 101, 600), 500)}},
			"host 10, launch 5, launch-latency 1, kernel 1 84, queued 1, collective-wait 4 399, collective 4 100", map[string]int64{"1": 0, "collective-wait": 399, "collective": 100}},
		{"work of another thread", Timeline{End: 700 * us, Ending: OnWork, Returned: 650 * us, Threads: []Thread{{Calls: []APICall{launch(10)}}, {Calls: []APICall{launch(300), launch(320)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 30), work(2, 0, 1, 300, 306, 310), work(3, 0, 1, 320, 326, 700)}},
			"host 10, launch 5, host 285, launch 5, launch-delay 15, launch 5, launch-latency 1, kernel 3 374", map[string]int64{"host": 295}},
		{"work of the step before", Timeline{Start: 100 * us, End: 400 * us, Ending: OnWork, Returned: 150 * us, Threads: []Thread{{Calls: []APICall{launch(110)}}},
			Works: []Work{work(1, 0, 0, 50, 56, 300), work(2, 0, 0, 110, 301, 400)}},
			"earlier 1 200, queued 1, kernel 2 99", map[string]int64{"2": 99, "1": 0}},
		{"until the next step's work", Timeline{Start: 16 * us, End: 300 * us, Ending: OnNext, Threads: []Thread{{Calls: []APICall{launch(10), launch(280)}}},
			Works: []Work{work(1, 0, 0, 10, 16, 200), work(1, 0, 0, 280, 300, 400)}},
			"host 264, launch 5, launch-latency 15", map[string]int64{"1": 0}},
		{"a copy to the host", Timeline{End: 300 * us, Returned: 300 * us, Threads: []Thread{{Calls: []APICall{launch(10), {30 * us, 290 * us, attribute.CopyCall, 3, Mark{None, 30 * us}}}}},
			Works: []Work{work(1, 0, 0, 10, 16, 200), {Start: 202 * us, End: 280 * us, LaunchStart: 30 * us, Name: 9, Cause: Copy, IsBack: true}}},
			"host 10, launch 5, launch-latency 1, kernel 1 184, queued 2, copy 9 78, wait 10, host 10", nil},
		{"a short copy to the host", Timeline{End: 70 * us, Returned: 70 * us, Threads: []Thread{{Calls: []APICall{{10 * us, 60 * us, attribute.CopyCall, 3, Mark{None, 30 * us}}}}},
			Works: []Work{{Start: 18 * us, End: 52 * us, LaunchStart: 10 * us, Name: 9, Cause: Copy, IsBack: true}}},
			"host 10, launch 8, copy 9 34, wait 8, host 10", map[string]int64{"9": 34}},
		{"work without a launch", Timeline{End: 300 * us, Ending: OnWork, Returned: 250 * us, Threads: make([]Thread, 1), Works: []Work{work(1, 0, None, 0, 100, 200), work(2, 0, 0, 20, 210, 300)}},
			"unknown 100, kernel 1 100, queued 10, kernel 2 90", nil},
		{"nothing but the thread", Timeline{End: 300 * us, Returned: 300 * us, Threads: make([]Thread, 1)}, "host 300", map[string]int64{"host": 300}},
	} {
		g := check(t, &c.line, c.what)
		var got []string
		for _, p := range g.Path() {
			text := p.Cause.String()
			if p.Work != None && p.Cause != LaunchLatency && p.Cause != Queued {
				text += fmt.Sprint(" ", p.Work)
			}
			got = append(got, fmt.Sprint(text, " ", (p.End-p.Start)/us))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: the path is\n%s, want\n%s", c.what, text, c.want)
		}
		for of, want := range c.saving {
			saved := c.line.End - c.line.Start - g.Length(func(l Label) bool {
				return l.Cause.String() == of || fmt.Sprint(l.Work) == of && (l.Cause == Kernel || l.Cause == Copy)
			})
			if saved != want*us {
				t.Errorf("%s: without %s it is %d us shorter, want %d", c.what, of, saved/us, want)
			}
		}
	}
}
