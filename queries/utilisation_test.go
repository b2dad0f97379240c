package queries_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	ingestload "prof/ingest/load"
	"prof/ingest/workload"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

const (
	llamaCapture  = "../testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz"
	llamaWorkload = "../testdata/workload/llama-graph-node.workload.json"
)

// llamaRun is the run of a Llama whose workload is known.
var llamaRun = testkit.Run{Name: "llama", Files: []string{"nsys/llama-graph-node/llama-graph-node.sqlite.gz", "workload/llama-graph-node.workload.json"}}

// useFacts are what mfu reads.
var useFacts = []string{"stage_pass", "stage_share", "pass_alone", "pass_cost", "kernel_precision", "model_size", "caveat", "caveat_iteration", "caveat_overhead", "caveat_pass", "caveat_work"}

// loadFacts ingests files with options.
func loadFacts(t *testing.T, w *schema.Warehouse, o ingest.Options, paths ...string) {
	t.Helper()
	o.Now, o.Load = time.Now(), ingestload.Options{Threads: 2}
	if _, err := ingest.Run(t.Context(), w, paths, o); err != nil {
		t.Fatal(err)
	}
}

// use is one row of mfu.
type use struct {
	f   *frame.Frame
	row []any
}

func (u use) number(t *testing.T, column string) float64 {
	t.Helper()
	switch v := u.row[u.f.Index(column)].(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	case nil:
		return math.NaN()
	}
	t.Fatalf("%s is %v", column, u.row[u.f.Index(column)])
	return 0
}

// utilisation asks mfu and gives its rows by stage.
func utilisation(t *testing.T, w *schema.Warehouse, args queries.Args) (map[string]use, *frame.Frame) {
	t.Helper()
	q, err := queries.Find("mfu")
	if err != nil {
		t.Fatal(err)
	}
	f, err := queries.Run(t.Context(), w, q, args)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]use{}
	for _, r := range f.Rows {
		out[r[0].(string)] = use{f, r}
	}
	return out, f
}

// llamaFLOP is what the Llama of the capture needs, by its shapes: 16 layers of 2048, 32 heads over 8 of 64, an MLP of 8192, and a
// vocabulary of 128,256.
func llamaFLOP(prompt, steps float64) (prefill, decode float64) {
	const d, kv, ff, vocab, layers = 2048, 512, 8192, 128256, 16
	token := layers * 2.0 * (d*d + 2*d*kv + d*d + 3*d*ff)
	pair := layers * 4.0 * d
	contexts := steps*prompt + steps*(steps+1)/2
	return token*prompt + pair*prompt*prompt + 2*d*vocab, (token+2*d*vocab)*steps + pair*contexts
}

// llama opens a warehouse with the run of a Llama whose workload is known.
func llama(t *testing.T) *schema.Warehouse {
	t.Helper()
	return testkit.Warehouse(t, llamaRun)
}

// TestUtilisation holds MFU and MBU of the Llama to its shapes, its kernels' times and the H200's peaks, worked out here.
func TestUtilisation(t *testing.T) {
	t.Parallel()
	w := llama(t)
	got, f := utilisation(t, w, queries.Args{"run": "llama"})
	prefill, decode := llamaFLOP(512, 32)
	const weights = 1498482688 - 262668288 // all but the embedding's table
	for _, c := range []struct {
		stage       string
		flop, bytes float64
	}{
		{"prefill", prefill, 2 * (weights + 512*2048)},
		{"decode", decode, 2*32*(weights+2048) + 16*8*2*64*2*(32*512+32*33/2)},
	} {
		u := got[c.stage]
		spans := rows(t, w, fmt.Sprintf(`SELECT max(k.start_ns + k.duration_ns) - min(k.start_ns) FROM (SELECT run_id, range_context_id, start_ns, duration_ns FROM kernel
			UNION ALL SELECT run_id, range_context_id, start_ns, duration_ns FROM memop) k JOIN range_context x ON x.run_id = k.run_id AND x.range_context_id = k.range_context_id
			JOIN nvtx_range n ON n.run_id = x.run_id AND n.range_id = x.range_id JOIN path_stage s ON s.run_id = n.run_id AND s.path_id = n.path_id AND s.stage_path_id = n.path_id
			WHERE s.stage = '%s' AND k.run_id = _run_id('llama') GROUP BY n.range_id, n.start_ns ORDER BY n.start_ns`, c.stage))
		var ratios, times []float64
		for _, s := range spans[1:] { // the first pass warms up
			var ns float64
			fmt.Sscanf(s, "[%g]", &ns)
			times = append(times, ns)
			ratios = append(ratios, c.flop/(989.4e12*ns/1e9))
		}
		if len(ratios) != 3 || u.number(t, "passes") != 3 {
			t.Fatalf("%s: %d passes, of the timeline %d", c.stage, int(u.number(t, "passes")), len(ratios))
		}
		slices.Sort(times)
		median := times[1] / 1e9
		mean := (ratios[0] + ratios[1] + ratios[2]) / 3
		std := math.Sqrt((sq(ratios[0]-mean) + sq(ratios[1]-mean) + sq(ratios[2]-mean)) / 2)
		for column, want := range map[string]float64{"flop": c.flop, "time_ns": times[1], "peak_flop_per_s": 989.4e12, "mfu_ratio": c.flop / (989.4e12 * median),
			"mfu_mean_ratio": mean, "mfu_std_ratio": std, "mbu_ratio": c.bytes / (4.8e12 * median)} {
			if v := u.number(t, column); math.Abs(v-want) > 1e-9*want {
				t.Errorf("%s: %s is %v, want %v", c.stage, column, v, want)
			}
		}
	}
	if v := got["model"].number(t, "flop"); v != prefill+decode {
		t.Errorf("the model needs %v, want %v", v, prefill+decode)
	}
	if !slices.Contains(f.Notes, "the configuration names no precision; the kernel names say bf16") {
		t.Errorf("notes %q", f.Notes)
	}
}

func sq(x float64) float64 { return x * x }

// TestUtilisationUnknown holds that what is not known is NULL with a hint, and that no other peak stands in.
func TestUtilisationUnknown(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change string
		args   queries.Args
		null   []string
		note   string
	}{
		{"no model", "", queries.Args{"run": "kernels"}, []string{"flop", "mfu_ratio", "mbu_ratio"}, "the run has no model"},
		{"precision without a peak", "", queries.Args{"run": "utilised", "compute": "fp4"}, []string{"peak_flop_per_s", "mfu_ratio"}, "device_peak has no dense fp4 peak for NVIDIA H200"},
		{"unknown device", "UPDATE device SET name = 'NVIDIA H201' WHERE run_id = $run", queries.Args{},
			[]string{"peak_flop_per_s", "mfu_ratio", "mbu_ratio"}, "NVIDIA H201 is not in device_peak"},
		{"nameless device", "UPDATE device SET name = NULL WHERE run_id = $run", queries.Args{},
			[]string{"peak_flop_per_s", "mfu_ratio", "mbu_ratio"}, "the capture does not name its GPU"},
		{"no tokens", "UPDATE workload_pass SET prefill_count = NULL WHERE run_id = $run", queries.Args{},
			[]string{"flop", "mfu_ratio"}, ""},
	}
	var runs []testkit.Run
	for _, c := range cases {
		if c.change != "" {
			runs = append(runs, testkit.Run{Name: c.name, Files: llamaRun.Files, SQL: c.change, Facts: useFacts})
		}
	}
	changed := testkit.Warehouse(t, runs...)
	for _, c := range cases {
		w := testkit.All(t)
		if c.change != "" {
			w, c.args["run"] = changed, c.name
		}
		got, f := utilisation(t, w, c.args)
		for stage, u := range got {
			for _, column := range c.null {
				if v := u.row[u.f.Index(column)]; v != nil {
					t.Errorf("%s: %s of %s is %v", c.name, column, stage, v)
				}
			}
			if u.row[u.f.Index("time_ns")] == nil && stage != "vision" {
				t.Errorf("%s: the time of %s is not known", c.name, stage)
			}
		}
		if len(got) == 0 || !strings.Contains(strings.Join(f.Notes, "\n"), c.note) {
			t.Errorf("%s: %d rows, notes %q", c.name, len(got), f.Notes)
		}
	}
}

// TestUtilisationOptions holds the options of peak, time and convention, and that a ratio over 1 is flagged and not clipped.
func TestUtilisationOptions(t *testing.T) {
	t.Parallel()
	w := llama(t)
	plain, _ := utilisation(t, w, queries.Args{"run": "llama"})
	over, f := utilisation(t, w, queries.Args{"run": "llama", "peak": "1T"})
	for _, stage := range []string{"model", "prefill"} {
		want := plain[stage].number(t, "mfu_ratio") * 989.4
		if v := over[stage].number(t, "mfu_ratio"); math.Abs(v-want) > 1e-9*want || v <= 1 {
			t.Errorf("%s: of 1 TFLOP/s %v, want %v", stage, v, want)
		}
		if !slices.ContainsFunc(f.Notes, func(n string) bool { return strings.HasPrefix(n, stage+": MFU is over 1") }) {
			t.Errorf("%s is not flagged: %q", stage, f.Notes)
		}
	}
	if over["decode"].row[f.Index("fault")] != nil {
		t.Error("decode is flagged")
	}
	causal, _ := utilisation(t, w, queries.Args{"run": "llama", "convention": "causal"})
	less := 16 * 4.0 * 2048 * (512*512 - 512*513/2)
	if v := plain["prefill"].number(t, "flop") - causal["prefill"].number(t, "flop"); v != less {
		t.Errorf("causal is less by %v, want %v", v, less)
	}
	if v := causal["decode"].number(t, "flop"); v != plain["decode"].number(t, "flop") {
		t.Errorf("causal changes decode to %v", v)
	}
	all, _ := utilisation(t, w, queries.Args{"run": "llama", "head": "all"})
	if v := all["prefill"].number(t, "flop") - plain["prefill"].number(t, "flop"); v != 511*2*2048*128256 {
		t.Errorf("the logits of 511 positions more are %v", v)
	}
	busy, _ := utilisation(t, w, queries.Args{"run": "llama", "time_basis": "gpu_busy"})
	if !(busy["decode"].number(t, "mfu_ratio") > plain["decode"].number(t, "mfu_ratio")) {
		t.Error("busy time is not less than the span")
	}
	half, _ := utilisation(t, w, queries.Args{"run": "llama", "dtype": "fp8", "compute": "bf16"})
	if v, want := half["decode"].number(t, "mbu_ratio"), plain["decode"].number(t, "mbu_ratio")/2; math.Abs(v-want) > 1e-12 {
		t.Errorf("weights of half the size give an MBU of %v, want %v", v, want)
	}
	q, _ := queries.Find("mfu")
	for _, bad := range []queries.Args{{"peak": "989"}, {"bandwidth": "4800"}, {"compute": "fp5"}, {"convention": "half"}, {"mla": "x"}, {"head": "x"}, {"time_basis": "wall"}, {"dtype": "q4"}} {
		bad["run"] = "llama"
		if _, err := queries.Run(t.Context(), w, q, bad); !errors.Is(err, queries.ErrBadArgument) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestVisionUtilisation holds that images are part of the prefill, which is not known where they or their crops are not said.
func TestVisionUtilisation(t *testing.T) {
	t.Parallel()
	count := func(n int64) *int64 { return &n }
	cases := []struct {
		pass   workload.Pass
		vision any
		note   string
	}{
		{workload.Pass{Images: count(0)}, int64(0), ""},
		{workload.Pass{Images: count(2), Crops: count(3)}, 2 * (int64(1139967033344) + 3*388149837824), ""},
		{workload.Pass{Images: count(2)}, nil, "the number of crops per image"},
		{workload.Pass{}, nil, "the number of images per prompt is unknown"},
	}
	var runs []testkit.Run
	for i, c := range cases {
		c.pass.Prefill, c.pass.Decode = count(681), count(16)
		runs = append(runs, testkit.Run{Name: fmt.Sprintf("r%d", i), Files: []string{"torch/llama.trace.json.gz"}, Options: ingest.Options{Models: []string{"model/deepseek-ocr.config.json"}, Pass: workload.Uniform(c.pass, nil)}, Facts: useFacts})
	}
	w := testkit.Warehouse(t, runs...)
	for i, c := range cases {
		run := runs[i].Name
		got, f := utilisation(t, w, queries.Args{"run": run})
		prefill, vision := got["prefill"].row[f.Index("flop")], rows(t, w, fmt.Sprintf("SELECT DISTINCT base_flop FROM pass_cost WHERE run_id = _run_id('%s') AND stage = 'vision'", run))
		if want := fmt.Sprintf("[[%v]]", c.vision); fmt.Sprint(vision) != want && !(c.vision == nil && fmt.Sprint(vision) == "[[<nil>]]") {
			t.Errorf("%s: vision %v, want %v", run, vision, want)
		}
		if (prefill == nil) != (c.vision == nil) {
			t.Errorf("%s: prefill is %v", run, prefill)
		}
		if v, ok := c.vision.(int64); ok {
			text := stageFLOP(t, w, "prefill", fmt.Sprintf("'%s'", run))
			if prefill != float64(text+v) {
				t.Errorf("%s: prefill %v, want %d of the decoder and %d of the images", run, prefill, text, v)
			}
		}
		if !strings.Contains(strings.Join(f.Notes, "\n"), c.note) {
			t.Errorf("%s: notes %q", run, f.Notes)
		}
	}
}

// TestSharedCache holds that a layer that attends to another's keys and values reads them in each step and keeps none: of Gemma 3n E2B 30
// layers read, 6 of them all of the context and the others the last 512 tokens, and 20 keep.
func TestSharedCache(t *testing.T) {
	t.Parallel()
	var published map[string]json.RawMessage
	readJSON(t, "../testdata/model/decoder_published.json", &published)
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, published["gemma-3n-e2b"], 0o644); err != nil {
		t.Fatal(err)
	}
	prompt, steps := int64(512), int64(32)
	w := testkit.Warehouse(t, testkit.Run{Name: "shared", Files: llamaRun.Files[:1], Options: ingest.Options{Models: []string{path}, Pass: workload.Uniform(workload.Pass{Prefill: &prompt, Decode: &steps}, nil)}, Facts: useFacts})
	const layer = 2 * 2 * 256 // numbers that a token has in one
	read := float64(layer * (6*(32*512+32*33/2) + 24*32*512))
	if got := rows(t, w, "SELECT DISTINCT cached_count FROM pass_cost WHERE run_id = _run_id('shared') AND stage = 'decode'"); fmt.Sprint(got) != fmt.Sprintf("[[%v]]", read) {
		t.Errorf("decode reads %v numbers, want %v", got, read)
	}
	if got := rows(t, w, "SELECT kv_token_bytes FROM models('shared')"); fmt.Sprint(got) != fmt.Sprintf("[[%d]]", 20*layer*2) {
		t.Errorf("a token keeps %v bytes, want %d", got, 20*layer*2)
	}
}

// TestUtilisationDoubts holds what a capture leaves open: how ranks and GPUs share the work, in which precision, and where vision is.
func TestUtilisationDoubts(t *testing.T) {
	t.Parallel()
	const secondGPU = "INSERT INTO range_device SELECT * REPLACE (1 AS device_id) FROM range_device WHERE run_id = $run"
	const processes = `DELETE FROM nvtx_range WHERE run_id = $run AND start_ns < (SELECT min(n.start_ns) FROM nvtx_range n WHERE n.run_id = $run AND n.name LIKE 'repeat%');
		UPDATE nvtx_range SET pid = pid + 1 WHERE run_id = $run AND start_ns >= (SELECT max(n.start_ns) FROM nvtx_range n WHERE n.run_id = $run AND n.name LIKE 'repeat%')` // with whole measured passes: the warm-up's four steps would contradict the facts
	var runs []testkit.Run
	for _, c := range [][2]string{
		{"as it was", ""},
		{"fp32", "UPDATE model SET dtype = 'fp32' WHERE run_id = $run"},
		{"pass on two", secondGPU + " AND range_id = (SELECT max(n.range_id) FROM nvtx_range n JOIN path_stage s USING (run_id, path_id) WHERE n.run_id = $run AND s.stage = 'decode' AND s.stage_path_id = n.path_id)"},
		{"two GPUs", secondGPU + "; INSERT INTO device SELECT * REPLACE (1 AS device_id) FROM device WHERE run_id = $run"},
		{"vision beside", `UPDATE path_stage SET note = 'vision', note_path_id = path_id, stage = NULL, stage_path_id = NULL WHERE run_id = $run AND path_id IN (SELECT p.path_id FROM range_path p WHERE p.run_id = $run AND p.name LIKE 'repeat%' AND p.depth = 1);
			UPDATE model_layer SET part = 'vit', view = 'image', scope = 'position', position_count = 1 WHERE run_id = $run AND scope = 'logit'`},
		{"two processes", processes},
	} {
		runs = append(runs, testkit.Run{Name: c[0], Files: llamaRun.Files, SQL: "UPDATE model SET dtype = 'bf16' WHERE run_id = $run;" + c[1], Facts: useFacts})
	}
	w := testkit.Warehouse(t, runs...)
	ratio := func(run string, args queries.Args) (float64, string) {
		t.Helper()
		args["run"] = run
		got, f := utilisation(t, w, args)
		return got["decode"].number(t, "mfu_ratio"), strings.Join(f.Notes, "\n")
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-9*want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	unknown := func(run, note string, args queries.Args) {
		t.Helper()
		if v, notes := ratio(run, args); !math.IsNaN(v) || !strings.Contains(notes, note) {
			t.Errorf("%s: %v, notes %s", run, v, notes)
		}
	}
	one, _ := ratio("as it was", queries.Args{})
	busy, _ := ratio("as it was", queries.Args{"time_basis": "gpu_busy"})
	unknown("fp32", "the configuration says fp32, the kernel names say bf16", queries.Args{})
	if got, _ := utilisation(t, w, queries.Args{"run": "fp32"}); !math.IsNaN(got["decode"].number(t, "mbu_ratio")) {
		t.Error("bytes of a precision that is not known")
	}
	v, _ := ratio("fp32", queries.Args{"compute": "bf16"})
	near("the precision as an option", v, one)
	unknown("pass on two", "the share of one GPU in their operations is unknown", queries.Args{"device": "0"})
	v, _ = ratio("two GPUs", queries.Args{})
	near("two GPUs over the same span", v, one/2)
	v, _ = ratio("two GPUs", queries.Args{"time_basis": "gpu_busy"})
	near("two GPUs, both busy", v, busy/2)
	unknown("two GPUs", "the share of one GPU in their operations is unknown", queries.Args{"device": "1"})
	if _, notes := ratio("vision beside", queries.Args{}); !strings.Contains(notes, "vision work lies outside the ranges of prefill") {
		t.Errorf("vision beside the prefill: %s", notes)
	}
	unknown("two processes", "--ranks shared", queries.Args{})
	own, _ := ratio("two processes", queries.Args{"ranks": "own"})
	v, _ = ratio("two processes", queries.Args{"ranks": "shared"})
	near("ranks that share a batch and a GPU", v, own)
	if got := rows(t, w, "SELECT kind FROM caveat WHERE kind = 'processes-share-gpu'"); len(got) > 0 { // one ends before the other begins
		t.Errorf("processes that ran one after the other share a GPU: %v", got)
	}
}

// TestKernelPrecision holds that matrix kernels tell the precision, and not a small one beside them.
func TestKernelPrecision(t *testing.T) {
	t.Parallel()
	const gemms = "run_id = $run AND kernel_name_id IN (SELECT c.kernel_name_id FROM kernel_class c WHERE c.role = 'gemm' AND c.run_id = $run)"
	cases := map[string]string{"ampere_sgemm_128x64_tn": "[[fp32 kernels]]", "sm90_e4m3_gemm": "[[fp8 kernels]]", "sm80_xmma_gemm_f32f32_tf32f32_f32": "[[tf32 kernels]]", "hgemm": "[[fp16 kernels]]"}
	of := []string{"kernel_precision"}
	runs := []testkit.Run{{Name: "llama", Files: llamaRun.Files, Facts: of}, {Name: "none", Files: llamaRun.Files, Facts: of,
		SQL: "UPDATE kernel_name SET name = 'k' WHERE " + gemms + "; DELETE FROM kernel_name WHERE run_id = $run AND NOT (" + gemms + ")"}}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		runs = append(runs, testkit.Run{Name: name, Files: llamaRun.Files, Facts: of, SQL: "UPDATE kernel_name SET name = " + schema.Quote(name) + " WHERE " + gemms})
	}
	w := testkit.Warehouse(t, runs...)
	precision := func(run string) string {
		return fmt.Sprint(rows(t, w, "SELECT precision, origin FROM _run_precision(_run_id('"+run+"'))"))
	}
	if got := precision("llama"); got != "[[bf16 kernels]]" { // a product of the rotary table is in single precision
		t.Error(got)
	}
	for name, want := range cases {
		if got := precision(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := precision("none"); got != "[[<nil> <nil>]]" {
		t.Error(got)
	}
}

// TestBatchAsOption holds that an option says the batch in place of a file, one sequence too.
func TestBatchAsOption(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "workload.json")
	if err := os.WriteFile(path, []byte(`{"batch": 4, "runs": [{"prefill_len": 512, "new_tokens": 32}, {"prefill_len": 512, "new_tokens": 32}, {"prefill_len": 512, "new_tokens": 32}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	w := testkit.Copy(t, testkit.Run{Name: "r", Files: []string{llamaRun.Files[0], path}, Options: ingest.Options{Models: []string{"model/deepseek-ocr.config.json"}}, Facts: useFacts})
	var err error
	if w.Facts, err = derive.Behind(useFacts...); err != nil {
		t.Fatal(err)
	}
	decode := func() float64 {
		got, _ := utilisation(t, w, queries.Args{"run": "r"})
		return got["decode"].number(t, "flop")
	}
	four := decode()
	loadFacts(t, w, ingest.Options{Name: "r", Pass: workload.Uniform(workload.Pass{Batch: 1}, nil)})
	if one := decode(); four != 4*one {
		t.Errorf("a batch of 4 needs %v, of 1 %v", four, one)
	}
}
