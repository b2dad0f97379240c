package schema

import (
	"context"
	"strings"
)

type rangePath struct {
	id           int64
	parent       int64 // 0 for an outermost one
	domain, name string
}

// classifyPaths fills path_stage. A path inherits from its prefixes: the stage of the outermost range that is one, the note of
// the innermost, and warm-up from any.
func (r *Rules) classifyPaths(ctx context.Context, q SQL, runID string) error {
	rows, err := q.QueryContext(ctx, `SELECT path_id, coalesce(lineage[-2], 0), domain, name FROM range_path WHERE run_id = ?::UUID ORDER BY path_id`, runID)
	if err != nil {
		return err
	}
	defer rows.Close()
	var paths []rangePath
	for rows.Next() {
		var p rangePath
		if err := rows.Scan(&p.id, &p.parent, &p.domain, &p.name); err != nil {
			return err
		}
		paths = append(paths, p)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	type label struct {
		stage, note         string
		stagePath, notePath int64
		warmup              bool
	}
	labels := map[int64]label{0: {}}
	b := batch{table: "path_stage", columns: 7}
	for _, p := range paths { // a parent's id is lower than its children's
		l := labels[p.parent]
		stage, note, warmup := r.stageOf(p.domain, p.name)
		if l.stage == "" && stage != "" {
			l.stage, l.stagePath = stage, p.id
		}
		if note != "" {
			l.note, l.notePath = note, p.id
		}
		l.warmup = l.warmup || warmup
		labels[p.id] = l
		if err := b.add(ctx, q, runID, p.id, orNull(l.stage), idOrNull(l.stagePath), orNull(l.note), idOrNull(l.notePath), l.warmup); err != nil {
			return err
		}
	}
	return b.flush(ctx, q)
}

func idOrNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// batch inserts rows many at a time: a statement a row would cost more than the rows.
type batch struct {
	table   string
	columns int
	args    []any
}

const batchRows = 200

func (b *batch) add(ctx context.Context, q Execer, row ...any) error {
	b.args = append(b.args, row...)
	if len(b.args) >= batchRows*b.columns {
		return b.flush(ctx, q)
	}
	return nil
}

func (b *batch) flush(ctx context.Context, q Execer) error {
	n := len(b.args) / b.columns
	if n == 0 {
		return nil
	}
	one := "(" + strings.TrimSuffix(strings.Repeat("?, ", b.columns), ", ") + ")"
	values := strings.TrimSuffix(strings.Repeat(one+", ", n), ", ")
	_, err := q.ExecContext(ctx, "INSERT INTO "+b.table+" VALUES "+values, b.args...)
	b.args = b.args[:0]
	return err
}
