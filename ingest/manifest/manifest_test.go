package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/schema/rundir"
)

func TestSniff(t *testing.T) {
	whole, err := os.ReadFile("../../testdata/capture/repeats/run.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"run.json", string(whole), true}, {"run.json", string(whole[:2000]), true}, {"my-run.json", string(whole), false}, {"run.json", string(whole[:70]), false},
		{"run.json", `{"passes": [], "prof_version": ""}`, true}, {"run.json", `{"passes": []}`, false}, {"run.json", `[{"passes": [], "prof_version": ""}]`, false},
		{"run.json", `{"a": {"passes": [], "prof_version": ""}}`, false}, {"run.json", "", false}, {"run.json", "passes prof_version", false},
		{"run.json", `{"version": 1, "run": "x", "prof_version": "1", "argv": ["python3", "-c", "unfini`, true}, {"run.json", `{"version": 1, "run": "x", "argv": ["python3"]}`, false},
		{"run.json", `{"version": 1, "run": "x", "prof_version": "1"}`, false}, {"run.json", `{"run": "x", "prof_version": "1", "argv": []}`, false},
	} {
		if got := Sniff(c.name, []byte(c.text)); got != c.want {
			t.Errorf("%s %.60q: %v", c.name, c.text, got)
		}
	}
}

// TestLongArgv holds that a run.json is known whose command line is longer than what is looked at.
func TestLongArgv(t *testing.T) {
	dir := t.TempDir()
	m := rundir.Manifest{Version: rundir.ManifestVersion, Run: "long", ProfVersion: "1", Mode: "deep", Argv: []string{"python3", "-c", strings.Repeat("x", 100_000)},
		StartedAt: time.Now().UTC(), Status: rundir.StatusOK, Passes: []rundir.Pass{}}
	if err := m.Write(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, rundir.ManifestName)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const head = 64 << 10
	if len(text) <= head || !Sniff(rundir.ManifestName, text[:head]) {
		t.Errorf("a run.json of %d bytes is not known by its first %d", len(text), head)
	}
	if r, err := Read(file, file); err != nil || len(r.Manifest.Argv[2]) != 100_000 {
		t.Errorf("it was read as %+v, %v", r, err)
	}
}

// TestPassOf holds that a file is known by whatever path leads to it.
func TestPassOf(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	if err := os.CopyFS(real, os.DirFS("../../testdata/capture/repeats")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, run := range []string{"real/run.json", filepath.Join(dir, "link/run.json"), "./link/../real/run.json"} {
		r, err := Read(run, run)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]int{"real/nsys/report-1.sqlite": 4, filepath.Join(dir, "link/nsys/report-2.nsys-rep"): 5, "link/nsys/../nsys/report-2.sqlite.zst": 5,
			"real/nsys/report-1.sqlite.gz": 4, "real/report-1.sqlite": 0, "real/nsys/report-3.sqlite": 0, "report-1.sqlite": 0} {
			if got, ok := r.PassOf(path); got != want || ok != (want > 0) {
				t.Errorf("%s: %s is of pass %d, want %d", run, path, got, want)
			}
		}
	}
}

// TestFaults holds what is said of a capture that went wrong.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		m    rundir.Manifest
		want string
	}{
		{rundir.Manifest{Status: rundir.StatusOK, Passes: []rundir.Pass{{Name: "baseline-1", Status: rundir.StatusFailed}}}, ""},
		{rundir.Manifest{Status: rundir.StatusRunning, Passes: []rundir.Pass{{Name: "nsys-1", Status: rundir.StatusOK}, {Name: "ncu-1", Status: rundir.StatusRunning}}},
			"prof was killed during the capture; recording ncu-1: running"},
		{rundir.Manifest{Status: rundir.StatusPartial, Passes: []rundir.Pass{{Name: "nsys-1", Status: rundir.StatusTooLarge, Reason: "more than 2 GiB"}, {Name: "ncu-1", Status: rundir.StatusNotRun}}},
			"recording nsys-1: too large: more than 2 GiB; recording ncu-1: not run"},
		{rundir.Manifest{Status: rundir.StatusFailed, Reason: "no tool with token=abcdefgh"}, "the capture is failed: no tool with token=***"},
	} {
		if got := strings.Join((&Run{Manifest: &c.m}).Faults(), "; "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.m, got, c.want)
		}
	}
}

// TestEnvironment holds how env.json becomes facts, and that no secret does.
func TestEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env.json")
	for _, c := range []struct{ text, want string }{
		{`{"a": {"b": 1, "c": [1, "x", null], "d": null, "e": ""}, "f": [{"g": true}, {"g": 1.50}], "h": [], "i": 12345678901234567890}`,
			"map[env.a.b:1 env.a.c:1, x env.f.0.g:true env.f.1.g:1.50 env.i:12345678901234567890]"},
		{`{"variables": {"HF_TOKEN": "abcdefgh12345678", "NCCL_X": "hf_examplesecret0123456789", "CUDA_Y": "1"}}`, "map[env.variables.CUDA_Y:1 env.variables.HF_TOKEN:*** env.variables.NCCL_X:***]"},
		{`{"a.b": 1, "a": {"b": 2}}`, `two values have the name "a.b"`},
		{`[1]`, "it is not a JSON object"},
		{`{"a": `, "it is not a JSON object"},
		{strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "more than 16 deep"},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := readEnvironment(file)
		if err == nil && fmt.Sprint(got) != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v, %v, want %s", c.text, got, err, c.want)
		}
	}
	if _, err := readEnvironment(filepath.Dir(file)); err == nil {
		t.Error("a folder was read as env.json")
	}
}

// FuzzRead reads bytes as a run.json: what is taken can be asked for everything, and what is not is an error that names the file.
func FuzzRead(f *testing.F) {
	const head = `{"version": 1, "prof_version": "9", "run": "x", "started_at": "2025-01-02T03:04:05Z"`
	f.Add([]byte(head + `}`))
	f.Add([]byte(head + `, "argv": ["a", "--token", "b"], "status": "partial", "ended_at": "2025-01-02T03:04:06.5Z", "passes": [{"pass": 1, "name": "nsys-1", "tool": "nsys",
		"status": "failed", "reason": "x", "repeat": 1, "started_at": "2025-01-02T03:04:05Z", "artifacts": ["nsys/a.sqlite.zst"], "duration_ns": 5}], "devices": [{"device": 0}]}`))
	f.Add([]byte(head + `, "passes": [{"pass": 4294967297, "artifacts": ["../a"]}], "devices": [{"device": -1}]}`))
	f.Add([]byte(head + `, "passes": [` + strings.Repeat("{},", 10_000) + `{}]}`))
	f.Add([]byte(head + `, "inputs": [` + strings.Repeat("{},", 1<<18) + `{}]}`))
	path := filepath.Join(f.TempDir(), rundir.ManifestName)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		Sniff(rundir.ManifestName, data)
		r, err := Read(path, path)
		if err != nil {
			if !strings.Contains(err.Error(), path+": ") {
				t.Errorf("%q does not name the file", err)
			}
			return
		}
		r.Command()
		r.Faults()
		r.duration()
		for _, p := range r.Manifest.Passes {
			for _, file := range p.Artifacts {
				if pass, ok := r.PassOf(r.path(file)); !ok || pass != p.ID {
					t.Errorf("%q is of recording %d, %v", file, pass, ok)
				}
			}
		}
	})
}

// FuzzEnvironment reads bytes as an env.json: the same facts each time, none of them empty, no more than are allowed.
func FuzzEnvironment(f *testing.F) {
	for _, text := range []string{`{"a": {"b": 1, "c": [1, "x", null], "d": null}, "f": [{"g": true}, [2]]}`, `{"variables": {"HF_TOKEN": "abcdefgh12345678"}}`,
		`{"a.b": 1, "a": {"b": 2}}`, `{"a": [[[[]]], 1e999]}`} {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"a": [` + strings.Repeat("[],", 1<<18) + `[]]}`))
	path := filepath.Join(f.TempDir(), rundir.EnvironmentName)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := readEnvironment(path)
		for range 4 {
			if again, err2 := readEnvironment(path); fmt.Sprint(got, err) != fmt.Sprint(again, err2) {
				t.Fatalf("%v %v, then %v %v", got, err, again, err2)
			}
		}
		if len(got) > maxFacts+1 {
			t.Errorf("%d facts", len(got))
		}
		for name, value := range got {
			if value == "" || !strings.HasPrefix(name, "env") {
				t.Errorf("%q: %q", name, value)
			}
		}
	})
}
