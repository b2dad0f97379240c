package queries_test

import (
	"fmt"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// TestToolLosses holds which messages mean that a tool lost data, for each tool, and that others do not.
func TestToolLosses(t *testing.T) {
	t.Parallel()
	type rows map[string]int // by table
	const collected = "Number of CUDA events collected: 60."
	cases := []struct {
		name, kind, origin, message string
		parts                       rows
		want                        string
	}{
		{"JAX", "nsys", "capture", "Error when processing events: Error information: ProcessEventsError (4005) [QuadDCommon::tag_message*] = Cannot find string for an exterior index", nil, "nsys-import-strings <nil>"},
		{"an older importer", "nsys", "capture", "ProcessEventsError: Cannot find bucket for a bucket index", nil, "nsys-import-strings <nil>"},
		{"another failure", "nsys", "capture", "ErrorText: Wrong event order has been detected when adding events to the collection", nil, "nsys-import <nil>"},
		{"all rows", "nsys", "capture", collected, rows{"CUPTI_ACTIVITY_KIND_RUNTIME": 40, "CUPTI_ACTIVITY_KIND_KERNEL": 15, "CUPTI_ACTIVITY_KIND_MEMCPY": 3, "CUPTI_ACTIVITY_KIND_MEMSET": 2, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": 9}, ""},
		{"kernels emptied", "nsys", "capture", collected, rows{"CUPTI_ACTIVITY_KIND_RUNTIME": 40, "CUPTI_ACTIVITY_KIND_MEMCPY": 3, "CUPTI_ACTIVITY_KIND_MEMSET": 2, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": 15}, "nsys-rows-missing 15"},
		{"one twice", "nsys", "capture", collected, rows{"CUPTI_ACTIVITY_KIND_RUNTIME": 40, "CUPTI_ACTIVITY_KIND_KERNEL": 21}, "nsys-rows-added 1"},
		{"another version, which may count more", "nsys-2099", "capture", collected, rows{"CUPTI_ACTIVITY_KIND_RUNTIME": 40, "CUPTI_ACTIVITY_KIND_KERNEL": 11, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": 9}, ""},
		{"another version, fewer of all", "nsys-2099", "capture", collected, rows{"CUPTI_ACTIVITY_KIND_RUNTIME": 40, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": 9}, "nsys-rows-missing 11"},
		{"of captures that are whole", "nsys", "capture", "Not all CUDA events might have been collected.", nil, ""},
		{"of a child process", "nsys", "capture", "No CUDA events collected. Does the process use CUDA?", nil, ""},
		{"what it produced", "nsys", "capture", "Number of CUPTI events produced: 9907, CUPTI buffers: 50.", nil, ""},
		{"CUPTI under prof's tracer", "prof", "capture", "CUPTI dropped 17 records: the trace is not whole", nil, "cupti-dropped 17"},
		{"a trace cut off", "prof", "ingest", "the last block of 7.trace is cut and was left out (99 bytes)", nil, "trace-cut <nil>"},
		{"killed", "prof", "ingest", "1 of 2 traces do not end in order (7.trace): the process was killed or left by _exit, and up to about a second of its end may be missing", nil, ""},
		{"Kineto's limit", "torch", "capture", "WARNING:2026-09-29 09:23:37 1:1 CuptiActivityApi.cpp:120] Exceeded max GPU buffer count (33 >= 33) - terminating tracing", nil, "kineto-buffer <nil>"},
		{"CUPTI under Kineto", "torch", "capture", "WARNING:2026-09-29 09:23:37 1:1 CuptiActivityApi.cpp:270] Dropped 21 activity records", nil, "kineto-dropped 21"},
		{"no GPU", "torch", "capture", "ERROR:2026-01-08 08:51:59 865:3386 DeviceProperties.cpp:47] gpuGetDeviceCount failed with code 35", nil, ""},
		{"XLA", "xla", "capture", "Detected GPU events dropped on host: Profiler has collected 9 driver events and 8 device events. 5 events dropped because total device(activity) events reaches max; 2 events dropped because total driver(callback) events reaches max.", nil, "xla-dropped 7"},
	}
	var runs []testkit.Run
	for n, c := range cases {
		name := fmt.Sprint("loss-", n+1)
		id := testkit.RunID(name)
		kind, other, _ := strings.Cut(c.kind, "-")
		version := "2025.3.2.0"
		if other != "" {
			version = other
		}
		stmts := []string{sourceOf(id, 1, kind), fmt.Sprintf("UPDATE source SET tool_version = '%s' WHERE run_id = '%s'", version, id),
			fmt.Sprintf("INSERT INTO diagnostic SELECT '%s', 1, '%s', 'warning', NULL, 0, '%s'", id, c.origin, strings.ReplaceAll(c.message, "'", "''"))}
		for part, count := range c.parts {
			stmts = append(stmts, fmt.Sprintf("INSERT INTO source_part SELECT '%s', 1, '%s', %d, %[3]d, NULL", id, part, count))
		}
		runs = append(runs, testkit.Run{Name: name, SQL: strings.Join(stmts, ";\n"), Facts: []string{"caveat_loss"}})
	}
	w := testkit.Warehouse(t, runs...)
	for n, c := range cases {
		var got []string
		for _, r := range rowsOf(t, w, "SELECT subject, item_count FROM caveat WHERE run_id = '%s' AND kind = 'tool-lost-data'", testkit.RunID(runs[n].Name)) {
			got = append(got, fmt.Sprint(r[0], " ", r[1]))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := rowsOf(t, testkit.All(t), "SELECT r.name, c.subject FROM caveat c JOIN run r USING (run_id) WHERE c.kind = 'tool-lost-data'%s", ""); len(got) != 0 {
		t.Errorf("captures of testdata that are whole: %v", got)
	}
}
