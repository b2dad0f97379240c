package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell runs a command that prof printed as a user would, by a shell in the place.
func (p *place) shell(command string) result {
	p.t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = p.dir, append(p.command().Env, "PATH="+filepath.Dir(built)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return finish(p.t, cmd, cmd.Run)
}

// printed gives the command that a message ends with.
func printed(t testing.TB, said, before string) string {
	t.Helper()
	_, after, ok := strings.Cut(said, before)
	command, _, whole := strings.Cut(after, "\n")
	if !ok || !whole {
		t.Fatalf("no line ends with %q and a command:\n%s", before, said)
	}
	return command
}

// only gives a PATH that has some programs and no others.
func only(t testing.TB, programs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range programs {
		path, err := exec.LookPath(name)
		full, abs := filepath.Abs(path)
		if err = errors.Join(err, abs, os.Symlink(full, filepath.Join(dir, filepath.Base(name)))); err != nil {
			t.Fatal(err)
		}
	}
	return "PATH=" + dir
}

// wantPasses compares the passes of a run.
func (p *place) wantPasses(run, want string) {
	p.t.Helper()
	if got := p.passes(run); !whole(`pass,status,ended,reason\n` + want).MatchString(got) {
		p.t.Errorf("passes of %s:\n%s", run, got)
	}
}

// A terminal that is closed stops the workload as Ctrl-C does.
func TestCaptureHangup(t *testing.T) {
	t.Parallel()
	r := captureWaiting(t, "", "sleep 60", "--repeats", "2")
	r.send(syscall.SIGHUP)
	if code := r.ended(30 * time.Second); code != 130 {
		t.Errorf("exit %d, stderr:\n%s", code, r.errs)
	}
	r.wantPasses("r", `nsys-1,interrupted,SIGINT,stopped by the user\nnsys-2,not_run,-,the capture was stopped first\n`)
	if got := r.sql("SELECT count(*) AS n FROM kernel"); got != "n\n16\n" || !gone(r.pid()) {
		t.Errorf("kernels: %q; the workload goes on: %v", got, !gone(r.pid()))
	}
}

// Whoever reads what prof says may stop reading: the capture goes on.
func TestCaptureUnread(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	cmd := p.command("capture", "--run", "r", "--mode", "light", "--repeats", "3", "--", "sh", "-c", "echo >>ran")
	pipe, w, opened := os.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
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
	if got.code != 0 || len(read(t, p.path("ran"))) != 3 {
		t.Errorf("exit %d, the workload ran %d times", got.code, len(read(t, p.path("ran"))))
	}
	p.wantPasses("r", `nsys-1,ok,0,\nnsys-2,ok,0,\nnsys-3,ok,0,\n`)
}

// Words and variables are bytes, and arrive as they are in every pass.
func TestCaptureBytes(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	const odd = "\xff\xfe caf\xe9 \xc3\x28"
	p.env = append(p.env, "ODD="+odd, "CUDA_ODD="+odd)
	write(t, p.path("work.sh"), []byte(`printf '%s|%s|%s' "$1" "$ODD" "$CUDA_ODD" >got.$$`))
	if got := p.run("capture", "--run", "r", "--baseline", "--", "sh", "work.sh", odd); got.code != 0 {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	p.wantPasses("r", `baseline-1,ok,0,\nnsys-1,ok,0,\nncu-1,ok,0,\n`)
	files, err := filepath.Glob(p.path("got.*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("the workload wrote %q, %v", files, err)
	}
	for _, f := range files {
		if got := string(read(t, f)); got != odd+"|"+odd+"|"+odd {
			t.Errorf("the workload got %q", got)
		}
	}
}

// A workload that is stopped since --duration is over has done what it was to do, with a tool and without.
func TestCaptureDuration(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	got := p.run("capture", "--run", "r", "--mode", "light", "--baseline", "--duration", "1s", "--grace", "3s", "--", "sleep", "60")
	if got.code != 0 || strings.Contains(got.err, "although the workload succeeded") || strings.Contains(got.err, "overhead of nsys") { // a given time tells no cost
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	p.wantPasses("r", `baseline-1,ok,SIGINT,\nnsys-1,ok,SIGTERM,\n`)
	if got := p.sql("SELECT count(*) AS n, (SELECT count(*) FROM kernel) AS kernels FROM capture_pass WHERE duration_ns BETWEEN 1e9 AND 4e9"); got != "n,kernels\n2,16\n" {
		t.Errorf("passes that took about a second, and kernels: %q", got)
	}
}

// What a workload leaves at work would disturb the next pass, or stay on the GPU: it is ended, by force where it does not listen.
func TestCaptureChildren(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, left string
		passes     int
	}{
		"in every pass": {"--mode deep --baseline", "sleep 30", 3},
		"deaf":          {"--mode light", `sh -c 'trap "" TERM; sleep 30; sleep 30'`, 1},
		"ncu alone":     {"--tools ncu --ncu-kernels saxpy", "sleep 30", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			write(t, p.path("work.sh"), []byte(c.left+" >left.log 2>&1 &\necho $! >>pids\nsleep 0.2\n"))
			if got := p.run(append(append([]string{"capture", "--run", "r"}, strings.Fields(c.args)...), "--", "sh", "work.sh")...); got.code != 0 {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			pids := strings.Fields(string(read(t, p.path("pids"))))
			if len(pids) != c.passes {
				t.Errorf("children of %d passes: %q", c.passes, pids)
			}
			for i, pid := range pids {
				if !gone(pid) {
					t.Errorf("the child of pass %d of %d goes on", i+1, len(pids))
				}
			}
		})
	}
}

// Without nsys there is no timeline to choose kernels from: the workload's time and provenance are kept.
func TestCaptureWithoutNsys(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	p.env = append(p.env, only(t, "testdata/fake/ncu", "sh", "cp", "sleep"))
	got := p.run("capture", "--run", "r", "--", "sh", "-c", "echo >>ran")
	if got.code != 1 || string(read(t, p.path("ran"))) != "\n" {
		t.Errorf("exit %d, the workload ran %d times; stderr:\n%s", got.code, len(read(t, p.path("ran"))), got.err)
	}
	p.wantPasses("r", `nsys-1,not_run,-,nsys: not found: it is neither on the PATH nor .*see prof doctor; prof's own tracer cannot be built: .*\nbaseline-1,ok,0,\nncu-1,not_run,-,there is no timeline to choose kernels from\n`)
}

// The home's config.yaml changes the defaults, and the command line what it says.
func TestCaptureConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, args, passes, saved string }{
		"as the file says":       {"tools: [nsys]\nrepeats: 2\n", "", `nsys-1,ok,0,\nnsys-2,ok,0,\n`, "repeats: 2\n"},
		"a flag wins":            {"tools: [nsys]\nrepeats: 2\n", "--repeats 1", `nsys-1,ok,0,\n`, "repeats: 1\n"},
		"a mode wins over tools": {"tools: [nsys]\n", "--mode deep", `nsys-1,ok,0,\nncu-1,ok,0,\n`, "mode: deep\n"},
		"as an older prof wrote": {"tools: [nsys]\ntorch_options:\n  memory: true\n", "", `nsys-1,ok,0,\n`, "memory: true\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			write(t, p.path(".prof/config.yaml"), []byte(c.config))
			if got := p.run(append(append([]string{"capture", "--run", "r"}, strings.Fields(c.args)...), "--", "sh", "-c", "true")...); got.code != 0 {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			p.wantPasses("r", c.passes)
			if got := string(read(t, p.path(".prof/runs/r/config.yaml"))); !strings.Contains(got, c.saved) {
				t.Errorf("saved:\n%s", got)
			}
		})
	}
	newPlace(t).wantLike(2, "", `prof: --torch-memory needs --torch\n.*`, "capture", "--torch-memory", "--", "true")
}

// The command that --no-ingest prints stores the run as capture would have: its name, tags, facts and home.
func TestCaptureNoIngest(t *testing.T) {
	t.Parallel()
	const name = `it's "a" $(touch hacked) & more; x`
	for what, c := range map[string]struct {
		global, args []string
		want         string
	}{
		"tags":         {nil, []string{"--tag", "note=two words; $HOME 'x'"}, "1,0"},
		"facts":        {nil, []string{"--prefill", "681", "--decode", "3"}, "0,1"},
		"a size":       {nil, []string{"--image-size", "640x480", "--prefill", "7"}, "0,1"},
		"another home": {[]string{"--home", "the home"}, nil, "0,0"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			got := p.run(append(append(append(c.global, "capture", "--run", name, "--mode", "light", "--no-ingest"), c.args...), "--", "sh", "-c", "true")...)
			if got.code != 0 {
				t.Fatalf("exit %d, stderr:\n%s", got.code, got.err)
			}
			command := printed(t, got.err, "to store it: ")
			for _, a := range c.args {
				if strings.HasPrefix(a, "--") && !strings.Contains(command, a+" ") && !strings.Contains(command, a+"=") {
					t.Errorf("%s is not in %s", a, command)
				}
			}
			if got := p.shell(command); got.code != 0 || got.out != name+"\n" {
				t.Errorf("exit %d, stdout %q, stderr:\n%s", got.code, got.out, got.err)
			}
			stored := p.run(append(c.global, "sql", "--format", "csv", `SELECT (SELECT count(*) FROM run_tag WHERE value = 'two words; $HOME ''x''') AS tags,
				(SELECT count(*) FROM workload_pass) AS facts FROM run`)...)
			if stored.out != "tags,facts\n"+c.want+"\n" || exists(p.path("hacked")) {
				t.Errorf("stored %q %s, want %s", stored.out, stored.err, c.want)
			}
		})
	}
}

// Names of runs may hold what means something to shells: the command that prof prints to go on shows that run.
func TestCaptureNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{`two words & $(touch hacked) 'x' "y"`, "#1", "~", "été"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			got := p.run("capture", "--run="+name, "--mode", "light", "--", "sh", "-c", "true")
			if got.code != 0 {
				t.Fatalf("exit %d, stderr:\n%s", got.code, got.err)
			}
			p.ok("ingest", "--run", "later", exported(t, node)) // what show shows without a name
			command := printed(t, got.err, "next: ")
			if got := p.shell(command); got.code != 0 || !whole(`run +\Q`+name+`\E  captured .*`).MatchString(got.out) || exists(p.path("hacked")) {
				t.Errorf("%s: exit %d, stdout %q, stderr %q", command, got.code, got.out, got.err)
			}
		})
	}
}

// Two captures at once into one home wait for each other where they must, and take other names where they chose the same.
func TestCaptureTwo(t *testing.T) {
	t.Parallel()
	for name, names := range map[string][][]string{"named": {{"--run", "x"}, {"--run", "y"}}, "not named": {nil, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			other := write(t, p.path("other.sqlite"), unpacked(t, node))
			done := make(chan result, len(names))
			for i, args := range names {
				cmd := p.command(append(append([]string{"capture", "--mode", "light"}, args...), "--", "sh", "-c", "sleep 0.3")...)
				if i == 1 {
					cmd.Env = append(cmd.Env, "NSYS_FAKE_REPORT="+other)
				}
				go func() {
					text, _ := cmd.CombinedOutput() // its end shows in the exit code
					done <- result{code: cmd.ProcessState.ExitCode(), err: string(text)}
				}()
			}
			for range names {
				if got := <-done; got.code != 0 {
					t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
				}
			}
			if got := p.sql("SELECT count(*) AS runs, count(DISTINCT name) AS names, (SELECT count(DISTINCT run_id) FROM kernel) AS with_kernels FROM run"); got != "runs,names,with_kernels\n2,2,2\n" {
				t.Errorf("stored: %q", got)
			}
		})
	}
}

// A warehouse that another process holds at the end costs no capture: the command that prof prints stores it.
func TestCaptureLocked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, waits, passes string }{
		"not stored yet":  {"--mode light", "1", `nsys-1,ok,0,\n`},
		"stored once":     {"--mode deep", "2", `nsys-1,ok,0,\nncu-1,ok,0,\n`},
		"not to be asked": {"--mode deep", "1", `nsys-1,ok,0,\nncu-1,not_run,-,"?cannot choose kernels for ncu: the timeline could not be stored: .* is in use by process .*\n`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "", "PROF_WAIT=500ms")
			write(t, p.path("work.sh"), []byte("echo >>ran\n[ $(wc -l <ran) = "+c.waits+" ] || exit 0\n: >waiting\nwhile [ ! -e go ]; do sleep 0.05; done\n"))
			cmd := p.command(append(append([]string{"capture", "--run", "r", "--tag", "k=v w"}, strings.Fields(c.args)...), "--", "sh", "work.sh")...)
			got := finish(t, cmd, func() error {
				if err := cmd.Start(); err != nil {
					return err
				}
				within(t, 20*time.Second, "the workload waits", func() bool { return exists(p.path("waiting")) })
				h := startHolder(t, p, "write")
				defer h.end()
				write(t, p.path("go"), nil)
				return cmd.Wait()
			})
			if got.code != 1 || !strings.Contains(got.err, "was not stored: ") {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			if again := p.shell(printed(t, got.err, "to try again: ")); again.code != 0 || again.out != "r\n" {
				t.Errorf("exit %d, stdout %q, stderr:\n%s", again.code, again.out, again.err)
			}
			p.wantPasses("r", c.passes)
			if got := p.sql("SELECT key, value, (SELECT count(*) FROM kernel) AS kernels FROM run_tag"); got != "key,value,kernels\nk,v w,16\n" {
				t.Errorf("stored: %q", got)
			}
		})
	}
}

// What prune packs can be stored anew; runs tagged keep are left alone.
func TestCapturePrune(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	p.ok("capture", "--run", "kept", "--tag", "keep=yes", "--mode", "light", "--", "sh", "-c", "true")
	p.env = append(p.env, "NSYS_FAKE_REPORT="+write(t, p.path("other.sqlite"), unpacked(t, node)))
	p.ok("capture", "--run", "r", "--", "sh", "-c", "true")
	before, stored := listing(t, p.path(".prof/runs/kept")), counts(p)
	p.wantLike(0, `(compress r/\S+ \([0-9.]+ MB\): [^\n]*\n){2}`, `kept: kept: it is protected\ncompressed 2 and deleted 0 files; .*\n`, "prune", "--keep", "0")
	if after := strings.Join(listing(t, p.path(".prof/runs/r")), " "); !whole(`.* ncu/report-1.ncu-rep.zst .* nsys/report-1.sqlite.zst .*`).MatchString(after + " ") {
		t.Errorf("packed: %s", after)
	}
	if after := listing(t, p.path(".prof/runs/kept")); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("the folder of the kept run: %q, was %q", after, before)
	}
	if got := p.ok("ingest", "--replace", ".prof/runs/r"); got != "r\n" || counts(p) != stored {
		t.Errorf("stored anew as %q:\n%s\nwant\n%s", got, counts(p), stored)
	}
}

// doctor --json gives checks with an id of their own each, and its exit code says whether something is missing or fails.
func TestCaptureDoctor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tools, status string }{"with tools": {"nsys ncu nsys_report ncu_run", "ok"}, "without": {"nsys ncu", "missing"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			if c.status == "missing" {
				p.env = append(p.env, only(t, "sh", "true"))
			}
			got := p.run("doctor", "--json")
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

// Without Python there is nothing to mark and no trace: the capture says so.
func TestCaptureWithoutPython(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	p.env = append(p.env, only(t, "testdata/fake/nsys", "sh", "cp", "sleep"))
	args := []string{"capture", "--run", "r", "--mode", "light", "--torch", "--auto-stages", "--"}
	p.wantLike(1, "", "prof: cannot run the workload: python3 is not on the PATH\n", append(args, "python3", "run.py")...)
	got := p.run(append(args, "sh", "-c", "echo >>ran")...)
	if got.code != 1 || !strings.Contains(got.err, "prof: torch-1: the PyTorch profiler left no trace") {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	p.wantPasses("r", `nsys-1,ok,0,\ntorch-1,no_report,0,"?the PyTorch profiler left no trace; .*\n`)
}

// Ctrl-C while a report is exported lets the export end, and ends the capture after it.
func TestCaptureInterruptedExport(t *testing.T) {
	t.Parallel()
	r := captureWaiting(t, "NSYS_FAKE=slowexport", "true", "--mode", "deep", "--repeats", "2")
	within(t, 20*time.Second, "the report is exported", func() bool { return exists(r.path("exporting")) })
	r.send(syscall.SIGINT)
	if code := r.ended(30 * time.Second); code != 130 {
		t.Errorf("exit %d, stderr:\n%s", code, r.errs)
	}
	r.wantPasses("r", `nsys-1,ok,0,\nnsys-2,not_run,-,the capture was stopped first\nncu-1,not_run,-,the capture was stopped first\n`)
	if got := r.sql("SELECT count(*) AS n FROM kernel"); got != "n\n16\n" {
		t.Errorf("kernels: %q", got)
	}
}
