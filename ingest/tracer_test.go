package ingest_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/internal/exports"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// traces writes what prof's tracer can have of an export into a folder.
func traces(t *testing.T, export, folder string, but ...string) {
	t.Helper()
	tables, err := exports.ReadFile(export)
	if err == nil {
		tables = slices.DeleteFunc(tables, func(x *exports.Table) bool { return slices.Contains(but, x.Name) })
		err = exports.WriteTraces(folder, exports.Traced(tables))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTraces: traces of a folder are one source, files that are given are one each; their run.json ties them to a pass, their time is conserved.
func TestTraces(t *testing.T) {
	b := newBenchWith(t, derive.Facts{})
	traces(t, "nsys/testdata/processes.sqlite", b.path("prof/trace-1"))
	b.file("run.json", `{"version": 1, "prof_version": "9", "run": "killed", "mode": "light", "argv": ["python3"], "workload_key": "k", "folder": "/", "started_at": "2026-01-02T03:04:05Z", "status": "partial",
		"passes": [{"pass": 1, "name": "prof-1", "tool": "prof", "mode": "light", "repeat": 1, "argv": ["python3"], "started_at": "2026-01-02T03:04:05Z", "status": "failed", "artifacts": ["prof/trace-1"]}]}`)
	b.ok(ingest.Options{}, b.dir)
	b.expect(`SELECT kind, form FROM source ORDER BY kind`, "capture prof-run|prof prof-trace")
	b.expect(`SELECT pass_id, s.kind FROM capture_source c JOIN source s ON s.source_id = c.captured_source_id`, "1 prof")
	b.expect(`SELECT is_exact, attributed_count, unlaunched_count FROM conservation('killed')`, "true 4 1")
	b.expect(`SELECT kind, is_counted FROM timeline`, "prof true")
	files, err := filepath.Glob(b.path("prof/trace-1/*"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	b = newBench(t)
	b.ok(ingest.Options{Name: "files"}, files...)
	b.expect(`SELECT count(*), count(DISTINCT source_id) FROM kernel`, "6 2")
}

// TestTwoKinds: of an export and traces in one run the traces count, and --source nsys chooses the export. Queries say the same of both.
func TestTwoKinds(t *testing.T) {
	const path = "../testdata/nsys/kernels/kernels.sqlite.gz"
	folder := t.TempDir()
	traces(t, path, folder, "META_DATA_CAPTURE") // else it is the same capture
	w := testkit.Copy(t)
	mustIngest(t, w, "both", path, folder)
	if got := strings.Join(testkit.Rows(t, w, `SELECT kind, is_counted FROM timeline ORDER BY kind`), " "); got != "nsys|false prof|true" {
		t.Error(got)
	}
	if got := strings.Join(testkit.Rows(t, w, `SELECT capture, is_counted, object, detail FROM caveat WHERE kind = 'two-timelines' ORDER BY capture`), " "); got != "nsys|false|nsys|prof prof|true|prof|nsys" {
		t.Error(got)
	}
	ask := func(name string, args queries.Args) *frame.Frame {
		args["run"] = "both"
		return testkit.Query(t, w, name, args)
	}
	for _, name := range []string{"top-kernels", "stages", "memops", "api-calls", "ranges", "steps", "findings", "kernel-grids", "gaps"} {
		whole := queries.Args{}
		if name == "memops" { // all copies are before the first pass
			whole["warmup"] = "true"
		}
		of := maps.Clone(whole)
		of["source"] = "nsys"
		if a, b := ask(name, of), ask(name, whole); len(a.Rows) != len(b.Rows) || len(a.Rows) == 0 {
			t.Errorf("%s: %d rows of the export, %d of the traces", name, len(a.Rows), len(b.Rows))
		}
	}
	if n := len(ask("ncu-plan", queries.Args{}).Rows); n == 0 {
		t.Error("nothing to profile")
	}
}
