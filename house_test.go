package main_test

import (
	"bytes"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// house lists the rooms from the top down: each may import those below it.
var house = []string{"internal/cli", "internal/serve", "render", "queries", "ingest", "capture"}

// mostFiles is how many files of source a folder may have, for a reader to see what is in it.
const mostFiles = 25

// roomOf is the place in the house of a package; -1 for what stands beside it: commands for developers, helpers of tests.
func roomOf(dir string) int {
	return slices.IndexFunc(house, func(r string) bool { return dir == r || strings.HasPrefix(dir, r+"/") })
}

// packages are the imports of each package that are ours, without those of its tests.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, s := range sources(t) {
		list := out[s.dir]
		for _, name := range s.imports {
			if ours, is := strings.CutPrefix(name, "prof/"); is && !strings.HasSuffix(s.file, "_test.go") && ours != s.dir && !slices.Contains(list, ours) {
				list = append(list, ours)
			}
		}
		slices.Sort(list)
		out[s.dir] = list
	}
	return out
}

// TestHouse holds that no room imports one above it, and draws rooms and arrows into docs/design.md.
func TestHouse(t *testing.T) {
	all := packages(t)
	var arrows []string
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		for _, to := range all[dir] {
			from, below := roomOf(dir), roomOf(to)
			if from < 0 || below < 0 {
				continue
			}
			if below < from {
				t.Errorf("%s imports %s, which stands above it", dir, to)
			}
			if arrow := fmt.Sprintf("    %s --> %s", house[from], house[below]); from != below && !slices.Contains(arrows, arrow) {
				arrows = append(arrows, arrow)
			}
		}
	}
	slices.Sort(arrows)
	drawn := "```mermaid\nflowchart TD\n" + strings.Join(arrows, "\n") + "\n```\n\n| package | knows |\n| --- | --- |\n"
	for i := range house {
		for _, dir := range slices.Sorted(maps.Keys(all)) {
			if roomOf(dir) == i {
				drawn += fmt.Sprintf("| `%s` | %s |\n", dir, knows(t, dir))
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		if roomOf(dir) < 0 && dir != "." {
			drawn += fmt.Sprintf("| `%s` | %s |\n", dir, knows(t, dir))
		}
	}
	writeBlock(t, "docs/design.md", "the house", drawn)
}

// knows is the first sentence of a package's comment, without its own name.
func knows(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != nil {
			text := new(doc.Package).Synopsis(f.Doc.Text())
			return strings.ReplaceAll(strings.TrimSuffix(regexp.MustCompile(`^(?:Package|Command) \w+ `).ReplaceAllString(text, ""), "."), "|", `\|`)
		}
	}
	t.Errorf("%s has no comment that says what the package knows", dir)
	return ""
}

// writeBlock compares what stands between the marks of a block of a page with what is made; -update writes it there.
func writeBlock(t *testing.T, page, name, made string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := fmt.Sprintf("<!-- %s: made by go test -run %s -update . -->\n", name, t.Name()), "<!-- end -->\n"
	before, rest, found := strings.Cut(string(text), begin)
	was, after, whole := strings.Cut(rest, end)
	switch {
	case !found || !whole:
		t.Errorf("%s lacks %q and %q", page, begin, end)
	case was != made && *update:
		if err := os.WriteFile(page, []byte(before+begin+made+end+after), 0o644); err != nil {
			t.Error(err)
		}
	case was != made:
		t.Errorf("%s: %s has changed: go test -run %s -update . writes it anew", page, name, t.Name())
	}
}

// TestRoomsAreSmall holds that no folder has more files of source than a reader takes in, but for SQL, of which each file is one relation, and for the verbs
// of the command line, of which each is a file.
func TestRoomsAreSmall(t *testing.T) {
	count := map[string]int{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		base := d.Name()
		if err == nil && d.IsDir() && (len(base) > 1 && base[0] == '.' || base == "testdata" || base == "vendor" || base == "vendor-src" || base == "node_modules" || base == "shared") {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !slices.Contains([]string{".go", ".js", ".py", ".c", ".h", ".css", ".tmpl"}, filepath.Ext(p)) || strings.Contains(base, "_test.") || strings.HasPrefix(base, "test_") {
			return err
		}
		dir := path.Dir(filepath.ToSlash(p))
		if dir == "internal/cli" {
			text, err := os.ReadFile(p)
			if err != nil || bytes.Contains(text, []byte(") *cli.Command {")) || bytes.Contains(text, []byte(") (*cli.Command, error) {")) {
				return err
			}
		}
		count[dir]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range slices.Sorted(maps.Keys(count)) {
		if n := count[dir]; n > mostFiles {
			t.Errorf("%s has %d files of source, of at most %d", dir, n, mostFiles)
		}
	}
}

var step = regexp.MustCompile("`([a-z][a-z_/]*\\.(?:go|sql|csv))`(?: `(\\w+)`)?")

// TestWalk holds that the files and functions which docs/design.md names are there.
func TestWalk(t *testing.T) {
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	found := step.FindAllStringSubmatch(string(text), -1)
	if len(found) < 20 {
		t.Fatalf("only %d files are named", len(found))
	}
	for _, m := range found {
		source, err := os.ReadFile(m[1])
		if err != nil {
			t.Error(err)
		} else if m[2] != "" && !regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |\t)`+m[2]+`\b`).Match(source) {
			t.Errorf("%s has no %s", m[1], m[2])
		}
	}
}
