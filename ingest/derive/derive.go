// Package derive stores what follows from a run's captures, its workload and the rules: facts, each defined by one SQL file and read by
// queries as a table. It runs at the end of every ingest, in its transaction, and again where a definition, a rule or a fact of the
// workload has changed.
package derive

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"prof/schema"
	"prof/schema/sqlfile"
)

//go:embed sql/*/*.sql
var files embed.FS

// Facts fills the tables of facts, see schema.Facts. The zero value is ready.
type Facts struct{}

// fact is one file: a table, or a step towards others whose rows are dropped when all is stored.
type fact struct {
	sqlfile.File
	step bool
	uses []string // words of its body: names of those that it reads are among them
}

// needed are the tables of its needs, of which one written a|b is met by rows in either.
func (f fact) needed() []string {
	return slices.DeleteFunc(strings.Split(strings.Join(f.Needs, "|"), "|"), func(t string) bool { return t == "" })
}

// load reads the files, each behind those that it reads from.
var load = sync.OnceValues(func() ([]fact, error) {
	names, err := fs.Glob(files, "sql/*/*.sql")
	if err != nil {
		return nil, err
	}
	byName := map[string]fact{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(path.Base(name), ".sql")
		f, err := sqlfile.Parse(base, string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, c := range f.Columns {
			if c.Type == "" {
				return nil, fmt.Errorf("%s: column %s has no type", name, c.Name)
			}
		}
		byName[base] = fact{f, strings.HasPrefix(base, "_"), word.FindAllString(comment.ReplaceAllString(f.Body, ""), -1)}
	}
	for name, f := range byName {
		for _, t := range f.needed() {
			if _, own := byName[t]; own {
				return nil, fmt.Errorf("%s needs %s, a fact: what it needs is looked for before any fact is stored", name, t)
			}
		}
	}
	return inOrder(byName), nil
})

var word = regexp.MustCompile(`\w+`)

func inOrder(byName map[string]fact) []fact {
	var out []fact
	done := map[string]bool{}
	var put func(name string)
	put = func(name string) {
		f, known := byName[name]
		if !known || done[name] {
			return
		}
		done[name] = true
		for _, used := range f.uses {
			put(used)
		}
		out = append(out, f)
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range byName {
			if !yield(name) {
				return
			}
		}
	}) {
		put(name)
	}
	return out
}

var comment = regexp.MustCompile(`--[^\n]*`)

// Tables are the tables of facts, in the order in which they are filled.
func (Facts) Tables() ([]schema.Table, error) {
	all, err := load()
	if err != nil {
		return nil, err
	}
	var out []schema.Table
	for _, f := range all {
		if f.step {
			continue
		}
		t := schema.Table{Name: f.Name, Doc: fmt.Sprintf("%s Grain: %s. Key: run_id, %s.", f.Doc, f.Grain, f.Key), Columns: []schema.TableColumn{{Name: "run_id", Type: "UUID NOT NULL", Doc: "the run"}}}
		for _, c := range f.Columns {
			t.Columns = append(t.Columns, schema.TableColumn{Name: c.Name, Type: c.Type, Doc: c.Doc})
		}
		out = append(out, t)
	}
	return out, nil
}

// Checksum identifies the definitions of the facts: the files as they are.
func (Facts) Checksum() (string, error) { return checksum() }

var checksum = sync.OnceValues(func() (string, error) { return sqlfile.Checksum(files, "sql/*/*.sql") })

// Derive fills the tables with the facts of a run that has none.
func (Facts) Derive(ctx context.Context, q schema.SQL, runID string) error {
	all, err := load()
	if err != nil {
		return err
	}
	has, err := present(ctx, q, all, runID)
	if err != nil {
		return err
	}
	run := schema.Quote(runID) + "::UUID"
	lacks := func(f fact) bool {
		return slices.ContainsFunc(f.Needs, func(some string) bool {
			return !slices.ContainsFunc(strings.Split(some, "|"), func(table string) bool { return has[table] })
		})
	}
	read, wanted := map[string]bool{}, map[string]bool{}
	for _, f := range slices.Backward(all) { // a step is wanted by what reads it
		if wanted[f.Name] = f.step && read[f.Name] || !f.step && !lacks(f); wanted[f.Name] {
			for _, used := range f.uses {
				read[used] = true
			}
		}
	}
	for _, f := range all {
		if !wanted[f.Name] {
			continue
		}
		body := strings.ReplaceAll(f.Body, "$run", run)
		if lacks(f) { // others read it
			body += "\nLIMIT 0"
		}
		names := make([]string, len(f.Columns))
		for i, c := range f.Columns {
			names[i] = `"` + c.Name + `"`
		}
		list := strings.Join(names, ", ")
		stmt := fmt.Sprintf("INSERT INTO %s (run_id, %s) SELECT %s, %s FROM (\n%s\n)", f.Name, list, run, list, body)
		if f.step {
			stmt = fmt.Sprintf("CREATE OR REPLACE TEMP TABLE %s AS SELECT %s FROM (\n%s\n)", f.Name, list, body)
		}
		if _, err := q.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("derive %s: %w", f.Name, err)
		}
	}
	for _, f := range all {
		if f.step && wanted[f.Name] {
			if _, err := q.ExecContext(ctx, "DROP TABLE "+f.Name); err != nil {
				return fmt.Errorf("drop %s: %w", f.Name, err)
			}
		}
	}
	return nil
}

// present says which of the tables that facts need have rows of the run.
func present(ctx context.Context, q schema.SQL, all []fact, runID string) (map[string]bool, error) {
	var tables []string
	for _, f := range all {
		for _, t := range f.needed() {
			if !slices.Contains(tables, t) {
				tables = append(tables, t)
			}
		}
	}
	has := map[string]bool{}
	if len(tables) == 0 {
		return has, nil
	}
	parts := make([]string, len(tables))
	for i, t := range tables {
		parts[i] = fmt.Sprintf("SELECT %s AS name WHERE EXISTS (SELECT 1 FROM %s t WHERE t.run_id = %s::UUID)", schema.Quote(t), t, schema.Quote(runID))
	}
	rows, err := q.QueryContext(ctx, strings.Join(parts, "\nUNION ALL "))
	if err != nil {
		return nil, fmt.Errorf("look what run %s holds: %w", runID, err)
	}
	defer rows.Close()
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			return nil, err
		}
		has[t] = true
	}
	return has, rows.Err()
}
