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
	"workload.capture":                 terms.Kinds(terms.Source.IsProfiler),
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

// odd are conditions of rows that no ingest stores, and what is said of them.
var odd = map[string][2]string{
	"ncu_rule": {"NOT regexp_full_match(severity, 'none|ok|warning|error|optimization|type [0-9]+') OR speedup_scope NOT IN ('local', 'global') AND NOT regexp_full_match(speedup_scope, 'type [0-9]+')", "severity or speedup_scope has a word that stands for nothing"},
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

// keys are columns that no two rows of a table have alike.
var keys = []struct{ table, by string }{
	{"device", "source_id, device_id"}, {"process", "source_id, pid"}, {"thread", "source_id, pid, tid"}, {"workload", "source_id"}, {"source_part", "source_id, part"},
	{"range_device", "range_id, device_id"}, {"device_time", "source_id, device_id, range_id"}, {"idle_part", "source_id, device_id, range_id, part"}, {"unseen_work", "source_id, device_id"},
	{"gap", "source_id, device_id, start_ns"}, {"gap_part", "source_id, device_id, start_ns, part"}, {"gap_sum", "source_id, pattern_id"}, {"gap_sum_part", "source_id, pattern_id, part"},
	{"ncu_metric", "launch_id, metric_id"}, {"ncu_rule", "launch_id, finding_id"},
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
	if is := odd[table]; is[0] != "" {
		fault(is[0], is[1])
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
	for _, k := range keys {
		if counts[k.table] > 0 {
			asks = append(asks, `SELECT `+Quote("table "+k.table+": rows have the same "+k.by)+` AS said WHERE EXISTS (SELECT 1 FROM `+k.table+` WHERE run_id = $run GROUP BY `+k.by+` HAVING count(*) > 1)`)
		}
	}
	has := func(t string) bool { return counts[t] > 0 }
	for _, w := range wrongTies {
		if slices.ContainsFunc(w.tables, has) {
			asks = append(asks, `SELECT `+Quote(w.says)+` AS said WHERE EXISTS (SELECT 1 `+w.where+`)`)
		}
	}
	if len(asks) == 0 {
		return nil
	}
	said, err := texts(q.QueryContext(ctx, strings.ReplaceAll(strings.Join(asks, "\nUNION ALL "), "$run", Quote(s.runID)+"::UUID")))
	if err == nil && len(said) == 0 && slices.ContainsFunc(ofWork, has) {
		said, err = checkSums(ctx, q, s.runID)
	}
	if err == nil && len(said) > 0 {
		err = fmt.Errorf("%s"+changed, said[0])
	}
	return err
}

// isDense reports whether the ids of a table are all numbers from 1 on.
func (s *sound) isDense(owner string) bool {
	return s.owners[owner][1] == s.most[[2]string{owner, keyOf(owner)}]
}

// ofWork are the tables with device work, and those with what an ingest adds up of it.
var ofWork = []string{"kernel", "memop", "graph_launch", "range_device", "device_time", "idle_part", "gap", "gap_part", "gap_sum", "gap_sum_part"}

// walked is the work of each GPU in the order of its start. A piece is alone where no other one runs beside it, and early where the capture has it from before
// work that it does not have.
const walked = `CREATE OR REPLACE TEMP TABLE prof_walk AS
	WITH cut AS (SELECT source_id, device_id, max(start_ns + duration_ns) AS cut_ns FROM unseen_work WHERE run_id = $run GROUP BY ALL),
	work AS (
		SELECT source_id, device_id, range_context_id, start_ns, start_ns + duration_ns AS end_ns, 'k' AS kind FROM kernel WHERE run_id = $run
		UNION ALL SELECT source_id, device_id, range_context_id, start_ns, start_ns + duration_ns, 'm' FROM memop WHERE run_id = $run
		UNION ALL SELECT source_id, device_id, range_context_id, start_ns, start_ns + duration_ns, 'g' FROM graph_launch WHERE run_id = $run AND mode = 'graph'),
	walk AS (
		SELECT w.*, max(w.end_ns) OVER (o ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns, lead(w.start_ns) OVER o AS next_ns
		FROM work w WINDOW o AS (PARTITION BY w.source_id, w.device_id ORDER BY w.start_ns, w.end_ns))
	SELECT w.source_id, w.device_id, w.range_context_id, w.start_ns, w.end_ns, w.kind, w.until_ns, c.cut_ns, coalesce(w.start_ns < c.cut_ns, false) AS is_early,
		w.start_ns >= coalesce(w.until_ns, w.start_ns) AND w.end_ns <= coalesce(w.next_ns, w.end_ns) AS is_alone
	FROM walk w LEFT JOIN cut c USING (source_id, device_id)`

// gapped are the times in which nothing ran on a GPU, with the sums to each.
const gapped = `CREATE OR REPLACE TEMP TABLE prof_gap AS
	SELECT source_id, device_id, until_ns AS start_ns, start_ns AS end_ns, coalesce(start_ns <= cut_ns, false) AS is_early,
		sum(start_ns - until_ns) OVER o AS idle_ns, count(*) OVER o AS n
	FROM prof_walk WHERE start_ns > until_ns
	WINDOW o AS (PARTITION BY source_id, device_id ORDER BY until_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`

// summed is the work of each range on each GPU, and all of a GPU's (range_id is NULL), added up as an ingest does it: what spans work that is not
// seen begins at its end.
const summed = `CREATE OR REPLACE TEMP TABLE prof_sum AS
	WITH context AS (
		SELECT source_id, device_id, range_context_id, is_early, max(cut_ns) AS cut_ns, min(start_ns) AS start_ns, max(end_ns) AS end_ns, sum(end_ns - start_ns) AS sum_ns,
			sum(end_ns - start_ns) FILTER (WHERE kind = 'k') AS kernel_sum_ns, count(*) FILTER (WHERE kind = 'k') AS kernels, count(*) FILTER (WHERE kind = 'm') AS memops, count(*) FILTER (WHERE kind = 'g') AS graphs,
			sum(end_ns - start_ns) FILTER (WHERE is_alone) AS busy_ns, sum(end_ns - start_ns) FILTER (WHERE is_alone AND kind <> 'm') AS traced_ns, sum(end_ns - start_ns) FILTER (WHERE is_alone AND kind = 'k') AS kernel_ns
		FROM prof_walk GROUP BY ALL),
	piece AS (
		SELECT w.source_id, w.device_id, c.range_id, w.is_early, w.start_ns, w.end_ns, w.kind FROM prof_walk w JOIN range_context c ON c.run_id = $run AND c.range_context_id = w.range_context_id WHERE NOT w.is_alone
		UNION ALL SELECT source_id, device_id, NULL, is_early, start_ns, end_ns, kind FROM prof_walk WHERE NOT is_alone),
	walk AS (
		SELECT p.*, max(p.end_ns) OVER o AS until_ns, max(CASE WHEN p.kind <> 'm' THEN p.end_ns END) OVER o AS traced_until_ns, max(CASE WHEN p.kind = 'k' THEN p.end_ns END) OVER o AS kernel_until_ns
		FROM piece p WINDOW o AS (PARTITION BY p.source_id, p.device_id, p.range_id, p.is_early ORDER BY p.start_ns, p.end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
	part AS (
		SELECT x.source_id, x.device_id, c.range_id, x.* EXCLUDE (source_id, device_id, range_context_id) FROM context x JOIN range_context c ON c.run_id = $run AND c.range_context_id = x.range_context_id
		UNION ALL SELECT x.source_id, x.device_id, NULL, x.* EXCLUDE (source_id, device_id, range_context_id) FROM context x
		UNION ALL SELECT source_id, device_id, range_id, is_early, NULL, NULL, NULL, 0, 0, 0, 0, 0,
			sum(greatest(0, end_ns - greatest(start_ns, coalesce(until_ns, start_ns)))),
			sum(greatest(0, end_ns - greatest(start_ns, coalesce(traced_until_ns, start_ns)))) FILTER (WHERE kind <> 'm'),
			sum(greatest(0, end_ns - greatest(start_ns, coalesce(kernel_until_ns, start_ns)))) FILTER (WHERE kind = 'k')
		FROM walk GROUP BY ALL),
	whole AS (
		SELECT source_id, device_id, range_id, coalesce(max(end_ns) > max(cut_ns) AND bool_or(is_early), false) AS is_cut, min(start_ns) AS first_ns, max(end_ns) AS end_ns, max(cut_ns) AS cut_ns,
			sum(sum_ns) AS sum_ns, sum(kernel_sum_ns) AS kernel_sum_ns, sum(kernels) AS kernels, sum(memops) AS memops, sum(graphs) AS graphs,
			sum(busy_ns) AS busy_ns, sum(traced_ns) AS traced_ns, sum(kernel_ns) AS kernel_ns,
			sum(busy_ns) FILTER (WHERE NOT is_early) AS late_busy_ns, sum(traced_ns) FILTER (WHERE NOT is_early) AS late_traced_ns, sum(kernel_ns) FILTER (WHERE NOT is_early) AS late_kernel_ns
		FROM part GROUP BY ALL)
	SELECT source_id, device_id, range_id, CASE WHEN is_cut THEN cut_ns ELSE first_ns END AS start_ns, end_ns, sum_ns, coalesce(kernel_sum_ns, 0) AS kernel_sum_ns, kernels, memops, graphs,
		coalesce(CASE WHEN is_cut THEN late_busy_ns ELSE busy_ns END, 0) AS busy_ns, coalesce(CASE WHEN is_cut THEN late_traced_ns ELSE traced_ns END, 0) AS traced_ns,
		coalesce(CASE WHEN is_cut THEN late_kernel_ns ELSE kernel_ns END, 0) AS kernel_ns
	FROM whole`

// idled is the idle time of the spans.
const idled = `CREATE OR REPLACE TEMP TABLE prof_idle AS
	SELECT s.source_id, s.device_id, s.range_id, coalesce(e.idle_ns, 0) - coalesce(b.idle_ns, 0) AS idle_ns, coalesce(e.n, 0) - coalesce(b.n, 0) AS n
	FROM prof_sum s ASOF LEFT JOIN prof_gap b ON b.source_id = s.source_id AND b.device_id = s.device_id AND b.start_ns < s.start_ns
	ASOF LEFT JOIN prof_gap e ON e.source_id = s.source_id AND e.device_id = s.device_id AND e.start_ns < s.end_ns`

// wrongSums find what does not follow from the work, in the order in which they are to be said.
var wrongSums = []struct{ says, where string }{
	{"the durations of kernels in ranges do not add up to those of range_device",
		`FROM (SELECT * FROM prof_sum WHERE range_id IS NOT NULL) s FULL JOIN (SELECT * FROM range_device WHERE run_id = $run) d USING (range_id, device_id)
		WHERE (s.kernel_sum_ns, s.kernels) IS DISTINCT FROM (d.kernel_sum_ns, d.kernel_count)`},
	{"the work of ranges on GPUs is not that of range_device",
		`FROM (SELECT * FROM prof_sum WHERE range_id IS NOT NULL) s JOIN range_device d ON d.run_id = $run AND d.range_id = s.range_id AND d.device_id = s.device_id
		WHERE (s.start_ns, s.end_ns, s.busy_ns, s.sum_ns, s.memops, s.graphs) IS DISTINCT FROM (d.first_start_ns, d.last_end_ns, d.busy_ns, d.sum_ns, d.memop_count, d.graph_count)`},
	{"the time in which kernels and copies ran on a GPU is not that of device_time",
		`FROM prof_sum s FULL JOIN (SELECT * FROM device_time WHERE run_id = $run) d ON d.source_id = s.source_id AND d.device_id = s.device_id AND d.range_id IS NOT DISTINCT FROM s.range_id
		WHERE (s.start_ns, s.end_ns, s.kernel_ns, s.traced_ns, s.busy_ns) IS DISTINCT FROM (d.start_ns, d.end_ns, d.kernel_ns, d.kernel_ns + d.graph_ns, d.kernel_ns + d.graph_ns + d.copy_ns)`},
	{"the idle time between kernels is not that of device_time and idle_part",
		`FROM prof_idle s JOIN device_time d ON d.run_id = $run AND d.source_id = s.source_id AND d.device_id = s.device_id AND d.range_id IS NOT DISTINCT FROM s.range_id
		LEFT JOIN (SELECT source_id, device_id, range_id, sum(ns) AS ns FROM idle_part WHERE run_id = $run GROUP BY ALL) p ON p.source_id = s.source_id AND p.device_id = s.device_id AND p.range_id IS NOT DISTINCT FROM s.range_id
		WHERE (s.idle_ns, s.n) IS DISTINCT FROM (coalesce(p.ns, 0), d.gap_count) OR d.end_ns - d.start_ns <> d.kernel_ns + d.graph_ns + d.copy_ns + d.other_ns + s.idle_ns`},
	{"the gaps between kernels do not add up to those of gap_sum",
		`FROM (SELECT source_id, device_id, sum(end_ns - start_ns) AS ns, count(*) AS n, max(end_ns - start_ns) AS most FROM prof_gap WHERE NOT is_early GROUP BY ALL) s
		FULL JOIN (SELECT source_id, device_id, sum(duration_ns) AS ns, sum(gap_count) AS n, max(max_ns) AS most, bool_or(max_ns > duration_ns OR max_ns * gap_count < duration_ns) AS is_odd
			FROM gap_sum WHERE run_id = $run GROUP BY ALL) g USING (source_id, device_id)
		WHERE (s.ns, s.n, s.most, false) IS DISTINCT FROM (g.ns, g.n, g.most, g.is_odd)`},
	{"the parts of gap_sum are not its time",
		`FROM (SELECT source_id, pattern_id, duration_ns AS ns FROM gap_sum WHERE run_id = $run) s FULL JOIN (SELECT source_id, pattern_id, sum(ns) AS ns FROM gap_sum_part WHERE run_id = $run GROUP BY ALL) p USING (source_id, pattern_id)
		WHERE s.ns IS DISTINCT FROM p.ns`},
	{"the parts of gap_sum are not those of idle_part",
		`FROM (SELECT g.source_id, g.device_id, p.part, sum(p.ns) AS ns FROM gap_sum g JOIN gap_sum_part p USING (run_id, source_id, pattern_id) WHERE g.run_id = $run GROUP BY ALL) s
		FULL JOIN (SELECT source_id, device_id, part, sum(ns) AS ns FROM idle_part WHERE run_id = $run AND range_id IS NULL GROUP BY ALL) p USING (source_id, device_id, part)
		WHERE s.ns IS DISTINCT FROM p.ns`},
	{"rows of gap are no gaps between kernels",
		`FROM (SELECT * FROM gap WHERE run_id = $run) g LEFT JOIN prof_gap s USING (source_id, device_id, start_ns)
		LEFT JOIN (SELECT source_id, device_id, start_ns, sum(ns) AS ns, max(ns) AS most, max(ns) FILTER (WHERE part = any_part) AS own FROM (
			SELECT p.*, g.part AS any_part FROM gap_part p JOIN gap g USING (run_id, source_id, device_id, start_ns) WHERE p.run_id = $run) GROUP BY ALL) p USING (source_id, device_id, start_ns)
		WHERE (g.duration_ns, g.duration_ns, p.most) IS DISTINCT FROM (s.end_ns - s.start_ns, p.ns, p.own)`},
}

// checkSums says what an ingest adds up of the work on GPUs and is not the sum of it.
func checkSums(ctx context.Context, q SQL, runID string) (said []string, err error) {
	run := strings.NewReplacer("$run", Quote(runID)+"::UUID")
	for _, statement := range []string{walked, gapped, summed, idled} {
		if _, err := q.ExecContext(ctx, run.Replace(statement)); err != nil {
			return nil, err
		}
	}
	var asks []string
	for _, w := range wrongSums {
		asks = append(asks, `SELECT `+Quote(w.says)+` AS said WHERE EXISTS (SELECT 1 `+run.Replace(w.where)+`)`)
	}
	if said, err = texts(q.QueryContext(ctx, strings.Join(asks, "\nUNION ALL "))); err != nil {
		return nil, err
	}
	for _, t := range []string{"walk", "gap", "sum", "idle"} {
		if _, err := q.ExecContext(ctx, `DROP TABLE temp.prof_`+t); err != nil {
			return nil, err
		}
	}
	return said, nil
}

// wrongTies find rows that say something else than those that they belong to.
var wrongTies = []struct {
	tables      []string // rows of any of which are held
	says, where string
}{
	{[]string{"range_path"}, "lineages of range_path are not those of paths",
		`FROM range_path p LEFT JOIN range_path o ON o.run_id = $run AND o.path_id = p.lineage[-2] WHERE p.run_id = $run
		AND (p.lineage[-1] IS DISTINCT FROM p.path_id OR len(p.lineage) <> p.depth OR p.depth > 1 AND p.lineage[:-2] IS DISTINCT FROM o.lineage)`},
	{[]string{"nvtx_range"}, "ranges begin outside of the one that they are in",
		`FROM nvtx_range n JOIN nvtx_range o ON o.run_id = $run AND o.range_id = n.parent_range_id WHERE n.run_id = $run AND n.start_ns NOT BETWEEN o.start_ns AND coalesce(o.start_ns + o.duration_ns, n.start_ns)`},
	{[]string{"kernel", "memop", "graph_launch"}, "work was launched outside of the ranges that it is in",
		`FROM (SELECT range_context_id, min(path_id) AS path_id, max(path_id) AS last_path_id, min(launch_start_ns) AS first_ns, max(launch_start_ns) AS last_ns FROM (
				SELECT range_context_id, path_id, launch_start_ns FROM kernel WHERE run_id = $run
				UNION ALL SELECT range_context_id, path_id, launch_start_ns FROM memop WHERE run_id = $run
				UNION ALL SELECT range_context_id, path_id, launch_start_ns FROM graph_launch WHERE run_id = $run) WHERE range_context_id <> 0 GROUP BY ALL) k
		JOIN range_context c ON c.run_id = $run AND c.range_context_id = k.range_context_id JOIN nvtx_range n ON n.run_id = $run AND n.range_id = c.range_id
		WHERE k.path_id <> c.path_id OR k.last_path_id <> c.path_id OR k.first_ns < n.start_ns OR k.last_ns > n.start_ns + n.duration_ns`},
	{[]string{"api_sum", "api_duration"}, "the calls of api_duration do not add up to those of api_sum",
		`FROM (SELECT source_id, api_name_id, sum(call_count) AS n, sum(sum_ns) AS ns FROM api_sum WHERE run_id = $run GROUP BY ALL) s
		FULL JOIN (SELECT source_id, api_name_id, sum(call_count) AS n, sum(call_count * duration_ns) AS ns FROM api_duration WHERE run_id = $run GROUP BY ALL) d USING (source_id, api_name_id)
		WHERE (s.n, s.ns) IS DISTINCT FROM (d.n, d.ns)`},
	{[]string{"source_part"}, "of parts of sources more rows were stored than read", `FROM source_part WHERE run_id = $run AND stored_count > read_count`},
}

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
