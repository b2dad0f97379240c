package steady

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"
)

// The separators of rows and fields in what Read finds.
const rowEnd, fieldEnd = "\x1e", "\x1f"

// process is the iterations of one on a GPU.
type process struct {
	source, pid, device sql.Null[int64]
	nth                 []int64
	batches, times      []float64
}

// Read reads the iterations of a run, as SQL names it, and returns what finds where they are cut, without the connection: source, process, GPU and number of the first iteration of each part.
func Read(ctx context.Context, query func(ctx context.Context, statement string, args ...any) (*sql.Rows, error), run string) (func(ctx context.Context) (string, error), error) {
	rows, err := query(ctx, fmt.Sprintf(`SELECT i.source_id, i.pid, i.device_id, i.nth, CASE WHEN i.stage <> 'prefill' THEN i.decode_count END, CASE WHEN i.stage = 'decode' THEN i.time_ns END
		FROM iteration i WHERE i.run_id = %s AND NOT i.is_warmup ORDER BY i.source_id, i.pid, i.device_id, i.nth`, run))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*process
	for rows.Next() {
		var x process
		var n int64
		var batch, time sql.Null[int64]
		if err := rows.Scan(&x.source, &x.pid, &x.device, &n, &batch, &time); err != nil {
			return nil, err
		}
		if n := len(all); n == 0 || all[n-1].source != x.source || all[n-1].pid != x.pid || all[n-1].device != x.device {
			all = append(all, &x)
		}
		p := all[len(all)-1]
		p.nth, p.batches, p.times = append(p.nth, n), append(p.batches, known(batch)), append(p.times, known(time))
	}
	return func(ctx context.Context) (string, error) {
		var out strings.Builder
		for _, p := range all {
			for _, i := range append([]int{0}, Cuts(p.batches, p.times)...) {
				out.WriteString(strings.Join([]string{text(p.source), text(p.pid), text(p.device), fmt.Sprint(p.nth[i])}, fieldEnd) + rowEnd)
			}
		}
		return out.String(), ctx.Err()
	}, rows.Err()
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
