package judge

import "fmt"

// waitPart is the share of a time from which on waiting is most of it.
const waitPart = 0.5

// isMost reports whether the ranks' time in collectives is mostly waiting, so that no faster collective saves it.
func (x SlowRank) isMost() bool { return x.Passes > 0 && x.WaitRatio >= waitPart }

// isLate reports whether that waiting is mostly for this rank, be it slow throughout or not.
func (x SlowRank) isLate() bool { return x.isMost() && x.ShareRatio > waitPart }

// lateGPU returns the parts of the GPU that the judged one waits for in collectives; nil where there is no such GPU.
func (e evidence) lateGPU() *deviceParts {
	if !e.wait.isLate() || e.wait.Device == e.gpu.device {
		return nil
	}
	for i, d := range e.all {
		if d.device == e.wait.Device {
			return &e.all[i]
		}
	}
	return nil
}

// idleNs is how long the GPU does no work of the stage, in ns.
func (d deviceParts) idleNs() float64 { return d.span - d.of("busy") }

// isExplained reports whether the idle time of the late GPU in its own passes is enough for the others to wait so long.
func (x SlowRank) isExplained(late deviceParts) bool {
	return late.idleNs() >= waitPart*float64(x.LateNs)
}

// lateVerdict says which GPU is waited for, and what that one does meanwhile.
func lateVerdict(e evidence, exposed part, late deviceParts) *verdict {
	v := &verdict{bound: LateBound, label: fmt.Sprintf("waits for GPU %d", late.device), but: e.once(exposed).text(), meaning: fmt.Sprintf("GPU %d arrives late at collectives, and GPU %d waits for it", late.device, e.gpu.device)}
	v.why = fmt.Sprintf("the GPU is in collectives and computes nothing %s; %s of the time that all GPUs spend in them (%s of %s) is waiting for a late GPU, %s of that for GPU %d",
		e.share(exposed.total), percentText(e.wait.WaitRatio), DurationText(float64(e.wait.WaitedNs)), DurationText(float64(e.wait.TotalNs)), percentText(e.wait.ShareRatio), late.device)
	if !e.wait.isExplained(late) {
		v.why += fmt.Sprintf("; that is more than GPU %d idles in its passes (%s): it begins them late", late.device, DurationText(late.idleNs()))
		return v
	}
	its := e
	its.gpu, its.passes = late, e.latePasses
	first := late.idle()[0]
	if ns := late.of(first.kinds...); ns >= wordShare*late.span {
		v.next = first.bound
		v.why += fmt.Sprintf("; GPU %d itself is busy %s of its time; it %s %s", late.device, percentText(late.of("busy")/late.span), first.words, its.share(ns))
		if once := its.once(late.in(first)...); once.ns > 0 {
			v.why += once.among()
		}
	}
	return v
}
