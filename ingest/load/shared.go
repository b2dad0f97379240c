package load

import (
	"context"
	"database/sql/driver"
)

// StoreShared stores the names and paths that the run's sources share. It is called once, after the last source.
func (t *Target) StoreShared(ctx context.Context) error {
	if err := t.Run.checkIDs(); err != nil {
		return err
	}
	if err := t.clearShared(ctx); err != nil {
		return err
	}
	_, err := t.Append(ctx, "kernel_name", func(add func(...driver.Value) error) error {
		return t.Run.Kernels.Each(func(id int32, name string, short *string) error {
			return add(t.UUID(), id, name, *short, NameHash(name))
		})
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "kernel_shape", func(add func(...driver.Value) error) error {
		for i, shape := range t.Run.shapes.All() {
			if shape.Known == goneShape {
				continue
			}
			row := []driver.Value{t.UUID(), int32(i + 1)}
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
	_, err = t.Append(ctx, "kernel_symbol", func(add func(...driver.Value) error) error {
		return t.Run.Symbols.Each(func(s Symbol) error { return add(t.UUID(), s.KernelName, s.Text) })
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "api_name", func(add func(...driver.Value) error) error {
		for i, name := range t.Run.APIs.All() {
			if t.Run.APIs.gone[i] {
				continue
			}
			if err := add(t.UUID(), int32(i+1), name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "ncu_metric_name", func(add func(...driver.Value) error) error {
		return t.Run.Metrics.Each(func(id int32, name string, unit *string) error {
			if unit == nil {
				return add(t.UUID(), id, name, nil)
			}
			return add(t.UUID(), id, name, *unit)
		})
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "op_name", func(add func(...driver.Value) error) error {
		for i, name := range t.Run.Operators.All() {
			if t.Run.Operators.gone[i] {
				continue
			}
			if err := add(t.UUID(), int32(i+1), name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "range_path", func(add func(...driver.Value) error) error {
		for i, p := range t.Run.Paths.All() {
			id := int32(i + 1)
			if p.IsGone() {
				continue
			}
			if err := add(t.UUID(), id, p.Depth, p.Domain, p.Name, t.Run.Paths.Lineage(id), RangeName(t.Run.Paths.String(id))); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
