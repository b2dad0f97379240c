package averages_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

const captures = "../../../testdata/torch/"

func newWarehouse(t *testing.T) *schema.Warehouse {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{Only: []string{}}, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// store ingests files as one run and gives the warnings.
func store(t *testing.T, w *schema.Warehouse, run string, paths ...string) (*ingest.Result, []string, error) {
	t.Helper()
	var warnings []string
	o := ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Warn: func(m string) { warnings = append(warnings, m) }}
	o.Load.Threads = 2
	res, err := ingest.Run(t.Context(), w, paths, o)
	return res, warnings, err
}

// rows gives a result as texts: values of a row joined by bars, NULL as ~.
func rows(t *testing.T, w *schema.Warehouse, sql string) []string {
	t.Helper()
	r, err := w.DB.QueryContext(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer r.Close()
	cols, err := r.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for r.Next() {
		v, into := make([]any, len(cols)), make([]any, len(cols))
		for i := range v {
			into[i] = &v[i]
		}
		if err := r.Scan(into...); err != nil {
			t.Fatal(err)
		}
		parts := make([]string, len(cols))
		for i := range v {
			if parts[i] = fmt.Sprint(v[i]); v[i] == nil {
				parts[i] = "~"
			}
		}
		out = append(out, strings.Join(parts, "|"))
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func expect(t *testing.T, w *schema.Warehouse, sql string, want ...string) {
	t.Helper()
	if got := rows(t, w, sql); !slices.Equal(got, want) {
		t.Errorf("%s gives\n  %s\nwant\n  %s", sql, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// copyTo puts a file into a folder under a name.
func copyTo(t *testing.T, dir, name, from string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// amounts are the columns of op_average behind the name.
const amounts = "kind, shapes, call_count, self_cpu_ns, total_cpu_ns, self_device_ns, total_device_ns, self_device_bytes, total_device_bytes, self_host_bytes, total_host_bytes, flop_count"

func TestStored(t *testing.T) {
	w := newWarehouse(t)
	if _, warnings, err := store(t, w, "json", captures+"train.shapes.key_averages.json.gz"); err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	if _, warnings, err := store(t, w, "csv", captures+"train.shapes.key_averages.csv.gz"); err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	expect(t, w, `SELECT r.name, s.kind, s.form, s.row_count, s.status, s.reason, (SELECT count(*) FROM op_average a WHERE a.run_id = r.run_id AND a.source_id = s.source_id)
		FROM run r JOIN source s USING (run_id) ORDER BY r.name`, "csv|torch|torch-averages|326|ok|~|326", "json|torch|torch-averages|326|ok|~|326")
	expect(t, w, `SELECT r.name, part, read_count, stored_count, reason FROM source_part JOIN run r USING (run_id) ORDER BY r.name`, "csv|key_averages|326|326|~", "json|key_averages|326|326|~")
	first := "SELECT name, " + amounts + " FROM op_average JOIN run r USING (run_id) WHERE r.name = '%s' AND row_number <= 3 ORDER BY row_number"
	for _, run := range []string{"json", "csv"} {
		expect(t, w, strings.Replace(strings.Replace(first, "%s", run, 1), "SELECT name", "SELECT op_average.name", 1),
			"ProfilerStep*|cpu|[]|2|231332|12857673|0|517502|-394240|0|0|0|0",
			"## data ##|cpu|[]|2|50848|264784|0|12545|0|393216|0|0|0",
			"aten::to|cpu|[[4, 3, 64, 64], [], [], [], [], [], [], []]|2|11011|213936|0|12545|0|393216|0|0|0")
	}
	expect(t, w, `SELECT count(*) FROM (SELECT row_number, a.name, `+amounts+` FROM op_average a JOIN run r USING (run_id) WHERE r.name = 'json'
		EXCEPT SELECT row_number, a.name, `+amounts+` FROM op_average a JOIN run r USING (run_id) WHERE r.name = 'csv')`, "0")
	// PyTorch printed "Self CPU time total: 18.082ms" under this table.
	expect(t, w, `SELECT DISTINCT sum(self_cpu_ns)::BIGINT, count(*) FILTER (kind = 'device') FROM op_average GROUP BY run_id`, "18081610|45")
	res, _, err := store(t, w, "again", captures+"train.shapes.key_averages.json.gz")
	if err != nil || res.Made || len(res.Repeated) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestBesideCaptures: tables beside a timeline are sources of their own, and add nothing to the timeline's sums.
func TestBesideCaptures(t *testing.T) {
	const sums = `SELECT count(*), sum(duration_ns)::BIGINT FROM kernel`
	alone, both, dir := newWarehouse(t), newWarehouse(t), t.TempDir()
	copyTo(t, dir, "kernels.sqlite.gz", "../../../testdata/nsys/kernels/kernels.sqlite.gz")
	copyTo(t, dir, "train.key_averages.json.gz", captures+"train.key_averages.json.gz")
	copyTo(t, dir, "train.shapes.key_averages.csv.gz", captures+"train.shapes.key_averages.csv.gz")
	if err := os.WriteFile(filepath.Join(dir, "workload.json"), []byte(`{"model": "x", "passes": [{"name": "prefill", "count": 1, "wall_ms": 5}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store(t, alone, "alone", filepath.Join(dir, "kernels.sqlite.gz")); err != nil {
		t.Fatal(err)
	}
	res, _, err := store(t, both, "folder", dir)
	if err != nil || len(res.Sources) != 3 || len(res.Skipped) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	expect(t, both, sums, rows(t, alone, sums)...)
	expect(t, both, `SELECT count(*) FROM op`, "0")
	expect(t, both, `SELECT s.form, count(*), count(DISTINCT a.source_id) FROM op_average a JOIN source s USING (run_id, source_id) GROUP BY ALL`, "torch-averages|494|2")
	expect(t, both, `SELECT count(*) FROM op_average a JOIN source s USING (run_id, source_id) WHERE (s.path LIKE '%shapes%') <> (a.shapes IS NOT NULL)`, "0")
}

// TestCutStored: what is whole of a table that was cut off is stored, and the source says that it is partial.
func TestCutStored(t *testing.T) {
	w := newWarehouse(t)
	path := filepath.Join(t.TempDir(), "cut.json")
	text := `[{"key": "a", "count": 1, "cpu_time_total": 3, "cuda_time_total": 0}, {"key": "b", "count": 2, "cpu_time_total": 4, "cuda_time_total": 0}, {"key": "c", "cou`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, warnings, err := store(t, w, "cut", path)
	if err != nil || len(warnings) != 2 {
		t.Fatal(warnings, err)
	}
	expect(t, w, `SELECT status, reason, row_count FROM source`, "partial|the file ends inside its table, after row 2: it was cut off|2")
	expect(t, w, `SELECT row_number, name, kind, call_count, total_cpu_ns, total_device_ns FROM op_average ORDER BY row_number`, "1|a|cpu|1|3000|~", "2|b|cpu|2|4000|~")
	expect(t, w, `SELECT origin, severity, left(message, 46) FROM diagnostic ORDER BY message`,
		"ingest|warning|cuda_time_total: 0 in every row, so stored as ", "ingest|warning|the file ends inside its table, after row 2: i")
	if err := os.WriteFile(path, []byte(strings.Replace(text, `"count": 2`, `"count": -2`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store(t, w, "bad", path); err == nil || !strings.Contains(err.Error(), path+`: row 2 (byte 70): column "count": "-2" is negative`) {
		t.Error(err)
	}
	expect(t, w, `SELECT count(*) FROM op_average`, "2")
}
