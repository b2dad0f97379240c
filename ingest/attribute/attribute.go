// Package attribute tells which ranges device work belongs to, for every format whose captures hold ranges on CPU threads,
// API calls and device work that refers to its API call by a correlation id.
//
// The order of use: Build sweeps a source's ranges into Timelines. Each API call is placed in the ranges open when it began
// (Placer) and, when device work refers to it (Wanted), put into Launches. Device work finds its call there, inherits that
// call's ranges and goes into a WorkList. AccountFor adds the lists up by range, and IDs.Store stores the result.
package attribute

import "math"

// Forever is the end of a range that never ended in the capture.
const Forever = int64(math.MaxInt64)

// NoNode stands for no open range.
const NoNode = int32(-1)

// Bounds against captures whose ranges are pushed and never popped, or all cross each other.
const (
	// MaxCrossings is more sets of crossing ranges than any sensible capture has; they take 12 bytes each.
	MaxCrossings = 20_000_000
	// MaxSteps bounds the names in all paths together: a few ranges are enough unless thousands are pushed and never popped.
	MaxSteps = 20_000_000
	// maxContextRows bounds the rows of range_context, one for each open range of each set that calls were made in.
	maxContextRows = 100_000_000
)

// Span is one range as the sweep needs it. Times are of one clock, mostly nanoseconds since the capture's start.
type Span struct {
	Start, End int64 // End is Forever when it never ended
	Thread     int64 // that began it: any number whose bits from 24 up name the process, as in nsys' globalTid
	Process    bool  // a start/end range: it holds for all threads of the process
	Name       int32 // index of its name among those given to Build
	Parent     int32 // out: index of the innermost range open on its thread when it began; -1 none
	Path       int32 // out: path of names down to it
}

// Name is a domain ("" for the default one) and a normalised name of ranges.
type Name struct{ Domain, Norm string }

// procOf returns the process of a thread.
func procOf(thread int64) int64 { return thread >> 24 }
