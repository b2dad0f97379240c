package plan

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"prof/internal/golden"
	"prof/schema/rundir"
)

// manifestOptions writes a manifest and gives the options that name it.
func manifestOptions(t *testing.T, text string) Options {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	golden.Write(t, "data/a.png", "abc")
	golden.Write(t, "data/b.png", "")
	golden.Write(t, "data/manifest.yaml", text)
	return With(func(o *Options) { o.InputsManifest = "data/manifest.yaml" })
}

func TestReadManifest(t *testing.T) {
	n0, n3 := new(int64(0)), new(int64(3))
	for name, c := range map[string]struct {
		text, subset string
		want         []rundir.Input
	}{
		"all fields": {`
root: .
inputs:
- path: a.png
  id: first
  width: 640
  height: 480
  pages: 2
  tokens: 681
  size_bytes: 3
  sha256: ` + sumABC + `
  tags: {language: de, scanned: true}
- b.png
`, "", []rundir.Input{
			{ID: "first", Path: "a.png", Size: n3, SHA256: sumABC, Width: new(int64(640)), Height: new(int64(480)), Pages: new(int64(2)), Tokens: new(int64(681)), Tags: map[string]string{"language": "de", "scanned": "true"}},
			{ID: "b.png", Path: "b.png", Size: n0, SHA256: sumEmpty}}},
		"a list":           {"- b.png\n- a.png\n", "", []rundir.Input{{ID: "b.png", Path: "b.png", Size: n0, SHA256: sumEmpty}, {ID: "a.png", Path: "a.png", Size: n3, SHA256: sumABC}}},
		"another's":        {"dataset_root: ../data\nsubset_filelist: dev.txt\ncount: 1\nimages:\n- {path: a.png, bytes: 3, width: 5, height: 6}\n", "", []rundir.Input{{ID: "a.png", Path: "a.png", Size: n3, SHA256: sumABC, Width: new(int64(5)), Height: new(int64(6))}}},
		"a subset":         {"[a.png, b.png]\n", "# chosen\n\nb.png\r\n", []rundir.Input{{ID: "b.png", Path: "b.png", Size: n0, SHA256: sumEmpty}}},
		"one file by ids":  {"[{path: a.png, id: x}, {path: a.png, id: y}]\n", "", []rundir.Input{{ID: "x", Path: "a.png", Size: n3, SHA256: sumABC}, {ID: "y", Path: "a.png", Size: n3, SHA256: sumABC}}},
		"by id, by path":   {"[{path: a.png, id: x}, {path: a.png, id: y}, {path: b.png, id: a.png}]\n", "y\na.png\n", []rundir.Input{{ID: "y", Path: "a.png", Size: n3, SHA256: sumABC}, {ID: "a.png", Path: "b.png", Size: n0, SHA256: sumEmpty}}},
		"all of that path": {"[{path: a.png, id: x}, {path: a.png, id: y}, b.png]\n", "a.png\n", []rundir.Input{{ID: "x", Path: "a.png", Size: n3, SHA256: sumABC}, {ID: "y", Path: "a.png", Size: n3, SHA256: sumABC}}},
	} {
		t.Run(name, func(t *testing.T) {
			o := manifestOptions(t, c.text)
			if c.subset != "" {
				o.Subset = "subset.txt"
				golden.Write(t, o.Subset, c.subset)
			}
			data, err := filepath.Abs("data")
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.want {
				c.want[i].Path = filepath.Join(data, c.want[i].Path)
			}
			got, err := ReadManifest(t.Context(), o)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v\n got %+v\nwant %+v", err, got, c.want)
			}
			text, err := InputsYAML(got)
			if err != nil {
				t.Fatal(err)
			}
			golden.Write(t, "again.yaml", string(text)) // what prof writes is a manifest too
			o.InputsManifest, o.Subset = "again.yaml", ""
			if again, err := ReadManifest(t.Context(), o); err != nil || !reflect.DeepEqual(again, got) {
				t.Errorf("%v\n%s\n again %+v", err, text, again)
			}
		})
	}
}

func TestManifestRefused(t *testing.T) {
	for text, says := range map[string]string{
		"":                                            "manifest.yaml:1: cannot use the inputs: it lists no inputs",
		"inputs: []\n":                                "manifest.yaml:1: cannot use the inputs: it lists no inputs",
		"- a.png\n- no.png\n":                         "manifest.yaml:2: cannot use the inputs: DIR/data/no.png: no such file or directory",
		"- a.png\n- ../data\n":                        "manifest.yaml:2: cannot use the inputs: DIR/data is a folder: list its files",
		"- a.png\n- a.png\n":                          `manifest.yaml:2: cannot use the inputs: the id "a.png" is there twice`,
		"- {path: a.png, heigth: 5}\n":                "unknown option inputs[0].heigth; did you mean height?",
		"- {id: a}\n":                                 "an input has no path",
		"- [a]\n":                                     "inputs[0] must have keys and values",
		"- {path: a.png, pages: 0}\n":                 "pages is 0: it must be 1 or more",
		"- {path: a.png, pages: -1}\n":                "pages is -1",
		"- {path: a.png, width: 1.5}\n":               "width: it must be a whole number",
		"- {path: a.png, size_bytes: 4}\n":            "DIR/data/a.png has 3 bytes, the manifest says 4: it is another file",
		"- {path: a.png, sha256: 00}\n":               "the manifest says 00: it is another file",
		"- {path: a.png, bytes: 3, size_bytes: 4}\n":  "bytes and size_bytes mean the same",
		"count: 3\nimages: [a.png]\n":                 "count is 3, but 1 inputs are listed",
		"root: .\ndataset_root: .\ninputs: [a.png]\n": "root and dataset_root mean the same",
		"images: [a.png]\ninputs: [b.png]\n":          "inputs and images mean the same",
		"- {path: a.png, id: \"a\\tb\"}\n":            "has signs that are not text",
		"- {path: a.png, id: " + strings.Repeat("x", 201) + "}\n":          "is longer than 200 bytes",
		"- {path: a.png, id: hf_examplesecret0123456789}\n":                "the id \"***\" looks like a secret: give another",
		"- {path: a.png, id: /home/x/a}\n- {path: b.png, id: /home/y/a}\n": "the id \"~/a\" is there twice",
		"inputs: {a: b}\n":             "inputs must be a list",
		"- {path: a.png, tags: [a]}\n": "inputs[0].tags must have keys and values",
		"- &a a.png\n":                 "inputs[0] must have keys and values",
		"[" + strings.Repeat("a.png, ", MaxInputs) + "]\n": "there twice",
		"# " + strings.Repeat("x", maxManifest):            "larger than 64 MiB",
	} {
		o := manifestOptions(t, text)
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		_, err = ReadManifest(t.Context(), o)
		if !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), strings.ReplaceAll(says, "DIR", dir)) {
			t.Errorf("%.60q: want %q, got %v", text, says, err)
		}
	}
	o := manifestOptions(t, "- a.png\n- b.png\n")
	for list, says := range map[string]string{"\n# a.png\n": "s.txt names no inputs", "a.png\nc.png\n": `s.txt:2: cannot use the inputs: no input has the id or path "c.png"; did you mean`} {
		golden.Write(t, "s.txt", list)
		o.Subset = "s.txt"
		if err := CheckManifest(o); !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: want %q, got %v", list, says, err)
		}
	}
	o.Subset, o.RepeatInputs = "", MaxInputs
	if err := CheckManifest(o); !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), "100000 inputs, repetitions counted") {
		t.Errorf("many repetitions: %v", err)
	}
}

// FuzzManifest reads bytes as a manifest: what is taken has ids, each once.
func FuzzManifest(f *testing.F) {
	for _, text := range []string{"- a\n- {path: b, id: c, tags: {x: y}}\n", "root: /x\ninputs: [a]\n", "dataset_root: x\ncount: 1\nimages: [{path: a, bytes: 3}]\n", "a: &a [*a]\n", "- - a\n", "inputs:\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := parseManifest(data, "/dir")
		if err == nil && len(got) == 0 {
			t.Error("no inputs are no error")
		}
		seen := map[string]bool{}
		for _, in := range got {
			if err == nil && (CheckInputID(in.ID) != "" || seen[in.ID] || !filepath.IsAbs(in.Path)) {
				t.Errorf("%q gives %+v", data, in)
			}
			seen[in.ID] = true
		}
	})
}

// What is kept of inputs holds no secrets.
func TestMaskInputs(t *testing.T) {
	given := []rundir.Input{{ID: "a", Path: "https://me:hunter2@host/x", Tags: map[string]string{"api_token": "abc", "note": "hf_examplesecret0123456789", "language": "de"}}}
	got := MaskInputs(given)
	if got[0].Path != "https://me:***@host/x" || !reflect.DeepEqual(got[0].Tags, map[string]string{"api_token": "***", "note": "***", "language": "de"}) {
		t.Errorf("kept: %+v", got)
	}
	if given[0].Tags["api_token"] != "abc" {
		t.Error("what the workload is told was masked")
	}
}
