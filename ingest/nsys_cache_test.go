package ingest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/internal/testkit"
)

// TestCache: of what nsys-ai keeps of an export, the work, the calls, the launches and the ranges are those of the export; the export itself goes before it.
func TestCache(t *testing.T) {
	const from = "../testdata/nsys/variants-node/variants-node_pqtdir"
	dir := filepath.Join(t.TempDir(), "kept")
	cache := filepath.Join(dir, "variants-node.nsys-cache")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, table := range map[string]string{"runtime": "CUPTI_ACTIVITY_KIND_RUNTIME", "memcpy": "CUPTI_ACTIVITY_KIND_MEMCPY", "memset": "CUPTI_ACTIVITY_KIND_MEMSET", "string_ids": "StringIds", "gpu_info": "TARGET_INFO_GPU",
		"cuda_device": "TARGET_INFO_CUDA_DEVICE", "thread_names": "ThreadNames", "composite_events": "META_DATA_EXPORT"} {
		data, err := os.ReadFile(filepath.Join(from, table+".parquet"))
		if err == nil {
			err = os.WriteFile(filepath.Join(cache, name+".parquet"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w := newWarehouse(t)
	for name, query := range map[string]string{
		"kernels": "SELECT k.*, s.value AS name, d.value AS demangled FROM '" + from + "/CUPTI_ACTIVITY_KIND_KERNEL.parquet' k LEFT JOIN '" + from + "/StringIds.parquet' s ON k.shortName = s.id LEFT JOIN '" + from + "/StringIds.parquet' d ON k.demangledName = d.id",
		"nvtx":    `SELECT n.globalTid, n.start, n."end", n.eventType, n.rangeId, coalesce(n.text, s.value) AS text, n.textId FROM '` + from + "/NVTX_EVENTS.parquet' n LEFT JOIN '" + from + "/StringIds.parquet' s ON n.textId = s.id",
	} {
		if _, err := w.DB.Exec("COPY (" + query + ") TO '" + filepath.Join(cache, name+".parquet") + "' (FORMAT parquet)"); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(cache, ".cache_version"), []byte(`{"version": 2, "source": "variants-node.sqlite"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for run, path := range map[string]string{"export": from, "cache": cache} {
		if _, err := tryIngest(t, w, load.Options{APIRows: true}, run, path); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Expect(t, w, `SELECT form FROM source ORDER BY form`, "nsys-cache", "parquetdir")
	testkit.Expect(t, w, `SELECT count(*) FROM diagnostic WHERE message LIKE 'nsys-ai kept neither NVTX domains%'`, "1")
	for _, query := range []string{
		`SELECT n.name, k.device_id, k.stream_id, k.start_ns, k.duration_ns, k.launch_start_ns, k.graph_node_id FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) JOIN run r USING (run_id) WHERE r.name = ? ORDER BY ALL`,
		`SELECT m.operation, m.start_ns, m.duration_ns, m.size_bytes, m.launch_start_ns FROM memop m JOIN run r USING (run_id) WHERE r.name = ? ORDER BY ALL`,
		`SELECT n.name, a.start_ns, a.duration_ns FROM api_call a JOIN api_name n USING (run_id, api_name_id) JOIN run r USING (run_id) WHERE r.name = ? ORDER BY ALL`,
		`SELECT x.name, x.start_ns, x.duration_ns FROM nvtx_range x JOIN run r USING (run_id) WHERE r.name = ? AND x.style = 'push_pop' AND x.duration_ns IS NOT NULL AND x.name NOT LIKE 'never_%' ORDER BY ALL`,
		`SELECT d.device_id, d.name FROM device d JOIN run r USING (run_id) WHERE r.name = ? ORDER BY ALL`,
	} {
		got, want := testkit.Rows(t, w, query, "cache"), testkit.Rows(t, w, query, "export")
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(want) == 0 {
			t.Errorf("%s\ngives %d rows of the cache, %d of the export, or others:\n%.300s\n%.300s", query, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	data, err := os.ReadFile("../testdata/nsys/variants-node/variants-node.sqlite.gz")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "variants-node.sqlite.gz"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	both := newWarehouse(t)
	mustIngest(t, both, "both", dir)
	testkit.Expect(t, both, `SELECT form FROM source`, "sqlite")
}
