package collective_test

import (
	"math"
	"testing"

	"prof/ingest/collective"
)

// TestBuffers holds what the count of a function of NCCL means: see its API's documentation of each.
func TestBuffers(t *testing.T) {
	for _, c := range []struct {
		operation    string
		bytes, ranks int64
		in, out      any
	}{
		{"all-reduce", 12, 4, int64(12), int64(12)},
		{"all-reduce", 12, 0, int64(12), int64(12)},
		{"broadcast", 12, 4, int64(12), int64(12)},
		{"all-gather", 12, 4, int64(12), int64(48)},
		{"all-gather", 12, 0, int64(12), nil},
		{"reduce-scatter", 12, 4, int64(48), int64(12)},
		{"reduce-scatter", 12, 0, nil, int64(12)},
		{"gather", 12, 4, int64(12), nil},  // the root alone receives
		{"scatter", 12, 4, nil, int64(12)}, // the root alone gives
		{"reduce", 12, 4, int64(12), int64(12)},
		{"all-to-all", 12, 4, int64(48), int64(48)},
		{"all-to-all", 12, 0, nil, nil},
		{"send", 12, 4, int64(12), int64(0)},
		{"recv", 12, 4, int64(0), int64(12)},
		{"all-to-all", math.MaxInt64 / 2, 4, nil, nil},
		{"all-reduce", -1, 4, nil, nil},
	} {
		if in, out := collective.Buffers(c.operation, c.bytes, c.ranks); in != c.in || out != c.out {
			t.Errorf("%s of %d bytes by %d ranks: %v and %v, not %v and %v", c.operation, c.bytes, c.ranks, in, out, c.in, c.out)
		}
	}
}

// TestNames holds the names that NCCL and PyTorch give their operations.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{"ncclAllReduce": "all-reduce", "ncclAlltoAll": "all-to-all", "ncclAllToAll": "all-to-all", "ncclBcast": "broadcast", "ncclRecv": "recv",
		"ncclGroupEnd": "", "ncclCommInitRank": ""} {
		if got, ok := collective.OfNCCL(name); got != want || ok != (want != "") {
			t.Errorf("%s is %q, %v", name, got, ok)
		}
	}
	for name, want := range map[string]string{"allreduce": "all-reduce", "_allgather_base": "all-gather", "_reduce_scatter_base": "reduce-scatter", "all_to_allv": "all-to-all",
		"_broadcast_oop": "broadcast", "send": "send", "barrier": "barrier"} {
		if got := collective.OfPyTorch(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	for dtype, want := range map[string]int64{"Float": 4, "BFloat16": 2, "Long": 8, "Bool": 1, "Float8_e4m3fn": 1, "ComplexDouble": 16, "QInt8": 0, "": 0} {
		if got, ok := collective.ElementBytes(dtype); got != want || ok != (want > 0) {
			t.Errorf("an element of %q has %d bytes, %v", dtype, got, ok)
		}
	}
}
