package torch

import (
	"math"
	"time"

	"prof/ingest/load"
	"prof/ingest/torch/trace"
)

// base is where in time the events of a trace lie: where most say, whichever comes first. CUPTI gives activities whose time it could not
// take 0 for a start and an end, and such an event may be a trace's first.
type base struct {
	known     bool
	around    int64 // no event that is stored is farther from it than load.Farthest
	isUndated bool  // events at 0 that take no time have none
	isLate    bool  // the events begin days after 0, but for some whose times are none

	near, undated int64
	first         int64 // start of the first event in time that has one, of those near
	early, last   int64 // events that begin within the first hour or before 0, and the last start of them
	late          int64 // start of the first other one
	far           []cluster
}

// cluster are events near each other and far from those before.
type cluster struct{ around, events int64 }

// mostClusters bounds what is remembered of a trace whose times are noise.
const mostClusters = 8

// apart is how long after 0 the others begin where events at 0 have no time: no trace waits so long for its second event.
const apart = int64(time.Hour)

// day is longer than any capture goes without an event.
const day = int64(24 * time.Hour)

// IsUndated reports whether an event may be one without a time.
func IsUndated(e *trace.Event) bool {
	return e.Start == 0 && e.Duration == 0 && e.Has&trace.StartTime != 0 && (e.Has&trace.DurationTime != 0 || e.Category == trace.CPUInstant)
}

// leaves returns why an event is not stored; "" for one that is.
func (b *base) leaves(e *trace.Event) string {
	switch {
	case IsUndated(e):
		if b.undated++; b.isUndated {
			return "have no time: they begin at 0 and take none"
		}
		return "" // it depends on the others
	case !b.known:
		b.known, b.around, b.first, b.late, b.last = true, e.Start, math.MaxInt64, math.MaxInt64, math.MinInt64
	}
	if b.isLate && e.Start < apart && e.Start > -load.Farthest {
		return "begin days before all others"
	}
	if away := e.Start - b.around; away < load.Farthest && away > -load.Farthest {
		b.near++
		b.first = min(b.first, e.Start)
		if e.Start < apart {
			b.early, b.last = b.early+1, max(b.last, e.Start)
		} else {
			b.late = min(b.late, e.Start)
		}
		return ""
	}
	for i := range b.far {
		if away := e.Start - b.far[i].around; away < load.Farthest && away > -load.Farthest {
			b.far[i].events++
			return "are years off"
		}
	}
	if len(b.far) < mostClusters {
		b.far = append(b.far, cluster{e.Start, 1})
	}
	return "are years off"
}

// better returns the base by which the trace must be read again; ok is false where it was read by the right one.
func (b *base) better() (base, bool) {
	best, first := cluster{b.around, b.near}, b.first
	for _, c := range b.far {
		if c.events > best.events {
			best, first = c, c.around
		}
	}
	isLate := b.early > 0 && 2*b.early < b.near && b.late-b.last > day
	if isLate && best.around == b.around {
		first, best.around = b.late, b.late
	}
	out := base{known: b.known, around: best.around, first: math.MaxInt64, late: math.MaxInt64, last: math.MinInt64, isLate: isLate}
	out.isUndated = b.isUndated || b.undated > 0 && b.known && (first > apart || first < -apart)
	return out, isLate || out.around != b.around || out.isUndated != b.isUndated
}
