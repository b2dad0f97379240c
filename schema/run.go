package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"prof/internal/mask"
	"prof/internal/suggest"
)

// Run is one row of the table run.
type Run struct {
	ID          string // UUIDv7 in text form
	Name        string
	CreatedAt   time.Time
	StartedAt   *time.Time // nil when unknown
	Command     string     // "" when unknown
	Host        string     // "" when unknown
	ProfVersion string
}

// NewRunID makes a run id: a UUIDv7, so that ids sort by creation.
func NewRunID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// Errors that Resolve's errors wrap.
var (
	ErrUnknownRun   = errors.New("no such run")
	ErrAmbiguousRun = errors.New("several runs match")
	ErrNameTaken    = errors.New("the run name is taken")
)

// Runs lists the runs, newest first.
func (w *Warehouse) Runs(ctx context.Context) ([]Run, error) {
	rows, err := w.DB.QueryContext(ctx, `SELECT run_id::VARCHAR, name, created_at, started_at,
		coalesce(command, ''), coalesce(host, ''), prof_version FROM run ORDER BY created_at DESC, run_id DESC`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Run
	for rows.Next() {
		var r Run
		var started sql.NullTime
		if err := rows.Scan(&r.ID, &r.Name, &r.CreatedAt, &started, &r.Command, &r.Host, &r.ProfVersion); err != nil {
			return nil, err
		}
		if started.Valid {
			r.StartedAt = &started.Time
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// IsReference reports whether ref means a run by something else than its name or id, so that no run may be named so.
func IsReference(ref string) bool {
	return strings.HasPrefix(ref, "@") || strings.HasPrefix(ref, "tag:") || strings.HasPrefix(ref, BaselinePrefix)
}

// Resolve finds the run that ref means: a name, an id, a unique prefix of either, unique words or the beginning of a word within a name, @latest, @latest~N, tag:key=value
// (the newest run with that tag), or baseline:NAME (the run that bears that name, see SetBaseline).
func (w *Warehouse) Resolve(ctx context.Context, ref string) (Run, error) {
	runs, err := w.Runs(ctx)
	if err != nil {
		return Run{}, err
	}
	return w.resolve(ctx, runs, ref)
}

// resolve finds the run that ref means among all runs, which are listed newest first.
func (w *Warehouse) resolve(ctx context.Context, runs []Run, ref string) (Run, error) {
	switch {
	case ref == "":
		return Run{}, fmt.Errorf("%w: the reference is empty", ErrUnknownRun)
	case strings.HasPrefix(ref, "@"):
		return resolveLatest(runs, ref)
	case strings.HasPrefix(ref, "tag:"):
		return w.resolveTag(ctx, runs, ref)
	case strings.HasPrefix(ref, BaselinePrefix):
		return w.resolveBaseline(ctx, runs, ref)
	}
	r, err := resolveName(runs, ref)
	if err == nil {
		return r, nil
	}
	all, failed := w.baselinesOf(ctx, runs)
	if failed != nil {
		return Run{}, failed
	}
	if slices.ContainsFunc(all, func(b Baseline) bool { return b.Name == ref }) {
		if errors.Is(err, ErrUnknownRun) { // names like it are no guess any more
			err = fmt.Errorf("%w: %q", ErrUnknownRun, ref)
		}
		return Run{}, fmt.Errorf("%w; a baseline has that name: write %s%s", err, BaselinePrefix, ref)
	}
	return Run{}, err
}

func resolveLatest(runs []Run, ref string) (Run, error) {
	back, ok := strings.CutPrefix(ref, "@latest")
	n := 0
	if ok && back != "" {
		v, err := strconv.Atoi(strings.TrimPrefix(back, "~"))
		ok = err == nil && back[0] == '~' && v >= 0
		n = v
	}
	if !ok {
		return Run{}, fmt.Errorf("%w: %q; write @latest or @latest~N", ErrUnknownRun, ref)
	}
	if n >= len(runs) {
		return Run{}, fmt.Errorf("%w: %s; the warehouse holds %d runs", ErrUnknownRun, ref, len(runs))
	}
	return runs[n], nil
}

func (w *Warehouse) resolveTag(ctx context.Context, runs []Run, ref string) (Run, error) {
	key, value, ok := strings.Cut(strings.TrimPrefix(ref, "tag:"), "=")
	if !ok {
		return Run{}, fmt.Errorf("%w: %q; write tag:key=value", ErrUnknownRun, ref)
	}
	var id sql.NullString
	err := w.DB.QueryRowContext(ctx, `SELECT max(run_id)::VARCHAR FROM run_tag WHERE key = ? AND value = ?`, key, value).Scan(&id)
	if err != nil {
		return Run{}, err
	}
	for _, r := range runs {
		if id.Valid && r.ID == id.String {
			return r, nil
		}
	}
	return Run{}, fmt.Errorf("%w: none is tagged %s=%s", ErrUnknownRun, key, value)
}

// leastPart is how long words within a name must be to stand for it: shorter ones are in many.
const leastPart = 3

// hasWords reports whether a name has this part where one of its words begins.
func hasWords(name, part string) bool {
	for i := 0; ; i++ {
		at := strings.Index(name[i:], part)
		if at < 0 {
			return false
		}
		i += at
		if before, _ := utf8.DecodeLastRuneInString(name[:i]); i == 0 || !unicode.In(before, unicode.L, unicode.N) {
			return true
		}
	}
}

func resolveName(runs []Run, ref string) (Run, error) {
	var found, parts []Run
	for _, r := range runs {
		isPart := len(ref) >= leastPart && hasWords(r.Name, ref)
		switch {
		case r.Name == ref || r.ID == ref:
			return r, nil
		case strings.HasPrefix(r.Name, ref) || strings.HasPrefix(r.ID, strings.ToLower(ref)) || isPart && strings.HasSuffix(r.Name, ref):
			found = append(found, r)
		case isPart:
			parts = append(parts, r)
		}
	}
	if len(found) == 0 {
		found = parts
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		names := make([]string, len(runs))
		for i, r := range runs {
			names[i] = r.Name
		}
		return Run{}, fmt.Errorf("%w: %q%s", ErrUnknownRun, ref, suggest.DidYouMean(ref, names))
	}
	var names []string
	for _, r := range found {
		names = append(names, r.Name)
	}
	return Run{}, fmt.Errorf("%w: %q could be %s", ErrAmbiguousRun, ref, suggest.List(names, 5))
}

// runTables lists the tables of the schema that hold rows of runs, facts among them, run itself last. A table that the user made is the
// user's.
func runTables(ctx context.Context, q querier) ([]string, error) {
	known, err := knownMigrations()
	if err != nil {
		return nil, err
	}
	out, err := texts(q.QueryContext(ctx, `SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal AND starts_with(comment, ?) ORDER BY table_name`, DocMark))
	if err != nil {
		return nil, err
	}
	made, err := madeTables(known, func(t ddlTable) bool {
		return t.name != "run" && t.columns[0][0] == "run_id" && !slices.Contains(out, t.name)
	})
	return slices.Concat(out, made, []string{"run"}), err
}

// madeTables lists those of the tables that migrations make which are wanted.
func madeTables(known []migration, isWanted func(ddlTable) bool) ([]string, error) {
	var out []string
	for _, m := range known {
		tables, err := parseDDL(m.sql)
		if err != nil {
			return nil, err
		}
		for _, t := range tables {
			if isWanted(t) {
				out = append(out, t.name)
			}
		}
	}
	return out, nil
}

// texts reads a result of one text column.
func texts(rows *sql.Rows, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, rows.Err()
}

// rowsAtOnce is how many rows of a table one transaction deletes: until it is committed, DuckDB keeps 8 bytes of memory for each.
const rowsAtOnce = 16 << 20

// largeTables lists the tables of runs that may have more rows than one transaction deletes.
func (w *Warehouse) largeTables(ctx context.Context) ([]string, error) {
	tables, err := runTables(ctx, w.DB)
	if err != nil || w.Home.Lake != nil { // which drops whole files
		return nil, err
	}
	large, err := texts(w.DB.QueryContext(ctx, fmt.Sprintf(`SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND estimated_size > %d ORDER BY table_name`, rowsAtOnce)))
	return slices.DeleteFunc(large, func(t string) bool { return !slices.Contains(tables, t) }), err
}

// Remove deletes runs with everything they hold, all or none of them. Rows of large tables that it cannot delete are deleted when the
// warehouse is opened for writing next.
func (w *Warehouse) Remove(ctx context.Context, runs ...Run) error {
	large, err := w.largeTables(ctx)
	if err != nil {
		return err
	}
	later := large
	if len(large) > 0 { // by what is left of it, an unfinished run is found
		later = append(later, "source")
	}
	var names []string
	for _, r := range runs {
		names = append(names, "run "+r.ID)
	}
	err = w.change(ctx, names, func(tx *sql.Tx) error {
		for _, r := range runs {
			if err := deleteRun(ctx, tx, r.ID, later...); err != nil {
				return fmt.Errorf("remove run %s: %w", r.Name, err)
			}
		}
		return nil
	})
	if err == nil && len(large) > 0 {
		_ = w.ClearUnfinished(ctx) // the runs are gone, and the next to open the warehouse says what is wrong
	}
	return err
}

// change changes what the warehouse has, all of it or nothing. In a lake the names are taken meanwhile, see lockLake, and what others were first with is tried again.
func (w *Warehouse) change(ctx context.Context, names []string, do func(tx *sql.Tx) error) error {
	once := func() error {
		tx, err := w.DB.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := do(tx); err != nil {
			return err
		}
		return w.Commit(ctx, tx.Commit)
	}
	if w.Home.Lake == nil {
		return w.Again(ctx, once)
	}
	slices.Sort(names)
	release, err := w.lockLake(ctx, w.Home.Lake, lakeWait, names...)
	if err != nil {
		return err
	}
	defer release()
	return again(ctx, once)
}

// unfinishedRuns lists what is no run: what an ingest stored that was killed, or what is left of one that was removed.
func unfinishedRuns(ctx context.Context, q querier) ([]string, error) {
	return texts(q.QueryContext(ctx, `SELECT DISTINCT s.run_id::VARCHAR AS id FROM source s WHERE NOT EXISTS (SELECT 1 FROM run r WHERE r.run_id = s.run_id) ORDER BY id`))
}

// ClearUnfinished deletes all rows of what is no run. Nobody else may be storing one.
func (w *Warehouse) ClearUnfinished(ctx context.Context) error {
	rest, err := unfinishedRuns(ctx, w.DB)
	if err != nil || len(rest) == 0 {
		return err
	}
	large, err := w.largeTables(ctx)
	if err != nil {
		return err
	}
	for _, id := range rest {
		for _, t := range large {
			if err := w.deletePieces(ctx, t, id, rowsAtOnce); err != nil {
				return fmt.Errorf("delete the rows of an unfinished ingest from %s: %w", t, err)
			}
		}
		if err := w.clearRest(ctx, id); err != nil {
			return fmt.Errorf("delete the rows of an unfinished ingest: %w", err)
		}
	}
	return nil
}

// deletePieces deletes a run's rows of a large table, some at once. A commit may number the rows that stay anew.
func (w *Warehouse) deletePieces(ctx context.Context, table, runID string, atOnce int64) error {
	for {
		var first sql.NullInt64
		if err := w.DB.QueryRowContext(ctx, `SELECT min(rowid) FROM `+table+` WHERE run_id = ?::UUID`, runID).Scan(&first); err != nil || !first.Valid {
			return err
		}
		err := w.exec(ctx, `DELETE FROM `+table+` WHERE run_id = ?::UUID AND rowid < ?`, runID, first.Int64+atOnce)
		if err != nil {
			return err
		}
	}
}

func (w *Warehouse) clearRest(ctx context.Context, runID string) error {
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := deleteRun(ctx, tx, runID); err != nil {
		return err
	}
	return w.Commit(ctx, tx.Commit)
}

// Clear deletes what a run holds and the run itself, all but its tags and its names as a baseline, inside a transaction of the caller
// that makes it anew.
func Clear(ctx context.Context, tx SQL, runID string) error {
	return deleteRun(ctx, tx, runID, "run_tag", "baseline")
}

// deleteRun deletes a run's rows from all tables but some.
func deleteRun(ctx context.Context, tx SQL, runID string, but ...string) error {
	tables, err := runTables(ctx, tx)
	if err != nil {
		return err
	}
	pushed, err := texts(tx.QueryContext(ctx, `SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND table_name = 'pushed_run'`))
	if err != nil {
		return err
	}
	for _, t := range append(pushed, tables...) {
		if slices.Contains(but, t) {
			continue
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+t+` WHERE run_id = ?::UUID`, runID); err != nil {
			return fmt.Errorf("from %s: %w", t, err)
		}
	}
	return nil
}

// Tag sets tags of a run, in place of earlier values, all of them or none.
func (w *Warehouse) Tag(ctx context.Context, r Run, tags ...[2]string) error {
	return w.change(ctx, []string{"run " + r.ID}, func(tx *sql.Tx) error {
		if err := isThere(ctx, tx, r); err != nil {
			return err
		}
		for _, t := range tags {
			if err := SetTag(ctx, tx, r.ID, t[0], t[1]); err != nil {
				return err
			}
		}
		return nil
	})
}

// isThere reports whether a run that was found is there still: in a lake, others may have removed it.
func isThere(ctx context.Context, q querier, r Run) error {
	found, err := texts(q.QueryContext(ctx, `SELECT name FROM run WHERE run_id = ?::UUID`, r.ID))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%w: %q was removed meanwhile", ErrUnknownRun, r.Name)
	}
	return err
}

// Execer is what *sql.Tx, *sql.Conn and *sql.DB share for statements without rows.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// SetTag sets a tag inside a transaction of the caller.
func SetTag(ctx context.Context, tx Execer, runID, key, value string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM run_tag WHERE run_id = ?::UUID AND key = ?`, runID, key); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO run_tag VALUES (?::UUID, ?, ?)`, runID, key, mask.Value(key, value))
	return err
}

// ParseTag reads k=v.
func ParseTag(s string) (key, value string, err error) {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" || !utf8.ValidString(s) {
		return "", "", fmt.Errorf("tag %q: write it key=value, in UTF-8", s)
	}
	return key, value, nil
}

// Tags lists a run's tags as key=value, by key.
func (w *Warehouse) Tags(ctx context.Context, r Run) ([]string, error) {
	rows, err := w.DB.QueryContext(ctx, `SELECT key || '=' || value FROM run_tag WHERE run_id = ?::UUID ORDER BY key`, r.ID)
	return texts(rows, err)
}

// AllTags returns the tags of all runs as Tags does, by the run's id.
func (w *Warehouse) AllTags(ctx context.Context) (map[string][]string, error) {
	rows, err := w.DB.QueryContext(ctx, `SELECT run_id::VARCHAR, key || '=' || value FROM run_tag ORDER BY run_id, key`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string][]string{}
	for rows.Next() {
		var id, tag string
		if err := rows.Scan(&id, &tag); err != nil {
			return nil, err
		}
		out[id] = append(out[id], tag)
	}
	return out, rows.Err()
}

// ResolveAll finds the runs that ref means, oldest first and each once. It is what Resolve takes, but tag:key=value means every run
// with that tag, and several references may stand side by side with commas between them. A name with a comma in it is itself where
// there is such a run.
func (w *Warehouse) ResolveAll(ctx context.Context, ref string) ([]Run, error) {
	runs, err := w.Runs(ctx)
	if err != nil {
		return nil, err
	}
	found, err := w.resolveSet(ctx, runs, ref)
	if errors.Is(err, ErrUnknownRun) && strings.Contains(ref, ",") {
		found, err = w.resolveList(ctx, runs, ref)
	}
	if err != nil {
		return nil, err
	}
	var out []Run
	for _, r := range slices.Backward(runs) { // they are listed newest first
		if slices.ContainsFunc(found, func(f Run) bool { return f.ID == r.ID }) {
			out = append(out, r)
		}
	}
	return out, nil
}

// resolveList finds the runs of several references with commas between them.
func (w *Warehouse) resolveList(ctx context.Context, runs []Run, ref string) ([]Run, error) {
	var out []Run
	for part := range strings.SplitSeq(ref, ",") {
		if part = strings.TrimSpace(part); part == "" {
			return nil, fmt.Errorf("%w: %q has a comma too many", ErrUnknownRun, ref)
		}
		found, err := w.resolveSet(ctx, runs, part)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// resolveSet finds the runs of one reference.
func (w *Warehouse) resolveSet(ctx context.Context, runs []Run, ref string) ([]Run, error) {
	if !strings.HasPrefix(ref, "tag:") {
		r, err := w.resolve(ctx, runs, ref)
		return []Run{r}, err
	}
	key, value, ok := strings.Cut(strings.TrimPrefix(ref, "tag:"), "=")
	if !ok {
		return nil, fmt.Errorf("%w: %q; write tag:key=value", ErrUnknownRun, ref)
	}
	ids, err := texts(w.DB.QueryContext(ctx, `SELECT run_id::VARCHAR FROM run_tag WHERE key = ? AND value = ?`, key, value))
	if err != nil {
		return nil, err
	}
	var out []Run
	for _, r := range runs {
		if slices.Contains(ids, r.ID) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: none is tagged %s=%s", ErrUnknownRun, key, value)
	}
	return out, nil
}

// MostRunName bounds names of runs, in characters: tables and paths hold them.
const MostRunName = 200

// CheckRunName refuses names that read like another way to name a run.
func CheckRunName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a run is empty")
	case IsReference(name):
		return fmt.Errorf("run name %q: names that begin with @, tag: or baseline: are reserved", name)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("run name %q: it looks like an option", name)
	case uuid.Validate(name) == nil:
		return fmt.Errorf("run name %q: it looks like a run id", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("run name %q: it is not UTF-8", name)
	case utf8.RuneCountInString(name) > MostRunName:
		return fmt.Errorf("run name %q...: it has %d characters, more than %d", string([]rune(name)[:20]), utf8.RuneCountInString(name), MostRunName)
	case strings.TrimSpace(name) != name, strings.ContainsFunc(name, isUnprintable):
		return fmt.Errorf("run name %q: it must not begin or end with a space or contain control or format characters", name)
	case mask.Text(name) != name:
		return fmt.Errorf("run name %q: it looks like a secret", mask.Text(name))
	}
	return nil
}

// isUnprintable reports whether a character cannot be seen, moves a cursor or reorders a line.
func isUnprintable(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r != ' ' && unicode.IsSpace(r)
}
