package store

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"prof/ingest/rows"
)

// mostTotal bounds what the durations, and what the sizes, in one table of a run add up to: 36 years, 1 EiB. Three bits are left for the queries,
// whose sums may count a row more than once and are BIGINT. mostFlop bounds operations, which no query counts twice.
const (
	mostTotal = float64(1 << 60)
	mostFlop  = float64(1<<63 - 1<<10)
)

// totals adds up columns of amounts by table and column, of all of a run. It is safe for concurrent use.
type totals struct {
	mu  sync.Mutex
	sum map[[2]string]float64
}

// add adds an amount, which is not negative; it fails where they cannot be those of one run.
func (t *totals) add(table, column string, amount float64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sum == nil {
		t.sum = map[[2]string]float64{}
	}
	key := [2]string{table, column}
	t.sum[key] += amount
	if t.sum[key] < mostTotal || column == "flop_count" && t.sum[key] < mostFlop {
		return nil
	}
	what, limit := "durations", "36 years"
	switch {
	case column == "flop_count":
		what, limit = "floating-point operations", "9.2 * 10^18"
	case strings.HasSuffix(column, "_bytes"):
		what, limit = "sizes", "1 EiB"
	}
	return fmt.Errorf("the %s for the table %s add up to more than %s, which no run has: is the capture damaged?", what, table, limit)
}

// isTotalled reports whether the amounts of a column are bounded together.
func isTotalled(column string) bool {
	return slices.Contains([]string{"duration_ns", "launch_duration_ns", "sum_ns", "busy_ns", "self_cpu_ns", "self_device_ns", "size_bytes", "flop_count", "total_ns", "total_bytes"}, column)
}

// total adds up the first n values of a BIGINT column, without their signs.
func total(c *rows.Chunk, col, n int) float64 {
	sum := 0.0
	values, valid := c.Int64(col)[:n], c.Valid(col)
	for i, v := range values {
		if valid[i>>6]>>(i&63)&1 != 0 {
			sum += max(float64(v), -float64(v))
		}
	}
	return sum
}

// addRow adds what a row has at these places, which are of totalled columns.
func (t *totals) addRow(table string, names []string, places []int, row []any) error {
	for _, i := range places {
		if v, ok := row[i].(int64); ok {
			if err := t.add(table, names[i], max(float64(v), -float64(v))); err != nil {
				return err
			}
		}
	}
	return nil
}
