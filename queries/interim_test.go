package queries_test

import (
	"testing"

	"prof/ingest"
	"prof/internal/testkit"
	"prof/schema"
)

func loadNCCL(t *testing.T) *schema.Warehouse { return testkit.All(t) }

// captured makes the run of a captured folder.
func captured(t *testing.T, w *schema.Warehouse) {
	t.Helper()
	if err := testkit.Ingest(t.Context(), w, 0, capturedRun(t)); err != nil {
		t.Fatal(err)
	}
}

func loadEngine(t *testing.T, w *schema.Warehouse) {
	t.Helper()
	for i, path := range []string{"engine-node.sqlite.gz", "engine-graph.sqlite.gz", "engine.trace.json.gz"} {
		loadFacts(t, w, ingest.Options{Name: []string{"node", "whole", "trace"}[i], Models: []string{"../testdata/engine/config.json"}}, "../testdata/engine/"+path)
	}
}
