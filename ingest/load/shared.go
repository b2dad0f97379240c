package load

import (
	"context"

	"prof/ingest/rows"
)

// StoreShared stores the names and paths that the run's sources share. It is called once, after the last source.
func (t *Target) StoreShared(ctx context.Context) error {
	_, err := t.Append(ctx, "kernel_name", func(add rows.Add) error {
		return t.Run.Kernels.Each(func(id int32, name string, short *string) error {
			return add(t.RunID, id, name, *short, NameHash(name))
		})
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "kernel_shape", func(add rows.Add) error {
		for i, shape := range t.Run.shapes.All() {
			if shape.Known == goneShape {
				continue
			}
			row := []any{t.RunID, int32(i + 1)}
			for k, v := range shape.Values {
				if shape.Known>>k&1 == 0 {
					row = append(row, nil)
				} else {
					row = append(row, v)
				}
			}
			if err := add(row...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "kernel_symbol", func(add rows.Add) error {
		return t.Run.Symbols.Each(func(s Symbol) error { return add(t.RunID, s.KernelName, s.Text) })
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "api_name", func(add rows.Add) error {
		for i, name := range t.Run.APIs.All() {
			if t.Run.APIs.gone[i] {
				continue
			}
			if err := add(t.RunID, int32(i+1), name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "ncu_metric_name", func(add rows.Add) error {
		return t.Run.Metrics.Each(func(id int32, name string, unit *string) error {
			if unit == nil {
				return add(t.RunID, id, name, nil)
			}
			return add(t.RunID, id, name, *unit)
		})
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "op_name", func(add rows.Add) error {
		for i, name := range t.Run.Operators.All() {
			if t.Run.Operators.gone[i] {
				continue
			}
			if err := add(t.RunID, int32(i+1), name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "range_path", func(add rows.Add) error {
		for i, p := range t.Run.Paths.All() {
			id := int32(i + 1)
			if p.IsGone() {
				continue
			}
			if err := add(t.RunID, id, p.Depth, p.Domain, p.Name, t.Run.Paths.Lineage(id), RangeName(t.Run.Paths.String(id))); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
