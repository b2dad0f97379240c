package queries_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/dialect"
	"prof/schema"
)

// TestEngineRelations: the relations for other engines have the cells that prof's queries give of each run: in DuckDB itself, and in Spark from the Parquet files of a lake.
func TestEngineRelations(t *testing.T) {
	t.Parallel()
	e := newEngines(t)
	for _, r := range e.list {
		stmt, err := dialect.DuckDB().Select(r)
		if err != nil {
			t.Fatal(err)
		}
		e.compare(r, stmt)
	}
	t.Run("lake", func(t *testing.T) {
		e.T = t
		tables := e.lakeFiles(t)
		t.Run("spark", func(t *testing.T) { e.spark(t, tables) })
	})
}

// engines are the relations for other engines, and a warehouse with what they must give as tables in the database answer.
type engines struct {
	*testing.T
	w    *schema.Warehouse
	list []dialect.Relation
}

func newEngines(t *testing.T) *engines {
	t.Helper()
	list, err := queries.EngineRelations()
	if err != nil {
		t.Fatal(err)
	}
	e := &engines{t, enginesWarehouse(t), list}
	e.exec("ATTACH ':memory:' AS answer")
	ids := strings.Fields(strings.Trim(rows(t, e.w, "SELECT string_agg(run_id::VARCHAR, ' ' ORDER BY run_id) FROM run")[0], "[]"))
	for _, r := range list {
		var runs []string
		switch r.Name {
		case "top_kernels", "stage_kernels", "stages":
			for _, id := range ids {
				args := queries.Args{"run": id}
				if r.Name == "top_kernels" {
					args["top"] = "0"
				}
				runs = append(runs, fmt.Sprintf("SELECT (SELECT r.name FROM run r WHERE r.run_id = '%s') AS run, '%[1]s' AS run_id, * FROM (%s)", id, e.statement(r.Name, args)))
			}
		case "run_trend":
			done := map[string]bool{}
			for _, id := range ids {
				workload := rows(t, e.w, fmt.Sprintf("SELECT w.workload FROM _workload_run(workload := '%s') w LIMIT 1", id))
				if len(workload) == 0 || done[workload[0]] {
					continue
				}
				done[workload[0]] = true
				for _, metric := range []string{"gpu_span_ns", "gpu_busy_ns", "gpu_sum_ns", "cpu_ns", "mfu_ratio", "mbu_ratio", "tokens_per_s"} {
					runs = append(runs, fmt.Sprintf("SELECT * REPLACE (run_id::VARCHAR AS run_id), '%s' AS metric FROM (%s)", metric, e.statement("trend", queries.Args{"workload": id, "metric": metric})))
				}
			}
		default:
			runs = []string{"SELECT * REPLACE (run_id::VARCHAR AS run_id) FROM " + r.Name}
		}
		for i, stmt := range runs {
			verb := "INSERT INTO answer." + r.Name
			if i == 0 {
				verb = "CREATE TABLE answer." + r.Name + " AS"
			}
			e.exec(fmt.Sprintf("%s SELECT %s FROM (%s) q", verb, "q."+strings.Join(r.Columns, ", q."), stmt))
		}
		for _, c := range r.Columns {
			if n := rows(t, e.w, fmt.Sprintf("SELECT count(q.%s) > 0 FROM answer.%s q", c, r.Name)); n[0] != "[true]" && r.Name+"."+c != "memops.graph_node_id" {
				t.Errorf("no row of %s has %s", r.Name, c)
			}
		}
	}
	return e
}

func (e *engines) exec(stmt string) {
	e.Helper()
	if _, err := e.w.DB.ExecContext(e.Context(), stmt); err != nil {
		e.Fatalf("%v\n%.2000s", err, stmt)
	}
}

func (e *engines) statement(name string, args queries.Args) string {
	e.Helper()
	q, err := queries.Find(name)
	if err != nil {
		e.Fatal(err)
	}
	stmt, err := q.Statement(args)
	if err != nil {
		e.Fatal(err)
	}
	return stmt
}

// compare holds the rows of a SELECT to those of prof's own, in every cell.
func (e *engines) compare(r dialect.Relation, stmt string) {
	e.Helper()
	e.exec("CREATE OR REPLACE TABLE answer.got AS " + stmt)
	names := rows(e.T, e.w, "SELECT column_name FROM duckdb_columns() WHERE database_name = 'answer' AND table_name = 'got' ORDER BY column_index")
	if want := strings.Fields("[" + strings.Join(r.Columns, "] [") + "]"); !slices.Equal(names, want) {
		e.Errorf("%s has the columns\n%s\nwant\n%s", r.Name, names, want)
		return
	}
	for _, way := range [][3]string{{"has a row that it must not", "answer.got", "answer." + r.Name}, {"lacks a row", "answer." + r.Name, "answer.got"}} {
		if n := rows(e.T, e.w, fmt.Sprintf("SELECT * FROM (FROM %s EXCEPT ALL FROM %s) ORDER BY ALL LIMIT 2", way[1], way[2])); len(n) > 0 {
			all := rows(e.T, e.w, fmt.Sprintf("SELECT count(*) FROM (FROM %s EXCEPT ALL FROM %s)", way[1], way[2]))
			e.Errorf("%s %s (%s):\n%s", r.Name, way[0], all, strings.Join(n, "\n"))
		}
	}
}

// enginesWarehouse has runs of each kind that the relations treat in a way of its own.
func enginesWarehouse(t *testing.T) *schema.Warehouse {
	t.Helper()
	w := testkit.Copy(t, testkit.Run{Name: "it's a workload", Files: []string{"nsys/variants-node/variants-node.sqlite.gz", "workload/llama-graph-node.workload.json"}},
		testkit.Run{Name: "graphs", Files: []string{"graph/whole.sqlite.gz"}}, testkit.Run{Name: "operators", Files: []string{"torch/llama-stack.trace.json.gz"}},
		testkit.Run{Name: "ranks", Files: []string{"ranks/rank0.trace.json.gz", "ranks/rank1.trace.json.gz", "ranks/rank0.sqlite.gz"}},
		testkit.Run{Name: "captured", Files: []string{"capture/llama/sdpa-1"}}, testkit.Run{Name: "reported", Files: []string{"forms/llama_kern_sum"}})
	for _, s := range []string{ // times without a profiler, also of a run that has no others; a duration whose square is beyond what an exact deviation allows for; part of a stage
		"INSERT INTO run SELECT '01890000-0000-7000-8000-000000000001', 'timed', created_at, NULL, NULL, NULL, prof_version FROM run LIMIT 1",
		"INSERT INTO stage_overhead (run_id, stage, tool, clock, alone_median_ns, overhead_ratio, is_shown) VALUES ('01890000-0000-7000-8000-000000000001', 'decode', 'none', 'cpu', 2.5e6, NULL, true)",
		"INSERT INTO stage_overhead (run_id, stage, tool, clock, alone_median_ns, overhead_ratio, is_shown) SELECT DISTINCT p.run_id, p.stage, t.kind, 'gpu', 1e6 / 3, 2 / 7, true FROM stage_pass p JOIN timeline t USING (run_id, source_id)",
		"INSERT INTO pass_alone SELECT run_id, range_id, 1e6 / pass_id FROM stage_pass",
		"UPDATE kernel_duration SET duration_ns = 4000000000000000000, launch_count = 1 WHERE duration_ns = (SELECT max(d.duration_ns) FROM kernel_duration d JOIN run r USING (run_id) WHERE r.name = 'it''s a workload')",
		"UPDATE path_stage SET note = 'a ; note'",
	} {
		if _, err := w.DB.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return w
}

// lakeFiles puts all runs into a lake, and lists its files. It skips without LAKE_TOOLS, the folder of DuckDB's extensions that .ci/run makes.
func (e *engines) lakeFiles(t *testing.T) []dialect.Table {
	t.Helper()
	tools := os.Getenv("LAKE_TOOLS")
	if tools == "" {
		t.Skip("`.ci/run lake` fetches DuckDB's extensions and Spark, and runs this")
	}
	dir := filepath.Join(t.TempDir(), "it's a {lake}, or not")
	lake := &schema.Lake{Catalog: schema.LakePrefix + filepath.Join(dir, "meta.ducklake"), DataPath: filepath.Join(dir, "data"), Access: schema.LakeAccess{Extensions: filepath.Join(tools, "ext")}}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := schema.InitLake(t.Context(), lake, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}}); err != nil {
		if strings.Contains(err.Error(), "extension") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	names := dialect.TablesOf(e.list)
	change := func(stmts ...string) {
		t.Helper()
		for _, s := range append(append([]string{"ATTACH " + schema.Quote(lake.Catalog) + " AS settled"}, stmts...), "DETACH settled") {
			e.exec(s)
		}
	}
	run, err := e.w.Resolve(t.Context(), "reported")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.w.Push(t.Context(), lake, []schema.Run{run}, schema.PushOptions{}, func(_ schema.Moved, err error) error { return err }); err != nil {
		t.Fatal(err)
	}
	push := []string{"BEGIN"} // the others at once, which is faster
	for _, name := range names {
		if name != "device_peak" && name != "device_alias" {
			push = append(push, fmt.Sprintf("INSERT INTO settled.main.%s BY NAME FROM %[1]s WHERE run_id <> '%[2]s'", name, run.ID))
		}
	}
	change(append(push, "COMMIT")...)
	if _, err := lakeFiles(t, lake, names); !errors.Is(err, schema.ErrUnsettled) || !strings.Contains(err.Error(), "rows in the catalog, and so it is with ") {
		t.Errorf("rows in the catalog: %v", err)
	}
	if _, err := lake.Maintain(t.Context(), schema.MaintainOptions{Keep: time.Hour}); err != nil {
		t.Fatal(err)
	}
	stored, err := lakeFiles(t, lake, names)
	if err != nil {
		t.Fatal(err)
	}
	var out []dialect.Table
	for _, s := range stored {
		table := dialect.Table{Name: s.Name, Files: s.Files, Rows: s.Rows}
		for _, c := range s.Columns {
			table.Columns = append(table.Columns, dialect.Column{Name: c[0], Type: c[1]})
		}
		out = append(out, table)
	}
	change("CALL settled.set_option('data_inlining_row_limit', 0)", "DELETE FROM settled.main.run WHERE name = 'ranks'", "DELETE FROM settled.main.kernel_name WHERE name LIKE '%nvjet%'")
	if _, err := lakeFiles(t, lake, names); !errors.Is(err, schema.ErrUnsettled) || !strings.Contains(err.Error(), "rows of the lake: kernel_name has files with deleted rows, run has files with deleted rows;") {
		t.Errorf("deleted rows: %v", err)
	}
	return out
}

func lakeFiles(t *testing.T, lake *schema.Lake, names []string) ([]schema.LakeFiles, error) {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir(), Lake: lake}, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.LakeFiles(t.Context(), names)
}

// spark compares what Spark reads of the files, with two executors. It skips without Java and pyspark, of the Python that PROF_TEST_SPARK names.
func (e *engines) spark(t *testing.T, tables []dialect.Table) {
	python := cmp.Or(os.Getenv("PROF_TEST_SPARK"), "python3")
	for _, probe := range [][]string{{"java", "-version"}, {python, "-c", "import pyspark"}} {
		if out, err := osexec.CommandContext(t.Context(), probe[0], probe[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no Spark (PROF_TEST_SPARK names a Python that has pyspark): %v: %v %.200s", probe, err, out)
		}
	}
	dir := t.TempDir()
	spark := dialect.Engines()[0]
	write := func(name string, list []dialect.Relation, tables []dialect.Table) string {
		t.Helper()
		text, err := spark.Script("of a test", list, tables)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	more := tables[slices.IndexFunc(tables, func(t dialect.Table) bool { return t.Name == "run" })]
	more.Rows++
	args := []string{"testdata/spark.py", write("relations.sql", e.list, tables), write("refused.sql", nil, []dialect.Table{more}), dir}
	for _, r := range e.list {
		args = append(args, r.Name)
	}
	cmd := osexec.CommandContext(t.Context(), python, args...)
	cmd.Dir, cmd.Env = ".", append(os.Environ(), "PYSPARK_PYTHON="+python, "SPARK_LOCAL_IP=127.0.0.1", "SPARK_WORKER_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-4000):])
	}
	for _, r := range e.list {
		e.compare(r, "FROM read_parquet("+schema.Quote(filepath.Join(dir, r.Name, "*.parquet"))+")")
	}
}
