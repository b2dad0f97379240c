package queries_test

import (
	"fmt"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
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
		for _, r := range rowsOf(t, w, "SELECT detail, item_count FROM caveat WHERE run_id = '%s' AND kind = 'tool-lost-data'", testkit.RunID(runs[n].Name)) {
			got = append(got, fmt.Sprint(r[0], " ", r[1]))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := rowsOf(t, testkit.All(t), "SELECT r.name, c.detail FROM caveat c JOIN run r USING (run_id) WHERE c.kind = 'tool-lost-data'%s", ""); len(got) != 0 {
		t.Errorf("captures of testdata that are whole: %v", got)
	}
}

// TestImporterLoss holds what a capture says whose importer lost all work of the GPU: that it is not whole, not that Nsight Systems should be tried.
func TestImporterLoss(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Run{Name: "jax", Files: []string{"odd/jax-no-kernels.sqlite.gz"}})
	notes := strings.Join(testkit.Query(t, w, "stages", queries.Args{"run": "jax"}).Notes, "\n")
	if want := "the importer of Nsight Systems failed on unknown names and left out GPU records, some or all: capture with prof's own tracer (--tools prof)"; !strings.Contains(notes, want) {
		t.Errorf("the notes are\n%s\nwithout\n%s", notes, want)
	}
}

// TestUnseenWaits holds which waits at the edges of a capture are for work that it does not have: those in which, before or behind all work of the process, a
// call waits a millisecond or longer.
func TestUnseenWaits(t *testing.T) {
	t.Parallel()
	const work = "INSERT INTO memop (run_id, source_id, pid, device_id, context_id, stream_id, start_ns, duration_ns, operation, size_bytes) SELECT $run, 1, 1, 0, 1, 7, 50000000, 1000, 'memset', 8"
	call := func(name string, start, duration int) string {
		return fmt.Sprintf("INSERT INTO api_name SELECT $run, 1, '%s'; INSERT INTO api_call SELECT $run, 1, 1, 1, %d, %d, 1, NULL, 0, 0", name, start, duration)
	}
	sync := func(start, duration int) string {
		return fmt.Sprintf("INSERT INTO sync (run_id, source_id, pid, device_id, context_id, kind, start_ns, duration_ns) SELECT $run, 1, 1, 0, 1, 'Context synchronize', %d, %d", start, duration)
	}
	cases := []struct{ name, sql, want string }{
		{"behind the last work", call("cudaDeviceSynchronize", 60_000_000, 5_000_000), "end cudaDeviceSynchronize 5e+06"},
		{"as it takes to find nothing", call("cudaDeviceSynchronize", 60_000_000, 150_000), ""},
		{"for the last work", call("cudaDeviceSynchronize", 49_000_000, 2_000_000), ""},
		{"a copy that blocks", call("cudaMemcpy", 60_000_000, 5_000_000), ""},
		{"before the first, as CUDA recorded it", sync(1_000_000, 3_000_000), "before Context synchronize 3e+06"},
		{"a first call, which may make the context", call("cudaDeviceSynchronize", 1_000_000, 200_000_000/5), ""},
	}
	var runs []testkit.Run
	for n, c := range cases {
		name := fmt.Sprint("wait-", n+1)
		id := testkit.RunID(name)
		sql := strings.ReplaceAll(strings.Join([]string{sourceOf(id, 1, "nsys"), work, c.sql}, ";\n"), "$run", "'"+id+"'")
		runs = append(runs, testkit.Run{Name: name, SQL: sql, Facts: []string{"caveat_unseen"}})
	}
	w := testkit.Warehouse(t, runs...)
	for n, c := range cases {
		var got []string
		for _, r := range rowsOf(t, w, "SELECT detail, subject, time_ns FROM caveat WHERE run_id = '%s' AND kind = 'unseen-wait'", testkit.RunID(runs[n].Name)) {
			got = append(got, fmt.Sprint(r[0], " ", r[1], " ", r[2]))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := rowsOf(t, testkit.All(t), "SELECT r.name, c.subject, c.time_ns FROM caveat c JOIN run r USING (run_id) WHERE c.kind = 'unseen-wait'%s", ""); len(got) != 0 {
		t.Errorf("captures of testdata that are whole: %v", got)
	}
}
