package load

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"unsafe"

	"prof/schema"
)

// Apart gives a target that keeps all rows of a source in memory, and numbers ranges, names and the like as though the run had no other
// source: so several can be read side by side. It is for formats of timelines; Adopt stores the rows.
func (t *Target) Apart() *Target {
	o := t.Options
	o.Threads, o.Progress, o.Outside = 1, nil, nil
	a := &Target{RunID: t.RunID, Options: o, Run: &Run{}, byKey: map[string]*gathered{}, gathers: true, apart: true}
	if n := len(t.spare); n > 0 {
		a.scratch, t.spare = t.spare[n-1], t.spare[:n-1]
	}
	return a
}

// Adopt stores what a target apart keeps, as the source that t is at, with the numbers that it would have got there. It uses a up.
func (t *Target) Adopt(ctx context.Context, a *Target) error {
	numbers := t.Run.take(a.Run)
	t.spare = append(t.spare, a.scratch)
	for _, g := range a.waiting {
		names, err := t.columnsOf(ctx, g.table)
		if err != nil {
			return err
		}
		if len(g.pieces) > 0 {
			for i := range g.pieces {
				if err := numbers.renumber(g.table, g.columns, &g.pieces[i]); err != nil {
					return err
				}
				if err := g.pieces[i].onNode(g.columns, t.Devices); err != nil {
					return err
				}
				g.pieces[i].source = int32(t.SourceID)
			}
			if err := t.keep(ctx, g.table, slices.Contains(names, "source_id"), g.columns, g.pieces, g.n); err != nil {
				return err
			}
		}
		if len(g.rows) > 0 {
			if err := t.adoptRows(ctx, g, names, numbers); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Target) adoptRows(ctx context.Context, g *gathered, names []string, numbers *numbers) error {
	source := slices.Index(names, "source_id")
	ids := map[int]renumbered{} // by place of the column
	for i, name := range names {
		if schema.IsID(g.table, name) {
			n, err := numbers.of(g.table, name)
			if err != nil {
				return err
			}
			ids[i] = n
		}
	}
	_, err := t.Append(ctx, g.table, func(add func(...driver.Value) error) error {
		for _, row := range g.rows {
			if source >= 0 {
				row[source] = int32(t.SourceID)
			}
			isKnown := false
			for i, n := range ids {
				switch v := row[i].(type) {
				case nil:
				case int32:
					id := int32(n.new(int64(v)))
					row[i], isKnown = id, g.table == inputTable && id <= numbers.inputsBefore
				case int64:
					row[i] = n.new(v)
				default:
					return fmt.Errorf("%s.%s of a source apart is a %T", g.table, names[i], v)
				}
			}
			if isKnown { // another source stored it
				continue
			}
			if err := add(row...); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// inputTable has one row for each of Run.Inputs, stored with the first source that has it.
const inputTable = "op_input"

// numbers turns numbers of a run with one source into those of the run that took it.
type numbers struct {
	by           map[string]renumbered // by column
	inputsBefore int32                 // inputs of operators that the run had
}

// renumbered are numbers that go on after others, or that names got.
type renumbered struct {
	after int32
	names []int32 // by number less 1; nil for those that go on
}

// new gives the new number; 0, for none, stays.
func (r renumbered) new(n int64) int64 {
	switch {
	case n == 0:
		return 0
	case r.names == nil:
		return n + int64(r.after)
	}
	return int64(r.names[n-1])
}

func (n *numbers) of(table, column string) (renumbered, error) {
	r, ok := n.by[column]
	if !ok {
		return r, fmt.Errorf("internal error: %s.%s cannot be renumbered", table, column)
	}
	return r, nil
}

// take adds what another run numbers to r: names in their order, so that they get the numbers they would have got one by one.
func (r *Run) take(of *Run) *numbers {
	n := &numbers{inputsBefore: int32(len(r.Inputs.All()))}
	kernels := make([]int32, 0, len(of.Kernels.numbers.All()))
	_ = of.Kernels.Each(func(_ int32, name string, short *string) error { // it gives f's errors alone
		kernels = append(kernels, r.Kernels.Add(name, short))
		return nil
	})
	_ = of.Symbols.Each(func(s Symbol) error {
		r.Symbols.Add(kernels[s.KernelName-1], s.Text)
		return nil
	})
	shapes := make([]int32, 0, len(of.shapes.All()))
	for _, s := range of.shapes.All() {
		shapes = append(shapes, r.ShapeID(s))
	}
	metrics := make([]int32, 0, len(of.Metrics.numbers.All()))
	_ = of.Metrics.Each(func(_ int32, name string, unit *string) error {
		metrics = append(metrics, r.Metrics.Add(name, unit))
		return nil
	})
	kernel, api, path := renumbered{names: kernels}, r.APIs.take(&of.APIs), r.Paths.take(&of.Paths)
	ranges, op := renumbered{after: r.RangeID}, renumbered{after: r.OpID}
	n.by = map[string]renumbered{"kernel_name_id": kernel, "before_kernel_name_id": kernel, "after_kernel_name_id": kernel, "kernel_shape_id": {names: shapes},
		"api_name_id": api, "launch_name_id": api, "path_id": path, "range_context_id": {after: r.ContextID}, "range_id": ranges, "parent_range_id": ranges,
		"op_id": op, "parent_op_id": op, "forward_op_id": op, "op_name_id": r.Operators.take(&of.Operators), "op_input_id": r.Inputs.take(&of.Inputs), "stack_id": r.Stacks.take(&of.Stacks),
		"launch_id": {after: r.launches}, "metric_id": {names: metrics}}
	r.launches += of.launches
	r.RangeID, r.ContextID, r.OpID = r.RangeID+of.RangeID, r.ContextID+of.ContextID, r.OpID+of.OpID
	return n
}

func (n *Numbers) take(of *Numbers) renumbered {
	ids := make([]int32, 0, len(of.All()))
	for _, name := range of.All() {
		ids = append(ids, n.Add(name))
	}
	return renumbered{names: ids}
}

func (p *Paths) take(of *Paths) renumbered {
	ids := make([]int32, 0, len(of.list))
	for _, path := range of.list { // a parent comes before its children
		parent := int32(0)
		if path.Parent > 0 {
			parent = ids[path.Parent-1]
		}
		ids = append(ids, p.Add(parent, path.Domain, path.Name))
	}
	return renumbered{names: ids}
}

// renumber gives a piece's numbers anew.
func (n *numbers) renumber(table string, columns []Column, p *piece) error {
	for i, c := range columns {
		if !schema.IsID(table, c.Name) {
			continue
		}
		r, err := n.of(table, c.Name)
		if err != nil {
			return err
		}
		data := unsafe.Pointer(unsafe.SliceData(p.data[i]))
		for k := range p.n {
			switch {
			case p.isNull(i, k):
			case c.Type == Integer:
				v := (*int32)(unsafe.Add(data, 4*k))
				*v = int32(r.new(int64(*v)))
			default:
				v := (*int64)(unsafe.Add(data, 8*k))
				*v = r.new(*v)
			}
		}
	}
	return nil
}
