package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// UpgradeLake brings a lake to the tables, the built-in rules and the facts of this program. Meanwhile the lake refuses others. Runs are derived anew one a transaction, so
// that an upgrade that was interrupted goes on where it was. It gives how many runs that were.
func UpgradeLake(ctx context.Context, l *Lake, o Options) (derived int, err error) {
	o.unchecked, o.Write = true, true
	w, err := openLake(ctx, Home{Lake: l}, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	release, err := w.lockLake(ctx, l, 0, "upgrade")
	if err != nil {
		return 0, err
	}
	defer release()
	if err := w.upgradeTables(ctx, o); err != nil {
		return 0, fmt.Errorf("%s: %w", l, err)
	}
	sum, err := o.Facts.Checksum()
	if err != nil {
		return 0, err
	}
	stale, err := staleRuns(ctx, w.DB, sum, false)
	if err != nil {
		return 0, err
	}
	if len(stale) > 0 {
		if !l.usesPostgres() { // a file is open once at a time
			if err := w.Close(); err != nil {
				return 0, err
			}
		}
		if derived, err = upgradeRuns(ctx, l, o, stale); err != nil {
			return derived, fmt.Errorf("%s: %w", l, err)
		}
		if !l.usesPostgres() {
			again, err := openLake(ctx, Home{Lake: l}, o)
			if err != nil {
				return derived, err
			}
			w = again
		}
	}
	by, err := derivedBy(ctx, w.DB, "", sum)
	if err != nil {
		return derived, err
	}
	return derived, w.change(ctx, nil, func(tx *sql.Tx) error { return replaceRecord(ctx, tx, derivedVersion, "derived", by) })
}

// upgradeTables makes the tables of a lake those of this program, with its built-in rules, and closes the lake to others where facts must be derived anew.
func (w *Warehouse) upgradeTables(ctx context.Context, o Options) error {
	known, err := knownMigrations()
	if err != nil {
		return err
	}
	facts, err := o.Facts.Checksum()
	if err != nil {
		return err
	}
	applied, err := appliedVersions(ctx, w.DB, "")
	if err == nil {
		err = checkApplied(applied, known)
	}
	if err != nil {
		return err
	}
	if len(applied) == 0 {
		return fmt.Errorf("%w: it has no tables of prof: `prof lake init` makes them", ErrNoLake)
	}
	return w.change(ctx, nil, func(tx *sql.Tx) error {
		for _, m := range known {
			if _, done := applied[m.version]; done {
				continue
			}
			if err := apply(ctx, tx, m); err != nil {
				return fmt.Errorf("migration %04d_%s: %w", m.version, m.name, err)
			}
		}
		if applied[factsVersion] != facts {
			if err := makeFacts(ctx, tx, o.Facts); err != nil {
				return err
			}
			if err := replaceRecord(ctx, tx, factsVersion, "facts", facts); err != nil {
				return err
			}
		}
		if err := seedAll(ctx, tx); err != nil {
			return err
		}
		by, err := derivedBy(ctx, tx, "", facts)
		if err != nil || applied[derivedVersion] == by {
			return err
		}
		return replaceRecord(ctx, tx, derivedVersion, "derived", "upgrading")
	})
}

// upgradeRuns derives runs of a lake anew.
func upgradeRuns(ctx context.Context, l *Lake, o Options, ids []string) (derived int, err error) {
	s, err := openStore(ctx, Home{Lake: l}, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	runs, err := s.Runs(ctx)
	if err != nil {
		return 0, err
	}
	for i, id := range ids {
		if o.Progress != nil {
			o.Progress(i, len(ids))
		}
		at := slices.IndexFunc(runs, func(r Run) bool { return r.ID == id })
		if at < 0 { // removed meanwhile
			continue
		}
		if err := s.Fetch(ctx, runs[at]); err != nil {
			return i, err
		}
		if err := s.Publish(ctx, runs[at]); err != nil {
			return i, err
		}
		if err := s.Remove(ctx, runs[at]); err != nil { // its rows are many
			return i, err
		}
	}
	return len(ids), nil
}
