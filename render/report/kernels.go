package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

const kernelTitle = "Kernel Summary (Top-K)"

// ReportKernels writes kernels.md: the kernels that took most time, in the columns kernel_name, total_ms, calls, mean_ms and device, with
// role, share and what Nsight Compute tells of them after them. Without kernels it says why there are none.
func ReportKernels(w io.Writer, r *judge.Report) error {
	columns := []string{"kernel", "calls", "total_ns", "mean_ns", "median_ns", "share_ratio", "role", "family"}
	f := r.Frame("top-kernels")
	profiled := hasColumn(f, "bound")
	if profiled {
		columns = append(columns, "bound", "limiter", "roof_ratio", "occupancy_ratio", "profiled_ratio")
	}
	rows, err := answers(r, "top-kernels", columns...)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if len(rows) == 0 {
		writeNone(&out, kernelTitle, noKernels(r), f)
	} else {
		on, err := kernelDevices(r)
		if err != nil {
			return err
		}
		kernelTable(f, rows, on, profiled).write(&out)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// noKernels says why a run has none.
func noKernels(r *judge.Report) string {
	switch kinds := sourceKinds(r); {
	case !kinds["nsys"] && !kinds["torch"]:
		return "No kernels: no timeline of the run holds any (prof capture --tools nsys)."
	case hasPart(r.Frame("accounting"), "graph"):
		return "No kernels: the capture shows CUDA graphs as a whole only."
	}
	return "No kernels: " + noneOnGPU + "."
}

// hasPart says whether accounting has time of a part.
func hasPart(f *frame.Frame, part string) bool {
	return hasColumn(f, "part") && slices.ContainsFunc(f.Rows, func(row []any) bool { return row[f.Index("part")] == part })
}

// kernelShare is the part of a kernel's time that one GPU ran, in words.
type kernelShare struct {
	device int64
	share  string
}

// kernelDevices gives the GPUs that ran each kernel.
func kernelDevices(r *judge.Report) (map[string][]kernelShare, error) {
	rows, err := answers(r, "kernel-devices", "kernel", "device", "share_ratio")
	out := map[string][]kernelShare{}
	for _, row := range rows {
		out[row.Text("kernel")] = append(out[row.Text("kernel")], kernelShare{row.Count("device"), row.percent("share_ratio")})
	}
	return out, err
}

func kernelTable(f *frame.Frame, rows []answered, on map[string][]kernelShare, profiled bool) ranked {
	percent := func(column string) func(answered) string { return func(r answered) string { return r.percent(column) } }
	word := func(column string) func(answered) string { return func(r answered) string { return r.word(column) } }
	t := ranked{title: kernelTitle, answer: f, rows: rows, columns: []rankedColumn{
		{name: "kernel_name", code: true, cell: func(r answered) string { return r.Text("kernel") }},
		{name: "total_ms", cell: func(r answered) string { return r.fixed("total_ns", nsPerMs, 3) }},
		{name: "calls", cell: word("calls")},
		{name: "mean_ms", cell: func(r answered) string { return r.fixed("mean_ns", nsPerMs, 6) }},
		{name: "device", text: true, cell: func(r answered) string { return deviceList(on[r.Text("kernel")]) }},
		{name: "share", cell: percent("share_ratio")},
		{name: "median_ms", cell: func(r answered) string { return r.fixed("median_ns", nsPerMs, 6) }},
		{name: "role", text: true, cell: word("role")},
		{name: "family", text: true, cell: word("family")},
	}}
	t.below = []string{
		"Sorted by total_ms, the sum of the kernel's execution times on all GPUs; share is that of the time of all kernels, those not shown included.",
		"device is the machine's number of the GPU; of several GPUs each has its share of the kernel's time beside it.",
	}
	if !profiled {
		t.below = append(t.below, "Class and occupancy are not known: the run has no report of Nsight Compute (prof capture --tools ncu).")
		return t
	}
	t.columns = append(t.columns, rankedColumn{name: "class", text: true, cell: word("bound")}, rankedColumn{name: "limiter", text: true, cell: word("limiter")},
		rankedColumn{name: "of_roof", cell: percent("roof_ratio")}, rankedColumn{name: "occupancy", cell: percent("occupancy_ratio")}, rankedColumn{name: "profiled", cell: percent("profiled_ratio")})
	t.below = append(t.below, "class is what bounds the kernel by Nsight Compute (latency, memory or compute), limiter what it leans on, of_roof the higher of its compute and memory throughput of "+
		"their peaks, occupancy the achieved one: means over the grids that were profiled, which ran for profiled of the kernel's time. - was not profiled.")
	return t
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
