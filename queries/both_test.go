package queries_test

import (
	"slices"
	"strings"
	"testing"

	"prof/ingest"
	ingestload "prof/ingest/load"
	"prof/internal/exports"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// both is a run of a capture of Nsight Systems with what prof's tracer would have of the same program.
func both(of testkit.Run) testkit.Run {
	file := of.Files[0]
	return testkit.Run{Name: of.Name + "-both", Key: of.Name, Options: of.Options, Sources: []string{"queries/both_test.go", "internal/exports", "testdata/" + file},
		Make: func(dir string) ([]string, error) {
			tables, err := exports.ReadFile(testkit.Path(file))
			if err != nil {
				return nil, err
			}
			return []string{testkit.Path(file), dir}, exports.WriteTraces(dir, exports.Traced(asTraced(tables)))
		}}
}

// asTraced leaves out what Nsight Systems alone has of the tables that a trace has: its session and messages, and ranges around Python's lock.
func asTraced(tables []*exports.Table) []*exports.Table {
	texts := map[any]string{}
	for _, t := range tables {
		for _, r := range t.Rows {
			if t.Name == "StringIds" {
				texts[r[t.Column("id")]], _ = r[t.Column("value")].(string)
			}
		}
	}
	var out []*exports.Table
	for _, t := range tables {
		switch t.Name {
		case "META_DATA_CAPTURE", "DIAGNOSTIC_EVENT":
			continue
		case "NVTX_EVENTS":
			t.Rows = slices.DeleteFunc(t.Rows, func(r []any) bool {
				text, _ := r[t.Column("text")].(string)
				return strings.HasSuffix(text+texts[r[t.Column("textId")]], " GIL")
			})
		}
		out = append(out, t)
	}
	return out
}

// TestBoth: in a run with a timeline of prof's tracer and one of Nsight Systems figures rest on the tracer's, once; what only Nsight Systems has is what it
// is in a run of it alone.
func TestBoth(t *testing.T) {
	only := map[string]string{ // by capture
		"nsys-stacks": "syncs hot-lines line-kernels",
		"cpu-retry":   "memory-peaks",
		"graph-node":  "captured-kernels operator-kernels operator-nodes top-operators syncs",
		"ranks-nsys":  "collective-sizes",
		"cpu-gil":     "",
		"os":          "osrt-calls",
	}
	os := testkit.Run{Name: "os", Files: []string{"../ingest/nsys/testdata/graphs.sqlite"}, Options: ingest.Options{Load: ingestload.Options{WithOSRT: true}}}
	runs := sample.Of(append(testkit.Named(t, "nsys-stacks", "cpu-retry", "graph-node", "ranks-nsys", "cpu-gil"), os), 4)
	asked := slices.Clone(runs)
	for _, r := range slices.Clone(runs) {
		runs = append(runs, both(r))
	}
	w := testkit.Warehouse(t, runs...)
	for _, r := range asked {
		name, list := r.Name, only[r.Name]
		testkit.Expect(t, w, "SELECT t.kind, t.is_counted FROM timeline t JOIN run r USING (run_id) WHERE r.name = '"+name+"-both' ORDER BY t.kind", "nsys|false", "prof|true")
		for _, q := range append(strings.Fields(list), "top-kernels") {
			alone, got := testkit.Query(t, w, q, queries.Args{"run": name}), testkit.Query(t, w, q, queries.Args{"run": name + "-both"})
			if len(alone.Rows) == 0 || !slices.EqualFunc(alone.Rows, got.Rows, slices.Equal) {
				t.Errorf("%s of %s: %d rows of Nsight Systems alone, others beside prof's tracer (%d):\n%v\n%v", q, name, len(alone.Rows), len(got.Rows), alone.Rows, got.Rows)
			}
		}
	}
	found := func(run, id string) (evidence string) {
		t.Helper()
		f := testkit.Query(t, w, "findings", queries.Args{"run": run})
		at := slices.IndexFunc(f.Columns, func(c frame.Column) bool { return c.Name == "evidence" })
		for _, r := range f.Rows {
			if r[1] == id {
				evidence += r[at].(string)
			}
		}
		return evidence
	}
	if alone, got := found("cpu-gil", "gil-wait"), found("cpu-gil-both", "gil-wait"); alone == "" || got == alone || strings.ReplaceAll(got, `,"apart_kind":"nsys"`, "") != alone {
		t.Errorf("waits for Python's lock: %s\nbeside prof's tracer: %s", alone, got)
	}
	if alone, got := found("nsys-stacks", "host"), found("nsys-stacks-both", "host"); !strings.Contains(alone, `"line":"hot.py:`) || !strings.Contains(got, `"line":"hot.py:`) || !strings.Contains(got, `"line_kind":"nsys"`) {
		t.Errorf("the line of host: %s\nbeside prof's tracer: %s", alone, got)
	}
}
