package queries_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// TestPathOfOtherProcess holds that the critical paths of one process do not hide the kernels of another, which has no steps.
func TestPathOfOtherProcess(t *testing.T) {
	t.Parallel()
	var events []string
	correlation := 0
	add := func(process, at, launchAt, length int, name string, blocks int) {
		correlation++
		events = append(events, fmt.Sprintf(`{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": %[1]d, "tid": %[1]d, "ts": %[2]d, "dur": 5, "args": {"correlation": %[3]d}}`, process, launchAt, correlation),
			fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "%s", "pid": %d, "tid": 7, "ts": %d, "dur": %d, "args": {"device": %[2]d, "context": %[2]d, "stream": 7, "correlation": %[5]d, "grid": [%[6]d, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 0}}`,
				name, process-1, at, length, correlation, blocks))
	}
	for step := range 40 {
		start := 100_000 + 1000*step
		events = append(events, fmt.Sprintf(`{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 1, "tid": 1, "ts": %d, "dur": 990, "args": {}}`, step, start))
		for k := range 5 {
			add(1, start+30+150*k, start+10+20*k, 140, fmt.Sprint("kernel", k), 1000)
		}
		add(2, start+100, start+50, 600, "small", 10)
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	const devices = `[{"id": 0, "name": "NVIDIA H200", "numSms": 132}, {"id": 1, "name": "NVIDIA H200", "numSms": 132}]`
	if err := os.WriteFile(path, []byte(`{"schemaVersion": 1, "deviceProperties": `+devices+`, "traceEvents": [`+strings.Join(events, ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w := testkit.Copy(t)
	load(t, w, "two", path)
	if got := rows(t, w, "SELECT DISTINCT pid FROM critical_step"); !slices.Equal(got, []string{"[1]"}) {
		t.Errorf("processes with steps: %q", got)
	}
	want := fmt.Sprintf("[small %d 0]", 40*600_000*(132-10)/132)
	if got := rows(t, w, "SELECT subject, saving_ns, json_extract(evidence, '$.hidden_ns')::BIGINT FROM finding WHERE finding_id = 'small-grids' AND device_id = 1"); !slices.Equal(got, []string{want}) {
		t.Errorf("small grids %q, want %q", got, want)
	}
}
