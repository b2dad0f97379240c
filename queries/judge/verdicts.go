package judge

import "fmt"

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
	v := &verdict{why: fmt.Sprintf("%s; Nsight Compute profiled kernels with %s of its kernel time, and %s of that is in kernels that are %s", e.works(), percentText(c.covered), percentText(c.share), kernelBoundText(c.bound))}
	switch {
	case c.share < clearShare:
		v.bound = MixedBound
		if c.next != "" {
			v.why += fmt.Sprintf(", %s in kernels that are %s", percentText(c.nextShare), kernelBoundText(c.next))
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
	mfu, mbu := usable(e.use.mfu), usable(e.use.mbu)
	why := fmt.Sprintf("%s; %s, %s%s", e.works(), e.mfuText(), e.mbuText(), e.uncountedText())
	switch {
	case e.use.mfu == nil && e.use.mbu == nil:
		why = e.works() + "; MFU and MBU are unknown"
	case mfu != nil && mbu != nil && len(e.use.uncounted) == 0:
		why = fmt.Sprintf("%s, near no hardware limit: %s, %s", e.works(), e.mfuText(), e.mbuText())
	}
	switch {
	case e.class.covered > 0:
		why += fmt.Sprintf("; Nsight Compute profiled kernels with %s of its kernel time, too little to say what limits it", percentText(e.class.covered))
	case e.isProbe:
		why += "; Nsight Compute would show what limits its larger kernels, but profiled none of them"
	default:
		why += "; no kernels were profiled: Nsight Compute would show what limits them"
	}
	return e.then(&verdict{bound: BusyBound, label: BusyBound.Label() + ", limit unknown", why: why})
}
