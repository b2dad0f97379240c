package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Facts are tables whose rows follow from what was captured of a run and from the rules. Like definitions they are code: dropped, made and
// filled again whenever they differ.
type Facts interface {
	// Tables are the tables, the first column of each run_id.
	Tables() ([]Table, error)
	// Checksum identifies the tables and what fills them.
	Checksum() (string, error)
	// Derive fills the tables with the facts of a run that has none in them.
	Derive(ctx context.Context, q SQL, runID string) error
	// Lack stores, of a run that has no facts, that it lacks them.
	Lack(ctx context.Context, q SQL, runID string) error
}

// Table is a table of facts.
type Table struct {
	Name, Doc string
	Columns   []TableColumn
	Query     string // the SELECT that fills it; "" where Derive leaves it empty
}

// TableColumn is a column of a table of facts.
type TableColumn struct{ Name, Type, Doc string }

// create makes the table with its comments; the mark tells it from a user's.
func (t Table) create() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (", t.Name)
	for i, c := range t.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", c.Name, c.Type)
	}
	fmt.Fprintf(&b, ");\nCOMMENT ON TABLE %s IS %s;\n", t.Name, Quote(DocMark+t.Doc))
	for _, c := range t.Columns {
		fmt.Fprintf(&b, "COMMENT ON COLUMN %s.%s IS %s;\n", t.Name, c.Name, Quote(c.Doc))
	}
	return b.String()
}

// makeFacts drops the tables of facts of an earlier prof and makes those of this one, empty: every run is stale then.
func makeFacts(ctx context.Context, tx *sql.Tx, f Facts) error {
	drops, err := texts(tx.QueryContext(ctx, `SELECT 'DROP TABLE ' || table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal AND starts_with(comment, ?)`, DocMark))
	if err != nil {
		return err
	}
	for _, s := range drops {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	tables, err := f.Tables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		if _, err := tx.ExecContext(ctx, t.create()); err != nil {
			return fmt.Errorf("make table %s: %w", t.Name, err)
		}
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM derivation`)
	return err
}

// lacking is at the end of the checksum of a run whose facts did not fit DuckDB's memory: who reads it does without them, and who writes tries again.
const lacking = " lacking"

// staleRuns lists the runs whose facts were not derived by these definitions and the rules in the warehouse, or only those with which nobody has tried.
func staleRuns(ctx context.Context, q querier, sum string, untried bool) ([]string, error) {
	by, err := derivedBy(ctx, q, "", sum)
	if err != nil {
		return nil, err
	}
	is := Quote(by)
	if untried {
		is += ", " + Quote(by+lacking)
	}
	stale, err := texts(q.QueryContext(ctx, `SELECT r.run_id::VARCHAR FROM run r ANTI JOIN derivation d ON d.run_id = r.run_id AND d.checksum IN (`+is+`)`))
	slices.Sort(stale)
	return stale, err
}

// classified are the tables that Derive fills besides those of facts.
var classified = []string{"derivation", "kernel_class", "kernel_spelling", "path_stage"}

// DeriveAnew stores the facts of a run in place of those it has, inside a transaction.
func DeriveAnew(ctx context.Context, q SQL, f Facts, runID string) error {
	if err := clearFacts(ctx, q, f, runID); err != nil {
		return err
	}
	return Derive(ctx, q, f, runID)
}

// LackFacts stores of a run, in place of its facts, that it lacks them, inside a transaction.
func LackFacts(ctx context.Context, q SQL, f Facts, runID string) error {
	if err := clearFacts(ctx, q, f, runID); err != nil {
		return err
	}
	if err := f.Lack(ctx, q, runID); err != nil {
		return err
	}
	return derived(ctx, q, f, runID, lacking)
}

func clearFacts(ctx context.Context, q SQL, f Facts, runID string) error {
	tables, err := f.Tables()
	if err != nil {
		return err
	}
	names := slices.Clone(classified)
	for _, t := range tables {
		names = append(names, t.Name)
	}
	for _, t := range names {
		if _, err := q.ExecContext(ctx, `DELETE FROM `+t+` WHERE run_id = ?::UUID`, runID); err != nil {
			return fmt.Errorf("clear %s: %w", t, err)
		}
	}
	return nil
}

// Derive stores the facts of a run that has none, inside a transaction: the classes of its kernels and ranges by the rules, and the tables
// of facts.
func Derive(ctx context.Context, q SQL, f Facts, runID string) error {
	rules, err := LoadRules(ctx, q)
	if err != nil {
		return err
	}
	if err := rules.Classify(ctx, q, runID); err != nil {
		return err
	}
	if err := f.Derive(ctx, q, runID); err != nil {
		return err
	}
	return derived(ctx, q, f, runID, "")
}

// derived stores what a run's facts were derived by.
func derived(ctx context.Context, q SQL, f Facts, runID, but string) error {
	sum, err := f.Checksum()
	if err != nil {
		return err
	}
	by, err := derivedBy(ctx, q, "", sum)
	if err == nil {
		_, err = q.ExecContext(ctx, `INSERT INTO derivation (run_id, checksum) VALUES (`+Quote(runID)+`, `+Quote(by+but)+`)`)
	}
	return err
}

// deriveTime is how long runs are derived in one transaction before it is committed: a commit takes as long as deriving a small run.
const deriveTime = time.Second

// deriveStale derives what is stale, a few small runs or a large one a transaction: a process killed between two leaves the others for the
// next. A run for which memory does not suffice lacks its facts until the next time.
func (w *Warehouse) deriveStale(ctx context.Context, o Options) error {
	sum, err := o.Facts.Checksum()
	if err != nil {
		return err
	}
	stale, err := staleRuns(ctx, w.DB, sum, false)
	if err != nil {
		return err
	}
	for done := 0; done < len(stale); {
		n, err := w.deriveSome(ctx, o, stale, done, true)
		if IsOutOfMemory(err) { // several statements at once need more than one
			n, err = 1, w.Again(ctx, func() error {
				_, err := w.deriveSome(ctx, o, stale[:done+1], done, false)
				return err
			})
		}
		if errors.Is(err, ErrMemory) {
			if o.Talk != nil {
				o.Talk(err.Error())
			}
			err = w.change(ctx, nil, func(tx *sql.Tx) error { return LackFacts(ctx, tx, o.Facts, stale[done]) })
		}
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}

// LargeRun is how many rows make a run large: its statements go on side by side when its facts are derived anew. A variable for tests.
var LargeRun int64 = 250_000

// deriveBeside derives a run anew, its statements side by side.
func (w *Warehouse) deriveBeside(ctx context.Context, f Facts, id string) error {
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	threads := 0
	if err := conn.QueryRowContext(ctx, `SELECT current_setting('threads')`).Scan(&threads); err != nil {
		return err
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf(`SET threads = %d`, threads)) // for what the command does then
	err = w.Beside(ctx, conn, nil, func(q SQL) error { return Derive(ctx, q, f, id) }, func() error { return clearFacts(ctx, conn, f, id) })
	if err != nil {
		return fmt.Errorf("run %s: %w", id, err)
	}
	return nil
}

// deriveSome derives runs from one on in a transaction, and gives how many: one where it is large and may be derived beside it.
func (w *Warehouse) deriveSome(ctx context.Context, o Options, stale []string, first int, beside bool) (n int, err error) {
	large := map[string]bool{}
	if beside {
		list, err := texts(w.DB.QueryContext(ctx, `SELECT run_id::VARCHAR FROM source GROUP BY run_id HAVING sum(row_count) >= ?`, LargeRun))
		if err != nil {
			return 0, err
		}
		for _, id := range list {
			large[id] = true
		}
		if large[stale[first]] {
			if o.Progress != nil {
				o.Progress(first, len(stale))
			}
			return 1, w.deriveBeside(ctx, o.Facts, stale[first])
		}
	}
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	for start := time.Now(); first+n < len(stale) && !large[stale[first+n]] && time.Since(start) < deriveTime; n++ {
		if o.Progress != nil {
			o.Progress(first+n, len(stale))
		}
		id := stale[first+n]
		if err := DeriveAnew(ctx, tx, o.Facts, id); err != nil {
			return 0, fmt.Errorf("run %s: %w", id, err)
		}
	}
	return n, w.Commit(ctx, tx.Commit)
}
