package terms

import (
	"slices"
	"strings"
)

// Part is one kind of GPU time of a stage. The parts of a stage's time exclude each other and add up to its GPU span.
type Part struct {
	Name    string // in SQL and JSON
	Kind    string // Busy, Other or the name of the Cause that idle time has
	Label   string // in a cell or a legend, behind "idle: " of idle time
	Fill    rune   // what fills its cells in a bar of text: blocks are work, letters are idle
	Meaning string // in the docs
}

// Kinds of parts that are no idle time.
const (
	Busy  = "busy"  // work of the stage ran
	Other = "other" // only other work ran
)

// Parts of a stage's time, in the order in which they are shown.
var Parts = []Part{
	{"compute", Busy, "kernels", '█', "kernels other than collectives"},
	{"collective-overlapped", Busy, "overlapped collectives", '▓', "collectives while other kernels ran too"},
	{"collective-exposed", Busy, "exposed collectives", '▒', "collectives while no other kernel ran"},
	{"graph", Busy, "graph replays", '▞', "graph replays traced as a whole"},
	{"copy", Busy, "copies", '░', "copies and fills while no kernel ran"},
	{"other", Other, "other work", 'o', "only other work ran"},
	{"launch", "launch-bound", "in launch calls", 'L', "in a launching call of less than 100 us, or launching a graph"},
	{"launch-delay", "launch-bound", "between launch calls", 'l', "between two CUDA calls on the way from one launch to the next"},
	{"launch-latency", "launch-bound", "launched late, not started", 'd', "launched after the GPU ran dry; its work starts within 100 us"},
	idle("wait", 'w'),
	idle("call", 'c'),
	idle("host", 'h'),
	idle("profiler", 'p'),
	idle("queued", 'q'),
	idle("unknown", '?'),
}

// idle returns the part that is all idle time of a cause.
func idle(name string, fill rune) Part {
	c, _ := CauseNamed(name)
	return Part{c.Name, c.Name, c.Label, fill, c.Meaning}
}

// IsIdle reports whether no work ran.
func (p Part) IsIdle() bool { return p.Kind != Busy && p.Kind != Other }

// Text says in a cell what the time is: idle: CPU waits for the GPU.
func (p Part) Text() string {
	if p.IsIdle() {
		return "idle: " + p.Label
	}
	return p.Label
}

// Column is that of its time in SQL, where each part has one.
func (p Part) Column() string { return column(p.Name) }

func column(name string) string { return strings.ReplaceAll(name, "-", "_") + "_ns" }

// PartsOf are the parts of a kind.
func PartsOf(kind string) []Part {
	var out []Part
	for _, p := range Parts {
		if p.Kind == kind {
			out = append(out, p)
		}
	}
	return out
}

// IdleParts are the parts that are idle time.
func IdleParts() []Part {
	return slices.DeleteFunc(slices.Clone(Parts), func(p Part) bool { return !p.IsIdle() })
}
