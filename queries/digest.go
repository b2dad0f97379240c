package queries

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"prof/schema"
)

// digestTables are the tables that a digest of a run fills and the private queries that give their rows, in the order of the columns that
// the queries name. Later ones may read earlier tables.
var digestTables = []struct {
	table, query string
	ofModel      bool // its rows need a model, and it takes long to plan: not asked of a run without one
}{
	{"stage_pass", "_digest-pass", false},
	{"work_sum", "_digest-work", false},
	{"stage_figure", "_digest-rate", false},
	{"stage_figure", "_digest-use", true},
	{"run_condition", "_digest-condition", false},
}

// ErrNoDigest is wrapped by errors about runs whose digest could not be made.
var ErrNoDigest = errors.New("no digest")

// Digest makes what comparisons read of a run anew: passes of its stages, the device work of each added up, and figures of each stage. All
// of it or nothing is stored; the warehouse must be open for writing.
func Digest(ctx context.Context, w *schema.Warehouse, runID string) error {
	sum, basis, err := digestChecksum(ctx, w)
	if err != nil {
		return err
	}
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return digestError(runID, err)
	}
	defer tx.Rollback()
	if err := digest(ctx, tx, runID, sum, basis); err != nil {
		return digestError(runID, err)
	}
	if err := tx.Commit(); err != nil {
		return digestError(runID, err)
	}
	return nil
}

func digestError(runID string, err error) error {
	return fmt.Errorf("%w of run %s, so that it cannot be compared with others: %w", ErrNoDigest, runID, err)
}

// digest fills the tables of a digest inside a transaction.
func digest(ctx context.Context, tx *sql.Tx, runID, sum, basis string) error {
	for _, t := range []string{"digest", "stage_pass", "work_sum", "stage_figure", "run_condition"} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+t+` WHERE run_id = ?::UUID`, runID); err != nil {
			return fmt.Errorf("clear %s: %w", t, err)
		}
	}
	var models int64
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM model WHERE run_id = ?::UUID`, runID).Scan(&models); err != nil {
		return fmt.Errorf("look for models: %w", err)
	}
	for _, t := range digestTables {
		if t.ofModel && models == 0 {
			continue
		}
		q, err := building(t.query)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, q.insertion(t.table, runID)); err != nil {
			return fmt.Errorf("fill %s: %w", t.table, err)
		}
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO digest (run_id, checksum, basis) VALUES (?::UUID, ?, ?)`, runID, sum, basis); err != nil {
		return fmt.Errorf("fill digest: %w", err)
	}
	return nil
}

// insertion is the statement that stores the query's rows of a run in a table, by the names of its columns.
func (q Query) insertion(table, runID string) string {
	names := make([]string, len(q.Columns))
	for i, c := range q.Columns {
		names[i] = c[0]
	}
	list := strings.Join(names, ", ")
	return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s(%s)", table, list, list, q.Relation(), schema.Quote(runID))
}

// building gives the newest version of a private query.
func building(name string) (Query, error) {
	all, err := All()
	if err != nil {
		return Query{}, err
	}
	q, found := newest(all, name)
	if !found {
		return Query{}, fmt.Errorf("%w: %s", ErrUnknownQuery, name)
	}
	return q, nil
}

// digestChecksum identifies what the digest of a run follows from beside the run: rules, peaks, and the text of the queries; and the rules
// and peaks alone, which a query can ask for too.
func digestChecksum(ctx context.Context, w *schema.Warehouse) (sum, basis string, err error) {
	q, err := building("_digest-basis")
	if err != nil {
		return "", "", err
	}
	h := sha256.New()
	if err := w.DB.QueryRowContext(ctx, "SELECT basis FROM "+q.Relation()).Scan(&basis); err != nil {
		return "", "", fmt.Errorf("read the rules and peaks that digests follow from: %w", err)
	}
	fmt.Fprintln(h, basis)
	for _, t := range digestTables {
		q, err := building(t.query)
		if err != nil {
			return "", "", err
		}
		fmt.Fprintln(h, t.table, q.Relation(), q.Body)
	}
	return hex.EncodeToString(h.Sum(nil)), basis, nil
}

// Digested gives which of the runs have no digest, or one by other rules, peaks or queries than there are now.
func Digested(ctx context.Context, w *schema.Warehouse, runIDs []string) (missing []string, err error) {
	sum, _, err := digestChecksum(ctx, w)
	if err != nil {
		return nil, err
	}
	rows, err := w.DB.QueryContext(ctx, `SELECT run_id::VARCHAR FROM digest WHERE checksum = ?`, sum)
	if err != nil {
		return nil, fmt.Errorf("read which runs have a digest: %w", err)
	}
	defer rows.Close()
	has := map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read which runs have a digest: %w", err)
		}
		has[id] = true
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read which runs have a digest: %w", err)
	}
	for _, id := range runIDs {
		if !has[id] {
			missing = append(missing, id)
			has[id] = true // named twice, it is still one run
		}
	}
	return missing, nil
}

// EnsureDigests makes the digests that are missing or stale; the warehouse must be open for writing. progress is told, before each one, how
// many are made of how many; it may be nil.
func EnsureDigests(ctx context.Context, w *schema.Warehouse, runIDs []string, progress func(done, all int)) error {
	missing, err := Digested(ctx, w, runIDs)
	if err != nil {
		return err
	}
	for i, id := range missing {
		if progress != nil {
			progress(i, len(missing))
		}
		if err := Digest(ctx, w, id); err != nil {
			return err
		}
	}
	return nil
}
