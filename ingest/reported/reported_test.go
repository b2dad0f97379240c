package reported

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
)

const first = "../../testdata/first/20251107-115812/"

// formOf gives the forms that take a file.
func formsOf(name string, text []byte) (out []string) {
	for _, f := range Forms() {
		if f.Sniff(strings.ToLower(filepath.Base(name)), text[:min(len(text), 64<<10)]) {
			out = append(out, f.Name)
		}
	}
	return out
}

func form(t testing.TB, name string) Form {
	t.Helper()
	all := Forms()
	at := slices.IndexFunc(all, func(f Form) bool { return f.Name == name })
	if at < 0 {
		t.Fatalf("no form %s", name)
	}
	return all[at]
}

// samples are files by their forms.
var samples = map[string]string{"env.json": "environment", "inputs.yaml": "inputs", "config.yaml": "settings", "assumptions.md": "assumptions", "kernels.md": "kernel-table", "static_compute.json": "static-compute",
	"torchinfo-summary.txt": "torchinfo", "ncu/command.yaml": "ncu-command"}

// TestSniff: each file of a folder of the first implementation is of its form alone, and no other file of the captures is of any.
func TestSniff(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../../testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var want []string
		if rel, err := filepath.Rel(first, path); err == nil && samples[filepath.ToSlash(rel)] != "" {
			want, seen = []string{samples[filepath.ToSlash(rel)]}, seen+1
		}
		if got := formsOf(path, text); !slices.Equal(got, want) {
			t.Errorf("%s is taken for %q, want %q", path, got, want)
		}
		return nil
	})
	if err != nil || seen != len(samples) {
		t.Errorf("%d samples, %v", seen, err)
	}
}

// TestSniffOthers: files of other programs, and what prof report writes under the same names, are not taken.
func TestSniffOthers(t *testing.T) {
	for name, text := range map[string]string{
		"config.json": `{"model_type": "llama", "hidden_size": 64, "torch_dtype": "bfloat16"}`, "env.json": `{"PATH": "/bin", "HOME": "/root"}`, "environment.json": `{"dependencies": {"torch": "2.1"}}`,
		"settings.json": `{"gpu": "x", "torch": "2.1"}`, "config.yaml": "site_name: docs\nnav:\n- a.md\n", "app.config.yaml": "model: x\ntrainer: y\n", "inputs.yaml": "count: 3\n", "mkdocs.yml": "hydra: x\n",
		"assumptions.md": "# Assumptions\n\nWhat the figures of this run rest on.\n\n## Run Assumptions\n\n- Device: x\n", "notes.md": "# Run Assumptions\n\nnone\n",
		"kernels.md":          "# Kernel Summary (Top-K)\n\n| kernel_name | total_ms | calls | mean_ms | device | share |\n| --- | --- | --- | --- | --- | --- |\n",
		"static_compute.json": `{"metadata": {"convention": "full"}, "total": {"params": 1, "flops": 2}, "stages": {"prefill": {"params": 1, "flops": 2}}, "prof_version": "x"}`,
		"model.json":          `{"name": "m", "params": 5, "stages": {}, "seq_len": 4}`, "points.json": `{"points": [1, 2]}`, "list.json": `[{"total_params": 1}]`, "number.json": "000", "cut.json": `{"gpu`, "empty.json": "",
		"report.env.json": `{"gpu": "x", "cuda": null, "torch": null, "facts": [], "missing": {}}`,
		"layers.txt":      "Layer (type)   Output Shape   Param #\n=====\nTotal params: 3\n",
	} {
		if got := formsOf(name, []byte(text)); len(got) > 0 {
			t.Errorf("%s is taken for %q", name, got)
		}
	}
}

// lines are what a report says.
func (r *Report) lines() (out []string) {
	text := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.17g", *v)
	}
	for _, v := range r.Values {
		line := strings.Join([]string{v.Scope, v.Subject, v.Metric, v.Unit, text(v.Value), text(v.Std)}, "|")
		if v.Count != nil {
			line += fmt.Sprintf("|%d", *v.Count)
		}
		out = append(out, line)
	}
	return out
}

func readSample(t *testing.T, name string) *Report {
	t.Helper()
	r, err := form(t, samples[name]).open(first+name, name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestValues: figures in base units, exactly as the decimal numbers in the files are.
func TestValues(t *testing.T) {
	for name, want := range map[string][]string{
		"kernels.md": {"kernel|fmha_cutlassF_bf16_aligned_64x64_rf_sm80(T1::Params)|total_ns|ns|160960000|-|1", "kernel|fmha_cutlassF_bf16_aligned_64x64_rf_sm80(T1::Params)|mean_ns|ns|160960000|-",
			"kernel|void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(T1::Params)|total_ns|ns|23424000|-|0",
			"kernel|void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(T1::Params)|mean_ns|ns|23424000|-"},
		"static_compute.json": {"model||parameter_count|count|3336106240|-", "model||activation_count|count|5100000000|-", "model||flops|flop|2170000000000|-", "stage|sam|parameter_count|count|95569152|-", "stage|sam|activation_count|count|2100000000|-",
			"stage|sam|flops|flop|1486000000000|-", "stage|sam|flops_isolated|flop|1486000000000|-", "stage|sam|flops_analytic|flop|-|-", "stage|decode|parameter_count|count|2930000000|-", "stage|decode|activation_count|count|0|-", "stage|decode|flops|flop|489000000|-",
			"stage|decode|flops_isolated|flop|-|-", "stage|decode|flops_analytic|flop|489000000|-"},
		"torchinfo-summary.txt": {"model||parameter_count|count|3170627840|-", "model||trainable_parameter_count|count|3170627840|-", "model||non_trainable_parameter_count|count|0|-", "model||mac_count|mac|184270000000|-", "model||input_bytes|bytes|16130000|-",
			"model||pass_bytes|bytes|6235730000|-", "model||parameter_bytes|bytes|6306040000|-", "model||estimated_bytes|bytes|12557900000|-"},
	} {
		if got := readSample(t, name).lines(); !slices.Equal(got, want) {
			t.Errorf("%s gives\n  %s\nwant\n  %s", name, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
}

// TestFacts: settings by dotted names; of an environment's variables none.
func TestFacts(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"env.json":            {"gpu": "NVIDIA GeForce RTX 5090", "cuda": "12.8", "torch": "2.10.0.dev20251102+cu128", "transformers": "4.46.3"},
		"inputs.yaml":         {"count": "2", "images.1.bytes": "481204", "images.2.width": "", "images.2.path": "/workspace/datasets/OpenDataLab___OmniDocBench/images/page-2.png", "subset_filelist": "datasets/omnidocbench/subsets/dev-20.txt"},
		"config.yaml":         {"infer.temperature": "0.0", "dataset.sampling.seed": "", "pipeline.ncu.ncu_cli.sections": "SpeedOfLight, MemoryWorkloadAnalysis, Occupancy, SchedulerStats", "model.dtype": "bf16", "env.HF_TOKEN": "", "env.CUDA_VISIBLE_DEVICES": ""},
		"assumptions.md":      {"Device": "cuda:0", "Seed": "", "Decoding Params.max_new_tokens": "64", "Profiling Settings (PyTorch rep).activities": "[cpu,cuda]"},
		"static_compute.json": {"seq_len": "1024", "fvcore_version": "0.1.5.post20221221", "crop_mode": "true", "notes": "FLOPs are shape-dependent; values based on representative inputs"},
		"ncu/command.yaml":    {"launch_skip": "1", "launch_command": ""},
	} {
		r := readSample(t, name)
		for key, value := range want {
			if got := r.Facts[key]; got != value && !(key == "launch_command" && strings.HasPrefix(got, "python -m llm_perf_opt.runners.llm_profile_runner hydra.run.dir=")) {
				t.Errorf("%s: %s is %q, want %q", name, key, got, value)
			}
		}
	}
	if w := readSample(t, "config.yaml").Warnings; len(w) != 1 || w[0] != "env: variables of an environment are never stored" {
		t.Errorf("%q", w)
	}
}

// TestMetrics: means of a metrics.json, each once; none of one that prof wrote.
func TestMetrics(t *testing.T) {
	text, err := os.ReadFile(first + "metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Metrics(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"run||tokens|count|64|0", "run||tokens_per_s|tokens_per_s|90.501000000000005|1.49", "stage|prefill|time_ns|ns|98336000|64006000", "stage|decode|time_ns|ns|707379000|12346000", "stage|vision|time_ns|ns|39965000|51715000", "stage|sam|time_ns|ns|28801000|40846000",
		"model||mfu_ratio|ratio|0.0026199999999999999|-", "stage|prefill|mfu_ratio|ratio|0.021010999999999998|-", "stage|decode|mfu_ratio|ratio|0.00021100000000000001|-", "stage|vision|mfu_ratio|ratio|0|-", "model||d_model|count|1280|-", "model||d_ff|count|6848|-", "model||n_layers|count|12|-",
		"run||peak_flop_per_s|flop_per_s|209500000000000|-"}
	if got := r.lines(); !slices.Equal(got, want) || len(r.Warnings) > 0 {
		t.Errorf("%q\n  %s", r.Warnings, strings.Join(got, "\n  "))
	}
	for in, want := range map[string]string{
		`{"aggregates": {"prefill_ms": {"mean": 1, "std": 2}, "stage_ms": {"prefill": {"mean": 3, "std": 4}}}}`: "run||prefill_ns|ns|1000000|2000000 stage|prefill|time_ns|ns|3000000|4000000",
		`{"aggregates": {"prefill_ms": 5, "tokens": {"mean": null}, "ttft": {"mean": 7}}}`:                      "run||tokens|count|-|- run||ttft||7|-",
		`{"aggregates": {"prefill_ms": {"mean": "x"}}, "mfu_per_stage": {"prefill": "y"}}`:                      "",
		`{"aggregates": {"prefill_ms": {"mean": 1}}, "queries": {}, "missing": {}}`:                             "",
		`{"aggregates": {}}`: "",
	} {
		r, err := Metrics([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		got := ""
		if r != nil {
			got = strings.Join(r.lines(), " ")
		}
		if got != want {
			t.Errorf("%s gives %q, want %q", in, got, want)
		}
	}
}

// TestOthers: torchinfo's JSON, sweeps, and static analyses in short.
func TestOthers(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"torchinfo-json", `{"total_params": 5, "total_macs": 7, "depth": 3, "seq_len": 1024, "stages": {"sam": {"stage_name": "sam", "params": 0, "macs": 0}}}`}:                    "model||parameter_count|count|5|- model||mac_count|mac|7|-",
		{"torchinfo-json", `{"total_params": 5, "total_macs": 7, "depth": 3, "stages": {"sam": {"params": 2, "macs": 3}}, "layers": [{"a": 1}]}`}:                                    "model||parameter_count|count|5|- model||mac_count|mac|7|- stage|sam|parameter_count|count|2|- stage|sam|mac_count|mac|3|-",
		{"sweep", `{"model_id": "m", "num_points": 1, "points": [{"image_tokens_total": 483, "batch_size": 1, "decode": {"vendor_tflops": 0.1181584896, "analytic_tflops": 0.5}}]}`}: "point|image_tokens_total 483, batch_size 1|decode.vendor|flop|118158489600|- point|image_tokens_total 483, batch_size 1|decode.analytic|flop|500000000000|-",
		{"static-compute", `{"total_flop": 12, "seq_len": 8}`}:                                                         "model||total_flop|flop|12|-",
		{"static-compute", `{"params": {"total": 3, "trainable": 2}, "decode": {"flops_per_token_proj_only": 1.5e3}}`}: "model||trainable_parameter_count|count|2|- model||parameter_count|count|3|- stage|decode|flops_per_token_proj_only|flop|1500|-",
	} {
		if got := formsOf("x.json", []byte(in[1])); !slices.Equal(got, in[:1]) {
			t.Errorf("%s is taken for %q", in[1], got)
		}
		r, err := form(t, in[0]).read([]byte(in[1]))
		if err != nil {
			t.Errorf("%s: %v", in[1], err)
		} else if got := strings.Join(r.lines(), " "); got != want {
			t.Errorf("%s gives\n  %s\nwant\n  %s", in[1], got, want)
		}
	}
}

// TestWrong: errors say where.
func TestWrong(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"environment", `{"gpu": "x", "torch": `}:                                                   "it ends inside its object: was it cut off?",
		{"environment", `{"gpu": "x"} {}`}:                                                          "more follows its object",
		{"environment", `[1]`}:                                                                      "it is JSON, but not an object",
		{"environment", `{"a.b": 1, "a": {"b": 2}}`}:                                                `two values have the name "a.b"`,
		{"environment", strings.Repeat(`{"a":`, 40)}:                                                "nested more than 16 deep",
		{"inputs", "count: 1\ninputs:\n- a: [\n"}:                                                   "line",
		{"inputs", "count: &x 1\ninputs: *x\n"}:                                                     "is not read",
		{"inputs", strings.Repeat("[", 100)}:                                                        "nested more than 16 deep",
		{"inputs", "a: 1\n" + strings.Repeat("- ", 1<<16)}:                                          "nested more than 16 deep",
		{"inputs", strings.Repeat("#", load.MaxYAML+1)}:                                             "larger than 256 KiB",
		{"inputs", "- a\n"}:                                                                         "not one mapping",
		{"assumptions", "# Run Assumptions\n"}:                                                      "it has no setting",
		{"kernel-table", "|kernel_name|total_ms|calls|mean_ms|device|\n|a|1|\n"}:                    "line 2: it has 2 cells, the header 5",
		{"kernel-table", "|kernel_name|total_ms|calls|mean_ms|device|\n|a|x|1|1|d|\n"}:              "line 2: want a name",
		{"static-compute", `{"total": {"params": "many", "activations": 1}}`}:                       "params of model is no number",
		{"torchinfo", "====================\nLayer (type:depth-idx) Param #\n===================="}: "was it cut off?",
		{"sweep", `{"points": 3}`}:                                                                  "points is no list",
	} {
		if r, err := form(t, in[0]).read([]byte(in[1])); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", in[1], r, err, want)
		}
	}
}

// FuzzRead holds the readers to what their callers rely on, whatever the bytes.
func FuzzRead(f *testing.F) {
	for i, one := range Forms() {
		for name, of := range samples {
			if of == one.Name {
				text, err := os.ReadFile(first + name)
				if err != nil {
					f.Fatal(err)
				}
				f.Add(i, text)
				f.Add(i, text[:len(text)/2])
			}
		}
	}
	f.Add(0, []byte("000"))
	f.Add(0, []byte(`{"gpu": [`+strings.Repeat("[],", 1<<18)+`[]]}`))
	f.Add(len(Forms()), []byte(`{"a": [`+strings.Repeat("[],", 1<<18)+`[]], "aggregates": {"prefill_ms": [`+strings.Repeat("{},", 1<<18)+`{}]}}`))
	f.Add(len(Forms()), []byte(`{"aggregates": {"prefill_ms": {"mean": 1e300, "std": 2}, "x_ms": [], "stage_ms": {"prefill": {"mean": 3}}}, "mfu_model_level": 2, "peak_tflops": 1e300}`))
	f.Add(8, []byte(`{"total_params": 5, "total_macs": 7, "depth": 3, "stages": {"sam": {"params": 2, "macs": 3}}}`))
	f.Add(9, []byte(`{"model_id": "m", "num_points": 1, "points": [{"seq_len": 4, "decode": {"vendor_tflops": 0.5}}]}`))
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		all := Forms()
		read := Metrics
		if which >= 0 && which < len(all) {
			read = all[which].read
		}
		for _, name := range []string{"env.json", "inputs.yaml", "config.yaml", "assumptions.md", "x.json"} {
			formsOf(name, text)
		}
		r, err := read(text)
		if err != nil || r == nil {
			return
		}
		if len(r.Facts) > maxFacts || len(r.Values) > maxRows {
			t.Errorf("%d facts, %d figures", len(r.Facts), len(r.Values))
		}
		for _, v := range r.Values {
			for _, f := range []*float64{v.Value, v.Std} {
				if _, err := json.Marshal(f); err != nil || v.Metric == "" || v.Scope == "" {
					t.Errorf("%+v: %v", v, err)
				}
			}
		}
	})
}
