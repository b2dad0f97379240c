package attribute

import "testing"

// A thread is at something else from five times the median of its launches on, if that is longer than 100 us.
func TestPace(t *testing.T) {
	const us = 1000
	for _, c := range []struct {
		name    string
		between []int64 // in us, from one launch to the next, again and again
		other   CallKind
		count   int
		want    int64
	}{
		{"fast", []int64{5, 9, 30}, LaunchCall, 200, 100 * us},
		{"slow", []int64{20, 60, 60, 150}, LaunchCall, 200, 300 * us},
		{"half fast", []int64{10, 90}, LaunchCall, 201, 100 * us},
		{"too few to tell", []int64{60}, LaunchCall, leastLaunches, 100 * us},
		{"just enough", []int64{60}, LaunchCall, leastLaunches + 1, 300 * us},
		{"at something else each time", []int64{5000}, LaunchCall, 200, 500 * us},
		{"through other calls", []int64{60}, OtherCall, 200, 300 * us},
		{"after graphs", []int64{60}, GraphCall, 200, 100 * us},
		{"after waits", []int64{60}, WaitCall, 200, 100 * us},
	} {
		var p Pace
		at := int64(0)
		for i := range c.count {
			at += c.between[i%len(c.between)] * us / 2
			if c.other != LaunchCall {
				p.Add(at, at+7*us, c.other)
				at += 7 * us
			}
			at += c.between[i%len(c.between)] * us / 2
			p.Add(at, at+5*us, LaunchCall)
			at += 5 * us
		}
		if got := p.Stretch(HostStretch); got != c.want {
			t.Errorf("%s: %d us, want %d", c.name, got/us, c.want/us)
		}
	}
}

// The time of a thread that launches slowly is told by its own pace.
func TestSlowLaunches(t *testing.T) {
	c := &Calls{}
	l := c.List()
	at := int64(0)
	for range 100 {
		l.Add(0, at, 5_000, LaunchCall)
		at += 75_000
	}
	l.Add(0, at+200_000, 5_000, LaunchCall)
	l.Add(0, at+600_000, 5_000, LaunchCall)
	h := newHost(c.settle(), nil, HostStretch)
	got := h.split(at-70_000, at+605_000, Caller{Start: at + 600_000, End: at + 605_000}, false)
	if want := (Parts{InLaunch: 10_000, Late: 270_000, OnHost: 395_000}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}
