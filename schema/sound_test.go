package schema_test

import (
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/schema"
)

// TestSound: what an ingest stores of any capture can travel as it is.
func TestSound(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	runs, err := w.Runs(t.Context())
	if err != nil || len(runs) < 90 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	for _, r := range runs {
		if err := schema.CheckSound(t.Context(), w.DB, r.ID); err != nil {
			t.Errorf("run %s: %v", r.Name, err)
		}
		if texts, err := schema.Secrets(t.Context(), w.DB, r.ID); err != nil || len(texts) > 0 {
			t.Errorf("run %s: texts change: %q %v", r.Name, texts, err)
		}
	}
}

// TestUnsound: of every column, a number that it cannot hold, a word that it does not know and an id that leads nowhere are found.
func TestUnsound(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Run{Name: "x", Files: []string{"graph/stack-replay.trace.json.gz", "nsys/variants-graph/variants-graph.sqlite.gz", "ncu/variants-graph.ncu-rep.gz", "workload/llama-graph-node.workload.json"}, Facts: []string{}})
	id := testkit.RunID("x")
	seen := map[string]int{}
	err := schema.Spoil(t.Context(), w.DB, id, func(table, column, value string, check func(q schema.SQL) error) {
		seen[column]++
		tx, err := w.DB.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if _, err := tx.ExecContext(t.Context(), "UPDATE "+table+" SET "+column+" = "+value); err != nil {
			t.Fatal(err)
		}
		if err := check(tx); err == nil {
			t.Errorf("%s.%s = %s is taken", table, column, value)
		}
	})
	if err != nil || seen["source_id"] < 30 || len(seen) < 100 {
		t.Errorf("%d columns: %v", len(seen), err)
	}
}

// TestForged: what an ingest adds up, and was changed since, is found.
func TestForged(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Run{Name: "x", Files: []string{"nsys/variants-graph/variants-graph.sqlite.gz", "ncu/variants-graph.ncu-rep.gz", "workload/llama-graph-node.workload.json"}, Facts: []string{}})
	check, err := schema.Checks(t.Context(), w.DB, testkit.RunID("x"))
	if err != nil {
		t.Fatal(err)
	}
	const (
		ofRanges, ofWork, ofDevices, ofIdle = "do not add up to those of range_device", "is not that of range_device", "is not that of device_time", "is not that of device_time and idle_part"
		ofSums, ofGaps, ofParts             = "do not add up to those of gap_sum", "rows of gap are no gaps", "the parts of gap_sum are not"
	)
	for forged, want := range map[string]string{
		"UPDATE range_device SET kernel_count = 7 * kernel_count":                                  ofRanges,
		"UPDATE range_device SET kernel_sum_ns = kernel_sum_ns + 1":                                ofRanges,
		"UPDATE range_device SET first_start_ns = first_start_ns - 1":                              ofWork,
		"UPDATE range_device SET last_end_ns = last_end_ns + 1":                                    ofWork,
		"UPDATE range_device SET busy_ns = 0":                                                      ofWork,
		"UPDATE range_device SET busy_ns = 10 * busy_ns":                                           ofWork,
		"UPDATE range_device SET sum_ns = sum_ns + 1":                                              ofWork,
		"UPDATE range_device SET memop_count = memop_count + 1":                                    ofWork,
		"UPDATE range_device SET graph_count = graph_count + 1":                                    ofWork,
		"UPDATE device_time SET end_ns = end_ns + 1 WHERE range_id IS NOT NULL":                    ofDevices,
		"UPDATE device_time SET copy_ns = copy_ns + 1, other_ns = other_ns - 1 WHERE other_ns > 0": ofDevices,
		"UPDATE device_time SET other_ns = other_ns + 1":                                           ofIdle,
		"UPDATE device_time SET gap_count = gap_count + 1":                                         ofIdle,
		"UPDATE idle_part SET ns = 3 * ns":                                                         ofIdle,
		"UPDATE idle_part SET ns = 3 * ns WHERE range_id IS NOT NULL":                              ofIdle,
		"UPDATE idle_part SET part = 'unknown' WHERE part = 'host' AND range_id IS NULL":           ofParts,
		"UPDATE gap_sum SET duration_ns = 3 * duration_ns":                                         ofSums,
		"UPDATE gap_sum SET gap_count = 3 * gap_count":                                             ofSums,
		"UPDATE gap_sum SET max_ns = 0":                                                            ofSums,
		"UPDATE gap_sum_part SET ns = 3 * ns":                                                      ofParts,
		"UPDATE gap SET duration_ns = 2 * duration_ns":                                             ofGaps,
		"UPDATE gap_part SET ns = 2 * ns":                                                          ofGaps,
		"UPDATE nvtx_range SET duration_ns = duration_ns // 10":                                    "outside of the",
		"UPDATE nvtx_range SET start_ns = start_ns + 300000000":                                    "outside of the",
		"UPDATE range_path SET lineage = [path_id, path_id]":                                       "lineages of range_path",
		"UPDATE range_path SET lineage = [] WHERE depth = 1":                                       "lineages of range_path",
		"UPDATE api_sum SET sum_ns = 1000 * sum_ns":                                                "of api_sum",
		"UPDATE api_duration SET call_count = call_count + 1":                                      "of api_sum",
		"UPDATE source_part SET stored_count = 2 * read_count":                                     "more rows were stored than read",
		"INSERT INTO device FROM device":                                                           "table device: rows have the same",
		"INSERT INTO process FROM process":                                                         "table process: rows have the same",
		"INSERT INTO thread FROM thread":                                                           "table thread: rows have the same",
		"INSERT INTO workload FROM workload":                                                       "table workload: rows have the same",
		"INSERT INTO source_part FROM source_part":                                                 "table source_part: rows have the same",
		"INSERT INTO ncu_metric FROM ncu_metric":                                                   "table ncu_metric: rows have the same",
		"INSERT INTO ncu_rule FROM ncu_rule":                                                       "table ncu_rule: rows have the same",
		"INSERT INTO idle_part SELECT * REPLACE (0 AS ns) FROM idle_part":                          "table idle_part: rows have the same",
		"UPDATE ncu_rule SET severity = 'bogus'":                                                   "stands for nothing",
		"UPDATE workload SET capture = 'evil'":                                                     "stands for nothing",
	} {
		tx, err := w.DB.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		done, err := tx.ExecContext(t.Context(), forged)
		if err != nil {
			t.Fatalf("%s: %v", forged, err)
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			t.Errorf("%s: %d rows: %v", forged, n, err)
		}
		table := strings.Fields(strings.Replace(forged, "INSERT INTO", "INSERT", 1))[1]
		if err := check(tx, table); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", forged, err, want)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}
