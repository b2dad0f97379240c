package workload

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSniffNames: the name says what a file is for, the beginning whether it is that.
func TestSniffNames(t *testing.T) {
	text := sample(t, "dsocr-sdpa.workload.json")
	for name, want := range map[string]bool{
		"workload.json": true, "metrics.json": true, "a.workload.json": true, "a.metrics.json": true, "a-workload.json": true, "a_workload.json": true,
		"workload-2.json": true, "workload.rank0.json": true, "a.b.workload.json": true,
		"baseline.json": false, "baseline.workload.json": false, "workload-baseline.json": false, "workload": false, "workload.json.txt": false, "workload.csv": false,
		"workloads.json": false, "myworkload.json": false, "config.json": false, "run.json": false, ".json": false, "": false,
	} {
		if Sniff(name, text) != want {
			t.Errorf("%s: %v", name, !want)
		}
		if alone := strings.Contains(name, "baseline"); SniffAlone(name, text) != alone {
			t.Errorf("%s is of passes without a profiler: %v", name, !alone)
		}
	}
}

func TestSniffHeads(t *testing.T) {
	for _, in := range []string{
		`{"runs": [{"prefill_len": 1`, `{"marks": {"pid": 1}, "processes": [{"pid": 1, "runs": [{"prefill_len": 1`, `{"passes": [{"x": {}, "tokens_out": 1`, `{"runs": [{"x": 1}, {"decode_ms": 1`, `{"x": [[1]], "runs": [{"batch": 1, "new_tokens":2}]`,
		`{"model": "m", "config": {"hidden_size": 3, "model_type": "llama"`, `{"config": {"architectures": ["L"]`, `{"config": {"id2label": {"0": "x"}, "transformers_version": "5"`,
		`{"aggregates": {"tokens": {`, `{"model_dims": {}, "aggregates": {"x": 1, "stage_ms": {"mean": 1}}}`, "\xef\xbb\xbf\r\n {\"aggregates\": {\"prefill_ms\": {\"mean\": 1}}}",
	} {
		if !Sniff("metrics.json", []byte(in)) {
			t.Errorf("%s is not recognised", in)
		}
	}
	for name, in := range map[string]string{
		"nothing": "", "blanks": strings.Repeat(" \n", 500), "empty": "{}", "a list": `[{"runs": [{"prefill_len": 1}]}]`, "zeros": "\x00\x00\x00", "gzip": "\x1f\x8b\x08", "text": "prefill_len: 5",
		"a configuration":      `{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "text_config": {"model_type": "llama"}}`,
		"a trace":              `{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "prefill_len": 1}]}`,
		"averages":             `[{"key": "aten::mm", "count": 1, "self_cpu_time_total": 1}]`,
		"averages in runs":     `{"runs": [{"key": "aten::mm", "count": 1, "self_cpu_time_total": 1}]}`,
		"other passes":         `{"model": "x", "passes": [{"name": "prefill", "count": 1, "wall_ms": 5}]}`,
		"prof's own":           `{"stages": [{"stage": "prefill", "prefill_ms": 5}], "top_operators": []}`,
		"training":             `{"batch": 3.5, "config": {"lr": 0.1}, "train_loss": 0.3, "metrics": {"tokens": {"mean": 5}}}`,
		"sums":                 `{"aggregates": {"tokens": 5}}`,
		"other aggregates":     `{"aggregates": {"loss": {"mean": 5}}}`,
		"no list":              `{"runs": {"a": {"prefill_len": 1}}}`,
		"deeper":               `{"x": {"runs": [{"prefill_len": 1}]}}`,
		"lists of lists":       `{"runs": [[{"prefill_len": 1}]]}`,
		"a value":              `{"runs": [{"name": "prefill_len"}], "config": {"x": "model_type"}}`,
		"too deep":             `{"x": ` + strings.Repeat("[", 1000),
		"damaged before it":    `{"x": nope, "runs": [{"prefill_len": 1}]}`,
		"within configuration": `{"config": {"runs": {"model_type": 1}}}`,
	} {
		if Sniff("workload.json", []byte(in)) {
			t.Errorf("%s is taken for a workload", name)
		}
	}
}

// TestSniffFiles looks at every file of the captures: only the facts of workloads are taken.
func TestSniffFiles(t *testing.T) {
	taken, others := 0, 0
	for _, root := range []string{"../../testdata", "../../../shared/captures"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz")
			want := strings.HasSuffix(name, "workload.json") || name == "metrics.json"
			if got := Sniff(name, head(t, path)); got != want {
				t.Errorf("%s: %v", path, got)
			}
			if want {
				taken++
			} else {
				others++
			}
			return nil
		})
		if os.IsNotExist(err) && root != "../../testdata" {
			t.Logf("%s is absent, not looked at", root)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if taken < 5 || others < 50 {
		t.Errorf("%d workloads and %d other files", taken, others)
	}
}

// head is a file's beginning, unpacked.
func head(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if filepath.Ext(path) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if _, err := io.CopyN(&out, r, 4<<10); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return out.Bytes()
}
