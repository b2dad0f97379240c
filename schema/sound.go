package schema

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prof/schema/rundir"
	"prof/schema/terms"
)

// A run that comes from elsewhere may have been changed since a prof stored it. Its rows are held against what an ingest stores: numbers that
// their columns can hold, words that there are, ids of rows that are there, and sums that are those of the rows.

// column is one of a table.
type column struct{ name, kind string }

// columnsOf reads the columns of tables.
func columnsOf(ctx context.Context, q querier, tables []string) (map[string][]column, error) {
	rows, err := texts(q.QueryContext(ctx, `SELECT table_name || ' ' || column_name || ' ' || data_type FROM duckdb_columns() WHERE database_name = current_database()
		AND table_name IN (`+terms.Quoted(tables)+`) ORDER BY table_name, column_index`))
	out := map[string][]column{}
	for _, r := range rows {
		f := strings.SplitN(r, " ", 3)
		out[f[0]] = append(out[f[0]], column{f[1], f[2]})
	}
	return out, err
}

// instants end the names of points in time, which may lie before the start of a capture.
var instants = []string{"start_ns", "end_ns", "time_ns", "ended_ns", "offset_ns"}

// signed are other columns with numbers below 0: numbers and hashes that others chose, results, and values of which something else says what
// they are. All other numbers are counted or measured from 0.
var signed = []string{
	"pid", "tid", "end_tid", "device_id", "record_device_id", "context_id", "stream_id", "record_stream_id", "rank_id", "correlation_id", "graph_id", "graph_node_id", "original_graph_node_id", "event_id", "type_id", "gpu_metric.metric_id",
	"gpu_metric_name.metric_id", "sequence_id", "category", "address", "name_hash", "priority", "return_value", "exit_code", "temperature_c", "value", "speedup_ratio", "memory_event.size_bytes", "cuda_allocation.size_bytes",
	"op.self_cpu_ns", "python_call.self_cpu_ns", "python_call.module_cpu_ns", "op_average.self_cpu_ns", "op_average.total_cpu_ns", "op_average.self_device_ns", "op_average.total_device_ns", "op_average.self_device_bytes", "op_average.total_device_bytes", "op_average.self_host_bytes", "op_average.total_host_bytes",
}

// IsSigned reports whether a column of what was captured may have numbers below 0.
func IsSigned(table, column string) bool {
	return hasEnd(column, instants) || slices.Contains(signed, column) || slices.Contains(signed, table+"."+column)
}

func hasEnd(name string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// beyond is the condition, in SQL, of a number that its column cannot hold; "" for a column that may hold all of its type. Of FLOP there are more than
// nanoseconds, and clocks of two hosts may be farther apart than a capture lasts.
func beyond(table string, c column, isFact bool) string {
	is := func(ends ...string) bool { return hasEnd(c.name, ends) }
	isSigned := isFact || IsSigned(table, c.name)
	most := int64(0)
	switch {
	case c.kind == "TIMESTAMP":
		return c.name + " NOT BETWEEN TIMESTAMP '1970-01-01' AND TIMESTAMP '2261-12-31 23:59:59.999999'"
	case c.kind == "DOUBLE" && isSigned:
		return "NOT isfinite(" + c.name + ")"
	case c.kind == "DOUBLE":
		return "NOT isfinite(" + c.name + ") OR " + c.name + " < 0"
	case c.kind != "BIGINT" && c.kind != "INTEGER", IsID(table, c.name):
		return ""
	case c.kind == "BIGINT" && is("_flop", "offset_ns"):
		most = 1 << 62
	case c.kind == "BIGINT" && is("_ns", "_bytes", "_count"):
		most = rundir.Farthest
	}
	switch {
	case most > 0 && isSigned:
		return fmt.Sprintf("%s NOT BETWEEN %d AND %d", c.name, -most, most)
	case most > 0:
		return fmt.Sprintf("%s NOT BETWEEN 0 AND %d", c.name, most)
	case isSigned:
		return ""
	}
	return c.name + " < 0"
}

// words are those of columns that take no others.
var words = map[string][]string{
	"source.kind":                      append(terms.Kinds(func(terms.Source) bool { return true }), "baseline"),
	"source.status":                    {"ok", "partial", "failed"},
	"diagnostic.origin":                {"capture", "ingest"},
	"diagnostic.severity":              {"info", "warning", "error"},
	"graph_launch.mode":                {"graph", "node"},
	"library_call.library":             {"cuDNN", "cuBLAS"},
	"gpu_metric_name.unit":             {"ratio", "hz", "bytes_per_s", "raw"},
	"nvtx_range.style":                 {"push_pop", "start_end", "record_function"},
	"ncu_launch.kind":                  {"kernel", "range", "graph", "cmdlist"},
	"ncu_range.style":                  {"push_pop", "start_end"},
	"op_average.kind":                  {"cpu", "device", "range"},
	"model_note.kind":                  {"assumed", "left_out", "unknown"},
	"idle_part.part":                   idleParts(),
	"gap.part":                         idleParts(),
	"gap_part.part":                    idleParts(),
	"gap_sum_part.part":                idleParts(),
	"reported_sum.report":              {"kernel", "kernel_grid", "memory_time", "memory_size", "api_call", "osrt_call", "range", "range_gpu", "range_kernel"},
	"reported_value.scope":             {"run", "stage", "model", "kernel", "range", "point"},
	"serving_benchmark_latency.metric": terms.LatencyNames(),
	"work_fault.kind":                  terms.WorkFaults(),
}

// Words are those that a column takes, and no others; nil where it takes any.
func Words(table, column string) []string { return words[table+"."+column] }

func idleParts() (names []string) {
	for _, p := range terms.IdleParts() {
		names = append(names, p.Name)
	}
	return names
}

// together are columns that are NULL all or none.
var together = map[string][]string{
	"kernel": {"launch_start_ns", "launch_duration_ns", "launch_name_id"},
	"memop":  {"launch_start_ns", "launch_duration_ns", "launch_name_id"},
}

// part is a table whose rows belong to those of another one, by columns that both have.
type part struct {
	table, of string
	by        []string // the last one is NULL where a row belongs to none
	as        string   // what the other table calls the last one; "" for the same
	withNULL  bool     // NULL stands for itself
}

var parts = []part{
	{table: "gap_sum_part", of: "gap_sum", by: []string{"source_id", "pattern_id"}},
	{table: "gap_part", of: "gap", by: []string{"source_id", "device_id", "start_ns"}},
	{table: "idle_part", of: "device_time", by: []string{"source_id", "device_id", "range_id"}, withNULL: true},
	{table: "range_device", of: "device_time", by: []string{"device_id", "range_id"}},
	{table: "kernel", of: "device_time", by: []string{"source_id", "device_id"}},
	{table: "memop", of: "device_time", by: []string{"source_id", "device_id"}},
	{table: "ncu_instruction", of: "ncu_function", by: []string{"source_id", "function_id"}},
	{table: "ncu_instance", of: "ncu_function", by: []string{"source_id", "function_id"}},
	{table: "ncu_instruction", of: "ncu_source_file", by: []string{"source_id", "file_id"}},
	{table: "ncu_instruction", of: "ncu_source_file", by: []string{"source_id", "ptx_file_id"}, as: "file_id"},
	{table: "ncu_rule_metric", of: "ncu_rule", by: []string{"launch_id", "finding_id"}},
	{table: "ncu_rule_cell", of: "ncu_rule", by: []string{"launch_id", "finding_id"}},
	{table: "serving_benchmark_latency", of: "serving_benchmark", by: []string{"source_id", "benchmark_id"}},
	{table: "serving_request", of: "serving_benchmark", by: []string{"source_id", "benchmark_id"}},
	{table: "workload_pass", of: "workload_process", by: []string{"source_id", "process_id"}},
	{table: "gpu_metric", of: "gpu_metric_name", by: []string{"source_id", "type_id", "metric_id"}},
	{table: "capture_source", of: "source", by: []string{"captured_source_id"}, as: "source_id"},
	{table: "capture_source", of: "capture_pass", by: []string{"pass_id"}},
	{table: "serving_window", of: "capture_pass", by: []string{"pass_id"}},
	{table: "stage_execution", of: "capture_pass", by: []string{"pass_id"}},
	{table: "capture_kept", of: "capture_pass", by: []string{"pass_id"}},
	{table: "device_sample", of: "capture_pass", by: []string{"pass_id"}},
	{table: "device_sample", of: "capture_device", by: []string{"device_id"}},
	{table: "execution_memory", of: "stage_execution", by: []string{"source_id", "pass_id", "pid", "execution_id"}},
}

// changed ends what is said of rows that no ingest stores.
const changed = ": the run was changed by hand, or damaged"

// sound checks the rows of a run that arrived.
type sound struct {
	runID   string
	columns map[string][]column
	facts   []string            // tables whose rows prof derives
	most    map[[2]string]int64 // the largest number of an id, by table and column
	owners  map[string][2]int64 // rows that tables with ids have, and how many ids they are
}

// checkRows reports whether the rows of a table are such as an ingest stores, each by itself. Ids are the run's own, for those of another run would
// change that one's answers.
func (s *sound) checkRows(ctx context.Context, q SQL, table string) error {
	isFact := slices.Contains(s.facts, table)
	var tests []string
	fault := func(is, says string) {
		tests = append(tests, "CASE WHEN bool_or("+is+") THEN "+Quote("wrong "+says+changed)+" END")
	}
	var foreign []string
	for _, c := range s.columns[table] {
		if is := beyond(table, c, isFact); is != "" {
			fault(is, "numbers of "+c.name+" are beyond what can be")
		}
		if list := Words(table, c.name); list != nil {
			fault(c.name+" NOT IN ("+terms.Quoted(list)+")", c.name+" has a word that stands for nothing")
		}
		number, owner := c.name, idOwner(table, c.name)
		switch of := fmt.Sprintf(" NOT IN (0, %d)", IDBase(s.runID)>>idBits); {
		case c.name == "source_id":
			fault(c.name+" < 1", "numbers of "+c.name+" are beyond what can be")
			tests = append(tests, "'most "+c.name+" ' || max("+c.name+")")
			if owner = ""; table == "source" {
				owner = table
			}
		case owner == "":
			continue
		case strings.HasSuffix(c.kind, "[]"):
			foreign = append(foreign, fmt.Sprintf("len(list_filter(%s, lambda x: x >> %d%s)) > 0", c.name, idBits, of))
			number = "list_max(" + c.name + ")"
		default:
			foreign = append(foreign, fmt.Sprintf("%s >> %d%s", c.name, idBits, of))
		}
		if c.name != "source_id" {
			tests = append(tests, fmt.Sprintf("'most %s ' || max(%s & %d)", c.name, number, MaxIDs))
		}
		if owner == table && isKey(table, c.name) {
			tests = append(tests, fmt.Sprintf("'own ' || count(*) || ' ' || count(DISTINCT %s)", c.name))
		}
	}
	if list := together[table]; list != nil {
		var differ []string
		for _, c := range list[1:] {
			differ = append(differ, "("+list[0]+" IS NULL) <> ("+c+" IS NULL)")
		}
		fault(strings.Join(differ, " OR "), "of "+strings.Join(list, ", ")+" some are NULL and some are not")
	}
	if table == "kernel_name" {
		fault("lpad(lower(to_hex(name_hash)), 16, '0') <> left(sha256(name), 16)", "name_hash is not that of the name")
	}
	if len(foreign) > 0 {
		tests = append(tests, "'wrong ' || nullif(count(*) FILTER (WHERE "+strings.Join(foreign, " OR ")+"), 0) || ' rows have ids of other runs'")
	}
	if len(tests) == 0 {
		return nil
	}
	said, err := texts(q.QueryContext(ctx, `SELECT s.said FROM (SELECT unnest([`+strings.Join(tests, ", ")+`]) AS said FROM `+table+` WHERE run_id = ?::UUID) s WHERE s.said IS NOT NULL`, s.runID))
	if err != nil {
		return err
	}
	for _, text := range said {
		switch what, rest, _ := strings.Cut(text, " "); what {
		case "wrong":
			return fmt.Errorf("%s", rest)
		case "most":
			name, n, _ := strings.Cut(rest, " ")
			if s.most[[2]string{table, name}], err = strconv.ParseInt(n, 10, 64); err != nil {
				return err
			}
		case "own":
			var o [2]int64
			if _, err := fmt.Sscan(rest, &o[0], &o[1]); err != nil {
				return err
			}
			s.owners[table] = o
		}
	}
	if o, owns := s.owners[table]; owns && o[0] != o[1] && table != "range_context" { // which has a row for each range
		return fmt.Errorf("%d rows have %d ids"+changed, o[0], o[1])
	}
	return nil
}

// isKey reports whether a column is that in which a table has ids of its own.
func isKey(table, column string) bool { return keyOf(table) == column }

func keyOf(table string) string {
	for _, o := range idsOf {
		if o.table == table {
			return o.key
		}
	}
	return "source_id"
}

// checkTies reports whether what rows of the tables name is there, and whether sums are those of the rows.
func (s *sound) checkTies(ctx context.Context, q SQL, tables []string, counts map[string]int64) error {
	var asks []string
	ask := func(p part) {
		last := p.by[len(p.by)-1]
		var on []string
		for _, c := range p.by {
			as := c
			if c == last && p.as != "" {
				as = p.as
			}
			on = append(on, "o."+as+" IS NOT DISTINCT FROM t."+c)
		}
		some := ""
		if !p.withNULL {
			some = " AND " + last + " IS NOT NULL"
			if idOwner(p.table, last) != "" {
				some += " AND " + last + " <> 0"
			}
		}
		asks = append(asks, fmt.Sprintf(`SELECT %s AS said WHERE EXISTS (SELECT 1 FROM (SELECT DISTINCT %s FROM %s WHERE run_id = $run%s) t WHERE NOT EXISTS (SELECT 1 FROM %s o WHERE o.run_id = $run AND %s))`,
			Quote("table "+p.table+": rows name by "+last+" what the table "+p.of+" does not have"), strings.Join(p.by, ", "), p.table, some, p.of, strings.Join(on, " AND ")))
	}
	for _, t := range tables {
		if counts[t] == 0 || slices.Contains(s.facts, t) {
			continue
		}
		for _, c := range s.columns[t] {
			owner := idOwner(t, c.name)
			if c.name == "source_id" {
				owner = "source"
			}
			// Ids are numbers from 1 on without gaps where no source was deleted since, so that the largest tells.
			if most := s.most[[2]string{t, c.name}]; owner == "" || owner == t && isKey(t, c.name) || most == 0 || s.isDense(owner) && most <= s.owners[owner][1] {
				continue
			}
			if s.isDense(owner) || strings.HasSuffix(c.kind, "[]") && s.most[[2]string{t, c.name}] > s.most[[2]string{owner, keyOf(owner)}] {
				return fmt.Errorf("table %s: rows name by %s what the table %s does not have"+changed, t, c.name, owner)
			}
			if !strings.HasSuffix(c.kind, "[]") {
				ask(part{table: t, of: owner, by: []string{c.name}, as: keyOf(owner)})
			}
		}
	}
	for _, p := range parts {
		if counts[p.table] > 0 {
			ask(p)
		}
	}
	if counts["kernel"] > 0 || counts["device_time"] > 0 {
		asks = append(asks, sumsOfRanges, unionOfWork)
	}
	if len(asks) == 0 {
		return nil
	}
	said, err := texts(q.QueryContext(ctx, strings.ReplaceAll(strings.Join(asks, "\nUNION ALL "), "$run", Quote(s.runID)+"::UUID")))
	if err == nil && len(said) > 0 {
		err = fmt.Errorf("%s"+changed, said[0])
	}
	return err
}

// isDense reports whether the ids of a table are all numbers from 1 on.
func (s *sound) isDense(owner string) bool {
	return s.owners[owner][1] == s.most[[2]string{owner, keyOf(owner)}]
}

// sumsOfRanges finds that kernels by the ranges around them do not add up to what range_device has.
const sumsOfRanges = `SELECT 'the durations of kernels in ranges do not add up to those of range_device' AS said WHERE EXISTS (
	SELECT 1 FROM (SELECT k.source_id, k.device_id, sum(k.sum_ns * c.n) AS sum_ns, sum(k.n * c.n) AS n
		FROM (SELECT source_id, device_id, range_context_id, sum(duration_ns) AS sum_ns, count(*) AS n FROM kernel WHERE run_id = $run AND range_context_id <> 0 GROUP BY ALL) k
		JOIN (SELECT range_context_id, count(*) AS n FROM range_context WHERE run_id = $run GROUP BY ALL) c USING (range_context_id) GROUP BY ALL) k
	FULL JOIN (SELECT x.source_id, d.device_id, sum(d.kernel_sum_ns) AS sum_ns, sum(d.kernel_count) AS n FROM range_device d JOIN nvtx_range x USING (run_id, range_id) WHERE d.run_id = $run GROUP BY ALL) d USING (source_id, device_id)
	WHERE coalesce(k.sum_ns, 0) <> coalesce(d.sum_ns, 0) OR coalesce(k.n, 0) <> coalesce(d.n, 0))`

// unionOfWork finds that the time in which a GPU worked is not what device_time has. What spans work that is not seen begins at its end.
const unionOfWork = `SELECT 'the time in which kernels and copies ran on a GPU is not that of device_time' AS said WHERE EXISTS (
	WITH whole AS (SELECT t.source_id, t.device_id, t.start_ns, t.end_ns, t.kernel_ns, t.kernel_ns + t.graph_ns + t.copy_ns AS busy_ns,
			EXISTS (SELECT 1 FROM unseen_work u WHERE u.run_id = t.run_id AND u.source_id = t.source_id) AS is_late FROM device_time t WHERE t.run_id = $run AND t.range_id IS NULL),
		work AS (SELECT source_id, device_id, start_ns, start_ns + duration_ns AS end_ns, true AS is_kernel FROM kernel WHERE run_id = $run
			UNION ALL SELECT source_id, device_id, start_ns, start_ns + duration_ns, false FROM memop WHERE run_id = $run
			UNION ALL SELECT source_id, device_id, start_ns, start_ns + duration_ns, false FROM graph_launch WHERE run_id = $run AND mode = 'graph'),
		seen AS (SELECT w.source_id, w.device_id, CASE WHEN h.is_late THEN greatest(w.start_ns, h.start_ns) ELSE w.start_ns END AS start_ns, w.end_ns, w.is_kernel FROM work w LEFT JOIN whole h USING (source_id, device_id)),
		before AS (SELECT s.*, max(s.end_ns) OVER earlier AS until, max(CASE WHEN s.is_kernel THEN s.end_ns END) OVER earlier AS kernel_until FROM seen s
			WINDOW earlier AS (PARTITION BY s.source_id, s.device_id ORDER BY s.start_ns, s.end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
		sums AS (SELECT source_id, device_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns, sum(greatest(0, end_ns - greatest(start_ns, coalesce(until, start_ns)))) AS busy_ns,
			sum(greatest(0, end_ns - greatest(start_ns, coalesce(kernel_until, start_ns)))) FILTER (WHERE is_kernel) AS kernel_ns FROM before GROUP BY ALL)
	SELECT 1 FROM sums s FULL JOIN whole h USING (source_id, device_id)
	WHERE (s.start_ns, s.end_ns, s.busy_ns, coalesce(s.kernel_ns, 0)) IS DISTINCT FROM (h.start_ns, h.end_ns, h.busy_ns, h.kernel_ns))`

// workFaults find, in the rows of a run, what an ingest finds of device work that cannot be as it is recorded: pieces that are there twice, that took no
// time, that began before their launch, and that ran while earlier work of their stream still ran. What the captured order of launches and waits
// tells beside them, only the capture shows.
const workFaults = `WITH work AS (
		SELECT source_id, pid, device_id, context_id, stream_id, start_ns, start_ns + duration_ns AS end_ns, true AS is_kernel, kernel_name_id AS label, kernel_shape_id AS more, graph_node_id, launch_start_ns, correlation_id, range_context_id, path_id
		FROM kernel WHERE run_id = $run
		UNION ALL
		SELECT source_id, pid, device_id, context_id, stream_id, start_ns, start_ns + duration_ns, false, (hash(operation, src_memory, dst_memory) >> 1)::BIGINT, size_bytes, graph_node_id, launch_start_ns, correlation_id, range_context_id, path_id
		FROM memop WHERE run_id = $run AND NOT contains(operation, 'Host-to-Host')),
	walk AS (
		SELECT w.*, max(w.end_ns) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until, lag((w.launch_start_ns, w.correlation_id)) OVER earlier AS last_launch,
			lag((w.start_ns, w.end_ns, w.label, w.more, w.graph_node_id, w.launch_start_ns, w.correlation_id)) OVER earlier AS last
		FROM work w
		WINDOW earlier AS (PARTITION BY w.source_id, w.pid, w.device_id, w.context_id, w.stream_id ORDER BY w.start_ns, w.end_ns, w.label, w.more, w.graph_node_id, w.correlation_id, w.launch_start_ns)),
	fault AS (
		SELECT w.source_id, w.pid, w.device_id, CASE
				WHEN w.is_kernel AND w.end_ns = w.start_ns THEN 'no-time'
				WHEN w.start_ns < w.launch_start_ns THEN 'work-before-launch'
				WHEN w.last IS NOT NULL AND w.last IS NOT DISTINCT FROM (w.start_ns, w.end_ns, w.label, w.more, w.graph_node_id, w.launch_start_ns, w.correlation_id) THEN 'repeated-records'
				WHEN w.launch_start_ns IS NOT NULL AND w.end_ns <= w.until AND w.end_ns > w.start_ns AND w.last_launch IS DISTINCT FROM (w.launch_start_ns, w.correlation_id) THEN 'stream-overlap'
			END AS kind, w.range_context_id, w.path_id, count(*) AS work_count, min(w.start_ns) AS first_start_ns, max(w.start_ns) AS last_start_ns, sum(w.end_ns - w.start_ns)::BIGINT AS sum_ns
		FROM walk w GROUP BY ALL HAVING kind IS NOT NULL),
	known AS (SELECT source_id, device_id, kind, sum(work_count) AS n FROM work_fault WHERE run_id = $run GROUP BY ALL),
	more AS (
		SELECT f.source_id, f.device_id, f.kind FROM (SELECT source_id, device_id, kind, sum(work_count) AS n FROM fault GROUP BY ALL) f LEFT JOIN known k USING (source_id, device_id, kind)
		WHERE f.n > coalesce(k.n, 0))
SELECT $run AS run_id, f.* FROM fault f JOIN more m USING (source_id, device_id, kind)`

// addFaults notes faults of device work that the run itself does not tell of, or fewer of.
func addFaults(ctx context.Context, q SQL, runID string) error {
	run := func(statement string) error {
		_, err := q.ExecContext(ctx, strings.ReplaceAll(statement, "$run", Quote(runID)+"::UUID"))
		return err
	}
	const found = "prof_work_fault"
	if err := run("CREATE OR REPLACE TEMP TABLE " + found + " AS " + workFaults); err != nil {
		return err
	}
	if err := run("DELETE FROM work_fault WHERE run_id = $run AND (source_id, device_id, kind) IN (SELECT (f.source_id, f.device_id, f.kind) FROM " + found + " f)"); err != nil {
		return err
	}
	if err := run("INSERT INTO work_fault BY NAME SELECT f.* FROM " + found + " f"); err != nil {
		return err
	}
	return run("DROP TABLE temp." + found)
}

// An id of a run's own names, paths, ranges and the like is the base of the run plus the number 1, 2, ... that the thing has within
// the run, so that no two runs share one and a join by id alone is right. 0 stands for none of them.

// idBits is the room for numbers below the bits of a base; an id has 63.
const idBits = 27

// MaxIDs is how many things of one kind a run can number.
const MaxIDs = 1<<idBits - 1

// IDBase is the base of a run: 36 bits of the MD5 of its id's text, as the macro _id_base tells it in SQL.
func IDBase(runID string) int64 {
	sum := md5.Sum([]byte(runID))
	return int64(binary.BigEndian.Uint64(sum[:8])>>(idBits+1)) << idBits
}

// IDNumber is the number that what has an id has within its run.
func IDNumber(id int64) int32 { return int32(id & MaxIDs) }

// idsOf says whose ids columns hold: those of a table, by the column that it has them in. Every row of a run that has one of them, and not 0, is of
// a row that is there.
var idsOf = []struct {
	table, key string
	by         []string
}{
	{"kernel_name", "kernel_name_id", []string{"kernel_name_id", "before_kernel_name_id", "after_kernel_name_id"}},
	{"kernel_shape", "kernel_shape_id", []string{"kernel_shape_id"}},
	{"api_name", "api_name_id", []string{"api_name_id", "launch_name_id"}},
	{"range_path", "path_id", []string{"path_id", "stage_path_id", "note_path_id", "name_path_id", "lineage"}},
	{"range_context", "range_context_id", []string{"range_context_id"}},
	{"nvtx_range", "range_id", []string{"range_id", "parent_range_id", "decode_range_id"}},
	{"op", "op_id", []string{"op_id", "parent_op_id", "forward_op_id"}},
	{"op_name", "op_name_id", []string{"op_name_id", "caller_op_name_id", "outermost_op_name_id", "op_name_ids"}},
	{"op_input", "op_input_id", []string{"op_input_id"}},
	{"python_stack", "stack_id", []string{"stack_id", "parent_stack_id", "own_stack_id", "file_stack_id"}},
	{"ncu_launch", "launch_id", []string{"launch_id"}},
	{"ncu_metric_name", "metric_id", []string{"metric_id"}},
	{"model", "model_id", []string{"model_id"}},
}

// idOwner is the table whose ids a column holds, or lists of them; "" for none.
func idOwner(table, column string) string {
	if column == "metric_id" && (table == "gpu_metric" || table == "gpu_metric_name") {
		return ""
	}
	for _, o := range idsOf {
		if slices.Contains(o.by, column) {
			return o.table
		}
	}
	return ""
}

// IsID reports whether a column holds ids of that kind, or lists of them.
func IsID(table, column string) bool { return idOwner(table, column) != "" }

// FreeRunID makes the id of a new run of the warehouse: one with a base that no other run has.
func FreeRunID(ctx context.Context, q SQL) (string, error) {
	runs, err := texts(q.QueryContext(ctx, `SELECT run_id::VARCHAR FROM run`))
	if err != nil {
		return "", fmt.Errorf("read the ids of runs: %w", err)
	}
	return freeRunID(runs, NewRunID)
}

func freeRunID(runs []string, draw func() (string, error)) (string, error) {
	taken := map[int64]bool{}
	for _, id := range runs {
		taken[IDBase(id)] = true
	}
	for {
		id, err := draw()
		if err != nil || !taken[IDBase(id)] {
			return id, err
		}
	}
}
