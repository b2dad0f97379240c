package torch_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/ingest/rows/rowstest"
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

// tableOf returns where an event belongs by what its makers say of it.
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
	of := map[string]*rowstest.Kept{}
	for _, name := range []string{"mtia", "counters", "all-streams"} {
		path := foreign + name + ".trace.json.gz"
		k, warnings := stored(t, path)
		if of[name] = k; len(warnings) > 0 {
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
			ns, kept := new(big.Rat).Mul(&s.dur, big.NewRat(1000, 1)), k.Table(table)
			got, want := "", fmt.Sprint(s.n, "|", ns.RatString())
			if table != "ncu_launch" {
				got = fmt.Sprint(len(kept), "|", kept.Sum("duration_ns"))
			}
			switch table {
			case "ncu_launch":
				values := 0.0
				for _, m := range k.Table("ncu_metric") {
					values += m.Get("value").(float64)
				}
				got, want = fmt.Sprintf("%d|%.0f", len(kept), values), fmt.Sprint(s.n, "|", &s.counts)
			case "memop":
				got, want = fmt.Sprint(got, "|", kept.Sum("size_bytes")), fmt.Sprint(want, "|", &s.bytes)
			}
			if got != want {
				t.Errorf("%s: %s is %q, the file has %q", name, table, got, want)
			}
		}
	}
	of["mtia"].Table("device").Expect(t, "device_id name", "17|MTIA ARTEMIS")
	for _, c := range [][]string{{"memop", "operation", "memcpy Device-to-Host", "memcpy Host-to-Device"}, {"sync", "kind", "event_record", "event_wait"}} {
		if got := slices.Compact(slices.Sorted(slices.Values(of["mtia"].Table(c[0]).Texts(c[1])))); !slices.Equal(got, c[2:]) {
			t.Errorf("%s: %q, want %q", c[0], got, c[2:])
		}
	}
	if all := of["all-streams"].Table("sync").Is("kind", "Context sync"); len(all) != 5 || len(all.Is("stream_id", "~")) != 5 {
		t.Errorf("synchronisations of all streams: %q", all.Texts("kind stream_id"))
	}
	if left := of["counters"].Table("source_part").Where(func(r rowstest.Row) bool { return r.Text("reason") == "not stored" && r.Int("read_count") > 3 }); len(left) > 0 {
		t.Errorf("not stored: %q", left.Texts("part read_count"))
	}
}

// TestRecordedEvents holds where the events were recorded that waits name to the file's JSON.
func TestRecordedEvents(t *testing.T) {
	for name, path := range map[string]string{"all-streams": foreign + "all-streams.trace.json.gz", "event-sync": "../../testdata/peers/event-sync.trace.json.gz"} {
		k, _ := stored(t, path)
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
		var got []string
		for _, r := range k.Table("sync") {
			since := int64(-1)
			if r.Get("record_start_ns") != nil {
				since = r.Int("start_ns") - r.Int("record_start_ns")
			}
			if r.Get("event_id") != nil {
				got = append(got, fmt.Sprint(r.Text("correlation_id"), "|", r.Text("event_id"), "|", r.Text("record_device_id"), "|", r.Text("record_stream_id"), "|", since))
			}
		}
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
	const work = "device_id stream_id duration_ns launch_duration_ns kernel_name_id.name"
	at := fmt.Sprintf("at least 2 events, in %d bytes, are not stored: they are no JSON, as where a quote in a name is not escaped; the first begins at byte %d: expected , or } in an object, at byte %d",
		len(strings.Split(tornTrace, "\n")[2])+len(strings.Split(tornTrace, "\n")[4])-2, strings.Index(tornTrace, `{"ph": "X", "cat": "cpu_op", "name": "torch`), strings.Index(tornTrace, "fused"))
	for name, c := range map[string]struct {
		text           string
		warnings       []string
		status, reason string
		want           [][]string // table, columns, rows
	}{
		"xpu": {xpuTrace, []string{"1 events of category xpu_scope_profiler are not stored"}, "", "", [][]string{{"kernel", work, "1|3|8960|640290|gemm_kernel"}, {"memop", "operation duration_ns size_bytes", "memset|1500|64"},
			{"sync", "kind duration_ns", "zeEventHostSynchronize|2250"}, {"device", "device_id name", "1|Intel device"}}},
		"npu": {npuTrace, nil, "", "", [][]string{{"kernel", work, "3|4|31920|14720|MatMulV2"}, {"memop", "operation duration_ns size_bytes", "SDMA|740|~"}, {"sync", "kind duration_ns", "EVENT_WAIT|2000"},
			{"device", "device_id name", "3|Ascend device"}}},
		"merged": {mergedTrace, []string{"the processes of 4 events are text", "1 events of kernel are not stored: they have numbers out of range (device)"}, "", "",
			[][]string{{"kernel", work, "2|7|3000|2000|k", "3|7|4000|~|k"}, {"process", "pid name", "1073741824|rank 0"}}},
		"torn": {tornTrace, []string{"at least 2 events, in "}, "partial", at, [][]string{{"op", "op_name_id.name", "aten::mm", "aten::add", "aten::mul"}}},
	} {
		t.Run(name, func(t *testing.T) {
			k, infos, err := tryStored(t, write(t, name+".json", c.text))
			if err != nil {
				t.Fatal(err)
			}
			i := infos[0]
			for _, want := range c.warnings {
				if !strings.Contains(strings.Join(i.Warnings, "\n"), want) {
					t.Errorf("the warnings are %q, want %q", i.Warnings, want)
				}
			}
			if i.Status != c.status || i.Reason != c.reason {
				t.Errorf("it is %q: %q, want %q: %q", i.Status, i.Reason, c.status, c.reason)
			}
			for _, w := range c.want {
				table := k.Table(w[0])
				if w[0] == "kernel" || w[0] == "op" {
					table = table.By("start_ns")
				}
				table.Expect(t, w[1], w[2:]...)
			}
		})
	}
}
