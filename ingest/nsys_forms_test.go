package ingest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/ingest/rows/rowstest"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
)

// pair is one report exported both ways.
type pair struct{ name, sqlite, parquet string }

func pairs(t *testing.T) []pair {
	t.Helper()
	out := []pair{}
	for _, root := range []string{"../testdata/nsys/variants-node", "../../shared/captures/nsys/dsocr-sdpa"} {
		name := filepath.Base(root)
		p := pair{name, filepath.Join(root, name+".sqlite.gz"), filepath.Join(root, name+"_pqtdir")}
		if _, err := os.Stat(p.parquet); err != nil {
			t.Logf("%s: absent, not compared", p.parquet)
			continue
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		t.Fatal("no pair to compare")
	}
	return out
}

// TestParquetEqualsSQLite: one report's two exports give the same rows in every table. Ids that follow from the order in which
// goroutines met a name are compared by the name.
func TestParquetEqualsSQLite(t *testing.T) {
	for _, p := range sample.Of(pairs(t), 2) {
		t.Run(p.name, func(t *testing.T) {
			of := func(open nsys.Opener, path string) map[string][]string {
				k := rowstest.New(t, load.Options{WithOSRT: true, APIRows: true})
				path = rowstest.Plain(t, path)
				if _, err := open.Load(t.Context(), path, path, k.Target); err != nil {
					t.Fatal(err)
				}
				if err := k.StoreShared(t.Context()); err != nil {
					t.Fatal(err)
				}
				out := k.Contents()
				// The forms differ in the exporter's own tables.
				out["source_part"] = slices.DeleteFunc(out["source_part"], func(part string) bool { return strings.Split(part, "|")[3] == "~" })
				for i, text := range out["diagnostic"] { // names were replaced in the two forms of dsocr-sdpa one by one
					out["diagnostic"][i] = strings.ReplaceAll(text, "/var/tmp/", "/tmp/")
				}
				return out
			}
			if n := rowstest.Same(t, of(nsys.SQLite, p.sqlite), of(openParquet, p.parquet)); n < 1000 {
				t.Errorf("only %d rows were compared", n)
			}
		})
	}
}

// TestCutParquet: a cut file is named in the error, and nothing is stored.
func TestCutParquet(t *testing.T) {
	const from = "../testdata/nsys/variants-node/variants-node_pqtdir"
	w := newWarehouse(t)
	var counts []string
	for _, table := range tables(t, w) {
		counts = append(counts, "SELECT count(*) AS n FROM "+table)
	}
	for _, c := range []struct {
		file string
		cut  func(b []byte) []byte
	}{
		{"CUPTI_ACTIVITY_KIND_KERNEL", func(b []byte) []byte { return b[:len(b)/2] }},
		{"NVTX_EVENTS", func(b []byte) []byte { return b[:len(b)-1] }},
		{"StringIds", func(b []byte) []byte { return nil }},
		{"CUPTI_ACTIVITY_KIND_RUNTIME", func(b []byte) []byte { // the data is damaged, the footer is whole
			for i := 4; i < 4000; i++ {
				b[i] ^= 0x5A
			}
			return b
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cut_pqtdir")
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, c.file+".parquet")
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, c.cut(b), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = tryIngest(t, w, load.Options{APIRows: true}, "cut", dir)
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "cut short or not Parquet") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("the error is %v", err)
			}
			testkit.Expect(t, w, "SELECT sum(n) FROM ("+strings.Join(counts, " UNION ALL ")+")", "0")
		})
	}
	mustIngest(t, w, "whole", from)
}

// TestSeveralSources: files given together make one run; what they share is stored once and what they do not is kept apart.
func TestSeveralSources(t *testing.T) {
	w := newWarehouse(t)
	dir := t.TempDir()
	for name, from := range map[string]string{
		"bench.rank0.sqlite.gz": "../testdata/nsys/kernels/kernels.sqlite.gz", "bench_rank-1.sqlite.gz": "../testdata/nsys/variants-node/variants-node.sqlite.gz",
		"frank2.sqlite": "nsys/testdata/processes.sqlite", "rank3.sqlite": "nsys/testdata/old.sqlite",
	} {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	res := mustIngest(t, w, "all", dir)
	testkit.Expect(t, w, `SELECT regexp_extract(path, '[^/]*$'), source_id > 0, rank_id FROM source ORDER BY 1`, "bench.rank0.sqlite.gz|true|0", "bench_rank-1.sqlite.gz|true|1",
		"frank2.sqlite|true|~", "rank3.sqlite|true|3")
	testkit.Expect(t, w, `SELECT count(DISTINCT source_id), min(source_id), max(source_id), count(DISTINCT run_id) FROM source`, "4|1|4|1")
	if len(res.Sources) != 4 {
		t.Errorf("%+v", res)
	}
	for _, f := range faults {
		expectNone(t, w, f.what, f.sql)
	}
	expectNone(t, w, "a context's range is of another source", `SELECT k.source_id, r.source_id FROM kernel k JOIN range_context c USING (run_id, range_context_id)
		JOIN nvtx_range r ON r.run_id = c.run_id AND r.range_id = c.range_id WHERE r.source_id <> k.source_id`)
	alone := newWarehouse(t)
	want := map[string]int64{}
	for _, s := range res.Sources {
		run := filepath.Base(s.Path)
		mustIngest(t, alone, run, s.Path)
		f := testkit.Query(t, alone, "top-kernels", queries.Args{"run": run, "top": "0", "warmup": "true"})
		for _, r := range f.Rows {
			want[r[f.Index("kernel")].(string)] += r[f.Index("total_ns")].(int64)
		}
	}
	f := testkit.Query(t, w, "top-kernels", queries.Args{"run": "all", "top": "0", "warmup": "true"})
	for _, r := range f.Rows {
		if name := r[f.Index("kernel")].(string); want[name] != r[f.Index("total_ns")].(int64) {
			t.Errorf("%s takes %v ns, alone %d", name, r[f.Index("total_ns")], want[name])
		}
	}
	if len(f.Rows) != len(want) {
		t.Errorf("%d kernels, want %d", len(f.Rows), len(want))
	}
	// Per source, everything but the ids of the run is as in a run of its own.
	for _, s := range res.Sources {
		run := filepath.Base(s.Path)
		for _, q := range []string{
			`SELECT count(*), sum(duration_ns)::BIGINT, sum(launch_start_ns)::BIGINT, count(DISTINCT range_context_id) FROM kernel WHERE run_id = $1::UUID AND source_id = $2`,
			`SELECT r.name, r.domain, r.start_ns, r.duration_ns, p.name, h.path FROM nvtx_range r JOIN range_path h USING (run_id, path_id)
				LEFT JOIN nvtx_range p ON p.run_id = r.run_id AND p.range_id = r.parent_range_id WHERE r.run_id = $1::UUID AND r.source_id = $2 ORDER BY r.range_id`,
			`SELECT r.name, r.start_ns, coalesce(f.value::INTEGER, d.device_id), d.busy_ns, d.sum_ns, d.kernel_count, d.memop_count FROM range_device d JOIN nvtx_range r USING (run_id, range_id)
				LEFT JOIN source_fact f ON f.run_id = r.run_id AND f.source_id = r.source_id AND f.key = 'device.number.' || d.device_id WHERE r.run_id = $1::UUID AND r.source_id = $2 ORDER BY ALL`,
		} {
			id := testkit.Rows(t, w, `SELECT run_id::VARCHAR, source_id FROM source WHERE path = ?`, s.Path)
			aloneID := testkit.Rows(t, alone, `SELECT run_id::VARCHAR FROM run WHERE name = ?`, run)
			a, source, _ := strings.Cut(id[0], "|")
			together, apart := testkit.Rows(t, w, q, a, source), testkit.Rows(t, alone, q, aloneID[0], 1)
			if strings.Join(together, "\n") != strings.Join(apart, "\n") {
				t.Errorf("%s: %s gives %d rows together, %d alone, or others", run, q, len(together), len(apart))
			}
		}
	}
}

// TestTwoFormsOfOneCapture: of a folder with both exports of a report one is taken.
func TestTwoFormsOfOneCapture(t *testing.T) {
	w := newWarehouse(t)
	mustIngest(t, w, "both", "../testdata/nsys/variants-node")
	testkit.Expect(t, w, `SELECT form, count(*) FROM source GROUP BY ALL`, "sqlite|1")
}
