package judge

import (
	"fmt"

	"prof/schema/say"
)

// verdict is what a rule says.
type verdict struct {
	bound, next Bound
	why, but    string
	label       string // of bound, in a cell; "" for the bound's own
	meaning     string // of bound, in plain words; "" for the bound's own
}

// boundRules say what bounds a stage: the first that applies.
var boundRules = []struct {
	name  string
	apply func(e evidence) *verdict
}{
	{"too little data", func(e evidence) *verdict {
		switch {
		case e.gpu.span == 0 && e.lost.count > 0:
			return &verdict{bound: UnknownBound, why: fmt.Sprintf("no GPU work can be attributed to its passes: the launches of %s were not captured", say.Count(e.lost.count, "kernel", "kernels"))}
		case e.gpu.span == 0:
			return &verdict{bound: UnknownBound, why: "its measured passes have no GPU work in the capture"}
		case e.gpu.sum < leastSpanNs:
			return &verdict{bound: UnknownBound, why: fmt.Sprintf("too little was captured: all its passes take %s in total, and idle gaps are classified only from %s up", DurationText(e.gpu.sum), DurationText(leastSpanNs))}
		}
		return nil
	}},
	{"work of others", func(e evidence) *verdict {
		if other := e.gpu.of("other"); other > (1-busyShare)*e.gpu.span {
			return &verdict{bound: UnknownBound, why: fmt.Sprintf("the GPU runs other work %s, so the stage's own time cannot be judged", e.share(other))}
		}
		return nil
	}},
	{"communication", communicationVerdict},
	{"copies", func(e evidence) *verdict {
		ns := e.gpu.named("copy").ns
		if ns < copyShare*e.gpu.span || ns <= e.gpu.computing() || ns <= e.losses(CopyBound)[0].ns {
			return nil
		}
		return e.then(&verdict{bound: CopyBound, meaning: e.copies.meaning(), why: fmt.Sprintf("the GPU %s and computes nothing %s", e.copies.verb(), e.share(ns)) + e.copies.text()})
	}},
	{"idle time", idleVerdict},
	{"memory", func(e evidence) *verdict {
		if mbu := usable(e.use.mbu); mbu != nil && *mbu >= memoryShare && (usable(e.use.mfu) == nil || *mbu >= *e.use.mfu) {
			return e.then(&verdict{bound: MemoryBound, why: fmt.Sprintf("%s and reads weights and KV cache at %s of its peak memory bandwidth (MBU); %s", e.works(), percentText(*mbu), e.mfuText())})
		}
		return nil
	}},
	{"compute", func(e evidence) *verdict {
		if mfu := usable(e.use.mfu); mfu != nil && *mfu >= computeShare {
			return e.then(&verdict{bound: ComputeBound, why: fmt.Sprintf("%s and computes at %s of its dense %s peak (MFU)", e.works(), percentText(*mfu), e.use.precision)})
		}
		return nil
	}},
	{"profiled kernels", profiledVerdict},
	{"kernels", kernelVerdict},
}

// isExposed reports whether collectives that run alone take more of the GPU's time than all else.
func (e evidence) isExposed() bool {
	alone := e.gpu.named("collective-exposed").ns
	return alone >= exposedShare*e.gpu.span && alone > e.gpu.computing() && alone > e.losses(CommBound)[0].ns
}

// communicationVerdict is about collectives that run alone, where they take more time than all else: they move data, or wait for a GPU that
// comes late.
func communicationVerdict(e evidence) *verdict {
	alone := e.gpu.named("collective-exposed")
	if !e.isExposed() {
		return nil
	}
	if late := e.lateGPU(); late != nil && !e.wait.isOutlier() {
		return lateVerdict(e, alone, *late)
	}
	v := &verdict{bound: CommBound, but: e.once(alone).text()}
	v.why = fmt.Sprintf("the GPU exchanges data with other GPUs and computes nothing %s; that includes waiting for slower GPUs", e.share(alone.ns))
	if e.wait.TotalNs > 0 {
		v.why += fmt.Sprintf(": %s of the time that all GPUs spend in collectives is waiting for a late GPU", percentText(e.wait.WaitRatio))
	}
	if e.wait.isMost() && !e.wait.isOutlier() {
		v.meaning = "GPUs wait for each other in collectives"
	}
	return e.then(v)
}

// idleVerdict names the greatest idle time of a GPU that works little, and what comes next.
func idleVerdict(e evidence) *verdict {
	if !e.gpu.isIdle() {
		return nil
	}
	first := e.gpu.idle()[0]
	v := &verdict{bound: first.bound, but: e.once(e.gpu.in(first)...).text(), why: fmt.Sprintf("%s; it %s %s", e.works(), first.words, e.share(e.gpu.of(first.kinds...)))}
	v.why += e.gaps.text()
	if e.gaps.count > 0 && first.bound == QueueBound {
		v.meaning = "the GPU pauses seldom but long while work waits in its queue"
	}
	if e.gaps.edge != "" {
		v.but = fmt.Sprintf("that gap %s: it may come from the profiler starting or stopping, not from the work", e.gaps.edge)
	}
	return e.then(v)
}
