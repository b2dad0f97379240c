package torch_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"prof/ingest/torch"
	"prof/schema"
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

const opRows = `SELECT n.name, o.op_id & 134217727, o.parent_op_id & 134217727, o.depth, o.is_folded, o.is_nested, o.duration_ns, o.self_cpu_ns, o.self_device_ns, o.total_device_ns, o.self_work_count
	FROM op o JOIN op_name n USING (run_id, op_name_id) ORDER BY o.op_id`

// TestCorners holds what is put together from small traces with known answers.
func TestCorners(t *testing.T) {
	w := newWarehouse(t)
	for _, c := range []struct {
		name, trace, query string
		want               []string
	}{
		{"nesting, and launches in the inner operator", traceOf(
			op("outer", 0, 10, `"External id": 1`), op("inner", 2, 4, `"External id": 2`), launch(3, 1, 5), launch(7, 1, 6),
			kernel(20, 3, 5, `, "External id": 2`), kernel(30, 5, 6, `, "External id": 1`)),
			opRows, []string{"outer|1|~|1|false|false|10000|5000|5000|8000|1", "inner|2|1|2|false|false|4000|3000|3000|3000|1"}},
		{"events that waits name", traceOf(
			event("cuda_runtime", "cudaEventRecord", 10, 1, `"correlation": 5`), event("cuda_runtime", "cudaStreamWaitEvent", 20, 1, `"correlation": 6`), event("cuda_runtime", "cudaLaunchKernel", 30, 1, `"correlation": 7`),
			event("cuda_runtime", "cudaEventRecord", 60, 1, `"correlation": 8`), strings.Replace(event("cuda_runtime", "cudaEventRecord", 11, 1, `"correlation": 9`), `"tid": 1`, `"tid": 2`, 1), event("cuda_runtime", "cudaEventRecord", 12, 1, `"correlation": 9`),
			kernel(40, 3, 7, ``), waitOn(20, 6, 7, 5), waitOn(21, 0, -1, -1), waitOn(22, 0, 7, 8), waitOn(23, 0, 7, 9), waitOn(24, 0, 7, 7), waitOn(25, 0, 4294967295, 5), waitOn(26, 0, 7, 99)),
			`SELECT start_ns // 1000, event_id, record_device_id, record_stream_id, record_start_ns // 1000 FROM sync ORDER BY start_ns`,
			[]string{"10|4|0|7|0", "11|4|~|~|~", "12|4|0|7|~", "13|4|0|7|~", "14|4|0|7|~", "15|4|~|~|~", "16|4|0|7|~"}},
		{"the launch tells where there is no External id", traceOf(
			op("outer", 0, 10, ``), op("inner", 2, 4, ``), launch(3, 1, 5), kernel(20, 3, 5, ``)),
			opRows, []string{"outer|1|~|1|false|false|10000|6000|0|3000|0", "inner|2|1|2|false|false|4000|3000|3000|3000|1"}},
		{"an External id that is the correlation id of unlinked work, and another operator's", traceOf(
			op("one", 0, 10, `"External id": 5`), launch(20, 1, 5), kernel(30, 3, 5, `, "External id": 5`)),
			`SELECT op_id & 134217727, (SELECT sum(self_device_ns)::BIGINT FROM op), path_id FROM kernel`, []string{"0|0|0"}},
		{"a kernel that names its operator, without a launch", traceOf(op("one", 0, 10, `"External id": 5`), kernel(30, 3, 9, `, "External id": 5`)),
			`SELECT op_id & 134217727, launch_start_ns, path_id, tid, pid, (SELECT self_device_ns FROM op) FROM kernel`, []string{"1|~|~|~|1|3000"}},
		{"a kernel that nothing is known of", traceOf(op("one", 0, 10, `"External id": 5`), kernel(30, 3, 9, ``)),
			`SELECT op_id & 134217727, launch_start_ns, path_id FROM kernel`, []string{"~|~|~"}},
		{"no operators recorded", traceOf(launch(3, 1, 5), kernel(20, 3, 5, ``)), `SELECT op_id & 134217727, path_id FROM kernel`, []string{"~|0"}},
		{"a runtime call and the driver call inside it share an id", traceOf(
			op("one", 0, 10, ``), launch(3, 3, 5), event("cuda_driver", "cuLaunchKernel", 4, 1, `"correlation": 5`), kernel(20, 3, 5, ``)),
			`SELECT launch_start_ns, launch_duration_ns, a.name FROM kernel k JOIN api_name a ON a.api_name_id = k.launch_name_id`, []string{"3000|3000|cudaLaunchKernel"}},
		{"an operator that does nothing but call itself; device work was not recorded", traceOf(op("a", 0, 10, ``), op("a", 1, 8, ``), op("b", 2, 2, ``), op("b", 5, 2, ``)),
			opRows, []string{"a|1|~|1|false|false|10000|2000|~|~|~", "a|2|1|2|true|true|8000|4000|~|~|~", "b|3|2|3|false|false|2000|2000|~|~|~", "b|4|2|3|false|false|2000|2000|~|~|~"}},
		{"an operator that calls itself beside an API call is not folded", traceOf(op("a", 0, 10, ``), op("a", 1, 4, ``), launch(6, 1, 5)),
			opRows, []string{"a|1|~|1|false|false|10000|5000|~|~|~", "a|2|1|2|false|true|4000|4000|~|~|~"}},
		{"operators that overlap in part are not in each other", traceOf(op("a", 0, 10, ``), op("b", 5, 10, ``), op("c", 6, 1, ``)),
			opRows, []string{"a|1|~|1|false|false|10000|10000|~|~|~", "b|2|~|1|false|false|10000|9000|~|~|~", "c|3|2|2|false|false|1000|1000|~|~|~"}},
		{"events in no order", traceOf(op("inner", 2, 4, ``), launch(7, 1, 6), op("outer", 0, 10, ``), kernel(30, 5, 6, ``), launch(3, 1, 5), kernel(20, 3, 5, ``)),
			opRows, []string{"outer|1|~|1|false|false|10000|5000|5000|8000|1", "inner|2|1|2|false|false|4000|3000|3000|3000|1"}},
		{"ranges are transparent to operators and have stages", traceOf(
			op("outer", 0, 10, ``), event("user_annotation", "decode_step[3]", 1, 8, ``), op("inner", 2, 4, ``), launch(3, 1, 5), kernel(20, 3, 5, ``)),
			`SELECT n.name, o.self_cpu_ns, p.path, s.stage FROM op o JOIN op_name n USING (run_id, op_name_id) LEFT JOIN range_path p USING (run_id, path_id)
			LEFT JOIN path_stage s USING (run_id, path_id) ORDER BY o.op_id`,
			[]string{"outer|6000|~|~", "inner|3000|decode_step[#]|decode"}},
		{"device work of a range", traceOf(event("user_annotation", "prefill", 1, 8, ``), launch(3, 1, 5), kernel(20, 3, 5, ``), kernel(25, 1, 5, ``)),
			`SELECT n.name, n.style, d.first_start_ns, d.last_end_ns, d.busy_ns, d.kernel_count FROM range_device d JOIN nvtx_range n USING (run_id, range_id)`,
			[]string{"prefill|record_function|19000|25000|4000|2"}},
		{"a graph launch gives all its kernels to its operator", traceOf(
			op("a", 0, 10, ``), event("cuda_runtime", "cudaGraphLaunch", 3, 1, `"correlation": 5`), kernel(20, 3, 5, ``), kernel(22, 3, 5, ``)),
			`SELECT g.mode, g.start_ns, g.duration_ns, g.busy_ns, g.kernel_count, o.self_device_ns, o.self_work_count FROM graph_launch g, op o`,
			[]string{"node|20000|5000|6000|2|6000|2"}},
		{"memory belongs to the innermost operator of its thread", traceOf(op("a", 0, 10, ``), op("b", 2, 4, ``), memory(1, 512, 1, 100), memory(6, 1024, 1, 200),
			memory(8, -512, 1, 100), memory(3, 64, 0, 300), memory(12, -1024, 1, 200)),
			`SELECT n.name, o.device_alloc_bytes, o.device_free_bytes, o.host_alloc_bytes, o.host_free_bytes FROM op o JOIN op_name n USING (run_id, op_name_id) ORDER BY o.op_id`,
			[]string{"a|512|512|0|0", "b|1024|0|64|0"}},
		{"memory events", traceOf(op("a", 0, 10, ``), memory(1, 512, 1, 100), memory(12, -512, 0, 100), memory(13, 5, 99, 1)),
			`SELECT time_ns, device_type, device_id, address, size_bytes, allocated_bytes, op_id & 134217727 FROM memory_event ORDER BY time_ns`,
			[]string{"1000|cuda|0|100|512|7|1", "12000|cpu|~|100|-512|7|0", "13000|device type 99|0|1|5|7|0"}},
		{"Python functions and modules", traceOf(
			event("python_function", "run.py(3): main", 0, 100, ``), event("python_function", "nn.Module: Net_0", 10, 50, ``), event("python_function", "net.py(5): forward", 12, 40, ``),
			event("python_function", "nn.Module: Linear_0", 20, 10, ``), op("aten::linear", 22, 5, ``), launch(23, 1, 5), kernel(200, 3, 5, ``), launch(40, 1, 6), kernel(210, 4, 6, ``)),
			`SELECT s.function, s.module_path, c.duration_ns, c.self_cpu_ns, c.self_device_ns, c.total_device_ns, c.module_cpu_ns, c.module_device_ns
			FROM python_call c JOIN python_stack s USING (run_id, stack_id) ORDER BY c.start_ns`,
			[]string{"run.py(3): main|~|100000|50000|0|7000|~|~", "nn.Module: Net_0|Net_0|50000|10000|0|7000|40000|4000",
				"net.py(5): forward|Net_0|40000|30000|4000|7000|~|~", "nn.Module: Linear_0|Net_0 > Linear_0|10000|10000|3000|3000|10000|3000"}},
		{"the stack of an operator", traceOf(event("python_function", "a", 0, 9, ``), event("python_function", "b", 1, 5, ``), op("x", 2, 2, ``), op("y", 7, 1, ``), op("z", 20, 1, ``)),
			`SELECT n.name, s.function, s.depth FROM op o JOIN op_name n USING (run_id, op_name_id) LEFT JOIN python_stack s USING (run_id, stack_id) ORDER BY o.op_id`,
			[]string{"x|b|2", "y|a|1", "z|~|~"}},
		{"the stack as a text, innermost first", traceOf(op("x", 2, 2, `"Call stack": "b;a"`)),
			`SELECT s.function, p.function FROM op o JOIN python_stack s USING (run_id, stack_id) JOIN python_stack p ON p.stack_id = s.parent_stack_id`, []string{"b|a"}},
		{"a backward operator and its forward one", traceOf(op("forward", 1, 2, `"Sequence number": 7, "Fwd thread id": 0`), op("engine", 10, 5, ``), op("backward", 11, 2, `"Sequence number": 7, "Fwd thread id": 1`),
			`{"ph": "s", "id": 3, "pid": 1, "tid": 1, "ts": 1, "cat": "fwdbwd", "name": "fwdbwd"}`, `{"ph": "f", "id": 3, "pid": 1, "tid": 1, "ts": 11, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"}`),
			`SELECT n.name, o.sequence_id, o.forward_op_id & 134217727 FROM op o JOIN op_name n USING (run_id, op_name_id) ORDER BY o.op_id`, []string{"forward|7|~", "engine|~|~", "backward|7|1"}},
		{"copies and fills in the words of Nsight Systems", traceOf(memcpy("Memcpy HtoD (Pinned -> Device)", 1), memcpy("Memset (Device)", 2), memcpy("Memcpy DtoD (Device -> Device)", 3), memcpy("Memcpy PtoP (Unknown -> Array)", 4), memcpy("CopyDeviceToHost", 5)),
			`SELECT operation, src_memory, dst_memory, size_bytes, context_id FROM memop ORDER BY start_ns`,
			[]string{"memcpy Host-to-Device|Pinned|Device|12|~", "memset|~|Device|12|~", "memcpy Device-to-Device|Device|Device|12|~", "memcpy Peer-to-Peer|~|Array|12|~", "CopyDeviceToHost|~|~|12|~"}},
		{"a mangled kernel name", traceOf(strings.Replace(kernel(1, 1, 1, ``), `"k"`, `"_ZN2at6native3fooIfEEvT_"`, 1)),
			`SELECT name, short_name FROM kernel_name`, []string{"void at::native::foo<float>(float)|foo"}},
		{"nanoseconds are kept", traceOf(op("a", 4396490129049.319, 0.001, ``), op("b", 4396490129050.320, 2, ``)), `SELECT start_ns, duration_ns FROM op ORDER BY start_ns`, []string{"0|1", "1001|2000"}},
		{"events without a length", traceOf(op("a", 1, 1, ``), `{"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": 5}`, op("c", 7, -1, ``)),
			`SELECT part, read_count, stored_count, reason FROM source_part`, []string{"cpu_op|3|1|2 have no start, or an impossible duration"}},
		{"driver calls inside runtime calls are no further part of an operator", traceOf(op("a", 0, 100, ``), launch(10, 60, 5), event("cuda_driver", "cuLaunchKernel", 20, 40, `"correlation": 6`), launch(80, 5, 7)),
			opRows, []string{"a|1|~|1|false|false|100000|35000|~|~|~"}},
		{"correlation id 0 is none, and the External id tells", traceOf(op("a", 0, 10, `"External id": 1`), op("b", 20, 10, `"External id": 2`), launch(1, 1, 0), launch(21, 1, 0),
			kernel(40, 3, 0, `, "External id": 1`), kernel(50, 5, 0, `, "External id": 2`)),
			opRows, []string{"a|1|~|1|false|false|10000|9000|3000|3000|1", "b|2|~|1|false|false|10000|9000|5000|5000|1"}},
		{"threads that are texts, as PyTorch 1.8 writes them", strings.ReplaceAll(traceOf(op("a", 0, 10, ``), strings.Replace(op("b", 2, 4, ``), `"tid": 1`, `"tid": "24610 (python)"`, 1),
			event("Operator", "ProfilerStep#7", 0, 9, ``)), `"tid": 1,`, `"tid": "24572",`),
			`SELECT n.name, o.tid, o.parent_op_id & 134217727, (SELECT list(name) FROM nvtx_range) FROM op o JOIN op_name n USING (run_id, op_name_id) ORDER BY o.op_id`,
			[]string{"a|24572|~|[ProfilerStep#7]", "b|24610|~|[ProfilerStep#7]"}},
		{"overhead before everything sets no origin", traceOf(op("a", 1000, 10, ``), event("overhead", "Buffer Flush", -1e9, 1, ``)), `SELECT start_ns FROM op`, []string{"0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if warnings := store(t, w, "x", write(t, "x.json", c.trace)); len(warnings) > 0 && !strings.Contains(c.name, "events without a length") {
				t.Errorf("warnings: %q", warnings)
			}
			if got := rows(t, w, c.query); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			run, err := w.Resolve(t.Context(), "x")
			if err == nil {
				err = w.Remove(t.Context(), run)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func memory(ts float64, bytes, deviceType, address int) string {
	return fmt.Sprintf(`{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": %.3f, "args": {"Bytes": %d, "Device Type": %d, "Device Id": 0, "Addr": %d, "Total Allocated": 7}}`,
		ts, bytes, deviceType, address)
}

func memcpy(name string, ts int) string {
	return fmt.Sprintf(`{"ph": "X", "cat": "gpu_memcpy", "name": %q, "pid": 0, "tid": 7, "ts": %d, "dur": 0.5, "args": {"device": 0, "stream": 7, "correlation": %d, "bytes": 12}}`, name, ts, ts)
}

// TestTwoSources: ids of a second trace in the run go on after the first one's.
func TestTwoSources(t *testing.T) {
	w := newWarehouse(t)
	text := traceOf(op("outer", 0, 10, `"External id": 1, "Input Dims": [[1]]`), op("inner", 2, 4, `"External id": 2`), event("user_annotation", "prefill", 0, 9, ``), launch(3, 1, 5),
		kernel(20, 3, 5, `, "External id": 2`), memory(3, 8, 1, 1))
	store(t, w, "x", write(t, "rank0.json", text), write(t, "rank1.json", strings.Replace(text, `"traceEvents"`, `"distributedInfo": {"rank": 5}, "traceEvents"`, 1)))
	for query, want := range map[string][]string{
		`SELECT source_id, op_id & 134217727, parent_op_id & 134217727 FROM op ORDER BY ALL`:                             {"1|1|~", "1|2|1", "2|3|~", "2|4|3"},
		`SELECT source_id, op_id & 134217727 FROM kernel ORDER BY ALL`:                                                   {"1|2", "2|4"},
		`SELECT source_id, op_id & 134217727 FROM memory_event ORDER BY ALL`:                                             {"1|2", "2|4"},
		`SELECT r.source_id, d.kernel_count FROM range_device d JOIN nvtx_range r USING (run_id, range_id) ORDER BY ALL`: {"1|1", "2|1"},
		`SELECT count(*) FROM op_input`:                                  {"1"},
		`SELECT source_id, kind, form, rank_id FROM source ORDER BY ALL`: {"1|torch|torch-trace|0", "2|torch|torch-trace|5"},
	} {
		if got := rows(t, w, query); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// TestOdd lists what is passed over with a warning, for the sake of the rest of the trace.
func TestOdd(t *testing.T) {
	w := newWarehouse(t)
	for i, c := range []struct{ name, event, want string }{
		{"a grid out of range", strings.Replace(kernel(1, 1, 1, ``), "[2, 1, 1]", "[1, 1, 99999999999]", 1), "1 events of kernel are not stored: they have numbers out of range (grid)"},
		{"a device out of range", strings.Replace(kernel(1, 1, 1, ``), `"device": 0`, `"device": 65537`, 1), "1 events of kernel are not stored: they have numbers out of range (device)"},
		{"a time out of range", strings.Replace(kernel(1, 1, 1, ``), `"ts": 1.000`, `"ts": 1e300`, 1), "1 events of kernel are not stored: they have no start, or an impossible duration"},
		{"a process that is a text", strings.Replace(op("x", 1, 1, ``), `"pid": 1`, `"pid": "[TP1] 2"`, 1), "the processes of 1 events are text, as in a trace merged from several"},
		{"two processes with one correlation id", launch(1, 1, 5) + "," + strings.Replace(launch(2, 1, 5), `"pid": 1`, `"pid": 2`, 1) + "," + kernel(9, 1, 5, ``), "1 correlation ids have several API calls"},
		{"an External id of another thread's operator", strings.Replace(op("x", 1, 1, `"External id": 77`), `"tid": 1`, `"tid": 2`, 1) + "," + launch(1, 1, 5) + "," + kernel(9, 1, 5, `, "External id": 77`),
			"1 pieces of device work name an operator that was not open at their launch"},
	} {
		run := fmt.Sprint("x", i)
		warnings := store(t, w, run, write(t, "x.json", traceOf(op("rest", 0, 5, ``), c.event)))
		if len(warnings) != 1 || !strings.Contains(warnings[0], c.want) {
			t.Errorf("%s: the warnings are %q", c.name, warnings)
		}
		checkWhole(t, w, run)
		if got := rows(t, w, fmt.Sprintf(`SELECT count(*) FROM op JOIN op_name USING (run_id, op_name_id) JOIN run r USING (run_id) WHERE r.name = '%s' AND op_name.name = 'rest'`, run)); got[0] != "1" {
			t.Errorf("%s: the rest is gone", c.name)
		}
	}
}

// TestRefused lists what is an error or passed over, and what stays of a trace that was cut.
func TestRefused(t *testing.T) {
	w := newWarehouse(t)
	for _, c := range []struct{ name, text, want string }{
		{"a trace of another program", `{"traceEvents": [{"ph": "X", "cat": "blink", "name": "paint", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}`, "it has no PyTorch profiler events"},
		{"a merged trace", `{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": "[TP0] 1", "tid": "main", "ts": 1, "dur": 1}]}`, "ingest the trace of each process instead"},
		{"a trace of JAX", `{"traceEvents": [{"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "/device:GPU:0"}}, {"ph": "X", "pid": 2, "tid": 13, "ts": 1, "dur": 1, "name": "fusion"}]}`, "ingest that"},
		{"NaN", traceOf(strings.Replace(op("a", 1, 1, ``), "1.000", "NaN", 1)), "not a trace: "},
	} {
		_, err := tryStore(t, w, "x", write(t, "x.json", c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "x.json") {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
	if _, err := tryStore(t, w, "x", write(t, "x.json", traceOf(op("a", 0, 1, ``))[:50])); !errors.Is(err, torch.ErrNoEvents) {
		t.Errorf("a trace cut before its first event: %v", err)
	}
	if got := rows(t, w, `SELECT count(*) FROM run`); !slices.Equal(got, []string{"0"}) {
		t.Errorf("runs after errors: %q", got)
	}
}

// TestTruncated: a trace that was cut, packed or not, gives what is whole of it, and says so.
func TestTruncated(t *testing.T) {
	w := newWarehouse(t)
	text := traceOf(op("a", 0, 10, ``), op("b", 2, 4, ``), launch(3, 1, 5))
	warnings := store(t, w, "plain", write(t, "x.json", text[:len(text)-20]))
	if len(warnings) != 1 || !strings.Contains(warnings[0], "the trace ends before it is complete; the 2 events before that are stored") {
		t.Errorf("warnings: %q", warnings)
	}
	packed, err := os.ReadFile(shared + "dsocr-sdpa.trace.json.gz")
	if err == nil {
		path := write(t, "cut.trace.json.gz", string(packed[:len(packed)/3]))
		if warnings := store(t, w, "packed", path); len(warnings) != 1 || !strings.Contains(warnings[0], "ends before it is complete") {
			t.Errorf("warnings: %q", warnings)
		}
		checkWhole(t, w, "packed")
	}
	got := rows(t, w, `SELECT status, contains(reason, 'ends before it is complete') FROM source`)
	if slices.ContainsFunc(got, func(s string) bool { return s != "partial|true" }) || len(got) == 0 {
		t.Errorf("sources: %q", got)
	}
}

// checkWhole holds the properties that every run of a trace has, whatever was in it.
func checkWhole(t *testing.T, w *schema.Warehouse, run string) {
	t.Helper()
	for _, c := range []struct{ what, query string }{
		{"device work of operators is that launched in them", `SELECT (SELECT coalesce(sum(self_device_ns), 0) FROM op WHERE run_id = r.run_id),
			(SELECT coalesce(sum(d.duration_ns), 0) FROM (SELECT run_id, op_id, duration_ns FROM kernel UNION ALL SELECT run_id, op_id, duration_ns FROM memop) d WHERE d.run_id = r.run_id AND d.op_id > 0)`},
		{"pieces likewise", `SELECT (SELECT coalesce(sum(self_work_count), 0) FROM op WHERE run_id = r.run_id),
			(SELECT count(*) FROM (SELECT run_id, op_id FROM kernel UNION ALL SELECT run_id, op_id FROM memop) d WHERE d.run_id = r.run_id AND d.op_id > 0)`},
		{"totals of the outermost operators are all of it", `SELECT (SELECT coalesce(sum(total_device_ns), 0) FROM op WHERE run_id = r.run_id AND parent_op_id IS NULL),
			(SELECT coalesce(sum(self_device_ns), 0) FROM op WHERE run_id = r.run_id)`},
		{"memory of operators is that of the events in them", `SELECT (SELECT coalesce(sum(device_alloc_bytes - device_free_bytes + host_alloc_bytes - host_free_bytes), 0) FROM op WHERE run_id = r.run_id),
			(SELECT coalesce(sum(size_bytes), 0) FROM memory_event WHERE run_id = r.run_id AND op_id > 0)`},
		{"an operator's total is its own and that of the operators inside it", `SELECT count(*), 0 FROM op o WHERE run_id = r.run_id AND total_device_ns <> self_device_ns
			+ (SELECT coalesce(sum(c.total_device_ns), 0) FROM op c WHERE c.run_id = o.run_id AND c.parent_op_id = o.op_id)`},
		{"an operator lies within its caller, on its thread", `SELECT count(*), 0 FROM op o JOIN op p ON p.run_id = o.run_id AND p.op_id = o.parent_op_id WHERE o.run_id = r.run_id
			AND (o.start_ns < p.start_ns OR o.start_ns + o.duration_ns > p.start_ns + p.duration_ns OR o.tid <> p.tid OR o.pid <> p.pid OR o.depth <> p.depth + 1)`},
		{"no time is negative", `SELECT count(*), 0 FROM op WHERE run_id = r.run_id AND (self_cpu_ns < 0 OR duration_ns < 0 OR self_device_ns < 0)`},
		{"operators are numbered", `SELECT count(*), coalesce(max(op_id & 134217727), 0) FROM op WHERE run_id = r.run_id`},
	} {
		pair := strings.Split(rows(t, w, strings.ReplaceAll(c.query, "r.run_id", fmt.Sprintf("(SELECT run_id FROM run WHERE name = '%s')", run)))[0], "|")
		if pair[0] != pair[1] {
			t.Errorf("%s: %s: %s and %s", run, c.what, pair[0], pair[1])
		}
	}
}
