package queries

import (
	"fmt"
	"slices"
)

// The thresholds of what bounds a stage.
const (
	// accounting calls a gap the host's from 100 us on: of passes that take less in all, nothing can be told apart.
	leastSpanNs = 100e3
	// A fifth of the time is more than tuning kernels by a few percent can bring back.
	exposedShare = 0.2
	copyShare    = 0.2
	// Below this the time that the GPU does not work is the larger thing to win for all but hopeless kernels.
	busyShare = 0.6
	// Half of the peak bandwidth: well-tuned decode reaches 60 to 80 % of it, so that what is left to win is a factor below two.
	memoryShare = 0.5
	// Well-tuned training and prefill reach 40 to 60 % of the dense peak.
	computeShare = 0.4
	// Where a third of the kernel time is profiled, what most of that is bound by is worth saying.
	coveredShare = 1.0 / 3
)

// idleGroup is idle time of one cause.
type idleGroup struct {
	bound Bound
	kinds []string // of accounting
	words string   // what the GPU does meanwhile
}

var idleGroups = []idleGroup{
	{LaunchBound, []string{"launch-bound"}, "waits for the CPU to launch its next work"},
	{HostBound, []string{"host-bound"}, "waits while the CPU is at something else"},
	{WaitBound, []string{"synchronising", "cuda-call"}, "idles while the program waits for it, allocates or loads code"},
	{QueueBound, []string{"queued"}, "pauses before work that was launched in time"},
	{UnknownBound, []string{"profiler"}, "idles while the profiler itself is at work"},
	{UnknownBound, []string{"unknown"}, "idles before work whose launch was not captured"},
}

// evidence is what the bound of a stage follows from.
type evidence struct {
	stage   string
	gpu     deviceParts // that with the longest span
	gpus    int
	use     utilisation
	class   stageClass
	isProbe bool // Nsight Compute profiled something in the run
}

// idle gives the groups of idle time, the greatest first.
func (e evidence) idle() []idleGroup {
	out := slices.Clone(idleGroups)
	slices.SortStableFunc(out, byKey(func(g idleGroup) float64 { return -e.gpu.of(g.kinds...) }))
	return out
}

// share words a time of the stage's GPU: 52.8 % (631 ms of 1.19 s).
func (e evidence) share(ns float64) string {
	return fmt.Sprintf("%s of the time (%s of %s)", percentText(ns/e.gpu.span), durationText(ns), durationText(e.gpu.span))
}

func (e evidence) works() string {
	return fmt.Sprintf("the GPU works %s of the time", percentText(e.gpu.of("busy")/e.gpu.span))
}

// verdict is what a rule says.
type verdict struct {
	bound, next Bound
	why, but    string
}

// boundRules say what bounds a stage: the first that applies.
var boundRules = []struct {
	name  string
	apply func(e evidence) *verdict
}{
	{"too little data", func(e evidence) *verdict {
		switch {
		case e.gpu.span == 0:
			return &verdict{bound: UnknownBound, why: "its measured passes have no work on a GPU in the capture"}
		case e.gpu.span < leastSpanNs:
			return &verdict{bound: UnknownBound, why: fmt.Sprintf("too little was captured to say: all its passes together take %s, and idle time is told apart from %s on", durationText(e.gpu.span), durationText(leastSpanNs))}
		}
		return nil
	}},
	{"work of others", func(e evidence) *verdict {
		if other := e.gpu.of("other"); other > (1-busyShare)*e.gpu.span {
			return &verdict{bound: UnknownBound, why: fmt.Sprintf("the GPU is at work for something else %s, so that the stage's own time cannot be judged", e.share(other))}
		}
		return nil
	}},
	{"communication", func(e evidence) *verdict {
		alone, idle := e.gpu.named("collective-exposed"), e.idle()[0]
		exposed := alone.total
		if exposed < exposedShare*e.gpu.span || exposed <= e.gpu.of(idle.kinds...) {
			return nil
		}
		return &verdict{bound: CommBound, but: e.but(e.once(alone)), why: fmt.Sprintf("the GPU exchanges data with others and computes nothing %s; waiting for slower GPUs is in it", e.share(exposed))}
	}},
	{"idle time", idleVerdict},
	{"copies", func(e evidence) *verdict {
		if ns := e.gpu.named("copy").total; ns >= copyShare*e.gpu.span {
			return &verdict{bound: CopyBound, why: fmt.Sprintf("data is copied and nothing is computed %s", e.share(ns))}
		}
		return nil
	}},
	{"memory", func(e evidence) *verdict {
		if mbu := usable(e.use.mbu); mbu != nil && *mbu >= memoryShare && (usable(e.use.mfu) == nil || *mbu >= *e.use.mfu) {
			return &verdict{bound: MemoryBound, why: fmt.Sprintf("%s and reads weights and cached context at %s of what its memory can give (MBU); %s", e.works(), percentText(*mbu), e.mfuText())}
		}
		return nil
	}},
	{"compute", func(e evidence) *verdict {
		if mfu := usable(e.use.mfu); mfu != nil && *mfu >= computeShare {
			return &verdict{bound: ComputeBound, why: fmt.Sprintf("%s and computes at %s of its dense %s peak (MFU)", e.works(), percentText(*mfu), e.use.precision)}
		}
		return nil
	}},
	{"profiled kernels", func(e evidence) *verdict {
		if e.class.covered < coveredShare || e.class.bound == "" {
			return nil
		}
		bound := map[string]Bound{"memory": MemoryBound, "compute": ComputeBound, "latency": KernelBound}[e.class.bound]
		return &verdict{bound: bound, why: fmt.Sprintf("%s; Nsight Compute profiled kernels that take %s of its kernel time, and %s of that is in those that are %s", e.works(), percentText(e.class.covered), percentText(e.class.share), kernelBoundText(e.class.bound))}
	}},
	{"kernels", kernelVerdict},
}

// idleVerdict names the greatest idle time of a GPU that works little, and the next.
func idleVerdict(e evidence) *verdict {
	if e.gpu.of("busy")+e.gpu.of("other") >= busyShare*e.gpu.span {
		return nil
	}
	idle := e.idle()
	first, next := idle[0], idle[1]
	v := &verdict{bound: first.bound, but: e.but(e.once(e.gpu.in(first)...)), why: fmt.Sprintf("%s; it %s %s", e.works(), first.words, e.share(e.gpu.of(first.kinds...)))}
	if ns := e.gpu.of(next.kinds...); ns >= 0.05*e.gpu.span { // less is not worth a word
		v.next = next.bound
		v.why += fmt.Sprintf("; next, it %s %s", next.words, e.share(ns))
		if most := e.once(e.gpu.in(next)...); most > 0 {
			v.why += fmt.Sprintf(", %s of that in one of %d passes", durationText(most), e.gpu.passes)
		}
	}
	return v
}

// oncePart is the share of a time from which on it is of one pass, not of all.
const oncePart = 0.8

// once gives how much of the time of some parts is in one pass where that is nearly all of it, so that the pass is likely to be warm-up;
// else 0.
func (e evidence) once(parts ...part) float64 {
	total, most := 0.0, 0.0
	for _, p := range parts {
		total, most = total+p.total, max(most, p.most)
	}
	if e.gpu.passes < 2 || most < oncePart*total {
		return 0
	}
	return most
}

// but words what once gives.
func (e evidence) but(most float64) string {
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("nearly all of that time (%s) is in one of %d passes, which may be warm-up", durationText(most), e.gpu.passes)
}

func kernelVerdict(e evidence) *verdict {
	why := fmt.Sprintf("%s; %s, %s", e.works(), e.mfuText(), e.mbuText())
	switch {
	case usable(e.use.mfu) == nil && usable(e.use.mbu) == nil:
		why = e.works() + "; how far from the limits of the hardware is not known"
	case usable(e.use.mfu) != nil && usable(e.use.mbu) != nil:
		why = fmt.Sprintf("%s, near no limit of the hardware: %s, %s", e.works(), e.mfuText(), e.mbuText())
	}
	switch {
	case e.class.covered > 0:
		why += fmt.Sprintf("; Nsight Compute profiled kernels that take %s of its kernel time, too little to say what holds them back", percentText(e.class.covered))
	case e.isProbe:
		why += "; none of its larger kernels was profiled by Nsight Compute, which would tell what holds them back"
	default:
		why += "; no kernel was profiled: Nsight Compute would tell what holds them back"
	}
	return &verdict{bound: KernelBound, why: why}
}

// usable leaves out a utilisation over 1, which is an error in what was given.
func usable(ratio *float64) *float64 {
	if ratio == nil || *ratio > 1 {
		return nil
	}
	return ratio
}

func (e evidence) mfuText() string {
	if usable(e.use.mfu) == nil {
		return "MFU is not known"
	}
	return "MFU is " + percentText(*e.use.mfu)
}

func (e evidence) mbuText() string {
	if usable(e.use.mbu) == nil {
		return "MBU is not known"
	}
	return "MBU is " + percentText(*e.use.mbu)
}
