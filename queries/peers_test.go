package queries_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// peerTraces are the traces that testdata/peers has figures of, by the names there.
var peerTraces = map[string]string{
	"train":       "torch/train.trace.json.gz",
	"llama":       "torch/llama.trace.json.gz",
	"graph":       "torch/graph.trace.json.gz",
	"rank0":       "ranks/rank0.trace.json.gz",
	"rank1":       "ranks/rank1.trace.json.gz",
	"event-sync":  "peers/event-sync.trace.json.gz",
	"vllm-decode": "engine/vllm-decode.trace.json.gz",
	"nccl":        "../../shared/captures/others/hta_nccl.trace.json.gz",
	"ns":          "../../shared/captures/others/hta_ns_resolution_rank0.trace.json.gz",
}

// peerFigures reads what another tool says of traces.
func peerFigures(t *testing.T, name string, into any) {
	t.Helper()
	f, err := os.Open("../testdata/peers/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(text).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// near holds that two times are equal but for what a tool loses that keeps microseconds since 1970 in 64-bit floats: a quarter of a microsecond a time.
func near(t *testing.T, what string, got, want, slack int64) {
	t.Helper()
	if got-want > slack || want-got > slack {
		t.Errorf("%s is %d, want %d", what, got, want)
	}
}

// gpuParts are the parts of the GPU's time over the whole capture.
type gpuParts struct{ span, idle, compute, overlapped, exposed, copies int64 }

func partsOf(t *testing.T, w *schema.Warehouse) (p gpuParts) {
	t.Helper()
	f := queryOf(t, w, "accounting", queries.Args{"stage": "(run)"})
	for _, r := range f.Rows {
		ns := number(f, r, "total_ns")
		p.span = number(f, r, "span_total_ns")
		switch r[f.Index("part")] {
		case "compute", "graph":
			p.compute += ns
		case "collective-overlapped":
			p.overlapped = ns
		case "collective-exposed":
			p.exposed = ns
		case "copy":
			p.copies = ns
		default:
			p.idle += ns
		}
	}
	return p
}

type htaPath struct {
	Name      string
	RangeNs   int64 `json:"range_ns"`
	ElapsedNs int64 `json:"elapsed_ns"`
	GPUCount  int64 `json:"gpu_count"`
	GPUNs     int64 `json:"gpu_ns"`
	CPUNs     int64 `json:"cpu_ns"`
	LaunchNs  int64 `json:"kernel_launch_delay_ns"`
	KernelNs  int64 `json:"kernel_kernel_delay_ns"`
}

type htaFigures struct {
	SpanNs    int64    `json:"span_ns"`
	IdleNs    int64    `json:"idle_ns"`
	ComputeNs int64    `json:"compute_ns"`
	OtherNs   int64    `json:"other_ns"`
	Overlap   *float64 `json:"overlap_percent"`
	Kernels   []struct {
		Name   string
		SumNs  int64   `json:"sum_ns"`
		MaxNs  int64   `json:"max_ns"`
		MinNs  int64   `json:"min_ns"`
		MeanNs float64 `json:"mean_ns"`
		StdNs  float64 `json:"std_ns"`
	}
	Launches struct {
		Calls    int64
		APINs    int64 `json:"api_ns"`
		KernelNs int64 `json:"kernel_ns"`
		QueueNs  int64 `json:"queue_ns"`
		Short    int64
	}
	Queues []struct{ Stream, Most int64 }
	Idle   []struct {
		Stream int64
		Kind   string
		Ns     int64
	}
	Copies []struct {
		Name string
		Most float64 `json:"most_bytes_per_s"`
	}
	Paths []htaPath
}

// TestHTA holds figures against those of HolisticTraceAnalysis on the same traces. docs/comparison.md says where the two differ, and why.
func TestHTA(t *testing.T) {
	t.Parallel()
	var all map[string]htaFigures
	peerFigures(t, "hta.json.gz", &all)
	for name, h := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := oneRun(t, peerTraces[name])
			testHTATime(t, w, name, h)
			testHTAKernels(t, w, h)
			testHTALaunches(t, w, h)
			testHTAQueues(t, w, h)
			testHTAPaths(t, w, name, h)
			if name != "event-sync" { // its times are whole microseconds, and the rates that the trace itself has, which HTA repeats, are by nanoseconds
				testHTACopies(t, w, h)
			}
		})
	}
}

func testHTATime(t *testing.T, w *schema.Warehouse, name string, h htaFigures) {
	p := partsOf(t, w)
	idle, other := p.idle, p.exposed+p.copies
	if name == "event-sync" { // HTA takes waits for a stream for work of the GPU
		busy := rowsOf(t, w, `WITH work AS (SELECT start_ns, start_ns + duration_ns AS end_ns FROM kernel UNION ALL SELECT start_ns, start_ns + duration_ns FROM memop UNION ALL SELECT start_ns, start_ns + duration_ns FROM sync WHERE stream_id IS NOT NULL)
			SELECT CAST(sum(greatest(end_ns - greatest(start_ns, coalesce(before, start_ns)), 0)) AS BIGINT) FROM (SELECT start_ns, end_ns, max(end_ns) OVER (ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM work)`)[0][0].(int64)
		other += idle - (p.span - busy)
		if idle = p.span - busy; idle == p.idle {
			t.Error("no wait counts as work")
		}
	}
	const slack = 60
	near(t, "span", p.span, h.SpanNs, slack)
	near(t, "idle", idle, h.IdleNs, slack)
	near(t, "compute", p.compute+p.overlapped, h.ComputeNs, slack)
	near(t, "other work", other, h.OtherNs, slack)
	if collective := p.overlapped + p.exposed; (collective > 0) != (h.Overlap != nil) {
		t.Errorf("%d ns of collectives, want overlap %v", collective, h.Overlap)
	} else if h.Overlap != nil {
		if got := math.Round(1e4*float64(p.overlapped)/float64(collective)) / 100; got != *h.Overlap {
			t.Errorf("%v %% of collectives are overlapped, want %v", got, *h.Overlap)
		}
	}
	kinds, border := map[string]int64{}, map[string]int64{} // in the words of HTA; and of gaps where the launch began within a quarter of a microsecond of their start
	for _, r := range rowsOf(t, w, `WITH work AS (SELECT stream_id, start_ns, duration_ns, launch_start_ns FROM kernel UNION ALL SELECT stream_id, start_ns, duration_ns, launch_start_ns FROM memop), gap AS (
			SELECT stream_id, launch_start_ns, start_ns, lag(start_ns + duration_ns) OVER (PARTITION BY stream_id ORDER BY start_ns) AS end_ns FROM work)
		SELECT stream_id, CASE WHEN launch_start_ns > end_ns THEN 'host_wait' WHEN start_ns - end_ns < 30000 THEN 'kernel_wait' ELSE 'other' END, CAST(sum(start_ns - end_ns) AS BIGINT), CAST(coalesce(sum(start_ns - end_ns) FILTER (abs(launch_start_ns - end_ns) < 250), 0) AS BIGINT) FROM gap WHERE end_ns IS NOT NULL GROUP BY ALL`) {
		kinds[fmt.Sprint(r[0], r[1])] = r[2].(int64)
		border[fmt.Sprint(r[0])] += r[3].(int64)
	}
	for _, x := range h.Idle {
		near(t, fmt.Sprintf("%s of stream %d", x.Kind, x.Stream), kinds[fmt.Sprint(x.Stream, x.Kind)], x.Ns, slack+border[fmt.Sprint(x.Stream)])
	}
}

func testHTAKernels(t *testing.T, w *schema.Warehouse, h htaFigures) {
	f := queryOf(t, w, "top-kernels", queries.Args{"top": "0", "warmup": "true"})
	left := slices.Clone(f.Rows)
	for _, k := range h.Kernels {
		i := slices.IndexFunc(left, func(r []any) bool { // some names are mangled in the trace
			return r[f.Index("kernel")] == k.Name || strings.HasPrefix(k.Name, "_Z") && number(f, r, "total_ns") == k.SumNs
		})
		switch {
		case i < 0 && strings.HasSuffix(k.Name, "Event"): // "Stream Wait Event" is no kernel
		case i < 0:
			t.Errorf("%s is missing", k.Name)
		default:
			r := left[i]
			if number(f, r, "total_ns") != k.SumNs || number(f, r, "max_ns") != k.MaxNs || number(f, r, "min_ns") != k.MinNs {
				t.Errorf("%v, want %+v", r, k)
			}
			same(t, k.Name, r[f.Index("mean_ns")], k.MeanNs, 1e-9)
			if std := r[f.Index("std_ns")]; std != nil { // of a single call HTA has 0
				same(t, k.Name, std, k.StdNs, 1e-6)
			}
			left = slices.Delete(left, i, i+1)
		}
	}
	for _, r := range left {
		t.Errorf("HTA has no %v", r)
	}
}

// testHTALaunches compares launches by the functions that HTA knows here.
func testHTALaunches(t *testing.T, w *schema.Warehouse, h htaFigures) {
	f := queryOf(t, w, "launches", queries.Args{"top": "0"})
	got := h.Launches
	got.Calls, got.APINs, got.KernelNs, got.QueueNs, got.Short = 0, 0, 0, 0, 0
	for _, r := range f.Rows {
		if api := r[f.Index("api")]; api != "cudaLaunchKernel" && api != "cudaLaunchKernelExC" {
			continue
		}
		got.Calls += number(f, r, "calls")
		got.APINs += number(f, r, "api_sum_ns")
		got.KernelNs += number(f, r, "kernel_sum_ns")
		got.Short += number(f, r, "short_count")
		if mean, ok := r[f.Index("queue_mean_ns")].(float64); ok {
			got.QueueNs += int64(math.Round(mean * float64(number(f, r, "queued"))))
		}
	}
	near(t, "time queued", got.QueueNs, h.Launches.QueueNs, 10*got.Calls)
	got.QueueNs = h.Launches.QueueNs
	if got != h.Launches {
		t.Errorf("launches %+v, want %+v", got, h.Launches)
	}
}

// testHTAQueues compares the greatest lengths of queues: of the work that HTA counts with HTA's, and of that with all work's.
func testHTAQueues(t *testing.T, w *schema.Warehouse, h htaFigures) {
	most := map[int64]int64{}
	for _, r := range rowsOf(t, w, `WITH work AS (SELECT k.stream_id, k.launch_start_ns, k.start_ns, k.run_id, k.launch_name_id FROM kernel k UNION ALL SELECT m.stream_id, m.launch_start_ns, m.start_ns, m.run_id, m.launch_name_id FROM memop m),
		change AS (
			SELECT w.stream_id, unnest([least(w.launch_start_ns, w.start_ns), w.start_ns]) AS at_ns, unnest([1, -1]) AS step FROM work w JOIN api_name a ON a.run_id = w.run_id AND a.api_name_id = w.launch_name_id
			WHERE a.name IN ('cudaLaunchKernel', 'cudaLaunchKernelExC', 'cuLaunchKernel', 'cudaMemcpyAsync', 'cudaMemsetAsync')
		)
		SELECT stream_id, CAST(max(n) AS BIGINT) FROM (SELECT stream_id, sum(step) OVER (PARTITION BY stream_id ORDER BY at_ns, step DESC ROWS UNBOUNDED PRECEDING) AS n FROM change) GROUP BY stream_id`) {
		most[r[0].(int64)] = r[1].(int64)
	}
	f := queryOf(t, w, "stream-queues", nil)
	for _, q := range h.Queues {
		if most[q.Stream] != q.Most {
			t.Errorf("at most %d queued on stream %d, want %d", most[q.Stream], q.Stream, q.Most)
		}
		i := slices.IndexFunc(f.Rows, func(r []any) bool { return number(f, r, "stream") == q.Stream })
		if i < 0 || number(f, f.Rows[i], "max_count") < q.Most {
			t.Errorf("stream %d: %v, want %d or more", q.Stream, f.Rows, q.Most)
		}
	}
}

func testHTACopies(t *testing.T, w *schema.Warehouse, h htaFigures) {
	f := queryOf(t, w, "copy-sizes", nil)
	names := strings.NewReplacer("Memcpy ", "memcpy ", "HtoD", "Host-to-Device", "DtoH", "Device-to-Host", "DtoD", "Device-to-Device", "Memset", "memset")
	for _, c := range h.Copies {
		most := 0.0
		for _, r := range f.Rows {
			if rate, ok := r[f.Index("rate_max_bytes_per_s")].(float64); ok && r[f.Index("operation")] == names.Replace(c.Name) {
				most = max(most, rate)
			}
		}
		same(t, c.Name, most, c.Most, 1e-9)
	}
}

// testHTAPaths compares critical paths of the same windows. Where both go over the GPU, they go over the same work; HTA's is never longer.
func testHTAPaths(t *testing.T, w *schema.Warehouse, name string, h htaFigures) {
	equal := map[string]int{"event-sync": 1, "rank0": 1, "ns": 1}[name]
	for _, p := range h.Paths {
		for _, r := range rowsOf(t, w, `SELECT s.basis, s.duration_ns, count(*) FILTER (g.cause IN ('kernel', 'copy', 'collective', 'earlier') AND g.device_id IS NOT NULL), CAST(coalesce(sum(g.duration_ns) FILTER (g.cause IN ('kernel', 'copy', 'collective') AND g.device_id IS NOT NULL), 0) AS BIGINT)
			FROM critical_step s JOIN nvtx_range n ON n.run_id = s.run_id AND n.range_id = s.range_id JOIN critical_segment g ON g.run_id = s.run_id AND g.step_id = s.step_id WHERE n.duration_ns = %d GROUP BY ALL`, p.RangeNs) {
			if r[0] != "period" && r[1].(int64) < p.ElapsedNs {
				t.Errorf("%s takes %d ns, HTA's path %d", p.Name, r[1], p.ElapsedNs)
			}
			if sum := p.CPUNs + p.GPUNs + p.LaunchNs + p.KernelNs; sum > p.ElapsedNs+1000 {
				t.Errorf("%s: HTA's path has %d ns in %d", p.Name, sum, p.ElapsedNs)
			}
			if r[3].(int64) == p.GPUNs && p.GPUNs > 0 {
				equal--
			}
		}
	}
	if equal > 0 {
		t.Errorf("%d paths have not the GPU work that HTA's have", equal)
	}
}

type lensOperator struct {
	Operator, Category string
	Shapes             [][]int64
	Calls, Flop, Bytes int64
	TimeNs             int64 `json:"time_ns"`
}

type lensFigures struct {
	Traces map[string]struct {
		Time        map[string]int64
		Operators   []lensOperator
		Collectives []struct {
			Name         string
			Bytes, Calls int64
			TotalNs      int64 `json:"total_ns"`
			MinNs        int64 `json:"min_ns"`
			MaxNs        int64 `json:"max_ns"`
		}
	}
	Ranks []struct {
		Name       string
		Bytes      int64
		TransferNs int64   `json:"transfer_ns"`
		SkewNs     int64   `json:"skew_ns"`
		BusGiB     float64 `json:"bus_gib_per_s"`
	}
}

var lensCollectives = map[string]string{"allreduce": "all-reduce", "_allgather_base": "all-gather", "_reduce_scatter_base": "reduce-scatter", "all_to_allv": "all-to-all", "broadcast": "broadcast", "send": "send", "recv": "recv"}

// TestTraceLens holds figures against those of TraceLens on the same traces. docs/comparison.md says where the two differ, and why.
func TestTraceLens(t *testing.T) {
	t.Parallel()
	var all lensFigures
	peerFigures(t, "tracelens.json.gz", &all)
	for name, l := range all.Traces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := oneRun(t, peerTraces[name])
			p := partsOf(t, w)
			const slack = 100
			near(t, "span", p.span, l.Time["total_ns"], slack)
			near(t, "idle", p.idle, l.Time["idle_ns"], slack)
			near(t, "collectives", p.exposed+p.overlapped, l.Time["total_comm_ns"], slack)
			// Fills are computation to TraceLens, and hide copies and collectives.
			fills := rowsOf(t, w, "SELECT CAST(coalesce(sum(duration_ns), 0) AS BIGINT) FROM memop WHERE operation = 'memset'")[0][0].(int64)
			near(t, "computation", p.compute+p.overlapped+fills, l.Time["computation_ns"], slack)
			if got := p.exposed + p.copies - l.Time["exposed_comm_ns"] - l.Time["exposed_memcpy_ns"]; got < -slack || got > fills+slack {
				t.Errorf("%d ns of exposed collectives and copies more, want %d at most", got, fills)
			}
			testLensOperators(t, w, l.Operators)
			f := queryOf(t, w, "collective-sizes", nil)
			for _, c := range l.Collectives {
				i := slices.IndexFunc(f.Rows, func(r []any) bool {
					return r[f.Index("operation")] == lensCollectives[c.Name] && number(f, r, "total_bytes") == c.Bytes
				})
				if i < 0 {
					t.Errorf("no %+v", c)
				} else if r := f.Rows[i]; number(f, r, "calls") != c.Calls || number(f, r, "total_ns") != c.TotalNs || number(f, r, "min_ns") != c.MinNs || number(f, r, "max_ns") != c.MaxNs {
					t.Errorf("%v, want %+v", r, c)
				}
			}
		})
	}
	t.Run("ranks", func(t *testing.T) {
		t.Parallel()
		f := testkit.Query(t, testkit.All(t), "rank-skew", queries.Args{"run": "ranks", "top": "0"})
		for _, c := range all.Ranks {
			i := slices.IndexFunc(f.Rows, func(r []any) bool {
				d := number(f, r, "skew_ns") - c.SkewNs
				return r[f.Index("operation")] == lensCollectives[c.Name] && d <= 1300 && d >= -1300 && number(f, r, "transfer_ns") == c.TransferNs
			})
			if i < 0 {
				t.Errorf("no %+v", c)
				continue
			}
			same(t, c.Name, f.Rows[i][f.Index("bus_bytes_per_s")], c.BusGiB*(1<<30), 1e-9)
		}
	})
}

// rounded is a number of either kind; 0 when it is unknown.
func rounded(v any) int64 {
	if x, ok := v.(float64); ok {
		return int64(x)
	}
	n, _ := v.(int64)
	return n
}

// testLensOperators compares matrix products: bytes, and FLOP but for those of the bias, which torch.utils.flop_counter leaves out too.
func testLensOperators(t *testing.T, w *schema.Warehouse, list []lensOperator) {
	key := func(operator string, shapes [][]int64) string {
		for i := range shapes {
			if shapes[i] == nil {
				shapes[i] = []int64{}
			}
		}
		return fmt.Sprint(operator, shapes)
	}
	got := map[string][4]int64{}
	f := queryOf(t, w, "operator-roofline", queries.Args{"top": "0"})
	for _, r := range f.Rows {
		var shapes [][]int64
		if text, ok := r[f.Index("shapes")].(string); !ok || json.Unmarshal([]byte(text), &shapes) != nil {
			continue // lists of tensors
		}
		sum := got[key(r[f.Index("operator")].(string), shapes)]
		for i, column := range []string{"calls", "self_device_ns", "full_flop", "read_bytes"} {
			sum[i] += rounded(r[f.Index(column)])
		}
		sum[3] += rounded(r[f.Index("write_bytes")])
		got[key(r[f.Index("operator")].(string), shapes)] = sum
	}
	want := map[string][4]int64{}
	for _, o := range list {
		if o.Category != "GEMM" {
			continue
		}
		if o.Operator == "vllm::rocm_unquantized_gemm" { // it calls aten::mm with the transposed weight, which prof counts
			x, w := o.Shapes[0], o.Shapes[1]
			o.Operator, o.Shapes = "aten::mm", [][]int64{x, {w[1], w[0]}}
		}
		flop := o.Flop * o.Calls
		if o.Operator == "aten::addmm" {
			flop -= o.Shapes[1][0] * o.Shapes[2][1] * o.Calls
		}
		k := key(o.Operator, o.Shapes)
		sum := want[k]
		want[k] = [4]int64{sum[0] + o.Calls, sum[1] + o.TimeNs, sum[2] + flop, sum[3] + o.Bytes*o.Calls}
	}
	for k, x := range want {
		g := got[k]
		if more := g[1] - x[1]; more < -50*x[0] || more > 50*x[0]+x[1]/100 { // of kernels of one call that overlap, TraceLens has the union
			t.Errorf("%s takes %d ns, want %d", k, g[1], x[1])
		}
		if g[1] = x[1]; g != x {
			t.Errorf("%s: calls, time, FLOP, bytes are %d, want %d", k, g, x)
		}
	}
}
