package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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
	var list, graphs []BoundRow
	for _, r := range all {
		if r.Kind == "graph" {
			graphs = append(graphs, r)
		} else {
			list = append(list, r)
		}
	}
	if len(list) == 0 && len(s.parts) == 0 {
		s.out.Profiled = graphsText(graphs)
	}
	time, sum := map[string]float64{}, 0.0
	known, unknown := map[string]float64{}, 0 // times that sums reported of the profiled grids
	for _, r := range list {
		kernel, bound := r.Kernel, r.Bound
		if s.bounds[kernel] == nil {
			s.bounds[kernel] = map[kernelBound]float64{}
		}
		s.bounds[kernel][kernelBound{bound, r.Limiter}] += frame.Or(r.TimelineTotalNs, 0)
		ns := frame.Or(r.ReplayedMeanNs, 0) * float64(r.Launches)
		time[bound], sum = time[bound]+ns, sum+ns
		if r.TimelineTotalNs == nil {
			unknown++
		}
		known[bound] += frame.Or(r.TimelineTotalNs, 0)
	}
	if len(s.parts) > 0 || len(list) == 0 || sum == 0 {
		return err
	}
	kernels, err := read(s, KernelRows)
	if err != nil {
		return err
	}
	where := "without a timeline, how often each runs is unknown"
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
	most := slices.MaxFunc(slices.Sorted(maps.Keys(time)), func(x, y string) int { return cmp.Compare(time[x], time[y]) })
	s.out.Profiled = fmt.Sprintf("Nsight Compute profiled %s in isolation; %s; %s of their time is in kernels that are %s", say.Count(int64(len(list)), "kernel", "kernels"), where, percentText(time[most]/sum), kernelBoundText(most))
	return nil
}

// graphsText returns what graphs that were profiled as wholes are bound by, where no kernel was by itself; "" without them.
func graphsText(graphs []BoundRow) string {
	time, sum, launches := map[string]float64{}, 0.0, int64(0)
	for _, r := range graphs {
		ns := frame.Or(r.ReplayedMeanNs, 0) * float64(r.Launches)
		time[r.Bound], sum, launches = time[r.Bound]+ns, sum+ns, launches+r.Launches
	}
	if sum == 0 {
		return ""
	}
	most := slices.MaxFunc(slices.Sorted(maps.Keys(time)), func(x, y string) int { return cmp.Compare(time[x], time[y]) })
	return fmt.Sprintf("Nsight Compute profiled %s as wholes, gaps between their kernels included; %s of their time is in graphs that are %s",
		say.Count(launches, "launch of a graph", "launches of graphs"), percentText(time[most]/sum), kernelBoundText(most))
}

// kernelBoundText words a bound of bottlenecks.
func kernelBoundText(bound string) string {
	switch bound {
	case "memory":
		return "memory-bound (near peak memory throughput)"
	case "compute":
		return "compute-bound (near peak arithmetic throughput)"
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
