// Package facts derives what follows from a run's captures, its workload and the rules: facts, each defined by one SQL file and read by queries as a table.
// They are derived at the end of every ingest, in its transaction, and again where a definition, a rule or a fact of the workload has changed.
package facts

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"prof/schema"
	"prof/schema/sqlfile"
)

// Files are the facts, sql/DOMAIN/NAME.sql each.
//
//go:embed sql/*/*.sql
var Files embed.FS

// Shared are relations that facts are made with, and queries too.
//
//go:embed shared/*.sql
var Shared embed.FS

// Views are relations for SQL of the user's that facts and queries read too.
//
//go:embed views/*.sql
var Views embed.FS

// Checksum identifies the files.
func Checksum() (string, error) { return checksum() }

var checksum = sync.OnceValues(func() (string, error) {
	sum, err := sqlfile.Checksum(Files, "sql/*/*.sql")
	if err != nil {
		return "", err
	}
	shared, err := SharedChecksum()
	return sum + shared, err
})

// SharedChecksum identifies the files that queries read too.
var SharedChecksum = sync.OnceValues(func() (string, error) {
	shared, err := sqlfile.Checksum(Shared, "shared/*.sql")
	if err != nil {
		return "", err
	}
	views, err := sqlfile.Checksum(Views, "views/*.sql")
	return shared + views, err
})

// Behind are the named files and those that they are made from.
func Behind(names ...string) ([]string, error) {
	_, all, err := sorted()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for todo := slices.Clone(names); len(todo) > 0; todo = todo[1:] {
		f := all[todo[0]]
		if f == nil && slices.Contains(names, todo[0]) {
			return nil, fmt.Errorf("no file of facts is called %s", todo[0])
		}
		if f == nil || seen[f.Name] {
			continue
		}
		seen[f.Name] = true
		todo = slices.Concat(todo, f.reads, f.needed())
		for _, more := range all {
			if more.Into == f.Name && f.Name != "caveat" { // sentences of all topics are in it
				todo = append(todo, more.Name)
			}
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

func fills(only []string, f *fact) bool { return only == nil || slices.Contains(only, f.Name) }

// fact is one file: a table, more rows of one, or a step towards others whose rows are dropped when all is stored.
type fact struct {
	sqlfile.File
	step  bool
	reads []string // other facts and steps, through shared relations too
}

// needed are the tables, facts and steps that its header names, any one of several too.
func (f *fact) needed() []string {
	return strings.FieldsFunc(strings.Join(f.Needs, "|"), func(r rune) bool { return r == '|' })
}

// load reads the files, by name.
var load = sync.OnceValues(func() (map[string]*fact, error) {
	names, err := fs.Glob(Files, "sql/*/*.sql")
	if err != nil {
		return nil, err
	}
	all := map[string]*fact{}
	for _, name := range names {
		text, err := sqlfile.Text(Files, name)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(path.Base(name), ".sql")
		f, err := sqlfile.Parse(base, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, c := range f.Columns {
			if c.Type == "" || schema.IsID(base, c.Name) && !strings.HasPrefix(c.Type, "BIGINT") {
				return nil, fmt.Errorf("%s: column %s has the type %q: it needs one, and an id is BIGINT", name, c.Name, c.Type)
			}
		}
		all[base] = &fact{File: f, step: strings.HasPrefix(base, "_")}
	}
	shared, err := sharedBodies()
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		if f.Into != "" && all[f.Into] == nil {
			return nil, fmt.Errorf("%s gives rows of %s, which no file defines", f.Name, f.Into)
		}
		seen := map[string]bool{f.Name: true}
		var read func(text string)
		read = func(text string) {
			for name := range sqlfile.Uses(text) {
				if seen[name] {
					continue
				}
				seen[name] = true
				if all[name] != nil {
					f.reads = append(f.reads, name)
				} else if body, is := shared[name]; is {
					read(body)
				}
			}
		}
		read(f.Body)
		for _, name := range slices.Sorted(maps.Keys(all)) { // who reads a relation waits for all who add rows to it
			if into := all[name].Into; into != "" && slices.Contains(f.reads, into) {
				f.reads = append(f.reads, name)
			}
		}
	}
	return all, nil
})

// sharedBodies are the shared relations by name.
func sharedBodies() (map[string]string, error) {
	out := map[string]string{}
	return out, fs.WalkDir(Shared, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sqlfile.Text(Shared, name)
		if err != nil {
			return err
		}
		base := strings.TrimSuffix(path.Base(name), ".sql")
		f, err := sqlfile.Parse(base, text)
		out[strings.ReplaceAll(base, "-", "_")] = f.Body
		return err
	})
}

// sorted are the facts, and the steps too, by name.
func sorted() ([]*fact, map[string]*fact, error) {
	all, err := load()
	return slices.SortedFunc(maps.Values(all), func(a, b *fact) int { return strings.Compare(a.Name, b.Name) }), all, err
}

// Tables are the tables of facts; Derive fills those of the files that only names, or all where it is nil.
func Tables(only []string) ([]schema.Table, error) {
	all, _, err := sorted()
	if err != nil {
		return nil, err
	}
	var out []schema.Table
	for _, f := range all {
		if f.step || f.Into != "" {
			continue
		}
		t := schema.Table{Name: f.Name, Doc: fmt.Sprintf("%s Grain: %s. Key: run_id, %s.", f.Doc, f.Grain, f.Key), Columns: []schema.TableColumn{{Name: "run_id", Type: "UUID NOT NULL", Doc: "the run"}}}
		for _, c := range f.Columns {
			t.Columns = append(t.Columns, schema.TableColumn{Name: c.Name, Type: c.Type, Doc: c.Doc})
		}
		if fills(only, f) {
			t.Query = f.Body
		}
		out = append(out, t)
	}
	return out, nil
}

// asWritten makes DuckDB build the hash table of a join from its right side, as the files are written: of rows that the transaction has not
// committed it knows no statistics, and builds it from millions of kernels to look up a few names.
const asWritten = `SET disabled_optimizers = 'build_side_probe_side'`

// Derive fills the tables with the facts of a run that has none, those of the files that only names, or all where it is nil; computed are steps whose
// rows SQL does not find.
func Derive(ctx context.Context, q schema.SQL, runID string, only []string, computed map[string]Computed) (err error) {
	if _, err := q.ExecContext(ctx, asWritten); err != nil {
		return err
	}
	defer func() {
		// After an error the transaction takes no statement, and the process has no other use for the connection.
		if _, e := q.ExecContext(context.WithoutCancel(ctx), `SET disabled_optimizers = ''`); err == nil {
			err = e
		}
	}()
	all, byName, err := sorted()
	if err != nil {
		return err
	}
	d := derivation{run: schema.Quote(runID) + "::UUID", table: "TEMP TABLE", connections: []schema.SQL{q}, computed: computed}
	if many, is := q.(interface{ Connections() []schema.SQL }); is {
		d.connections, d.table = many.Connections(), "TABLE" // which all of them see
	}
	needs := needed(all, byName, only)
	if d.has, err = present(ctx, q, needs, byName, runID); err != nil {
		return err
	}
	for _, f := range all { // what is not asked for is taken as it is stored
		d.has[f.Name] = !f.step && !fills(only, f)
	}
	return d.derive(ctx, needs)
}

// Lack stores the caveat that a run lacks its facts.
func Lack(ctx context.Context, q schema.SQL, runID string) error {
	_, err := q.ExecContext(ctx, `INSERT INTO caveat (run_id, topic, kind, is_counted) VALUES (?::UUID, 'facts', 'facts-lacking', true)`, runID)
	return err
}

// needed are the facts to fill and the steps towards them.
func needed(all []*fact, byName map[string]*fact, only []string) []*fact {
	var out []*fact
	var add func(f *fact)
	add = func(f *fact) {
		if f == nil || slices.Contains(out, f) || !f.step && !fills(only, f) {
			return
		}
		out = append(out, f)
		for _, name := range slices.Concat(f.reads, f.needed()) {
			add(byName[name])
		}
	}
	for _, f := range all {
		if !f.step {
			add(f)
		}
	}
	return out
}

// present returns which of the tables of captures that facts need have rows of the run.
func present(ctx context.Context, q schema.SQL, facts []*fact, byName map[string]*fact, runID string) (map[string]bool, error) {
	var tables []string
	for _, f := range facts {
		for _, t := range f.needed() {
			if !slices.Contains(tables, t) && byName[t] == nil {
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
		parts[i] = fmt.Sprintf("(SELECT %s FROM %s t WHERE t.run_id = %s::UUID LIMIT 1)", schema.Quote(t), t, schema.Quote(runID))
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
