package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
	"prof/render/words"
)

const operatorTitle = "Operator Summary (Top-K)"

// ReportOperators writes operators.md: the operators of PyTorch that took most time, in the columns op_name, total_time_ms,
// cuda_time_ms, calls and mean_ms, with their own times and memory after them. Without operators it says why there are none.
func ReportOperators(w io.Writer, r *judge.Report) error {
	rows, err := answers(r, "top-operators", "operator", "calls", "self_device_ns", "total_device_ns", "self_cpu_ns", "total_cpu_ns", "share_ratio", "work_count",
		"flop_count", "device_alloc_bytes", "device_net_bytes")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if len(rows) == 0 {
		writeNone(&out, operatorTitle, noOperators(r), r.Frame("top-operators"))
	} else {
		t := operatorTable(r.Frame("top-operators"), rows)
		seen, err := operatorCapture(r)
		if err != nil {
			return err
		}
		if seen != "" {
			t.below = slices.Insert(t.below, 0, seen)
		}
		t.write(&out)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// operatorCapture says of a run with timelines of two tools that operators are of one of them, and how many kernels each holds: its
// executions are others, and may be more or fewer. "" for other runs.
func operatorCapture(r *judge.Report) (string, error) {
	if kinds := sourceKinds(r); !kinds["torch"] || !kinds["nsys"] {
		return "", nil
	}
	sources, err := answers(r, "sources", "source_id", "kind")
	if err != nil {
		return "", err
	}
	var traces []string
	for _, s := range sources {
		if s.Text("kind") == "torch" {
			traces = append(traces, s.word("source_id"))
		}
	}
	held, err := answers(r, "conservation", "capture", "kernel_count")
	if err != nil {
		return "", err
	}
	count := map[string]string{}
	for _, row := range held {
		count[row.Text("capture")] = " (" + typeset.Plural(row.Count("kernel_count"), "kernel", "kernels") + ")"
	}
	return fmt.Sprintf("Operators are of the trace of the PyTorch profiler%s, %s %s; kernels and stages in other files are of Nsight Systems%s. These are other executions, and the passes may be more or fewer: "+
		"calls and times of the two do not compare. prof query passes --source torch has the passes of the trace.", count["torch"], plural(len(traces), "source", "sources"), strings.Join(traces, ", "), count["nsys"]), nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// noOperators says why a run has none.
func noOperators(r *judge.Report) string {
	if sourceKinds(r)["torch"] {
		return "No operators: the trace of the PyTorch profiler holds none."
	}
	return "No operators: the run was not captured with the PyTorch profiler (prof capture --tools torch)."
}

func operatorTable(f *frame.Frame, rows []answered) ranked {
	ms := func(column string, decimals int) func(answered) string {
		return func(r answered) string { return r.fixed(column, nsPerMs, decimals) }
	}
	mib := func(column string) func(answered) string {
		return func(r answered) string { return r.fixed(column, bytesPerMiB, 3) }
	}
	t := ranked{title: operatorTitle, answer: f, rows: rows, columns: []rankedColumn{
		{name: "op_name", code: true, cell: func(r answered) string { return words.OperatorName(r.Text("operator")) }},
		{name: "total_time_ms", cell: ms("total_cpu_ns", 3)},
		{name: "cuda_time_ms", cell: ms("total_device_ns", 3)},
		{name: "calls", cell: func(r answered) string { return r.word("calls") }},
		{name: "mean_ms", cell: meanOfCalls("total_cpu_ns")},
		{name: "self_cuda_ms", cell: ms("self_device_ns", 3)},
		{name: "self_cuda_share", cell: func(r answered) string { return r.percent("share_ratio") }},
		{name: "self_cpu_ms", cell: ms("self_cpu_ns", 3)},
		{name: "kernels_and_copies", cell: func(r answered) string { return r.word("work_count") }},
		{name: "gflop", cell: func(r answered) string { return r.fixed("flop_count", 1e9, 3) }},
		{name: "cuda_alloc_mib", cell: mib("device_alloc_bytes")},
		{name: "cuda_net_mib", cell: mib("device_net_bytes")},
	}}
	t.below = []string{
		"Sorted by self_cuda_ms, the time of the device work that an operator launched itself: totals hold the operators inside and do not add up over rows.",
		"total_time_ms is the operator's whole time on the CPU, operators inside it included, each moment once (PyTorch's cpu_time_total); mean_ms is that of a call.",
		"cuda_time_ms is the time of the device work launched by it and by operators inside it (PyTorch's device_time_total), whoever made the device.",
		"self_cpu_ms is total_time_ms less operators and CUDA calls inside. self_cuda_share is self_cuda_ms as a share of all device work of the capture.",
		"Rows in parentheses are no operators but what ran outside them. Work of CUDA graph replays counts with the operators that were captured, where the capture says which.",
		"gflop counts a multiply-add as 2, by PyTorch's formulas for operators that have one. cuda_alloc_mib is what the operator allocated itself, cuda_net_mib that less what it freed. - is not known.",
	}
	return t
}

// meanOfCalls is a column's time of a call in ms, with the original's six decimals.
func meanOfCalls(column string) func(answered) string {
	return func(r answered) string { return r.fixed(column, nsPerMs*float64(max(r.Count("calls"), 1)), 6) }
}
