package averages

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

// TestSniffOthers: what is no table of key_averages() is not taken.
func TestSniffOthers(t *testing.T) {
	for name, in := range map[string]string{
		"nothing": "", "blanks": strings.Repeat(" \n", 5000), "text": "hello, world\n", "zeros": "key,count,self_cpu_us\x00\n", "one column": "self_cpu_time_total\n1\n",
		"array": "[]", "object": "{}", "numbers": "[1, 2]", "lists": `[["key", "count"]]`, "not JSON": "{key: 1", "a string": `"key"`,
		"trace":            `{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "count": 1, "self_cpu_us": 1}]}`,
		"array of events":  `[{"ph": "X", "name": "aten::mm", "ts": 1, "dur": 2, "count": 1, "self_cpu_us": 1}]`,
		"no calls":         `[{"name": "aten::mm", "self_cpu_time_total": 1}]`,
		"no times":         `[{"name": "aten::mm", "calls": 1, "total_ms": 1}]`,
		"no names":         `[{"calls": 1, "self_cpu_time_total": 1}]`,
		"one total":        `{"key": null, "summary": {"name": "Total", "count": 1, "self_cpu_time_total": 1}}`,
		"a benchmark":      `{"context": {}, "benchmarks": [{"name": "BM_x", "iterations": 5, "real_time": 1, "cpu_time": 1, "time_unit": "ns"}]}`,
		"frames":           "name,count,cpu_time_ms,gpu_time_ms\na,1,2,3\n",
		"nsys":             "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n1,2,3,4,5,6,7,8,cudaFree\n",
		"ncu":              "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n",
		"prof's operators": "rank,operator,calls,self_device_ns,total_device_ns,self_cpu_ns,total_cpu_ns\n1,aten::mm,1,2,2,3,3\n",
		"prof's metrics":   `{"top_operators": [{"rank": 1, "operator": "aten::mm", "calls": 1, "self_device_ns": 2, "total_device_ns": 2, "self_cpu_ns": 3, "total_cpu_ns": 3}]}`,
		"many columns":     `{"` + strings.Join(strings.Fields(strings.Repeat("a ", 3)), `": 1, "`) + `": 1}`,
		"prof's summary":   "# Run a: summary\n\n## Top Operators\n\n| Operator | Total ms | CUDA ms | Calls | Mean ms |\n| --- | ---:| ---:| ---:| ---:|\n| `aten::mm` | - | 298.113 | 2310 | - |\n",
		"a document":       "# Operators\n\nname,count,self_cpu_time_total\n",
	} {
		if Sniff("x.json", []byte(in)) {
			t.Errorf("%s is taken for a table", name)
		}
	}
}

// TestSniffCut: a beginning is enough, also one that ends inside the first row.
func TestSniffCut(t *testing.T) {
	for _, in := range []string{
		`[{"key": "a", "count": 1, "self_cpu_time_total": 1, "stack": ["f`,
		`{"args": {"x": [1, 2]}, "events": [{"key": "a", "count": 1, "self_cpu_time_total": 1, "stack": ["f`,
		`{"key": "a", "count": 1, "self_cpu_time_total": 1, "stack": ["f`,
		"key,count,self_cpu_time_total,stack\na,1,1,\"f",
		"key,count,self_cpu_time_total\r\na,1",
		" \n\t[\n{\"key\": \"a\", \"count\": 1, \"self_cpu_time_total\": 1}",
	} {
		if !Sniff("x", []byte(in)) {
			t.Errorf("%s is not recognised", in)
		}
	}
}

// TestSniffFiles looks at every file of the captures: only the saved tables are taken.
func TestSniffFiles(t *testing.T) {
	tables, others := 0, 0
	for _, root := range []string{"../../../testdata", "../../../../shared/captures"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name := strings.TrimSuffix(filepath.Base(path), ".gz")
			want := strings.Contains(name, "key_averages") && filepath.Ext(name) != ".py" || name == "operators.md" && strings.Contains(path, "first") ||
				name == "profiler_out_0.txt" || strings.HasSuffix(name, ".sums.json")
			if got := Sniff(strings.ToLower(name), head(t, path)); got != want {
				t.Errorf("%s: %v", path, got)
			}
			if want {
				tables++
			} else {
				others++
			}
			return nil
		})
		if os.IsNotExist(err) && root != "../../../testdata" {
			t.Logf("%s is absent, not looked at", root)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if tables < 5 || others < 50 {
		t.Errorf("%d tables and %d other files", tables, others)
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
	if _, err := io.CopyN(&out, r, 64<<10); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return out.Bytes()
}
