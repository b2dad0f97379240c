// Package collective knows the calls of communication libraries by the names that captures give them, and what their sizes mean.
package collective

import (
	"math"
	"strings"
)

// OfNCCL returns the operation that a function of NCCL's API does; ok is false for one that moves no data between ranks.
func OfNCCL(function string) (operation string, ok bool) {
	operation, ok = nccl[strings.ToLower(function)]
	return operation, ok
}

var nccl = map[string]string{"ncclallreduce": "all-reduce", "ncclallgather": "all-gather", "ncclreducescatter": "reduce-scatter", "ncclalltoall": "all-to-all",
	"ncclbroadcast": "broadcast", "ncclbcast": "broadcast", "ncclreduce": "reduce", "ncclgather": "gather", "ncclscatter": "scatter", "ncclsend": "send", "ncclrecv": "recv"}

// OfPyTorch returns the operation that PyTorch's name of a collective (RECORD_PARAM_COMMS in its ProcessGroupNCCL.cpp) stands for. A
// name that is not known is the operation itself.
func OfPyTorch(name string) string {
	if operation, ok := torch[strings.Trim(strings.ToLower(name), "_")]; ok {
		return operation
	}
	return name
}

var torch = map[string]string{"allreduce": "all-reduce", "all_reduce": "all-reduce", "allreduce_coalesced": "all-reduce", "allreduce_sparse": "all-reduce",
	"allgather": "all-gather", "all_gather": "all-gather", "allgather_base": "all-gather", "allgather_coalesced": "all-gather", "all_gather_into_tensor": "all-gather",
	"allgather_into_tensor_coalesced": "all-gather", "all_gather_into_tensor_coalesced": "all-gather", "reduce_scatter": "reduce-scatter", "reduce_scatter_base": "reduce-scatter",
	"reduce_scatter_tensor": "reduce-scatter", "reduce_scatter_tensor_coalesced": "reduce-scatter", "all_to_all": "all-to-all", "all_to_allv": "all-to-all", "alltoall": "all-to-all",
	"alltoall_base": "all-to-all", "broadcast": "broadcast", "broadcast_oop": "broadcast", "reduce": "reduce", "reduce_oop": "reduce", "gather": "gather", "scatter": "scatter",
	"send": "send", "recv": "recv"}

// Buffers returns the bytes of a rank's input and output buffers, each nil where it is not known, of the count that NCCL's function takes:
// bytes that each rank gives to an all-gather or gather, that it receives of a reduce-scatter or scatter, that each pair of ranks exchanges in
// an all-to-all; of others those of the buffer, which of a broadcast or reduce has the same size on every rank, though only the root reads the one
// or writes the other. ranks is 0 when it is not known. Which rank is the root is not said: what only it receives of a gather or gives to a
// scatter is not known.
func Buffers(operation string, bytes, ranks int64) (in, out any) {
	if bytes < 0 {
		return nil, nil
	}
	var all any
	if ranks > 0 && bytes <= math.MaxInt64/ranks {
		all = bytes * ranks
	}
	switch operation {
	case "all-gather":
		return bytes, all
	case "reduce-scatter":
		return all, bytes
	case "gather":
		return bytes, nil
	case "scatter":
		return nil, bytes
	case "all-to-all":
		return all, all
	case "send":
		return bytes, int64(0)
	case "recv":
		return int64(0), bytes
	}
	return bytes, bytes
}

// ElementBytes returns the size of an element by PyTorch's name of its type (c10/core/ScalarType.h); ok is false for a name that is not
// known.
func ElementBytes(dtype string) (bytes int64, ok bool) {
	if strings.HasPrefix(dtype, "Float8_") {
		return 1, true
	}
	bytes, ok = elements[dtype]
	return bytes, ok
}

var elements = map[string]int64{"Byte": 1, "Char": 1, "Bool": 1, "Short": 2, "UInt16": 2, "Half": 2, "BFloat16": 2, "Int": 4, "UInt32": 4, "Float": 4, "ComplexHalf": 4,
	"Long": 8, "UInt64": 8, "Double": 8, "ComplexFloat": 8, "ComplexDouble": 16}
