package ingest_test

import (
	"errors"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/internal/testkit"
	"prof/queries"
)

// TestMadeExports asks queries of small exports with known answers, whose rows are looked at in ingest/nsys.
func TestMadeExports(t *testing.T) {
	var runs []testkit.Run
	for _, name := range []string{"graphs", "old", "versions", "processes", "odd"} {
		runs = append(runs, testkit.Run{Name: name, Files: []string{"../ingest/nsys/testdata/" + name + ".sqlite"}})
	}
	w := testkit.Warehouse(t, runs...)
	for _, r := range runs {
		f := testkit.Query(t, w, "conservation", queries.Args{"run": r.Name})
		if f.Rows[0][f.Index("is_exact")] != true {
			t.Errorf("%s: conservation: %v", r.Name, f.Rows[0])
		}
		if r.Name == "processes" && (f.Rows[0][f.Index("unlaunched_ns")] != int64(32) || f.Rows[0][f.Index("outside_ns")] != int64(2) || f.Rows[0][f.Index("attributed_ns")] != int64(29)) {
			t.Errorf("conservation: %v", f.Rows[0])
		}
	}
	for _, run := range []string{"old", "versions"} {
		if f := testkit.Query(t, w, "stages", queries.Args{"run": run}); len(f.Rows) != 2 || f.Rows[0][0] != "prefill" || f.Rows[1][0] != "decode" {
			t.Errorf("stages of %s: %v", run, f.Rows)
		}
	}
	if f := testkit.Query(t, w, "gpu-metrics", queries.Args{"run": "graphs"}); len(f.Rows) != 4 || f.Rows[1][f.Index("mean")] != 0.75 {
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
			testkit.Expect(t, w, "SELECT count(*) FROM "+table, "0")
		}
	}
	mustIngest(t, w, "refused", "nsys/testdata/old.sqlite")
}

// TestMemoryPeaks: the peak of each stage by what was live when it began and in it; none where the record began too late and a release goes below zero.
func TestMemoryPeaks(t *testing.T) {
	files := []string{"../ingest/nsys/testdata/memory.sqlite"}
	w := testkit.Warehouse(t, testkit.Run{Name: "m", Files: files}, testkit.Run{Name: "late", Files: files,
		SQL: `DELETE FROM cuda_allocation WHERE run_id = $run AND time_ns = 10; UPDATE cuda_allocation SET size_bytes = -1200 WHERE run_id = $run AND time_ns = 250`})
	const peaks = `SELECT stage, basis, pass, device, peak_bytes, least_bytes, most_bytes, passes, samples, pid, source_id FROM memory_peaks`
	testkit.Expect(t, w, peaks+`('m')`, "(all)|nsys device|~|0|1700|1700|1700|~|~|100|1", "(all)|nsys pinned|~|0|64|64|64|~|~|100|1",
		"prefill|nsys device|~|0|1700|1700|1700|1|~|100|1", "prefill|nsys pinned|~|0|64|64|64|1|~|100|1",
		"decode|nsys device|~|0|1000|1000|1000|1|~|100|1", "decode|nsys pinned|~|0|64|64|64|1|~|100|1")
	testkit.Expect(t, w, peaks+`('m', stage := 'decode', basis := 'nsys device')`, "decode|nsys device|~|0|1000|1000|1000|1|~|100|1")
	testkit.Expect(t, w, peaks+`('late', basis := 'nsys device')`, "(all)|nsys device|~|0|~|1200|~|~|~|100|1", "prefill|nsys device|~|0|~|1200|~|1|~|100|1",
		"decode|nsys device|~|0|~|0|~|1|~|100|1")
}
