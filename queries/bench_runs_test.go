package queries_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// TestMakeRuns writes a warehouse of PROF_BENCH_RUNS runs (1,000 without it) into the home that PROF_MAKE_RUNS names, to measure on what
// reads many of them. They are copies of the export that PROF_BENCH_EXPORT names, as BenchmarkRuns has them.
func TestMakeRuns(t *testing.T) {
	dir := os.Getenv("PROF_MAKE_RUNS")
	if dir == "" {
		t.Skip("PROF_MAKE_RUNS names no folder")
	}
	makeRuns(t, schema.Home{Dir: dir}, benchRuns(t, 1000))
}

// BenchmarkRuns asks what comparisons ask of a warehouse of PROF_BENCH_RUNS runs (20 without it) of 100,000 kernels each, or of the home that
// PROF_BENCH_HOME names, which TestMakeRuns has made.
func BenchmarkRuns(b *testing.B) {
	home := schema.Home{Dir: os.Getenv("PROF_BENCH_HOME")}
	if home.Dir == "" {
		home.Dir = b.TempDir()
		makeRuns(b, home, benchRuns(b, 20))
	}
	w, err := schema.Open(b.Context(), home, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	runs, err := w.Runs(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	id := runs[len(runs)/2].ID
	for _, name := range []string{"stage-samples", "pass-work"} {
		q, err := queries.Find(name)
		if err != nil {
			b.Fatal(err)
		}
		q.Notes = nil // comparisons ask for rows alone
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if f, err := queries.Run(b.Context(), w, q, queries.Args{"run": id}); err != nil || len(f.Rows) == 0 {
					b.Fatal(len(f.Rows), err)
				}
			}
		})
	}
}

// BenchmarkDerive derives the facts of one capture.
func BenchmarkDerive(b *testing.B) {
	w := testkit.Copy(b)
	id := load(b, w, "bench", benchExports()...).Run.ID
	for b.Loop() {
		if err := schema.DeriveAnew(b.Context(), w.DB, derive.Facts{}, id); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRuns(t testing.TB, by int) int {
	t.Helper()
	text := os.Getenv("PROF_BENCH_RUNS")
	if text == "" {
		return by
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PROF_BENCH_RUNS=%s is no number of runs", text)
	}
	return n
}

// benchExports are the captures and facts of the run that others are copies of.
func benchExports() []string {
	if text := os.Getenv("PROF_BENCH_EXPORT"); text != "" {
		return filepath.SplitList(text)
	}
	return []string{llamaCapture, llamaWorkload}
}

// Of the runs that are made.
const (
	kernelsOfRun = 100_000
	driverFrom   = 300 // the first run of another driver
	slowerFrom   = 600 // the first run in which one kernel takes longer
	slower       = 1.2 // how much longer
	commitEvery  = 50  // runs of one commit
)

// makeRuns makes runs run-0001, run-0002, ... an hour apart, each a copy of one capture with its facts. Kernels are made up to 100,000 by
// repeating some outside of stages. The durations of each run differ by some 0.5 %, those of each kernel by up to 0.1 % more, the time on the way
// to launches in each pass by 2 %.
func makeRuns(t testing.TB, home schema.Home, n int) {
	t.Helper()
	w, err := schema.Open(t.Context(), home, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}, MemoryLimit: "3GB"})
	if err != nil {
		t.Fatal(err)
	}
	base := load(t, w, "base", benchExports()...).Run
	conn, err := w.DB.Conn(t.Context()) // temporary tables are a connection's own
	if err != nil {
		t.Fatal(err)
	}
	m := maker{t: t, conn: conn, random: rand.New(rand.NewPCG(1, 2)), began: base.CreatedAt.Truncate(time.Hour).Add(-time.Duration(n) * time.Hour)}
	m.prepare(base.ID)
	for i := 1; i <= n; i++ {
		m.make(i)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Remove(t.Context(), base); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// maker copies a run.
type maker struct {
	t      testing.TB
	conn   *sql.Conn
	random *rand.Rand
	began  time.Time
	plain  []string // tables that are copied as they are
}

func (m *maker) exec(format string, args ...any) {
	m.t.Helper()
	stmt := fmt.Sprintf(format, args...)
	if _, err := m.conn.ExecContext(context.WithoutCancel(m.t.Context()), stmt); err != nil {
		m.t.Fatalf("%.500s: %v", stmt, err)
	}
}

// remade are the tables that are not copied as they are.
var remade = map[string]bool{"run": true, "run_tag": true, "source": true, "source_fact": true, "capture": true, "capture_pass": true, "capture_source": true,
	"kernel": true, "work_sum": true, "run_condition": true, "run_trait": true, "stage_pass": true, "stage_figure": true, "device_time": true, "idle_part": true, "range_device": true}

// prepare puts the run to copy into temporary tables, each base_ and the table's name.
func (m *maker) prepare(base string) {
	m.t.Helper()
	rows, err := m.conn.QueryContext(m.t.Context(), `SELECT t.table_name FROM duckdb_tables() t JOIN duckdb_columns() c USING (table_oid) WHERE NOT t.internal AND c.column_name = 'run_id' ORDER BY t.table_oid`)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			m.t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		m.t.Fatal(err)
	}
	m.exec(`SET checkpoint_threshold = '256MB'; SET preserve_insertion_order = true`)
	for _, name := range tables {
		m.exec(`CREATE TEMP TABLE base_%[1]s AS FROM %[1]s WHERE run_id = '%[2]s'`, name, base)
		var held int64
		if err := m.conn.QueryRowContext(m.t.Context(), `SELECT count(*) FROM base_`+name).Scan(&held); err != nil {
			m.t.Fatal(err)
		}
		if held > 0 && !remade[name] {
			m.plain = append(m.plain, name)
		}
	}
	m.exec(`CREATE TEMP TABLE base_pass AS SELECT c.range_context_id, min(p.range_id) AS range_id FROM base_range_context c JOIN base_stage_pass p USING (range_id) GROUP BY ALL`)
	m.exec(`INSERT INTO base_kernel BY NAME SELECT * REPLACE (0 AS range_context_id, 0 AS path_id, start_ns + (SELECT max(start_ns + duration_ns) FROM base_kernel) AS start_ns)
		FROM base_kernel LIMIT greatest(0, %d - (SELECT count(*) FROM base_kernel))`, kernelsOfRun)
	m.exec(`CREATE TEMP TABLE base_counted AS SELECT DISTINCT source_id FROM base_work_sum`)
	// The kernel that takes most of the passes' time will be slower.
	m.exec(`CREATE TEMP TABLE slow AS SELECT kernel_name_id FROM base_work_sum WHERE kind = 'kernel' AND range_id > 0 GROUP BY ALL ORDER BY sum(sum_ns) DESC, kernel_name_id LIMIT 1`)
}

// make makes one run.
func (m *maker) make(i int) {
	m.t.Helper()
	at := m.began.Add(time.Duration(i) * time.Hour).UTC()
	id := fmt.Sprintf("%08x-%04x-7000-8000-%012x", uint64(at.UnixMilli())>>16, uint64(at.UnixMilli())&0xffff, i)
	sum := sha256.Sum256([]byte("commit" + strconv.Itoa((i-1)/commitEvery)))
	stamp := at.Format(time.DateTime)
	m.exec(`BEGIN`)
	for _, name := range m.plain {
		m.exec(`INSERT INTO %[1]s SELECT * REPLACE ('%[2]s'::UUID AS run_id) FROM base_%[1]s`, name, id)
	}
	m.exec(`INSERT INTO run SELECT * REPLACE ('%s'::UUID AS run_id, 'run-%04d' AS name, TIMESTAMP '%[3]s' AS created_at, TIMESTAMP '%[3]s' AS started_at) FROM base_run`, id, i, stamp)
	m.exec(`INSERT INTO run_tag VALUES ('%[1]s', 'branch', 'main'), ('%[1]s', 'day', '%[2]s')`, id, at.Format(time.DateOnly))
	m.exec(`INSERT INTO source SELECT * REPLACE ('%s'::UUID AS run_id, sha256('%d' || source_id) AS sha256) FROM base_source`, id, i)
	m.exec(`INSERT INTO source_fact SELECT * REPLACE ('%s'::UUID AS run_id, CASE WHEN key = 'driver.version' AND %d >= %d THEN '590.48.01' ELSE value END AS value) FROM base_source_fact`, id, i, driverFrom)
	m.captured(i, id, stamp, hex.EncodeToString(sum[:20]))
	m.timed(i, id)
	if err := (derive.Facts{Only: []string{"run_condition", "run_trait"}}).Derive(m.t.Context(), m.conn, id); err != nil {
		m.t.Fatal(err)
	}
	m.exec(`COMMIT`)
}

// captured writes what prof capture would have recorded.
func (m *maker) captured(i int, id, stamp, commit string) {
	m.t.Helper()
	m.exec(`INSERT INTO source (run_id, source_id, kind, form, path, size_bytes, sha256, row_count, status) VALUES ('%[1]s', 1000, 'capture', 'run.json', 'runs/run-%04[2]d/run.json', 0, sha256('run%[2]d'), 0, 'ok')`, id, i)
	m.exec(`INSERT INTO capture (run_id, source_id, mode, command, workload_key, folder, git_commit, git_branch, is_git_dirty, started_at, duration_ns, status)
		SELECT '%[1]s', 1000, 'light', coalesce(command, 'workload'), '5ca1ab1e5ca1ab1e', '/srv/workload', '%[2]s', 'main', false, TIMESTAMP '%[3]s', 60000000000, 'ok' FROM base_run`, id, commit, stamp)
	m.exec(`INSERT INTO capture_pass (run_id, source_id, pass_id, name, tool, mode, repeat_id, command, started_at, duration_ns, exit_code, status, is_marked)
		SELECT '%[1]s', 1000, 1, 'nsys-1', 'nsys', 'light', 1, coalesce(command, 'workload'), TIMESTAMP '%[2]s', 60000000000, 0, 'ok', false FROM base_run`, id, stamp)
	m.exec(`INSERT INTO capture_source SELECT '%s', 1, source_id FROM base_counted`, id)
}

// timed writes kernels with durations of the run's own, and the facts and times of passes that follow from them.
func (m *maker) timed(i int, id string) {
	m.t.Helper()
	factor := math.Exp(0.005 * m.random.NormFloat64())
	if i >= slowerFrom {
		m.exec(`CREATE OR REPLACE TEMP TABLE factor AS SELECT kernel_name_id, CASE WHEN kernel_name_id = (SELECT kernel_name_id FROM slow) THEN %v ELSE 1 END AS f FROM base_kernel_name`, slower)
	} else {
		m.exec(`CREATE OR REPLACE TEMP TABLE factor AS SELECT kernel_name_id, 1 AS f FROM base_kernel_name`)
	}
	m.exec(`CREATE OR REPLACE TEMP TABLE factor AS SELECT kernel_name_id, f * %v * (1 + ((hash(kernel_name_id, %d) %% 2001)::BIGINT - 1000) / 1e6) AS f FROM factor`, factor, i)
	m.exec(`INSERT INTO kernel SELECT k.* REPLACE ('%s'::UUID AS run_id, (k.duration_ns * f.f)::BIGINT AS duration_ns) FROM base_kernel k JOIN factor f USING (kernel_name_id) ORDER BY k.start_ns`, id)
	m.exec(`INSERT INTO work_sum (run_id, source_id, range_id, repeat_id, device_id, kind, kernel_name_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, launch_count, sum_ns, min_ns, max_ns, deviation_ns2)
		SELECT '%s', k.source_id, coalesce(p.range_id, 0), 1, k.device_id, 'kernel', k.kernel_name_id, h.grid_x, h.grid_y, h.grid_z, h.block_x, h.block_y, h.block_z,
			count(*), sum((k.duration_ns * f.f)::BIGINT)::BIGINT, min((k.duration_ns * f.f)::BIGINT), max((k.duration_ns * f.f)::BIGINT), var_pop((k.duration_ns * f.f)::BIGINT) * count(*)
		FROM base_kernel k LEFT JOIN base_kernel_shape h USING (kernel_shape_id) JOIN base_counted USING (source_id) JOIN factor f USING (kernel_name_id) LEFT JOIN base_pass p USING (range_context_id) GROUP BY ALL`, id)
	m.exec(`INSERT INTO work_sum SELECT * REPLACE ('%s'::UUID AS run_id) FROM base_work_sum WHERE kind <> 'kernel'`, id)
	// What the kernels of each pass on each GPU take more, and the time on the way to launches.
	m.exec(`CREATE OR REPLACE TEMP TABLE more AS SELECT d.source_id, d.device_id, d.range_id, coalesce(k.ns, 0) AS kernel_ns, coalesce((x.ns * ((hash(d.range_id, %d) %% 2001)::BIGINT - 1000) / 5e4)::BIGINT, 0) AS launch_ns
		FROM base_device_time d JOIN base_stage_pass s USING (source_id, range_id) LEFT JOIN base_idle_part x ON x.source_id = d.source_id AND x.device_id = d.device_id AND x.range_id = d.range_id AND x.part = 'launch' LEFT JOIN (
			SELECT k.source_id, k.device_id, p.range_id, sum((k.duration_ns * f.f)::BIGINT - k.duration_ns)::BIGINT AS ns
			FROM base_kernel k JOIN factor f USING (kernel_name_id) JOIN base_pass p USING (range_context_id) GROUP BY ALL) k ON k.source_id = d.source_id AND k.device_id = d.device_id AND k.range_id = d.range_id`, i)
	m.exec(`INSERT INTO device_time SELECT d.* REPLACE ('%s'::UUID AS run_id, d.kernel_ns + coalesce(m.kernel_ns, 0) AS kernel_ns, d.end_ns + coalesce(m.kernel_ns + m.launch_ns, 0) AS end_ns)
		FROM base_device_time d LEFT JOIN more m ON m.source_id = d.source_id AND m.device_id = d.device_id AND m.range_id = d.range_id`, id)
	m.exec(`INSERT INTO idle_part SELECT d.* REPLACE ('%s'::UUID AS run_id, d.ns + CASE d.part WHEN 'launch' THEN coalesce(m.launch_ns, 0) ELSE 0 END AS ns)
		FROM base_idle_part d LEFT JOIN more m ON m.source_id = d.source_id AND m.device_id = d.device_id AND m.range_id = d.range_id`, id)
	m.exec(`INSERT INTO range_device SELECT d.* REPLACE ('%s'::UUID AS run_id, d.last_end_ns + coalesce(m.kernel_ns + m.launch_ns, 0) AS last_end_ns, d.busy_ns + coalesce(m.kernel_ns, 0) AS busy_ns, d.sum_ns + coalesce(m.kernel_ns, 0) AS sum_ns, d.kernel_sum_ns + coalesce(m.kernel_ns, 0) AS kernel_sum_ns)
		FROM base_range_device d LEFT JOIN more m ON m.device_id = d.device_id AND m.range_id = d.range_id`, id)
	m.exec(`CREATE OR REPLACE TEMP TABLE new_pass AS SELECT s.* REPLACE ('%s'::UUID AS run_id, s.gpu_span_ns + m.span_ns AS gpu_span_ns, s.gpu_busy_ns + m.kernel_ns AS gpu_busy_ns, s.gpu_sum_ns + m.kernel_ns AS gpu_sum_ns)
		FROM base_stage_pass s JOIN (SELECT range_id, max(kernel_ns + launch_ns) AS span_ns, sum(kernel_ns)::BIGINT AS kernel_ns FROM more GROUP BY ALL) m USING (range_id)`, id)
	m.exec(`INSERT INTO stage_pass FROM new_pass`)
	m.exec(`INSERT INTO stage_figure SELECT f.* REPLACE ('%s'::UUID AS run_id, f.device_ns / coalesce(t.ratio, 1) AS device_ns) FROM base_stage_figure f LEFT JOIN (
		SELECT a.stage, sum(a.gpu_span_ns) / sum(b.gpu_span_ns) AS ratio FROM base_stage_pass a JOIN new_pass b USING (range_id) WHERE NOT a.is_warmup GROUP BY a.stage) t USING (stage)`, id)
}
