package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/capture/capturetest"
	"prof/capture/plan"
)

// words are those of a command that prof printed, as a shell reads them.
func (p *place) words(command string) []string {
	p.t.Helper()
	cmd := exec.Command("sh", "-c", "printf '%s\\0' "+command)
	cmd.Dir = p.dir
	out, err := cmd.Output()
	if err != nil || exists(p.path("hacked")) {
		p.t.Fatalf("%s: %v", command, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// printed returns the command that a message ends with.
func printed(t testing.TB, said, before string) string {
	t.Helper()
	_, after, ok := strings.Cut(said, before)
	command, _, whole := strings.Cut(after, "\n")
	if !ok || !whole {
		t.Fatalf("no line ends with %q and a command:\n%s", before, said)
	}
	return command
}

// Whoever reads what prof says may stop reading: the capture goes on. Each recording reads a file as stdin from its beginning.
func TestCaptureUnread(t *testing.T) {
	t.Parallel()
	p := fakes(t)
	cmd := p.command("capture", "--run", "r", "--mode", "light", "--repeats", "2", "--no-ingest", "--", "sh", "-c", "cat >>ran")
	pipe, w, opened := os.Pipe()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = openFile(t, write(t, p.path("prompts.txt"), []byte("a prompt\n"))), w, w
	got := finish(t, cmd, func() error {
		if err := errors.Join(opened, cmd.Start(), w.Close()); err != nil {
			return err
		}
		if line, err := bufio.NewReader(pipe).ReadString('\n'); err != nil || line == "" {
			t.Errorf("prof said %q, %v", line, err)
		}
		pipe.Close()
		return cmd.Wait()
	})
	if ran := string(read(t, p.path("ran"))); got.code != 0 || ran != "a prompt\na prompt\n" {
		t.Errorf("exit %d, the workload read %q", got.code, ran)
	}
}

// Words and variables are bytes, and arrive as they are in every pass.
func TestCaptureBytes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const odd = "\xff\xfe caf\xe9 \xc3\x28"
	b.env = append(b.env, "ODD="+odd, "CUDA_ODD="+odd)
	var got []string
	b.work = func(p *capturetest.Process) int {
		got = append(got, p.Argv[1], p.Getenv("ODD"), p.Getenv("CUDA_ODD"))
		return 0
	}
	if got := b.prof("capture", "--run", "r", "--baseline", "--", "work", odd); got.code != 0 {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	b.wantPasses("r", `baseline-1,ok,0,\nnsys-1,ok,0,\nncu-1,ok,0,\n`)
	if !slices.Equal(got, slices.Repeat([]string{odd}, 9)) {
		t.Errorf("the workload got %q", got)
	}
}

// A workload that is stopped since --duration is over has done what it was to do, with a tool and without.
func TestCaptureDuration(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.work = sleeps
	got := b.prof("capture", "--run", "r", "--mode", "light", "--baseline", "--duration", "1s", "--grace", "3s", "--", "work")
	if got.code != 0 || strings.Contains(got.err, "although the workload succeeded") {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	b.wantPasses("r", `baseline-1,ok,SIGINT,\nnsys-1,ok,SIGTERM,\n`)
	for _, p := range b.manifest("r").Passes {
		if p.WorkloadNs != nil || p.DurationNs == nil || *p.DurationNs < 1e9 || len(p.Artifacts) != map[string]int{"nsys": 1}[p.Tool] { // a given time tells no cost
			t.Errorf("%+v", p)
		}
	}
}

// Without nsys there is no timeline to choose kernels from: the workload's time and provenance are kept. Without Python there is nothing to mark and
// no trace.
func TestCaptureWithout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		without []string
		args    string
		passes  string
		said    string
	}{
		"nsys":                      {[]string{"nsys"}, "--mode deep", `prof-1,not_run,-,no headers of CUPTI; Nsight Systems cannot be used: nsys: not found: it is neither on the PATH nor .*see prof doctor\nbaseline-1,ok,0,\nncu-1,not_run,-,there is no timeline to choose kernels from\n`, ""},
		"nsys for what only it has": {[]string{"nsys", "ncu"}, "--mode light --nsys-memory", `prof-1,not_run,.*\nnsys-1,not_run,.*\nbaseline-1,ok,0,\n`, "see prof doctor"},
		"python":                    {[]string{"python3", "ncu"}, "--mode light --torch --auto-stages", `nsys-1,ok,0,\ntorch-1,no_report,0,"?the PyTorch profiler left no trace; .*\n`, "prof: torch-1: the PyTorch profiler left no trace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.machine.Remove(c.without...)
			got := b.prof(append(append([]string{"capture", "--run", "r"}, strings.Fields(c.args)...), "--", "work")...)
			if got.code != 1 || !strings.Contains(got.err, c.said) {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			b.wantPasses("r", c.passes)
		})
	}
}

// options returns what a command line asks of a capture, which is not made.
func (b *bench) options(args ...string) captureJob {
	b.t.Helper()
	var got *captureJob
	b.asked = func(job captureJob) error { got = &job; return nil }
	if r := b.prof(append(append([]string{"capture"}, args...), "--", "work")...); r.code != 0 || got == nil {
		b.t.Fatalf("%q: exit %d, stderr:\n%s", args, r.code, r.err)
	}
	return *got
}

// The home's config.yaml changes the defaults, and the command line what it says.
func TestCaptureConfig(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, c := range map[string]struct {
		config, args string
		want         func(o *plan.Options)
	}{
		"as the file says":       {"tools: [nsys]\nrepeats: 2\n", "", func(o *plan.Options) { o.Tools, o.Repeats = []string{"nsys"}, 2 }},
		"a flag wins":            {"tools: [nsys]\nrepeats: 2\n", "--repeats 1", func(o *plan.Options) { o.Tools = []string{"nsys"} }},
		"a mode wins over tools": {"tools: [nsys]\n", "--mode deep", func(*plan.Options) {}},
		"as an older prof wrote": {"tools: [nsys]\ntorch_options:\n  memory: true\n", "", func(o *plan.Options) { o.Tools, o.TorchOptions.Memory = []string{"nsys"}, true }},
		"every kind of option": {"", "--tools nsys,torch --tools ncu --ncu-kernels ^x --torch-memory --ncu-metric a --ncu-metric b,c --sample-hz 2.5 --budget 1h --duration 20s --timeout 1m --stall 0 --report-timeout 3s --grace 4s --warmup 2 --max-artifact-size 3MB --no-log --range x@y --after 0", func(o *plan.Options) {
			o.Tools, o.Ncu.Kernels, o.TorchOptions.Memory, o.Ncu.Metrics, o.SampleHz = []string{"nsys", "torch", "ncu"}, "^x", true, []string{"a", "b,c"}, 2.5
			o.Budget, o.Duration, o.Timeout, o.Stall, o.ReportTimeout, o.Grace = time.Hour, 20*time.Second, time.Minute, 0, 3*time.Second, 4*time.Second
			o.Warmup, o.MaxArtifactBytes, o.NoLog, o.Range = 2, 3_000_000, true, "x@y"
		}},
	} {
		write(t, b.path(".prof/config.yaml"), []byte(c.config))
		want := plan.Defaults()
		c.want(&want)
		if got := b.options(strings.Fields(c.args)...).options; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
	}
}

// The command that --no-ingest prints stores the run as capture would have: its name, tags, facts and home.
func TestCaptureNoIngest(t *testing.T) {
	t.Parallel()
	const name = `it's "a" $(touch hacked) & more; x`
	b := newBench(t).storing()
	dir := b.path(".prof/runs/" + plan.FolderName(name))
	for what, args := range map[string][]string{
		"tags":   {"--tag", "note=two words; $HOME 'x'"},
		"a size": {"--image-size", "640x480", "--prefill", "7"},
		"facts":  {"--prefill", "681", "--decode", "3"},
	} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		got := b.prof(append(append([]string{"capture", "--run", name, "--mode", "light", "--no-ingest"}, args...), "--", "work")...)
		if got.code != 0 {
			t.Fatalf("exit %d, stderr:\n%s", got.code, got.err)
		}
		words, want := b.words(printed(t, got.err, "to store it: ")), append(append([]string{"prof", "--home", b.path(".prof"), "ingest"}, args...), dir)
		if !slices.Equal(words, want) {
			t.Errorf("%s: %q, want %q", what, words, want)
		}
	}
	got := b.prof("ingest", "--tag", "a=b", "--prefill", "681", "--decode", "3", dir)
	if stored := b.sql("SELECT name, (SELECT value FROM run_tag) AS tag, (SELECT count(*) FROM workload_pass) AS facts FROM run"); got.code != 0 || got.out != name+"\n" || stored != "name,tag,facts\n\""+strings.ReplaceAll(name, `"`, `""`)+"\",b,1\n" {
		t.Errorf("exit %d, stdout %q, stderr:\n%s\nstored %s", got.code, got.out, got.err, stored)
	}
}

// Names of runs may hold what means something to shells: the command that prof prints to go on shows that run.
func TestCaptureNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{`two words & $(touch hacked) 'x' "y"`, "#1", "~", "été"} {
		got := b.prof("capture", "--run="+name, "--mode", "light", "--", "work")
		if got.code != 0 || !slices.Contains(b.shelf.stored, name) {
			t.Fatalf("exit %d, stderr:\n%s", got.code, got.err)
		}
		if words, want := b.words(printed(t, got.err, "next: ")), []string{"prof", "--home", b.path(".prof"), "show", name}; !slices.Equal(words, want) {
			t.Errorf("%q, want %q", words, want)
		}
	}
}

// Two captures at once into one home wait for each other where they must, and take other names where they chose the same.
func TestCaptureTwo(t *testing.T) {
	t.Parallel()
	p := fakes(t, "PROF_WAIT=5m")
	other := write(t, p.path("other.sqlite"), unpacked(t, "../foreign/minimal.sqlite.gz"))
	done := make(chan result, 2)
	for i := range 2 {
		cmd := p.command("capture", "--mode", "light", "--", "sh", "-c", "true")
		if i == 1 {
			cmd.Env = append(cmd.Env, "NSYS_FAKE_REPORT="+other)
		}
		go func() {
			text, _ := cmd.CombinedOutput() // its end shows in the exit code
			done <- result{code: cmd.ProcessState.ExitCode(), err: string(text)}
		}()
	}
	for range 2 {
		if got := <-done; got.code != 0 {
			t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
		}
	}
	if got := p.sql("SELECT count(*) AS runs, count(DISTINCT name) AS names, (SELECT count(DISTINCT run_id) FROM kernel) AS with_kernels FROM run"); got != "runs,names,with_kernels\n2,2,2\n" {
		t.Errorf("stored: %q", got)
	}
}

// A warehouse that cannot be written to at the end costs no capture: the command that prof prints stores it.
func TestCaptureLocked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   string
		fails  func(again bool) bool
		passes string
		again  []string
	}{
		"not stored yet":  {"--mode light", func(bool) bool { return true }, `nsys-1,ok,0,\n`, []string{"--tag", "k=v w"}},
		"stored once":     {"--mode deep", func(again bool) bool { return again }, `nsys-1,ok,0,\nncu-1,ok,0,\n`, []string{"--replace", "--run", "r", "--tag", "k=v w"}},
		"not to be asked": {"--mode deep", func(bool) bool { return true }, `nsys-1,ok,0,\nncu-1,not_run,-,"?cannot choose kernels for ncu: the timeline could not be stored: the lock is held"?\n`, []string{"--tag", "k=v w"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.shelf.fails = func(again bool) error {
				if c.fails(again) {
					return errors.New("the lock is held")
				}
				return nil
			}
			got := b.prof(append(append([]string{"capture", "--run", "r", "--tag", "k=v w"}, strings.Fields(c.args)...), "--", "work")...)
			if got.code != 1 || !strings.Contains(got.err, "was not stored: the lock is held; ") {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			want := append(append([]string{"prof", "--home", b.path(".prof"), "ingest"}, c.again...), b.path(".prof/runs/r"))
			if words := b.words(printed(t, got.err, "to try again: ")); !slices.Equal(words, want) {
				t.Errorf("%q, want %q", words, want)
			}
			b.wantPasses("r", c.passes)
		})
	}
}

// doctor --json gives checks with an id of their own each, and its exit code says whether something is missing or fails.
func TestCaptureDoctor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tools, status string }{"with tools": {"nsys ncu nsys_report ncu_run", "ok"}, "without": {"nsys ncu", "missing"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if c.status == "missing" {
				b.machine.Remove("nsys", "ncu", "python3")
			}
			got := b.prof("doctor", "--json")
			var checks []struct{ ID, Title, Status, Detail string }
			if err := json.Unmarshal([]byte(got.out), &checks); err != nil {
				t.Fatalf("%v: %q, stderr %q", err, got.out, got.err)
			}
			status, code := map[string]string{}, 0
			for _, check := range checks {
				if status[check.ID] != "" || check.ID == "" || check.Title == "" || check.Detail == "" {
					t.Errorf("check %+v", check)
				}
				if status[check.ID] = check.Status; check.Status == "missing" || check.Status == "failed" {
					code = 1
				}
			}
			for id := range strings.FieldsSeq(c.tools) {
				if status[id] != c.status {
					t.Errorf("%s is %s: %s", id, status[id], got.out)
				}
			}
			if got.code != code || c.status == "missing" && code != 1 {
				t.Errorf("exit %d, want %d:\n%s", got.code, code, got.out)
			}
		})
	}
}
