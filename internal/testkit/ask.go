package testkit

import (
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"prof/ingest/derive"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// askers are of the warehouses that are open for reading.
var askers sync.Map

// Asker returns what asks a warehouse: where it cannot change, one for all tests, so that what is known of a run is asked once.
func Asker(w *schema.Warehouse) *queries.Asker {
	if w.Writable {
		return queries.NewAsker(w)
	}
	a, _ := askers.LoadOrStore(w, queries.NewAsker(w))
	return a.(*queries.Asker)
}

// Query returns the rows of a named query.
func Query(t testing.TB, w *schema.Warehouse, name string, args queries.Args) *frame.Frame {
	t.Helper()
	q, err := queries.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Asker(w).Run(t.Context(), q, args)
	if err != nil {
		t.Fatalf("query %s %v: %v", name, args, err)
	}
	return f
}

// Rows returns the rows of a statement as texts: values joined by bars, NULL as ~.
func Rows(t testing.TB, w *schema.Warehouse, stmt string, args ...any) []string {
	t.Helper()
	r, err := w.DB.QueryContext(t.Context(), stmt, args...)
	if err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	out, err := texts(r)
	if err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	return out
}

func texts(r *sql.Rows) (out []string, err error) {
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for r.Next() {
		if err := r.Scan(into...); err != nil {
			return nil, err
		}
		parts := make([]string, len(values))
		for i, v := range values {
			if parts[i] = fmt.Sprint(v); v == nil {
				parts[i] = "~"
			}
		}
		out = append(out, strings.Join(parts, "|"))
	}
	return out, r.Err()
}

// Expect compares the rows of a statement with texts as Rows returns them.
func Expect(t testing.TB, w *schema.Warehouse, stmt string, want ...string) {
	t.Helper()
	if got := Rows(t, w, stmt); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s returns\n  %s\nwant\n  %s", stmt, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// Exec runs statements that change what was captured; Derive makes the facts follow.
func Exec(t testing.TB, w *schema.Warehouse, stmt string, args ...any) {
	t.Helper()
	if _, err := w.DB.ExecContext(t.Context(), stmt, args...); err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
}

// Derive stores the facts of the named runs anew, of all runs where none is named.
func Derive(t testing.TB, w *schema.Warehouse, runs ...string) {
	t.Helper()
	all, err := w.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, name := range runs {
		names[name] = true
	}
	tx, err := w.DB.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, r := range all {
		if len(runs) > 0 && !names[r.Name] {
			continue
		}
		if err := schema.DeriveAnew(t.Context(), tx, w.Facts, r.ID); err != nil {
			t.Fatalf("derive the facts of %s: %v", r.Name, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// DeriveOnly stores some facts of all runs anew, by the names of their files, with those that they are made from, and clears all others; without a
// name it stores all facts. The classes of kernels and ranges stay as they are: tests that make up a run may make them up too.
func DeriveOnly(t testing.TB, w *schema.Warehouse, names ...string) {
	t.Helper()
	facts := derive.Facts{}
	if len(names) > 0 {
		var err error
		if facts, err = derive.Behind(names...); err != nil {
			t.Fatal(err)
		}
	}
	tables, err := facts.Tables()
	if err != nil {
		t.Fatal(err)
	}
	runs, err := w.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tx, err := w.DB.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, table := range tables {
		if _, err := tx.Exec("DELETE FROM " + table.Name); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range runs {
		if err := facts.Derive(t.Context(), tx, r.ID); err != nil {
			t.Fatalf("derive the facts of %s: %v", r.Name, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}
