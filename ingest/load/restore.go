package load

import (
	"fmt"
	"strconv"
)

// A run that grows goes on with the numbers that it has: its sources share them. Numbers of what a source that was taken out had alone are not
// given again.

// Restore gives the run a name that it has stored, with its number: text are the row's texts by table, nil where NULL. Rows come by number.
func (r *Run) Restore(table string, id int32, text []*string) error {
	switch table {
	case "kernel_name":
		return r.Kernels.restore(id, text)
	case "kernel_symbol":
		r.Symbols.Add(id, *text[0])
		return nil
	case "api_name":
		return r.APIs.restore(id, *text[0])
	case "ncu_metric_name":
		return r.Metrics.restore(id, text)
	case "op_name":
		return r.Operators.restore(id, *text[0])
	case "op_input":
		return r.Inputs.restore(id, InputKey(orEmpty(text[0]), orEmpty(text[1]), orEmpty(text[2]), orEmpty(text[3])))
	case "range_path":
		return r.Paths.restore(id, text)
	case "python_stack":
		return r.Stacks.restore(id, text)
	case "kernel_shape":
		return r.restoreShape(id, text)
	}
	return fmt.Errorf("internal error: no names are in %s", table)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
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

func (n *Names) restore(id int32, text []*string) error {
	if err := n.numbers.restore(id, *text[0]); err != nil || text[1] == nil {
		return err
	}
	n.Add(*text[0], text[1])
	return nil
}

func (p *Paths) restore(id int32, text []*string) error {
	domain, name, parent := orEmpty(text[0]), orEmpty(text[1]), int64(0)
	if text[2] != nil {
		var err error
		if parent, err = strconv.ParseInt(*text[2], 10, 32); err != nil {
			return err
		}
	}
	if int(id) <= len(p.list) || parent >= int64(id) {
		return fmt.Errorf("internal error: path %d of %q is taken, or its parent %d comes later", id, name, parent)
	}
	for len(p.list) < int(id)-1 {
		p.list = append(p.list, Path{})
	}
	k := pathKey{int32(parent), domain, name}
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

// IsGone reports whether the path was one of a source that was taken out.
func (p Path) IsGone() bool { return p.Depth == 0 }

func (r *Run) restoreShape(id int32, text []*string) error {
	var s Shape
	for i, v := range text {
		if v != nil {
			n, err := strconv.ParseInt(*v, 10, 32)
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
