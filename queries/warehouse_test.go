package queries_test

import (
	"testing"
	"time"

	"prof/ingest"
	ingestload "prof/ingest/load"
	"prof/queries"
	"prof/schema"
)

func definitions(t testing.TB) []schema.Definition {
	t.Helper()
	defs, err := queries.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	return defs
}

// newWarehouse opens an empty warehouse in a folder of the test's own.
func newWarehouse(t testing.TB) *schema.Warehouse {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: definitions(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// load ingests paths as one run.
func load(t testing.TB, w *schema.Warehouse, run string, paths ...string) *ingest.Result {
	t.Helper()
	// Each run here is a capture of its own; the repeat check is tested elsewhere.
	if _, err := w.DB.Exec(`UPDATE source SET sha256 = run_id::VARCHAR || source_id`); err != nil {
		t.Fatal(err)
	}
	res, err := ingest.Run(t.Context(), w, paths, ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Load: ingestload.Options{Threads: 2, WithOSRT: true}})
	if err != nil {
		t.Fatal(err)
	}
	if !res.Made {
		t.Fatalf("%v: no run was made: %+v", paths, res)
	}
	return res
}

func query(t testing.TB, w *schema.Warehouse, name string, args queries.Args) *queries.Frame {
	t.Helper()
	q, err := queries.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := queries.Run(t.Context(), w, q, args)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
