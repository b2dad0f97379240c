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
	b.env = append(b.env, "COLUMNS=10000")
	const temp = `# \.prof~ stands for a folder that the recording makes and removes\n`
	const app, helper = `work 'a b' --api-key '\*\*\*'\n`, `# added to the workload's environment:\n#   'PYTHONPATH=[^\n]*/\.prof~/mark'\n#   PROF_MARK=1\n(#   [^\n]*\n)*` + temp
	for args, want := range map[string]string{
		"--baseline --repeats 2 --torch": `# baseline-1 of 2: without a profiler\n` + app + `\n# nsys-1 of 2: under Nsight Systems\n` + temp + `\S*nsys profile '--output=\S*/\.prof~/t/report-1' [^\n]* ` + app +
			`\n# nsys-2 of 2: [^\n]*\n` + temp + `[^\n]*` + app + `\n# baseline-2 of 2: [^\n]*\n` + app + `\n# torch-1 of 1: under the PyTorch profiler\n` + helper + app +
			`\n# ncu-1 of 1: under Nsight Compute\n# --kernel-id follows, with the launches that ncu-plan chooses from the timeline \(--ncu-top 10, --ncu-launches 1\)\n# it takes as long as the workload up to the last of them, 430µs more for each launch before, and about 500ms for each that is profiled\n\S*ncu [^\n]* work 'a b' --api-key '\*\*\*'\n`,
		"--budget 1h --repeats 2 --baseline --mode light --auto-stages": `# nsys-1 of 2: [^\n]*\n` + helper + `[^\n]*\n\n# baseline-1 of 2: [^\n]*\n` + helper + app + `\n# baseline-2 of 2: [^\n]*\n# only if --budget leaves time for it\n` + helper + app + `\n# nsys-2 .*`,
		"--run r --node-rank 1 --nodes 2 --job 7":                       `# nsys-1 .*\n\n# ncu-1 of 1: under Nsight Compute\n# cannot run: [^\n]* a node of a job is stored with the others: name kernels with --ncu-kernels\n`,
		"--no-ingest": `# nsys-1 .*\n\n# ncu-1 of 1: under Nsight Compute\n# cannot run: the kernels for ncu are chosen from the stored timeline: .*\n`,
	} {
		got := b.prof(append(append([]string{"capture", "--dry-run"}, strings.Fields(args)...), "--", "work", "a b", "--api-key", "sesame")...)
		if got.code != 0 || !whole(want).MatchString(got.out) {
			t.Errorf("%s: exit %d, stdout:\n%s\nstderr:\n%s", args, got.code, got.out, got.err)
		}
	}
	b.tracing()
	const traced = `# added to the workload's environment:\n(#   [^\n]*\n)*#   PROF_TRACE_DIR=\S*/prof/trace-\d\n(#   [^\n]*\n)*` + app
	for args, want := range map[string]string{
		"--repeats 2 --nsys-stack": `# prof-1 of 2: under prof's own tracer\n` + traced + `\n# prof-2 of 2: [^\n]*\n` + traced + `\n# nsys-1 of 1: under Nsight Systems\n` + temp + `\S*nsys profile [^\n]* --python-backtrace=cuda [^\n]*\n\n# ncu-1 of 1: .*`,
		"--mode light --repeats 2 --baseline --budget 1h --nsys-trace cuda,osrt": `# prof-1 of 2: [^\n]*\n` + traced + `\n# baseline-1 of 2: [^\n]*\n` + app + `\n# nsys-1 of 1: [^\n]*\n` + temp + `[^\n]* --trace=cuda,osrt [^\n]*\n\n` +
			`# baseline-2 of 2: [^\n]*\n# only if --budget leaves time for it\n` + app + `\n# prof-2 of 2: [^\n]*\n# only if --budget leaves time for it\n` + traced,
		"--mode light --nsys-trace cuda": `# prof-1 of 1: [^\n]*\n` + traced,
		"--tools nsys --repeats 2":       `# nsys-1 of 2: [^\n]*\n` + temp + `[^\n]*\n\n# nsys-2 of 2: [^\n]*\n` + temp + `[^\n]*\n`,
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
	const none = `# missing here: no headers of CUPTI; Nsight Systems cannot be used: nsys: not found: [^\n]*\n`
	const unbuilt = `# added to the workload's environment:\n#   \S*CUDA_INJECTION64_PATH=\S*/prof/tracer~\.so\S*\n(#   [^\n]*\n)*# tracer~\.so stands for the tracer, which cannot be built here\n`
	const absent = `# missing here: `
	for _, c := range []struct {
		code       int // of the capture itself, where it would be refused
		args, want string
	}{
		{0, "-- work", `# prof-1 of 1: under prof's own tracer\n` + none + unbuilt + `work\n\n# ncu-1 of 1: under Nsight Compute\n# missing here: ncu: not found: [^\n]*\n# --kernel-id follows, .*\nncu [^\n]* work\n`},
		{0, "--mode light -- vllm serve M -tp 8", absent + `vllm is not on the PATH\n\n# prof-1 of 1: under prof's own tracer\n` + none + unbuilt + `vllm serve M -tp 8\n`},
		{0, "--suite suite.yaml --mode light", `# run s-r\n\n` + absent + `vllm is not on the PATH\n\n# prof-1 of 1: [^\n]*\n.*\nvllm serve M\n\n# run s-q\n\n# prof-1 .*\nwork\n\n`},
		{0, "--mode light -- ./run.sh", absent + `\./run\.sh does not exist\n\n# prof-1 .*`},
		{0, "--mode light -- python3 -u nosuch.py x.py", `# there is no nosuch\.py in \S+ here\n\n# prof-1 .*\npython3 -u nosuch.py x.py\n`},
		{0, "--mode light -- work python3 /no/nosuch.py", `# there is no /no/nosuch\.py here\n\n# prof-1 .*`},
		{0, "--mode light -- python3 -m nosuch.py", `# prof-1 .*`},
		{0, "--mode light -- work nosuch.py", `# prof-1 .*`},
	} {
		got := b.prof(append([]string{"capture", "--dry-run"}, strings.Fields(c.args)...)...)
		if got.code != c.code || !whole(c.want).MatchString(got.out) {
			t.Errorf("%s: exit %d, stdout:\n%s\nstderr:\n%s", c.args, got.code, got.out, got.err)
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
