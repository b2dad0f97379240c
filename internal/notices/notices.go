// Package notices gathers what a release says of the software of others in it: their licences, and a bill of materials.
package notices

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Part is a module, or another part, of a build.
type Part struct {
	Name, Version string
	Licence       string // as SPDX writes it
	Text          string // of its licences and notices
	URL           string // of the package, as purl writes it
}

// duckdb has the licences of what DuckDB's library links: the modules bring that of DuckDB alone. They are from DuckDB's sources.
//
//go:embed duckdb.txt
var duckdb string

// pageLicences has those of the libraries in the page of prof serve.
const pageLicences = "internal/serve/page/static/vendor/LICENSES.txt"

// rule stands between the parts of both, and of what Licences makes.
var rule = "\n\n" + strings.Repeat("-", 80) + "\n\n"

// Of returns the parts of a build of prof, which is made of the sources in the working folder. The list is the build's own; licences are those of the module
// cache.
func Of(build string) ([]Part, error) {
	info, err := buildinfo.ReadFile(build)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", build, err)
	}
	env := []string{"CGO_ENABLED=1"}
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" {
			env = append(env, s.Key+"="+s.Value)
		}
	}
	dirs, err := listed(env)
	if err != nil {
		return nil, err
	}
	var parts []Part
	for _, m := range info.Deps {
		p := Part{Name: m.Path, Version: m.Version, Text: textOf(dirs[m.Path]), URL: "pkg:golang/" + m.Path + "@" + m.Version}
		delete(dirs, m.Path)
		if p.Licence = strings.Join(Names(p.Text), " AND "); p.Licence == "" {
			return nil, fmt.Errorf("%s is made with %s, which brings no licence that is known", build, m.Path)
		}
		parts = append(parts, p)
	}
	for name := range dirs {
		return nil, fmt.Errorf("%s is of other sources than those here: it lacks %s", build, name)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	version := strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go")
	parts = append(parts, Part{"std", version, "BSD-3-Clause", textOf([]string{strings.TrimSpace(string(root))}), "pkg:golang/std@" + version})
	page, err := os.ReadFile(pageLicences)
	if err != nil {
		return nil, err
	}
	for _, from := range []struct {
		text string
		url  func(name, version string) string
	}{
		{duckdb, func(name, version string) string {
			_, below, _ := strings.Cut(name, "/")
			return "pkg:github/duckdb/duckdb@v" + version + "#" + below
		}},
		{string(page), func(name, version string) string {
			return "pkg:npm/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/") + "@" + version
		}},
	} {
		for _, text := range strings.Split(strings.TrimSpace(from.text), rule) {
			if m := heading.FindStringSubmatch(text); m != nil {
				parts = append(parts, Part{m[1], m[2], m[3], text[len(m[0]):], from.url(m[1], m[2])})
			} else { // a licence may have such rules itself
				parts[len(parts)-1].Text += rule + text
			}
		}
	}
	return parts, nil
}

// heading begins a part of a file of licences.
var heading = regexp.MustCompile(`^(\S+) (\S+) \((.+)\)\n\n`)

// listed are the modules of the packages that a build has, each with the folders of these and those above.
func listed(env []string) (map[string][]string, error) {
	list := exec.Command("go", "list", "-deps", "-f", "{{$dir := .Dir}}{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}\t{{$dir}}{{end}}{{end}}", ".")
	list.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	list.Stderr = &said
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s", list.Args, err, said.String())
	}
	dirs := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 3 {
			continue
		}
		for dir := f[2]; ; dir = filepath.Dir(dir) {
			if !slices.Contains(dirs[f[0]], dir) {
				dirs[f[0]] = append(dirs[f[0]], dir)
			}
			if len(dir) <= len(f[1]) {
				break
			}
		}
	}
	return dirs, nil
}

// textOf joins the licences and notices in folders, the outermost first, each text once.
func textOf(dirs []string) string {
	var texts []string
	for _, dir := range slices.Sorted(slices.Values(dirs)) {
		for _, pattern := range []string{"LICEN[SC]E*", "COPYING*", "NOTICE*", "PATENTS*", "ttfs/README*"} { // the last is of Go's fonts
			files, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is well-formed
			for _, file := range files {
				text, err := os.ReadFile(file)
				if clean := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")); err == nil && !slices.Contains(texts, clean) {
					texts = append(texts, clean)
				}
			}
		}
	}
	return strings.Join(texts, "\n\n")
}

// Names are the licences whose texts a text holds, as SPDX calls them, in its order, each once.
func Names(text string) (found []string) {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n>*", r) }), " ")
	const bsd = "Redistribution and use in source and binary forms"
	marks := regexp.MustCompile("Apache License Version 2.0|Permission is hereby granted, free of charge|"+bsd).FindAllStringIndex(text, -1)
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
	return found
}

// Licences is the text of all licences, as a file of a release.
func Licences(parts []Part) []byte {
	out := "Software of others in this build of prof, with its licences and notices."
	for _, p := range parts {
		out += fmt.Sprintf("%s%s %s (%s)\n\n%s", rule, p.Name, p.Version, p.Licence, p.Text)
	}
	return []byte(out + "\n")
}

// component is one of a bill of materials in CycloneDX.
type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Hashes   []hash    `json:"hashes,omitempty"`
	Licences []licence `json:"licenses"`
	URL      string    `json:"purl"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	Expression string `json:"expression"`
}

// Bill is the bill of materials of a build of a release of prof, in CycloneDX's JSON. The same build gives the same.
func Bill(release, build string, parts []Part) ([]byte, error) {
	program, err := os.ReadFile(build)
	if err != nil {
		return nil, err
	}
	about := func(kind string, p Part) component {
		return component{Type: kind, Ref: p.URL, Name: p.Name, Version: p.Version, Licences: []licence{{p.Licence}}, URL: p.URL}
	}
	prof := about("application", Part{Name: "prof", Version: release, Licence: "Apache-2.0", URL: "pkg:generic/prof@" + release})
	prof.Hashes = []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(program))}}
	list := []component{}
	for _, p := range parts {
		list = append(list, about("library", p))
	}
	return json.MarshalIndent(map[string]any{"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": map[string]any{"component": prof}, "components": list}, "", "  ")
}
