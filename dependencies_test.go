package main_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/internal/notices"
)

// dependency is a row of a table of docs/dependencies.md.
type dependency struct {
	version, licence string
	linked           bool // not under the heading of those that are not in the binary
}

var (
	dependencyRow = regexp.MustCompile("^\\| `([^`]+)` \\| (v\\S+) \\| ([^|]+) \\|")
	required      = regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) (v\S+)`)
	action        = regexp.MustCompile(`uses: +(\S+?)@(.*)`)
	pinned        = regexp.MustCompile(`^[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

// documented are the modules of docs/dependencies.md.
func documented(t *testing.T) map[string]dependency {
	t.Helper()
	out, linked := map[string]dependency{}, true
	for _, line := range lines(t, "docs/dependencies.md") {
		if strings.HasPrefix(line, "## ") {
			linked = !strings.Contains(line, "not in the binary")
		}
		if row := dependencyRow.FindStringSubmatch(line); row != nil {
			out[row[1]] = dependency{row[2], row[3], linked}
		}
	}
	return out
}

// goList runs go list on what is on this machine: a test downloads nothing.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	c := exec.Command("go", append([]string{"list"}, args...)...)
	c.Env = append(os.Environ(), "GOPROXY=off")
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", c.Args, err, said.String())
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

// TestDependencies: docs/dependencies.md names each module of go.mod with its version and licence, and says which are in the binary.
func TestDependencies(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	docs := documented(t)
	versions := map[string]string{}
	for _, m := range required.FindAllStringSubmatch(string(mod), -1) {
		versions[m[1]] = m[2]
		if got := docs[m[1]].version; got != m[2] {
			t.Errorf("docs/dependencies.md has version %q of %s, go.mod %s", got, m[1], m[2])
		}
	}
	for name := range docs {
		if versions[name] == "" {
			t.Errorf("docs/dependencies.md names %s, which go.mod does not", name)
		}
	}
	for _, name := range goList(t, "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".") {
		if !docs[name].linked {
			t.Errorf("%s is in the binary, and docs/dependencies.md does not say so", name)
		}
	}
	var absent []string
	// -e: on a fresh machine nothing is known of modules that no build needs.
	for _, line := range goList(t, append([]string{"-m", "-e", "-f", "{{.Path}}\t{{.Dir}}"}, slices.Sorted(maps.Keys(versions))...)...) {
		name, dir, _ := strings.Cut(line, "\t")
		if dir == "" {
			absent = append(absent, name)
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, "LICEN[SC]E*"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s brings no licence (%v)", name, err)
			continue
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(notices.Names(string(text)), ", "); got != docs[name].licence {
			t.Errorf("docs/dependencies.md has licence %q of %s, its %s %q", docs[name].licence, name, filepath.Base(files[0]), got)
		}
	}
	if len(absent) > 0 {
		t.Skipf("licences not checked, as the module cache lacks %s: go mod download", strings.Join(absent, ", "))
	}
}

// TestNotices: what a release says of the software of others names each module of the binary, with its licence, and what DuckDB links.
func TestNotices(t *testing.T) {
	build, err := os.Executable() // has what prof has
	if err != nil {
		t.Fatal(err)
	}
	parts, err := notices.Of(build)
	if err != nil {
		t.Fatal(err)
	}
	bill, err := notices.Bill("0.1.0", build, parts)
	if err != nil {
		t.Fatal(err)
	}
	licences, docs, named := string(notices.Licences(parts)), documented(t), map[string]bool{}
	engine := docs["github.com/duckdb/duckdb-go-bindings"].version
	for _, p := range parts {
		named[p.Name] = true
		if len(p.Text) < 100 || !strings.Contains(licences, p.Name+" "+p.Version+" ("+p.Licence+")\n\n"+p.Text) {
			t.Errorf("%s %s has no licence", p.Name, p.Version)
		}
		if d, ok := docs[p.Name]; ok && (d.version != p.Version || strings.ReplaceAll(d.licence, ", ", " AND ") != p.Licence) {
			t.Errorf("docs/dependencies.md has %+v, the build %s %s", d, p.Version, p.Licence)
		}
		if !bytes.Contains(bill, []byte(`"purl": "`+p.URL+`"`)) {
			t.Errorf("the bill of materials lacks %s", p.URL)
		}
		if strings.HasPrefix(p.Name, "duckdb/") && !strings.Contains(engine, strings.ReplaceAll(p.Version, ".", "0")) {
			t.Errorf("internal/notices/duckdb.txt is of DuckDB %s, and the binding %s: docs/dependencies.md says how to make it anew", p.Version, engine)
		}
	}
	modules := goList(t, "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".")
	for _, name := range append(modules, "std", "uplot", "duckdb/third_party/re2", "duckdb/extension/icu/third_party/icu") {
		if !named[name] {
			t.Errorf("a release does not name %s", name)
		}
	}
	if !strings.Contains(licences, "Bigelow & Holmes") {
		t.Error("a release lacks the licence of Go's fonts")
	}
}

// TestActionsPinned: a tag of an action can be moved to other code, a commit cannot.
func TestActionsPinned(t *testing.T) {
	workflows, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(workflows) == 0 {
		t.Fatalf("workflows %q (%v)", workflows, err)
	}
	for _, file := range append(pages(t), workflows...) {
		for i, line := range lines(t, file) {
			if use := action.FindStringSubmatch(line); use != nil && !pinned.MatchString(use[2]) {
				t.Errorf("%s:%d: %s is pinned to %q: name its commit, and the version after #", file, i+1, use[1], use[2])
			}
		}
	}
}
