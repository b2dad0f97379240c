// Package critical finds what set the length of a step: the chain of CPU time, launches, device work and waits that leads from the step's end
// back to its start, and how long the step would have been if some of that had taken no time.
//
// A Timeline is what one process did during a step. Build makes a graph of it: nodes are starts and ends of calls and device work, edges what
// each had to wait for and how long it then took. Path walks it backwards along what was ready last; Length replays it forwards, with
// edges shortened. Both are exact: the pieces of the path add up to the step, and a replay without a change ends when the step did.
package critical

import (
	"prof/ingest/attribute"
)

// Cause says what a piece of a step's time went to.
type Cause uint8

// The idle causes have the meaning that they have in idle_part, but along the path and not where a GPU is idle.
const (
	Kernel         Cause = iota // a kernel ran
	Replay                      // a graph replay that was traced as a whole ran
	Copy                        // a copy or fill ran
	Collective                  // a collective ran, from when the last rank had come to it
	CollectiveWait              // a collective waited for the last rank
	Earlier                     // work ran that is not of the step: launched before it, or begun where it ends with the next one's work
	Launch                      // the thread was in a call that launches work
	LaunchDelay                 // the thread was between two calls on the way from one launch to the next, as attribute.Pace tells
	LaunchLatency               // from the return of a launch to the start of its work
	Wait                        // the thread was in a call that waits for the device, although its work had ended
	Call                        // the thread was in another call
	Host                        // the thread was outside CUDA for longer than that
	Profiler                    // the profiler was at work on the thread
	Queued                      // work whose turn had come was not started yet
	StreamWait                  // from the end of work of another stream to the start of what an event held back until then
	Unknown                     // what was waited for is not in the capture
	causes
)

var causeNames = [causes]string{"kernel", "graph", "copy", "collective", "collective-wait", "earlier", "launch", "launch-delay", "launch-latency", "wait", "call", "host", "profiler", "queued", "stream-wait", "unknown"}

func (c Cause) String() string { return causeNames[c] }

// None is no index.
const None = int32(-1)

// Label says what a piece of time went to. Its fields but Cause are the caller's numbers; None where it has none.
type Label struct {
	Cause Cause
	Work  int32 // kind of device work: a kernel's name, an operation; of StreamWait what was waited for
	API   int32 // API function
	Frame int32 // innermost range or operator on the thread
	Place int32 // thread, of causes on the CPU; stream, of those on a device
}

// Work is a piece of device work: a kernel, a copy or fill, or a graph replay traced as a whole.
type Work struct {
	Start, End  int64
	Thread      int32 // that launched it, an index of Timeline.Threads; None when the launch was not captured
	LaunchStart int64 // start of the launching call
	Stream      int32
	Name        int32 // of what it is, as Label.Work
	Cause       Cause // Kernel, Replay, Copy or Collective
	IsBack      bool  // a copy to the host, which its call waits for if it ends first
	Came        int64 // when the last rank had come to a collective; 0 when that is not known
}

// APICall is a call of the CUDA runtime or driver.
type APICall struct {
	Start, End int64
	Kind       attribute.CallKind
	API        int32
	For        Mark // what a waiting call waits for; without a stream, all of the process that was launched before that moment
}

// Mark is a place in the order of a stream, such as that of an event recorded on it: behind what was launched on it before a moment. Where its stream is not known, which is None, it is no
// later than that moment.
type Mark struct {
	Stream int32
	At     int64
}

// Frame is a range or an operator on a thread.
type Frame struct {
	Start, End int64
	Name       int32 // as Label.Frame
}

// Span is a stretch of time.
type Span struct{ Start, End int64 }

// Thread is what a CPU thread did. The lists may be in any order, calls inside others and frames that cross.
type Thread struct {
	Calls  []APICall
	Frames []Frame
	Busy   []Span // the profiler was at work
}

// EventWait is a call that made a stream wait for an event.
type EventWait struct {
	Stream int32 // None where the capture does not say which
	Thread int32 // that called, an index of Timeline.Threads, where it does not
	At     int64 // when it was called
	For    Mark  // where the event was recorded
}

// Ending says what the end of a step is.
type Ending uint8

const (
	OnThread Ending = iota // its thread comes to that time, and its work has ended
	OnWork                 // the last of its work ends
	OnNext                 // device work starts: the first of the next step
)

// Timeline is what a process did in a step's time. Work and calls that had ended by its start or start after its end may be left out.
type Timeline struct {
	Start, End int64
	Ending     Ending
	Returned   int64 // when the thread was done with the step; of no meaning OnNext
	Thread     int32 // whose step it is, an index of Threads
	Threads    []Thread
	Works      []Work
	Waits      []EventWait
}

// Piece is a stretch of time along the path.
type Piece struct {
	Label
	Start, End int64
}
