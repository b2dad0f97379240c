package report

import (
	"fmt"
	"strings"

	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

const operatorTitle = "Operator Summary (Top-K)"

// operatorFile is operators.md: the operators of PyTorch that took most time, in the columns op_name, total_time_ms,
// cuda_time_ms, calls and mean_ms, with their own times and memory after them. Without operators it says why there are none.
func operatorFile(r *reader) doc.Document {
	answer, rows := r.Frame("top-operators"), read(r, operatorRows)
	if len(rows) == 0 {
		return unranked(operatorTitle, r.noOperators(), answer)
	}
	t := table.Table{Columns: []table.Column{code("op_name"), number("total_time_ms"), number("cuda_time_ms"), number("calls"), number("mean_ms"), number("self_cuda_ms"), number("self_cuda_share"),
		number("self_cpu_ms"), number("kernels_and_copies"), number("gflop"), number("cuda_alloc_mib"), number("cuda_net_mib")}}
	for _, o := range rows {
		t.AddRow(words.OperatorName(o.Operator), fixed(o.TotalCPUNs, nsPerMs, 3), fixed(o.TotalDeviceNs, nsPerMs, 3), integer(o.Calls), o.meanCPUMs(), fixed(o.SelfDeviceNs, nsPerMs, 3), percent(o.ShareRatio),
			fixed(o.SelfCPUNs, nsPerMs, 3), integer(o.WorkCount), fixed(o.FlopCount, 1e9, 3), fixed(o.DeviceAllocBytes, bytesPerMiB, 3), fixed(o.DeviceNetBytes, bytesPerMiB, 3))
	}
	var below []string
	if seen := r.operatorCapture(); seen != "" {
		below = append(below, seen)
	}
	return ranked(operatorTitle, answer, t, append(below,
		"Sorted by self_cuda_ms, the time of the GPU work that an operator launched itself. Totals include nested operators, so rows do not add up.",
		"total_time_ms is CPU time including nested operators, each moment counted once (PyTorch's cpu_time_total); mean_ms is per call.",
		"cuda_time_ms is the time of the GPU work that the operator and nested operators launched (PyTorch's device_time_total), on a GPU of any vendor.",
		"self_cpu_ms is total_time_ms without nested operators and CUDA calls. self_cuda_share is self_cuda_ms as a share of all GPU work in the capture.",
		"A row in parentheses is work outside any operator. CUDA graph replays count with the operators that were captured, where the capture says which.",
		"gflop uses PyTorch's formulas, where an operator has one; a multiply-add counts 2. cuda_alloc_mib is what the operator itself allocated, cuda_net_mib the same less what it freed. - means not known."))
}

// operatorCapture says of a run with timelines of two tools which of them operators come from, and how many kernels each has: they are
// different executions, with maybe more or fewer passes. "" for other runs.
func (r *reader) operatorCapture() string {
	first := counted(r.sourceKinds())
	if !r.sourceKinds()["torch"] || first == "torch" {
		return ""
	}
	var traces []string
	for _, s := range read(r, sourceRows) {
		if s.Kind == "torch" {
			traces = append(traces, fmt.Sprint(s.SourceID))
		}
	}
	kernels := map[string]string{}
	for _, row := range read(r, conservationRows) {
		kernels[row.Capture] = " (" + typeset.Plural(row.KernelCount, "kernel", "kernels") + ")"
	}
	return fmt.Sprintf("Operators come from the PyTorch profiler's trace%s, %s %s; kernels and stages in other files come from %s%s. These are different executions, maybe with a different "+
		"number of passes: do not compare calls or times between them. prof query passes --source torch lists the passes of the trace.",
		kernels["torch"], plural(len(traces), "source", "sources"), strings.Join(traces, ", "), map[string]string{"nsys": "Nsight Systems", "prof": "prof's tracer"}[first], kernels[first])
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// noOperators says why a run has none.
func (r *reader) noOperators() string {
	if r.Lacking() != "" {
		return "No operators: " + r.Lacking() + "."
	}
	if r.sourceKinds()["torch"] {
		return "No operators: the PyTorch profiler's trace has none."
	}
	return "No operators: the run was not captured with the PyTorch profiler (prof capture --tools torch)."
}
