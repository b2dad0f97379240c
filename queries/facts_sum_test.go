package queries_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/queries"
	"prof/schema/sqlfile"
)

// TestSharedRelations holds that facts are made with what is shared, and with all of it, and are derived after the facts that they read through it.
func TestSharedRelations(t *testing.T) {
	private := map[string]queries.Query{}
	for _, q := range allQueries(t) {
		if q.Private {
			private[q.Relation()] = q
		}
	}
	word := regexp.MustCompile(`\b_\w+`)
	used := map[string]bool{}
	var add func(text string)
	add = func(text string) {
		for _, name := range word.FindAllString(text, -1) {
			if q, found := private[name]; found && !used[name] {
				used[name] = true
				add(q.Body)
			}
		}
	}
	files, err := filepath.Glob("../schema/facts/sql/*/*.sql")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	isFact := map[string]bool{}
	for _, name := range files {
		isFact[strings.TrimSuffix(filepath.Base(name), ".sql")] = true
	}
	reads, called := regexp.MustCompile(`\b(?:FROM|JOIN) (\w+)`), regexp.MustCompile(`\b_\w+\(`)
	var through func(text string) []string // the facts that relations called in a text read
	through = func(text string) (read []string) {
		for _, call := range called.FindAllString(text, -1) {
			if q, found := private[strings.TrimSuffix(call, "(")]; found {
				for _, m := range reads.FindAllStringSubmatch(q.Body, -1) {
					if isFact[m[1]] {
						read = append(read, m[1])
					}
				}
				read = append(read, through(q.Body)...)
			}
		}
		return read
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := sqlfile.Parse(strings.TrimSuffix(filepath.Base(name), ".sql"), string(text))
		if err != nil {
			t.Fatal(err)
		}
		add(f.Body)
		own := strings.Join(f.Needs, " ") + f.Body
		for _, fact := range through(f.Body) {
			if !regexp.MustCompile(`\b` + fact + `\b`).MatchString(own) {
				t.Errorf("%s calls a relation that reads %s: it needs it, so that it is derived before", name, fact)
			}
		}
		if m := regexp.MustCompile(wholeWindow).FindString(regexp.MustCompile(`--[^\n]*`).ReplaceAllString(f.Body, "")); m != "" {
			t.Errorf("%s: DuckDB 1.5.5 now and then fails in aggregates over all rows: %q", name, m)
		}
	}
	shared, err := filepath.Glob("../schema/facts/shared/*.sql")
	if err != nil || len(shared) != len(used) {
		t.Errorf("facts are made with %q; shared with them is %q, %v", slices.Sorted(maps.Keys(used)), shared, err)
	}
}
