package load

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"prof/schema"
)

// A run that grows goes on with the numbers that it has: its sources share them. Numbers of what a source that was taken out had alone are not
// given again.

// resumedTables are tables that StoreShared and torch.StoreStacks store anew: a later source may know what those before did not say.
var resumedTables = []string{"kernel_name", "kernel_shape", "kernel_symbol", "api_name", "ncu_metric_name", "op_name", "range_path", "python_stack"}

// clearShared deletes what StoreShared stores, of a run that has it.
func (t *Target) clearShared(ctx context.Context) error {
	if !t.resumed {
		return nil
	}
	for _, table := range resumedTables {
		if _, err := t.conn.ExecContext(ctx, `DELETE FROM `+table+` WHERE run_id = ?::UUID`, t.RunID); err != nil {
			return fmt.Errorf("clear %s: %w", table, err)
		}
	}
	return nil
}

// Resume takes up a run that is stored: Run knows its names and goes on behind its numbers.
func (t *Target) Resume(ctx context.Context) error {
	t.resumed = true
	r := t.Run
	var last [5]sql.NullInt64
	err := t.conn.QueryRowContext(ctx, `SELECT (SELECT max(range_id) FROM nvtx_range WHERE run_id = r.id), (SELECT max(range_context_id) FROM range_context WHERE run_id = r.id),
		(SELECT max(op_id) FROM op WHERE run_id = r.id), (SELECT max(model_id) FROM model WHERE run_id = r.id), (SELECT max(launch_id) FROM ncu_launch WHERE run_id = r.id)
		FROM (SELECT ?::UUID AS id) r`, t.RunID).Scan(&last[0], &last[1], &last[2], &last[3], &last[4])
	if err != nil {
		return fmt.Errorf("read the numbers of the run: %w", err)
	}
	for i, to := range []*int32{&r.RangeID, &r.ContextID, &r.OpID, &r.ModelID, &r.launches} {
		*to = schema.IDNumber(last[i].Int64)
	}
	for _, names := range []struct {
		query string
		to    func(id int32, text []sql.NullString) error
	}{
		{`SELECT kernel_name_id, name, short_name FROM kernel_name`, func(id int32, text []sql.NullString) error { return r.Kernels.restore(id, text) }},
		{`SELECT kernel_name_id, symbol FROM kernel_symbol`, func(id int32, text []sql.NullString) error {
			r.Symbols.Add(id, text[0].String)
			return nil
		}},
		{`SELECT api_name_id, name FROM api_name`, func(id int32, text []sql.NullString) error { return r.APIs.restore(id, text[0].String) }},
		{`SELECT metric_id, name, unit FROM ncu_metric_name`, func(id int32, text []sql.NullString) error { return r.Metrics.restore(id, text) }},
		{`SELECT op_name_id, name FROM op_name`, func(id int32, text []sql.NullString) error { return r.Operators.restore(id, text[0].String) }},
		{`SELECT op_input_id, shapes, types, strides, concrete FROM op_input`, func(id int32, text []sql.NullString) error {
			return r.Inputs.restore(id, InputKey(text[0].String, text[1].String, text[2].String, text[3].String))
		}},
		{`SELECT path_id, domain, name, (lineage[-2] & ` + strconv.Itoa(schema.MaxIDs) + `)::VARCHAR FROM range_path`, func(id int32, text []sql.NullString) error { return r.Paths.restore(id, text) }},
		{`SELECT stack_id, '', function, (parent_stack_id & ` + strconv.Itoa(schema.MaxIDs) + `)::VARCHAR FROM python_stack`, func(id int32, text []sql.NullString) error { return r.Stacks.restore(id, text) }},
		{`SELECT kernel_shape_id, ` + strings.Join(shapeTexts(), ", ") + ` FROM kernel_shape`, func(id int32, text []sql.NullString) error { return r.restoreShape(id, text) }},
	} {
		if err := t.eachNamed(ctx, names.query, names.to); err != nil {
			return fmt.Errorf("read the names of the run: %w", err)
		}
	}
	return nil
}

// eachNamed gives the rows of a query for an id and texts, by id.
func (t *Target) eachNamed(ctx context.Context, query string, to func(id int32, text []sql.NullString) error) error {
	rows, err := t.conn.QueryContext(ctx, query+` WHERE run_id = ?::UUID ORDER BY 1`, t.RunID)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var id int64
	text := make([]sql.NullString, len(columns)-1)
	into := []any{&id}
	for i := range text {
		into = append(into, &text[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := to(schema.IDNumber(id), text); err != nil {
			return err
		}
	}
	return rows.Err()
}

// restore gives a name the number that it has. Smaller ones that no name has stay free.
func (n *Numbers) restore(id int32, name string) error {
	if int(id) <= len(n.names) {
		return fmt.Errorf("internal error: number %d of %q is taken", id, name)
	}
	if n.ids == nil {
		n.ids, n.gone = map[string]int32{}, map[int]bool{}
	}
	for len(n.names) < int(id)-1 {
		n.gone[len(n.names)] = true
		n.names = append(n.names, "")
	}
	n.names = append(n.names, name)
	if _, ok := n.ids[name]; !ok { // else names that are one since secrets in them are masked
		n.ids[name] = id
	}
	return nil
}

func (n *Names) restore(id int32, text []sql.NullString) error {
	if err := n.numbers.restore(id, text[0].String); err != nil || !text[1].Valid {
		return err
	}
	second := text[1].String
	n.Add(text[0].String, &second)
	return nil
}

func (p *Paths) restore(id int32, text []sql.NullString) error {
	parent, err := strconv.ParseInt(text[2].String, 10, 32)
	if text[2].Valid && err != nil {
		return err
	}
	if int(id) <= len(p.list) || parent >= int64(id) {
		return fmt.Errorf("internal error: path %d of %q is taken, or its parent %d comes later", id, text[1].String, parent)
	}
	for len(p.list) < int(id)-1 {
		p.list = append(p.list, Path{})
	}
	k := pathKey{int32(parent), text[0].String, text[1].String}
	depth := int32(1)
	if parent > 0 {
		depth = p.list[parent-1].Depth + 1
	}
	if p.ids == nil {
		p.ids = map[pathKey]int32{}
	}
	p.list = append(p.list, Path{k.parent, depth, k.domain, k.name})
	if _, ok := p.ids[k]; !ok { // see Numbers.restore
		p.ids[k] = id
	}
	return nil
}

// IsGone says whether the path was one of a source that was taken out.
func (p Path) IsGone() bool { return p.Depth == 0 }

// shapeColumns are the values of a Shape in kernel_shape.
var shapeColumns = []string{"grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "register_count", "static_shared_bytes", "dynamic_shared_bytes"}

func shapeTexts() []string {
	out := make([]string, len(shapeColumns))
	for i, c := range shapeColumns {
		out[i] = c + "::VARCHAR"
	}
	return out
}

func (r *Run) restoreShape(id int32, text []sql.NullString) error {
	var s Shape
	for i, v := range text {
		if v.Valid {
			n, err := strconv.ParseInt(v.String, 10, 32)
			if err != nil {
				return err
			}
			s.Set(i, int32(n))
		}
	}
	keys := &r.shapes.keys
	for len(keys.List) < int(id)-1 {
		keys.List = append(keys.List, Shape{Known: goneShape})
	}
	if r.ShapeID(s) != id {
		return fmt.Errorf("internal error: launch shape %d has another number", id)
	}
	return nil
}

// goneShape marks the number of a shape that only a source which was taken out had.
const goneShape = 1 << 15
