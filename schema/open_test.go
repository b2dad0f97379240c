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

// TestOlderIsRefused holds that a warehouse of before the first release stays as it is, and how its runs come over is said.
func TestOlderIsRefused(t *testing.T) {
	home := fresh(t)
	change(t, home, `UPDATE schema_version SET name = 'run', checksum = 'older' WHERE version = 1`, `INSERT INTO schema_version SELECT v, 'later', 'older', now()::TIMESTAMP FROM range(2, 39) r(v)`)
	before, err := os.ReadFile(home.Warehouse())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []schema.Options{{}, {AsIs: true}, {Write: true}, {Write: true, Store: true}} {
		o.Defs, o.Facts = few{}, none{}
		_, err := schema.Open(t.Context(), home, o)
		if !errors.Is(err, schema.ErrOlder) || !strings.Contains(err.Error(), "prof export RUN --to parquet") || !strings.Contains(err.Error(), "prof import DIR") || !strings.Contains(err.Error(), home.Warehouse()) {
			t.Errorf("%+v: the error is %v", o, err)
		}
	}
	after, err := os.ReadFile(home.Warehouse())
	if err != nil || !bytes.Equal(before, after) {
		t.Error("the file has changed", err)
	}
}

// TestMigrations opens a warehouse that lacks the last migration, for reading and for writing: it is applied, with its comments, and the rest stays.
func TestMigrations(t *testing.T) {
	for _, write := range []bool{false, true} {
		t.Run(fmt.Sprintf("write %v", write), func(t *testing.T) {
			home := fresh(t)
			change(t, home, `INSERT INTO run VALUES ('`+idA+`', 'a', now()::TIMESTAMP, NULL, NULL, NULL, 'dev')`)
			schema.WithMigration(t, "ALTER TABLE run ADD COLUMN note VARCHAR;\n-- What is new.\nCREATE TABLE news (\n    run_id UUID NOT NULL -- the run\n);\n")
			w := open(t, home, write, nil)
			same(t, "runs", testkit.Rows(t, w, `SELECT name, note IS NULL FROM run`), []string{"a|true"})
			same(t, "comments", testkit.Rows(t, w, `SELECT comment FROM duckdb_tables() WHERE table_name = 'news'`), []string{"What is new."})
			same(t, "versions", testkit.Rows(t, w, `SELECT version, name FROM schema_version WHERE version > 0 ORDER BY ALL`), []string{"1|schema", "2|news"})
			done(t, w)
		})
	}
}

// TestOlderDefinitions opens a warehouse that an older prof has defined.
func TestOlderDefinitions(t *testing.T) {
	older := []string{`UPDATE schema_version SET checksum = 'older' WHERE version = 0`, `DROP MACRO TABLE stages`,
		`CREATE MACRO gone_v1(run) AS TABLE SELECT 1 AS x`, `COMMENT ON MACRO TABLE gone_v1 IS 'prof: of an older prof'`,
		`CREATE VIEW mine AS SELECT 1 AS x`, `CREATE MACRO my_macro() AS TABLE SELECT 1 AS x`}
	for _, write := range []bool{false, true} {
		t.Run(fmt.Sprintf("write %v", write), func(t *testing.T) {
			home := fresh(t)
			change(t, home, older...)
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
	unit := regexp.MustCompile(`(^|_)(size|ns|bytes|hz|flop|count|ratio|bytes_per_s|flop_per_s|tokens_per_s|requests_per_s|launches_per_s|w|c|id)$`)
	bad := regexp.MustCompile(`_(ms|us|s|sec|mb|kb|mib|percent|pct|mhz|ghz)$`)
	// Whole and fractional numbers that measure nothing, or whose unit stands in another column.
	plain := map[string]bool{"gpu_metric.value": true, "nvtx_range.category": true, "ncu_metric.value": true, "ncu_instance.value": true, "ncu_sample.value": true, "ncu_rule_cell.value": true, "ncu_rule_metric.value": true, "memory_event.address": true, "cuda_allocation.address": true,
		"model_layer.weight_bits": true, "sm_rate.flop_per_cycle": true, "device_sample.throttle_mask": true,
		"layer_cost.weight_bits": true, "gemm_product.weight_bits": true, "gap.opening_mask": true, "gap_sum.opening_mask": true, "kernel_name.name_hash": true, "work_sum.deviation_ns2": true,
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
		if slices.Contains([]string{"row_id", "begin_snapshot", "end_snapshot"}, column) {
			t.Errorf("%s.%s: DuckLake keeps the name for itself", table, column)
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
