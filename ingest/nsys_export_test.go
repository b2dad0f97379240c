package ingest_test

import (
	"errors"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// TestMadeExports asks queries of small exports with known answers, whose rows are looked at in ingest/nsys.
func TestMadeExports(t *testing.T) {
	var runs []testkit.Run
	for _, name := range []string{"graphs", "old", "versions", "processes", "odd"} {
		runs = append(runs, testkit.Run{Name: name, Files: []string{"../ingest/nsys/testdata/" + name + ".sqlite"}})
	}
	w := testkit.Warehouse(t, runs...)
	for _, r := range runs {
		f := query(t, w, "conservation", queries.Args{"run": r.Name})
		if f.Rows[0][f.Index("is_exact")] != true {
			t.Errorf("%s: conservation: %v", r.Name, f.Rows[0])
		}
		if r.Name == "processes" && (f.Rows[0][f.Index("unlaunched_ns")] != int64(32) || f.Rows[0][f.Index("outside_ns")] != int64(2) || f.Rows[0][f.Index("attributed_ns")] != int64(29)) {
			t.Errorf("conservation: %v", f.Rows[0])
		}
	}
	for _, run := range []string{"old", "versions"} {
		if f := query(t, w, "stages", queries.Args{"run": run}); len(f.Rows) != 2 || f.Rows[0][0] != "prefill" || f.Rows[1][0] != "decode" {
			t.Errorf("stages of %s: %v", run, f.Rows)
		}
	}
	if f := query(t, w, "gpu-metrics", queries.Args{"run": "graphs"}); len(f.Rows) != 4 || f.Rows[1][f.Index("mean")] != 0.75 {
		t.Errorf("gpu-metrics: %v", f.Rows)
	}
	testkit.Expect(t, w, `SELECT message FROM diagnostic WHERE origin = 'capture' ORDER BY time_ns`, "Number of events: 12, HF_TOKEN=***", "bad")
}

// TestRefusedExports: an error names the file and says what is wrong, and nothing is stored.
func TestRefusedExports(t *testing.T) {
	w := newWarehouse(t)
	for _, c := range []struct {
		file  string
		is    error
		wants []string
	}{
		{"nsys/testdata/strings.sqlite", nil, []string{"nsys/testdata/strings.sqlite", "string 4711", "StringIds lacks"}},
		{"nsys/testdata/no_cuda.sqlite", nsys.ErrNoCUDA, []string{"nsys/testdata/no_cuda.sqlite", "no CUDA activity", "--trace=cuda,nvtx"}},
	} {
		_, err := tryIngest(t, w, load.Options{APIRows: true}, "refused", "nsys/testdata/old.sqlite", c.file)
		if err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		for _, want := range c.wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error %q lacks %q", err, want)
			}
		}
		for _, table := range tables(t, w) {
			expect(t, w, "SELECT count(*) FROM "+table, "0")
		}
	}
	mustIngest(t, w, "refused", "nsys/testdata/old.sqlite")
}

// TestAllocations: what the program got from CUDA and gave back, with the peak of each stage by what was live when it began and in it.
func TestAllocations(t *testing.T) {
	w := newWarehouse(t)
	mustIngest(t, w, "m", "nsys/testdata/memory.sqlite")
	expect(t, w, `SELECT pid, device_id, time_ns, memory, address, size_bytes FROM cuda_allocation ORDER BY time_ns, size_bytes`, "100|0|10|Device|4096|1000", "100|0|15|Pinned|9000|64",
		"100|0|150|Device|8192|500", "100|0|160|Device|8192|-500", "100|0|160|Device|8192|700", "100|0|250|Device|8192|-700")
	expect(t, w, `SELECT read_count, stored_count, reason FROM source_part WHERE part LIKE '%MEMORY_USAGE%'`, "7|6|1 rows are neither an allocation nor a release, or have a size or time that cannot be")
	anew := func() {
		var run string
		if err := w.DB.QueryRow(`SELECT run_id::VARCHAR FROM run`).Scan(&run); err != nil {
			t.Fatal(err)
		}
		if err := schema.DeriveAnew(t.Context(), w.DB, derive.Facts{}, run); err != nil {
			t.Fatal(err)
		}
	}
	anew()
	const peaks = `SELECT stage, basis, pass, device, peak_bytes, least_bytes, most_bytes, passes, samples, pid, source_id FROM memory_peaks('m')`
	expect(t, w, peaks, "(all)|nsys device|~|0|1700|1700|1700|~|~|100|1", "(all)|nsys pinned|~|0|64|64|64|~|~|100|1",
		"prefill|nsys device|~|0|1700|1700|1700|1|~|100|1", "prefill|nsys pinned|~|0|64|64|64|1|~|100|1",
		"decode|nsys device|~|0|1000|1000|1000|1|~|100|1", "decode|nsys pinned|~|0|64|64|64|1|~|100|1")
	expect(t, w, peaks[:len(peaks)-1]+`, stage := 'decode', basis := 'nsys device')`, "decode|nsys device|~|0|1000|1000|1000|1|~|100|1")
	if _, err := w.DB.Exec(`DELETE FROM cuda_allocation WHERE time_ns = 10`); err != nil { // the record began too late: a release goes below zero
		t.Fatal(err)
	}
	if _, err := w.DB.Exec(`UPDATE cuda_allocation SET size_bytes = -1200 WHERE time_ns = 250`); err != nil {
		t.Fatal(err)
	}
	anew()
	expect(t, w, peaks[:len(peaks)-1]+`, basis := 'nsys device')`, "(all)|nsys device|~|0|~|1200|~|~|~|100|1", "prefill|nsys device|~|0|~|1200|~|1|~|100|1",
		"decode|nsys device|~|0|~|0|~|1|~|100|1")
}
