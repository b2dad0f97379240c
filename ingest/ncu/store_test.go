package ncu_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/load"
	"prof/ingest/ncu"
	"prof/queries"
	"prof/schema"
)

// emptyWarehouse is the file of a warehouse that holds no run: making one takes longer than most of these tests.
var emptyWarehouse = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "prof-ncu-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w, err := openWarehouse(context.Background(), dir)
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(schema.Home{Dir: dir}.Warehouse())
})

func openWarehouse(ctx context.Context, dir string) (*schema.Warehouse, error) {
	return schema.Open(ctx, schema.Home{Dir: dir}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{Only: []string{}}, MemoryLimit: "1GB"})
}

// warehouse opens an empty warehouse in a folder of the test's own.
func warehouse(t testing.TB) *schema.Warehouse {
	t.Helper()
	empty, err := emptyWarehouse()
	if err != nil {
		t.Fatal(err)
	}
	home := schema.Home{Dir: t.TempDir()}
	if err := os.WriteFile(home.Warehouse(), empty, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := openWarehouse(t.Context(), home.Dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// ingested stores files as one run and gives the warnings.
func ingested(t testing.TB, w *schema.Warehouse, run string, paths ...string) (warnings []string) {
	t.Helper()
	warnings, err := tryIngest(t, w, run, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return warnings
}

func tryIngest(t testing.TB, w *schema.Warehouse, run string, paths ...string) (warnings []string, err error) {
	_, err = ingest.Run(t.Context(), w, paths, ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test",
		Load: load.Options{Threads: 2}, Warn: func(m string) { warnings = append(warnings, m) }})
	return warnings, err
}

// saved writes a report into a folder of the test's own.
func saved(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// texts gives a result as texts: values of a row joined by bars, NULL as ~.
func texts(t testing.TB, w *schema.Warehouse, sql string, args ...any) (out []string) {
	t.Helper()
	rows, err := w.DB.QueryContext(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		parts := make([]string, len(columns))
		for i, v := range values {
			if parts[i] = fmt.Sprint(v); v == nil {
				parts[i] = "~"
			}
		}
		out = append(out, strings.Join(parts, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// isResult compares a query's result with rows.
func isResult(t testing.TB, w *schema.Warehouse, sql string, want ...string) {
	t.Helper()
	if got := texts(t, w, sql); !slices.Equal(got, want) {
		t.Errorf("%s gives\n  %s\nwant\n  %s", sql, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// TestStoreValues: what is stored of every report is what the reader gives, value by value.
func TestStoreValues(t *testing.T) {
	for _, c := range realReports(t) {
		t.Run(c.name, func(t *testing.T) {
			w := warehouse(t)
			for _, m := range ingested(t, w, "r", c.report) {
				t.Errorf("warned: %s", m)
			}
			_, got := results(t, fileBytes(t, c.report))
			var want, launches, units []string
			seen := map[string]bool{}
			for i := range got {
				launches = append(launches, launchText(&got[i]))
				for _, m := range got[i].Metrics {
					if !seen[fmt.Sprint(i, m.Name)] { // TestReportIsPage says whether one is there twice
						seen[fmt.Sprint(i, m.Name)] = true
						want = append(want, fmt.Sprint(i, "|", m.Name, "|", valueText(m)))
					}
					if !seen[m.Name] {
						seen[m.Name] = true
						units = append(units, m.Name+"|"+unitText(m.Unit))
					}
				}
			}
			compareSorted(t, "metrics", texts(t, w, `SELECT (launch_id & 134217727) - 1, name, value, text FROM ncu_metric JOIN ncu_metric_name USING (run_id, metric_id)`), want)
			compareSorted(t, "units", texts(t, w, `SELECT DISTINCT name, unit FROM ncu_metric JOIN ncu_metric_name USING (run_id, metric_id)`), units)
			compareSorted(t, "launches", texts(t, w, `SELECT (launch_id & 134217727) - 1, ncu_id, l.kind, pid, tid, device_id, context_id, stream_id, k.name, k.short_name, symbol,
				grid_x, grid_y, grid_z, block_x, block_y, block_z, epoch(captured_at)::BIGINT, is_clock_locked,
				coalesce((SELECT string_agg(style || ' ' || domain || '/' || r.name, ' > ' ORDER BY depth) FROM ncu_range r WHERE r.launch_id = l.launch_id), '')
				FROM ncu_launch l LEFT JOIN kernel_name k USING (run_id, kernel_name_id)`), launches)
			noFaults(t, w)
			isResult(t, w, `SELECT kind, form, tool_version, schema_version, status, reason, row_count = (SELECT count(*) FROM ncu_metric) + (SELECT count(*) FROM ncu_launch)
				+ (SELECT count(*) FROM ncu_range) + (SELECT count(*) FROM ncu_rule) + (SELECT count(*) FROM ncu_rule_metric) + (SELECT count(*) FROM ncu_section)
				+ (SELECT count(*) FROM device) + (SELECT count(*) FROM process) + (SELECT count(*) FROM source_fact)
				+ (SELECT count(*) FROM ncu_instance) + (SELECT count(*) FROM ncu_instruction) + (SELECT count(*) FROM ncu_function) + (SELECT count(*) FROM ncu_source_file) FROM source`,
				"ncu|ncu-rep|2025.3.1.0 (build 36398880) (public-release)|7|ok|~|true")
			isResult(t, w, `SELECT device_id, name, chip, compute_capability, sm_count, clock_hz, memory_bytes, l2_bytes, max_warp_per_sm_count, shared_per_sm_bytes FROM device`,
				"0|NVIDIA H200|~|9.0|132|1980000000|150109880320|62914560|64|233472")
		})
	}
}

// storeFaults are queries that must find nothing.
var storeFaults = map[string]string{
	"a metric is there twice":          `SELECT launch_id, metric_id FROM ncu_metric GROUP BY ALL HAVING count(*) > 1`,
	"a metric has no name":             `SELECT metric_id FROM ncu_metric ANTI JOIN ncu_metric_name USING (run_id, metric_id)`,
	"a metric has no launch":           `SELECT launch_id FROM ncu_metric ANTI JOIN ncu_launch USING (run_id, launch_id)`,
	"a name is there twice":            `SELECT name FROM ncu_metric_name GROUP BY name HAVING count(*) > 1`,
	"a launch is there twice":          `SELECT launch_id FROM ncu_launch GROUP BY launch_id HAVING count(*) > 1`,
	"a launch has no kernel name":      `SELECT launch_id FROM ncu_launch ANTI JOIN kernel_name USING (run_id, kernel_name_id) WHERE kind = 'kernel'`,
	"a path is missing":                `SELECT launch_id FROM ncu_launch ANTI JOIN range_path USING (run_id, path_id) WHERE path_id > 0`,
	"a path is not its last range's":   `SELECT launch_id FROM ncu_launch l WHERE path_id <> coalesce((SELECT max_by(path_id, depth) FROM ncu_range r WHERE r.launch_id = l.launch_id), 0)`,
	"a section shows a metric twice":   `SELECT source_id, section, metric_id FROM ncu_section GROUP BY ALL HAVING count(*) > 1`,
	"a place in a section is taken":    `SELECT source_id, section, position FROM ncu_section GROUP BY ALL HAVING count(*) > 1`,
	"a section's metric has no name":   `SELECT metric_id FROM ncu_section ANTI JOIN ncu_metric_name USING (run_id, metric_id)`,
	"a finding is there twice":         `SELECT launch_id, finding_id FROM ncu_rule GROUP BY ALL HAVING count(*) > 1`,
	"a finding's metric has none":      `SELECT launch_id FROM ncu_rule_metric ANTI JOIN ncu_rule USING (run_id, launch_id, finding_id)`,
	"a speedup without a scope":        `SELECT rule FROM ncu_rule WHERE (speedup_scope IS NULL) <> (speedup_ratio IS NULL) OR speedup_ratio NOT BETWEEN 0 AND 1`,
	"a rule's markup is left":          `SELECT message FROM ncu_rule WHERE contains(message, '@')`,
	"a part that is not all stored":    `SELECT part FROM source_part WHERE (read_count <> stored_count) <> (reason IS NOT NULL)`,
	"launches not as source_part says": `SELECT kind FROM ncu_launch GROUP BY kind HAVING count(*) <> coalesce((SELECT sum(stored_count) FROM source_part WHERE part = kind || ' results'), 0)`,
	"metrics not as source_part says":  `SELECT stored_count FROM source_part p WHERE part = 'metrics' AND stored_count <> (SELECT count(*) FROM ncu_metric m WHERE m.source_id = p.source_id)`,
	"a fact is there twice":            `SELECT key FROM source_fact GROUP BY key HAVING count(*) > 1`,
}

// noFaults fails with what storeFaults find but those that are allowed.
func noFaults(t *testing.T, w *schema.Warehouse, allowed ...string) {
	t.Helper()
	for what, sql := range storeFaults {
		if rows := texts(t, w, sql); len(rows) > 0 && !slices.Contains(allowed, what) {
			t.Errorf("%s: %d rows, the first %s", what, len(rows), rows[0])
		}
	}
}

func valueText(m ncu.Metric) string {
	switch {
	case m.IsText:
		return "~|" + m.Text
	case math.IsNaN(m.Value), math.IsInf(m.Value, 0):
		return "~|" + strconv.FormatFloat(m.Value, 'f', -1, 64)
	case m.Text != "":
		return fmt.Sprint(m.Value) + "|" + m.Text
	}
	return fmt.Sprint(m.Value) + "|~"
}

func unitText(unit string) string {
	if unit == ncu.UnknownUnit {
		return "~"
	}
	return unit
}

// launchText is a result as the query of TestStoreValues gives it.
func launchText(r *ncu.Result) string {
	known := func(v int32, unknown int32) string {
		if v == unknown {
			return "~"
		}
		return fmt.Sprint(v)
	}
	clock, names, sizes := "~", "~|~|~", "~|~|~|~|~|~"
	if r.ClockLocked != nil {
		clock = fmt.Sprint(*r.ClockLocked)
	}
	if r.Kind == ncu.Kernel {
		names = r.Name + "|" + r.Function + "|" + r.Symbol
		sizes = fmt.Sprintf("%d|%d|%d|%d|%d|%d", r.Grid[0], r.Grid[1], r.Grid[2], r.Block[0], r.Block[1], r.Block[2])
	}
	var ranges []string
	for _, x := range r.Ranges {
		style := "push_pop "
		if x.StartEnd {
			style = "start_end "
		}
		ranges = append(ranges, style+x.Domain+"/"+x.Name)
	}
	return fmt.Sprintf("%d|%d|%v|%d|%s|%s|%s|%s|%s|%s|%d|%s|%s", r.ID, r.ID, r.Kind, r.PID, known(r.TID, 0), known(r.Device, -1), known(r.Context, -1),
		known(r.Stream, -1), names, sizes, r.Created, clock, strings.Join(ranges, " > "))
}

func compareSorted(t testing.TB, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: stored %s, want %s", what, got[i], want[i])
			break
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d stored, want %d", what, len(got), len(want))
	}
}

// sameDevice finds where two tools say different things of one GPU.
const sameDevice = `SELECT a.device_id FROM device a JOIN device b ON a.source_id < b.source_id AND a.device_id = b.device_id
	WHERE a.name <> b.name OR a.compute_capability <> b.compute_capability OR a.sm_count <> b.sm_count OR a.clock_hz <> b.clock_hz
	OR a.memory_bytes <> b.memory_bytes OR a.memory_bytes_per_s <> b.memory_bytes_per_s OR a.l2_bytes <> b.l2_bytes
	OR a.max_warp_per_sm_count <> b.max_warp_per_sm_count OR a.shared_per_sm_bytes <> b.shared_per_sm_bytes`

// TestStorePaths: a launch in the same ranges has the same path, whether Nsight Systems or Nsight Compute saw it.
func TestStorePaths(t *testing.T) {
	w := warehouse(t)
	ingested(t, w, "kernels", "../../testdata/nsys/kernels/kernels.sqlite.gz", "../../testdata/ncu/kernels-prefill.ncu-rep.gz")
	isResult(t, w, `SELECT DISTINCT short_name, path FROM ncu_launch JOIN kernel_name USING (run_id, kernel_name_id) JOIN range_path USING (run_id, path_id) ORDER BY ALL`,
		"tiled_matmul|prefill", "transpose_naive|prefill > inner")
	isResult(t, w, `SELECT count(*) FROM ncu_launch l JOIN kernel_name n USING (run_id, kernel_name_id)
		WHERE path_id NOT IN (SELECT path_id FROM kernel k JOIN kernel_name m USING (run_id, kernel_name_id) WHERE m.short_name = n.short_name)`, "0")
	isResult(t, w, sameDevice)
	w = warehouse(t)
	ingested(t, w, "variants", "../../testdata/nsys/variants-graph/variants-graph.sqlite.gz", "../../testdata/ncu/variants-graph.ncu-rep.gz")
	isResult(t, w, `SELECT short_name, path FROM ncu_launch l LEFT JOIN kernel_name USING (run_id, kernel_name_id) JOIN range_path USING (run_id, path_id) ORDER BY launch_id`,
		"k_warm|init", "k_ct_wrk_before|se_cross_thread > wrk_push", "~|decode_all > decode_step[#]", "~|decode_all > decode_step[#]",
		"k_thr0|worker[#] > chunk", "k_unend|never_popped > never_popped_llm > never_ended > never_ended_llm")
	isResult(t, w, `SELECT launch_id FROM ncu_launch l LEFT JOIN kernel_name n USING (run_id, kernel_name_id)
		WHERE path_id NOT IN (SELECT path_id FROM kernel k JOIN kernel_name m USING (run_id, kernel_name_id) WHERE m.short_name = n.short_name
			UNION SELECT path_id FROM graph_launch WHERE l.kind = 'graph')`)
}

// TestStoreCut: of a report that was cut off the whole results are stored, and the run says so.
func TestStoreCut(t *testing.T) {
	data := reportOf(t, "kernels-range")
	_, parts := takeApart(t, data)
	_, whole := results(t, data)
	for _, p := range parts {
		if p.results == 0 {
			continue
		}
		for _, at := range []int{p.at + 4 + len(p.header), p.ends[0] - 1, p.ends[0] - 100} {
			want, _ := wholeBefore(parts, len(data), at)
			w := warehouse(t)
			warnings := ingested(t, w, "r", saved(t, "cut.ncu-rep", data[:at]))
			isResult(t, w, `SELECT status, count(reason) FROM source GROUP BY status`, "partial|1")
			isResult(t, w, `SELECT count(*) FROM ncu_launch`, fmt.Sprint(want))
			isResult(t, w, `SELECT count(*) FROM ncu_metric`, fmt.Sprint(len(whole[0].Metrics)*want))
			isResult(t, w, `SELECT count(*) FROM diagnostic WHERE severity = 'warning' AND contains(message, 'cut off')`, "1")
			if len(warnings) != 1 || !strings.Contains(warnings[0], "cut off") {
				t.Errorf("cut at %d: warned %q", at, warnings)
			}
		}
	}
}

// TestStoreMany: what is stored piece by piece is stored once and whole.
func TestStoreMany(t *testing.T) {
	const launches = 120 // of 1,381 metrics: the pieces are of 65,536
	data := bigReport(t, launches)
	metrics, sum := 0, 0.0
	_, got := results(t, data)
	for _, x := range got {
		for _, m := range x.Metrics {
			if metrics++; !math.IsNaN(m.Value) {
				sum += m.Value
			}
		}
	}
	w := warehouse(t)
	ingested(t, w, "r", saved(t, "many.ncu-rep", data))
	isResult(t, w, `SELECT count(*), count(DISTINCT (launch_id, metric_id)), count(DISTINCT launch_id) FROM ncu_metric`, fmt.Sprintf("%d|%d|%d", metrics, metrics, launches))
	isResult(t, w, fmt.Sprintf(`SELECT abs(sum(value) - %.17g) <= 1e-12 * sum(abs(value)) FROM ncu_metric`, sum), "true")
	isResult(t, w, `SELECT count(*) FROM ncu_launch`, fmt.Sprint(launches))
	if metrics < 2<<16 {
		t.Errorf("only %d metrics", metrics)
	}
}
