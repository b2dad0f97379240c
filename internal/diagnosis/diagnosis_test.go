package diagnosis

import (
	"strings"
	"testing"
)

// TestReplay holds that a capture without a cause stays as it is, to the ns, and that with one no work begins before its launch.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, b := range Bases {
		base, err := b.Load("../../testdata")
		if err != nil {
			t.Fatal(err)
		}
		same := base.Clone()
		same.Replay()
		for i, e := range base.Events {
			if x := same.Events[i]; x.Start != e.Start || x.End != e.End {
				t.Errorf("%s: %s from %d to %d becomes %d to %d", b.Name, e.Name, e.Start, e.End, x.Start, x.End)
				break
			}
		}
		if !strings.HasSuffix(b.Name, "PyTorch") {
			continue
		}
		for _, k := range Cases {
			if k.Base != b.Name {
				continue
			}
			harmed, cost := k.Harm(base)
			if cost <= 0 {
				t.Errorf("%s, %s: costs %d ns", k.Base, k.Cause, cost)
			}
			for _, e := range harmed.Events {
				if e.End < e.Start || e.launch != nil && e.Start < e.launch.Start {
					t.Errorf("%s, %s: %s begins at %d, ends at %d", k.Base, k.Cause, e.Name, e.Start, e.End)
					break
				}
			}
		}
	}
}

// TestReplayPause holds that what the host does late is late by that time on the GPU where that waited for it, and that work queued makes up for it.
func TestReplayPause(t *testing.T) {
	t.Parallel()
	const later = 1 * ms
	call := func(at int64) *Event {
		return &Event{Kind: Call, Name: "cudaLaunchKernel", Start: at, End: at + 5*us, row: &jsonRow{values: map[string]any{}}}
	}
	work := func(launch *Event, from, to int64) *Event {
		return &Event{Kind: Work, Start: from, End: to, launch: launch, row: &jsonRow{values: map[string]any{}}}
	}
	a, b, c := call(0), call(10*us), call(3*ms)
	first, queued, late := work(a, 10*us, 2*ms), work(b, 2*ms+us, 2*ms+100*us), work(c, 3*ms+10*us, 4*ms)
	b.Pause = later
	(&Capture{Events: []*Event{a, b, c, first, queued, late}}).Replay()
	for _, x := range []struct {
		what      string
		got, want int64
	}{{"the first kernel", first.Start, 10 * us}, {"the queued one", queued.Start, 2*ms + us}, {"the call after the pause", c.Start, 3*ms + later}, {"the one that waits for it", late.Start, 3*ms + 10*us + later}} {
		if x.got != x.want {
			t.Errorf("%s begins at %d ns, want %d", x.what, x.got, x.want)
		}
	}
}
