package torch_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"prof/ingest/rows/rowstest"
	"prof/ingest/torch"
)

// Pieces of traces. Times are microseconds on thread 1 of process 1 unless said otherwise.
func op(name string, ts, dur float64, args string) string {
	return event("cpu_op", name, ts, dur, args)
}

func event(cat, name string, ts, dur float64, args string) string {
	return fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %q, "pid": 1, "tid": 1, "ts": %.3f, "dur": %.3f, "args": {%s}}`, cat, name, ts, dur, args)
}

func launch(ts, dur float64, correlation int) string {
	return event("cuda_runtime", "cudaLaunchKernel", ts, dur, fmt.Sprintf(`"correlation": %d`, correlation))
}

func kernel(ts, dur float64, correlation int, args string) string {
	return fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %.3f, "dur": %.3f, "args": {"correlation": %d, "device": 0, "context": 1, "stream": 7, "grid": [2, 1, 1], "block": [32, 1, 1]%s}}`,
		ts, dur, correlation, args)
}

// waitOn is a wait of stream 20 for an event that a call recorded on a stream.
func waitOn(ts float64, correlation int, stream, call int64) string {
	return event("cuda_sync", "Stream Wait Event", ts, 1, fmt.Sprintf(`"cuda_sync_kind": "Stream Wait Event", "correlation": %d, "stream": 20, "device": 0, "wait_on_cuda_event_id": 4, "wait_on_stream": %d, "wait_on_cuda_event_record_corr_id": %d`, correlation, stream, call))
}

func traceOf(events ...string) string {
	return `{"schemaVersion": 1, "traceEvents": [` + strings.Join(events, ",\n") + `]}`
}

// opColumns are what the corners of operators show.
const opColumns = "op_name_id.name op_id parent_op_id depth is_folded is_nested duration_ns self_cpu_ns self_device_ns total_device_ns self_work_count"

// TestCorners holds what is put together from small traces with known answers.
func TestCorners(t *testing.T) {
	for _, c := range []struct {
		name, trace, table, columns string // rows in the order of their ids or times
		want                        []string
	}{
		{"nesting, and launches in the inner operator", traceOf(
			op("outer", 0, 10, `"External id": 1`), op("inner", 2, 4, `"External id": 2`), launch(3, 1, 5), launch(7, 1, 6),
			kernel(20, 3, 5, `, "External id": 2`), kernel(30, 5, 6, `, "External id": 1`)),
			"op", opColumns, []string{"outer|1|~|1|false|false|10000|5000|5000|8000|1", "inner|2|1|2|false|false|4000|3000|3000|3000|1"}},
		{"events that waits name", traceOf(
			event("cuda_runtime", "cudaEventRecord", 10, 1, `"correlation": 5`), event("cuda_runtime", "cudaStreamWaitEvent", 20, 1, `"correlation": 6`), event("cuda_runtime", "cudaLaunchKernel", 30, 1, `"correlation": 7`),
			event("cuda_runtime", "cudaEventRecord", 60, 1, `"correlation": 8`), strings.Replace(event("cuda_runtime", "cudaEventRecord", 11, 1, `"correlation": 9`), `"tid": 1`, `"tid": 2`, 1), event("cuda_runtime", "cudaEventRecord", 12, 1, `"correlation": 9`),
			kernel(40, 3, 7, ``), waitOn(20, 6, 7, 5), waitOn(21, 0, -1, -1), waitOn(22, 0, 7, 8), waitOn(23, 0, 7, 9), waitOn(24, 0, 7, 7), waitOn(25, 0, 4294967295, 5), waitOn(26, 0, 7, 99)),
			"sync", "start_ns event_id record_device_id record_stream_id record_start_ns",
			[]string{"10000|4|0|7|0", "11000|4|~|~|~", "12000|4|0|7|~", "13000|4|0|7|~", "14000|4|0|7|~", "15000|4|~|~|~", "16000|4|0|7|~"}},
		{"the launch tells where there is no External id", traceOf(
			op("outer", 0, 10, ``), op("inner", 2, 4, ``), launch(3, 1, 5), kernel(20, 3, 5, ``)),
			"op", opColumns, []string{"outer|1|~|1|false|false|10000|6000|0|3000|0", "inner|2|1|2|false|false|4000|3000|3000|3000|1"}},
		{"an External id that is the correlation id of unlinked work, and another operator's", traceOf(
			op("one", 0, 10, `"External id": 5`), launch(20, 1, 5), kernel(30, 3, 5, `, "External id": 5`)),
			"kernel", "op_id path_id", []string{"0|0"}},
		{"and it is not that operator's", traceOf(op("one", 0, 10, `"External id": 5`), launch(20, 1, 5), kernel(30, 3, 5, `, "External id": 5`)), "op", "self_device_ns", []string{"0"}},
		{"a kernel that names its operator, without a launch", traceOf(op("one", 0, 10, `"External id": 5`), kernel(30, 3, 9, `, "External id": 5`)),
			"kernel", "op_id launch_start_ns path_id tid pid op_id.self_device_ns", []string{"1|~|~|~|1|3000"}},
		{"a kernel that nothing is known of", traceOf(op("one", 0, 10, `"External id": 5`), kernel(30, 3, 9, ``)),
			"kernel", "op_id launch_start_ns path_id", []string{"~|~|~"}},
		{"no operators recorded", traceOf(launch(3, 1, 5), kernel(20, 3, 5, ``)), "kernel", "op_id path_id", []string{"~|0"}},
		{"a runtime call and the driver call inside it share an id", traceOf(
			op("one", 0, 10, ``), launch(3, 3, 5), event("cuda_driver", "cuLaunchKernel", 4, 1, `"correlation": 5`), kernel(20, 3, 5, ``)),
			"kernel", "launch_start_ns launch_duration_ns launch_name_id.name", []string{"3000|3000|cudaLaunchKernel"}},
		{"an operator that does nothing but call itself; device work was not recorded", traceOf(op("a", 0, 10, ``), op("a", 1, 8, ``), op("b", 2, 2, ``), op("b", 5, 2, ``)),
			"op", opColumns, []string{"a|1|~|1|false|false|10000|2000|~|~|~", "a|2|1|2|true|true|8000|4000|~|~|~", "b|3|2|3|false|false|2000|2000|~|~|~", "b|4|2|3|false|false|2000|2000|~|~|~"}},
		{"an operator that calls itself beside an API call is not folded", traceOf(op("a", 0, 10, ``), op("a", 1, 4, ``), launch(6, 1, 5)),
			"op", opColumns, []string{"a|1|~|1|false|false|10000|5000|~|~|~", "a|2|1|2|false|true|4000|4000|~|~|~"}},
		{"operators that overlap in part are not in each other", traceOf(op("a", 0, 10, ``), op("b", 5, 10, ``), op("c", 6, 1, ``)),
			"op", opColumns, []string{"a|1|~|1|false|false|10000|10000|~|~|~", "b|2|~|1|false|false|10000|9000|~|~|~", "c|3|2|2|false|false|1000|1000|~|~|~"}},
		{"events in no order", traceOf(op("inner", 2, 4, ``), launch(7, 1, 6), op("outer", 0, 10, ``), kernel(30, 5, 6, ``), launch(3, 1, 5), kernel(20, 3, 5, ``)),
			"op", opColumns, []string{"outer|1|~|1|false|false|10000|5000|5000|8000|1", "inner|2|1|2|false|false|4000|3000|3000|3000|1"}},
		{"ranges are transparent to operators", traceOf(
			op("outer", 0, 10, ``), event("user_annotation", "decode_step[3]", 1, 8, ``), op("inner", 2, 4, ``), launch(3, 1, 5), kernel(20, 3, 5, ``)),
			"op", "op_name_id.name self_cpu_ns path_id.path", []string{"outer|6000|~", "inner|3000|decode_step[#]"}},
		{"device work of a range", traceOf(event("user_annotation", "prefill", 1, 8, ``), launch(3, 1, 5), kernel(20, 3, 5, ``), kernel(25, 1, 5, ``)),
			"range_device", "range_id.name range_id.style first_start_ns last_end_ns busy_ns kernel_count",
			[]string{"prefill|record_function|19000|25000|4000|2"}},
		{"a graph launch gives all its kernels to its operator", traceOf(
			op("a", 0, 10, ``), event("cuda_runtime", "cudaGraphLaunch", 3, 1, `"correlation": 5`), kernel(20, 3, 5, ``), kernel(22, 3, 5, ``)),
			"graph_launch", "mode start_ns duration_ns busy_ns kernel_count", []string{"node|20000|5000|6000|2"}},
		{"and counts for it", traceOf(
			op("a", 0, 10, ``), event("cuda_runtime", "cudaGraphLaunch", 3, 1, `"correlation": 5`), kernel(20, 3, 5, ``), kernel(22, 3, 5, ``)),
			"op", "self_device_ns self_work_count", []string{"6000|2"}},
		{"bodies of conditional nodes are of the launch of their graph", traceOf(
			event("user_annotation", "decode", 1, 8, ``), event("cuda_runtime", "cudaGraphLaunch", 3, 1, `"correlation": 5`), event("cuda_runtime", "cudaGraphLaunch", 31, 1, `"correlation": 6`),
			kernel(20, 3, 5, `, "graph id": 3, "graph node id": 12884901888`), kernel(24, 1, 0, `, "graph id": 3, "graph node id": 12884901890`), kernel(26, 2, 0, `, "graph id": 3, "graph node id": 2`), kernel(29, 1, 5, `, "graph id": 3, "graph node id": 1`),
			kernel(40, 3, 6, `, "graph id": 3, "graph node id": 1`), kernel(41, 1, 0, `, "graph id": 3, "graph node id": 2`)),
			"graph_launch", "launch_start_ns duration_ns busy_ns kernel_count correlation_id", []string{"2000|10000|7000|4|5", "30000|3000|4000|2|6"}},
		{"and of its ranges", traceOf(
			event("user_annotation", "decode", 1, 8, ``), event("cuda_runtime", "cudaGraphLaunch", 3, 1, `"correlation": 5`),
			kernel(20, 3, 5, `, "graph node id": 12884901888`), kernel(24, 1, 0, `, "graph node id": 12884901890`)),
			"range_device", "range_id.name busy_ns kernel_count", []string{"decode|4000|2"}},
		{"memory belongs to the innermost operator of its thread", traceOf(op("a", 0, 10, ``), op("b", 2, 4, ``), memory(1, 512, 1, 100), memory(6, 1024, 1, 200),
			memory(8, -512, 1, 100), memory(3, 64, 0, 300), memory(12, -1024, 1, 200)),
			"op", "op_name_id.name device_alloc_bytes device_free_bytes host_alloc_bytes host_free_bytes",
			[]string{"a|512|512|0|0", "b|1024|0|64|0"}},
		{"memory events", traceOf(op("a", 0, 10, ``), memory(1, 512, 1, 100), memory(12, -512, 0, 100), memory(13, 5, 99, 1)),
			"memory_event", "time_ns device_type device_id address size_bytes allocated_bytes op_id",
			[]string{"1000|cuda|0|100|512|7|1", "12000|cpu|~|100|-512|7|0", "13000|device type 99|0|1|5|7|0"}},
		{"Python functions and modules", traceOf(
			event("python_function", "run.py(3): main", 0, 100, ``), event("python_function", "nn.Module: Net_0", 10, 50, ``), event("python_function", "net.py(5): forward", 12, 40, ``),
			event("python_function", "nn.Module: Linear_0", 20, 10, ``), op("aten::linear", 22, 5, ``), launch(23, 1, 5), kernel(200, 3, 5, ``), launch(40, 1, 6), kernel(210, 4, 6, ``)),
			"python_call", "stack_id.function stack_id.module_path duration_ns self_cpu_ns self_device_ns total_device_ns module_cpu_ns module_device_ns",
			[]string{"run.py(3): main|~|100000|50000|0|7000|~|~", "nn.Module: Net_0|Net_0|50000|10000|0|7000|40000|4000",
				"net.py(5): forward|Net_0|40000|30000|4000|7000|~|~", "nn.Module: Linear_0|Net_0 > Linear_0|10000|10000|3000|3000|10000|3000"}},
		{"the stack of an operator", traceOf(event("python_function", "a", 0, 9, ``), event("python_function", "b", 1, 5, ``), op("x", 2, 2, ``), op("y", 7, 1, ``), op("z", 20, 1, ``)),
			"op", "op_name_id.name stack_id.function stack_id.depth",
			[]string{"x|b|2", "y|a|1", "z|~|~"}},
		{"the stack as a text, innermost first", traceOf(op("x", 2, 2, `"Call stack": "b;a"`)),
			"op", "stack_id.function stack_id.parent_stack_id.function", []string{"b|a"}},
		{"a backward operator and its forward one", traceOf(op("forward", 1, 2, `"Sequence number": 7, "Fwd thread id": 0`), op("engine", 10, 5, ``), op("backward", 11, 2, `"Sequence number": 7, "Fwd thread id": 1`),
			`{"ph": "s", "id": 3, "pid": 1, "tid": 1, "ts": 1, "cat": "fwdbwd", "name": "fwdbwd"}`, `{"ph": "f", "id": 3, "pid": 1, "tid": 1, "ts": 11, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"}`),
			"op", "op_name_id.name sequence_id forward_op_id", []string{"forward|7|~", "engine|~|~", "backward|7|1"}},
		{"copies and fills in the words of Nsight Systems", traceOf(memcpy("Memcpy HtoD (Pinned -> Device)", 1), memcpy("Memset (Device)", 2), memcpy("Memcpy DtoD (Device -> Device)", 3), memcpy("Memcpy PtoP (Unknown -> Array)", 4), memcpy("CopyDeviceToHost", 5)),
			"memop", "operation src_memory dst_memory size_bytes context_id",
			[]string{"memcpy Host-to-Device|Pinned|Device|12|~", "memset|~|Device|12|~", "memcpy Device-to-Device|Device|Device|12|~", "memcpy Peer-to-Peer|~|Array|12|~", "CopyDeviceToHost|~|~|12|~"}},
		{"a mangled kernel name", traceOf(strings.Replace(kernel(1, 1, 1, ``), `"k"`, `"_ZN2at6native3fooIfEEvT_"`, 1)),
			"kernel_name", "name short_name", []string{"void at::native::foo<float>(float)|foo"}},
		{"nanoseconds are kept", traceOf(op("a", 4396490129049.319, 0.001, ``), op("b", 4396490129050.320, 2, ``)), "op", "start_ns duration_ns", []string{"0|1", "1001|2000"}},
		{"events without a length", traceOf(op("a", 1, 1, ``), `{"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 5}`, op("c", 7, -1, ``)),
			"source_part", "part read_count stored_count reason", []string{"cpu_op|3|1|2 have no start, or an impossible duration"}},
		{"driver calls inside runtime calls are no further part of an operator", traceOf(op("a", 0, 100, ``), launch(10, 60, 5), event("cuda_driver", "cuLaunchKernel", 20, 40, `"correlation": 6`), launch(80, 5, 7)),
			"op", opColumns, []string{"a|1|~|1|false|false|100000|35000|~|~|~"}},
		{"correlation id 0 is none, and the External id tells", traceOf(op("a", 0, 10, `"External id": 1`), op("b", 20, 10, `"External id": 2`), launch(1, 1, 0), launch(21, 1, 0),
			kernel(40, 3, 0, `, "External id": 1`), kernel(50, 5, 0, `, "External id": 2`)),
			"op", opColumns, []string{"a|1|~|1|false|false|10000|9000|3000|3000|1", "b|2|~|1|false|false|10000|9000|5000|5000|1"}},
		{"threads that are texts, as PyTorch 1.8 writes them", strings.ReplaceAll(traceOf(op("a", 0, 10, ``), strings.Replace(op("b", 2, 4, ``), `"tid": 1`, `"tid": "24610 (python)"`, 1),
			event("Operator", "ProfilerStep#7", 0, 9, ``)), `"tid": 1,`, `"tid": "24572",`),
			"op", "op_name_id.name tid parent_op_id", []string{"a|24572|~", "b|24610|~"}},
		{"a step of PyTorch 1.8", traceOf(op("a", 0, 10, ``), event("Operator", "ProfilerStep#7", 0, 9, ``)), "nvtx_range", "name", []string{"ProfilerStep#7"}},
		{"the profiler's own time is none of an operator's", traceOf(op("a", 0, 100, ``), event("overhead", "Activity Buffer Request", 10, 50, ``), op("b", 20, 10, ``), launch(40, 5, 1), op("c", 70, 10, ``)),
			"op", "op_name_id.name self_cpu_ns duration_ns", []string{"a|40000|100000", "b|10000|10000", "c|10000|10000"}},
		{"nor where it is in a call of the API", traceOf(op("a", 0, 100, ``), launch(5, 60, 1), event("overhead", "Lazy Function Loading", 10, 50, ``)), "op", "self_cpu_ns", []string{"40000"}},
		{"it crosses calls, as PyTorch counts it", traceOf(op("a", 0, 100, ``), op("b", 5, 35, ``), event("overhead", "Buffer Flush", 30, 30, ``), op("c", 35, 2, ``), launch(38, 1, 1), launch(55, 10, 2)),
			"op", "op_name_id.name self_cpu_ns", []string{"a|25000", "b|35000", "c|2000"}},
		{"and was on another thread where too little time is left", traceOf(op("a", 0, 100, ``), op("b", 5, 85, ``), event("overhead", "Buffer Flush", 30, 65, ``), op("c", 35, 2, ``), launch(92, 1, 1)),
			"op", "op_name_id.name self_cpu_ns", []string{"a|14000", "b|85000", "c|2000"}},
		{"it is of the process's first thread", strings.ReplaceAll(traceOf(op("a", 0, 100, ``), strings.Replace(op("b", 0, 100, ``), `"tid": 1`, `"tid": 2`, 1), event("overhead", "Buffer Flush", 30, 30, ``)), `"pid": 1`, `"pid": 2`),
			"op", "op_name_id.name self_cpu_ns", []string{"a|100000", "b|70000"}},
		{"overhead before everything sets no origin", traceOf(op("a", 1000, 10, ``), event("overhead", "Buffer Flush", -1e9, 1, ``)), "op", "start_ns", []string{"0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, warnings := stored(t, write(t, "x.json", c.trace))
			if len(warnings) > 0 && c.name != "events without a length" {
				t.Errorf("warnings: %q", warnings)
			}
			k.Table(c.table).By(order[c.table]).Expect(t, c.columns, c.want...)
		})
	}
}

// order are the columns that rows of a table are shown in the order of.
var order = map[string]string{"op": "op_id", "sync": "start_ns", "memory_event": "time_ns", "python_call": "start_ns", "memop": "start_ns"}

func memory(ts float64, bytes, deviceType, address int) string {
	return fmt.Sprintf(`{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": %.3f, "args": {"Bytes": %d, "Device Type": %d, "Device Id": 0, "Addr": %d, "Total Allocated": 7}}`,
		ts, bytes, deviceType, address)
}

func memcpy(name string, ts int) string {
	return fmt.Sprintf(`{"ph": "X", "cat": "gpu_memcpy", "name": %q, "pid": 0, "tid": 7, "ts": %d, "dur": 0.5, "args": {"device": 0, "stream": 7, "correlation": %d, "bytes": 12}}`, name, ts, ts)
}

// TestTwoSources: ids of a second trace in the run go on after the first one's.
func TestTwoSources(t *testing.T) {
	text := traceOf(op("outer", 0, 10, `"External id": 1, "Input Dims": [[1]]`), op("inner", 2, 4, `"External id": 2`), event("user_annotation", "prefill", 0, 9, ``), launch(3, 1, 5),
		kernel(20, 3, 5, `, "External id": 2`), memory(3, 8, 1, 1))
	k, infos, err := tryStored(t, write(t, "rank0.json", text), write(t, "rank1.json", strings.Replace(text, `"traceEvents"`, `"distributedInfo": {"rank": 5}, "traceEvents"`, 1)))
	if err != nil || infos[0].Rank != nil || infos[1].Rank == nil || *infos[1].Rank != 5 {
		t.Fatalf("%+v, %v", infos, err)
	}
	k.Table("op").By("op_id").Expect(t, "source_id op_id parent_op_id", "1|1|~", "1|2|1", "2|3|~", "2|4|3")
	k.Table("kernel").By("source_id").Expect(t, "source_id op_id", "1|2", "2|4")
	k.Table("memory_event").By("source_id").Expect(t, "source_id op_id", "1|2", "2|4")
	k.Table("range_device").By("range_id").Expect(t, "range_id.source_id kernel_count", "1|1", "2|1")
	if n := k.Count("op_input"); n != 1 {
		t.Errorf("%d inputs", n)
	}
}

// TestOdd lists what is passed over with a warning, for the sake of the rest of the trace.
func TestOdd(t *testing.T) {
	for _, c := range []struct{ name, event, want string }{
		{"a grid out of range", strings.Replace(kernel(1, 1, 1, ``), "[2, 1, 1]", "[1, 1, 99999999999]", 1), "1 events of kernel are not stored: they have numbers out of range (grid)"},
		{"a device out of range", strings.Replace(kernel(1, 1, 1, ``), `"device": 0`, `"device": 65537`, 1), "1 events of kernel are not stored: they have numbers out of range (device)"},
		{"a time out of range", strings.Replace(kernel(1, 1, 1, ``), `"ts": 1.000`, `"ts": 1e300`, 1), "1 events of kernel are not stored: they have no start, or an impossible duration"},
		{"a process that is a text", strings.Replace(op("x", 1, 1, ``), `"pid": 1`, `"pid": "[TP1] 2"`, 1), "the processes of 1 events are text, as in a trace merged from several"},
		{"two processes with one correlation id", launch(1, 1, 5) + "," + strings.Replace(launch(2, 1, 5), `"pid": 1`, `"pid": 2`, 1) + "," + kernel(9, 1, 5, ``), "1 correlation ids have several API calls"},
		{"an External id of another thread's operator", strings.Replace(op("x", 1, 1, `"External id": 77`), `"tid": 1`, `"tid": 2`, 1) + "," + launch(1, 1, 5) + "," + kernel(9, 1, 5, `, "External id": 77`),
			"1 pieces of device work name an operator that was not open at their launch"},
		{"a duration that is no number", strings.Replace(kernel(1, 1, 1, ``), `"dur": 1.000`, `"dur": Infinity`, 1), "1 events of kernel are not stored: they have no start, or an impossible duration"},
		{"an id that is no number", strings.Replace(kernel(1, 1, 1, ``), `"context": 1`, `"context": NaN`, 1), "1 events of kernel are not stored: they have numbers out of range"},
		{"a beginning without an end", strings.Replace(kernel(1, 1, 1, ``), `"X"`, `"B"`, 1), "1 events of kernel are not stored: they begin and have no end"},
		{"an end without a beginning", strings.Replace(kernel(1, 1, 1, ``), `"X"`, `"E"`, 1), "1 events of kernel are not stored: they end what nothing began"},
		{"an end before its beginning", strings.Replace(kernel(3, 1, 1, ``), `"X"`, `"B"`, 1) + "," + strings.Replace(kernel(2, 1, 1, ``), `"X"`, `"E"`, 1), "1 events of kernel are not stored: they have no start, or an impossible duration"},
	} {
		k, warnings := stored(t, write(t, "x.json", traceOf(op("rest", 0, 5, ``), c.event)))
		if len(warnings) != 1 || !strings.Contains(warnings[0], c.want) {
			t.Errorf("%s: the warnings are %q", c.name, warnings)
		}
		checkWhole(t, k)
		if n := len(k.Table("op").Is("op_name_id.name", "rest")); n != 1 {
			t.Errorf("%s: the rest is gone", c.name)
		}
	}
}

// TestRefused lists what is an error or passed over, and what stays of a trace that was cut.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a trace of another program", `{"traceEvents": [{"ph": "X", "cat": "blink", "name": "paint", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}`, "it has no PyTorch profiler events"},
		{"a merged trace", `{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": "[TP0] 1", "tid": "main", "ts": 1, "dur": 1}]}`, "ingest the trace of each process instead"},
		{"a trace of JAX", `{"traceEvents": [{"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "/device:GPU:0"}}, {"ph": "X", "pid": 2, "tid": 13, "ts": 1, "dur": 1, "name": "fusion"}]}`, "ingest that"},
		{"NaN", traceOf(strings.Replace(op("a", 1, 1, ``), "1.000", "NaN", 1)), "it has no PyTorch profiler events that can be stored: 1 events of cpu_op have no start"},
	} {
		_, _, err := tryStored(t, write(t, "x.json", c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "x.json") {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
	if _, _, err := tryStored(t, write(t, "x.json", traceOf(op("a", 0, 1, ``))[:50])); !errors.Is(err, torch.ErrNoEvents) {
		t.Errorf("a trace cut before its first event: %v", err)
	}
}

// TestTruncated: a trace that was cut, packed or not, gives what is whole of it, and says so.
func TestTruncated(t *testing.T) {
	text := traceOf(op("a", 0, 10, ``), op("b", 2, 4, ``), launch(3, 1, 5))
	cut := func(path, want string) *rowstest.Kept {
		t.Helper()
		k, infos, err := tryStored(t, path)
		if err != nil {
			t.Fatal(err)
		}
		if i := infos[0]; len(i.Warnings) != 1 || !strings.Contains(i.Warnings[0], want) || i.Status != "partial" || !strings.Contains(i.Reason, "ends before it is complete") {
			t.Errorf("%s: %+v", path, i)
		}
		return k
	}
	cut(write(t, "x.json", text[:len(text)-20]), "the trace ends before it is complete; the 2 events before that are stored")
	packed, err := os.ReadFile(captures + "llama-stack.trace.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	checkWhole(t, cut(write(t, "cut.trace.json.gz", string(packed[:len(packed)/3])), "ends before it is complete"))
}

// checkWhole holds the properties that every trace has, whatever was in it.
func checkWhole(t *testing.T, k *rowstest.Kept) {
	t.Helper()
	ops, device := k.Table("op"), slices.Concat(k.Table("kernel"), k.Table("memop")).Where(func(r rowstest.Row) bool { return r.Int("op_id") > 0 })
	outermost, inside, byID := int64(0), map[int64]int64{}, map[int64]rowstest.Row{}
	for _, o := range ops {
		byID[o.Int("op_id")] = o
		if o.Get("parent_op_id") == nil {
			outermost += o.Int("total_device_ns")
		}
		inside[o.Int("parent_op_id")] += o.Int("total_device_ns")
	}
	memory := int64(0)
	for _, e := range k.Table("memory_event") {
		if e.Int("op_id") > 0 {
			memory += e.Int("size_bytes")
		}
	}
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"device work of operators is that launched in them", ops.Sum("self_device_ns"), device.Sum("duration_ns")},
		{"pieces likewise", ops.Sum("self_work_count"), int64(len(device))},
		{"totals of the outermost operators are all of it", outermost, ops.Sum("self_device_ns")},
		{"memory of operators is that of the events in them", ops.Sum("device_alloc_bytes") - ops.Sum("device_free_bytes") + ops.Sum("host_alloc_bytes") - ops.Sum("host_free_bytes"), memory},
		{"operators are numbered", int64(len(ops)), int64(len(byID))},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d and %d", c.what, c.got, c.want)
		}
	}
	for id, o := range byID {
		if id > int64(len(ops)) {
			t.Errorf("operator %d of %d", id, len(ops))
		}
		if o.Get("total_device_ns") != nil && o.Int("total_device_ns") != o.Int("self_device_ns")+inside[id] {
			t.Errorf("the total of operator %d is not its own and that of the operators inside it", id)
		}
		if o.Int("self_cpu_ns") < 0 || o.Int("duration_ns") < 0 || o.Int("self_device_ns") < 0 {
			t.Errorf("a time of operator %d is negative", id)
		}
		if o.Get("parent_op_id") == nil {
			continue
		}
		p, end := byID[o.Int("parent_op_id")], func(r rowstest.Row) int64 { return r.Int("start_ns") + r.Int("duration_ns") }
		if o.Int("start_ns") < p.Int("start_ns") || end(o) > end(p) || o.Int("tid") != p.Int("tid") || o.Int("pid") != p.Int("pid") || o.Int("depth") != p.Int("depth")+1 {
			t.Errorf("operator %d does not lie within its caller, on its thread", id)
		}
	}
}
