package queries_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"prof/internal/testkit"
	"prof/schema"
)

// TestApart holds that runs derived apart, statements side by side, have the facts that those have which are derived in one transaction, and leave nothing behind.
func TestApart(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "profiled", "ranks", "engine-node", "torch-llama", "nccl2-stats")...)
	testkit.Derive(t, w) // what was stored changed since
	runs, err := w.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tables, err := w.Facts.Tables()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"run", "derivation", "kernel_class", "kernel_spelling", "path_stage"}
	for _, f := range tables {
		names = append(names, f.Name)
	}
	var home string
	if err := w.DB.QueryRowContext(t.Context(), "SELECT current_database()").Scan(&home); err != nil {
		t.Fatal(err)
	}
	conn, err := w.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	compared := errors.New("compared: nothing is to be stored twice")
	for _, r := range runs {
		err := w.Beside(t.Context(), conn, []string{"run"}, func(q schema.SQL) error {
			if _, err := q.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO run FROM %s.main.run WHERE run_id = '%s'", home, r.ID)); err != nil {
				return err
			}
			if err := schema.Derive(t.Context(), q, w.Facts, r.ID); err != nil {
				return err
			}
			for _, name := range names {
				if got := rows(t, w, fmt.Sprintf(`SELECT 'lacks', * FROM (FROM main.%[1]s WHERE run_id = '%[2]s' EXCEPT ALL FROM prof_apart.main.%[1]s)
					UNION ALL SELECT 'has', * FROM (FROM prof_apart.main.%[1]s EXCEPT ALL FROM main.%[1]s WHERE run_id = '%[2]s')`, name, r.ID)); len(got) > 0 {
					t.Errorf("%s: derived apart, %s differs: %q", r.Name, name, got)
				}
			}
			return compared
		}, nil)
		if !errors.Is(err, compared) {
			t.Fatalf("%s: %v", r.Name, err)
		}
	}
	for range 8 { // a connection that is used again finds the tables of the warehouse
		if got := rows(t, w, "SELECT count(*) FROM run"); got[0] != fmt.Sprintf("[%d]", len(runs)) {
			t.Errorf("%q runs, want %d", got, len(runs))
		}
	}
}

// TestApartStops holds that a failing or interrupted derivation ends with its own error, whatever else is at work.
func TestApartStops(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "engine-node")...)
	runs, err := w.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := w.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Beside(t.Context(), conn, []string{"run"}, func(q schema.SQL) error { return w.Facts.Derive(ctx, q, runs[0].ID) }, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, it ends with %v", err)
	}
	if err := w.Beside(t.Context(), conn, []string{"run"}, func(q schema.SQL) error {
		if _, err := q.ExecContext(t.Context(), "ALTER TABLE critical_step DROP COLUMN reason"); err != nil {
			return err
		}
		return schema.Derive(t.Context(), q, w.Facts, runs[0].ID)
	}, nil); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("with a table that lacks a column it ends with %v", err)
	}
}
