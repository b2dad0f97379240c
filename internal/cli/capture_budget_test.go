package cli

import (
	"strings"
	"testing"
)

// A budget orders recordings by their worth, ends the one that exceeds it, and leaves out those that have no time.
func TestCaptureBudget(t *testing.T) {
	const used = `"?the time for the whole capture was used up \(--budget 2s\)"?\n`
	for name, c := range map[string]struct {
		args, work string
		code       int
		passes     string
		rows       string // kernels and profiled launches
	}{
		"enough":        {args: "--budget 1h --baseline --repeats 2", work: "true", passes: `nsys-1,ok,0,\nbaseline-1,ok,0,\nncu-1,ok,0,\nbaseline-2,ok,0,\nnsys-2,ok,0,\n`, rows: "16,4"},
		"used up":       {args: "--budget 2s --baseline --torch --grace 1s", work: "sleep 60", code: 1, passes: `nsys-1,timeout,.*,"?stopped because the time for the whole capture was used up \(--budget 2s\)"?\nbaseline-1,not_run,-,` + used + `ncu-1,not_run,-,` + used + `torch-1,not_run,-,` + used, rows: "16,0"},
		"fewer repeats": {args: "--budget 11s --mode light --repeats 3", work: "sleep 6", passes: `nsys-1,ok,0,\nnsys-2,not_run,-,"?there was no time for it: recordings like it took up to .*s, and .*s were left \(--budget 11s\)"?\nnsys-3,not_run,-,.*\n`, rows: "16,0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			got := p.run(append(append([]string{"capture", "--run", "r"}, strings.Fields(c.args)...), "--", "sh", "-c", c.work)...)
			if got.code != c.code {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			p.wantPasses("r", c.passes)
			if got := p.sql("SELECT (SELECT count(*) FROM kernel) AS kernels, (SELECT count(*) FROM ncu_launch) AS launches"); got != "kernels,launches\n"+c.rows+"\n" {
				t.Errorf("rows: %q", got)
			}
			for _, q := range []string{"stages", "overhead", "top-kernels", "aggregates"} {
				p.ok("query", q, "--run", "r")
			}
			p.ok("show", "r")
		})
	}
}

// A dry run prints what would be run, and makes and runs nothing.
func TestCaptureDryRun(t *testing.T) {
	t.Parallel()
	p := fakes(t, "")
	before := listing(t, p.path("."))
	const app, helper = `prof launch sh -c 'echo >>ran' --api-key '\*\*\*'\n`, `# added to the workload's environment: 'PYTHONPATH=[^\n]*/\.prof~/mark'\n# added to the workload's environment: PROF_MARK=1\n(# added [^\n]*\n)*`
	for args, want := range map[string]string{
		"--baseline --repeats 2 --torch": `# baseline-1 of 2: without a profiler\n` + app + `\n# nsys-1 of 2: under Nsight Systems\n\S*nsys profile '--output=\S*/report-1' [^\n]* ` + app +
			`\n# baseline-2 of 2: [^\n]*\n` + app + `\n# nsys-2 of 2: [^\n]*\n[^\n]*` + app + `\n# torch-1 of 1: under the PyTorch profiler\n` + helper + app +
			`\n# ncu-1 of 1: under Nsight Compute\n# --kernel-id follows, with the launches that ncu-plan chooses from the timeline \(--ncu-top 10, --ncu-launches 1\)\n\S*ncu [^\n]* sh -c 'echo >>ran' --api-key '\*\*\*'\n`,
		"--budget 1h --repeats 2 --baseline --mode light --auto-stages": `# nsys-1 of 2: [^\n]*\n` + helper + `[^\n]*\n\n# baseline-1 of 2: [^\n]*\n` + helper + app + `\n# baseline-2 of 2: [^\n]*\n# only if --budget leaves time for it\n` + helper + app + `\n# nsys-2 .*`,
		"--no-ingest": `# nsys-1 .*\n\n# ncu-1 of 1: under Nsight Compute\n# cannot run: the kernels for ncu are chosen from the stored timeline: .*\n`,
	} {
		got := p.run(append(append([]string{"capture", "--dry-run"}, strings.Fields(args)...), "--", "sh", "-c", "echo >>ran", "--api-key", "sesame")...)
		if got.code != 0 || !whole(want).MatchString(got.out) {
			t.Errorf("%s: exit %d, stdout:\n%s\nstderr:\n%s", args, got.code, got.out, got.err)
		}
	}
	p.env = append(p.env, only(t, "sh"))
	got := p.run("capture", "--dry-run", "--", "sh", "work.sh")
	if want := `# nsys-1 of 1: under Nsight Systems\n# cannot run: nsys: not found: .*see prof doctor; prof's own tracer cannot be built: .*\n\n# baseline-1 of 1: without a profiler\nprof launch sh work.sh\n\n# ncu-1 of 1: under Nsight Compute\n# cannot run: ncu: not found: [^\n]*\n`; got.code != 0 || !whole(want).MatchString(got.out) {
		t.Errorf("exit %d, stdout:\n%s\nstderr:\n%s", got.code, got.out, got.err)
	}
	if after := listing(t, p.path(".")); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("a dry run made files:\n%q\n%q", after, before)
	}
}
