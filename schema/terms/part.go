package terms

// Part is one kind of GPU time of a stage. The parts of a stage's time exclude each other and add up to its GPU span.
type Part struct {
	Name    string // in SQL and JSON
	Kind    string // Busy, Other or the name of a Cause, of which a part is idle time
	Label   string // in a cell or a legend
	Fill    rune   // what fills its cells in a bar of text: blocks are work, letters are idle
	Meaning string // in the docs
}

// Kinds of parts that are no idle time.
const (
	Busy  = "busy"  // work of the stage ran
	Other = "other" // only other work ran
)

// IsIdle reports whether no work ran.
func (p Part) IsIdle() bool { return p.Kind != Busy && p.Kind != Other }

// Parts of a stage's time, in the order in which they are shown.
var Parts = []Part{
	{"compute", Busy, "kernels", '█', "kernels other than collectives"},
	{"collective-overlapped", Busy, "collectives overlapped with kernels", '▓', "collectives while other kernels ran too"},
	{"collective-exposed", Busy, "collectives not overlapped", '▒', "collectives while no other kernel ran"},
	{"graph", Busy, "graph replays, kernels not traced", '▞', "graph replays traced as a whole"},
	{"copy", Busy, "copies and fills not overlapped", '░', "copies and fills while no kernel ran"},
	{"other", Other, "only other work", 'o', "only work of other stages ran"},
	{"launch", "launch-bound", "idle, in a launch call", 'L', "in a launching call of less than 100 us, or launching a graph"},
	{"launch-delay", "launch-bound", "idle, between calls before the next launch", 'l', "between two CUDA calls on the way from one launch to the next"},
	{"launch-latency", "launch-bound", "idle, launched late, not started yet", 'd', "launched after the GPU ran dry; its work starts within 100 us"},
	{"wait", "wait", "idle, CPU waits for the GPU", 'w', cause("wait").Meaning},
	{"call", "call", "idle, in another CUDA call", 'c', cause("call").Meaning},
	{"host", "host", "idle, CPU outside CUDA", 'h', cause("host").Meaning},
	{"profiler", "profiler", "idle, profiler at work", 'p', cause("profiler").Meaning},
	{"queued", "queued", "idle, waiting in the GPU's queue", 'q', cause("queued").Meaning},
	{"unknown", "unknown", "idle, launch not captured", '?', cause("unknown").Meaning},
}

// cause returns a cause that is one part.
func cause(name string) Cause {
	for _, c := range Causes {
		if c.Name == name {
			return c
		}
	}
	panic("no cause " + name)
}
