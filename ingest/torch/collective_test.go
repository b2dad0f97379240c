package torch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const callColumns = "kernel_start_ns device_id stream_id operation in_bytes out_bytes dtype group_name group_ranks group_size rank_id"

// TestCollectiveArgs holds what becomes of the args of kernels that a collective launched. What is odd is unknown, never 0, and no reason to
// refuse the trace.
func TestCollectiveArgs(t *testing.T) {
	args := func(name, more string) string { return `, "Collective name": "` + name + `"` + more }
	sizes := func(in, out, ranks, dtype string) string {
		return `, "In msg nelems": ` + in + `, "Out msg nelems": ` + out + `, "Group size": ` + ranks + `, "dtype": ` + dtype
	}
	text := traceOf(launch(0, 1, 1),
		kernel(10, 3, 1, args("_allgather_base", sizes("100", "400", "4", `"BFloat16"`)+`, "Process Group Name": "tp", "Process Group Ranks": "[4, 5, 6, 7]"`)),
		kernel(20, 3, 2, args("send", sizes("8", "8", "2", `"Float"`)+`, "Process Group Name": "pp", "Process Group Ranks": "[2, 6]"`)),
		kernel(30, 3, 3, args("recv", sizes("8", "8", "2", `"Float"`))),
		kernel(40, 3, 4, args("allreduce", sizes("8", "8", "16", `"QUInt2x4"`)+`, "Process Group Ranks": "[0, 1, ..., 15]"`)), // a type whose size is not known, a list cut
		kernel(50, 3, 5, args("allreduce", sizes(`"many"`, "-4", "0", "7"))),
		kernel(60, 3, 6, args("allreduce", sizes("4611686018427387904", "9223372036854775807", "5000000000", `"Double"`))),
		kernel(70, 3, 7, args("allreduce", `, "Process Group Ranks": "[1, 2]"`)), // a group that the process is not in
		kernel(80, 3, 8, args("", sizes("8", "8", "2", `"Float"`))),
		kernel(90, 3, 9, `, "Collective name": 5`),
		kernel(100, 3, 10, args("new_collective", sizes("3", "5", "2", `"Byte"`))))
	k, _ := stored(t, write(t, "a.json", strings.Replace(text, `"schemaVersion": 1`, `"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 6, "world_size": 8}`, 1)))
	k.Table("collective_call").By("kernel_start_ns").Expect(t, callColumns,
		"10000|0|7|all-gather|200|800|BFloat16|tp|[4, 5, 6, 7]|4|2",
		"20000|0|7|send|32|0|Float|pp|[2, 6]|2|1",
		"30000|0|7|recv|0|32|Float|~|~|2|~",
		"40000|0|7|all-reduce|~|~|QUInt2x4|~|[0, 1, ..., 15]|16|~",
		"50000|0|7|all-reduce|~|~|~|~|~|~|~",
		"60000|0|7|all-reduce|~|~|Double|~|~|~|~",
		"70000|0|7|all-reduce|~|~|~|~|[1, 2]|~|~",
		"100000|0|7|new_collective|3|5|Byte|~|~|2|~")
}

// TestCollectivesOfCaptures: real traces of two ranks, of a program whose sizes are known: ranks.py beside them.
func TestCollectivesOfCaptures(t *testing.T) {
	k, _ := stored(t, "../../testdata/ranks/rank0.trace.json.gz", "../../testdata/ranks/rank1.trace.json.gz")
	counts := map[string]int{}
	for _, text := range k.Table("collective_call").Texts("source_id rank_id operation in_bytes out_bytes dtype group_size") {
		counts[text]++
	}
	var got []string
	for text, n := range counts {
		got = append(got, fmt.Sprintf("%s|%d", text, n))
	}
	slices.Sort(got)
	var want []string
	for _, rank := range []string{"1|0|", "2|1|"} {
		point := "recv|0|32768|Float|2|4"
		if rank == "1|0|" {
			point = "send|32768|0|Float|2|4"
		}
		list := []string{"all-gather|32768|65536|Float|2|4", "all-reduce|32768|32768|BFloat16|2|16", "all-reduce|1048576|1048576|BFloat16|2|8", "all-to-all|32768|32768|Float|2|4",
			"broadcast|32768|32768|Float|2|4", "reduce-scatter|32768|16384|Float|2|4", point}
		for _, x := range list {
			want = append(want, rank+x)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the calls are\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	kernels := k.Table("kernel").Texts("source_id device_id stream_id start_ns")
	for _, c := range k.Table("collective_call").Texts("source_id device_id stream_id kernel_start_ns") {
		if !slices.Contains(kernels, c) {
			t.Errorf("a call without a kernel: %s", c)
		}
	}
}
