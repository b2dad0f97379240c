package schema_test

import (
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
