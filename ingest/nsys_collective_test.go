package ingest_test

import (
	"testing"

	"prof/internal/testkit"
)

const callRows = `SELECT pid, start_ns, duration_ns, operation, in_bytes, out_bytes, group_name, group_size, rank_id, (SELECT r.name FROM nvtx_range r WHERE r.run_id = c.run_id AND r.range_id = c.range_id) AS launch
	FROM collective_call c ORDER BY pid, start_ns`

// TestCollectives holds what the payloads of NCCL's ranges become: bytes of the buffers by the operation and the size of the communicator,
// and the range that launched the kernel, which of calls in a group is the end of the outermost one.
func TestCollectives(t *testing.T) {
	w := madeUp(t, "c", "collectives.sqlite")
	const tp = "18446744073709551615"
	testkit.Expect(t, w, callRows,
		"100|200|30|all-reduce|4096|4096|"+tp+"|4|3|ncclAllReduce",
		"100|300|30|all-gather|1024|~|9|~|~|ncclAllGather", // how many ranks the communicator has was not captured
		"100|510|1|send|100|0|7|2|~|ncclGroupEnd",
		"100|520|1|recv|0|60|7|2|~|ncclGroupEnd",
		"100|710|1|send|8|0|7|2|~|ncclGroupEnd",
		"100|720|1|recv|0|8|7|2|~|ncclGroupEnd",
		"100|1100|30|reduce-scatter|1024|256|"+tp+"|4|3|ncclReduceScatter",
		"200|200|30|all-reduce|4096|4096|"+tp+"|4|1|ncclAllReduce")
	testkit.Expect(t, w, `SELECT k.pid, c.start_ns, c.operation, c.in_bytes, c.out_bytes, c.group_count, c.rank_id FROM collective c JOIN kernel k ON k.pid = c.pid AND k.start_ns = c.start_ns ORDER BY ALL`,
		"100|220|all-reduce|4096|4096|4|3",
		"100|320|all-gather|1024|~|~|~",
		"100|555|send-recv|100|60|2|~",
		"100|620|all-reduce|~|~|~|~", // no payload: the kernel's family tells the operation
		"100|755|send-recv|~|~|~|~",  // two kernels of one group: whose the bytes are is not known
		"100|770|send-recv|~|~|~|~",
		"100|920|all-reduce|~|~|~|~",
		"100|1120|reduce-scatter|1024|256|4|3",
		"200|240|all-reduce|4096|4096|4|1")
	testkit.Expect(t, w, `SELECT message FROM diagnostic WHERE message LIKE '%payload%'`, "NVTX_EVENTS: the payloads of 1 NCCL ranges cannot be read; the bytes of these calls are unknown")
}

// TestCollectivesOfCapture: a real export with payloads, of a program whose sizes are known: ranks.py beside it.
func TestCollectivesOfCapture(t *testing.T) {
	w := kept(t, testkit.Run{Name: "ranks", Files: []string{"ranks/rank0.sqlite.gz"}})
	testkit.Expect(t, w, `SELECT operation, in_bytes, out_bytes, group_size, rank_id, count(*) FROM collective_call GROUP BY ALL ORDER BY ALL`,
		"all-gather|32768|65536|2|0|6", "all-reduce|4|4|2|0|2", "all-reduce|32768|32768|2|0|24", "all-reduce|1048576|1048576|2|0|12",
		"all-to-all|32768|32768|2|0|6", "broadcast|32768|32768|2|0|6", "reduce-scatter|32768|16384|2|0|6", "send|32768|0|2|0|6")
	// Every kernel has its call.
	testkit.Expect(t, w, `SELECT operation, in_bytes, out_bytes, group_count, rank_id, count(*) FROM collective GROUP BY ALL ORDER BY ALL`,
		"all-gather|32768|65536|2|0|6", "all-reduce|4|4|2|0|2", "all-reduce|32768|32768|2|0|24", "all-reduce|1048576|1048576|2|0|12",
		"all-to-all|32768|32768|2|0|6", "broadcast|32768|32768|2|0|6", "reduce-scatter|32768|16384|2|0|6", "send|32768|0|2|0|6")
}
