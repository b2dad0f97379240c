// Package testdata holds the small real captures that `prof demo` ships; see README.md here for where they come from.
package testdata

import "embed"

// Captures are Nsight Systems exports.
//
//go:embed nsys/kernels/kernels.sqlite.gz nsys/nccl2/nccl2.sqlite.gz nsys/llama-graph-node/llama-graph-node.sqlite.gz
var Captures embed.FS
