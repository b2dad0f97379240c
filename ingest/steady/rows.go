package steady

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"
)

// The separators of rows and fields in the answer of Rows.
const rowEnd, fieldEnd = "\x1e", "\x1f"

// process is the iterations of one on a GPU.
type process struct {
	source, pid, device sql.Null[int64]
}

// Rows gives where the iterations of a run, as SQL names it, are cut: source, process, GPU and number of the first iteration of each part.
func Rows(ctx context.Context, query func(ctx context.Context, statement string, args ...any) (*sql.Rows, error), run string) (string, error) {
	rows, err := query(ctx, fmt.Sprintf(`SELECT i.source_id, i.pid, i.device_id, i.nth, CASE WHEN i.stage <> 'prefill' THEN i.decode_count END, CASE WHEN i.stage = 'decode' THEN i.time_ns END
		FROM iteration i WHERE i.run_id = %s AND NOT i.is_warmup ORDER BY i.source_id, i.pid, i.device_id, i.nth`, run))
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var out strings.Builder
	var at process
	var nth []int64
	var batches, times []float64
	end := func() {
		if len(nth) == 0 {
			return
		}
		for _, i := range append([]int{0}, Cuts(batches, times)...) {
			out.WriteString(strings.Join([]string{text(at.source), text(at.pid), text(at.device), fmt.Sprint(nth[i])}, fieldEnd) + rowEnd)
		}
		nth, batches, times = nth[:0], batches[:0], times[:0]
	}
	for rows.Next() {
		var p process
		var n int64
		var batch, time sql.Null[int64]
		if err := rows.Scan(&p.source, &p.pid, &p.device, &n, &batch, &time); err != nil {
			return "", err
		}
		if p != at {
			end()
			at = p
		}
		nth, batches, times = append(nth, n), append(batches, known(batch)), append(times, known(time))
	}
	end()
	return out.String(), rows.Err()
}

func known(n sql.Null[int64]) float64 {
	if !n.Valid {
		return math.NaN()
	}
	return float64(n.V)
}

func text(n sql.Null[int64]) string {
	if !n.Valid {
		return ""
	}
	return fmt.Sprint(n.V)
}
