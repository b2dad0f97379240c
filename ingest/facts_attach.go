package ingest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"prof/ingest/model"
	"prof/ingest/serving"
	"prof/internal/suggest"
	"prof/schema"
)

// attachTo finds the run that is there already, for facts alone and for what is added to it. "" when a new run is to be made.
func (in *ingester) attachTo(captures []input) (id string, err error) {
	if !in.o.Add && (len(captures) > 0 || in.o.OwnName) || in.o.Replace {
		return "", nil
	}
	err = in.conn.QueryRowContext(in.ctx, `SELECT run_id::VARCHAR FROM run WHERE name = ?`, in.o.Name).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	if in.o.Add {
		return "", fmt.Errorf("%w: %q", schema.ErrUnknownRun, in.o.Name)
	}
	return "", nil
}

// attach stores captures and facts with a run that is there already: captures next to those it had, facts in place of those of the same kind unless
// they are to be added. What it has and is given again stays.
func (in *ingester) attach(id string, captures, facts []input) error {
	if len(in.o.Tags) > 0 {
		return fmt.Errorf("run %s exists already: tag it with `prof tag %s KEY=VALUE`", in.o.Name, in.o.Name)
	}
	var last sql.NullInt32
	var models sql.NullInt64
	err := in.conn.QueryRowContext(in.ctx, `SELECT (SELECT max(source_id) FROM source WHERE run_id = ?::UUID), (SELECT max(model_id) FROM model WHERE run_id = ?::UUID)`, id, id).Scan(&last, &models)
	if err != nil {
		return err
	}
	in.firstSource, in.shared.ModelID = int(last.Int32), schema.IDNumber(models.Int64)
	if in.shared.Models, err = storedModels(in.ctx, in.conn, id); err != nil {
		return err
	}
	in.seen, in.kept = map[string][]holder{}, map[int]bool{}
	if err := in.grow(id, captures); err != nil {
		return err
	}
	if err := in.storeFacts(facts); err != nil {
		return err
	}
	if err := in.nameDevices(id); err != nil || len(in.result.Sources) == 0 && in.result.Named == 0 {
		return err
	}
	for _, c := range in.captures {
		if c.node() != nil { // GPUs of what is stored may have other numbers
			return fmt.Errorf("%s: %w: it is of one node of a job: ingest the folders of all nodes together, with --replace --run %s in place of what is stored", c.dir, ErrSeveral, in.o.Name)
		}
	}
	if err := in.replaceFacts(id); err != nil {
		return err
	}
	in.result.Made, in.result.Attached = true, true
	in.result.Run.ID, in.result.Run.Name = id, in.o.Name
	if len(captures) > 0 {
		if err := in.grown(id); err != nil {
			return err
		}
	}
	if err := in.attachCapture(id); err != nil {
		return err
	}
	return in.followAnew(id)
}

// replaceFacts deletes the facts that a run had before, of the kinds that it has newer ones of.
func (in *ingester) replaceFacts(id string) error {
	old, paths, err := in.oldFacts(id)
	if err != nil {
		return err
	}
	if err := schema.ClearSources(in.ctx, in.conn, id, old...); err != nil || len(paths) == 0 {
		return err
	}
	in.warn(fmt.Sprintf("replaced in run %s: %s", in.o.Name, suggest.List(paths, 3)))
	return nil
}

// oldFacts lists the sources that newer ones of the same kind are in place of, and their paths. Options and files stand beside each
// other: an option says something else of what a file says.
func (in *ingester) oldFacts(id string) (old, paths []string, err error) {
	rows, err := in.conn.QueryContext(in.ctx, `SELECT source_id, kind, form, path FROM source WHERE run_id = ?::UUID AND source_id <= ? ORDER BY source_id`, id, in.firstSource)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var source int
		var kind, form, path string
		if err := rows.Scan(&source, &kind, &form, &path); err != nil {
			return nil, nil, err
		}
		if in.o.Add && form != optionForm && form != runForm { // several stay, as in a run that is stored at once
			continue
		}
		newer := slices.ContainsFunc(in.result.Sources, func(s Source) bool {
			return s.Kind == kind && (kind != reportedKind || s.Form == form) && (!serving.OfRequests(s.Form) || serving.OfRequests(form)) && (s.Path == optionPath) == (form == optionForm)
		})
		if newer && !in.kept[source] {
			old = append(old, strconv.Itoa(source))
			if form != optionForm { // the newer ones hold what they said too
				paths = append(paths, path)
			}
		}
	}
	return old, paths, rows.Err()
}

// storedModels returns the models that workloads of a stored run carried, by model.Key.
func storedModels(ctx context.Context, conn *sql.Conn, runID string) (map[string]int32, error) {
	keys := map[int64]string{}
	for _, query := range []string{
		`SELECT x.model_id, x.* EXCLUDE (run_id, source_id, model_id) FROM model x`,
		`SELECT x.model_id, x.* EXCLUDE (run_id, model_id) FROM model_layer x`,
		`SELECT x.model_id, x.* EXCLUDE (run_id, model_id) FROM model_note x`,
	} {
		if err := addModelLines(ctx, conn, query+` WHERE run_id = ?::UUID AND x.model_id IN (SELECT w.model_id FROM workload w WHERE w.run_id = x.run_id) ORDER BY x.model_id, 2`, runID, keys); err != nil {
			return nil, fmt.Errorf("read the models of the run: %w", err)
		}
	}
	out := map[string]int32{}
	for id, key := range keys {
		out[key] = schema.IDNumber(id)
	}
	return out, nil
}

// addModelLines adds the rows of a query to the texts by their first column.
func addModelLines(ctx context.Context, conn *sql.Conn, query, runID string, to map[int64]string) (err error) {
	rows, err := conn.QueryContext(ctx, query, runID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	var id int64
	values := make([]any, len(columns)-1)
	into := []any{&id}
	for i := range values {
		into = append(into, &values[i])
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		to[id] += model.Line(values)
	}
	return rows.Err()
}
