package judge

import "fmt"

// memoryWords say what moves where kernels are bound by memory, by what Nsight Compute says limits them.
var memoryWords = map[string]string{
	"dram": "moving data to and from the GPU's memory takes the time, not computing",
	"l2":   "moving data through the GPU's large cache (L2) takes the time, not computing",
	"l1":   "moving data through the caches beside its arithmetic units (L1) takes the time, not computing",
}

// profiledVerdict goes by kernels that Nsight Compute profiled, where these take enough of the time.
func profiledVerdict(e evidence) *verdict {
	c := e.class
	if c.covered < coveredShare || c.bound == "" {
		return nil
	}
	v := &verdict{why: fmt.Sprintf("%s; Nsight Compute profiled kernels that take %s of its kernel time, and %s of that is in those that are %s", e.works(), percentText(c.covered), percentText(c.share), kernelBoundText(c.bound))}
	switch {
	case c.share < clearShare:
		v.bound = MixedBound
		if c.next != "" {
			v.why += fmt.Sprintf(", %s in those that are %s", percentText(c.nextShare), kernelBoundText(c.next))
		}
	case c.bound == "memory":
		if v.bound, v.meaning = MemoryBound, memoryWords[c.limiter]; v.meaning == "" {
			v.meaning = "moving data within the GPU takes the time, not computing"
		}
	case c.bound == "compute":
		v.bound = ComputeBound
	default:
		v.bound, v.meaning = KernelBound, "its kernels take the time, and keep neither memory nor arithmetic busy: too little work at once, or waiting for it"
	}
	return e.then(v)
}

// kernelVerdict is said of a GPU that works, where nothing tells what holds its kernels back.
func kernelVerdict(e evidence) *verdict {
	mfu, mbu := usable(e.use.mfu), usable(e.use.mbu)
	why := fmt.Sprintf("%s; %s, %s%s", e.works(), e.mfuText(), e.mbuText(), e.uncountedText())
	switch {
	case e.use.mfu == nil && e.use.mbu == nil:
		why = e.works() + "; how far from the limits of the hardware is not known"
	case mfu != nil && mbu != nil && len(e.use.uncounted) == 0:
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
	return e.then(&verdict{bound: KernelBound, why: why})
}
