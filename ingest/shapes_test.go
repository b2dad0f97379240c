package ingest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/internal/exports"
	"prof/queries"
	"prof/schema"
	"prof/testdata"
)

// shape is an input that has many of one thing.
type shape struct {
	name  string
	sizes []int // how many
	write func(dir string, n int) error
}

var shapes = []shape{
	{"ranges", []int{20_000, 80_000, 320_000}, func(dir string, n int) error {
		tables, err := exports.ReadFile("../testdata/nsys/emit-nvtx/emit-nvtx.sqlite.gz")
		if err != nil {
			return err
		}
		at := slices.IndexFunc(tables, func(t *exports.Table) bool { return t.Name == "NVTX_EVENTS" })
		return exports.Repeat(filepath.Join(dir, "a.sqlite"), tables, n/len(tables[at].Rows)+1)
	}},
	{"launches-of-one-stage", []int{20_000, 80_000, 320_000}, func(dir string, n int) error {
		return made{names: nested(20, 100), launches: n, streams: 1, texts: oneRange("decode")}.write(dir)
	}},
	{"300-kernel-names", []int{300 * 800, 300 * 3200, 300 * 13_000}, func(dir string, n int) error {
		return made{names: nested(300, n/300), launches: 3000, streams: 1, texts: oneRange("prefill")}.write(dir)
	}},
	{"one-kernel-name", []int{1e6, 3e6, 10e6}, func(dir string, n int) error {
		// Launched once: a kernel that recurs gives each step its name.
		return made{names: append(nested(1, n), "other"), launches: 2, streams: 1, texts: oneRange("prefill")}.write(dir)
	}},
	{"steps-of-one-kernel-name", []int{300, 3000, 30_000}, stepsOfKernel},
	{"steps-of-one-range-name", []int{300, 3000, 30_000}, stepsOfRange},
	{"kineto-threads", []int{1000, 10_000, 100_000}, writeThreads},
	{"streams", []int{250, 1000, 4000}, func(dir string, n int) error {
		return made{names: nested(20, 100), launches: 20 * n, streams: n, texts: oneRange("prefill")}.write(dir)
	}},
	{"ranks", []int{32, 128, 512}, writeRanks},
	{"exports", []int{32, 128, 512}, func(dir string, n int) error {
		for i := range n {
			rank := filepath.Join(dir, strconv.Itoa(i))
			if err := os.Mkdir(rank, 0o755); err != nil {
				return err
			}
			if err := (made{names: nested(20, 100), launches: 1000, streams: 1, texts: oneRange("rank " + strings.Repeat("i", i))}).write(rank); err != nil {
				return err
			}
		}
		return nil
	}},
	{"range-texts", []int{10_000, 100_000, 1_000_000}, func(dir string, n int) error {
		return made{names: nested(20, 100), launches: 10_000, streams: 1, ranges: n, texts: func(i int) string { return "request " + letters.Replace(strconv.Itoa(i)) }}.write(dir)
	}},
}

// stepsOfKernel writes steps that each begin with a kernel of a name of a megabyte.
func stepsOfKernel(dir string, n int) error {
	return made{names: append(nested(1, 1e6), nested(3, 100)...), launches: 4 * n, streams: 1, texts: oneRange("all")}.write(dir)
}

// stepsOfRange writes steps that are ranges of a name of a megabyte.
func stepsOfRange(dir string, n int) error {
	return made{names: nested(4, 100), launches: 4 * n, streams: 1, ranges: n, named: "step " + strings.Repeat("#", 1e6)}.write(dir)
}

// rangesInRange writes ranges of distinct names in one with a name of a megabyte.
func rangesInRange(dir string, n int) error {
	return made{names: nested(4, 100), launches: 4 * n, streams: 1, ranges: n, named: strings.Repeat("n", 1e6), texts: func(i int) string { return "request " + letters.Replace(strconv.Itoa(i)) }}.write(dir)
}

// letters are for names that differ: digits would be taken for counters, and texts that differ in them alone for one.
var letters = strings.NewReplacer("0", "k", "1", "l", "2", "m", "3", "n", "4", "o", "5", "p", "6", "q", "7", "r", "8", "s", "9", "t")

// TestLongNames: what many rows have is stored once, so that a capture whose names together are larger than the memory is ingested.
func TestLongNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write func(dir string, n int) error
		query string
		want  string
	}{
		"kernels":     {stepsOfKernel, "SELECT count(*) || ' steps of ' || max(strlen(name)) FROM steps('bench')", "20 steps of 999999"},
		"ranges":      {stepsOfRange, "SELECT count(*) || ' steps of ' || max(strlen(name)) FROM steps('bench')", "20 steps of 65536"},
		"outer range": {rangesInRange, "SELECT count(*) || ' paths of ' || max(strlen(path)) FROM range_path", "501 paths of 65536"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, home := t.TempDir(), t.TempDir()
			if err := c.write(dir, 500); err != nil {
				t.Fatal(err)
			}
			if _, err := ingestHere(t.Context(), dir, home, "400MB"); err != nil {
				t.Fatal(err)
			}
			w, err := open(t.Context(), home, "400MB")
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			var got string
			if err := w.DB.QueryRowContext(t.Context(), c.query).Scan(&got); err != nil || got != c.want {
				t.Errorf("%q, want %q: %v", got, c.want, err)
			}
		})
	}
}

// BenchmarkShapes ingests what has many of one thing, at three sizes, each in a process of its own, whose memory peak-MB is. Any ingest takes some
// time, so where cost goes with size, cpu-ns/item falls towards a constant; where it rises, it does not. With -short the largest size is left out.
func BenchmarkShapes(b *testing.B) {
	for _, s := range shapes {
		for i, n := range s.sizes {
			if i == len(s.sizes)-1 && testing.Short() {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) { benchmarkShape(b, s, n) })
		}
	}
}

func benchmarkShape(b *testing.B, s shape, n int) {
	dir := b.TempDir()
	if err := s.write(dir, n); err != nil {
		b.Fatal(err)
	}
	var sum cost
	for b.Loop() {
		c, err := ingestElsewhere(b.Context(), dir, b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		sum = cost{sum.Elapsed + c.Elapsed, sum.CPU + c.CPU, sum.Rows + c.Rows, sum.Bytes + c.Bytes, max(sum.PeakKB, c.PeakKB)}
	}
	b.ReportMetric(float64(sum.Elapsed)/float64(b.N), "ns/op") // without the start of the process
	b.ReportMetric(float64(sum.CPU)/float64(b.N*n), "cpu-ns/item")
	b.ReportMetric(float64(sum.Bytes)/1e6/sum.Elapsed.Seconds(), "MB/s")
	b.ReportMetric(float64(sum.Rows)/sum.Elapsed.Seconds(), "rows/s")
	b.ReportMetric(float64(sum.PeakKB)/1000, "peak-MB")
}

// cost is what an ingest takes.
type cost struct {
	Elapsed, CPU time.Duration // CPU of all threads
	Rows, Bytes  int64
	PeakKB       int64 // of the whole process; 0 where only Linux would say
}

// ingestVariable names the input and the home of an ingest that this process is for.
const ingestVariable = "PROF_BENCH_INGEST"

func TestMain(m *testing.M) {
	paths := filepath.SplitList(os.Getenv(ingestVariable))
	if len(paths) != 2 {
		os.Exit(m.Run())
	}
	c, err := ingestHere(context.Background(), paths[0], paths[1], "512MB")
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ingestElsewhere ingests in a process of its own: the peak of this one would be that of all before.
func ingestElsewhere(ctx context.Context, path, home string) (c cost, err error) {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), ingestVariable+"="+path+string(filepath.ListSeparator)+home)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(out, &c)
}

func open(ctx context.Context, home, memory string) (*schema.Warehouse, error) {
	return schema.Open(ctx, schema.Home{Dir: home}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}, MemoryLimit: memory})
}

func ingestHere(ctx context.Context, path, home, memory string) (c cost, err error) {
	w, err := open(ctx, home, memory)
	if err != nil {
		return c, err
	}
	defer w.Close()
	start, before := time.Now(), cpu()
	res, err := ingest.Run(ctx, w, []string{path}, ingest.Options{Name: "bench", Now: start, Load: load.Options{Threads: 2}})
	if err != nil {
		return c, err
	}
	c = cost{Elapsed: time.Since(start), CPU: cpu() - before}
	for _, s := range res.Sources {
		c.Rows += s.Rows
		c.Bytes += s.Size
	}
	c.PeakKB, err = peakKB()
	return c, err
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it fails for wrong arguments only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakKB is the most memory that this process has had; getrusage would count that of the process that started it.
func peakKB() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return 0, fmt.Errorf("/proc/self/status has no VmHWM:\n%s", status)
	}
	return strconv.ParseInt(string(m[1]), 10, 64)
}

// nested returns distinct names of templates in templates.
func nested(count, characters int) []string {
	var out []string
	for i := range count {
		head, tail := fmt.Sprintf("void k%d<", i), ">(int)"
		deep := (characters - len(head) - len(tail)) / len("p<, int>")
		out = append(out, head+strings.Repeat("p<", deep)+"T"+strings.Repeat(", int>", deep)+tail)
	}
	return out
}

func oneRange(text string) func(int) string { return func(int) string { return text } }

// made is an export of one thread, which launches a kernel every microsecond.
type made struct {
	names    []string // of kernels, one after the other
	launches int
	streams  int              // one after the other; on each, work follows work
	ranges   int              // one after the other over all launches; 0 is 1
	texts    func(int) string // of ranges
	named    string           // text that is written once: of a range around all, or without texts of all ranges
}

func (m made) write(dir string) error {
	w, err := exports.Create(filepath.Join(dir, "a.sqlite"))
	if err != nil {
		return err
	}
	const process, thread, call, ranged, kernels = int64(100 << 24), int64(100<<24 | 101), int64(1), int64(2), 4 // the ids of a call's name and a range's, and the first of a kernel's
	ranges := max(1, m.ranges)
	length, around := max(m.launches, ranges), 0
	if m.named != "" && m.texts != nil {
		around = 1
	}
	for _, t := range []struct {
		name, columns string
		rows          int
		row           func(i int64) []any
	}{
		{"StringIds", "id value", kernels + 2*len(m.names), func(i int64) []any {
			switch {
			case i == 0:
				return []any{i, "made"}
			case i == call:
				return []any{i, "cudaLaunchKernel_v7000"}
			case i < kernels:
				return []any{i, m.named}
			case i%2 == 1:
				return []any{i, fmt.Sprintf("k%d", i/2-2)}
			}
			return []any{i, m.names[i/2-2]}
		}},
		{"META_DATA_EXPORT", "name value", 1, func(int64) []any { return []any{"EXPORT_SCHEMA_VERSION", "3.20.0"} }},
		{"NVTX_EVENTS", "start end eventType text textId globalTid", ranges + around, func(i int64) []any {
			each := int64(1000 * length / ranges)
			if i == int64(ranges) {
				return []any{int64(0), i * each, int64(59), nil, ranged, thread}
			}
			row := []any{i * each, (i+1)*each - 1, int64(59), nil, ranged, thread}
			if m.texts != nil {
				row[3], row[4] = m.texts(int(i)), nil
			}
			return row
		}},
		{"CUPTI_ACTIVITY_KIND_RUNTIME", "start end eventClass globalTid correlationId nameId returnValue", m.launches, func(i int64) []any {
			at := 1000 * i
			return []any{at + 100, at + 300, int64(0), thread, i + 1, call, int64(0)}
		}},
		{"CUPTI_ACTIVITY_KIND_KERNEL", "start end deviceId contextId streamId correlationId globalPid demangledName shortName registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory",
			m.launches, func(i int64) []any {
				at, name := 1000*i, kernels+2*(i%int64(len(m.names)))
				return []any{at + 2000, at + 2000 + 800*int64(m.streams), int64(0), int64(1), 7 + i%int64(m.streams), i + 1, process, name, name + 1, int64(32), 1 + i%8, int64(1), int64(1), int64(128), int64(1), int64(1), int64(0), int64(0)}
			}},
	} {
		if err := w.Add(&exports.Table{Name: t.name, Columns: strings.Fields(t.columns)}, numbered(t.rows, t.row)); err != nil {
			return err
		}
	}
	return w.Close()
}

func numbered(n int, row func(int64) []any) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for i := range n {
			if !yield(row(int64(i))) {
				return
			}
		}
	}
}

// writeThreads writes a trace in which each thread runs an operator that launches a kernel.
func writeThreads(dir string, threads int) error {
	f, err := os.Create(filepath.Join(dir, "a.trace.json"))
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	out.WriteString(`{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "prefill", "pid": 1, "tid": 1, "ts": 0, "dur": 1}`)
	for i := range threads {
		fmt.Fprintf(out, `,
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": %[1]d, "ts": %[1]d0.000, "dur": 5.000, "args": {"External id": %[1]d}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": %[1]d, "ts": %[1]d0.500, "dur": 1.000, "args": {"correlation": %[1]d, "External id": %[1]d}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": %[1]d3.500, "dur": 4.000, "args": {"device": 0, "context": 1, "stream": 7, "correlation": %[1]d, "External id": %[1]d, "grid": [1, 1, 1], "block": [128, 1, 1]}}`, i+1)
	}
	out.WriteString("]}\n")
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// writeRanks writes a small trace of each rank.
func writeRanks(dir string, ranks int) error {
	work := []testdata.Kernel{{Name: "gemm", Count: 4, Ns: 20_000, Grid: [3]int{64, 1, 1}, Block: [3]int{128, 1, 1}},
		{Name: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", Count: 1, Ns: 30_000, Grid: [3]int{8, 1, 1}, Block: [3]int{512, 1, 1}}}
	for rank := range ranks {
		t := testdata.Trace{Seed: uint64(rank), Noise: 0.01, Passes: 3, Stages: []testdata.Stage{{Name: "prefill", Kernels: work}, {Name: "decode_all", Steps: 8, Kernels: work}}}
		info := fmt.Sprintf(`{"distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d}, `, rank, ranks)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank%d.trace.json", rank)), append([]byte(info), t.JSON()[1:]...), 0o644); err != nil {
			return err
		}
	}
	return nil
}
