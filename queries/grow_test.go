package queries_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	ingestload "prof/ingest/load"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// grown is a run of the same name in a warehouse of its own, which grows.
type grown struct {
	*testing.T
	w   *schema.Warehouse
	now time.Time
}

func newGrown(t *testing.T, stored ...testkit.Run) *grown {
	t.Helper()
	return &grown{t, testkit.Copy(t, stored...), testkit.Now}
}

// grownFacts are some facts of every kind of source, enough to see that facts are derived anew.
var grownFacts = []string{"timeline", "stage_pass", "work_sum", "op_sum", "ncu_match", "pass_cost"}

// derives reports whether all facts are derived from now on, or grownFacts.
func (g *grown) derives(all bool) {
	g.Helper()
	g.w.Facts = derive.Facts{}
	if !all {
		facts, err := derive.Behind(grownFacts...)
		if err != nil {
			g.Fatal(err)
		}
		g.w.Facts = facts
	}
}

// add stores files as the run, or with it where it is there.
func (g *grown) add(paths ...string) *ingest.Result {
	g.Helper()
	runs, err := g.w.Runs(g.Context())
	if err != nil {
		g.Fatal(err)
	}
	g.now = g.now.Add(time.Hour)
	res, err := ingest.Run(g.Context(), g.w, paths, ingest.Options{Name: "x", Now: g.now, ProfVersion: "test", Add: len(runs) > 0, Load: ingestload.Options{Threads: 2}})
	if err != nil {
		g.Fatal(err)
	}
	return res
}

func (g *grown) remove(sources ...int) *grown {
	g.Helper()
	run, err := g.w.Resolve(g.Context(), "x")
	if err != nil {
		g.Fatal(err)
	}
	if _, err := ingest.RemoveSources(g.Context(), g.w, run, sources, nil); err != nil {
		g.Fatal(err)
	}
	return g
}

// tables are how many rows each table has of the run, facts among them, and a sum over all of their cells but the run's id and the time of an ingest. Sources are counted from a number on, and
// ids may be any where anyID says so.
func (g *grown) tables(from int, anyID bool) map[string]string {
	g.Helper()
	id := runID(g.T, g.w, "x")
	parts := map[string][]string{}
	for _, row := range g.raw(`SELECT table_name, column_name, data_type FROM duckdb_columns() c WHERE (table_name) IN (SELECT x.table_name FROM duckdb_columns() x WHERE x.column_name = 'run_id')
		AND table_name IN (SELECT t.table_name FROM duckdb_tables() t) ORDER BY table_name, column_index`) {
		table, column, kind := row[0].(string), row[1].(string), row[2].(string)
		cell := column
		switch isID := schema.IsID(table, column) || strings.HasSuffix(column, "name_id"); {
		case slices.Contains([]string{"run_id", "added_at", "created_at", "chain_id", "memory_id"}, column), isID && anyID: // the latter two are hashes of the run's id
			continue
		case isID && strings.HasSuffix(kind, "[]"):
			cell = fmt.Sprintf("list_transform(%s, lambda v: v - %d)", column, schema.IDBase(id))
		case isID:
			cell = fmt.Sprintf("CASE WHEN %[1]s > 0 THEN %[1]s - %[2]d ELSE %[1]s END", column, schema.IDBase(id))
		case strings.HasSuffix(column, "source_id"):
			cell = fmt.Sprintf("%s - %d", column, from-1)
		}
		parts[table] = append(parts[table], cell)
	}
	var each []string
	for table, cells := range parts {
		if table != "derivation" {
			each = append(each, fmt.Sprintf(`SELECT '%[2]s', count(*), sum(hash(%[1]s) %% 1000000007)::VARCHAR FROM %[2]s WHERE run_id = '%[3]s'`, strings.Join(cells, ", "), table, id))
		}
	}
	out := map[string]string{}
	for _, row := range g.raw(strings.Join(each, "\nUNION ALL ")) {
		out[row[0].(string)] = fmt.Sprint(row[1:])
	}
	return out
}

func (g *grown) raw(text string) [][]any {
	g.Helper()
	f, err := queries.Raw(g.T.Context(), g.w, text)
	if err != nil {
		g.Fatal(err)
	}
	return f.Rows
}

// wantSame compares all cells.
func wantSame(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) || len(got) < 80 {
		t.Errorf("%s: %d tables, want %d", what, len(got), len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] == want[name] {
			continue
		}
		g, w := strings.Split(got[name], "\n"), strings.Split(want[name], "\n")
		for i := range max(len(g), len(w)) {
			if i >= len(g) || i >= len(w) || g[i] != w[i] {
				t.Errorf("%s: %s differs from row %d on (%d rows, want %d):\n%.600s\nwant\n%.600s", what, name, i+1, len(g), len(w), strings.Join(g[min(i, len(g)):], "\n"), strings.Join(w[min(i, len(w)):], "\n"))
				break
			}
		}
	}
}

// TestGrown: a run whose sources came one by one is one that was stored at once, in every cell of every table; and one that a source was taken out of is one
// that never had it, as far as facts are looked at. Queries see nothing but tables.
func TestGrown(t *testing.T) {
	t.Parallel()
	for _, c := range sample.Of([]struct {
		name  string
		files []string
	}{
		{"ranks", []string{"ranks/rank0.trace.json.gz", "ranks/rank1.trace.json.gz", "ranks/rank0.sqlite.gz"}},
		{"operators", []string{"torch/llama-stack.trace.json.gz", "torch/train.trace.json.gz", "torch/train.key_averages.csv.gz"}},
		{"workloads", []string{"nsys/kernels/kernels.sqlite.gz", "workload/dsocr-eager.workload.json", "workload/dsocr-sdpa.workload.json"}}, // of one model
		{"ncu first", []string{"ncu/llama.ncu-rep.gz", "ncu/llama.sqlite.gz"}},
		{"graphs", []string{"nsys/variants-graph/variants-graph.sqlite.gz", "ncu/variants-graph.ncu-rep.gz", "workload/llama-graph-node.workload.json"}},
	}, 5) {
		name, files := c.name, c.files
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var paths []string
			for _, f := range files {
				paths = append(paths, testkit.Path(f))
			}
			bits := newGrown(t)
			var before []map[string]string // by how many files the run has, less 1
			for i, path := range paths {
				bits.derives(i == len(paths)-1)
				if res := bits.add(path); !res.Made || res.Attached != (i > 0) {
					t.Fatalf("%s: %+v", path, res)
				}
				before = append(before, bits.tables(1, false))
			}
			sums := bits.raw("SELECT source_id::BIGINT, sha256 FROM source")
			stored := func(first int) *grown { // the kit gives sources sums of its own
				g := newGrown(t, testkit.Run{Name: "x", Files: files[first:]})
				for _, r := range sums {
					testkit.Exec(t, g.w, "UPDATE source SET sha256 = ? WHERE source_id = ?", r[1], r[0].(int64)-int64(first))
				}
				return g
			}
			once := stored(0)
			whole := once.tables(1, false)
			wantSame(t, "one by one", before[len(paths)-1], whole)
			if res := bits.add(paths...); res.Made || len(res.Repeated) != len(paths) {
				t.Errorf("again: %+v", res)
			}
			less := func(got, want map[string]string) (a, b map[string]string) {
				for _, table := range []string{"range_path", "path_stage"} { // paths along which nothing was called go too
					delete(got, table)
					delete(want, table)
				}
				return got, want
			}
			bits.derives(false)
			least := len(paths)
			if *sample.Whole {
				least = 2
			}
			for n := len(paths); n >= least; n-- {
				got, want := less(bits.remove(n).tables(1, false), before[n-2])
				wantSame(t, fmt.Sprintf("without source %d", n), got, want)
			}
			bits.derives(true)
			bits.add(paths[least-1:]...) // with numbers behind those that are left
			got, want := less(bits.tables(1, false), whole)
			wantSame(t, "added again", got, want)
			if name != "graphs" && name != "workloads" {
				wantSame(t, "without the first", once.remove(1).tables(2, true), stored(1).tables(1, true))
			}
		})
	}
}
