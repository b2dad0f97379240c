package torch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/ianlancetaylor/demangle"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/ingest/torch/trace"
	"prof/internal/file"
)

// countedRange is what CUPTI's range profiler counted of one kernel. Its times are no kernel's: Kineto divides the time of all kernels among them evenly.
type countedRange struct {
	name   string
	device int32
	values []counter
}

// counter is one metric of a range; text is the number as written where a float64 does not hold it.
type counter struct {
	name  int32
	value float64
	text  string
}

// mostCounters bounds what is kept of one trace, of some 40 bytes each.
const mostCounters = 4 << 20

// counters takes a range of CUPTI's range profiler.
func (c *collector) counters(e *trace.Event) error {
	device, _, err := c.device(e)
	if err != nil || device < 0 || device >= load.MaxDevices {
		return fmt.Errorf("%w (device)", errOdd)
	}
	r := countedRange{name: string(e.Name), device: c.parts.gpu(e, device)}
	if file.FewValues(e.Args, file.MostValues) != nil {
		return fmt.Errorf("%w (counters)", errOdd)
	}
	d := json.NewDecoder(bytes.NewReader(e.Args))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%w (counters)", errOdd)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fmt.Errorf("%w (counters)", errOdd)
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("%w (counters)", errOdd)
		}
		name, _ := key.(string)
		number, ok := value.(json.Number)
		if !ok || name == "" {
			continue
		}
		v, err := number.Float64()
		if err != nil || math.IsInf(v, 0) {
			return fmt.Errorf("%w (%s)", errOdd, name)
		}
		if c.counterCount++; c.counterCount > mostCounters {
			return fmt.Errorf("it has more than %d counters", mostCounters)
		}
		n := counter{name: c.counterNames.Of([]byte(name)), value: v}
		if whole, err := strconv.ParseInt(number.String(), 10, 64); err == nil && (v >= math.MaxInt64 || int64(v) != whole) {
			n.text = number.String()
		}
		r.values = append(r.values, n)
	}
	c.counted = append(c.counted, r)
	return nil
}

// storeCounters stores the ranges as results of a profiler that replays kernels, which Nsight Compute's are.
func (l *loader) storeCounters(ctx context.Context) error {
	if len(l.counted) == 0 {
		return nil
	}
	metrics := make([]int32, len(l.counterNames.List))
	for i, name := range l.counterNames.List {
		metrics[i] = l.target.Run.Metrics.Add(valid(name), nil)
	}
	launches := make([]int32, len(l.counted))
	_, err := l.target.Append(ctx, "ncu_launch", func(add rows.Add) error {
		for i := range l.counted {
			r := &l.counted[i]
			launches[i] = l.target.Run.NextLaunch()
			name := demangle.Filter(valid(r.name))
			short := load.ShortName(name)
			if err := add(l.target.RunID, l.sourceID(), launches[i], int32(i), "kernel", nil, nil, l.parts.numberOf(r.device), nil, nil, l.target.Run.Kernels.Add(name, &short), nil,
				nil, nil, nil, nil, nil, nil, nil, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = l.target.Append(ctx, "ncu_metric", func(add rows.Add) error {
		for i := range l.counted {
			for _, n := range l.counted[i].values {
				var text any
				if n.text != "" {
					text = n.text
				}
				if err := add(l.target.RunID, l.sourceID(), launches[i], metrics[n.name], n.value, text); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}
