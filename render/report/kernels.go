package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
)

const kernelTitle = "Kernel Summary (Top-K)"

// kernelFile is kernels.md: the kernels that took most time, in the columns kernel_name, total_ms, calls, mean_ms and device, with
// role, share and what Nsight Compute measured of them after them. Without kernels it says why there are none.
func kernelFile(r *reader) doc.Document {
	answer, rows := r.Frame("top-kernels"), read(r, kernelRows)
	if len(rows) == 0 {
		return unranked(kernelTitle, r.noKernels(), answer)
	}
	on := r.kernelDevices()
	t := table.Table{Columns: []table.Column{code("kernel_name"), number("total_ms"), number("calls"), number("mean_ms"), plain("device"), number("share"), number("median_ms"), plain("role"), plain("family")}}
	profiled := r.sourceKinds()["ncu"]
	if profiled {
		t.Columns = append(t.Columns, plain("class"), plain("limiter"), number("of_roof"), number("occupancy"), number("profiled"))
	}
	for _, k := range rows {
		cells := []string{k.Kernel, fixed(k.TotalNs, nsPerMs, 3), fmt.Sprint(k.Calls), fixed(k.MeanNs, nsPerMs, 6), deviceList(on[k.Kernel]), percent(k.ShareRatio), fixed(k.MedianNs, nsPerMs, 6),
			cmp.Or(k.Role, typeset.Null), cmp.Or(k.Family, typeset.Null)}
		if profiled {
			cells = append(cells, cmp.Or(k.Bound, typeset.Null), cmp.Or(k.Limiter, typeset.Null), percent(k.RoofRatio), percent(k.OccupancyRatio), percent(k.ProfiledRatio))
		}
		t.AddRow(cells...)
	}
	below := []string{
		"Sorted by total_ms, the sum of the kernel's execution times on all GPUs; share is its share of the time of all kernels that count, listed or not.",
		"device is the GPU's number in the machine; with several GPUs, each one's share of the kernel's time follows in parentheses.",
	}
	if profiled {
		below = append(below, "class is what bounds the kernel (latency, memory or compute), limiter the resource that does, of_roof the higher of compute and memory throughput as a share of peak, "+
			"occupancy the achieved one: means over the grids that Nsight Compute profiled, which account for the share profiled of the kernel's time. - means not profiled.")
	} else if r.isForeign() {
		below = append(below, "Class and occupancy are not known: "+judge.NoTool+".")
	} else {
		below = append(below, "Class and occupancy are not known: the run has no Nsight Compute report (prof capture --tools ncu).")
	}
	return ranked(kernelTitle, answer, t, below)
}

// isForeign reports whether the run is of GPUs that tools of NVIDIA do not profile.
func (r *reader) isForeign() bool {
	return slices.ContainsFunc(read(r, deviceRows), func(d deviceRow) bool { return judge.IsForeign(d.Name) })
}

// noKernels says why a run has none.
func (r *reader) noKernels() string {
	switch kinds := r.sourceKinds(); {
	case r.Lacking() != "":
		return "No kernels: " + r.Lacking() + "."
	case !hasTimeline(kinds) && r.isForeign():
		return "No kernels: no timeline of the run has any."
	case !hasTimeline(kinds):
		return "No kernels: no timeline of the run has any (prof capture --tools nsys)."
	case r.hasGraphs():
		return "No kernels: the capture shows only whole CUDA graphs."
	}
	return "No kernels: " + noneOnGPU + "."
}

// kernelShare is the part of a kernel's time that one GPU ran, in words.
type kernelShare struct {
	device int64
	share  string
}

// kernelDevices returns the GPUs that ran each kernel.
func (r *reader) kernelDevices() map[string][]kernelShare {
	out := map[string][]kernelShare{}
	for _, row := range read(r, kernelShareRows) {
		out[row.Kernel] = append(out[row.Kernel], kernelShare{row.Device, percent(row.ShareRatio)})
	}
	return out
}

// deviceList names GPUs, with their shares where there are several.
func deviceList(on []kernelShare) string {
	switch len(on) {
	case 0:
		return typeset.Null
	case 1:
		return fmt.Sprint(on[0].device)
	}
	on = slices.SortedFunc(slices.Values(on), func(a, b kernelShare) int { return cmp.Compare(a.device, b.device) })
	parts := make([]string, len(on))
	for i, d := range on {
		parts[i] = fmt.Sprintf("%d (%s)", d.device, d.share)
	}
	return strings.Join(parts, ", ")
}
