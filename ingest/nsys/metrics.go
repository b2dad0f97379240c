package nsys

import (
	"context"
	"strings"

	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

const metricsTable = "GPU_METRICS"

// metricUnit returns the base unit of a GPU metric by the profiler's name of it, and what to divide its samples by. Shares are
// sampled as percent. Clocks are named [MHz], but nsys 2025 samples them in Hz.
func metricUnit(name string) (unit string, divide float64) {
	switch {
	case strings.Contains(name, "%]"):
		return "ratio", 100
	case strings.Contains(name, "[MHz]"):
		return "hz", 1
	}
	return "raw", 1
}

// storeMetrics stores the sampled GPU metrics and their names.
func (l *loader) storeMetrics(ctx context.Context) error {
	divide, err := l.storeMetricNames(ctx)
	if err != nil {
		return err
	}
	return l.storePlain(ctx, metricsTable, "gpu_metric", "timestamp typeId metricId value",
		"time_ns type_id metric_id:int value:double", func(*apiNames) plainRow {
			return func(b *table.Batch, i int, c *rows.Chunk, n int) (bool, error) {
				typ, id := b.Cols[1].Ints[i], b.Cols[2].Ints[i]
				if at := b.Cols[0].Ints[i]; !isInterval(at, at) || id != int64(int32(id)) {
					return false, nil
				}
				c.Int64(0)[n], c.Int64(1)[n], c.Int32(2)[n] = b.Cols[0].Ints[i], typ, int32(id)
				value := float64(b.Cols[3].Ints[i])
				if d := divide[metricKey{typ, id}]; d != 0 {
					value /= d
				}
				c.Float64(3)[n] = value
				return true, nil
			}
		})
}

type metricKey struct{ typ, id int64 }

func (l *loader) storeMetricNames(ctx context.Context) (map[metricKey]float64, error) {
	divide := map[metricKey]float64{}
	name := l.table("TARGET_INFO_GPU_METRICS")
	if name == "" {
		return divide, nil
	}
	_, err := l.target.Append(ctx, "gpu_metric_name", func(add rows.Add) error {
		return eachBatch(ctx, l.export, name, want("typeId metricId metricName:text"), func(b *table.Batch) error {
			for i := range b.N {
				if id := b.Cols[1].Ints[i]; id != int64(int32(id)) {
					l.odd.Add("numbers of GPU metrics", id)
					continue
				}
				typ, id, text := b.Cols[0].Ints[i], b.Cols[1].Ints[i], b.Cols[2].Texts[i]
				unit, d := metricUnit(text)
				divide[metricKey{typ, id}] = d
				// The low byte of a GPU's metric type is its number.
				if err := add(l.target.RunID, l.sourceID(), int32(typ&0xFF), typ, int32(id), text, unit); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return divide, err
}
