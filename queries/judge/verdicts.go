package judge

import (
	"fmt"
)

// memoryWords say what moves where kernels are bound by memory, by what Nsight Compute says limits them.
var memoryWords = map[string]string{
	"dram": "time goes to traffic with the GPU's memory, not to arithmetic",
	"l2":   "time goes to traffic through the L2 cache, not to arithmetic",
	"l1":   "time goes to traffic through the L1 caches, not to arithmetic",
}

// profiledVerdict goes by kernels that Nsight Compute profiled, where these take enough of the time.
func profiledVerdict(e evidence) *verdict {
	c := e.class
	if c.covered < coveredShare || c.bound == "" {
		return nil
	}
	v := &verdict{why: fmt.Sprintf("%s; Nsight Compute profiled kernels with %s of its kernel time, and %s of that is in kernels that are %s", e.works(), percentText(c.covered), percentText(c.share), kernelBound{c.bound, c.limiter}.text())}
	switch {
	case c.share < clearShare:
		v.bound = MixedBound
		if c.next != "" {
			v.why += fmt.Sprintf(", %s in kernels that are %s", percentText(c.nextShare), kernelBound{bound: c.next}.text())
		}
	case c.bound == "memory":
		if v.bound, v.meaning = MemoryBound, memoryWords[c.limiter]; v.meaning == "" {
			v.meaning = "time goes to moving data within the GPU, not to arithmetic"
		}
	case c.bound == "compute":
		v.bound = ComputeBound
	default:
		v.bound, v.meaning = BusyBound, "kernels take the time but saturate neither memory nor arithmetic: too little parallel work, or stalls"
	}
	return e.then(v)
}

// kernelVerdict is said of a GPU that works, where nothing tells what holds its kernels back.
func kernelVerdict(e evidence) *verdict {
	why := fmt.Sprintf("%s; %s, %s%s", e.works(), e.mfuText(), e.mbuText(), e.uncountedText())
	if e.use.mfu == nil && e.use.mbu == nil {
		why = e.works() + "; MFU and MBU are unknown"
	}
	switch {
	case e.class.covered > 0:
		why += fmt.Sprintf("; Nsight Compute profiled kernels with %s of its kernel time, too little to say what limits it", percentText(e.class.covered))
	case e.isForeign:
		why += "; what limits its kernels is unknown: " + NoTool
	case e.isProbe:
		why += "; Nsight Compute would show what limits its larger kernels, but profiled none of them"
	default:
		why += "; no kernels were profiled: Nsight Compute would show what limits them"
	}
	return e.then(&verdict{bound: BusyBound, label: BusyBound.Label() + ", limit unknown", why: why})
}

// waitPart is the share of a time from which on waiting is most of it.
const waitPart = 0.5

// isMost reports whether the ranks' time in collectives is mostly waiting, so that no faster collective saves it.
func (x SlowRank) isMost() bool { return x.Passes > 0 && x.WaitRatio >= waitPart }

// isOutlier reports whether nearly all of that is in one pass of three or more, so that the median pass has none of it.
func (x SlowRank) isOutlier() bool { return x.Passes > 2 && x.ShareRatio > waitPart && x.isOnce() }

// isLate reports whether that waiting is mostly for this rank, be it slow throughout or not.
func (x SlowRank) isLate() bool { return x.isMost() && x.ShareRatio > waitPart }

// judged returns the GPU to judge a stage by: that with the most measured time. Which one that is may hang by a hair: where it is the one that the others wait
// for, the next one is judged, so that what is said does not hang by a hair too.
func (e evidence) judged() deviceParts {
	if len(e.all) == 0 {
		return deviceParts{}
	}
	if e.gpu = e.all[0]; len(e.all) > 1 && e.gpu.device == e.wait.Device && !e.wait.isOutlier() {
		if e.gpu = e.all[1]; e.lateGPU() != nil && e.isExposed() {
			return e.gpu
		}
	}
	return e.all[0]
}

// isShared reports whether several ranks run on one GPU.
func (e evidence) isShared() bool { return e.wait.Ranks > len(e.all) }

// lateName is who the others wait for: a GPU, or of ranks that share GPUs one of these.
func (e evidence) lateName() string {
	if e.isShared() {
		return e.wait.Rank
	}
	return fmt.Sprintf("GPU %d", e.wait.Device)
}

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

// idleNs is how long the GPU does no work of the stage over all passes, in ns.
func (d deviceParts) idleNs() float64 { return d.sum - d.inAll("busy") }

// isExplained reports whether the idle time of the late GPU in its own passes is enough for each of the others to wait so long.
func (x SlowRank) isExplained(late deviceParts) bool {
	return late.idleNs() >= waitPart*float64(x.LateNs)/float64(max(1, x.Ranks-1))
}

// lateVerdict returns which GPU is waited for, and what that one does meanwhile.
func lateVerdict(e evidence, exposed part, late deviceParts) *verdict {
	who := e.lateName()
	v := &verdict{bound: LateBound, label: "waits for " + who, but: e.once(exposed).text(), meaning: who + " arrives late at collectives, and the others wait for it"}
	if len(e.all) == 2 && !e.isShared() {
		v.meaning = fmt.Sprintf("%s arrives late at collectives, and GPU %d waits for it", who, e.gpu.device)
	}
	v.why = fmt.Sprintf("the GPU is in collectives and computes nothing %s; %s of the time that all GPUs spend in them (%s of %s) is waiting for a late GPU, %s of that for %s",
		e.share(exposed.ns), percentText(e.wait.WaitRatio), DurationText(float64(e.wait.WaitedNs)), DurationText(float64(e.wait.TotalNs)), percentText(e.wait.ShareRatio), who)
	if e.isShared() {
		return v // what the GPU does is not what the rank does
	}
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
