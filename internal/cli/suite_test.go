package cli

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const suiteText = `
suite: s
options: {tools: [nsys], sample_hz: 0}
matrix:
  preset: [min, max]
runs:
- name: "{preset}"
  command: [sh, -c, "echo {preset}"]
  tags: {model: toy}
- name: bad
  command: [sh, -c, "test -e good"]
`

// suitePlace is a place with a suite whose timelines differ.
func suitePlace(t *testing.T, text string) *place {
	t.Helper()
	p := fakes(t, "NSYS_FAKE=vary")
	write(t, p.path("suite.yaml"), []byte(text))
	return p
}

// wantSuite captures the suite of a place and holds its exit code, what the workloads print and what stderr says.
func (p *place) wantSuite(code int, out string, says []string, args ...string) {
	p.t.Helper()
	got := p.run(append([]string{"capture", "--suite", "suite.yaml"}, args...)...)
	if got.code != code || got.out != out {
		p.t.Errorf("%q: exit %d, stdout %q, stderr:\n%s", args, got.code, got.out, got.err)
	}
	for _, text := range says {
		if !strings.Contains(got.err, text) {
			p.t.Errorf("%q: stderr lacks %q:\n%s", args, text, got.err)
		}
	}
}

// A suite captures what is not there yet: a run that failed or is another now gets a new name, and what is there is kept.
func TestSuite(t *testing.T) {
	t.Parallel()
	p := suitePlace(t, suiteText)
	p.wantSuite(1, "min\nmax\n", []string{"suite s, run 1 of 3: min: run s-min\n", "run 3 of 3: bad: run s-bad\n", "prof: 1 of 3 runs failed: bad; the same command again captures only these\n", "next: prof query suite --suite s\n"})
	const runs = "SELECT r.name, string_agg(t.key || '=' || t.value, ' ' ORDER BY t.key) AS tags FROM run r JOIN run_tag t USING (run_id) GROUP BY r.name, r.run_id ORDER BY r.run_id"
	want := "name,tags\ns-min,entry=min model=toy preset=min suite=s\ns-max,entry=max model=toy preset=max suite=s\ns-bad,entry=bad suite=s\n"
	if got := p.sql(runs); got != want {
		t.Errorf("runs:\n%s", got)
	}
	write(t, p.path("good"), nil)
	p.wantSuite(0, "", []string{"run 1 of 3: min: skipped: run s-min is this one\n", "max: skipped", "bad: run s-bad-2, because s-bad is partial; it is kept\n"})
	p.wantSuite(0, "", []string{"bad: skipped: run s-bad-2 is this one\n"})
	p.wantSuite(0, "min\nmin\nmax\nmax\n", []string{"min: run s-min-2, because s-min had another command, other options or other inputs; it is kept\n"}, "--repeats", "2")
	p.wantSuite(0, "", []string{"min: skipped: run s-min is this one\n"}) // which is there still
	p.wantSuite(0, "min\nmax\n", []string{"min: run s-min-3, because of --fresh; s-min-2 is kept\n"}, "--fresh", "--tag", "why=again")
	if got := p.sql("SELECT entry, run, stage, status, tags, passes, gpu_span_median_ns > 0 AS timed FROM suite('s', stage := 'decode')"); got != "entry,run,stage,status,tags,passes,timed\nmin,s-min-3,decode,ok,model=toy preset=min,2,true\nmax,s-max-3,decode,ok,model=toy preset=max,2,true\nbad,s-bad-4,decode,ok,,2,true\n" {
		t.Errorf("the suite:\n%s", got)
	}
	if got := p.run("query", "suite", "--suite", "none", "--format", "csv"); got.code != 0 || strings.Count(got.out, "\n") != 1 {
		t.Errorf("a suite without runs: exit %d, %q %q", got.code, got.out, got.err)
	}
}

// Inputs that changed make another run.
func TestSuiteInputs(t *testing.T) {
	t.Parallel()
	p := suitePlace(t, "suite: s\noptions: {tools: [nsys], sample_hz: 0}\nruns:\n- {name: a, command: [sh, -c, 'cat $PROF_INPUTS | grep -c path'], inputs: pages.yaml}\n")
	write(t, p.path("pages.yaml"), []byte("- 1.txt\n- {path: 2.txt, pages: 3}\n"))
	write(t, p.path("1.txt"), []byte("one"))
	write(t, p.path("2.txt"), []byte("two"))
	p.wantSuite(0, "2\n", []string{"a: run s-a\n"})
	p.wantSuite(0, "", []string{"a: skipped"})
	write(t, p.path("2.txt"), []byte("other"))
	p.wantSuite(0, "4\n", []string{"a: run s-a-2, because s-a had another command, other options or other inputs"}, "--repeat-inputs", "2")
	if got := p.sql("SELECT input, page_count, size_bytes, path LIKE '%/2.txt' AS there FROM inputs('s-a-2') WHERE page_count = 3"); got != "input,page_count,size_bytes,there\n2.txt,3,5,true\n" {
		t.Errorf("inputs:\n%s", got)
	}
	if err := exec.Command("rm", p.path("2.txt")).Run(); err != nil {
		t.Fatal(err)
	}
	p.wantSuite(1, "", []string{"a: failed: pages.yaml:2: cannot use the inputs: ", "2.txt: no such file or directory", "1 of 1 runs failed: a;"})
}

// Mistakes are found before anything is run or made.
func TestSuiteMistakes(t *testing.T) {
	t.Parallel()
	p := suitePlace(t, suiteText)
	if err := exec.Command("rm", "-r", p.path(".prof")).Run(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"option": "options: {repeats: 0}\nruns:\n- {name: a, command: [sh]}", "command": "runs:\n- {name: a, command: [sh]}\n- {name: b, command: [nosuchprogram]}", "name": "runs:\n- {name: \"a\\tb\", command: [sh]}",
		"tag": "runs:\n- {name: a, command: [sh], tags: {'a=b': c}}", "inputs": "runs:\n- {name: a, command: [sh], inputs: none.yaml}", "dash": "runs:\n- {name: a, command: [sh -c]}"} {
		write(t, p.path(name+".yaml"), []byte("suite: s\n"+text+"\n"))
	}
	for _, c := range []struct {
		errs string
		args []string
	}{
		{"prof: --suite: the commands are in the file; omit what follows --\n", []string{"--suite", "suite.yaml", "--", "true"}},
		{"prof: --suite: its runs are named by the file; omit --run\n", []string{"--suite", "suite.yaml", "--run", "r"}},
		{"prof: --suite needs the warehouse .*; omit --no-ingest\n", []string{"--suite", "suite.yaml", "--no-ingest"}},
		{"prof: cannot use the suite: .*nosuch.yaml.*\n", []string{"--suite", "nosuch.yaml"}},
		{"prof: option.yaml:4: cannot use the suite: run a: .*--repeats is 0.*\n", []string{"--suite", "option.yaml"}},
		{"prof: command.yaml:4: cannot use the suite: run b: cannot run the workload: nosuchprogram is not on the PATH\n", []string{"--suite", "command.yaml"}},
		{"prof: name.yaml:3: cannot use the suite: run .*: run name .*\n", []string{"--suite", "name.yaml"}},
		{"prof: tag.yaml:3: cannot use the suite: run a: .*\n", []string{"--suite", "tag.yaml"}},
		{"prof: inputs.yaml:3: cannot use the suite: run a: cannot use the inputs: .*\n", []string{"--suite", "inputs.yaml"}},
	} {
		p.wantLike(2, "", c.errs, append([]string{"capture"}, c.args...)...)
	}
	p.wantLike(2, "", "prof: --fresh is for --suite FILE\n", "capture", "--fresh", "--", "true")
	p.wantLike(2, "", `prof: .*--subset and --repeat-inputs need --inputs MANIFEST\n`, "capture", "--subset", "x", "--", "true")
	p.wantLike(1, "", `prof: cannot use the inputs: the manifest cannot be read: .*none.yaml.*\n`, "capture", "--inputs", "none.yaml", "--", "true")
	if got := listing(t, p.path(".")); strings.Contains(strings.Join(got, " "), ".prof/runs/") {
		t.Errorf("something was made: %q", got)
	}
}

// Ctrl-C ends the whole suite, not the run alone.
func TestSuiteStopped(t *testing.T) {
	t.Parallel()
	p := suitePlace(t, "suite: s\noptions: {tools: [nsys], sample_hz: 0}\nruns:\n- {name: a, command: [sh, -c, 'echo $$ >pid; sleep 60']}\n- {name: b, command: [sh, -c, 'echo b >ran']}\n")
	cmd := p.command("capture", "--suite", "suite.yaml")
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	within(t, 20*time.Second, "the first workload begins", func() bool { return exists(p.path("pid")) })
	time.Sleep(100 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || exists(p.path("ran")) {
		t.Errorf("exit %d, the second ran: %v, stderr:\n%s", code, exists(p.path("ran")), said.String())
	}
}
