// Package testdata holds the small real captures that `prof demo` ships; see README.md here for where they come from.
package testdata

import "embed"

// Captures are exports of Nsight Systems, a report of Nsight Compute, a trace of the PyTorch profiler and what a workload says of its passes.
//
//go:embed nsys/kernels/kernels.sqlite.gz nsys/nccl2/nccl2.sqlite.gz nsys/llama-graph-node/llama-graph-node.sqlite.gz
//go:embed ncu/llama.sqlite.gz ncu/llama.ncu-rep.gz torch/llama-stack.trace.json.gz workload/llama-graph-node.workload.json
var Captures embed.FS
