package mark_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"prof/capture/mark"
	"prof/ingest/load"
	"prof/ingest/rows/rowstest"
	"prof/ingest/workload"
)

func TestEnv(t *testing.T) {
	all := mark.Options{Facts: "/run/workload.json", Trace: "/run/trace.json.gz", Times: "/run/report-1.times", Waits: true, ModelDir: "/run/model", Warmup: 2}
	for _, c := range []struct {
		o    mark.Options
		want string
	}{
		{mark.Options{}, "PROF_MARK=1"},
		{mark.Options{Warmup: -1}, "PROF_MARK=1"},
		{all, "PROF_MARK=1 PROF_MARK_FACTS=/run/workload.json PROF_MARK_TRACE=/run/trace.json.gz PROF_MARK_TIMES=/run/report-1.times PROF_MARK_MODEL_DIR=/run/model PROF_MARK_WAITS=1 PROF_MARK_WARMUP=2"},
		{mark.Options{Stack: true}, "PROF_MARK=1"}, // without a trace
		{mark.Options{Skip: 3, Passes: 2}, "PROF_MARK=1"},
		{mark.Options{Trace: "/t", Skip: 3, Passes: 2}, "PROF_MARK=1 PROF_MARK_TRACE=/t PROF_MARK_TRACE_SKIP=3 PROF_MARK_TRACE_PASSES=2"},
		{mark.Options{Trace: "/t", Stack: true, Memory: true}, "PROF_MARK=1 PROF_MARK_TRACE=/t PROF_MARK_TRACE_STACK=1 PROF_MARK_TRACE_MEMORY=1"},
	} {
		if got := strings.Join(mark.Env(c.o), " "); got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.o, got, c.want)
		}
	}
}

// TestWrite holds what is written to the files beside this test, and keeps each short enough to read in one go.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	for range 2 { // the second time over the first
		if err := mark.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("prof_mark/*.py")
	if err != nil || len(files) < 10 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, f := range append(files, "sitecustomize.py") {
		want, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s was not written as it is: %v", f, err)
		}
	}
	if err := mark.Write(filepath.Join(dir, "sitecustomize.py")); err == nil {
		t.Error("a file in the place of the folder is no error")
	}
}

// python returns the Python to test with: PROF_PYTHON or python3.
func python(t *testing.T) string {
	t.Helper()
	name := os.Getenv("PROF_PYTHON")
	if name == "" {
		name = "python3"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s: set PROF_PYTHON to a Python", name)
	}
	return path
}

// loadModels is an error where a Python has no PyTorch or no transformers.
var loadModels struct {
	once sync.Once
	err  error
}

// withModels returns a Python that has PyTorch and transformers.
func withModels(t *testing.T) string {
	t.Helper()
	p := python(t)
	if testing.Short() {
		t.Skip("loads PyTorch")
	}
	loadModels.once.Do(func() { loadModels.err = exec.Command(p, "-c", "import torch, transformers").Run() })
	if loadModels.err != nil {
		t.Skipf("%s has no PyTorch or no transformers: set PROF_PYTHON to one that has", p)
	}
	return p
}

// command is Python with the helper, run in the folder of its tests.
func command(t *testing.T, python string, o mark.Options, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	if err := mark.Write(dir); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, args...)
	c.Dir = "testdata"
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PROF_MARK") }),
		append(mark.Env(o), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")...)
	return c
}

// TestPython runs the tests of the helper that are written in Python.
func TestPython(t *testing.T) {
	for _, c := range []struct {
		name   string
		python func(*testing.T) string
	}{{"test_plain", python}, {"test_times", python}, {"test_waiting", python}, {"test_garbage", withModels}, {"test_window", python}, {"test_inputs", python}, {"test_ncu", python}, {"test_generate", withModels}, {"test_loops", withModels}, {"test_vision", withModels}, {"test_process", withModels}} {
		t.Run(c.name, func(t *testing.T) {
			out, err := command(t, c.python(t), mark.Options{}, "-m", "unittest", c.name).CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("\nOK")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestFacts holds that what the helper writes is what ingest/workload reads.
func TestFacts(t *testing.T) {
	dir := t.TempDir()
	o := mark.Options{Facts: filepath.Join(dir, "workload.json"), Trace: filepath.Join(dir, "trace.json.gz"), ModelDir: filepath.Join(dir, "model"), Warmup: 1}
	if out, err := command(t, withModels(t), o, "passes.py").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	head, err := os.ReadFile(o.Facts)
	if err != nil {
		t.Fatal(err)
	}
	if !workload.Sniff("workload.json", head[:min(len(head), 4096)]) {
		t.Error("it is not known as the facts of a workload")
	}
	for _, f := range []string{o.Trace, filepath.Join(o.ModelDir, "config.json")} {
		if s, err := os.Stat(f); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	k := rowstest.New(t, load.Options{})
	if _, err := workload.Load(t.Context(), o.Facts, o.Facts, k.Target); err != nil {
		t.Fatal(err)
	}
	k.Table("workload_pass").By("pass_id").Expect(t, "prefill_count decode_count batch_count is_warmup", "7|3|2|true", "7|3|2|false", "~|~|1|false", "9|2|1|false")
}
