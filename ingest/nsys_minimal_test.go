package ingest_test

import (
	"slices"
	"testing"
)

// TestMinimal reads an export that another tool cut down: without contexts, processes of kernels and most tables. The figures are what SQLite gives for
// SELECT count(*), sum(k."end" - k.start), sum(r."end" - r.start), count(DISTINCT k.streamId) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId).
func TestMinimal(t *testing.T) {
	w := newWarehouse(t)
	mustIngest(t, w, "minimal", "../testdata/foreign/minimal.sqlite.gz")
	got := rows(t, w, `SELECT count(*), sum(duration_ns), sum(launch_duration_ns), count(DISTINCT stream_id), count(context_id), count(DISTINCT pid) FROM kernel`)
	if want := []string{"400|400000000|1000000|1|0|1"}; !slices.Equal(got, want) {
		t.Errorf("kernels are %q, SQLite has %q", got, want)
	}
}
