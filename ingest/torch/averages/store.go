package averages

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"prof/ingest/load"
	"prof/ingest/rows"
)

// stored are the columns of op_average that hold amounts, in their order.
var stored = []field{countField, selfCPU, totalCPU, selfDevice, totalDevice, selfDeviceBytes, totalDeviceBytes, selfHostBytes, totalHostBytes, flops}

func store(ctx context.Context, f io.ReadSeeker, name string, t *load.Target) (*load.SourceInfo, error) {
	run, id := t.RunID, int32(t.SourceID)
	var res *result
	var failed error
	n, err := t.Append(ctx, "op_average", func(add rows.Add) error {
		res, failed = read(ctx, f, name, func(r *row) error {
			if r.number > math.MaxInt32 {
				return fmt.Errorf("%s: it has more than %d rows", name, math.MaxInt32)
			}
			values := []any{run, id, int32(r.number), r.name, r.kind, nil}
			if r.shapes != nil {
				values[5] = *r.shapes
			}
			for _, f := range stored {
				var v any
				if a := r.amounts[f]; a != nil {
					v = *a
				}
				values = append(values, v)
			}
			return add(values...)
		})
		return failed
	})
	switch {
	case failed != nil: // which names the file and not the table
		return nil, failed
	case err != nil:
		return nil, err
	}
	info := &load.SourceInfo{Rows: n, Warnings: res.warnings}
	if res.cut != "" {
		info.Status, info.Reason = "partial", res.cut
		info.Warnings = append(info.Warnings, res.cut+"; the rows before that are stored")
	}
	if err := storeAccount(ctx, t, res.account); err != nil {
		return nil, err
	}
	return info, describe(ctx, t, info)
}

// storeAccount stores what the table says of all time, and what its rows add up to: shares are of the former, and an audit compares them.
func storeAccount(ctx context.Context, t *load.Target, a account) error {
	_, err := t.Append(ctx, "source_fact", func(add rows.Add) error {
		for _, of := range []struct {
			what          string
			printed, read int64
		}{{"self_cpu_ns", a.printedCPU, a.readCPU}, {"self_device_ns", a.printedDevice, a.readDevice}} {
			if of.printed <= 0 {
				continue
			}
			for key, v := range map[string]int64{"printed." + of.what: of.printed, "read." + of.what: of.read} {
				if err := add(t.RunID, int32(t.SourceID), key, strconv.FormatInt(v, 10)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}

// describe stores what became of the source's rows, and its warnings.
func describe(ctx context.Context, t *load.Target, info *load.SourceInfo) error {
	run, id := t.RunID, int32(t.SourceID)
	_, err := t.Append(ctx, "source_part", func(add rows.Add) error {
		var reason any
		if info.Reason != "" {
			reason = info.Reason
		}
		return add(run, id, "key_averages", info.Rows, info.Rows, reason)
	})
	if err != nil {
		return err
	}
	_, err = t.Append(ctx, "diagnostic", func(add rows.Add) error {
		for _, w := range info.Warnings {
			if err := add(run, id, "ingest", "warning", nil, nil, w); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
