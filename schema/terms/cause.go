// Package terms has the words: what prof calls a thing, in SQL, in JSON, on screen and in the docs, one table for each kind of thing. What names such things takes them from here.
package terms

import (
	"embed"
	"slices"
)

// Code is what the words are written in: it identifies them.
//
//go:embed *.go
var Code embed.FS

// Cause is a cause of idle time of a GPU: what the thread that launches the next work on it did meanwhile.
type Cause struct {
	Name    string // in SQL and JSON
	Bound   string // what a stage is bound by whose GPU idles for it: the name of a Bound
	Label   string // in a cell, behind "idle: "
	Noun    string // in a sentence, for the time
	Verb    string // in a sentence, of the GPU; causes of one bound that have it in common are judged together
	Meaning string // in the docs
}

// Causes of idle time, in the order in which they are shown.
var Causes = [...]Cause{
	{"launch-bound", "launch-bound", "launches arrive too late", "launch-bound idle", "waits for the next launch", "the next launch comes too late: launch, launch-delay and launch-latency"},
	{"wait", "wait", "CPU waits for the GPU", "idle while the CPU waits for the GPU", inCalls, "in a call that waits for the GPU, or in a copy that is not the next work"},
	{"call", "wait", "other CUDA calls", "idle in other CUDA calls", inCalls, "in another CUDA call, or in a launch of 100 us or longer, which loads code first"},
	{"host", "host", "CPU busy outside CUDA", "idle while the CPU is busy outside CUDA", "idles while the CPU is busy outside CUDA", "outside CUDA for 100 us or longer, and for longer than five times what a launch usually takes"},
	{"profiler", "unknown", "profiler at work", "idle while the profiler is at work", "idles while the profiler works", "profiler at work on the thread; the PyTorch profiler does not record on which, so it has none"},
	{"queued", "queued", "waiting in the GPU's queue", "idle while work waits in the GPU's queue", "pauses while work waits in its queue", "launched before the GPU ran dry, or 100 us or longer before the work started"},
	{"unknown", "unknown", "launch not captured", "idle before work whose launch was not captured", "idles before work whose launch was not captured", "launch not captured"},
	{Between, "", "between steps", "idle between steps", "idles between steps", "of steps: from the last device work of one to the first of the next"},
}

const (
	// Between is the cause that steps alone have: no part of a stage's time.
	Between = "between"

	inCalls = "idles while the CPU waits for it, allocates memory or loads code"
)

// Column is that of its time in SQL, of relations that have one for each cause.
func (c Cause) Column() string { return column(c.Name) }

// IdleCauses are those of which a stage's time has parts.
func IdleCauses() []Cause {
	return slices.DeleteFunc(slices.Clone(Causes[:]), func(c Cause) bool { return len(PartsOf(c.Name)) == 0 })
}

// CauseNamed returns a cause; ok reports whether there is one of that name.
func CauseNamed(name string) (c Cause, ok bool) {
	for _, c := range Causes {
		if c.Name == name {
			return c, true
		}
	}
	return Cause{}, false
}
