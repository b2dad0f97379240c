package torch_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// foreign is where traces lie that other people took.
const foreign = "../../testdata/foreign/"

// rawEvent is an event as encoding/json has it.
type rawEvent struct {
	Ph, Cat, Name string
	Ts, Dur       json.Number
	Args          map[string]any
}

func rawEvents(t *testing.T, path string) []rawEvent {
	t.Helper()
	var doc struct{ TraceEvents []rawEvent }
	d := json.NewDecoder(strings.NewReader(string(readAll(t, path))))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc.TraceEvents
}

// sum is what events of one table add up to.
type sum struct {
	n             int
	dur           big.Rat // us
	bytes, counts big.Int
}

// tableOf says where an event belongs by what its makers say of it.
func tableOf(e rawEvent) string {
	switch {
	case e.Ph != "X":
		return ""
	case e.Cat == "mtia_ccp_events" && (e.Name == "event_wait" || e.Name == "event_record"), e.Cat == "cuda_sync":
		return "sync"
	case e.Cat == "mtia_ccp_events" && e.Name == "dma_request", e.Cat == "gpu_memcpy", e.Cat == "gpu_memset":
		return "memop"
	case e.Cat == "mtia_ccp_events", e.Cat == "kernel":
		return "kernel"
	case e.Cat == "cuda_profiler_range":
		return "ncu_launch"
	}
	return ""
}

// TestForeignSums holds what is stored of other makers' devices, of CUPTI's counters and of synchronisations of all streams to sums over the file's JSON.
func TestForeignSums(t *testing.T) {
	w := newWarehouse(t)
	for _, name := range []string{"mtia", "counters", "all-streams"} {
		path := foreign + name + ".trace.json.gz"
		if warnings := store(t, w, name, path); len(warnings) > 0 {
			t.Errorf("%s: %q", name, warnings)
		}
		sums := map[string]*sum{"kernel": {}, "memop": {}, "sync": {}, "ncu_launch": {}}
		for _, e := range rawEvents(t, path) {
			s := sums[tableOf(e)]
			if s == nil {
				continue
			}
			s.n++
			us, _ := new(big.Rat).SetString(e.Dur.String())
			s.dur.Add(&s.dur, us)
			for key, value := range e.Args {
				number, ok := value.(json.Number)
				if !ok {
					continue
				}
				n, whole := new(big.Int).SetString(number.String(), 10)
				if whole && (key == "bytes" || key == "size") {
					s.bytes.Add(&s.bytes, n)
				}
				if whole {
					s.counts.Add(&s.counts, n)
				}
			}
		}
		for table, s := range sums {
			from := ` FROM ` + table + ` JOIN run USING (run_id) WHERE run.name = '` + name + `'`
			ns := new(big.Rat).Mul(&s.dur, big.NewRat(1000, 1))
			var got []string
			want := []string{fmt.Sprint(s.n, "|", ns.RatString())}
			switch table {
			case "ncu_launch":
				got = rows(t, w, `SELECT (SELECT count(*)`+from+`), sum(value::HUGEINT) FROM ncu_metric JOIN run USING (run_id) WHERE run.name = '`+name+`'`)
				if want = []string{fmt.Sprint(s.n, "|", &s.counts)}; s.n == 0 {
					want = []string{"0|~"}
				}
			case "memop":
				got = rows(t, w, `SELECT count(*), coalesce(sum(duration_ns), 0), coalesce(sum(size_bytes), 0)`+from)
				want[0] += fmt.Sprint("|", &s.bytes)
			default:
				got = rows(t, w, `SELECT count(*), coalesce(sum(duration_ns), 0)`+from)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s is %q, the file has %q", name, table, got, want)
			}
		}
	}
	for sql, want := range map[string][]string{
		`SELECT d.device_id, d.name FROM device d JOIN run USING (run_id) WHERE run.name = 'mtia'`:                                                                             {"17|MTIA ARTEMIS"},
		`SELECT DISTINCT operation FROM memop JOIN run USING (run_id) WHERE run.name = 'mtia' ORDER BY 1`:                                                                      {"memcpy Device-to-Host", "memcpy Host-to-Device"},
		`SELECT DISTINCT kind FROM sync JOIN run USING (run_id) WHERE run.name = 'mtia' ORDER BY 1`:                                                                            {"event_record", "event_wait"},
		`SELECT count(*), count(s.stream_id) FROM sync s JOIN run USING (run_id) WHERE run.name = 'all-streams' AND s.kind = 'Context sync'`:                                   {"5|0"},
		`SELECT count(*), count(*) FILTER (part LIKE '%,%') FROM source_part JOIN run USING (run_id) WHERE run.name = 'counters' AND reason = 'not stored' AND read_count > 3`: {"0|0"},
	} {
		if got := rows(t, w, sql); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// TestRecordedEvents holds where the events were recorded that waits name to the file's JSON.
func TestRecordedEvents(t *testing.T) {
	w := newWarehouse(t)
	for name, path := range map[string]string{"all-streams": foreign + "all-streams.trace.json.gz", "event-sync": "../../testdata/peers/event-sync.trace.json.gz"} {
		store(t, w, name, path)
		calls, want := map[string]string{}, []string{}
		events := rawEvents(t, path)
		for _, e := range events {
			if e.Name == "cudaEventRecord" {
				calls[fmt.Sprint(e.Args["correlation"])] = e.Ts.String()
			}
		}
		for _, e := range events {
			if stream := e.Args["wait_on_stream"]; stream != nil {
				want = append(want, fmt.Sprint(e.Args["correlation"], "|", e.Args["wait_on_cuda_event_id"], "|", e.Args["device"], "|", stream, "|", micros(t, e.Ts.String(), calls[fmt.Sprint(e.Args["wait_on_cuda_event_record_corr_id"])])))
			}
		}
		got := rows(t, w, `SELECT correlation_id, event_id, record_device_id, record_stream_id, coalesce(start_ns - record_start_ns, -1) FROM sync JOIN run USING (run_id) WHERE run.name = '`+name+`' AND event_id IS NOT NULL`)
		slices.Sort(want)
		slices.Sort(got)
		if len(want) < 2 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, the file has %q", name, got, want)
		}
	}
}

// micros is how many ns a wait began after a recording, both in whole us; -1 where there is none, or after it.
func micros(t *testing.T, wait, record string) int64 {
	t.Helper()
	if record == "" {
		return -1
	}
	var at [2]int64
	for i, text := range []string{record, wait} {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		at[i] = n
	}
	return max(-1, 1000*(at[1]-at[0]))
}

// xpuTrace is as Kineto writes work of Intel's GPUs: see XpuptiActivityHandlers.cpp there.
const xpuTrace = `{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 900, "tid": 901, "ts": 95786069998.433, "dur": 44332.734, "args": {"External id": 5}},
{"ph": "X", "cat": "xpu_runtime", "name": "urEnqueueKernelLaunch", "pid": 900, "tid": 901, "ts": 95786113648.115, "dur": 640.290, "args": {"External id": 5, "correlation": 4131}},
{"ph": "X", "cat": "kernel", "name": "gemm_kernel", "pid": 1, "tid": 3, "ts": 95786114294.336, "dur": 8.960, "args": {"External id": 5, "correlation": 4131, "appended": "95786113700.1", "device": 1, "context": "0x55d0",
 "sycl queue": 3, "l0 queue": "0x1", "kernel_id": 18446744073709551615}},
{"ph": "X", "cat": "gpu_memset", "name": "Memset (0 -> Device)", "pid": 1, "tid": 3, "ts": 95786114300.000, "dur": 1.500, "args": {"correlation": 4132, "device": 1, "context": "0x55d0", "bytes": 64, "memory bandwidth (GB/s)": 0.04}},
{"ph": "X", "cat": "xpu_sync", "name": "zeEventHostSynchronize", "pid": -1, "tid": 901, "ts": 95786114310.000, "dur": 2.250, "args": {"correlation": 4133, "Type": "HOST_EVENT", "Context_handle": "0x55d0"}},
{"ph": "X", "cat": "xpu_scope_profiler", "name": "metric: gemm_kernel", "pid": 1, "tid": 3, "ts": 95786114294.336, "dur": 8.960},
{"ph": "X", "cat": "cuda_event", "name": "record", "pid": 1, "tid": 3, "ts": 95786114294.336, "dur": 0}
]}`

// npuTrace is as torch_npu writes work of Ascend's devices, without categories and with times as texts.
const npuTrace = `[{"name": "process_name", "pid": 1084473760, "tid": 0, "ph": "M", "args": {"name": "Ascend Hardware"}},
{"name": "process_labels", "pid": 1084473760, "tid": 0, "ph": "M", "args": {"labels": "NPU 3"}},
{"name": "Node@launch", "pid": 76820902, "tid": 772226, "ts": "1699529623106700.320\t", "dur": 14.719999999, "args": {"Thread Id": 772226, "Mode": "launch", "level": "node", "id": "0", "item_id": "Sub", "connection_id": 3756}, "ph": "X"},
{"name": "MatMulV2", "pid": 1084473760, "tid": 4, "ts": "1699529623106750.5", "dur": 31.92, "ph": "X", "args": {"Task Type": "AI_CORE", "Stream Id": 4, "Task Id": 33573, "Batch Id": 23, "Subtask Id": 4294967295, "connection_id": 3756}},
{"name": "SDMA", "pid": 1084473760, "tid": 11, "ts": "1699529623106790", "dur": "0.74", "ph": "X", "args": {"Task Type": "SDMA", "Stream Id": 11, "Task Id": 4043}},
{"name": "EVENT_WAIT", "pid": 1084473760, "tid": 4, "ts": "1699529623106800", "dur": 2, "ph": "X", "args": {"Task Type": "EVENT_WAIT", "Stream Id": 4}}]`

// mergedTrace is of two processes whose ids a merge made texts.
const mergedTrace = `{"schemaVersion": 1, "traceEvents": [
{"ph": "M", "name": "process_name", "pid": "rank 0", "tid": 0, "args": {"name": "python"}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": "rank 0", "tid": 1, "ts": 5, "dur": 2, "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": "rank 0 GPU 2", "tid": "stream 7", "ts": 20, "dur": 3, "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": "rank 1 GPU", "tid": "stream 7", "ts": 30, "dur": 4, "args": {"correlation": 10, "device": 3, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": "rank 1 GPU", "tid": "stream 7", "ts": 40, "dur": 5, "args": {"correlation": 11}}]}`

// tornTrace has a quote that is not escaped, as in pytorch#113001.
const tornTrace = `{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5},
{"ph": "X", "cat": "cpu_op", "name": "torch::jit "fused" ({},{})", "pid": 1, "tid": 1, "ts": 7, "dur": 5, "args": {"x": [{"y": 1}, {"z": 2}]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 13, "dur": 5},
{"ph": "X", "cat": "cpu_op", "name": "a","b", "pid": 1, "tid": 1, "ts": 19, "dur": 5},
{"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1, "ts": 25, "dur": 5}]}`

// TestForeignForms reads forms of which there is no public capture, as their makers document them.
func TestForeignForms(t *testing.T) {
	w := newWarehouse(t)
	work := `SELECT k.device_id, k.stream_id, k.duration_ns, k.launch_duration_ns, n.name FROM kernel k JOIN run r USING (run_id) JOIN kernel_name n USING (run_id, kernel_name_id) WHERE r.name = '%s' ORDER BY k.start_ns`
	others := `SELECT 'copy', operation, duration_ns, size_bytes FROM memop JOIN run r USING (run_id) WHERE r.name = '%[1]s' UNION ALL SELECT 'sync', kind, duration_ns, NULL FROM sync JOIN run r USING (run_id) WHERE r.name = '%[1]s'`
	devices := `SELECT d.device_id, d.name FROM device d JOIN run r USING (run_id) WHERE r.name = '%s'`
	for _, c := range []struct {
		name, text, sql, want string
	}{
		{"xpu", xpuTrace, work, "[1|3|8960|640290|gemm_kernel]"},
		{"xpu", "", others, "[copy|memset|1500|64 sync|zeEventHostSynchronize|2250|~]"},
		{"xpu", "", devices, "[1|Intel device]"},
		{"npu", npuTrace, work, "[3|4|31920|14720|MatMulV2]"},
		{"npu", "", others, "[copy|SDMA|740|~ sync|EVENT_WAIT|2000|~]"},
		{"npu", "", devices, "[3|Ascend device]"},
		{"merged", mergedTrace, work, "[2|7|3000|2000|k 3|7|4000|~|k]"},
		{"merged", "", `SELECT p.pid, p.name FROM process p JOIN run r USING (run_id) WHERE r.name = '%s'`, "[1073741824|rank 0]"},
		{"torn", tornTrace, `SELECT n.name FROM op JOIN op_name n USING (run_id, op_name_id) JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY op.start_ns`, "[aten::mm aten::add aten::mul]"},
		{"torn", "", `SELECT s.status, s.reason FROM source s JOIN run r USING (run_id) WHERE r.name = '%s'`,
			fmt.Sprintf("[partial|2 events are not stored: they are no JSON, as where a quote in a name is not escaped; the first begins at byte %d: expected , or } in an object, at byte %d]",
				strings.Index(tornTrace, `{"ph": "X", "cat": "cpu_op", "name": "torch`), strings.Index(tornTrace, "fused"))},
	} {
		if c.text != "" {
			warnings := strings.Join(store(t, w, c.name, write(t, c.name+".json", c.text)), "\n")
			for _, want := range map[string][]string{"xpu": {"1 events of category xpu_scope_profiler are not stored"}, "npu": {}, "merged": {"the processes of 4 events are text", "1 events of kernel are not stored: they have numbers out of range (device)"},
				"torn": {"2 events are not stored"}}[c.name] {
				if !strings.Contains(warnings, want) {
					t.Errorf("%s: the warnings are %q, want %q", c.name, warnings, want)
				}
			}
		}
		if got := fmt.Sprint(rows(t, w, fmt.Sprintf(c.sql, c.name))); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}
