package schema_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// few are definitions of a program that has few, of which _run_ref is prof's: to install all of prof's takes a second.
type few struct{}

func (few) Checksum() (string, error) { return "few", nil }

func (few) Definitions() ([]schema.Definition, error) {
	all, err := queries.Relations{}.Definitions()
	out := slices.DeleteFunc(all, func(d schema.Definition) bool { return d.Name != "_run_ref" })
	return append(out, schema.Definition{Name: "one", Body: "SELECT 1 AS n", Doc: schema.DocMark + "one", Columns: [][2]string{{"n", "one"}}}, schema.Definition{Name: "runs_v1", Body: "SELECT name AS run FROM run", Doc: schema.DocMark + "the runs"}, schema.Definition{Name: "runs", Body: "FROM runs_v1", Doc: schema.DocMark + "the runs"},
		schema.Definition{Name: "stages", Params: []string{"run"}, Body: "SELECT s.stage FROM path_stage s WHERE s.run_id = run::UUID", Doc: schema.DocMark + "stages of a run"}), err
}

// open opens the warehouse of a home with few definitions; the test closes it.
func open(t *testing.T, home schema.Home, write bool, talk func(string)) *schema.Warehouse {
	t.Helper()
	w, err := schema.Open(t.Context(), home, schema.Options{Write: write, Defs: few{}, Facts: none{}, Talk: talk})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func done(t *testing.T, w *schema.Warehouse) {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// empty is the file of an empty warehouse with few definitions and no facts.
var empty []byte

// fresh makes a home with an empty warehouse.
func fresh(t *testing.T) schema.Home {
	t.Helper()
	home := schema.Home{Dir: t.TempDir()}
	if empty != nil {
		if err := os.WriteFile(home.Warehouse(), empty, 0o600); err != nil {
			t.Fatal(err)
		}
		return home
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // it is not the user's
	done(t, open(t, home, true, nil))
	var err error
	if empty, err = os.ReadFile(home.Warehouse()); err != nil {
		t.Fatal(err)
	}
	return home
}

// change runs statements in the warehouse of a home as another client would.
func change(t *testing.T, home schema.Home, stmts ...string) {
	t.Helper()
	w := open(t, home, true, nil)
	testkit.Exec(t, w, "BEGIN; "+strings.Join(stmts, ";\n")+"; COMMIT") // each commit writes all tables
	done(t, w)
}

func TestNoWarehouseYet(t *testing.T) {
	home := schema.Home{Dir: t.TempDir()}
	_, err := schema.Open(t.Context(), home, schema.Options{Defs: few{}, Facts: none{}})
	if !errors.Is(err, schema.ErrNoWarehouse) || !strings.Contains(err.Error(), "prof ingest") {
		t.Errorf("the error is %v", err)
	}
	if home.Exists() {
		t.Error("reading made a warehouse")
	}
}

// TestStorage holds that older DuckDB clients can open the file: its storage version is one that DuckDB 1.2 reads.
func TestStorage(t *testing.T) {
	home := schema.Home{Dir: t.TempDir()}
	testkit.CopyHome(t, home.Dir)
	w := open(t, home, false, nil)
	tags := testkit.Rows(t, w, `SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal`)
	done(t, w)
	if len(tags) != 1 || !strings.Contains(tags[0], schema.StorageVersion) {
		t.Errorf("the storage version is %q, not %s", tags, schema.StorageVersion)
	}
	head, err := os.ReadFile(home.Warehouse())
	if err != nil || !bytes.Equal(head[8:12], []byte("DUCK")) {
		t.Fatalf("the file begins %x, %v", head[:min(16, len(head))], err)
	}
	if v := binary.LittleEndian.Uint64(head[12:20]); v < 64 || v > 65 {
		t.Errorf("the header says storage version %d; DuckDB 1.2 reads 64 and 65", v)
	}
}

// TestReaders holds that any number may read at once, and that reading writes nothing.
func TestReaders(t *testing.T) {
	home := fresh(t)
	before, err := os.Stat(home.Warehouse())
	if err != nil {
		t.Fatal(err)
	}
	a, b := open(t, home, false, nil), open(t, home, false, nil)
	if _, err := a.DB.Exec(`DELETE FROM run`); err == nil {
		t.Error("a warehouse opened for reading can be written")
	}
	done(t, a)
	done(t, b)
	after, err := os.Stat(home.Warehouse())
	if err != nil || after.ModTime() != before.ModTime() || after.Size() != before.Size() {
		t.Error("reading changed the file")
	}
}

func TestNewerIsRefused(t *testing.T) {
	home := fresh(t)
	change(t, home, `INSERT INTO schema_version VALUES (999, 'future', 'x', now()::TIMESTAMP)`)
	for _, write := range []bool{false, true} {
		_, err := schema.Open(t.Context(), home, schema.Options{Write: write, Defs: few{}, Facts: none{}})
		if !errors.Is(err, schema.ErrNewer) || !strings.Contains(err.Error(), "update prof") {
			t.Errorf("write %v: the error is %v", write, err)
		}
	}
}

func TestChangedMigrationIsRefused(t *testing.T) {
	home := fresh(t)
	change(t, home, `UPDATE schema_version SET checksum = 'x' WHERE version = 2`)
	for _, write := range []bool{false, true} {
		_, err := schema.Open(t.Context(), home, schema.Options{Write: write, Defs: few{}, Facts: none{}})
		if err == nil || !strings.Contains(err.Error(), "migration 0002_timeline was applied with another text") || !strings.Contains(err.Error(), "ingest again") {
			t.Errorf("write %v: the error is %v", write, err)
		}
	}
}

// unpacked makes the tables as they were before migration 16, without what only it brings.
const unpacked = `ALTER TABLE kernel RENAME TO k; CREATE TABLE kernel AS SELECT run_id, source_id, pid, tid, device_id, context_id, stream_id, start_ns, duration_ns, kernel_name_id,
	grid_x, grid_y, grid_z, block_x, block_y, block_z, register_count, static_shared_bytes, dynamic_shared_bytes, correlation_id, graph_node_id, launch_start_ns, launch_duration_ns,
	launch_name_id, range_context_id, path_id, op_id FROM k LEFT JOIN kernel_shape USING (run_id, kernel_shape_id); DROP TABLE k; ALTER TABLE memop DROP COLUMN stack_id; ALTER TABLE graph_launch DROP COLUMN stack_id; DROP TABLE kernel_shape; DROP TABLE api_sum; DROP TABLE api_duration; DROP TABLE stage_execution; DROP TABLE capture_kept; DROP TABLE workload_process; DROP TABLE execution_memory; DROP TABLE cuda_allocation; DROP TABLE capture_node; DROP TABLE capture_input_tag;
	ALTER TABLE capture_input DROP COLUMN input; ALTER TABLE capture_input DROP COLUMN width_count; ALTER TABLE capture_input DROP COLUMN height_count; ALTER TABLE capture_input DROP COLUMN page_count; ALTER TABLE capture_input DROP COLUMN token_count;
	ALTER TABLE workload_pass DROP COLUMN input; ALTER TABLE workload_pass DROP COLUMN process_id; ALTER TABLE capture DROP COLUMN options_key; ALTER TABLE process DROP COLUMN rank_id; ALTER TABLE sync DROP COLUMN record_device_id; ALTER TABLE sync DROP COLUMN record_stream_id; ALTER TABLE sync DROP COLUMN record_start_ns;
	DROP TABLE ncu_function; DROP TABLE ncu_source_file; DROP TABLE ncu_instruction; DROP TABLE ncu_instance; DROP TABLE captured_launch; DROP TABLE python_sample; DROP TABLE unseen_work; DROP TABLE unmet_launch; DROP TABLE work_fault; ALTER TABLE graph_launch DROP COLUMN body_count; DROP TABLE serving_benchmark; DROP TABLE serving_benchmark_latency; DROP TABLE serving_request; DROP TABLE reported_sum; DROP TABLE reported_value; ALTER TABLE source DROP COLUMN added_at; ALTER TABLE source DROP COLUMN command; ALTER TABLE source DROP COLUMN host; ALTER TABLE ncu_section DROP COLUMN source_id; `

// dropLater removes what migrations 4 and later bring.
var dropLater = unpacked + `DROP TABLE derivation; DROP TABLE finding_rule; DROP TABLE baseline; DROP TABLE collective_call; DROP TABLE device_time; DROP TABLE gap_sum; DROP TABLE gap; DROP TABLE capture; DROP TABLE capture_pass; DROP TABLE capture_source; DROP TABLE capture_input; DROP TABLE capture_device; DROP TABLE device_sample;
	DROP TABLE kernel_symbol; DROP TABLE model; DROP TABLE model_layer; DROP TABLE model_note; DROP TABLE workload; DROP TABLE workload_pass;
	DROP TABLE device_alias; DROP TABLE sm_rate; DROP TABLE op; DROP TABLE op_name; DROP TABLE op_input; DROP TABLE op_average; DROP TABLE memory_event; DROP TABLE python_stack;
	DROP TABLE python_call; ALTER TABLE kernel DROP COLUMN op_id; ALTER TABLE memop DROP COLUMN op_id;
	DROP TABLE ncu_launch; DROP TABLE ncu_range; DROP TABLE ncu_metric_name; DROP TABLE ncu_metric; DROP TABLE ncu_section;
	DROP TABLE ncu_rule; DROP TABLE ncu_rule_metric; DROP TABLE kernel_spelling; DROP TABLE device_peak; ALTER TABLE kernel_name DROP COLUMN name_hash`

// TestOlderIsMigrated opens warehouses of an older prof: one with other definitions, and one of fewer migrations.
func TestOlderIsMigrated(t *testing.T) {
	older := map[string][]string{
		"definitions": {`UPDATE schema_version SET checksum = 'older' WHERE version = 0`, `DROP MACRO TABLE stages`,
			`CREATE MACRO gone_v1(run) AS TABLE SELECT 1 AS x`, `COMMENT ON MACRO TABLE gone_v1 IS 'prof: of an older prof'`,
			`CREATE VIEW mine AS SELECT 1 AS x`, `CREATE MACRO my_macro() AS TABLE SELECT 1 AS x`},
		"migrations": {`DELETE FROM schema_version WHERE version >= 3 OR version <= 0`, `DROP TABLE nvtx_range; DROP TABLE nvtx_mark; DROP TABLE range_path;
			DROP TABLE range_context; DROP TABLE range_device; DROP TABLE kernel_rule; DROP TABLE stage_rule; DROP TABLE kernel_class; DROP TABLE path_stage`,
			dropLater, `CREATE VIEW mine AS SELECT 1 AS x`, `CREATE MACRO my_macro() AS TABLE SELECT 1 AS x`},
	}
	for name, stmts := range older {
		for _, write := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s write %v", name, write), func(t *testing.T) {
				home := fresh(t)
				change(t, home, stmts...)
				w := open(t, home, write, nil)
				defer done(t, w)
				if got := testkit.Rows(t, w, `FROM stages('01890000-0000-7000-8000-000000000000')`); len(got) != 0 {
					t.Errorf("an empty warehouse has stages: %q", got)
				}
				if got := testkit.Rows(t, w, `SELECT function_name FROM duckdb_functions() WHERE function_name = 'gone_v1'`); len(got) != 0 {
					t.Error("a definition that this prof does not have is still there")
				}
				if got := testkit.Rows(t, w, `SELECT m.x, u.x FROM mine m, my_macro() u`); !slices.Equal(got, []string{"1|1"}) {
					t.Errorf("the user's own relations give %q", got)
				}
				if got := testkit.Rows(t, w, `SELECT count(*) > 10 FROM stage_rule WHERE origin = 'builtin'`); !slices.Equal(got, []string{"true"}) {
					t.Error("the built-in rules are missing")
				}
			})
		}
	}
}

// TestLaunchDelay opens a warehouse of before launch delay had its name: the time stays what it was, the facts are derived again under the
// new name, and no rule points to a query that is gone.
func TestLaunchDelay(t *testing.T) {
	home := fresh(t)
	w := open(t, home, true, nil)
	testkit.Exec(t, w, `INSERT INTO run VALUES (?::UUID, 'a', now()::TIMESTAMP, NULL, NULL, NULL, 'dev')`, idA)
	fill(t, w, idA)
	tables := []string{"device_time", "gap_sum", "gap"}
	for i, table := range tables {
		testkit.Exec(t, w, fmt.Sprintf(`UPDATE %s SET launch_ns = 5, launch_delay_ns = %d, wait_ns = 7`, table, 100+i))
		testkit.Exec(t, w, fmt.Sprintf(`ALTER TABLE %s RENAME COLUMN launch_delay_ns TO late_ns`, table))
	}
	testkit.Exec(t, w, `UPDATE model SET dtype = NULL; UPDATE source SET kind = 'nsys'; UPDATE device_time SET range_id = NULL; CREATE TABLE cost_centre (run_id UUID, centre VARCHAR); COMMENT ON TABLE cost_centre IS 'prof: a fact of an older prof'`)
	testkit.Exec(t, w, `UPDATE finding_rule SET detail = 'slow-ranks' WHERE detail = 'stragglers'; `+unpacked+`DELETE FROM schema_version WHERE version >= 15 OR version <= 0`)
	done(t, w)

	// Reading, too, migrates first.
	w, err := schema.Open(t.Context(), home, schema.Options{Defs: few{}, Facts: derive.Facts{Only: []string{"timeline", "device_part"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer done(t, w)
	for i, table := range tables {
		same(t, table, testkit.Rows(t, w, `SELECT launch_ns, launch_delay_ns, wait_ns FROM `+table), []string{fmt.Sprintf("5|%d|7", 100+i)})
	}
	same(t, "columns of the old name", testkit.Rows(t, w, `SELECT table_name FROM duckdb_columns() WHERE NOT internal AND column_name = 'late_ns'`), nil)
	same(t, "facts of the old name", testkit.Rows(t, w, `SELECT table_name FROM duckdb_tables() WHERE table_name = 'cost_centre'`), nil)
	same(t, "the time in parts", testkit.Rows(t, w, `SELECT DISTINCT launch_delay_ns FROM device_part`), []string{"100"})
	same(t, "queries that rules name", testkit.Rows(t, w, `SELECT finding_id FROM finding_rule WHERE detail = 'stragglers'`), []string{"exposed-collectives"})
	same(t, "comments of the old names", testkit.Rows(t, w, `SELECT comment FROM (SELECT comment FROM duckdb_tables() UNION ALL SELECT comment FROM duckdb_columns()) WHERE regexp_matches(comment, 'slow-ranks|cost-cent|\blate_ns')`), nil)
	same(t, "rules of the old name", testkit.Rows(t, w, `SELECT finding_id FROM finding_rule WHERE concat(detail, advice) LIKE '%slow-ranks%'`), nil)
}

// TestUnpacked opens a warehouse of before launch shapes had a table of their own: each kernel has the shape it had.
func TestUnpacked(t *testing.T) {
	home := fresh(t)
	w := open(t, home, true, nil)
	for _, r := range [][2]string{{idA, "a"}, {idB, "b"}} {
		testkit.Exec(t, w, `INSERT INTO run VALUES (?::UUID, ?, now()::TIMESTAMP, NULL, NULL, NULL, 'dev')`, r[0], r[1])
	}
	testkit.Exec(t, w, unpacked+`DELETE FROM schema_version WHERE version >= 16 OR version <= 0`)
	for _, id := range []string{idA, idB} {
		testkit.Exec(t, w, `INSERT INTO kernel SELECT ?::UUID, 1, 1, 1, 0, 1, 7, i, 10, 1, CASE WHEN i % 5 > 0 THEN i % 5 END, 1, 1, 64, 1, i % 2, CASE WHEN i % 3 > 0 THEN 32 END, 0, i % 7, i, NULL, i, 1, 1, 0, 0, 0 FROM range(5000) r(i)`, id)
	}
	const shapes = `SELECT run_id, start_ns, grid_x, grid_y, grid_z, block_x, block_y, block_z, register_count, static_shared_bytes, dynamic_shared_bytes, correlation_id, op_id FROM kernel %s ORDER BY ALL`
	before := testkit.Rows(t, w, fmt.Sprintf(shapes, ""))
	done(t, w)

	w = open(t, home, true, nil)
	defer done(t, w)
	same(t, "kernels", testkit.Rows(t, w, fmt.Sprintf(shapes, "LEFT JOIN kernel_shape USING (run_id, kernel_shape_id)")), before)
	same(t, "shapes", testkit.Rows(t, w, `SELECT count(*), min(kernel_shape_id & 134217727), max(kernel_shape_id & 134217727) FROM kernel_shape GROUP BY run_id`), []string{"140|1|140", "140|1|140"})
	same(t, "bases", testkit.Rows(t, w, `SELECT DISTINCT kernel_shape_id >> 27 << 27 FROM kernel_shape ORDER BY ALL`), slices.Sorted(slices.Values([]string{fmt.Sprint(schema.IDBase(idA)), fmt.Sprint(schema.IDBase(idB))})))
}

func TestFailedMigrationLeavesNothing(t *testing.T) {
	setCache(t, t.TempDir())
	home := schema.Home{Dir: t.TempDir()}
	if _, err := schema.Open(t.Context(), home, schema.Options{Write: true, Defs: broken{}, Facts: none{}}); err == nil || !strings.Contains(err.Error(), "define broken") {
		t.Errorf("the error is %v", err)
	}
	// What is left is the empty warehouse that any process begins with: removing it could take it from one that has it by now.
	done(t, open(t, home, true, nil))
	if _, err := schema.Open(t.Context(), home, schema.Options{Write: true, Defs: broken{}, Facts: none{}}); err == nil {
		t.Error("broken definitions were installed")
	}
	w := open(t, home, false, nil)
	if got := testkit.Rows(t, w, `SELECT count(*) FROM runs`); !slices.Equal(got, []string{"0"}) {
		t.Errorf("after a failed migration: %q", got)
	}
	done(t, w)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := schema.Open(ctx, fresh(t), schema.Options{Defs: few{}, Facts: none{}, Wait: time.Second}); err == nil {
		t.Error("a cancelled open succeeded")
	}
}

// TestComments holds that the warehouse explains itself: every table, column, view and macro of ours has a comment.
func TestComments(t *testing.T) {
	w := testkit.Warehouse(t)
	for what, query := range map[string]string{
		"tables":  `SELECT table_name FROM duckdb_tables() WHERE NOT internal AND coalesce(comment, '') = ''`,
		"columns": `SELECT table_name || '.' || column_name FROM duckdb_columns() WHERE NOT internal AND coalesce(comment, '') = ''`,
		"views":   `SELECT view_name FROM duckdb_views() WHERE NOT internal AND NOT starts_with(coalesce(comment, ''), 'prof: ')`,
		"macros":  `SELECT function_name FROM duckdb_functions() WHERE NOT internal AND NOT starts_with(coalesce(comment, ''), 'prof: ')`,
	} {
		if got := testkit.Rows(t, w, query); len(got) > 0 {
			t.Errorf("%s without a comment: %q", what, got)
		}
	}
	for what, query := range map[string]string{
		"tables": `SELECT count(*) >= 30 FROM duckdb_tables() WHERE NOT internal`,
		"views":  `SELECT count(*) >= 2 FROM duckdb_views() WHERE NOT internal`,
		"macros": `SELECT count(*) >= 40 FROM duckdb_functions() WHERE NOT internal`,
	} {
		if got := testkit.Rows(t, w, query); !slices.Equal(got, []string{"true"}) {
			t.Errorf("the test sees too few %s", what)
		}
	}
}

// TestColumns holds the tables' habits: run_id first, singular names, and the unit as the last word of a quantity's name.
func TestColumns(t *testing.T) {
	w := testkit.Warehouse(t)
	unit := regexp.MustCompile(`(^|_)(size|ns|bytes|hz|flop|count|ratio|bytes_per_s|flop_per_s|tokens_per_s|requests_per_s|w|c|id)$`)
	bad := regexp.MustCompile(`_(ms|us|s|sec|mb|kb|mib|percent|pct|mhz|ghz)$`)
	// Whole and fractional numbers that measure nothing, or whose unit stands in another column.
	plain := map[string]bool{"gpu_metric.value": true, "nvtx_range.category": true, "ncu_metric.value": true, "ncu_instance.value": true, "ncu_rule_metric.value": true, "memory_event.address": true, "cuda_allocation.address": true,
		"model_layer.weight_bits": true, "sm_rate.flop_per_cycle": true, "device_sample.throttle_mask": true,
		"layer_cost.weight_bits": true, "kernel_name.name_hash": true, "work_sum.deviation_ns2": true,
		"finding_rule.value": true, "reported_value.value": true, "reported_value.std": true, "op_sum.square_high": true, "op_sum.square_low": true,
		"iteration_part.part": true, "iteration_part.first_nth": true, "served.benchmark": true}
	counted := []string{"calls", "timeline_calls", "instances", "gpu_instances", "nth", "waves", "stall_cycles"} // named by what they count
	first := map[string]string{}
	for _, row := range testkit.Rows(t, w, `SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal
		AND table_name IN (SELECT table_name FROM duckdb_tables()) ORDER BY table_name, column_index`) {
		c := strings.Split(row, "|")
		table, column, kind := c[0], c[1], c[2]
		if first[table] == "" {
			first[table] = column
		}
		if column == "run_id" && (first[table] != "run_id" || kind != "UUID") {
			t.Errorf("%s: run_id is a UUID and the first column", table)
		}
		if (kind == "BIGINT" || kind == "DOUBLE") && !unit.MatchString(column) && !slices.Contains(counted, column) && !plain[table+"."+column] {
			t.Errorf("%s.%s is a %s without a unit", table, column, kind)
		}
		if bad.MatchString(column) && !strings.HasSuffix(column, "_per_s") {
			t.Errorf("%s.%s is not in a base unit", table, column)
		}
		if !slices.Contains([]string{"UUID", "VARCHAR", "INTEGER", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "DATE", "BIGINT[]", "VARCHAR[]"}, kind) {
			t.Errorf("%s.%s is a %s", table, column, kind)
		}
		if strings.HasSuffix(table, "s") && !strings.HasSuffix(table, "ss") && table != "device_alias" {
			t.Errorf("%s: table names are singular", table)
		}
	}
	for table, column := range first {
		if column != "run_id" && !slices.Contains([]string{"kernel_rule", "stage_rule", "device_peak", "device_alias", "sm_rate", "finding_rule", "schema_version"}, table) {
			t.Errorf("%s belongs to no run: its first column is %s", table, column)
		}
	}
}

// broken are definitions of which one cannot be installed.
type broken struct{}

func (broken) Checksum() (string, error) { return "broken", nil }

func (broken) Definitions() ([]schema.Definition, error) {
	return []schema.Definition{{Name: "broken", Body: "SELECT FROM nowhere", Doc: "prof: broken"}}, nil
}

// TestReadWithoutTemp reads where no temporary folder can be made, as on a read-only machine or a full disk.
func TestReadWithoutTemp(t *testing.T) {
	home := fresh(t)
	t.Setenv("TMPDIR", home.Dir+"/none")
	for range 2 {
		w := open(t, home, false, nil)
		if _, err := w.Runs(t.Context()); err != nil {
			t.Error(err)
		}
		done(t, w)
	}
}

// texts are the rows of a query.
func texts(t *testing.T, w *schema.Warehouse, query string, args ...any) []string {
	t.Helper()
	return testkit.Rows(t, w, query, args...)
}
