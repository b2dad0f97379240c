// Package terms has the words: what prof calls a thing, in SQL, in JSON, on screen and in the docs, one table for each kind of thing. What names such things takes them from here.
package terms

// Cause is a cause of idle time of a GPU: what the thread that launches the next work on it did meanwhile.
type Cause struct {
	Name    string // in SQL and JSON
	Label   string // in a cell, behind "idle: "
	Noun    string // in a sentence: of the time itself
	Verb    string // in a sentence: of the GPU
	Meaning string // in the docs
}

// Causes of idle time, in the order in which they are shown.
var Causes = []Cause{
	{"launch-bound", "launch-bound", "launch-bound idle", "waits for the next launch", "the next launch comes too late: the parts launch, launch-delay and launch-latency"},
	{"wait", "CPU waits for the GPU", "idle while the CPU waits for the GPU", "idles while the CPU waits for it", "in a call that waits for the GPU, or in a copy that is not the next work"},
	{"call", "in another CUDA call", "idle in other CUDA calls", "idles while the CPU allocates memory or loads code", "in another CUDA call, or in a launch of 100 us or longer, which loads code first"},
	{"host", "CPU outside CUDA", "idle while the CPU is outside CUDA", "idles while the CPU is busy outside CUDA", "outside CUDA for 100 us or longer, and for longer than five times what a launch usually takes"},
	{"profiler", "profiler at work", "idle while the profiler is at work", "idles while the profiler works", "profiler at work on the thread; the PyTorch profiler does not record on which, so it has none"},
	{"queued", "waiting in the GPU's queue", "idle while work waits in the GPU's queue", "pauses before work launched in time", "launched before the GPU ran dry, or 100 us or longer before the work started"},
	{"unknown", "launch not captured", "idle before work whose launch was not captured", "idles before work whose launch was not captured", "launch not captured"},
	{Between, "between steps", "idle between steps", "idles between steps", "of steps: from the last device work of one to the first of the next"},
}

// Between is the cause that steps alone have.
const Between = "between"
