//go:build lake

package laketest

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"prof/schema"
)

// scaleEnv says how many runs TestScale makes, e.g. 10000; without it the test skips: it takes long. With fullEnv they have their timelines too.
const scaleEnv, fullEnv = "LAKE_SCALE", "LAKE_FULL"

// large are the tables that a run kept as digests only does not have.
var large = []string{"api_call", "api_duration", "gap", "kernel", "kernel_duration", "launch", "memop", "nvtx_range", "op", "op_kernel", "range_context", "range_device", "sync", "graph_node", "memory_event", "memory_point", "profiler_overhead"}

// TestScale makes many runs out of one, without their timelines, and measures what is asked of all of them. It prints figures; docs/scale.md has those of one machine.
func TestScale(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv(scaleEnv))
	if err != nil {
		t.Skipf("set %s to a number of runs", scaleEnv)
	}
	s := newSite(t)
	file := s.machine("")
	file.ok("ingest", "--run", "llama", "--prefill", "512", "--decode", "32", "--model", capture("model/deepseek-ocr.config.json"), capture("nsys/llama-graph-node/llama-graph-node.sqlite.gz"))
	file.ok("push", "llama")
	lake := s.machine(s.lake)
	begun := time.Now()
	lake.multiply("llama", runs)
	t.Logf("%d runs made in %s", runs, time.Since(begun).Round(time.Second))
	ask := func(when string) {
		for _, args := range [][]string{
			{"runs", "--format", "csv"}, {"query", "run-list", "--format", "csv"}, {"query", "run-list", "--search", "llama-77", "--format", "csv"},
			{"trend", "--workload", "llama", "--format", "json"}, {"trend", "--workload", "llama", "--last", "100", "--format", "json"},
			{"diff", "llama-10", "llama-20", "--format", "json"}, {"check", "llama-30", "--baseline", "llama-10"}, {"show", "llama-40"}, {"query", "stages", "--run", "llama-50"},
		} {
			begun := time.Now()
			r := lake.run(args...)
			if r.code != 0 && r.code < 3 {
				t.Errorf("prof %s: exit %d, %s", strings.Join(args, " "), r.code, r.err)
			}
			t.Logf("%s: prof %s: %s, %d bytes", when, strings.Join(args, " "), time.Since(begun).Round(time.Millisecond), len(r.out))
		}
	}
	ask("as pushed")
	begun = time.Now()
	t.Logf("maintain: %s\n%s", lake.ok("lake", "maintain"), time.Since(begun).Round(time.Second))
	ask("maintained")
	t.Log(lake.run("lake", "status").err)
	out, err := psql(s.address, s.database, "SELECT relname, n_live_tup, pg_total_relation_size(relid) FROM pg_stat_user_tables ORDER BY 3 DESC LIMIT 12")
	t.Log(out, err)
}

// multiply makes runs out of one: with ids of their own, a minute apart, and times that differ by some percent.
func (m machine) multiply(name string, runs int) {
	m.t.Helper()
	w := m.openAs(schema.Options{Write: true})
	ctx := m.t.Context()
	var from string
	if err := w.DB.QueryRowContext(ctx, "SELECT run_id::VARCHAR FROM run WHERE name = ?", name).Scan(&from); err != nil {
		m.t.Fatal(err)
	}
	tables := m.tables(ctx, w)
	atOnce := 500
	if os.Getenv(fullEnv) != "" { // each run has files of its own
		atOnce = 25
	}
	for first := 1; first <= runs; first += atOnce {
		var rows []string
		for i := first; i < min(first+atOnce, runs+1); i++ {
			id, err := schema.NewRunID()
			if err != nil {
				m.t.Fatal(err)
			}
			rows = append(rows, fmt.Sprintf("('%s'::UUID, '%s-%d', %d, %d, %f)", id, name, i, schema.IDBase(id), i, 1+rand.NormFloat64()*0.01))
		}
		statements := []string{"CREATE OR REPLACE TEMP TABLE made AS SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") v(run_id, name, base, nth, factor)", "BEGIN"}
		for _, t := range tables {
			statements = append(statements, t.copies(from))
		}
		conn, err := w.DB.Conn(ctx)
		if err != nil {
			m.t.Fatal(err)
		}
		for _, s := range append(statements, "COMMIT") {
			if _, err := conn.ExecContext(ctx, s); err != nil {
				m.t.Fatalf("%v\n%.400s", err, s)
			}
		}
		conn.Close()
	}
}

// table is one of the runs' tables.
type table struct {
	name    string
	columns [][2]string // name, type
}

func (m machine) tables(ctx context.Context, w *schema.Warehouse) (out []table) {
	m.t.Helper()
	rows, err := w.DB.QueryContext(ctx, `SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = 'lake' ORDER BY table_name, column_index`)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func(rows *sql.Rows) { rows.Close() }(rows)
	for rows.Next() {
		var t, c, kind string
		if err := rows.Scan(&t, &c, &kind); err != nil {
			m.t.Fatal(err)
		}
		if len(out) == 0 || out[len(out)-1].name != t {
			out = append(out, table{name: t})
		}
		last := &out[len(out)-1]
		last.columns = append(last.columns, [2]string{c, kind})
	}
	out = slices.DeleteFunc(out, func(t table) bool {
		return t.columns[0][0] != "run_id" || slices.Contains(large, t.name) && os.Getenv(fullEnv) == ""
	})
	slices.SortFunc(out, func(a, b table) int { return cmp.Compare(a.name, b.name) })
	return out
}

// copies is the statement that makes a table's rows of the runs in the table made.
func (t table) copies(from string) string {
	var list []string
	for _, c := range t.columns {
		x := "x." + c[0]
		switch {
		case c[0] == "run_id":
			x = "g.run_id"
		case t.name == "run" && c[0] == "name":
			x = "g.name"
		case c[1] == "TIMESTAMP":
			x += " + to_minutes(g.nth)"
		case c[0] == "sha256":
			x += " || g.nth"
		case schema.IsID(t.name, c[0]) && strings.HasSuffix(c[1], "[]"):
			x = "list_transform(" + x + ", lambda i: if(i = 0, 0, (i & 134217727) | g.base))"
		case schema.IsID(t.name, c[0]):
			x = "if(" + x + " = 0, 0, (" + x + " & 134217727) | g.base)"
		case strings.HasSuffix(c[0], "_ns") && c[1] == "BIGINT" && strings.HasPrefix(t.name, "stage_"):
			x = "(" + x + " * g.factor)::BIGINT"
		}
		list = append(list, x)
	}
	return fmt.Sprintf("INSERT INTO lake.main.%[1]s SELECT %[2]s FROM lake.main.%[1]s x CROSS JOIN made g WHERE x.run_id = '%[3]s'::UUID ORDER BY g.run_id", t.name, strings.Join(list, ", "), from)
}
