package torch_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSaid: what Kineto warned of is kept, since it may say that records are missing; what is only information is not.
func TestSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.trace.json")
	const full = "WARNING:2026-09-29 09:23:37 1:1 CuptiActivityApi.cpp:120] Exceeded max GPU buffer count (33 >= 33) - terminating tracing"
	text := `{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0, "stream": 7, "correlation": 1}}],
		"INFO": ["INFO: Enabling GPU tracing"], "WARNING": ["` + full + `"], "ERROR": "a text of another program"}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	k, _ := stored(t, path)
	k.Table("diagnostic").Expect(t, "origin severity message", "capture|warning|"+full)
}
