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

// licences are those whose texts a file holds, in its order, each once.
func licences(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n>*", r) }), " ")
	const bsd = "Redistribution and use in source and binary forms"
	marks := regexp.MustCompile("Apache License Version 2.0|Permission is hereby granted, free of charge|"+bsd).FindAllStringIndex(text, -1)
	var found []string
	for _, at := range marks {
		name := map[byte]string{'A': "Apache-2.0", 'P': "MIT"}[text[at[0]]]
		if terms, _, _ := strings.Cut(text[at[0]:], "THIS SOFTWARE IS PROVIDED"); name == "" {
			name = "BSD-2-Clause"
			if strings.Contains(terms, "endorse or promote") {
				name = "BSD-3-Clause"
			}
		}
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return strings.Join(found, ", ")
}

func TestLicences(t *testing.T) {
	for text, want := range map[string]string{
		"":    "",
		"ISC": "",
		"  Apache License\n\n  Version 2.0, January 2004":                                                                                             "Apache-2.0",
		"> Redistribution and use in source\n> and binary forms ... THIS SOFTWARE IS PROVIDED ... endorse or promote":                                 "BSD-2-Clause",
		"Redistribution and use in source and binary forms\n * Neither ... endorse or promote THIS SOFTWARE IS PROVIDED\nApache License\nVersion 2.0": "BSD-3-Clause, Apache-2.0",
		"Permission is hereby granted, free of\ncharge ... Permission is hereby granted, free of charge":                                              "MIT",
	} {
		if got := licences(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
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
		if got := licences(string(text)); got != docs[name].licence {
			t.Errorf("docs/dependencies.md has licence %q of %s, its %s %q", docs[name].licence, name, filepath.Base(files[0]), got)
		}
	}
	if len(absent) > 0 {
		t.Skipf("licences not checked, as the module cache lacks %s: go mod download", strings.Join(absent, ", "))
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
