package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/load"
	"prof/internal/golden"
	"prof/schema"
)

// TestSideBySide: sources that are read side by side are stored as those that are read one by one, to the last id.
func TestSideBySide(t *testing.T) {
	b := newBench(t)
	kernel := golden.Unpacked(t, kernels)
	paths := []string{b.file("a.sqlite", string(kernel)), b.file("b.sqlite", string(repeated(t, kernel))), b.file("same.sqlite", string(kernel)), b.file("nvtx.sqlite", string(golden.Unpacked(t, "../testdata/nsys/emit-nvtx/emit-nvtx.sqlite.gz"))),
		b.file("graphs.sqlite", string(golden.Unpacked(t, graphs)))}
	for _, name := range []string{"graphs", "operators", "collectives", "processes", "versions"} {
		paths = append(paths, b.copied("nsys/testdata/"+name+".sqlite", "made-"+name+".sqlite"))
	}
	for _, name := range []string{"train-stack", "graph", "llama-stack"} {
		paths = append(paths, b.copied("../testdata/torch/"+name+".trace.json.gz", name+".trace.json.gz"))
	}
	var want string
	for _, threads := range []int{1, 16} {
		on := newBench(t)
		on.dir = b.dir
		on.ok(ingest.Options{Name: "r", Load: load.Options{Threads: threads, WithOSRT: true}}, paths...)
		got := on.numbered()
		if want == "" {
			want = got
		}
		for i, table := range strings.Split(want, "|") {
			if other := strings.Split(got, "|")[i]; other != table {
				t.Errorf("read with %d threads: table, rows and hash are %s, not %s", threads, other, table)
			}
		}
	}
	for _, table := range []string{"op", "op_input", "python_stack", "kernel_symbol", "range_context", "memop", "gap"} {
		if strings.Contains(want, "|"+table+" 0 ") {
			t.Errorf("no capture has rows for %s", table)
		}
	}
}

// numbered returns the number and a hash of each table's rows, the same for any id of the run: ids count by their numbers within it.
func (b *bench) numbered() string {
	b.t.Helper()
	var parts []string
	for _, row := range strings.Split(b.rows(`SELECT table_name, estimated_size FROM duckdb_tables() WHERE NOT internal AND table_name NOT IN ('run', 'schema_version', 'derivation') ORDER BY ALL`), "|") {
		t, rows, _ := strings.Cut(row, " ")
		if rows == "0" { // to plan for it takes as long as for any
			parts = append(parts, fmt.Sprintf("SELECT '%s' AS t, 0 AS n, '0' AS h", t))
			continue
		}
		columns := "0"
		for _, c := range strings.Split(b.rows(fmt.Sprintf(`SELECT column_name || if(data_type LIKE '%%[]', '[]', '') FROM duckdb_columns() WHERE table_name = '%s' AND column_name <> 'run_id' ORDER BY column_index`, t)), "|") {
			c, isList := strings.CutSuffix(c, "[]")
			switch {
			case schema.IsID(t, c) && isList:
				c = fmt.Sprintf("list_transform(%s, lambda id: id & %d)", c, schema.MaxIDs)
			case schema.IsID(t, c):
				c = fmt.Sprintf("%s & %d", c, schema.MaxIDs)
			}
			columns += ", " + c
		}
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS t, count(*) AS n, coalesce(sum(hash(%s)), 0)::VARCHAR AS h FROM %s x", t, columns, t))
	}
	return b.rows(strings.Join(parts, " UNION ALL ") + " ORDER BY t")
}
