package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"prof/internal/scratch"
)

// What is stored in a lake is made in a file first, as in any other warehouse, and then pushed: a run is derived in a file many times faster, and a lake sees all of it
// at once.

// indexTables are those by which an ingest finds what is there already.
var indexTables = []string{"run", "source", "source_fact", "model", "model_note", "workload", "workload_pass", "derivation", "run_tag", "baseline"}

// lakeWait is how long who writes into a lake waits for others that write the same.
const lakeWait = time.Minute

// openStore makes a file that knows what runs a lake has, and the lake's rules, for runs that Publish puts into the lake.
func openStore(ctx context.Context, home Home, o Options) (*Warehouse, error) {
	dir, err := scratch.Make("")
	if err != nil {
		return nil, err
	}
	w, err := openWrite(ctx, Home{Dir: dir.Path}, o)
	if err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	release := w.release
	w.release = func() error { return errors.Join(release(), dir.Remove()) }
	w.lake, w.upgrading = home.Lake, o.unchecked
	err = w.withLake(ctx, w.lake, toRead, func(conn *sql.Conn) error { return w.copyIndex(ctx, conn, o) })
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// copyIndex copies the rules that all runs share, and by what runs are known, from the attached lake.
func (w *Warehouse) copyIndex(ctx context.Context, conn *sql.Conn, o Options) error {
	if err := checkLake(ctx, conn, lakeName+".main.", o); err != nil {
		return fmt.Errorf("%s: %w", w.lake, err)
	}
	known, err := knownMigrations()
	if err != nil {
		return err
	}
	shared, err := madeTables(known, func(t ddlTable) bool { return t.columns[0][0] != "run_id" })
	if err != nil {
		return err
	}
	return w.Transact(ctx, conn, func() error {
		for _, t := range slices.Concat(shared, indexTables) {
			for _, s := range []string{"DELETE FROM " + t, "INSERT INTO " + t + " BY NAME SELECT * FROM " + lakeName + ".main." + t} {
				if _, err := conn.ExecContext(ctx, s); err != nil {
					return fmt.Errorf("table %s: %w", t, err)
				}
			}
		}
		return nil
	})
}

// Fetch gets all of a run whose rows a change needs; a warehouse that is a file has them.
func (w *Warehouse) Fetch(ctx context.Context, run Run) error {
	if w.lake == nil {
		return nil
	}
	var f fetched
	err := w.withLake(ctx, w.lake, toRead, func(conn *sql.Conn) error {
		return w.Transact(ctx, conn, func() (err error) {
			if f.state, err = pushedState(ctx, conn, run.ID); err != nil {
				return err
			}
			if err := deleteRun(ctx, conn, run.ID, "baseline"); err != nil {
				return err
			}
			if err := (&Moved{Run: run}).pull(ctx, conn, w.Facts); err != nil {
				return err
			}
			f.tags, err = texts(conn.QueryContext(ctx, `SELECT key || '=' || value FROM run_tag WHERE run_id = ?::UUID`, run.ID))
			return err
		})
	})
	if w.fetched == nil {
		w.fetched = map[string]fetched{}
	}
	w.fetched[run.ID] = f
	if err != nil {
		err = fmt.Errorf("get run %s from the lake: %w", run.Name, err)
	}
	return err
}

// Publish puts runs where others see them, after they were stored or changed, all of them or none; those of a file are seen.
func (w *Warehouse) Publish(ctx context.Context, runs ...Run) error {
	if w.lake == nil || len(runs) == 0 {
		return nil
	}
	var moved []*Moved
	for _, r := range runs {
		moved = append(moved, &Moved{Run: r})
	}
	return w.withLake(ctx, w.lake, toChange, func(conn *sql.Conn) error {
		return w.pushTogether(ctx, conn, w.lake, moved, func(r Run) PushOptions {
			f := w.fetched[r.ID]
			return PushOptions{Replace: f.state != "", upgrade: w.upgrading, seen: f.state, known: f.tags}
		})
	})
}

// fetched is what a lake had of a run when it was fetched.
type fetched struct {
	state string // see pushedState
	tags  []string
}
