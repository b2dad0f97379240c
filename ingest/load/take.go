package load

import "fmt"

// Numbering turns numbers of a run with one source into those of the run that took it.
type Numbering struct {
	by           map[string]Renumbered // by column
	InputsBefore int32                 // inputs of operators that the run had
}

// Renumbered are numbers that go on after others, or that names got.
type Renumbered struct {
	after int32
	names []int32 // by number less 1; nil for those that go on
}

// New returns the new number; 0, for none, stays.
func (r Renumbered) New(n int64) int64 {
	switch {
	case n == 0:
		return 0
	case r.names == nil:
		return n + int64(r.after)
	}
	return int64(r.names[n-1])
}

// Of returns the new numbers in a column of ids.
func (n *Numbering) Of(table, column string) (Renumbered, error) {
	r, ok := n.by[column]
	if !ok {
		return r, fmt.Errorf("internal error: %s.%s cannot be renumbered", table, column)
	}
	return r, nil
}

// Take adds what another run numbers to r: names in their order, so that they get the numbers they would have got one by one.
func (r *Run) Take(of *Run) *Numbering {
	n := &Numbering{InputsBefore: int32(len(r.Inputs.All()))}
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
	kernel, api, path := Renumbered{names: kernels}, r.APIs.take(&of.APIs), r.Paths.take(&of.Paths)
	ranges, op := Renumbered{after: r.RangeID}, Renumbered{after: r.OpID}
	n.by = map[string]Renumbered{"kernel_name_id": kernel, "before_kernel_name_id": kernel, "after_kernel_name_id": kernel, "kernel_shape_id": {names: shapes},
		"api_name_id": api, "launch_name_id": api, "path_id": path, "range_context_id": {after: r.ContextID}, "range_id": ranges, "parent_range_id": ranges,
		"op_id": op, "parent_op_id": op, "forward_op_id": op, "op_name_id": r.Operators.take(&of.Operators), "op_input_id": r.Inputs.take(&of.Inputs), "stack_id": r.Stacks.take(&of.Stacks),
		"launch_id": {after: r.LaunchID}, "metric_id": {names: metrics}}
	r.LaunchID += of.LaunchID
	r.RangeID, r.ContextID, r.OpID = r.RangeID+of.RangeID, r.ContextID+of.ContextID, r.OpID+of.OpID
	return n
}

func (n *Numbers) take(of *Numbers) Renumbered {
	ids := make([]int32, 0, len(of.All()))
	for _, name := range of.All() {
		ids = append(ids, n.Add(name))
	}
	return Renumbered{names: ids}
}

func (p *Paths) take(of *Paths) Renumbered {
	ids := make([]int32, 0, len(of.list))
	for _, path := range of.list { // a parent comes before its children
		parent := int32(0)
		if path.Parent > 0 {
			parent = ids[path.Parent-1]
		}
		ids = append(ids, p.Add(parent, path.Domain, path.Name))
	}
	return Renumbered{names: ids}
}
