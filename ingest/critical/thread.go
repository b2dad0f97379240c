package critical

import (
	"cmp"
	"slices"

	"prof/ingest/attribute"
)

// outermost returns calls in the order of time without those inside others; of two that overlap in part the later begins where the earlier ends.
func outermost(calls []APICall) []APICall {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c APICall) bool { return c.Kind == attribute.QueryCall || c.End < c.Start })
	slices.SortStableFunc(calls, func(a, b APICall) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	out := calls[:0]
	for _, c := range calls {
		if n := len(out); n > 0 {
			end := out[n-1].End
			if c.End <= end && (c.End > c.Start || c.Start < end) {
				continue
			}
			c.Start = max(c.Start, end)
		}
		out = append(out, c)
	}
	return out
}

// change is a moment from which on another frame is the innermost one.
type change struct {
	at    int64
	frame int32
}

// innermost returns the moments at which the innermost open frame of a thread changes: of those open the one that began last.
func innermost(frames []Frame) []change {
	frames = slices.Clone(frames)
	slices.SortStableFunc(frames, func(a, b Frame) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	out := make([]change, 0, 2*len(frames))
	var open []Frame
	set := func(at int64) {
		frame := None
		if len(open) > 0 {
			frame = open[len(open)-1].Name
		}
		if n := len(out); n > 0 && out[n-1].at == at {
			out[n-1].frame = frame
		} else {
			out = append(out, change{at, frame})
		}
	}
	closeUpTo := func(at int64) {
		for len(open) > 0 && open[len(open)-1].End <= at {
			end := open[len(open)-1].End
			for len(open) > 0 && open[len(open)-1].End <= end {
				open = open[:len(open)-1]
			}
			set(end)
		}
	}
	for _, f := range frames {
		closeUpTo(f.Start)
		open = append(open, f)
		set(f.Start)
	}
	closeUpTo(attribute.Forever)
	return out
}

// joined returns stretches in the order of time, those that touch as one.
func joined(spans []Span) []Span {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// setPace sets how long launching may take on the thread, by the calls of the step and those before it that the step knows of: the calls of the whole
// capture, which accounting goes by, are not all stored.
func (l *line) setPace() {
	var p attribute.Pace
	for _, c := range l.calls {
		p.Add(c.Start, c.End, c.Kind)
	}
	l.away = p.Stretch(attribute.HostStretch)
}

// cpu splits a thread's time by calls, frames and what the profiler took.
func (g *Graph) cpu(thread int32, from, to int64) []share {
	l := &g.lines[thread]
	var out []share
	for from < to {
		n := upTo(l.calls, from, func(c APICall) int64 { return c.Start })
		label, until := Label{Host, None, None, None, thread}, to
		if n > 0 && l.calls[n-1].End > from {
			c := l.calls[n-1]
			until = min(to, c.End)
			label.Cause, label.API = callCause(c), c.API
		} else {
			if n < len(l.calls) {
				until = min(to, l.calls[n].Start)
			}
			if n > 0 && n < len(l.calls) { // between two calls
				if s := (Span{l.calls[n-1].End, l.calls[n].Start}); s.End-s.Start-took(l.busy, s) < l.away {
					label.Cause = LaunchDelay
				}
			}
		}
		out = l.framed(&g.shares, out, label, from, until)
		from = until
	}
	return out
}

// callCause returns what the time in a call is.
func callCause(c APICall) Cause {
	switch duration := c.End - c.Start; {
	case c.Kind == attribute.WaitCall:
		return Wait
	case c.Kind == attribute.GraphCall, c.Kind != attribute.OtherCall && duration < attribute.HostStretch:
		return Launch
	case c.Kind == attribute.CopyCall:
		return Wait
	}
	return Call
}

// took is how much of a stretch the profiler took.
func took(busy []Span, s Span) (ns int64) {
	for n := upTo(busy, s.Start, func(b Span) int64 { return b.End }); n < len(busy) && busy[n].Start < s.End; n++ {
		ns += max(0, min(busy[n].End, s.End)-max(busy[n].Start, s.Start))
	}
	return ns
}

// framed adds a stretch, cut where the innermost frame changes and where the profiler was at work.
func (l *line) framed(shares *arena[share], out []share, label Label, from, to int64) []share {
	k := upTo(l.inside, from, func(c change) int64 { return c.at })
	n := upTo(l.busy, from, func(b Span) int64 { return b.End })
	for from < to {
		now, until := label, to
		if k > 0 {
			now.Frame = l.inside[k-1].frame
		}
		if k < len(l.inside) {
			until = min(until, l.inside[k].at)
		}
		if n < len(l.busy) {
			if b := l.busy[n]; b.Start <= from {
				now.Cause, until = Profiler, min(until, b.End)
			} else {
				until = min(until, b.Start)
			}
		}
		if i := len(out) - 1; i >= 0 && out[i].Label == now {
			out[i].ns += until - from
		} else {
			out = shares.add(out, share{Label: now, ns: until - from})
		}
		from = until
		if k < len(l.inside) && l.inside[k].at <= from {
			k++
		}
		if n < len(l.busy) && l.busy[n].End <= from {
			n++
		}
	}
	return out
}
