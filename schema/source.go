package schema

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ofSources are tables whose rows belong to those of another table, and go with them, by the column that both have.
var ofSources = []struct{ table, column, owner string }{
	{"ncu_range", "launch_id", "ncu_launch"}, {"ncu_rule_metric", "launch_id", "ncu_launch"},
	{"range_context", "range_id", "nvtx_range"}, {"range_device", "range_id", "nvtx_range"},
	{"model_layer", "model_id", "model"}, {"model_note", "model_id", "model"},
}

// namedOnce are tables of what the sources of a run share, by the columns that refer to it, and what keeps rows that these do not name.
var namedOnce = []struct {
	table, id string
	by        []string
	keep      string // SELECT of the ids to keep, made from those in kept.id; "" for these
}{
	{table: "kernel_name", id: "kernel_name_id", by: []string{"kernel_name_id", "before_kernel_name_id", "after_kernel_name_id"}},
	{table: "kernel_symbol", id: "kernel_name_id", by: []string{"kernel_name_id"}, // which no trace of PyTorch has
		keep: `SELECT k.kernel_name_id FROM kernel k JOIN source s ON s.run_id = k.run_id AND s.source_id = k.source_id WHERE k.run_id = $run AND s.kind <> 'torch'`},
	{table: "kernel_shape", id: "kernel_shape_id", by: []string{"kernel_shape_id"}},
	{table: "api_name", id: "api_name_id", by: []string{"api_name_id", "launch_name_id"}},
	{table: "ncu_metric_name", id: "metric_id", by: []string{"metric_id"}},
	{table: "op_name", id: "op_name_id", by: []string{"op_name_id"}},
	{table: "op_input", id: "op_input_id", by: []string{"op_input_id"}},
	{table: "python_stack", id: "stack_id", by: []string{"stack_id"}, keep: `SELECT o.id FROM outer_stack o`},
	{table: "range_path", id: "path_id", by: []string{"path_id"},
		keep: `SELECT unnest(p.lineage) AS id FROM range_path p WHERE p.path_id IN (SELECT kept.id FROM kept) OR p.run_id = $run AND p.path IN (SELECT e.path FROM stage_execution e WHERE e.run_id = $run)`},
}

// ClearSources deletes what sources of a run hold, but no facts that follow from it, inside a transaction of the caller.
func ClearSources(ctx context.Context, q SQL, runID string, sources ...string) error {
	if len(sources) == 0 {
		return nil
	}
	run, list := Quote(runID)+"::UUID", strings.Join(sources, ", ")
	lost := map[string]bool{} // tables that rows were deleted from
	exec := func(table, format string, args ...any) error {
		result, err := q.ExecContext(ctx, fmt.Sprintf(format, args...))
		if err != nil {
			return fmt.Errorf("from %s: %w", table, err)
		}
		n, err := result.RowsAffected()
		lost[table] = lost[table] || n > 0
		return err
	}
	own, columns, err := sourceTables(ctx, q)
	if err != nil {
		return err
	}
	// The sources that share a model of the workload's have it with the first of them.
	err = exec("", `UPDATE model SET source_id = (SELECT min(w.source_id) FROM workload w WHERE w.run_id = %[1]s AND w.model_id = model.model_id AND w.source_id NOT IN (%[2]s))
		WHERE run_id = %[1]s AND source_id IN (%[2]s) AND EXISTS (SELECT 1 FROM workload w WHERE w.run_id = %[1]s AND w.model_id = model.model_id AND w.source_id NOT IN (%[2]s))`, run, list)
	if err != nil {
		return err
	}
	for _, t := range own {
		if err := exec(t, `DELETE FROM %s WHERE run_id = %s AND source_id IN (%s)`, t, run, list); err != nil {
			return err
		}
	}
	if err := exec("capture_source", `DELETE FROM capture_source WHERE run_id = %s AND captured_source_id IN (%s)`, run, list); err != nil {
		return err
	}
	if lost["ncu_launch"] {
		if err := exec("ncu_section", `DELETE FROM ncu_section WHERE run_id = %[1]s AND source_id IS NULL AND NOT EXISTS (SELECT 1 FROM ncu_launch l WHERE l.run_id = %[1]s)`, run); err != nil {
			return err
		}
	}
	for _, t := range ofSources {
		own = append(own, t.table)
		if !lost[t.owner] {
			continue
		}
		if err := exec(t.table, `DELETE FROM %[1]s WHERE run_id = %[4]s AND %[2]s NOT IN (SELECT o.%[2]s FROM %[3]s o WHERE o.run_id = %[4]s)`, t.table, t.column, t.owner, run); err != nil {
			return err
		}
	}
	for _, n := range namedOnce {
		var kept []string
		isLess := false
		for _, t := range own {
			for _, column := range n.by {
				if slices.Contains(columns[t], column) && IsID(t, column) {
					kept = append(kept, fmt.Sprintf(`SELECT x.%[1]s FROM %[2]s x WHERE x.run_id = %[3]s AND x.%[1]s IS NOT NULL`, column, t, run))
					isLess = isLess || lost[t]
				}
			}
		}
		if !isLess {
			continue
		}
		err := exec(n.table, `DELETE FROM %[1]s WHERE run_id = %[2]s AND %[3]s NOT IN (WITH RECURSIVE kept(id) AS (%[4]s), outer_stack(id) AS (
			SELECT kept.id FROM kept UNION SELECT s.parent_stack_id FROM outer_stack o JOIN python_stack s ON s.stack_id = o.id WHERE s.parent_stack_id IS NOT NULL) %[5]s)`,
			n.table, run, n.id, strings.Join(kept, " UNION "), strings.ReplaceAll(cmp.Or(n.keep, `SELECT kept.id FROM kept`), "$run", run))
		if err != nil {
			return err
		}
	}
	return nil
}

// sourceTables returns the tables that hold rows of sources, facts not among them, and the columns of all tables.
func sourceTables(ctx context.Context, q querier) (own []string, columns map[string][]string, err error) {
	rows, err := q.QueryContext(ctx, `SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND schema_name = 'main' AND table_name IN
		(SELECT t.table_name FROM duckdb_tables() t WHERE NOT coalesce(starts_with(t.comment, ?), false)) ORDER BY table_name, column_index`, DocMark)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	columns = map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, nil, err
		}
		columns[table] = append(columns[table], column)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	tables, err := runTables(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range tables { // a table that the user made is the user's
		if slices.Contains(columns[t], "source_id") {
			own = append(own, t)
		}
	}
	return own, columns, nil
}

// DevicesWithPeaks are the names of devices that the warehouse has peaks of, by alias too.
func (w *Warehouse) DevicesWithPeaks(ctx context.Context) ([]string, error) {
	return texts(w.DB.QueryContext(ctx, `SELECT p.device FROM device_peak p UNION SELECT a.alias FROM device_alias a ORDER BY 1`))
}

// countedApart are tables whose numbers of GPUs are not those of a capture's work: NVML's, and PyTorch's own of a process.
var countedApart = []string{"capture_device", "device_sample", "execution_memory"}

// RenumberDevices gives GPUs of a source other numbers.
func RenumberDevices(ctx context.Context, q SQL, runID string, source int, numbers map[int]int) error {
	own, columns, err := sourceTables(ctx, q)
	if err != nil {
		return err
	}
	var cases, from []string
	for was, is := range numbers {
		cases, from = append(cases, fmt.Sprintf("WHEN %d THEN %d", was, is)), append(from, strconv.Itoa(was))
	}
	set := func(table, column, where string) error {
		_, err := q.ExecContext(ctx, fmt.Sprintf(`UPDATE %s SET %s = CASE %[2]s %s END WHERE run_id = %s::UUID AND %s AND %[2]s IN (%[6]s)`,
			table, column, strings.Join(cases, " "), Quote(runID), where, strings.Join(from, ", ")))
		if err != nil {
			return fmt.Errorf("number the GPUs of %s: %w", table, err)
		}
		return nil
	}
	ofSource := fmt.Sprintf(`source_id = %d`, source)
	for _, t := range own {
		for _, c := range []string{"device_id", "record_device_id"} {
			if slices.Contains(countedApart, t) || !slices.Contains(columns[t], c) {
				continue
			}
			if err := set(t, c, ofSource); err != nil {
				return err
			}
		}
	}
	for _, t := range ofSources {
		if !slices.Contains(columns[t.table], "device_id") {
			continue
		}
		if err := set(t.table, "device_id", fmt.Sprintf(`%[1]s IN (SELECT o.%[1]s FROM %[2]s o WHERE o.run_id = %[3]s::UUID AND o.%[4]s)`, t.column, t.owner, Quote(runID), ofSource)); err != nil {
			return err
		}
	}
	return nil
}
