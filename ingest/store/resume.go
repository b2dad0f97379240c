package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"prof/ingest/load"
	"prof/schema"
)

// resumedTables are tables that StoreShared and torch.StoreStacks store anew: a later source may know what those before did not say.
var resumedTables = []string{"kernel_name", "kernel_shape", "kernel_symbol", "api_name", "ncu_metric_name", "op_name", "range_path", "python_stack"}

// clearShared deletes what StoreShared stores, of a run that has it.
func (s *Store) clearShared(ctx context.Context) error {
	if !s.resumed {
		return nil
	}
	for _, table := range resumedTables {
		if _, err := s.conn.ExecContext(ctx, `DELETE FROM `+table+` WHERE run_id = ?::UUID`, s.RunID); err != nil {
			return fmt.Errorf("clear %s: %w", table, err)
		}
	}
	return nil
}

// Resume takes up a run that is stored: Run knows its names and goes on behind its numbers.
func (s *Store) Resume(ctx context.Context) error {
	s.resumed = true
	r := s.Run
	var last [5]sql.NullInt64
	err := s.conn.QueryRowContext(ctx, `SELECT (SELECT max(range_id) FROM nvtx_range WHERE run_id = r.id), (SELECT max(range_context_id) FROM range_context WHERE run_id = r.id),
		(SELECT max(op_id) FROM op WHERE run_id = r.id), (SELECT max(model_id) FROM model WHERE run_id = r.id), (SELECT max(launch_id) FROM ncu_launch WHERE run_id = r.id)
		FROM (SELECT ?::UUID AS id) r`, s.RunID).Scan(&last[0], &last[1], &last[2], &last[3], &last[4])
	if err != nil {
		return fmt.Errorf("read the numbers of the run: %w", err)
	}
	for i, to := range []*int32{&r.RangeID, &r.ContextID, &r.OpID, &r.ModelID, &r.LaunchID} {
		*to = schema.IDNumber(last[i].Int64)
	}
	parent := func(column string) string { return `(` + column + ` & ` + strconv.Itoa(schema.MaxIDs) + `)::VARCHAR` }
	for _, names := range [][2]string{
		{"kernel_name", `kernel_name_id, name, short_name`},
		{"kernel_symbol", `kernel_name_id, symbol`},
		{"api_name", `api_name_id, name`},
		{"ncu_metric_name", `metric_id, name, unit`},
		{"op_name", `op_name_id, name`},
		{"op_input", `op_input_id, shapes, types, strides, concrete`},
		{"range_path", `path_id, domain, name, ` + parent("lineage[-2]")},
		{"python_stack", `stack_id, '', function, ` + parent("parent_stack_id")},
		{"kernel_shape", `kernel_shape_id, ` + strings.Join(load.ShapeNames, "::VARCHAR, ") + `::VARCHAR`},
	} {
		if err := s.restoreNames(ctx, names[0], names[1]); err != nil {
			return fmt.Errorf("read the names of the run: %w", err)
		}
	}
	return nil
}

// restoreNames gives the run the names in a table, which are in columns for an id and texts, by id.
func (s *Store) restoreNames(ctx context.Context, table, columns string) error {
	found, err := s.conn.QueryContext(ctx, `SELECT `+columns+` FROM `+table+` WHERE run_id = ?::UUID ORDER BY 1`, s.RunID)
	if err != nil {
		return err
	}
	defer found.Close()
	names, err := found.Columns()
	if err != nil {
		return err
	}
	var id int64
	text := make([]*string, len(names)-1)
	into := []any{&id}
	for i := range text {
		into = append(into, &text[i])
	}
	for found.Next() {
		if err := found.Scan(into...); err != nil {
			return err
		}
		if err := s.Run.Restore(table, schema.IDNumber(id), text); err != nil {
			return err
		}
	}
	return found.Err()
}
