package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/internal/golden"
)

func suiteOf(t *testing.T, text string) (*Suite, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "suite.yaml")
	golden.Write(t, path, text)
	return ReadSuite(path)
}

func TestReadSuite(t *testing.T) {
	s, err := suiteOf(t, `
suite: ocr
options:
  mode: light
  tools: [nsys]
  repeats: 3
  ncu: {top: 5}
matrix:
  preset: [min, max]
  data: [a, b]
runs:
- name: "{preset}"
  command: [python3, bench.py, "--preset={preset}", "--json={\"x\": 1}"]
  tags: {model: "toy-{preset}", one: 1}
  options: {repeats: 1, ncu: {launches: 2}}
- name: all
  command: [run, "{data}"]
  inputs: "{data}.yaml"
  subset: "dev-{data}.txt"
  options: {mode: deep}
- name: once
  command: ["true"]
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range s.Runs {
		o := Defaults()
		if err := r.Apply(&o); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %q %v %s %v %d %d %d %s %s", r.Name, r.Argv, r.Tags, o.Mode, o.Tools, o.Repeats, o.Ncu.Top, o.Ncu.Launches, o.InputsManifest, o.Subset))
	}
	want := []string{
		`min ["python3" "bench.py" "--preset=min" "--json={\"x\": 1}"] [[entry min] [model toy-min] [one 1] [preset min] [suite ocr]] light [nsys] 1 5 2  `,
		`max ["python3" "bench.py" "--preset=max" "--json={\"x\": 1}"] [[entry max] [model toy-max] [one 1] [preset max] [suite ocr]] light [nsys] 1 5 2  `,
		`all-a ["run" "a"] [[data a] [entry all-a] [suite ocr]] deep [] 3 5 1 a.yaml dev-a.txt`,
		`all-b ["run" "b"] [[data b] [entry all-b] [suite ocr]] deep [] 3 5 1 b.yaml dev-b.txt`,
		`once ["true"] [[entry once] [suite ocr]] light [nsys] 3 5 1  `,
	}
	if s.Name != "ocr" || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\n got %s\nwant %s", s.Name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSuiteRefused(t *testing.T) {
	const run = "\nruns:\n- {name: a, command: [x]}\n"
	for text, says := range map[string]string{
		"":                                  "suite.yaml:1: cannot use the suite: it has no name: begin it with suite: NAME",
		run:                                 "it has no name",
		"suite: s\n":                        "suite.yaml:1: cannot use the suite: it has no runs",
		"suite: s\nrums: []\n":              "suite.yaml:2: cannot use the suite: unknown option rums; did you mean runs?",
		"suite: s\nruns: {a: b}\n":          "runs must be a list",
		"suite: s\nruns:\n- {name: a}\n":    "suite.yaml:3: cannot use the suite: run a has no command: write it as a list, such as [python3, bench.py]",
		"suite: s\nruns:\n- command: [x]\n": "suite.yaml:3: cannot use the suite: a run has no name",
		"suite: s\nruns:\n- {name: a, command: x -y}\n":                                                            "runs[0].command must be a list",
		"suite: s\nruns:\n- {name: a, command: [x], tag: {}}\n":                                                    "unknown option runs[0].tag; did you mean tags?",
		"suite: s\nruns:\n- {name: a, command: [x], subset: l}\n":                                                  "run a has a subset, but no inputs",
		"suite: s\nruns:\n- {name: a, command: [x], tags: {suite: x}}\n":                                           "run a: prof sets the tag suite itself",
		"suite: s\nmatrix: {m: [1]}\nruns:\n- {name: '{m}', command: [x], tags: {m: x}}\n":                         "prof sets the tag m itself",
		"suite: s\nmatrix: {entry: [1]}" + run:                                                                     "matrix.entry: prof sets the tag entry itself",
		"suite: s\nmatrix: {m: []}" + run:                                                                          "suite.yaml:2: cannot use the suite: matrix.m has no values",
		"suite: s\nmatrix: {m: 1}" + run:                                                                           "matrix.m must be a list",
		"suite: s\nmatrix: [m]" + run:                                                                              "matrix must have keys and values",
		"suite: s\nmatrix: {mode: [a]}" + run:                                                                      "suite.yaml:2: cannot use the suite: no run mentions {mode}",
		"suite: s\nruns:\n- {name: a, command: [x]}\n- {name: a, command: [y]}\n":                                  `suite.yaml:4: cannot use the suite: two runs have the name "a"`,
		"suite: s\nmatrix: {m: [x, x]}\nruns:\n- {name: a, command: ['{m}']}\n":                                    `two runs have the name "a-x"`,
		"suite: s\nmatrix: {m: [" + strings.Repeat("1, ", maxRuns) + "1]}\nruns:\n- {name: '{m}', command: [x]}\n": "its axes make more than 10000 runs",
		"suite: 's\n":                        "suite.yaml:1:",
		"# " + strings.Repeat("x", maxSuite): "larger than 1 MiB",
	} {
		if _, err := suiteOf(t, text); !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80q: want %q, got %v", text, says, err)
		}
	}
	for text, says := range map[string]string{
		"suite: s\noptions: {repeat: 3}" + run:                                "suite.yaml:2: cannot use the suite: unknown option options.repeat; did you mean repeats or",
		"suite: s\nruns:\n- {name: a, command: [x], options: {repeats: x}}\n": "suite.yaml:3: cannot use the suite: options.repeats: it must be a whole number, not x",
		"suite: s\noptions: [a]" + run:                                        "options must have keys and values",
	} {
		s, err := suiteOf(t, text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		o := Defaults()
		if err := s.Runs[0].Apply(&o); !errors.Is(err, ErrSuite) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: want %q, got %v", text, says, err)
		}
	}
}

// FuzzSuite reads bytes as a suite: what is taken has runs with commands, and names of their own.
func FuzzSuite(f *testing.F) {
	for _, text := range []string{"suite: s\nruns:\n- {name: a, command: [x]}\n", "suite: s\nmatrix: {m: [1, 2], n: [3]}\nruns:\n- {name: '{m}', command: ['{n}'], tags: {a: b}, options: {mode: light}}\n", "suite: &a s\nruns: [*a]\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSuite(data, "suite.yaml")
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, r := range s.Runs {
			if r.Name == "" || len(r.Argv) == 0 || seen[r.Name] {
				t.Errorf("%q gives %+v", data, r)
			}
			seen[r.Name] = true
			o := Defaults()
			_ = r.Apply(&o)
		}
	})
}

// Key is the same for the same options and inputs alone.
func TestOptionsKey(t *testing.T) {
	in, err := ReadInputs(t.Context(), []string{"suite.go"})
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for name, o := range map[string]Options{"defaults": Defaults(), "repeats": With(func(o *Options) { o.Repeats = 2 }), "secret": With(func(o *Options) { o.Nsys.Args = []string{"--password=a"} }), "another": With(func(o *Options) { o.Nsys.Args = []string{"--password=b"} })} {
		for _, inputs := range []bool{false, true} {
			given := in
			if !inputs {
				given = nil
			}
			key, err := o.Key(given)
			if err != nil || len(key) != 16 {
				t.Fatalf("%q, %v", key, err)
			}
			id := fmt.Sprint(name, inputs)
			if other, there := keys[key]; there {
				t.Errorf("%s and %s have one key", other, id)
			}
			keys[key] = id
			if again, err := o.Key(given); err != nil || again != key {
				t.Errorf("%s: another key: %v", id, err)
			}
		}
	}
}

// TestSuiteGives holds that a run gives what it names, as the command line calls it.
func TestSuiteGives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "suite.yaml")
	text := "suite: s\noptions: {ncu: {top: 3}}\nruns:\n- name: a\n  command: [x]\n  inputs: m.yaml\n" +
		"  options: {mode: light, torch: false, baseline: true, ncu: {kernels: x, clock_control: base, source: false}, nsys: {keep_report: true}, torch_options: {stack: true}, serving: {warm: 3s}}\n- {name: b, command: [x]}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSuite(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields("mode baseline ncu-kernels clock-control keep-nsys-rep torch-stack warm inputs") {
		if !s.Runs[0].Gives(name) || s.Runs[1].Gives(name) {
			t.Errorf("%s: %v %v", name, s.Runs[0].Gives(name), s.Runs[1].Gives(name))
		}
	}
	for _, name := range strings.Fields("torch ncu-top ncu-source tools top input subset serving") {
		if s.Runs[0].Gives(name) {
			t.Errorf("%s is given", name)
		}
	}
}
