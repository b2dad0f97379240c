package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

const kernelTitle = "Kernel Summary (Top-K)"

// writeKernels writes kernels.md: the kernels that took most time, in the columns kernel_name, total_ms, calls, mean_ms and device, with
// role, share and what Nsight Compute measured of them after them. Without kernels it says why there are none.
func writeKernels(out *bytes.Buffer, r *reader) {
	needed := []string{"kernel", "calls", "total_ns", "mean_ns", "median_ns", "share_ratio", "role", "family"}
	answer := r.Frame("top-kernels")
	profiled := hasColumn(answer, "bound")
	if profiled {
		needed = append(needed, "bound", "limiter", "roof_ratio", "occupancy_ratio", "profiled_ratio")
	}
	rows := r.rows("top-kernels", needed...)
	if len(rows) == 0 {
		writeNone(out, kernelTitle, r.noKernels(), answer)
		return
	}
	on := r.kernelDevices()
	columns := []column{
		{"kernel_name", code, textOf("kernel")},
		{"total_ms", number, fixedOf("total_ns", nsPerMs, 3)},
		{"calls", number, wordOf("calls")},
		{"mean_ms", number, fixedOf("mean_ns", nsPerMs, 6)},
		{"device", plain, func(r answered) string { return deviceList(on[r.Text("kernel")]) }},
		{"share", number, percentOf("share_ratio")},
		{"median_ms", number, fixedOf("median_ns", nsPerMs, 6)},
		{"role", plain, wordOf("role")},
		{"family", plain, wordOf("family")},
	}
	below := []string{
		"Sorted by total_ms, the sum of the kernel's execution times on all GPUs; share is its share of the time of all kernels, including those not listed.",
		"device is the GPU's number in the machine; with several GPUs, each one's share of the kernel's time follows in parentheses.",
	}
	if profiled {
		columns = append(columns, column{"class", plain, wordOf("bound")}, column{"limiter", plain, wordOf("limiter")},
			column{"of_roof", number, percentOf("roof_ratio")}, column{"occupancy", number, percentOf("occupancy_ratio")}, column{"profiled", number, percentOf("profiled_ratio")})
		below = append(below, "class is what bounds the kernel (latency, memory or compute), limiter the resource that does, of_roof the higher of compute and memory throughput as a share of peak, "+
			"occupancy the achieved one: means over the grids that Nsight Compute profiled, which account for the share profiled of the kernel's time. - means not profiled.")
	} else {
		below = append(below, "Class and occupancy are not known: the run has no Nsight Compute report (prof capture --tools ncu).")
	}
	writeRanked(out, kernelTitle, answer, tableOf(rows, columns), below)
}

// noKernels says why a run has none.
func (r *reader) noKernels() string {
	switch kinds := r.sourceKinds(); {
	case r.Lacking() != "":
		return "No kernels: " + r.Lacking() + "."
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
	for _, row := range r.rows("kernel-devices", "kernel", "device", "share_ratio") {
		out[row.Text("kernel")] = append(out[row.Text("kernel")], kernelShare{row.Count("device"), row.percent("share_ratio")})
	}
	return out
}

// hasColumn reports whether an answer has a column, of those that a query shows on demand.
func hasColumn(f *frame.Frame, column string) bool { return f != nil && f.Index(column) >= 0 }

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
