package cli

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"prof/capture/capturetest"
)

const suiteText = `
suite: s
options: {tools: [nsys], sample_hz: 0}
matrix:
  preset: [min, max]
runs:
- name: "{preset}"
  command: [work, "{preset}"]
  tags: {model: toy}
- name: bad
  command: [work, ""]
`

// suiteBench is a bench with a suite whose timelines differ, and a workload that prints its argument.
func suiteBench(t *testing.T, text string) *bench {
	t.Helper()
	b := newBench(t)
	b.nsys.How = "vary"
	write(t, b.path("suite.yaml"), []byte(text))
	b.work = func(p *capturetest.Process) int {
		if p.Argv[1] != "" {
			fmt.Fprintln(p.Stdout, p.Argv[1])
		} else if !exists(b.path("good")) {
			return 1
		}
		return 0
	}
	return b
}

// wantSuite captures the suite of a place and holds its exit code, what the workloads print and what stderr says.
func (b *bench) wantSuite(code int, out string, says []string, args ...string) {
	b.t.Helper()
	got := b.prof(append([]string{"capture", "--suite", "suite.yaml"}, args...)...)
	if got.code != code || got.out != out {
		b.t.Errorf("%q: exit %d, stdout %q, stderr:\n%s", args, got.code, got.out, got.err)
	}
	for _, text := range says {
		if !strings.Contains(got.err, text) {
			b.t.Errorf("%q: stderr lacks %q:\n%s", args, text, got.err)
		}
	}
}

// A suite captures what is not there yet: a run that failed or is another now gets a new name, and what is there is kept.
func TestSuite(t *testing.T) {
	t.Parallel()
	b := suiteBench(t, suiteText)
	b.wantSuite(1, "min\nmax\n", []string{"suite s, run 1 of 3: min: run s-min\n", "run 3 of 3: bad: run s-bad\n", "prof: 1 of 3 runs failed: bad; the same command again captures only these\n"})
	if want := [][2]string{{"entry", "bad"}, {"suite", "s"}}; !slices.Equal(b.shelf.last.Tags, want) {
		t.Errorf("tags %q", b.shelf.last.Tags)
	}
	write(t, b.path("good"), nil)
	b.wantSuite(0, "", []string{"run 1 of 3: min: skipped: run s-min is this one\n", "max: skipped", "bad: run s-bad-2, because s-bad is partial; it is kept\n"})
	b.wantSuite(0, "", []string{"bad: skipped: run s-bad-2 is this one\n"})
	b.wantSuite(0, "min\nmin\nmax\nmax\n", []string{"min: run s-min-2, because s-min had another command, other options or other inputs; it is kept\n"}, "--repeats", "2")
	b.wantSuite(0, "", []string{"min: skipped: run s-min is this one\n"}) // which is there still
	b.wantSuite(0, "min\nmax\n", []string{"min: run s-min-3, because of --fresh; s-min-2 is kept\n"}, "--fresh", "--tag", "why=again")
	if want := strings.Fields("s-min s-max s-bad s-bad-2 s-min-2 s-max-2 s-bad-3 s-min-3 s-max-3 s-bad-4"); !slices.Equal(b.shelf.stored, want) {
		t.Errorf("stored %q, want %q", b.shelf.stored, want)
	}
}

// The runs of a suite are found again by what is stored of them, and shown side by side.
func TestSuiteStored(t *testing.T) {
	t.Parallel()
	b := suiteBench(t, suiteText[:strings.Index(suiteText, "- name: bad")]).storing()
	b.wantSuite(0, "min\nmax\n", []string{"min: run s-min\n", "\nsuite s\n", "next: prof --home " + b.path(".prof") + " query suite --suite s\n"}, "--tag", "why=once")
	b.wantSuite(0, "", []string{"min: skipped: run s-min is this one\n", "max: skipped: run s-max is this one\n", "\nsuite s\n"})
	b.wantRows(map[string]string{
		"SELECT r.name, string_agg(t.key || '=' || t.value, ' ' ORDER BY t.key) AS tags FROM run r JOIN run_tag t USING (run_id) GROUP BY r.name, r.run_id ORDER BY r.run_id": "name,tags\ns-min,entry=min model=toy preset=min suite=s why=once\ns-max,entry=max model=toy preset=max suite=s why=once\n",
		"SELECT entry, run, stage, status, tags, passes, gpu_span_median_ns > 0 AS timed FROM suite('s', stage := 'decode')":                                                  "entry,run,stage,status,tags,passes,timed\nmin,s-min,decode,ok,preset=min,2,true\nmax,s-max,decode,ok,preset=max,2,true\n",
	})
	if got := b.run("query", "suite", "--suite", "none", "--format", "csv"); got.code != 0 || strings.Count(got.out, "\n") != 1 {
		t.Errorf("a suite without runs: exit %d, %q %q", got.code, got.out, got.err)
	}
}

// Inputs that changed make another run.
func TestSuiteInputs(t *testing.T) {
	t.Parallel()
	b := suiteBench(t, "suite: s\noptions: {tools: [nsys], sample_hz: 0}\nruns:\n- {name: a, command: [work], inputs: pages.yaml}\n")
	b.work = func(p *capturetest.Process) int {
		fmt.Fprintln(p.Stdout, bytes.Count(read(t, p.Getenv("PROF_INPUTS")), []byte(`"path"`)))
		return 0
	}
	leaves(t, b.dir, map[string]string{"pages.yaml": "- 1.txt\n- {path: 2.txt, pages: 3}\n", "1.txt": "one", "2.txt": "two"})
	b.wantSuite(0, "2\n", []string{"a: run s-a\n"})
	b.wantSuite(0, "", []string{"a: skipped"})
	write(t, b.path("2.txt"), []byte("other"))
	b.wantSuite(0, "4\n", []string{"a: run s-a-2, because s-a had another command, other options or other inputs"}, "--repeat-inputs", "2")
	in := b.manifest("s-a-2").Inputs
	if len(in) != 2 || in[1].Path != b.path("2.txt") || in[1].Size == nil || *in[1].Size != 5 || in[1].Pages == nil || *in[1].Pages != 3 {
		t.Errorf("inputs: %+v", in)
	}
	if err := os.Remove(b.path("2.txt")); err != nil {
		t.Fatal(err)
	}
	b.wantSuite(1, "", []string{"a: failed: ", "pages.yaml:2: cannot use the inputs: ", "2.txt: no such file or directory", "1 of 1 runs failed: a;"})
}

// Mistakes are found before anything is run or made.
func TestSuiteMistakes(t *testing.T) {
	t.Parallel()
	b := suiteBench(t, suiteText)
	for name, text := range map[string]string{"option": "options: {repeats: 0}\nruns:\n- {name: a, command: [work]}", "command": "runs:\n- {name: a, command: [work]}\n- {name: b, command: [nosuchprogram]}", "name": "runs:\n- {name: \"a\\tb\", command: [work]}",
		"tag": "runs:\n- {name: a, command: [work], tags: {'a=b': c}}", "inputs": "runs:\n- {name: a, command: [work], inputs: none.yaml}", "dash": "runs:\n- {name: a, command: [work -c]}",
		"idle": "options: {tools: [prof, ncu], ncu: {top: 3}}\nruns:\n- {name: a, command: [work], options: {ncu: {kernels: x, launches: 2}}}", "top": "runs:\n- {name: a, command: [work], options: {ncu: {top: 2}}}"} {
		write(t, b.path(name+".yaml"), []byte("suite: s\n"+text+"\n"))
	}
	for _, c := range []struct {
		errs string
		args []string
	}{
		{"prof: --suite: the commands are in the file; omit what follows --\n", []string{"--suite", "suite.yaml", "--", "true"}},
		{"prof: --suite: its runs are named by the file; omit --run\n", []string{"--suite", "suite.yaml", "--run", "r"}},
		{"prof: --suite needs the warehouse .*; omit --no-ingest\n", []string{"--suite", "suite.yaml", "--no-ingest"}},
		{"prof: cannot use the suite: .*nosuch.yaml.*\n", []string{"--suite", "nosuch.yaml"}},
		{"prof: .*option.yaml:4: cannot use the suite: run a: .*--repeats is 0.*\n", []string{"--suite", "option.yaml"}},
		{"prof: .*idle.yaml:4: cannot use the suite: run a: capture options: --ncu-launches with --ncu-kernels: .*\n", []string{"--suite", "idle.yaml"}},
		// What has an effect in the file may have none beside the command line, which counts more.
		{"prof: .*top.yaml:3: cannot use the suite: run a: capture options: --clock-control with --mode light: .*\n", []string{"--suite", "top.yaml", "--mode", "light", "--clock-control", "base"}},
		{"prof: .*command.yaml:4: cannot use the suite: run b: cannot run the workload: nosuchprogram is not on the PATH\n", []string{"--suite", "command.yaml"}},
		{"prof: .*name.yaml:3: cannot use the suite: run .*: run name .*\n", []string{"--suite", "name.yaml"}},
		{"prof: .*tag.yaml:3: cannot use the suite: run a: .*\n", []string{"--suite", "tag.yaml"}},
		{"prof: .*inputs.yaml:3: cannot use the suite: run a: cannot use the inputs: .*\n", []string{"--suite", "inputs.yaml"}},
	} {
		b.wantLike(2, "", c.errs, append([]string{"capture"}, c.args...)...)
	}
	if exists(b.path(".prof")) {
		t.Errorf("something was made: %q", listing(t, b.dir))
	}
}

// Ctrl-C ends the whole suite, not the run alone.
func TestSuiteStopped(t *testing.T) {
	t.Parallel()
	b := suiteBench(t, "suite: s\noptions: {tools: [nsys], sample_hz: 0}\nruns:\n- {name: a, command: [work, a]}\n- {name: b, command: [work, b]}\n")
	b.work = func(p *capturetest.Process) int {
		if p.Argv[1] == "b" {
			t.Error("the second ran")
			return 0
		}
		b.interrupt()
		return p.Hang()
	}
	b.wantSuite(130, "", []string{"run 1 of 2: a: run s-a\n"})
}
