package jobs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Any text as serve.yaml is read or refused with its place, and a template that is read makes a command line with a word for each of its own.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{templates, "jobs: {queue: 1}", "templates: {a: {command: [x, '{b}'], parameters: {b: }}}", "templates: &a {a: *a}", "a: [", "templates:\n  a:\n    command: [x]\n    options: {tag: [1, true, ~]}\n"} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, ConfigName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := ReadConfig(path, captures)
		if err != nil {
			if !strings.HasPrefix(err.Error(), path) {
				t.Errorf("%q: the error has no place: %v", text, err)
			}
			return
		}
		for _, tmpl := range c.Templates {
			words, values := 1+len(tmpl.command), map[string]string{runParameter: ""}
			for _, p := range tmpl.Parameters {
				values[p.Name] = ""
			}
			for _, o := range tmpl.options {
				words += len(o.values)
			}
			if args, env := tmpl.run(values); len(args) != words || len(env) != len(tmpl.env) {
				t.Errorf("%q: %q %q", text, args, env)
			}
		}
	})
}

// Whatever a client calls a file, what is kept of the name is a plain end.
func FuzzUploadName(f *testing.F) {
	for _, seed := range []string{"a.sqlite", "../x_cuda_api_sum.csv", "config.json", "p.prof.zst", "a\x00.csv"} {
		f.Add(seed)
	}
	plain := regexp.MustCompile(`^[a-z0-9_.:-]{3,120}$`)
	f.Fuzz(func(t *testing.T, name string) {
		if _, end, err := parts(name); err == nil && (!plain.MatchString(end) || strings.HasPrefix(end, "-") || strings.Contains(end, "..")) {
			t.Errorf("%q: %q", name, end)
		}
	})
}

// A value that a parameter takes is one word that is no option and no path out of the folders that are allowed.
func FuzzParameter(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, ConfigName)
	if err := os.WriteFile(path, []byte("templates:\n  a:\n    command: [x, '{text}', '{n}', '{path}']\n    parameters: {text: {default: d}, n: {type: number, default: 1}, path: {type: path, below: ["+dir+"], default: .}}\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	c, err := ReadConfig(path, captures)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"--x", "a", "1e5", "-0", "../", ConfigName, "\xff", "/etc"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, v string) {
		for _, name := range []string{"text", "n", "path"} {
			values, err := c.Templates[0].values(map[string]any{name: v}, "r")
			if err != nil {
				continue
			}
			got := values[name]
			if got == "" || strings.HasPrefix(got, "-") || strings.ContainsAny(got, "\x00\n\r") || name == "path" && got != dir && !strings.HasPrefix(got, dir+"/") {
				t.Errorf("%s %q: %q", name, v, got)
			}
		}
	})
}
