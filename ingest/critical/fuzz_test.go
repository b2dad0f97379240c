package critical

import (
	"math/rand/v2"
	"testing"

	"prof/ingest/attribute"
)

// drawn makes a timeline of any bytes: times that coincide, work that starts before its launch or overlaps on its stream, calls that cross, threads that only
// launch, ends that nothing has.
func drawn(data []byte) *Timeline {
	at := 0
	next := func(n int) int64 {
		if at >= len(data) {
			return 0
		}
		at++
		return int64(data[at-1]) % int64(n)
	}
	scale := []int64{1, 7, 3_000, 60_000}[next(4)]
	t := &Timeline{Start: 10 * scale, Ending: Ending(next(3)), Threads: make([]Thread, 1+next(3))}
	t.End = t.Start + next(60)*scale
	t.Returned = t.Start + next(int(t.End-t.Start)/int(scale)+1)*scale
	if t.Ending == OnThread {
		t.End = t.Returned
	}
	for at < len(data) {
		th := &t.Threads[next(len(t.Threads))]
		start := next(70) * scale
		end := start + next(12)*scale
		switch next(8) {
		case 0, 1:
			th.Calls = append(th.Calls, APICall{Start: start, End: end, Kind: attribute.CallKind(next(6)), API: int32(next(4)), For: Mark{int32(next(4)) - 1, start + next(5)*scale - scale}})
		case 2:
			th.Frames = append(th.Frames, Frame{start, end, int32(next(5))})
		case 3:
			th.Busy = append(th.Busy, Span{start, end})
		case 4:
			t.Waits = append(t.Waits, EventWait{int32(next(4)) - 1, int32(next(len(t.Threads))), start, Mark{int32(next(4)) - 1, end - 6*scale}})
		default:
			w := Work{Start: start, End: end, Thread: int32(next(len(t.Threads)+1)) - 1, LaunchStart: start - next(20)*scale + 2*scale, Stream: int32(next(3)), Name: int32(next(4)), Cause: Cause(next(4)), IsBack: next(2) == 0}
			if w.Cause == Collective {
				w.Came = start + (next(10)-2)*scale
			}
			t.Works = append(t.Works, w)
		}
	}
	for _, w := range t.Works { // a step ends when the last of its work does
		if t.Ending == OnWork && w.Thread != None && w.LaunchStart >= t.Start && w.LaunchStart <= t.Returned {
			t.End = max(t.End, w.End)
		}
	}
	return t
}

func FuzzTimeline(f *testing.F) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		data := make([]byte, r.IntN(400))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, drawn(data), "drawn") })
}
