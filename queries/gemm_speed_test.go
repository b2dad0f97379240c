package queries_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// product is one row of gemm-speed.
type product struct {
	Stage, Layers, Component, Kernel, Grid, Unknown string
	Calls, TotalNS, ReduceNS                        int64
	M, FLOP, Bytes, FLOPPerS, BytesPerS             float64
	FLOPRatio, DRAMRatio, Attained, Matched         float64
	N, K, Ranks                                     int64
}

// products are the rows of gemm-speed; numbers that are not known are NaN, or -1.
func products(f *frame.Frame) (out []product) {
	for _, r := range f.Rows {
		text := func(c string) string { s, _ := r[f.Index(c)].(string); return s }
		count := func(c string) int64 {
			if n, ok := r[f.Index(c)].(int64); ok {
				return n
			}
			return -1
		}
		number := func(c string) float64 {
			if v, ok := r[f.Index(c)].(float64); ok {
				return v
			}
			return math.NaN()
		}
		out = append(out, product{Stage: text("stage"), Layers: text("layers"), Component: text("component"), Kernel: text("kernel"), Grid: text("grid"), Unknown: text("unknown"),
			Calls: count("calls"), TotalNS: count("total_ns"), ReduceNS: count("reduce_ns"), N: count("output_count"), K: count("input_count"), Ranks: count("rank_count"),
			M: number("row_count"), FLOP: number("flop"), Bytes: number("bytes"), FLOPPerS: number("achieved_flop_per_s"), BytesPerS: number("achieved_bytes_per_s"),
			FLOPRatio: number("flop_ratio"), DRAMRatio: number("dram_ratio"), Attained: number("attained_ratio"), Matched: number("matched_ratio")})
	}
	return out
}

// speeds asks gemm-speed of a run.
func speeds(t *testing.T, w *schema.Warehouse, run string, more ...string) []product {
	t.Helper()
	args := queries.Args{"run": run}
	for i := 0; i < len(more); i += 2 {
		args[more[i]] = more[i+1]
	}
	return products(testkit.Query(t, w, "gemm-speed", args))
}

// within reports whether two numbers are equal but for a share.
func within(got, want, share float64) bool { return math.Abs(got/want-1) <= share }

// smallLlama is the workload of the two-layer Llama of testdata/torch and testdata/ncu: the shapes of llama_workload, and other tokens.
func smallLlama(t *testing.T, prefill, decode, passes int) string {
	t.Helper()
	text, err := os.ReadFile(llamaWorkload)
	if err != nil {
		t.Fatal(err)
	}
	var w map[string]any
	if err := json.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	w["config"].(map[string]any)["num_hidden_layers"] = 2
	var runs []any
	for range passes {
		runs = append(runs, map[string]any{"prefill_len": prefill, "new_tokens": decode})
	}
	w["runs"] = runs
	if text, err = json.Marshal(w); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "workload.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestGemmSpeed compares the products of a Llama of 16 layers, whose decode replays a CUDA graph, with what its configuration says, by hand.
func TestGemmSpeed(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	const batch, prompt, hidden, kv, inner, vocab, width = 1, 512, 2048, 512, 8192, 128256, 2 // bfloat16
	sizes := map[string][2]int64{
		"q_proj": {hidden, hidden}, "k_proj": {kv, hidden}, "v_proj": {kv, hidden}, "o_proj": {hidden, hidden},
		"mlp.gate_proj": {inner, hidden}, "mlp.up_proj": {inner, hidden}, "mlp.down_proj": {hidden, inner}, "lm_head": {vocab, hidden},
	}
	got := speeds(t, w, "utilised")
	seen := map[string]int{}
	var gateUp, gateUpCalls int64
	for _, p := range got {
		if p.Component == "" {
			if p.Unknown != "outside" || !math.IsNaN(p.FLOP) || !strings.Contains(p.Kernel, "sgemm") {
				t.Errorf("only the product of the rotary table is of no layer: %+v", p)
			}
			continue
		}
		seen[p.Stage+" "+p.Component]++
		n, k, m := float64(sizes[p.Component][0]), float64(sizes[p.Component][1]), float64(batch)
		calls, layers := int64(3*32*16), "layers 0-15"
		if p.Stage == "prefill" {
			m, calls = prompt, 3*16
		}
		if p.Component == "lm_head" { // of a prompt the last position alone: all would be faster than the GPU can
			m, calls, layers = 1, calls/16, "head"
		}
		bytes, flop := width*(n*k+m*(n+k)), 2*m*n*k
		if p.Unknown != "" || p.Layers != layers || p.Calls != calls || p.M != m || p.N != int64(n) || p.K != int64(k) || p.FLOP != flop || p.Bytes != bytes || p.Ranks != 1 {
			t.Errorf("%s %s: %+v, want %d calls of %s, %v x %v x %v, %v FLOP, %v bytes", p.Stage, p.Component, p, calls, layers, m, n, k, flop, bytes)
		}
		ns := float64(p.TotalNS) / float64(p.Calls)
		if !within(p.BytesPerS, bytes/ns*1e9, 1e-9) || !within(p.FLOPPerS, flop/ns*1e9, 1e-9) || !within(p.DRAMRatio, p.BytesPerS/4.8e12, 1e-9) || !within(p.FLOPRatio, p.FLOPPerS/989.4e12, 1e-9) || p.Attained != max(p.DRAMRatio, p.FLOPRatio) {
			t.Errorf("%s %s: rates %+v", p.Stage, p.Component, p)
		}
		if split := strings.Contains(p.Kernel, "splitK"); split != (p.ReduceNS > 0) {
			t.Errorf("%s %s: %s has %d ns of adding up parts", p.Stage, p.Component, p.Kernel, p.ReduceNS)
		}
		if p.Stage == "decode" && strings.HasSuffix(p.Component, "gate_proj") || p.Stage == "decode" && strings.HasSuffix(p.Component, "up_proj") {
			gateUp, gateUpCalls = gateUp+p.TotalNS, gateUpCalls+p.Calls
		}
		if p.Matched != 1 {
			t.Errorf("%s: %v matched", p.Stage, p.Matched)
		}
	}
	for _, stage := range []string{"prefill", "decode"} {
		for component := range sizes {
			if seen[stage+" "+component] != 1 {
				t.Errorf("%s %s has %d rows", stage, component, seen[stage+" "+component])
			}
		}
	}
	f := queryNoted(t, queries.NewAsker(w), "gemm-speed", queries.Args{"run": "utilised"})
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "decode: 100.0 % of the calls of matrix products match the model's layers by order and count") {
		t.Errorf("the notes do not say how much is matched:\n%s", notes)
	}
	// 33.5 MB in 11.47 us are 2.9 TB/s, 61 % of an H200.
	ns := float64(gateUp) / float64(gateUpCalls)
	if rate := inner * hidden * width / ns * 1e9; !within(ns, 11470, 0.001) || !within(rate, 2.925e12, 0.001) || !within(rate/4.8e12, 0.61, 0.005) {
		t.Errorf("gate and up take %v ns: %v bytes/s", ns, rate)
	}
	// By layer, the rows add up to those by product, and all of them to the stage's matrix kernels.
	var byLayer, byProduct int64
	layers := speeds(t, w, "utilised", "by", "layer")
	for _, p := range layers {
		byLayer += p.TotalNS
	}
	for _, p := range got {
		byProduct += p.TotalNS
	}
	whole := rows(t, w, `SELECT sum(k.duration_ns)::BIGINT FROM kernel k JOIN run r USING (run_id) JOIN kernel_class c USING (run_id, kernel_name_id)
		JOIN pass_context x ON x.run_id = k.run_id AND x.range_context_id = k.range_context_id WHERE r.name = 'utilised' AND NOT x.is_warmup AND (c.role = 'gemm' OR c.family = 'cublasLt splitK reduce')`)
	if want := fmt.Sprintf("[%d]", byProduct); byLayer != byProduct || len(layers) != 2*(16*7+2) || whole[0] != want {
		t.Errorf("%d rows by layer with %d ns, %d by product, %s in all", len(layers), byLayer, byProduct, whole[0])
	}
}

// TestGemmSpeedRefuses: a timeline of another model than the configuration's, and products that fit no form, have no figures but a reason.
func TestGemmSpeedRefuses(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for run, want := range map[string]string{"utilised-eager": "sequence", "utilised-sdpa": "sequence", "nccl2-tokens": "sequence"} {
		for _, p := range speeds(t, w, run) {
			if p.Unknown != want && p.Unknown != "tokens" || p.Component != "" || !math.IsNaN(p.FLOP) || !math.IsNaN(p.Bytes) || p.Matched >= 0.95 {
				t.Errorf("%s: %+v, want no figure: %s", run, p, want)
			}
		}
	}
	// An engine that computes queries, keys and values as one product, and gate and up as another; its prefills run one sequence after the
	// other, eagerly, which no form has.
	for _, run := range []string{"engine-node", "engine-trace"} {
		found := map[string]string{}
		for _, p := range speeds(t, w, run) {
			if p.Stage != "decode" {
				if p.Unknown != "sequence" {
					t.Errorf("%s: %+v", run, p)
				}
				continue
			}
			found[p.Component] = fmt.Sprint(p.K, " ", p.N, " ", p.Calls)
			if p.Unknown != "" || !within(p.M, 11./6, 1e-9) || p.Matched != 1 { // 4, 2, 2, 1, 1, 1 sequences
				t.Errorf("%s: %+v", run, p)
			}
		}
		want := map[string]string{"q_proj+k_proj+v_proj": "512 1536 12", "o_proj": "512 512 12", "mlp.gate_proj+up_proj": "512 2048 12", "mlp.down_proj": "1024 512 12", "lm_head": "512 1000 6"}
		if fmt.Sprint(found) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", run, found, want)
		}
	}
}

// TestGemmSpeedOperators compares what order and count tell with the sizes that PyTorch recorded of the operators that launched the kernels.
func TestGemmSpeedOperators(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Run{Name: "torch", Files: []string{"torch/llama.trace.json.gz", smallLlama(t, 256, 4, 2)}})
	known := 0
	for _, p := range speeds(t, w, "torch") {
		if p.Component == "" {
			continue
		}
		known++
		shapes := rows(t, w, fmt.Sprintf(`SELECT DISTINCT i.shapes FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) JOIN op o USING (run_id, op_id) JOIN op_input i USING (run_id, op_input_id)
			JOIN kernel_shape h USING (run_id, kernel_shape_id) JOIN path_stage s ON s.run_id = k.run_id AND s.path_id = k.path_id
			WHERE n.name = '%s' AND s.stage = '%s' AND _dims(h.grid_x, h.grid_y, h.grid_z) = '%s' AND contains(i.shapes, ', %d]')`, p.Kernel, p.Stage, p.Grid, p.N))
		want := fmt.Sprintf("[[[%v, %d], [%d, %d]", p.M, p.K, p.K, p.N)
		found := false
		for _, s := range shapes {
			found = found || strings.HasPrefix(s, want)
		}
		if p.Unknown != "" || !found {
			t.Errorf("%s %s is %v x %d x %d (%s), PyTorch has %q", p.Stage, p.Component, p.M, p.N, p.K, p.Unknown, shapes)
		}
	}
	if known != 16 {
		t.Errorf("%d products, want 16", known)
	}
}

// TestGemmSpeedProfiled compares FLOP and bytes with what Nsight Compute measured of the same kernels. Tensor cores multiply whole tiles: a decode of
// one row counts as the 8 or 64 rows of its kernel's tile, and outputs as whole clusters of tiles.
func TestGemmSpeedProfiled(t *testing.T) {
	t.Parallel()
	list := []testkit.Run{{Name: "llama", Files: []string{"ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz", smallLlama(t, 512, 2, 1)}}}
	want := map[string]int{"llama": 6}
	if dsocr, err := filepath.Abs("../../shared/captures"); err == nil {
		if _, err := os.Stat(dsocr); err == nil {
			list = append(list, testkit.Run{Name: "dsocr", Files: []string{dsocr + "/nsys/dsocr-sdpa/dsocr-sdpa.sqlite.gz", dsocr + "/nsys/dsocr-sdpa/workload.json", dsocr + "/ncu/dsocr-decode.ncu-rep.gz"}})
			want["dsocr"] = 4
		}
	}
	w := testkit.Warehouse(t, list...)
	for run, want := range want {
		compared := 0
		for _, p := range speeds(t, w, run) {
			if p.Unknown != "" {
				continue
			}
			measured := rowsOf(t, w, `SELECT max(f.flop), max(m.value) FILTER (n.name = 'dram__bytes_read.sum') + max(m.value) FILTER (n.name = 'dram__bytes_write.sum')
				FROM ncu_launch l JOIN run r USING (run_id) JOIN kernel_name k USING (run_id, kernel_name_id) JOIN path_stage s USING (run_id, path_id)
				LEFT JOIN ncu_metric m ON m.run_id = l.run_id AND m.launch_id = l.launch_id LEFT JOIN ncu_metric_name n ON n.run_id = m.run_id AND n.metric_id = m.metric_id
				LEFT JOIN ncu_flop f ON f.run_id = l.run_id AND f.launch_id = l.launch_id AND f.is_main
				WHERE r.name = '%s' AND k.name = '%s' AND s.stage = '%s' AND _dims(l.grid_x, l.grid_y, l.grid_z) = '%s' GROUP BY l.launch_id`, run, p.Kernel, p.Stage, p.Grid)
			var tile, other, cluster, along int64
			if n, err := fmt.Sscanf(p.Kernel[strings.Index(p.Kernel, "tst_")+4:], "%dx%d", &tile, &other); len(measured) == 0 || n != 2 || err != nil {
				continue
			}
			if n, err := fmt.Sscanf(strings.Split(p.Kernel, "_")[5], "%dx%d", &cluster, &along); n != 2 || err != nil {
				t.Fatalf("%s: %v", p.Kernel, err)
			}
			up := func(n, by int64) int64 { return (n + by - 1) / by * by }
			outputs, m := up(p.N, tile*cluster), up(int64(p.M), other)
			compared++
			if flop, ok := measured[0][0].(float64); !ok || !within(2*float64(m*outputs*p.K), flop, 0.05) {
				t.Errorf("%s %s %s: 2 x %d x %d x %d FLOP in tiles, Nsight Compute has %v", run, p.Stage, p.Component, m, outputs, p.K, measured[0][0])
			}
			if bytes, ok := measured[0][1].(float64); ok && !within(p.Bytes, bytes, 0.05) {
				t.Errorf("%s %s %s: %v bytes, Nsight Compute has %v", run, p.Stage, p.Component, p.Bytes, bytes)
			} else if !ok && run == "dsocr" {
				t.Errorf("%s %s %s: %v", run, p.Stage, p.Component, measured)
			}
		}
		if compared != want {
			t.Errorf("%s: %d products compared, want %d", run, compared, want)
		}
	}
}
