package queries_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
	"prof/schema/sqlfile"
)

// lazyFacts derives what a question needs when it is asked: deriving everything takes far longer than most questions.
type lazyFacts struct {
	derive.Facts
	mu      sync.Mutex
	missing map[string]map[string]bool // by run: files of facts that are not derived
	written []string                   // tables that were written to since: what was derived from them of any run is no longer right
}

// Derive notes that a run has no facts yet.
func (l *lazyFacts) Derive(_ context.Context, _ schema.SQL, runID string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missing == nil {
		l.missing = map[string]map[string]bool{}
	}
	l.missing[runID] = allFacts()
	return nil
}

// exec changes what was captured.
func exec(t *testing.T, w *schema.Warehouse, stmt string) {
	t.Helper()
	if _, err := w.DB.Exec(stmt); err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	var tables []string
	for _, m := range target.FindAllStringSubmatch(stmt, -1) {
		tables = append(tables, m[1])
	}
	if len(tables) == 0 {
		t.Fatalf("what does this write to? %s", stmt)
	}
	wrote(w, tables...)
}

var target = regexp.MustCompile(`(?i)\b(?:UPDATE|INSERT INTO|DELETE FROM|TABLE)\s+(\w+)`)

// wrote says that tables of captures were written to.
func wrote(w *schema.Warehouse, tables ...string) {
	l, ok := w.Facts.(*lazyFacts)
	if !ok { // of a test that derives by itself
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written = append(l.written, tables...)
}

// derived derives all facts that are missing.
func derived(t testing.TB, w *schema.Warehouse) {
	t.Helper()
	deriveOf(t, w, allFacts())
}

// derivedFor derives the facts that a statement reads, and the caveats of some topics.
func derivedFor(t testing.TB, w *schema.Warehouse, stmt string, topics ...string) {
	t.Helper()
	deriveOf(t, w, factsBehind(stmt, topics))
}

func deriveOf(t testing.TB, w *schema.Warehouse, wanted map[string]bool) {
	t.Helper()
	l, ok := w.Facts.(*lazyFacts)
	if !ok { // they were derived when the run was stored
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written != nil {
		forget(t, w, l)
	}
	for _, id := range slices.Sorted(maps.Keys(l.missing)) {
		var only []string
		for name := range l.missing[id] {
			if wanted[name] {
				only = append(only, name)
				delete(l.missing[id], name)
			}
		}
		if len(only) == 0 {
			continue
		}
		tx, err := w.DB.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := (derive.Facts{Only: only}).Derive(t.Context(), tx, id); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

// forget deletes the facts that follow from what was written; the classes of kernels and ranges stay as they were written.
func forget(t testing.TB, w *schema.Warehouse, l *lazyFacts) {
	t.Helper()
	files, tables := stale(l.written)
	stmts := []string{"BEGIN"}
	for table := range tables {
		stmts = append(stmts, "DELETE FROM "+table)
	}
	if _, err := w.DB.Exec(strings.Join(append(stmts, "COMMIT"), "; ")); err != nil {
		t.Fatal(err)
	}
	f, err := queries.Raw(t.Context(), w, "SELECT DISTINCT run_id::VARCHAR FROM (SELECT run_id FROM run UNION ALL SELECT run_id FROM source)")
	if err != nil {
		t.Fatal(err)
	}
	if l.missing == nil {
		l.missing = map[string]map[string]bool{}
	}
	l.written = nil
	for _, r := range f.Rows {
		id := r[0].(string)
		if l.missing[id] == nil {
			l.missing[id] = map[string]bool{}
		}
		maps.Copy(l.missing[id], files)
	}
}

// stale are the files of facts that follow from tables, with those that give rows of the same facts, and the tables of these.
func stale(written []string) (files, tables map[string]bool) {
	d := definitions()
	files, tables = map[string]bool{}, map[string]bool{}
	whole := slices.Contains(written, "run") || slices.Contains(written, "source")
	for name := range allFacts() {
		if whole || slices.ContainsFunc(written, func(table string) bool { return mentioned(name)[table] }) {
			tables[cmp.Or(d.facts[name].Into, name)] = true
		}
	}
	for name := range allFacts() {
		if tables[cmp.Or(d.facts[name].Into, name)] {
			files[name] = true
		}
	}
	return files, tables
}

// mentions remembers what mentioned found.
var mentions sync.Map

// mentioned are all words of a fact's file and of those behind it, whatever they stand for: rather too many than one too few.
func mentioned(name string) map[string]bool {
	if known, ok := mentions.Load(name); ok {
		return known.(map[string]bool)
	}
	d := definitions()
	seen := map[string]bool{}
	todo := []string{d.facts[name].Body, strings.Join(d.facts[name].Needs, " ")}
	for len(todo) > 0 {
		text := todo[0]
		todo = todo[1:]
		for _, word := range word.FindAllString(silent.ReplaceAllString(text, ""), -1) {
			if seen[word] {
				continue
			}
			seen[word] = true
			todo = append(todo, d.relations[word]...)
			for file, f := range d.facts {
				if file == word || f.Into == word {
					todo = append(todo, f.Body, strings.Join(f.Needs, " "))
				}
			}
		}
	}
	mentions.Store(name, seen)
	return seen
}

var (
	word   = regexp.MustCompile(`\w+`)
	silent = regexp.MustCompile(`'[^']*'|--[^\n]*`)
)

// definitions are the files of facts by name, and the bodies of relations by their names in SQL.
var definitions = sync.OnceValue(func() (d struct {
	facts     map[string]sqlfile.File
	relations map[string][]string
}) {
	d.facts, d.relations = map[string]sqlfile.File{}, map[string][]string{}
	names, err := filepath.Glob("../ingest/derive/sql/*/*.sql")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		base := strings.TrimSuffix(filepath.Base(name), ".sql")
		if d.facts[base], err = sqlfile.Parse(base, string(text)); err != nil {
			panic(err)
		}
	}
	defs, err := queries.Relations{}.Definitions()
	if err != nil {
		panic(err)
	}
	for _, def := range defs {
		d.relations[def.Name] = append(d.relations[def.Name], def.Body)
	}
	return d
})

// allFacts are the files that facts are stored by.
func allFacts() map[string]bool {
	all := map[string]bool{}
	for name := range definitions().facts {
		if !strings.HasPrefix(name, "_") {
			all[name] = true
		}
	}
	return all
}

var (
	source = regexp.MustCompile(`(?i)\b(?:FROM|JOIN)\s+(\w+)|(\w+)\(`)
	remark = regexp.MustCompile(`--[^\n]*`)
)

// namesRead remembers what namesIn found: the same definitions stand behind most questions.
var namesRead sync.Map

// namesIn are the names of tables and relations that a text of SQL may read.
func namesIn(text string) []string {
	if known, ok := namesRead.Load(text); ok {
		return known.([]string)
	}
	var out []string
	for _, m := range source.FindAllStringSubmatch(remark.ReplaceAllString(text, ""), -1) {
		if name := cmp.Or(m[1], m[2]); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	namesRead.Store(text, out)
	return out
}

// factsBehind are the facts that a statement reads, and what these are made of.
func factsBehind(stmt string, topics []string) map[string]bool {
	d := definitions()
	seen := map[string]bool{}
	var read func(text string)
	var add func(name string)
	add = func(name string) {
		if name == "" || seen[name] {
			return
		}
		seen[name] = true
		for _, body := range d.relations[name] {
			read(body)
		}
		if f, ok := d.facts[name]; ok {
			read(f.Body)
			for name := range strings.SplitSeq(strings.Join(f.Needs, "|"), "|") {
				add(name)
			}
		}
		for file, f := range d.facts {
			if f.Into == name && name != "caveat" { // of which topics ask for some
				add(file)
			}
		}
	}
	read = func(text string) {
		for _, name := range namesIn(text) {
			add(name)
		}
	}
	read(stmt)
	read("FROM timeline JOIN op_source") // what is looked at where a question has no rows
	for _, topic := range topics {
		add("_caveat_" + topic)
	}
	every := seen["caveat"]
	for name, f := range d.facts {
		if name != "caveat" && f.Into != "caveat" {
			continue
		}
		if every || slices.ContainsFunc(topics, func(topic string) bool {
			return d.relations["_caveat_"+topic] == nil && strings.Contains(f.Body, fmt.Sprintf("'%s'", topic))
		}) {
			add(name)
		}
	}
	maps.DeleteFunc(seen, func(name string, _ bool) bool { return strings.HasPrefix(name, "_") })
	return seen
}
