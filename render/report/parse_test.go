package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"prof/internal/mask"
	"prof/queries/frame/frametest"
	"prof/queries/judge"
	"prof/render/rendertest"
	"prof/render/typeset"
)

// withoutSQL is a file up to its SQL, which is folded by elements of ours.
func withoutSQL(t *testing.T, text string) string {
	t.Helper()
	text, sql, _ := strings.Cut(text, "\n<details>\n<summary>Query ")
	if !strings.Contains(sql, "```text\nFROM ") {
		t.Error("the SQL is not there")
	}
	return text
}

// TestRankedFilesReadAsTyped holds, by a renderer that is not ours, that names in operators.md and kernels.md are what they are, and that
// the original's columns come first.
func TestRankedFilesReadAsTyped(t *testing.T) {
	page := rendertest.AsHTML(t, withoutSQL(t, fileText(t, fileReport(), markdown(operatorFile))))
	rendertest.OnlyOurs(t, page)
	cells := rendertest.TableCells(page)
	if got := strings.Join(cells[0][:5], " "); got != "op_name total_time_ms cuda_time_ms calls mean_ms" {
		t.Errorf("columns %s", got)
	}
	for i, want := range [][]string{{"aten::mm", "2.000", "9.000", "3", "0.666667", "9.000", "75.0 %", "1.000", "3", "6.000", "3.000", "-0.500"},
		{typeset.Neutral(rendertest.Hostile), "9.000", "12.000", "2", "4.500000", "3.000", "25.0 %", "0.001", "2", "-", "-", "-"}, {rendertest.Breakout, "0.000", "-", "1", "0.000007", "-", "-", "0.000", "-", "-", "-", "-"}} {
		if !slices.Equal(cells[i+1], want) {
			t.Errorf("operator %d: %q, want %q", i+1, cells[i+1], want)
		}
	}
	page = rendertest.AsHTML(t, withoutSQL(t, fileText(t, fileReport(), markdown(kernelFile))))
	rendertest.OnlyOurs(t, page)
	cells = rendertest.TableCells(page)
	if got := strings.Join(cells[0], " "); got != "kernel_name total_ms calls mean_ms device share median_ms role family class limiter of_roof occupancy profiled" {
		t.Errorf("columns %s", got)
	}
	for i, want := range [][]string{{rendertest.Breakout, "9.000", "3", "3.000000", "0 (75.0 %), 1 (25.0 %)", "90.0 %", "2.900000", "gemm", "cublas | nvjet", "latency", "grid", "10.0 %", "6.0 %", "50.0 %"},
		{typeset.Neutral(rendertest.Hostile), "1.000", "1", "1.000000", "1", "10.0 %", "1.000000", "-", "-", "-", "-", "-", "-", "-"}} {
		if !slices.Equal(cells[i+1], want) {
			t.Errorf("kernel %d: %q, want %q", i+1, cells[i+1], want)
		}
	}
	if !strings.Contains(page, "<p>Rows: 2 (k=all)</p>") {
		t.Error("the count of rows is not told")
	}
}

// TestRankedFilesWithoutRows holds that there is a sentence and no table.
func TestRankedFilesWithoutRows(t *testing.T) {
	const none = "No operators: the run was not captured with the PyTorch profiler (prof capture --tools torch)."
	r := emptyReport()
	page := rendertest.AsHTML(t, fileText(t, r, markdown(operatorFile)))
	rendertest.OnlyOurs(t, page)
	if !strings.Contains(rendertest.ShownText(page), none) || len(rendertest.TableCells(page)) > 0 || !strings.Contains(rendertest.ShownText(page), "nothing of top-operators "+rendertest.Breakout) {
		t.Errorf("operators: %s", page)
	}
	r.Frames["sources"] = frametest.Answer("sources", "kind", []any{"torch"})
	if page := rendertest.AsHTML(t, fileText(t, r, markdown(operatorFile))); strings.Contains(page, "was not captured") {
		t.Errorf("with a trace: %s", page)
	}
	page = rendertest.AsHTML(t, fileText(t, r, markdown(kernelFile)))
	if !strings.Contains(page, "No kernels: no kernel ran on a GPU in the capture.") || len(rendertest.TableCells(page)) > 0 {
		t.Errorf("kernels: %s", page)
	}
}

// TestAssumptionsReadAsTyped holds that each line of assumptions.md is an item of its own with its names intact.
func TestAssumptionsReadAsTyped(t *testing.T) {
	for name, r := range map[string]*judge.Report{"full": fileReport(), "empty": emptyReport(), "none": {}} {
		text := fileText(t, r, markdown(assumptionsFile))
		page := rendertest.AsHTML(t, text)
		rendertest.OnlyOurs(t, page)
		if items := rendertest.ListItems(page); len(items) != strings.Count(text, "\n- ") {
			t.Errorf("%s: %d items of %d lines", name, len(items), strings.Count(text, "\n- "))
		}
		if n := strings.Count(rendertest.ShownText(page), rendertest.Breakout); name == "full" && n < 12 {
			t.Errorf("a hostile name is there %d times", n)
		}
	}
}

// nulls gives the paths of the members of an object that are null, lists left out.
func nulls(path string, v any, out map[string]bool) {
	o, is := v.(map[string]any)
	if !is {
		return
	}
	for key, x := range o {
		if x == nil {
			out[path+key] = true
		}
		nulls(path+key+".", x, out)
	}
}

// parsed reads an object of JSON.
func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// keys returns the keys of an object of JSON in their order.
func keys(t *testing.T, text string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(key))
	}
	return out
}

// TestMissingIsExplained holds that each null of metrics.json and env.json has a reason, and nothing else has one; tags are free.
func TestMissingIsExplained(t *testing.T) {
	for _, name := range []string{"metrics.json", "env.json"} {
		for what, r := range map[string]*judge.Report{"full": fileReport(), "empty": emptyReport(), "none": {}} {
			o := parsed(t, fileText(t, r, fileWriters[name]))
			missing := o["missing"].(map[string]any)
			delete(o, "missing")
			found := map[string]bool{}
			nulls("", o, found)
			for path := range found {
				if why, _ := missing[path].(string); why == "" && !strings.HasSuffix(path, "tags") {
					t.Errorf("%s (%s): %s is null without a reason", name, what, path)
				}
			}
			for path := range missing {
				list, isList := o[path].([]any)
				if !found[path] && !(isList && len(list) == 0) {
					t.Errorf("%s (%s): %s has a reason and is not null", name, what, path)
				}
			}
		}
	}
}

// TestMetrics holds order and values of metrics.json.
func TestMetrics(t *testing.T) {
	text := fileText(t, fileReport(), writeMetrics)
	if got := keys(t, text)[:5]; strings.Join(got, " ") != "aggregates mfu_model_level mfu_per_stage model_dims peak_tflops" {
		t.Errorf("the original's keys do not come first: %v", got)
	}
	if empty := keys(t, fileText(t, emptyReport(), writeMetrics)); !slices.Equal(empty, keys(t, text)) {
		t.Errorf("an empty run has the keys %v", empty)
	}
	o := parsed(t, text)
	aggregates := o["aggregates"].(map[string]any)
	for path, want := range map[string]any{
		"prefill_ms":          map[string]any{"mean": 2.0, "std": 0.1, "n": 2.0, "median": 1.9, "min": 1.9, "max": 2.1, "basis": "gpu_span"},
		"decode_ms":           map[string]any{"mean": 4.0, "std": nil, "n": 1.0, "median": 4.0, "min": 4.0, "max": 4.0, "basis": "gpu_span"},
		"tokens_per_s":        map[string]any{"mean": 45.0, "std": 17.0, "n": 2.0, "median": 26.0, "min": 26.0, "max": 56.0, "basis": "gpu_span"},
		"decode_ms_per_token": map[string]any{"mean": 25.0, "std": 1.0, "n": 2.0, "median": 24.0, "min": 24.0, "max": 26.0, "basis": "gpu_span"},
		"workload_prefill_ms": map[string]any{"mean": 2.2, "std": 0.1, "n": 2.0, "median": 2.0, "min": 2.0, "max": 2.4, "basis": "workload"},
	} {
		if !reflect.DeepEqual(aggregates[path], want) {
			t.Errorf("%s is %v, want %v", path, aggregates[path], want)
		}
	}
	stages := aggregates["stage_ms"].(map[string]any)
	if len(stages) != 6 || stages[rendertest.Breakout].(map[string]any)["mean"] != 7.0 || stages["vision"].(map[string]any)["part_of"] != "prefill" || !reflect.DeepEqual(stages["sam"].(map[string]any)["std"], 0.01) || stages["sam"].(map[string]any)["mean"] != 1.0 ||
		stages[rendertest.Breakout+" in prefill"] == nil {
		t.Errorf("stages: %v", stages)
	}
	if dims := o["model_dims"].(map[string]any); dims["d_model"] != 1280.0 || dims["d_ff"] != 6848.0 || dims["n_layers"] != 12.0 || dims["d_ff_expert"] != 896.0 {
		t.Errorf("model: %v", dims)
	}
	if o["mfu_model_level"] != 0.15 || o["peak_tflops"] != 989.4 || o["mbu_per_stage"].(map[string]any)["prefill"] != 0.02 || len(o["peaks_of_one_gpu"].([]any)) != 2 {
		t.Errorf("utilisation: %v %v %v", o["mfu_model_level"], o["peak_tflops"], o["mbu_per_stage"])
	}
	missing := o["missing"].(map[string]any)
	for path, want := range map[string]string{"mfu_per_stage.decode": "over 1: " + rendertest.Breakout, "mfu_per_stage.vision": "not known of it: flop; the notes under queries say why",
		"mbu_per_stage.decode": "not known of it: weight_bytes; the notes under queries say why", "mbu_per_stage.vision": "the bytes that it must read are not counted"} {
		if missing[path] != want {
			t.Errorf("%s: %q, want %q", path, missing[path], want)
		}
	}
}

// TestEnvironment holds the original's keys, and that what sources tell differently is told.
func TestEnvironment(t *testing.T) {
	text := fileText(t, fileReport(), writeEnvironment)
	if got := keys(t, text)[:5]; strings.Join(got, " ") != "gpu cuda torch transformers run_id" {
		t.Errorf("keys: %v", got)
	}
	o := parsed(t, text)
	for key, want := range map[string]any{"gpu": "NVIDIA H200", "cuda": "12.8", "torch": "2.11.0", "transformers": nil, "created_at": "2026-01-01T00:00:00Z", "driver_cuda": "13.1", "os": hostileJSON(t)} {
		if o[key] != want {
			t.Errorf("%s is %q, want %q", key, o[key], want)
		}
	}
	if differ := o["differing"].(map[string]any); len(differ) != 1 || len(differ["driver_cuda"].([]any)) != 2 {
		t.Errorf("differing: %v", differ)
	}
	hip := emptyReport()
	hip.Frames["facts"] = rendertest.FrameOf("facts", "source_id key value", []any{int64(1), "torch.hip_runtime_version", "70253211"})
	o = parsed(t, fileText(t, hip, writeEnvironment))
	if why := o["missing"].(map[string]any)["cuda"]; o["cuda"] != nil || why != "the workload ran on HIP, runtime version 70253211" {
		t.Errorf("cuda %v: %v", o["cuda"], why)
	}
}

// hostileJSON is the hostile name as JSON can hold it.
func hostileJSON(t *testing.T) string {
	t.Helper()
	var s string
	if err := json.Unmarshal([]byte(typeset.Quote(rendertest.Hostile)), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestYAMLReadsBack holds that a library reads the files as they were meant, hostile names and texts that look like numbers included.
func TestYAMLReadsBack(t *testing.T) {
	read := func(text string) map[string]any {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		return o
	}
	in := read(fileText(t, fileReport(), writeInputs))
	given := in["inputs"].([]any)
	first, second := given[0].(map[string]any), given[1].(map[string]any)
	if fmt.Sprint(in["count"]) != "2" || first["path"] != hostileJSON(t) || first["sha256"] != "00e1" || second["path"] != "no: "+rendertest.Breakout || len(second) != 1 {
		t.Errorf("inputs: %q", given)
	}
	if got, want := in["argv"], []any{"python", "it's a", "", "k=" + strings.ReplaceAll(rendertest.Breakout, "'", "")}; !reflect.DeepEqual(got, want) {
		t.Errorf("argv: %q, want %q", got, want)
	}
	if sources := in["sources"].([]any); sources[1].(map[string]any)["sha256"] != "1e5" {
		t.Errorf("sources: %q", sources)
	}
	config := read(fileText(t, fileReport(), writeConfig))
	captures := config["captures"].([]any)
	if config["mode"] != "deep" || fmt.Sprint(config["tools"]) != "[nsys]" || fmt.Sprint(config["repeats"]) != "map[baseline:1 nsys:2]" || len(captures) != 3 {
		t.Errorf("config: %v", config)
	}
	if options := captures[0].(map[string]any)["options"].(map[string]any); len(options) != 1 || options["trace"] != "Cuda,"+rendertest.Breakout {
		t.Errorf("options: %q", options)
	}
	for _, text := range []string{"", " ", "true", "No", "null", "~", "1", "1e3", "0x1", "1_000", ".5", "2026-01-01", "a: b", "a #b", "- a", "? a", "&a", "*a", "!a", "%a", "@a", "`a", "|", ">", "{}", "[]", "a\tb", "a\nb", "a\\b",
		"\u0085\u2028\ufeff\U000e0001", "é", "'", `"`, "...", "---"} {
		o := read(fileText(t, nil, func(out *bytes.Buffer, _ *reader) {
			writeYAML(out, "# head\n", (&typeset.Object{}).Put("k"+text, text).Put("list", []any{text, []any{text}, &typeset.Object{}, []any{}, (&typeset.Object{}).Put(text, (&typeset.Object{}).Put("in", text))}))
		}))
		want := map[string]any{"k" + text: text, "list": []any{text, []any{text}, map[string]any{}, []any{}, map[string]any{text: map[string]any{"in": text}}}}
		if !reflect.DeepEqual(o, want) {
			t.Errorf("%q reads as %q", text, o)
		}
	}
}

// TestShellWords holds that a command line that the warehouse keeps gives its words back.
func TestShellWords(t *testing.T) {
	for _, argv := range [][]string{{"python", "run.py"}, {"a b", "", "it's", `\`, "'", "''", "\n", "$x"}, {rendertest.Hostile, rendertest.Breakout}} {
		line := mask.Command(argv)
		if words, ok := shellWords(line); !ok || !slices.Equal(words, argv) {
			t.Errorf("%q of %q, %v", words, line, ok)
		}
	}
	if words, ok := shellWords("python 'a b"); ok {
		t.Errorf("an open quote gives %q", words)
	}
}
