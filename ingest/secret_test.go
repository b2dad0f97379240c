package ingest_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest"
	"prof/internal/exports"
	"prof/internal/testkit"
)

// leak is the secret that every text of a capture gets, and said how it says that it is one.
const (
	leak = "Wq7RkV2w9Xb4"
	said = " HF_TOKEN=" + leak
	ann  = " /home/" + person + "/x"
	// person is who a home belongs to.
	person = "annabelle"
)

// TestNoSecret puts a secret and a home into every text of a capture that is no name of a kernel or function, of every format, and looks for them
// in every text of the warehouse and in the bytes of its file.
func TestNoSecret(t *testing.T) {
	b := newBench(t)
	for name, make := range map[string]func(b *bench) []string{
		"nsys": func(b *bench) []string {
			return []string{b.leakyExport("../testdata/nsys/kernels/kernels.sqlite.gz"), b.leakyExport("../testdata/nsys/emit-nvtx/emit-nvtx.sqlite.gz")}
		},
		"torch": func(b *bench) []string {
			return []string{b.leakyTrace("../testdata/torch/llama-stack.trace.json.gz"), b.leakyTrace("../testdata/ranks/rank0.trace.json.gz")}
		},
		"averages": func(b *bench) []string {
			return []string{b.leakyJSON("../testdata/torch/llama.key_averages.json.gz", "a.key_averages.json", nil)}
		},
		"ncu": func(b *bench) []string {
			return []string{b.leakyText("../testdata/ncu/pages/kernels.details.csv", "Est. Speedup", "OPT", "WRN", "INF", "kernels"), b.leakyText("../testdata/ncu/pages/names.session.csv", "Linux")}
		},
		"capture": func(b *bench) []string {
			if err := os.CopyFS(b.path("run"), os.DirFS("../testdata/capture/llama/sdpa-1")); err != nil {
				b.t.Fatal(err)
			}
			keep := []string{"tool", "mode", "status", "artifacts", "started_at", "ended_at", "clock_control", "uuid", "sha256", "run", "name", "folder"}
			b.leakyJSON("../testdata/capture/llama/sdpa-1/run.json", "run/run.json", keep)
			b.leakyJSON("../testdata/capture/llama/sdpa-1/env.json", "run/env.json", nil)
			return []string{b.path("run")}
		},
		"workload": func(b *bench) []string {
			return []string{b.leakyExport("../testdata/forms/llama.sqlite.gz"), b.leakyJSON("../testdata/workload/llama-graph-node.workload.json", "workload.json", []string{"model_type", "architectures", "hidden_act", "torch_dtype", "dtype", "rope_type"})}
		},
	} {
		res, err := b.try(ingest.Options{Name: name, Tags: [][2]string{{"api_key", leak}, {"note", said + ann}}}, make(b)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(b.rows(`SELECT t.value FROM run_tag t JOIN run r USING (run_id) WHERE r.name = '`+name+`'`), "***") || len(res.Sources) == 0 {
			t.Errorf("%s: nothing was masked", name)
		}
	}
	for _, table := range testkit.Rows(t, b.w, `SELECT DISTINCT table_name FROM duckdb_columns() JOIN duckdb_tables() USING (table_oid, table_name) WHERE data_type LIKE 'VARCHAR%'`) {
		for _, row := range testkit.Rows(t, b.w, `SELECT x::VARCHAR FROM `+table+` x WHERE contains(x::VARCHAR, '`+leak+`') OR contains(x::VARCHAR, '`+person+`') LIMIT 3`) {
			t.Errorf("%s has %q", table, row)
		}
	}
	testkit.Exec(t, b.w, `CHECKPOINT`)
	files, err := filepath.Glob(filepath.Join(b.w.Home.Dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && (bytes.Contains(data, []byte(leak)) || bytes.Contains(data, []byte(person))) {
			t.Errorf("%s holds the secret", f)
		}
	}
}

// leakyExport copies an export of Nsight Systems. Names of kernels, of functions and of columns, numbers written as texts and versions stay.
func (b *bench) leakyExport(from string) string {
	b.t.Helper()
	tables, err := exports.ReadFile(from)
	if err != nil {
		b.t.Fatal(err)
	}
	names := map[int64]bool{} // of kernels and functions, by string
	for _, t := range tables {
		for _, column := range []string{"demangledName", "shortName", "mangledName", "nameId"} {
			if at := t.Column(column); at >= 0 && t.Name != "ThreadNames" && t.Name != "PROFILER_OVERHEAD" {
				for _, row := range t.Rows {
					if id, ok := row[at].(int64); ok {
						names[id] = true
					}
				}
			}
		}
	}
	for _, t := range tables {
		if t.Name == "META_DATA_EXPORT" || strings.HasPrefix(t.Name, "ENUM_") || strings.HasPrefix(t.Name, "ANALYSIS_") {
			continue
		}
		for _, row := range t.Rows {
			if t.Name == "StringIds" && names[t.Int(row, "id")] {
				continue
			}
			for i, v := range row {
				text, isText := v.(string)
				column := t.Columns[i]
				if isText && text != "" && !slices.Contains([]string{"uuid", "busLocation", "name"}, column) || isText && column == "name" && t.Name == "PROCESSES" {
					row[i] = text + said + ann
				}
			}
		}
	}
	to := b.path(strings.TrimSuffix(filepath.Base(from), ".gz"))
	if err := exports.Repeat(to, tables, 1); err != nil {
		b.t.Fatal(err)
	}
	return to
}

func (b *bench) unpacked(from string) []byte {
	b.t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		b.t.Fatal(err)
	}
	if !strings.HasSuffix(from, ".gz") {
		return data
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		b.t.Fatal(err)
	}
	if data, err = io.ReadAll(z); err != nil {
		b.t.Fatal(err)
	}
	return data
}

// leakyTrace copies a trace of the PyTorch profiler.
func (b *bench) leakyTrace(from string) string {
	b.t.Helper()
	var trace map[string]any
	if err := json.Unmarshal(b.unpacked(from), &trace); err != nil {
		b.t.Fatal(err)
	}
	for key, v := range trace {
		if key != "traceEvents" && key != "deviceProperties" {
			trace[key] = leaky(v, []string{"schemaVersion", "trace_id"})
		}
	}
	trace["api_key"] = leak
	for _, e := range trace["traceEvents"].([]any) {
		event := e.(map[string]any)
		isNamed := event["cat"] == "kernel" || event["cat"] == "cuda_runtime" || event["cat"] == "cuda_driver" || event["ph"] != "X"
		for key, v := range event {
			if key == "args" && event["ph"] == "M" || key == "args" && !isNamed || key == "name" && !isNamed && event["cat"] != "gpu_memcpy" && event["cat"] != "gpu_memset" {
				event[key] = leaky(v, nil)
			}
		}
	}
	text, err := json.Marshal(trace)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.file(strings.TrimSuffix(filepath.Base(from), ".gz"), string(text))
}

func (b *bench) leakyJSON(from, to string, but []string) string {
	b.t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(b.unpacked(from)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		b.t.Fatal(err)
	}
	text, err := json.Marshal(leaky(v, but))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.file(to, string(text))
}

// leakyText copies a page of Nsight Compute with the secret behind each of some words.
func (b *bench) leakyText(from string, words ...string) string {
	b.t.Helper()
	text := string(b.unpacked(from))
	for _, w := range words {
		text = strings.ReplaceAll(text, `"`+w, `"`+w+said+ann+" ")
	}
	return b.file(filepath.Base(from), text)
}

// leaky adds the secret to all texts of a value of JSON but those of some members.
func leaky(v any, but []string) any {
	switch v := v.(type) {
	case string:
		return v + said + ann
	case []any:
		for i := range v {
			v[i] = leaky(v[i], but)
		}
	case map[string]any:
		for key := range v {
			if !slices.Contains(but, key) {
				v[key] = leaky(v[key], but)
			}
		}
	}
	return v
}
