package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"prof/schema/sqlfile"
)

// layers are the rooms that define relations, from below: the SQL of each reads what it defines itself or a room before it.
var layers = []struct {
	room  string
	files []string
}{
	{"schema", []string{"schema/sql/*.sql"}},
	{"schema/facts", []string{"schema/facts/sql/*/*.sql", "schema/facts/shared/*.sql", "schema/facts/views/*.sql"}},
	{"queries", []string{"queries/sql/*/*.sql", "queries/views/*.sql"}},
}

// relation is a file of SQL that defines one.
type relation struct {
	sqlfile.File
	path  string
	layer int
}

// relationFiles reads the facts and the queries; layer says in which room each name is defined, and versioned ones and tables too.
func relationFiles(t *testing.T) (all []relation, layer map[string]int) {
	t.Helper()
	layer = map[string]int{}
	define := func(name string, at int) {
		if _, known := layer[name]; !known {
			layer[name] = at
		}
	}
	for i, l := range layers {
		for _, pattern := range l.files {
			paths, err := filepath.Glob(pattern)
			if err != nil || len(paths) == 0 {
				t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
			}
			for _, path := range paths {
				text, err := sqlfile.Text(os.DirFS("."), path)
				if err != nil {
					t.Fatal(err)
				}
				if l.room == "schema" {
					for _, m := range regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`).FindAllStringSubmatch(text, -1) {
						define(m[1], i)
					}
					continue
				}
				name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".sql"), ".v")
				f, err := sqlfile.Parse(name, text)
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				all = append(all, relation{f, path, i})
				name = strings.ReplaceAll(name, "-", "_")
				define(name, i)
				define(name+"_v"+strconv.Itoa(f.Version), i)
			}
		}
	}
	return all, layer
}

// TestSQLImports holds that SQL reads no relation of a room above its own, as Go imports none; that what a header needs is there; and that what facts share with
// queries is what facts are made with.
func TestSQLImports(t *testing.T) {
	all, layer := relationFiles(t)
	byFacts := map[string]bool{}
	for _, r := range all {
		for name := range sqlfile.Uses(r.Body) {
			if at, known := layer[name]; known && at > r.layer {
				t.Errorf("%s reads %s, which %s defines", r.path, name, layers[at].room)
			}
			byFacts[name] = byFacts[name] || layers[r.layer].room == "schema/facts"
		}
		for _, need := range r.Needs {
			for _, name := range strings.Split(need, "|") {
				if at, known := layer[name]; !known || at > r.layer {
					t.Errorf("%s needs %s, which no file of %s or below defines", r.path, name, layers[r.layer].room)
				}
			}
		}
	}
	for _, r := range all {
		if strings.HasPrefix(r.path, "schema/facts/shared/") && !byFacts[strings.ReplaceAll(r.Name, "-", "_")] {
			t.Errorf("%s: no fact is made with it: it is for queries", r.path)
		}
	}
	if i := slices.IndexFunc(all, func(r relation) bool { return r.Name == "top-kernels" }); i < 0 || layer["kernel"] != 0 || layer["timeline"] != 1 {
		t.Error("relations were not found")
	}
}

// oneLiteral is a line that is a text, which nothing but its end would part: a pattern, or an error whose words the program reads.
var oneLiteral = regexp.MustCompile(`^ *'[^']*'[,)]*$`)

// TestSQLLayout holds that people can read SQL: no line is wider than 140 characters, and a public query whose SELECT has more than 150 lines begins by saying why
// (`-- Long: `).
func TestSQLLayout(t *testing.T) {
	files := 0
	for _, pattern := range []string{"schema/sql/*.sql", "schema/facts/*/*.sql", "schema/facts/*/*/*.sql", "queries/*/*.sql", "queries/*/*/*.sql"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files++
			for n, line := range strings.Split(string(text), "\n") {
				if utf8.RuneCountInString(line) > 140 && !oneLiteral.MatchString(line) {
					t.Errorf("%s:%d has %d characters", path, n+1, utf8.RuneCountInString(line))
				}
			}
			_, body, _ := strings.Cut(string(text), "\n\n")
			isPublic := strings.HasPrefix(path, "queries/sql/") && !strings.HasPrefix(filepath.Base(path), "_")
			if n := strings.Count(body, "\n"); isPublic && n > 150 && !strings.HasPrefix(body, "-- Long: ") {
				t.Errorf("%s has %d lines: say why, or part it", path, n)
			}
		}
	}
	if files < 350 {
		t.Errorf("only %d files", files)
	}
}
