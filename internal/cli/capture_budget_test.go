package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/capture/capturetest"
)

// A budget orders recordings by their worth, ends the one that exceeds it, and leaves out those that have no time.
func TestCaptureBudget(t *testing.T) {
	t.Parallel()
	const used = `"?the time for the whole capture was used up \(--budget 2s\)"?\n`
	for name, c := range map[string]struct {
		args   string
		work   capturetest.Program
		code   int
		passes string
	}{
		"enough":        {args: "--budget 1h --baseline --repeats 2", passes: `nsys-1,ok,0,\nbaseline-1,ok,0,\nncu-1,ok,0,\nbaseline-2,ok,0,\nnsys-2,ok,0,\n`},
		"used up":       {args: "--budget 2s --baseline --torch --grace 1s", work: sleeps, code: 1, passes: `nsys-1,timeout,.*,"?stopped because the time for the whole capture was used up \(--budget 2s\)"?\nbaseline-1,not_run,-,` + used + `ncu-1,not_run,-,` + used + `torch-1,not_run,-,` + used},
		"fewer repeats": {args: "--budget 11s --mode light --repeats 3", work: func(p *capturetest.Process) int { p.Sleep(6 * time.Second); return 0 }, passes: `nsys-1,ok,0,\nnsys-2,not_run,-,"?there was no time for it: recordings like it took up to .*s, and .*s were left \(--budget 11s\)"?\nnsys-3,not_run,-,.*\n`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.work = c.work
			got := b.prof(append(append([]string{"capture", "--run", "r"}, strings.Fields(c.args)...), "--", "work")...)
			if got.code != c.code {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			b.wantPasses("r", c.passes)
		})
	}
}

// A dry run prints what would be run, and makes and runs nothing.
func TestCaptureDryRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.work = func(*capturetest.Process) int { t.Error("the workload was run"); return 0 }
	const app, helper = `prof launched work 'a b' --api-key '\*\*\*'\n`, `# added to the workload's environment: 'PYTHONPATH=[^\n]*/\.prof~/mark'\n# added to the workload's environment: PROF_MARK=1\n(# added [^\n]*\n)*`
	for args, want := range map[string]string{
		"--baseline --repeats 2 --torch": `# baseline-1 of 2: without a profiler\n` + app + `\n# nsys-1 of 2: under Nsight Systems\n\S*nsys profile '--output=\S*/report-1' [^\n]* ` + app +
			`\n# nsys-2 of 2: [^\n]*\n[^\n]*` + app + `\n# baseline-2 of 2: [^\n]*\n` + app + `\n# torch-1 of 1: under the PyTorch profiler\n` + helper + app +
			`\n# ncu-1 of 1: under Nsight Compute\n# --kernel-id follows, with the launches that ncu-plan chooses from the timeline \(--ncu-top 10, --ncu-launches 1\)\n# it takes as long as the workload up to the last of them, 430µs more for each launch before, and about 500ms for each that is profiled\n\S*ncu [^\n]* work 'a b' --api-key '\*\*\*'\n`,
		"--budget 1h --repeats 2 --baseline --mode light --auto-stages": `# nsys-1 of 2: [^\n]*\n` + helper + `[^\n]*\n\n# baseline-1 of 2: [^\n]*\n` + helper + app + `\n# baseline-2 of 2: [^\n]*\n# only if --budget leaves time for it\n` + helper + app + `\n# nsys-2 .*`,
		"--no-ingest": `# nsys-1 .*\n\n# ncu-1 of 1: under Nsight Compute\n# cannot run: the kernels for ncu are chosen from the stored timeline: .*\n`,
	} {
		got := b.prof(append(append([]string{"capture", "--dry-run"}, strings.Fields(args)...), "--", "work", "a b", "--api-key", "sesame")...)
		if got.code != 0 || !whole(want).MatchString(got.out) {
			t.Errorf("%s: exit %d, stdout:\n%s\nstderr:\n%s", args, got.code, got.out, got.err)
		}
	}
	b.tracing()
	const traced = `(# added [^\n]*\n)*# added to the workload's environment: PROF_TRACE_DIR=\S*/prof/trace-\d\n(# added [^\n]*\n)*` + app
	for args, want := range map[string]string{
		"--repeats 2 --nsys-stack": `# prof-1 of 2: under prof's own tracer\n` + traced + `\n# prof-2 of 2: [^\n]*\n` + traced + `\n# nsys-1 of 1: under Nsight Systems\n\S*nsys profile [^\n]* --python-backtrace=cuda [^\n]*\n\n# ncu-1 of 1: .*`,
		"--mode light --repeats 2 --baseline --budget 1h --nsys-trace cuda,osrt": `# prof-1 of 2: [^\n]*\n` + traced + `\n# baseline-1 of 2: [^\n]*\n` + app + `\n# nsys-1 of 1: [^\n]*\n[^\n]* --trace=cuda,osrt [^\n]*\n\n` +
			`# baseline-2 of 2: [^\n]*\n# only if --budget leaves time for it\n` + app + `\n# prof-2 of 2: [^\n]*\n# only if --budget leaves time for it\n` + traced,
		"--mode light --nsys-trace cuda": `# prof-1 of 1: [^\n]*\n` + traced,
		"--tools nsys --repeats 2":       `# nsys-1 of 2: [^\n]*\n[^\n]*\n\n# nsys-2 of 2: [^\n]*\n[^\n]*\n`,
	} {
		got := b.prof(append(append([]string{"capture", "--dry-run"}, strings.Fields(args)...), "--", "work", "a b", "--api-key", "sesame")...)
		if got.code != 0 || !whole(want).MatchString(got.out) {
			t.Errorf("%s with the tracer: exit %d, stdout:\n%s\nstderr:\n%s", args, got.code, got.out, got.err)
		}
	}
	b.machine.Build = nil
	b.machine.Remove("nsys", "ncu")
	// On a machine that has nothing of what a capture takes it says what is missing, and shows the same.
	write(t, b.path("suite.yaml"), []byte("suite: s\nruns:\n  - {name: r, command: [vllm, serve, M]}\n  - {name: q, command: [work]}\n"))
	for args, want := range map[string]string{
		"-- work":                            `# prof-1 of 1: under prof's own tracer\n# missing here: no headers of CUPTI; Nsight Systems cannot be used: nsys: not found: [^\n]*\n(# added [^\n]*\n)*prof launched work\n\n# ncu-1 of 1: under Nsight Compute\n# missing here: ncu: not found: [^\n]*\n# --kernel-id follows, .*\nncu [^\n]* work\n`,
		"--mode light -- vllm serve M -tp 8": `# vllm is not on the PATH here\n\n# prof-1 of 1: under prof's own tracer\n# missing here: [^\n]*\n(# added [^\n]*\n)*# added to the workload's environment: \S*CUDA_INJECTION64_PATH=\S*/prof/tracer~\.so\S*\n(# added [^\n]*\n)*prof launched vllm serve M -tp 8\n`,
		"--suite suite.yaml --mode light":    `# run s-r\n\n# vllm is not on the PATH here\n\n# prof-1 of 1: [^\n]*\n.*prof launched vllm serve M\n\n# run s-q\n\n# prof-1 .*prof launched work\n\n`,
		"--mode light -- ./run.sh":           `# ./run\.sh does not exist here\n\n# prof-1 .*`,
		"--attach decode --window 5s":        `# no process of prof launch is running here\n\n# a window of 5s in decode and its children\n`,
	} {
		got := b.prof(append([]string{"capture", "--dry-run"}, strings.Fields(args)...)...)
		if got.code != 0 || !whole(want).MatchString(got.out) {
			t.Errorf("%s: exit %d, stdout:\n%s\nstderr:\n%s", args, got.code, got.out, got.err)
		}
	}
	b.wantLike(1, "", `prof: cannot run the workload: no command was given; .*\n`, "capture", "--dry-run", "--")
	b.wantLike(1, "", `prof: cannot run the workload: vllm is not on the PATH\n`, "capture", "--", "vllm", "serve", "M")
	if err := os.Remove(b.path("suite.yaml")); err != nil {
		t.Error(err)
	}
	if made := listing(t, b.dir); len(made) > 0 {
		t.Errorf("a dry run made %q", made)
	}
}

// leaves writes files below a folder; a path that ends in / is a folder.
func leaves(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Error(err)
			}
			continue
		}
		write(t, path, []byte(text))
	}
}
