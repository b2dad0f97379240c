package attribute

// Pace is how long a thread takes from one launch to the next, outside calls. It takes the thread's calls in the order of time.
type Pace struct {
	counts   [paces + 1]int32 // of launches, by hundredths of HostStretch; those that took longer are in the last
	launches int32
	outside  int64 // since the last launch
	end      int64 // of the call before
	isLaunch bool  // nothing but a launch was handed over or waited for last
}

const (
	paces = 100
	// usualTimes is how many times as long as usual a launch takes before it is no longer taken for one. Of 47 threads of eager PyTorch the middle one kept
	// to 4.8 times its median in 95 of 100 launches; docs/definitions.md has the figures.
	usualTimes = 5
	// leastLaunches is how many launches tell what is usual.
	leastLaunches = 50
)

// Add takes the next call.
func (p *Pace) Add(start, end int64, kind CallKind) {
	p.outside += max(start-p.end, 0)
	p.end = end
	if kind == OtherCall {
		return
	}
	if kind == LaunchCall && p.isLaunch {
		p.counts[min(p.outside/(HostStretch/paces), paces)]++
		p.launches++
	}
	p.isLaunch, p.outside = kind == LaunchCall, 0
}

// Stretch is the time between two calls from which on the thread is not on the way from one launch to the next, but at something else: least, or
// usualTimes the median if that is longer, at most usualTimes HostStretch.
func (p *Pace) Stretch(least int64) int64 {
	if p.launches < leastLaunches {
		return least
	}
	usual, count := 0, p.counts[0]
	for ; 2*count < p.launches; count += p.counts[usual] {
		usual++
	}
	return max(least, usualTimes*int64(usual)*(HostStretch/paces))
}
