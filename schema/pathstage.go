package schema

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// classifyPaths fills path_stage. A path inherits from its prefixes: the stage of the outermost range that is one, the note of
// the innermost, and warm-up from any.
func (r *Rules) classifyPaths(ctx context.Context, q SQL, runID string) error {
	found, err := r.labelPaths(ctx, q, runID)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(found, labelRows) {
		if err := storeLabels(ctx, q, runID, some); err != nil {
			return err
		}
	}
	_, err = q.ExecContext(ctx, `INSERT INTO path_stage SELECT run_id, path_id, NULL, NULL, NULL, NULL, false FROM range_path p
		WHERE run_id = $1::UUID AND NOT EXISTS (SELECT 1 FROM path_stage s WHERE s.run_id = $1::UUID AND s.path_id = p.path_id)`, runID)
	return err
}

// pathLabel is what the rules say of a path; "" and 0 stand for nothing.
type pathLabel struct {
	Path, StagePath, NotePath int64
	Stage, Note               string
	Warmup                    bool
}

// labelPaths returns the paths of which the rules say something.
func (r *Rules) labelPaths(ctx context.Context, q SQL, runID string) (found []pathLabel, err error) {
	rows, err := q.QueryContext(ctx, `SELECT path_id, coalesce(lineage[-2], 0), domain, name FROM range_path WHERE run_id = ?::UUID ORDER BY path_id`, runID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	labels := map[int64]pathLabel{}
	for rows.Next() { // a parent's id is lower than its children's
		var id, parent int64
		var domain, name string
		if err := rows.Scan(&id, &parent, &domain, &name); err != nil {
			return nil, err
		}
		l := labels[parent]
		stage, note, warmup := r.stageOf(domain, name)
		if l.Stage == "" && stage != "" {
			l.Stage, l.StagePath = stage, id
		}
		if note != "" {
			l.Note, l.NotePath = note, id
		}
		l.Warmup = l.Warmup || warmup
		if l != (pathLabel{}) {
			l.Path = id
			labels[id] = l
			found = append(found, l)
		}
	}
	return found, rows.Err()
}

// labelRows is how many labels one statement stores.
const labelRows = 10_000

// storeLabels stores labels. They come as one text: a parameter for each value, as in batch, takes twenty times as long, and there may be a
// million paths.
func storeLabels(ctx context.Context, q Execer, runID string, labels []pathLabel) error {
	text, err := json.Marshal(labels)
	if err != nil {
		return err
	}
	_, err = q.ExecContext(ctx, `INSERT INTO path_stage SELECT ?::UUID, l.Path, nullif(l.Stage, ''), nullif(l.StagePath, 0), nullif(l.Note, ''), nullif(l.NotePath, 0), l.Warmup
		FROM (SELECT unnest(from_json(?, '[{"Path": "BIGINT", "Stage": "VARCHAR", "StagePath": "BIGINT", "Note": "VARCHAR", "NotePath": "BIGINT", "Warmup": "BOOLEAN"}]')) AS l)`, runID, string(text))
	return err
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
