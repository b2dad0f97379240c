package schema

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"time"

	"prof/internal/suggest"
)

// BaselinePrefix begins a reference to the run that bears a baseline's name.
const BaselinePrefix = "baseline:"

// Baseline is a name that the user gave to a run, to compare others with it.
type Baseline struct {
	Name  string
	Run   Run
	SetAt time.Time
}

// baselineName is what baselines may be called: like branches, so that one can be kept for each.
var baselineName = regexp.MustCompile(`^[\pL\pN_][\pL\pN_./+-]*$`)

// Baselines lists them by name. One whose run is gone is left out: nothing can be compared with it.
func (w *Warehouse) Baselines(ctx context.Context) ([]Baseline, error) {
	runs, err := w.Runs(ctx)
	if err != nil {
		return nil, err
	}
	return w.baselinesOf(ctx, runs)
}

// baselinesOf lists those that one of the runs bears.
func (w *Warehouse) baselinesOf(ctx context.Context, runs []Run) ([]Baseline, error) {
	byID := map[string]Run{}
	for _, r := range runs {
		byID[r.ID] = r
	}
	rows, err := w.DB.QueryContext(ctx, `SELECT name, run_id::VARCHAR, set_at FROM baseline ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("read the baselines: %w", err)
	}
	defer rows.Close()
	var out []Baseline
	for rows.Next() {
		var b Baseline
		var id string
		if err := rows.Scan(&b.Name, &id, &b.SetAt); err != nil {
			return nil, fmt.Errorf("read the baselines: %w", err)
		}
		if r, found := byID[id]; found {
			b.Run = r
			out = append(out, b)
		}
	}
	return out, rows.Err()
}

// SetBaseline gives a run a name as a baseline; the run that had it before loses it. A run may have several names.
func (w *Warehouse) SetBaseline(ctx context.Context, name string, r Run, at time.Time) error {
	if err := CheckBaselineName(name); err != nil {
		return err
	}
	err := w.change(ctx, []string{"baseline " + name, "run " + r.ID}, func(tx *sql.Tx) error {
		if err := isThere(ctx, tx, r); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM baseline WHERE name = ?`, name); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO baseline (run_id, name, set_at) VALUES (?::UUID, ?, ?)`, r.ID, name, at.UTC())
		return err
	})
	if err != nil {
		return fmt.Errorf("set the baseline %s: %w", name, err)
	}
	return nil
}

// RemoveBaseline takes a baseline's name away; the run stays.
func (w *Warehouse) RemoveBaseline(ctx context.Context, b Baseline) error {
	err := w.change(ctx, []string{"baseline " + b.Name}, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM baseline WHERE name = ?`, b.Name)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove the baseline %s: %w", b.Name, err)
	}
	return nil
}

// CheckBaselineName returns what is wrong with a name; nil when nothing is.
func CheckBaselineName(name string) error {
	if !baselineName.MatchString(name) {
		return fmt.Errorf("baseline %q: a name is of letters, digits and _ . / + -, and begins with a letter, a digit or _, such as main or release/1.2", name)
	}
	return nil
}

// FindBaseline returns the baseline of that name; its error wraps ErrUnknownRun.
func (w *Warehouse) FindBaseline(ctx context.Context, name string) (Baseline, error) {
	runs, err := w.Runs(ctx)
	if err != nil {
		return Baseline{}, err
	}
	return w.findBaseline(ctx, runs, name)
}

func (w *Warehouse) findBaseline(ctx context.Context, runs []Run, name string) (Baseline, error) {
	all, err := w.baselinesOf(ctx, runs)
	if err != nil {
		return Baseline{}, err
	}
	var names []string
	for _, b := range all {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	if len(all) == 0 {
		return Baseline{}, fmt.Errorf("%w: no baseline is set; `prof baseline set %s RUN` sets it", ErrUnknownRun, baselineOr(name))
	}
	return Baseline{}, fmt.Errorf("%w: there is no baseline %q%s", ErrUnknownRun, name, suggest.DidYouMean(name, names))
}

// baselineOr is a name for a hint.
func baselineOr(name string) string {
	if CheckBaselineName(name) != nil {
		return "NAME"
	}
	return name
}

func (w *Warehouse) resolveBaseline(ctx context.Context, runs []Run, ref string) (Run, error) {
	b, err := w.findBaseline(ctx, runs, strings.TrimPrefix(ref, BaselinePrefix))
	return b.Run, err
}
