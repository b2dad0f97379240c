package nsys_test

import (
	"fmt"
	"testing"
)

// TestMinimal reads an export that another tool cut down: without contexts, processes of kernels and most tables. The figures are what SQLite gives for
// SELECT count(*), sum(k."end" - k.start), sum(r."end" - r.start), count(DISTINCT k.streamId) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId).
func TestMinimal(t *testing.T) {
	k, _ := stored(t, "../../testdata/foreign/minimal.sqlite.gz")
	kernels, streams, processes := k.Table("kernel"), map[string]bool{}, map[string]bool{}
	for _, r := range kernels {
		streams[r.Text("stream_id")], processes[r.Text("pid")] = true, true
	}
	got := fmt.Sprintf("%d|%d|%d|%d|%d|%d", len(kernels), kernels.Sum("duration_ns"), kernels.Sum("launch_duration_ns"), len(streams), len(kernels)-len(kernels.Is("context_id", "~")), len(processes))
	if want := "400|400000000|1000000|1|0|1"; got != want {
		t.Errorf("kernels are %s, SQLite has %s", got, want)
	}
}
