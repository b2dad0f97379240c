package jobs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// read reads a text as serve.yaml.
func read(t *testing.T, text string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), ConfigName)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return ReadConfig(path, captures)
}

// What is wrong in serve.yaml has its line and a hint.
func TestConfig(t *testing.T) {
	t.Parallel()
	c, err := ReadConfig(filepath.Join(t.TempDir(), ConfigName), captures)
	if err != nil || c.Jobs != DefaultConfig().Jobs || len(c.Templates) > 0 {
		t.Errorf("no file: %+v, %v", c, err)
	}
	c, err = read(t, "jobs: {queue: 2, timeout: 5m, log_size: 1MiB}\nuploads: {size: 2GB, max_age: 2h}\ntemplates:\n  b: {command: [x], dir: sub}\n  a: {command: [x, '{run}', '{\"json\": 1}'], timeout: 1h, env: {A: '{run}'}}\n")
	if err != nil || c.Jobs.Queue != 2 || c.Uploads.Size != 2e9 || c.Uploads.Count != 64 || len(c.Templates) != 2 || c.Templates[0].Timeout != time.Hour || c.Templates[1].Timeout != 5*time.Minute {
		t.Fatalf("%+v, %v", c, err)
	}
	args, env := c.Templates[0].run(map[string]string{"run": "r"})
	if !slices.Equal(args, []string{"--", "x", "r", `{"json": 1}`}) || !slices.Equal(env, []string{"A=r"}) || !filepath.IsAbs(c.Templates[1].dir) {
		t.Errorf("%q %q %q", args, env, c.Templates[1].dir)
	}
	for text, want := range map[string]string{
		"job: {}":                                  "serve.yaml:1: invalid settings: unknown option job; did you mean jobs?",
		"jobs: {queue: 1.5}":                       "serve.yaml:1: invalid settings: jobs.queue: it must be a whole number, not 1.5",
		"jobs: {queue: 0}":                         "jobs.queue: it must be from 1 to 10000",
		"jobs: {timeout: 5}":                       "write it with a unit",
		"uploads: {size: 0}":                       "uploads.size",
		"templates: {a: }":                         "templates.a is empty",
		"templates: {a: {}}":                       "templates.a must have keys|templates.a has no command",
		"templates: [a]":                           "templates must have keys and values",
		"templates:\n  a b:\n    command: [x]":     "serve.yaml:3: .*name it with letters",
		"templates:\n  a:\n    comand: [x]":        "serve.yaml:3: .*unknown option templates.a.comand; did you mean command?",
		"templates:\n  a:\n    command: x":         "must be a list",
		"templates:\n  a:\n    command: ['{run}']": "the program, {run}, must not depend on a parameter",
		"templates:\n  a:\n    command: [x, '{wrod}']\n    parameters: {word: {}}":                                                                                          "there is no parameter wrod; did you mean word?",
		"templates:\n  a:\n    command: [x]\n    parameters: {word: {}}":                                                                                                    "serve.yaml:4: .*nothing mentions {word}",
		"templates:\n  a:\n    command: [x]\n    options: {home: /tmp}":                                                                                                     "serve.yaml:4: .*cannot set an option home",
		"templates:\n  a:\n    command: [x]\n    options: {repeat: 2}":                                                                                                      "did you mean repeats",
		"templates:\n  a:\n    command: [x]\n    options: {tag: {a: b}}":                                                                                                    "options.tag: it must be a value or a list",
		"templates:\n  a:\n    command: [x]\n    env: {PROF_JOB: x}":                                                                                                        "env.PROF_JOB: it cannot be set",
		"templates:\n  a:\n    command: [x, '{b}']\n    parameters:\n      b: {type: txt}":                                                                                  "serve.yaml:5: .*unknown type txt; did you mean text",
		"templates:\n  a:\n    command: [x, '{b}']\n    parameters:\n      b: {pattern: '['}":                                                                               "pattern: error parsing",
		"templates:\n  a:\n    command: [x, '{b}']\n    parameters:\n      b: {type: path}":                                                                                 "needs below",
		"templates:\n  a:\n    command: [x, '{b}']\n    parameters:\n      b: {type: path, below: [rel]}":                                                                   "not an absolute path",
		"templates:\n  a:\n    command: [x, '{b}']\n    parameters:\n      b: {type: path, below: [/], default: /etc}":                                                      "write paths relative",
		"templates:\n  a:\n    command: [x, '{b}']\n    parameters:\n      b: {type: integer, default: 1.5}":                                                                "default: it must be a whole number",
		"templates:\n  a:\n    command: [x, '{b}']\n    parameters:\n      b: {values: [c], default: d}":                                                                    `default: it must be one of c`,
		"templates:\n  a:\n    command: [x, '{b}']\n    parameters:\n      b: {min: 1}":                                                                                     "min and max are for numbers",
		"templates:\n  a:\n    command: [x, '{b}']\n    parameters:\n      b: {type: number, min: 2, max: 1}":                                                               "min is more than max",
		"templates:\n  a:\n    command: [x, '{run}']\n    parameters:\n      run: {}":                                                                                       "must not be named run",
		"templates:\n  a:\n    command: [x, '{b}']\n    parameters:\n      b: {type: integer, values: [1, x]}":                                                              `values: "x": it must be a number`,
		"templates:\n  a:\n    command: [x]\n    options:\n      tag: [a=b, c=d]\n      mode: fast":                                                                         "serve.yaml:6: .*templates.a: --mode must be deep or light",
		"templates:\n  a:\n    command: [x]\n    options:\n      subset: y\n      tag: a=b":                                                                                 "serve.yaml:5: .*--subset needs --inputs",
		"templates:\n  a:\n    command: [x]\n    options:\n      mode: '{m}'\n      repeats: '{n}'\n    parameters: {m: {values: [deep, light, fast]}, n: {type: integer}}": `serve.yaml:5: .*templates.a: m is "fast": --mode must be`,
		"templates:\n  a:\n    command: [x]\n    options:\n      mode: '{m}'\n      repeats: '{n}'\n    parameters: {m: {values: [deep]}, n: {type: integer, default: 0}}":  `serve.yaml:6: .*templates.a: n is "0": --repeats is 0`,
		"templates:\n  a:\n    command: [x]\n    options:\n      mode: '{m}'\n      repeats: 7\n    parameters: {m: {values: [deep, light]}}":                               `serve.yaml:5: .*templates.a: m is "deep": --mode deep does not repeat 7 times`,
		"templates: {a: {command: [x]}\n": "serve.yaml:",
	} {
		if _, err := read(t, text); err == nil || !like(want, err.Error()) || !strings.Contains(err.Error(), ErrConfig.Error()) {
			t.Errorf("%s\n%v\nwant %s", text, err, want)
		}
	}
}

// What prof capture accepts with one of the values that a request may choose is no mistake of the template: the request is refused.
func TestOptionsOfRequest(t *testing.T) {
	t.Parallel()
	s := made(t, templates+`
  late:
    command: [work, say]
    options: {mode: "{mode}", repeats: "{n}", inputs: "{list}", subset: some}
    parameters:
      mode: {values: [deep, light]}
      n: {type: integer, values: [1, 7]}
      list: {}
  any:
    command: [work, say]
    options: {repeats: "{n}"}
    parameters: {n: {type: integer}}
`)
	for _, c := range []struct {
		template   string
		parameters object
		status     int
		says       string
	}{
		{"late", object{"mode": "deep", "n": 1, "list": "x"}, 202, ""},
		{"late", object{"mode": "deep", "n": 7, "list": "x"}, 422, "--mode deep does not repeat 7 times"},
		{"any", object{"n": 0}, 422, "--repeats is 0"},
		{"any", object{"n": 2}, 202, ""},
	} {
		if code, text, _ := s.ask("POST", jobsPath, object{"template": c.template, "parameters": c.parameters}); code != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%v: %d %s", c.parameters, code, text)
		}
	}
}

// like reports whether a text holds one of the alternatives of a pattern, each of which is texts in their order.
func like(pattern, text string) bool {
	return slices.ContainsFunc(strings.Split(pattern, "|"), func(one string) bool {
		rest, ok := text, true
		for _, part := range strings.Split(one, ".*") {
			if _, rest, ok = strings.Cut(rest, part); !ok {
				return false
			}
		}
		return true
	})
}

// A file that others can change is refused: it says what the server runs.
func TestConfigOfOthers(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(dir, path string) error{
		"chmod go-w":                 func(_, path string) error { return os.Chmod(path, 0o602) },
		"users other than its owner": func(_, path string) error { return os.Chmod(path, 0o620) },
		"can change it":              func(dir, _ string) error { return os.Chmod(dir, 0o777) },
		"symbolic link": func(dir, path string) error {
			if err := os.Rename(path, filepath.Join(dir, "real")); err != nil {
				return err
			}
			return os.Symlink("real", path)
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, ConfigName)
		if err := os.WriteFile(path, []byte("jobs: {queue: 1}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadConfig(path, captures); err != nil {
			t.Fatal(err)
		}
		if err := change(dir, path); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadConfig(path, captures); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Values of parameters are one word each, of the kind that the template allows, whatever a client sends.
func TestParameters(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "in.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "-x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(data, "out")); err != nil {
		t.Fatal(err)
	}
	c, err := read(t, `
templates:
  a:
    command: [x, "{text}", "--n={whole}", "{real}", "{flag}", "{path}", "{one}", "{any}"]
    parameters:
      text: {default: d}
      whole: {type: integer, min: -5, max: 1000000000, default: 1}
      real: {type: number, default: 0.5}
      flag: {type: boolean, default: true}
      path: {type: path, below: [`+data+`], default: in.yaml}
      one: {values: [a, "b c"], default: a}
      any: {pattern: "[^;]*", dash: true, default: ""}
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, ok := range []struct {
		name string
		v    any
		want string
	}{
		{"text", "meta/Llama-3.1:8B@main", "meta/Llama-3.1:8B@main"}, {"text", 5.0, "5"}, {"text", true, "true"},
		{"whole", -5.0, "--n=-5"}, {"whole", "12", "--n=12"}, {"whole", 1e9, "--n=1000000000"}, {"real", 1e-7, "0.0000001"}, {"flag", false, "false"}, {"flag", "true", "true"},
		{"path", "in.yaml", data + "/in.yaml"}, {"path", data + "/in.yaml", data + "/in.yaml"}, {"path", ".", data}, {"path", "-x", data + "/-x"},
		{"one", "b c", "b c"}, {"any", "--a b {text}", "--a b {text}"}, {"any", "$(id) `id` | & >", "$(id) `id` | & >"},
	} {
		values, err := c.Templates[0].values(map[string]any{ok.name: ok.v}, "r")
		if err != nil {
			t.Errorf("%s %v: %v", ok.name, ok.v, err)
			continue
		}
		if args, _ := c.Templates[0].run(values); len(args) != 9 || !slices.Contains(args, ok.want) {
			t.Errorf("%s %v: %q", ok.name, ok.v, args)
		}
	}
	for _, bad := range []struct {
		name string
		v    any
	}{
		{"text", "--output=/etc/passwd"}, {"text", "-x"}, {"text", ""}, {"text", "a b"}, {"text", "a;b"}, {"text", "$(id)"}, {"text", "a\nb"}, {"text", "a\x00b"}, {"text", "/etc/passwd"},
		{"text", "a/../../etc/passwd"}, {"text", ".."}, {"text", "\xff"}, {"text", "a\u202eb"}, {"text", strings.Repeat("a", 5000)}, {"text", []any{"a", "b"}}, {"text", map[string]any{}}, {"text", nil},
		{"whole", 1.5}, {"whole", -6.0}, {"whole", 1e300}, {"whole", "1; x"}, {"whole", "NaN"}, {"whole", "0x10p400"}, {"real", -1.0}, {"real", "Inf"}, {"flag", "yes"}, {"flag", 1.0},
		{"path", "../x"}, {"path", "/etc/passwd"}, {"path", "out"}, {"path", "out/"}, {"path", outside}, {"path", ""}, {"path", "none"}, {"path", data + "/../" + filepath.Base(outside)}, {"path", "a\x00"}, {"path", "/dev/null"},
		{"one", "c"}, {"one", ""}, {"any", "a;b"}, {"any", "a\rb"}, {"run", "x"}, {"texts", "x"},
	} {
		if values, err := c.Templates[0].values(map[string]any{bad.name: bad.v}, "r"); err == nil {
			t.Errorf("%s %q is allowed: %q", bad.name, bad.v, values)
		} else if strings.Contains(err.Error(), data) {
			t.Errorf("%s %q: the error names a path of the server: %v", bad.name, bad.v, err)
		}
	}
}
