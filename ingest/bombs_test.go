package ingest_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest"
	"prof/ingest/load"
	"prof/ingest/rows/rowstest"
)

// mostHeap is what a file of some megabytes may take of the heap: of a process of 512 MiB the heap has 160 MiB.
const mostHeap = 128 << 20

// TestBombs: no file of a few megabytes takes much memory, whatever it has much of: lists of nothing, fields of nothing, one long text.
func TestBombs(t *testing.T) {
	for _, b := range bombs() {
		t.Run(b.form+" "+b.what, func(t *testing.T) {
			name := b.name
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(b.text()), 0o644); err != nil {
				t.Fatal(err)
			}
			took := peak(func() {
				for _, f := range ingest.Formats() {
					if f.Name != b.form {
						continue
					}
					k := rowstest.New(t, load.Options{APIRows: true})
					_, err := f.Identify(t.Context(), path, path)
					if err == nil {
						_, err = f.Load(t.Context(), path, path, k.Target)
					}
					switch {
					case err == nil && b.says != "":
						t.Errorf("it is taken, want %q", b.says)
					case err != nil && strings.Count(err.Error(), b.says) > 1 && b.says != "":
						t.Errorf("the error %v says %q twice", err, b.says)
					case err != nil && (b.says == "" || !strings.Contains(err.Error(), b.says) || !strings.Contains(err.Error(), name)):
						t.Errorf("the error is %v, want one of %s: %q", err, name, b.says)
					}
				}
			})
			if took > mostHeap {
				t.Errorf("it took %d MiB of the heap", took>>20)
			}
			t.Logf("%d MiB", took>>20)
		})
	}
}

// peak is the most that the heap holds while a function runs, garbage nearly left out.
func peak(f func()) (most uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
	before := read()
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most = max(most, read())
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	<-stopped
	return most - min(before, most)
}

// bomb is a file whose content is much of something small. says is what its error says; "" where it is read.
type bomb struct {
	form, what, name string
	text             func() string
	says             string
}

func bombs() (out []bomb) {
	const size = 4 << 20
	much := func(of string) string { return strings.Repeat(of, size/len(of)) }
	whats := map[string]func() string{
		"lists":   func() string { return "[" + much("[],") + "[]]" },
		"objects": func() string { return "[" + much(`{"":0},`) + "{}]" },
		"empty":   func() string { return "[" + much("{},") + "{}]" },
		"texts":   func() string { return "[" + much(`"",`) + `""]` },
		"many":    func() string { return "[" + strings.Repeat("{},", 1<<21) + "{}]" },
		"few":     func() string { return "[" + strings.Repeat("{},", 200_000) + "{}]" },
		"numbers": func() string { return "[" + strings.Repeat("1,", 600_000) + "1]" },
		"members": func() string {
			var b strings.Builder
			for b.WriteByte('{'); b.Len() < size; {
				fmt.Fprintf(&b, `"%x":{},`, b.Len())
			}
			return b.String() + `"":0}`
		},
	}
	for _, f := range []struct{ form, whats, name, head, tail, says string }{
		{"environment", "lists objects members", "env.json", `{"gpu":"H200","cuda":"12.4","zz":`, `}`, fewValues},
		{"static-compute", "lists", "static_compute.json", `{"total_flop":1,"seq_len":1,"zz":`, `}`, fewValues},
		{"hf-config", "lists objects members", "config.json", `{"model_type":"llama","zz":`, `}`, fewValues},
		{"workload", "members", "workload.json", `{"batch":1,"zz":`, `}`, ""},
		{"workload", "members", "workload.json", `{"batch":1,"processes":[`, `]}`, "pid is null"},
		{"workload", "empty lists", "workload.json", `{"batch":1,"processes":`, `}`, "want a list of at most 65536 objects"},
		{"workload", "objects", "workload.json", `{"config":{"model_type":"llama","zz":`, `}}`, fewValues},
		{"workload", "lists", "metrics.json", `{"aggregates":{"prefill_ms":{"mean":1,"std":0},"zz":`, `}}`, fewValues},
		{"workload", "lists", "metrics.json", `{"aggregates":{"prefill_ms":{"mean":1,"std":0}},"zz":`, `}`, ""},
		{"workload", "objects", "workload.json", `{"runs":[{"prefill_len":1,"zz":`, `}]}`, fewValues},
		{"prof-run", "empty", "run.json", `{"version":1,"run":"r","started_at":"2026-01-02T03:04:05Z","passes":`, `}`, fewValues},
		{"prof-run", "empty", "run.json", `{"version":1,"run":"r","started_at":"2026-01-02T03:04:05Z","inputs":`, `}`, fewValues},
		{"proton-tree", "many", "p.hatchet", `[{"frame":{"name":"ROOT"},"metrics":{},"children":`, `}]`, "more than 2097152 values"},
		{"proton-trace", "texts", "p.chrome_trace", `{"displayTimeUnit":"us","traceEvents":[{"cat":"kernel","ph":"X","name":"k","ts":1,"dur":1,"pid":0,"tid":0,"args":{"call_stack":`, `}}]}`, fewValues},
		{"torch-trace", "objects", "t.json", `{"schemaVersion":1,"deviceProperties":`, `,"traceEvents":[]}`, fewValues},
		{"torch-trace", "lists", "t.json", `{"schemaVersion":`, `,"deviceProperties":[],"traceEvents":[]}`, fewValues},
		{"torch-trace", "lists", "t.json", `{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1000,"dur":5,"args":{"Input Dims":`, `}}]}`, ""},
		{"torch-averages", "objects", "a.json", `[{"key":"aten::mm","count":1,"zz":`, `}]`, "not a key_averages() table"},
		{"rocprof-json", "few", "r.json", `{"rocprofiler-sdk-tool":[{"metadata":{"pid":1},"agents":`, `}]}`, "no kernels"},
		{"rocprof-json", "texts", "r.json", `{"rocprofiler-sdk-tool":[{"metadata":{"pid":1},"agents":[{"zz":`, `}]}]}`, fewValues},
		{"vllm-bench", "numbers", "v.json", `{"ttfts":`, `}`, "completed is"},
		{"aiperf-requests", "lists", "p.jsonl", `{"metadata":{"benchmark_phase":"profiling"},"metrics":{},"zz":`, `}`, fewValues},
	} {
		for what := range strings.FieldsSeq(f.whats) {
			out = append(out, bomb{f.form, what, f.name, func() string { return f.head + whats[what]() + f.tail }, f.says})
		}
	}
	for _, f := range []struct{ form, name, head, unit, says string }{
		{"rocprof-csv", "k_kernel_trace.csv", `"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"` + "\n", ",", "a row has more than 262144 cells"},
		{"torch-averages", "key_averages.csv", "Name,# of Calls,Self CPU total,CPU total\n", ",", "a row has more than 262144 cells"},
		{"kernel-table", "kernels.md", "| kernel_name | total_ms | calls | mean_ms | device |\n", "|", "more than 1024 KiB"},
		{"kernel-table", "kernels.md", "| kernel_name | total_ms | calls | mean_ms | device |\n", "\n", ""},
		{"assumptions", "assumptions.md", "# Run Assumptions\n- a: 1\n", "\n", ""},
		{"nsys-stats", "x_cuda_gpu_kern_sum.csv", "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n", ",", "x_cuda_gpu_kern_sum.csv"},
	} {
		out = append(out, bomb{f.form, fmt.Sprintf("%q", f.unit), f.name, func() string { return f.head + much(f.unit) }, f.says})
	}
	field := func(n protowire.Number, b string) string {
		return string(protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), b))
	}
	gpu := field(2, "/device:GPU:0")
	for what, x := range map[string]struct {
		text func() string
		says string
	}{
		"planes": {func() string { return much(field(1, "")) }, "more than any profile: over 10000 planes"},
		"lines":  {func() string { return field(1, gpu+much(field(3, ""))) }, "over 1000000 lines"},
		"names":  {func() string { return field(1, gpu+much(field(4, ""))) }, "over 64 MiB of names"},
		"events": {func() string {
			return field(1, gpu+field(3, field(2, "Modules")+strings.Repeat(field(4, ""), 200_000)))
		}, "no streams of a GPU"},
		"errors":     {func() string { return field(1, gpu) + much(field(2, "dropped")) }, "no streams of a GPU"},
		"zeros":      {func() string { return much("\x00") }, "at byte 0: not an XSpace"},
		"one name":   {func() string { return field(1, field(2, much("x"))) }, "no streams of a GPU"},
		"own values": {func() string { return field(1, gpu+much(field(6, ""))) }, "no streams of a GPU"},
	} {
		out = append(out, bomb{"xplane", what, "b.xplane.pb", x.text, x.says})
	}
	le := func(n int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	sized := func(m string) string { return le(len(m)) + m }
	varint := func(n protowire.Number, v int) string {
		return string(protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), uint64(v)))
	}
	report := func(header, result string) func() string {
		return func() string {
			payload := sized(result)
			return "NVR\x00" + sized(varint(1, 2)) + sized(header+varint(2, 1)+varint(5, len(payload))) + payload
		}
	}
	way := func(ns ...protowire.Number) string { // much of nothing at the end of a way of fields
		text := much(field(ns[len(ns)-1], ""))
		for i := len(ns) - 2; i >= 0; i-- {
			text = field(ns[i], text)
		}
		return text
	}
	for _, r := range []struct {
		header, result []protowire.Number
		says           string
	}{
		{header: []protowire.Number{3, 6}, says: "more than 1024 GPUs"},
		{header: []protowire.Number{3, 8}, says: "more than 10000 versions"},
		{header: []protowire.Number{4, 1}, says: "more than 1048576 metric names"},
		{result: []protowire.Number{21, 2}, says: "more than 10000 threads with ranges"},
		{result: []protowire.Number{21, 3, 3}, says: "more than 10000 open ranges"},
		{result: []protowire.Number{21, 2, 2, 3}, says: "more than 10000 open ranges"},
		{result: []protowire.Number{17, 5}, says: "more than 100000 parts of a section"},
		{result: []protowire.Number{19, 3, 1, 8}, says: "more than 100000 findings of rules"},
		{result: []protowire.Number{19, 3, 1, 12, 2, 4}, says: "more than 100000 findings of rules"},
		{result: []protowire.Number{19, 3, 1}, says: "more than 100000 findings of rules"},
		{result: []protowire.Number{13}, says: ""},
	} {
		out = append(out, bomb{"ncu-rep", fmt.Sprint(r.header, r.result), "r.ncu-rep", func() string {
			if r.header != nil {
				return report(way(r.header...), "\x00")()
			}
			return report("", way(r.result...))()
		}, r.says})
	}
	return out
}

const fewValues = "more than 262144 values"
