package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/schema/say"
)

// stageClass is what the profiled kernels of a stage are bound by.
type stageClass struct {
	bound     string  // memory, compute or latency: that of most time; "" when nothing is profiled
	share     float64 // of the covered time that has this bound
	limiter   string  // what sets the bound of most of that time; "" where no one thing does, or it is not said
	next      string  // the bound of most of the other time; "" for none
	nextShare float64 // of the covered time that has that one
	covered   float64 // share of the stage's kernel time that ran in profiled grids for certain
}

// kernelBound is what bottlenecks says of a kernel.
type kernelBound struct{ bound, limiter string }

// readProfiled reads bottlenecks. Of a run without a timeline it says what the profiled kernels are bound by.
func (s *summariser) readProfiled() error {
	s.bounds = map[string]map[kernelBound]float64{}
	all, err := read(s, BoundRows)
	var list, wholes []BoundRow
	for _, r := range all {
		if slices.ContainsFunc(Wholes, func(w Whole) bool { return w.Kind == r.Kind }) {
			wholes = append(wholes, r)
		} else {
			list = append(list, r)
		}
	}
	if len(list) == 0 && len(s.parts) == 0 {
		s.out.Profiled = wholesText(wholes)
	}
	time, sum, launches := map[kernelBound]float64{}, 0.0, int64(0)
	known, unknown := map[kernelBound]float64{}, 0 // times that sums reported of the profiled grids
	peaks := map[kernelBound][]float64{}
	for _, r := range list {
		kernel, bound := r.Kernel, r.Bound
		if s.bounds[kernel] == nil {
			s.bounds[kernel] = map[kernelBound]float64{}
		}
		s.bounds[kernel][kernelBound{bound, r.Limiter}] += frame.Or(r.TimelineTotalNs, 0)
		ns := frame.Or(r.ReplayedMeanNs, 0) * float64(r.Launches)
		of := r.saturates()
		time[of], sum, launches = time[of]+ns, sum+ns, launches+r.Launches
		if peak := r.peakRatio(); peak != nil {
			peaks[of] = append(peaks[of], *peak)
		}
		if r.TimelineTotalNs == nil {
			unknown++
		}
		known[of] += frame.Or(r.TimelineTotalNs, 0)
	}
	if len(s.parts) > 0 || len(list) == 0 || sum == 0 {
		return err
	}
	kernels, err := read(s, KernelRows)
	if err != nil {
		return err
	}
	where := "without a timeline, whether there were more is unknown"
	switch {
	case len(kernels) > 0 && unknown < len(list):
		time, sum, where = known, 0, ""
		for _, ns := range known {
			sum += ns
		}
		share := 0.0
		if first := kernels[0]; float64(first.TotalNs) > 0 {
			share = sum * first.ShareRatio / float64(first.TotalNs)
		}
		where = fmt.Sprintf("by the reported sums they take %s of the kernel time", percentText(share))
		if unknown > 0 {
			where = fmt.Sprintf("the reported sums have %d of them, with %s of the kernel time; how often the others run is unknown", len(list)-unknown, percentText(share))
		}
	case len(kernels) > 0:
		where = "the reported sums are not by grid, so how often each grid runs is unknown"
	}
	order := slices.SortedFunc(maps.Keys(time), func(x, y kernelBound) int { return cmp.Or(cmp.Compare(time[y], time[x]), compareBounds(x, y)) })
	s.out.Profiled = fmt.Sprintf("Nsight Compute profiled %s of %s in isolation; %s; %s of their time is in kernels that are %s", say.Count(launches, "launch", "launches"), say.Count(int64(len(list)), "kernel", "kernels"), where, percentText(time[order[0]]/sum), order[0].text(peaks[order[0]]...))
	if len(order) > 1 && time[order[1]] >= nextProfiled*sum {
		s.out.Profiled += fmt.Sprintf(", %s in kernels that are %s", percentText(time[order[1]]/sum), order[1].text(peaks[order[1]]...))
	}
	return s.addReplayed(list)
}

// nextProfiled is the share of the time from which on what bounds that much of it is worth naming beside what bounds most.
const nextProfiled = 0.2

// mostReplayed is how many kernels of a run without a timeline are named.
const mostReplayed = 10

// addReplayed says of the kernels that Nsight Compute profiled, those with the most time first, what bounds them and what its rules promise.
func (s *summariser) addReplayed(list []BoundRow) error {
	rules, err := read(s, ncuRuleRows)
	if err != nil {
		return err
	}
	sum := 0.0
	for _, r := range list {
		sum += r.replayedNs()
	}
	for _, r := range list[:min(mostReplayed, len(list))] {
		if sum == 0 || r.ReplayedMeanNs == nil {
			continue
		}
		k := ReplayedKernel{Name: r.Kernel, Why: r.boundText(), Command: s.command("bottlenecks", "kernel", r.Kernel),
			Takes: fmt.Sprintf("%s of the profiled time: %s in %s when replayed", percentText(r.replayedNs()/sum), DurationText(*r.ReplayedMeanNs), say.Count(r.Launches, "launch", "launches"))}
		if r.Launches > 1 {
			k.Takes = fmt.Sprintf("%s of the profiled time: %s in each of %d launches when replayed", percentText(r.replayedNs()/sum), DurationText(*r.ReplayedMeanNs), r.Launches)
		}
		if at := slices.IndexFunc(rules, func(x ncuRuleRow) bool { // the largest estimate first, those of the whole kernel before those of a unit
			return x.Kernel == r.Kernel && x.Grid == r.Grid && x.Block == r.Block && x.SpeedupRatio != nil && slices.Contains(r.rules(), x.Rule)
		}); at >= 0 {
			k.Rule, k.Command = rules[at].text(), s.command("ncu-rules", "kernel", r.Kernel)
		}
		s.out.Replayed = append(s.out.Replayed, k)
	}
	return nil
}

// ReplayedKernel is a kernel that Nsight Compute profiled in a run without a timeline.
type ReplayedKernel struct {
	Name    string
	Takes   string // in words
	Why     string // what bounds it, in words
	Rule    string // what a rule of Nsight Compute's estimates, in words; "" for none
	Command string // shows more
}

// text words what the rule estimates: of the kernel's time, or of a unit of the GPU.
func (r ncuRuleRow) text() string {
	if r.Scope == "global" {
		return fmt.Sprintf("%s: Nsight Compute estimates up to %s less time without it", r.Finding, percentText(*r.SpeedupRatio))
	}
	return fmt.Sprintf("%s: Nsight Compute estimates that a unit of the GPU could do %s better", r.Finding, percentText(*r.SpeedupRatio))
}

// rules are those of Nsight Compute's rules that are about what bounds the kernel: an estimate of another stands beside it as if it were the way out.
func (r BoundRow) rules() []string {
	switch {
	case r.Bound == "memory" && r.Limiter == "dram":
		return append([]string{"MemoryL2Compression"}, memoryRules...)
	case r.Bound == "memory":
		return memoryRules
	case r.Bound == "compute":
		return []string{"HighPipeUtilization", "SlowPipeLimiter", "FPInstructions", "ThreadDivergence"}
	case r.Bound != "latency":
		return nil
	case r.Limiter == "grid":
		return []string{"LaunchConfiguration", "AchievedOccupancy", "WorkloadImbalance"}
	case r.Limiter == "occupancy":
		return []string{"LaunchConfiguration", "AchievedOccupancy", "TheoreticalOccupancy"}
	}
	return []string{"CPIStall", "IssueSlotUtilization"}
}

// memoryRules are about how a kernel reads and writes memory and its caches.
var memoryRules = []string{"MemoryCacheAccessPattern", "UncoalescedGlobalAccess", "UncoalescedSharedAccess", "SharedMemoryConflicts"}

func (r BoundRow) replayedNs() float64 { return frame.Or(r.ReplayedMeanNs, 0) * float64(r.Launches) }

// saturates is what bounds the kernel, with the unit that does; without one where no unit is near its peak.
func (r BoundRow) saturates() kernelBound {
	if r.Bound != "memory" && r.Bound != "compute" {
		return kernelBound{bound: r.Bound}
	}
	return kernelBound{r.Bound, r.Limiter}
}

// peakRatio is how near its peak the kernel brings what bounds it; nil where nothing is near, or it was not measured.
func (r BoundRow) peakRatio() *float64 {
	switch r.Bound {
	case "memory":
		return r.MemoryRatio
	case "compute":
		return r.SMRatio
	}
	return nil
}

// boundText words what bounds the kernel: a unit that is near its peak, or what keeps it from any.
func (r BoundRow) boundText() string {
	var peaks []float64
	if peak := r.peakRatio(); peak != nil {
		peaks = append(peaks, *peak)
	}
	text := r.saturates().text(peaks...)
	if r.Bound == "memory" && (r.Limiter == "l1" || r.Limiter == "l2") && r.DRAMRatio != nil {
		text = fmt.Sprintf("%s, not by DRAM (%s), which the roofline is about", text, percentText(*r.DRAMRatio))
	}
	if r.Bound == "latency" && r.Limiter != "" {
		text = "latency-bound: " + cmp.Or(map[string]string{"grid": "the grid is too small to fill the GPU", "occupancy": "too few warps run at once"}[r.Limiter], "warps stall for "+r.Limiter)
	}
	return text
}

// Whole is a kind of what Nsight Compute profiles as a whole, in words.
type Whole struct{ Kind, One, Some, Many string }

// Wholes are these kinds.
var Wholes = []Whole{
	{"graph", "launch of a graph", "launches of graphs", "graphs"},
	{"range", "range", "ranges", "ranges"},
	{"cmdlist", "command list", "command lists", "command lists"},
}

// wholesText returns what graphs, ranges and command lists that were profiled as wholes are bound by, where no kernel was by itself; "" without them.
func wholesText(rows []BoundRow) string {
	var out []string
	for _, w := range Wholes {
		time, sum, launches := map[string]float64{}, 0.0, int64(0)
		for _, r := range rows {
			if r.Kind == w.Kind {
				ns := frame.Or(r.ReplayedMeanNs, 0) * float64(r.Launches)
				time[r.Bound], sum, launches = time[r.Bound]+ns, sum+ns, launches+r.Launches
			}
		}
		if launches == 0 {
			continue
		}
		as := "as wholes, gaps between their kernels included"
		if launches == 1 {
			as = "as a whole, gaps between its kernels included"
		}
		text := fmt.Sprintf("Nsight Compute profiled %s %s", say.Count(launches, w.One, w.Some), as)
		if sum > 0 {
			most := slices.MaxFunc(slices.Sorted(maps.Keys(time)), func(x, y string) int { return cmp.Compare(time[x], time[y]) })
			of := fmt.Sprintf("%s of their time is in %s that are", percentText(time[most]/sum), w.Many)
			if launches == 1 {
				of = "it is"
			}
			text += "; " + of + " " + kernelBound{bound: most}.text()
		}
		out = append(out, text)
	}
	return strings.Join(out, ". ")
}

// unitNames word what limits kernels, where its name in bottlenecks does not say it.
var unitNames = map[string]string{"dram": "DRAM throughput", "l2": "L2 throughput", "l1": "L1 throughput", "tensor": "tensor cores", "issue": "instruction issue", "fp16": "FP16", "fp32": "FP32", "fp64": "FP64"}

// text words a bound of bottlenecks, with what limits it and the shares of its peak that kernels reach: memory-bound by L1 throughput (89.1 % of peak).
func (k kernelBound) text(peaks ...float64) string {
	switch k.bound {
	case "memory", "compute":
		text := k.bound + "-bound"
		if k.limiter != "" {
			text += " by " + cmp.Or(unitNames[k.limiter], k.limiter)
		}
		if len(peaks) == 0 {
			return text
		}
		least, most := percentText(slices.Min(peaks)), percentText(slices.Max(peaks))
		if least != most {
			most = strings.TrimSuffix(least, " %") + " to " + most
		}
		return text + " (" + most + " of peak)"
	case "latency":
		return "latency-bound (near neither peak: too little parallel work, or stalls)"
	}
	return "not classified by the measured metrics"
}

// classOf weighs the bounds of profiled kernels by their time in a stage. The time of a kernel in profiled grids may belong to another
// stage; what counts is the part that cannot: of a kernel that took a in all, t of it in the stage and p in
// profiled grids, that is p - (a - t).
func (s *summariser) classOf(stage string) (stageClass, error) {
	kernels, err := read(s, stageKernelRows)
	if err != nil {
		return stageClass{}, err
	}
	totals, err := read(s, KernelRows)
	if err != nil {
		return stageClass{}, err
	}
	all := map[string]float64{}
	for _, r := range totals {
		all[r.Kernel] = float64(r.TotalNs)
	}
	weight, limiters := map[string]float64{}, map[kernelBound]float64{}
	out := stageClass{}
	for _, r := range kernels {
		kernel, ns := r.Kernel, float64(r.TotalNs)
		known, sum := s.bounds[kernel], 0.0
		for _, of := range slices.SortedFunc(maps.Keys(known), compareBounds) {
			sum += known[of]
		}
		if r.Stage != stage || all[kernel] == 0 || ns == 0 || sum == 0 {
			continue
		}
		covered := min(1, max(0, sum-(all[kernel]-ns))/ns) * r.ShareRatio
		for _, of := range slices.SortedFunc(maps.Keys(known), compareBounds) { // so that sums are the same each time
			if of.bound != "unknown" {
				weight[of.bound] += covered * known[of] / sum
				limiters[of] += covered * known[of] / sum
			}
		}
		out.covered += covered
	}
	if len(weight) == 0 || out.covered <= 0 {
		return out, nil
	}
	order := slices.SortedFunc(maps.Keys(weight), func(x, y string) int { return cmp.Or(cmp.Compare(weight[y], weight[x]), cmp.Compare(x, y)) })
	if out.bound, out.share = order[0], weight[order[0]]/out.covered; len(order) > 1 {
		out.next, out.nextShare = order[1], weight[order[1]]/out.covered
	}
	for of, ns := range limiters {
		if of.bound == out.bound && ns >= clearShare*weight[out.bound] { // no more than one can
			out.limiter = of.limiter
		}
	}
	return out, nil
}

func compareBounds(x, y kernelBound) int {
	return cmp.Or(cmp.Compare(x.bound, y.bound), cmp.Compare(x.limiter, y.limiter))
}
