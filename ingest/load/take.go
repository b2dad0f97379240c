package load

import "fmt"

// Numbering turns numbers of a run with one source into those of the run that takes it, while that source is read.
type Numbering struct {
	to, of       *Run
	by           map[string]*Renumbered // by column
	InputsBefore int32                  // inputs of operators that the run had

	kernels, shapes, metrics, apis, operators, inputs, paths, stacks Renumbered
}

// Renumbered are numbers that go on after others, or that names got.
type Renumbered struct {
	after   int32
	isNamed bool
	names   []int32 // by number less 1
}

// New returns the new number; 0, for none, stays.
func (r *Renumbered) New(n int64) int64 {
	switch {
	case n == 0:
		return 0
	case !r.isNamed:
		return n + int64(r.after)
	}
	return int64(r.names[n-1])
}

// Of returns the new numbers in a column of ids.
func (n *Numbering) Of(table, column string) (*Renumbered, error) {
	r, ok := n.by[column]
	if !ok {
		return r, fmt.Errorf("internal error: %s.%s cannot be renumbered", table, column)
	}
	return r, nil
}

// Take begins to add what another run numbers to r, which goes on until End.
func (r *Run) Take(of *Run) *Numbering {
	n := &Numbering{to: r, of: of, InputsBefore: int32(len(r.Inputs.All()))}
	for _, names := range []*Renumbered{&n.kernels, &n.shapes, &n.metrics, &n.apis, &n.operators, &n.inputs, &n.paths, &n.stacks} {
		names.isNamed = true
	}
	ranges, op := &Renumbered{after: r.RangeID}, &Renumbered{after: r.OpID}
	n.by = map[string]*Renumbered{"kernel_name_id": &n.kernels, "before_kernel_name_id": &n.kernels, "after_kernel_name_id": &n.kernels, "kernel_shape_id": &n.shapes,
		"api_name_id": &n.apis, "launch_name_id": &n.apis, "path_id": &n.paths, "range_context_id": {after: r.ContextID}, "range_id": ranges, "parent_range_id": ranges,
		"op_id": op, "parent_op_id": op, "forward_op_id": op, "op_name_id": &n.operators, "op_input_id": &n.inputs, "stack_id": &n.stacks,
		"launch_id": {after: r.LaunchID}, "metric_id": &n.metrics}
	return n
}

// Follow adds the names that are new: in their order, so that they get the numbers they would have got one by one. All that rows which were
// passed on refer to are there.
func (n *Numbering) Follow() {
	follow(&n.kernels, n.of.Kernels.numbers.All(), func(name string) int32 { return n.to.Kernels.Add(name, nil) })
	follow(&n.shapes, n.of.shapes.All(), n.to.ShapeID)
	follow(&n.metrics, n.of.Metrics.numbers.All(), func(name string) int32 { return n.to.Metrics.Add(name, nil) })
	follow(&n.apis, n.of.APIs.All(), n.to.APIs.Add)
	follow(&n.operators, n.of.Operators.All(), n.to.Operators.Add)
	follow(&n.inputs, n.of.Inputs.All(), n.to.Inputs.Add)
	followPaths(&n.paths, n.of.Paths.All(), &n.to.Paths)
	followPaths(&n.stacks, n.of.Stacks.All(), &n.to.Stacks)
}

// End adds the rest, once the source is read.
func (n *Numbering) End() {
	n.Follow()
	r, of := n.to, n.of
	for _, names := range [][2]*Names{{&r.Kernels, &of.Kernels}, {&r.Metrics, &of.Metrics}} {
		_ = names[1].Each(func(_ int32, name string, beside *string) error { // it gives f's errors alone
			names[0].Add(name, beside)
			return nil
		})
	}
	_ = of.Symbols.Each(func(s Symbol) error {
		r.Symbols.Add(n.kernels.names[s.KernelName-1], s.Text)
		return nil
	})
	r.RangeID, r.ContextID, r.OpID, r.LaunchID = r.RangeID+of.RangeID, r.ContextID+of.ContextID, r.OpID+of.OpID, r.LaunchID+of.LaunchID
}

func follow[T any](r *Renumbered, all []T, add func(T) int32) {
	for _, v := range all[len(r.names):] {
		r.names = append(r.names, add(v))
	}
}

func followPaths(r *Renumbered, all []Path, to *Paths) {
	follow(r, all, func(p Path) int32 { // a parent comes before its children
		parent := int32(0)
		if p.Parent > 0 {
			parent = r.names[p.Parent-1]
		}
		return to.Add(parent, p.Domain, p.Name)
	})
}
