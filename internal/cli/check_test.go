package cli

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/schema"
)

// judgedRuns are two captures of three processes each: sdpa-1, which is the baseline main, and eager, of which the kernels take about 10 % longer
// and are more.
var judgedRuns = []testkit.Run{{Name: "sdpa-1", Files: []string{"capture/llama/sdpa-1"}}, {Name: "eager", Files: []string{"capture/llama/eager"}, Key: "with a baseline", Then: func(ctx context.Context, w *schema.Warehouse) error {
	run, err := w.Resolve(ctx, "sdpa-1")
	if err != nil {
		return err
	}
	return w.SetBaseline(ctx, "main", run, testkit.Now)
}}}

// TestCheck holds exit codes, verdicts and forms, with real captures.
func TestCheck(t *testing.T) {
	t.Parallel()
	p := reading(t, judgedRuns)
	// The run against itself differs in nothing: the built-in rule holds for each stage.
	p.wantLike(0, `passed: 2 of 2 rules hold against sdpa-1 \(baseline:main\)\n.*holds +stage\.decode\.gpu_span_ns .*holds +stage\.prefill\.gpu_span_ns .*note: both sides are the same captures\n`, "", "check", "sdpa-1")

	// Launches and the kernels' time are surely more; the run is @latest.
	r := p.run("check", "--wide", "--rule", "stage.decode.launches <= +0", "--rule", "stage.*.kernel:/./.total_ns <= +5%", "--rule", "new_kernels <= 0", "--rule", "stage.decode.gpu_span_ns <= 10s")
	if r.code != 3 || r.err != "" || !strings.HasPrefix(r.out, "regression: 4 of 5 rules broken against sdpa-1 (baseline:main)") {
		t.Errorf("%d %q\n%s", r.code, r.err, r.out)
	}
	for _, line := range []string{
		`broken +stage\.decode\.launches +516 +<= \+0 +416 +416 +\+24\.0 % +pass\n`,
		`broken +stage\.decode\.kernel:/\./\.total_ns +1\.77 ms +<= \+5% +1\.69 ms +1\.61 ms +\+10\.2 % +pass\n`,
		`broken +new_kernels +9 +<= 0 .*`,
		`holds +stage\.decode\.gpu_span_ns +12\.2 ms +<= 10s +.*`,
		`- stage\.decode\.launches: \+24 % \(no spread in 3 and 3 repeats\); see: prof diff sdpa-1 eager --stage decode\n`,
		`- new_kernels: new, longest first: void at::native::elementwise_kernel.* and 6 more\n`,
	} {
		if !whole(".*" + line + ".*").MatchString(r.out) {
			t.Errorf("the output has no line %s:\n%s", line, r.out)
		}
	}

	// What a change of the GPUs' work comes from, and where there is more of it.
	p.wantLike(3, `.*- stage\.decode\.gpu_busy_ns: \+.*; it comes from .* kernels .*; see: prof diff sdpa-1 eager --stage decode --metric gpu_busy_ns\n.*`, "", "check", "--wide", "--rule", "stage.decode.gpu_busy_ns <= +2 %")

	// The same, but allowed.
	p.wantLike(0, `passed: 3 of 3 rules hold .*`, "", "check", "eager", "--rule", "stage.decode.launches <= +100", "--rule", "stage.decode.kernel:/./.total_ns <= +20%", "--rule", "new_kernels <= 9", "--assume-noise", "5%")
	// What matches nothing, and what is not known, is never silently right.
	r = p.run("check", "eager", "--wide", "--rule", "stage.deocde.launches <= 1", "--rule", "kernel:/nosuch/.calls <= 0", "--rule", "stage.decode.kernel:/nosuch/.calls <= 0", "--rule", "mfu.prefill >= 1%", "--rule", "mfu.vision >= 1%", "--rule", "overhead <= 25%",
		"--rule", "overhead.deep <= 1%", "--rule", "stage.prefill.tokens_per_s >= 1", "--rule", "stage.prefill.launches <= 1000")
	if r.code != 4 || !strings.HasPrefix(r.out, "cannot tell: 8 of 9 rules; none broken\n") {
		t.Errorf("%d %q\n%s", r.code, r.err, r.out)
	}
	for _, line := range []string{
		`- stage.deocde.launches: there is no stage deocde in eager; did you mean decode\?`,
		`- kernel:/nosuch/.calls: no kernel of eager matches in any stage; for the names that are matched see prof query top-kernels --run eager --by name`,
		`- stage.decode.kernel:/nosuch/.calls: no kernel of stage decode in eager matches; see prof query`,
		`- mfu.prefill: the MFU of prefill is unknown: the run has no model: give its configuration`,
		`- mfu.vision: eager has no stage vision with a known MFU`,
		`- overhead.light: profiling overhead is unknown: no recording without a profiler; capture with --baseline`,
		`- overhead.deep: eager has no recording in mode deep`,
		`- stage.prefill.tokens_per_s: the tokens of the passes of eager are unknown: prof ingest --run eager --workload workload.json`,
	} {
		if !whole(".*" + line + ".*").MatchString(r.out) {
			t.Errorf("the output has no line %s:\n%s", line, r.out)
		}
	}
	// A broken rule goes before one that cannot be told.
	if r := p.run("check", "eager", "--rule", "stage.x.launches <= 1", "--rule", "stage.decode.launches <= 1"); r.code != 3 {
		t.Errorf("%d\n%s", r.code, r.out)
	}
}

// TestCheckForms: files get the form that their endings tell, stdout the table or the form asked for, and all tell the same.
func TestCheckForms(t *testing.T) {
	t.Parallel()
	p := reading(t, judgedRuns)
	write(t, p.path("perf.rules"), []byte("# a gate\nstage.decode.launches <= +0\nstage.prefill.launches <= 1000 # absolute\nstage.x.launches <= 1\n"))
	r := p.run("check", "eager", "--rules", "perf.rules", "--out", "a.md", "--out", "a.xml", "--out", "a.json", "--out", "a.txt")
	if r.code != 3 || !strings.HasPrefix(r.out, "regression: 1 of 3 rules broken, 1 cannot be told") || r.err != "" {
		t.Errorf("%d %q\n%s", r.code, r.err, r.out)
	}
	if got := string(read(t, p.path("a.txt"))); got != r.out {
		t.Errorf("a.txt is\n%s", got)
	}
	if got := p.run("check", "eager", "--rules", "perf.rules", "--format", "md"); got.out != string(read(t, p.path("a.md"))) || got.code != 3 {
		t.Errorf("a.md is not what --format md prints:\n%s", got.out)
	}
	p.want(result{3, "", ""}, "check", "eager", "--rules", "perf.rules", "--format", "json", "--out", "b")
	if string(read(t, p.path("b"))) != string(read(t, p.path("a.json"))) {
		t.Error("a.json is not what --format json writes")
	}
	var got struct {
		Outcome string
		Rules   []struct{ File, Outcome string }
	}
	if err := json.Unmarshal(read(t, p.path("b")), &got); err != nil || got.Outcome != "broken" || len(got.Rules) != 3 || got.Rules[1].Outcome != "holds" || got.Rules[0].File != "perf.rules" {
		t.Errorf("%v %+v", err, got)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	if err := xml.Unmarshal(read(t, p.path("a.xml")), &suites); err != nil || suites.Tests != 3 || suites.Failures != 1 || suites.Errors != 1 {
		t.Errorf("%v %+v", err, suites)
	}
}

// TestCheckRules: which rules there are, and which baseline.
func TestCheckRules(t *testing.T) {
	t.Parallel()
	p := newStored(t, judgedRuns)
	write(t, p.path(".prof/rules"), []byte("stage.decode.launches <= 10\n"))
	p.wantLike(3, `regression: 1 of 1 rules broken\n.*`, "", "check", "eager")
	// Others are in place of that file, and all of them count.
	cmd := p.runWith("stage.decode.launches <= 1000\n", "check", "eager", "--rules", "-", "--rule", "stage.prefill.launches <= 1000")
	if cmd.code != 0 || !strings.HasPrefix(cmd.out, "passed: 2 of 2 rules hold\n") {
		t.Errorf("%+v", cmd)
	}
	write(t, p.path(".prof/rules"), []byte("# none\n"))
	write(t, p.path("wrong.rules"), []byte("overhead <= 25%\nstage.decode.gpu_spam_ns <= +3%\nmfu >= 1\n"))
	const relative = "stage.decode.launches <= +0"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check"}, p.path(".prof/rules") + " has no rules; see `prof help check`"},
		{[]string{"check", "a", "b"}, "check takes one run, or several separated by commas; see `prof help check`"},
		{[]string{"check", "--rules", "wrong.rules"}, "wrong.rules:2:14: stages have no figure \"gpu_spam_ns\"; did you mean gpu_span_ns or gpu_sum_ns?; they have cpu_ns, gpu_busy_ns, gpu_idle_ns, gpu_span_ns, gpu_sum_ns, gpu_work, interval_ns, kernel_count, launches, ms_per_token, ns_per_token, tokens_per_s, new_kernels; " +
			"wrong.rules:3:1: mfu of which stage? write mfu.prefill, or mfu.* for each"},
		{[]string{"check", "--rule", "overhead < 25%"}, "--rule:1:10: expected <= (at most) or >= (at least), not \"<\""},
		{[]string{"check", "--rule", relative, "--rule", "overhead < 25%"}, "--rule:2:10: expected <= (at most) or >= (at least), not \"<\""},
		{[]string{"check", "--rule", ""}, "--rule has no rules; see `prof help check`"},
		{[]string{"check", "--rule", relative, "--format", "csv"}, "unknown format \"csv\": use one of table, md, html, blocks, json, junit"},
		{[]string{"check", "--rule", relative, "--out", "x.htm"}, "--out x.htm: its ending is none of .txt, .md, .html, .blocks, .json, .xml: give --format"},
		{[]string{"check", "--rule", relative, "--format", "md", "--out", "x", "--out", "y"}, "--format applies to one file, and --out names 2: omit it, and each extension sets the form"},
		{[]string{"check", "--rule", relative, "--alpha", "2"}, "--alpha 2: write the error rate as a number above 0 and below 0.5, such as 0.01"},
		{[]string{"check", "--rule", relative, "--assume-noise", "2"}, "--assume-noise 2: write 2%, or 200% if you mean a ratio"},
	} {
		p.want(result{2, "", "prof: " + c.want + "\n"}, c.args...)
	}
	p.want(result{1, "", "prof: read the rules: open nosuch: no such file or directory\n"}, "check", "--rules", "nosuch")
	p.want(result{1, "", "prof: no such run: \"nosuch\"; available: eager, sdpa-1\n"}, "check", "nosuch", "--rule", relative)
	p.want(result{1, "", "prof: no such run: there is no baseline \"mian\"; did you mean main?\n"}, "check", "--rule", relative, "--baseline", "baseline:mian")
	p.want(result{1, "", "prof: no such run: \"main\"; a baseline has that name: write baseline:main\n"}, "check", "--rule", relative, "--baseline", "main")
	p.wantLike(3, "regression.*", "", "check", "--rule", relative, "-b", "sdpa-1")
	absolute := []string{"check", "--rule", "stage.decode.launches <= 1000", "-b", "sdpa-1", "--format"}
	p.wantLike(0, "passed.*note: no rule compares with the baseline: all limits are absolute\n", "", append(absolute, "table")...)
	p.wantLike(0, `.*"notes": \[\s*"no rule compares with the baseline: all limits are absolute"\s*\].*`, "", append(absolute, "json")...)
	p.wantLike(0, "<.*", "note: no rule compares with the baseline: all limits are absolute\n", append(absolute, "junit")...)
	p.ok("baseline", "set", "other", "sdpa-1")
	p.want(result{2, "", "prof: there are several baselines: name one with --baseline (baseline:main, baseline:other)\n"}, "check", "--rule", relative)
	p.ok("baseline", "rm", "main")
	p.ok("baseline", "rm", "other")
	p.want(result{2, "", "prof: there is no baseline to compare with: set one with `prof baseline set main RUN`, name any run with --baseline RUN, or use absolute limits, such as <= 60ms\n"}, "check", "--rule", relative)
}

// TestCheckWholeGraphs: what CUDA graphs hide that one side traced as a whole is unknown, and no rule holds by it.
func TestCheckWholeGraphs(t *testing.T) {
	t.Parallel()
	p := reading(t, []testkit.Run{{Name: "graph", Files: []string{"nsys/" + graph}}, {Name: "node", Files: []string{"nsys/" + node}}})
	for _, sides := range [][2]string{{"graph", "node"}, {"node", "graph"}} {
		r := p.run("check", sides[0], "--baseline", sides[1], "--wide", "--rule", "new_kernels <= 0", "--rule", "stage.decode.launches <= +0", "--rule", "stage.decode.kernel:/k_step/.calls <= +0", "--rule", "stage.prefill.launches <= +0")
		if r.code != 4 || !strings.HasPrefix(r.out, "cannot tell: 3 of 4 rules") || strings.Count(r.out, "CUDA graphs of graph were traced as a whole") != 3 {
			t.Errorf("%v: %d %q\n%s", sides, r.code, r.err, r.out)
		}
	}
	p.wantLike(0, `.*: cannot tell.*; CUDA graphs of\s+A\s+were\s+traced\s+as\s+a\s+whole, so\s+kernels\s+cannot\s+be\s+compared\n.*`, "", "diff", "graph", "node")
	p.wantLike(4, "cannot tell: 1 of 1 rules; .*", "", "check", "graph", "--rule", "stage.decode.launches <= 100")
	p.wantLike(0, "passed: 1 of 1 rules.*", "", "check", "node", "--rule", "stage.decode.launches <= 17")
}

// TestCheckLeast: the prefill of DeepSeek-OCR has vision work that its configuration does not count, so that its MFU is a lower bound: no rule breaks
// by it, and none on the most that it may be holds.
func TestCheckLeast(t *testing.T) {
	t.Parallel()
	needsDsocr(t)
	p := reading(t, dsocrTwice)
	p.wantLike(4, `cannot tell: 2 of 3 rules; .*holds +mfu\.prefill +1\.3 % +>= 1%.*this is a lower bound: .*`, "", "check", "one", "--wide", "--rule", "mfu.prefill >= 0.02", "--rule", "mfu.prefill >= 0.01", "--rule", "mfu.prefill <= 0.02")
	p.wantLike(0, `.* ≥ 1\.3 % .*`, "", "show", "one", "--wide")
}

// TestCheckOneProcess: the built-in rule works with one process a side, of which idle time is too noisy to judge: by the GPU's work, and it says so; and so does --fail-over of diff.
func TestCheckOneProcess(t *testing.T) {
	t.Parallel()
	slower := madeTrace(3)
	decode(&slower, gemm).Ns *= 1.5
	runs := []testkit.Run{madeRun("base", madeTrace(1), madeSteps), madeRun("same", madeTrace(2), madeSteps), madeRun("slower", slower, madeSteps)}
	for i, name := range []string{"idle", "idle-too"} { // the GPU gets through its work faster than the CPU launches it
		idle := madeTrace(uint64(4 + i))
		for _, stage := range idle.Stages {
			for k := range stage.Kernels {
				stage.Kernels[k].Ns = 1000
			}
		}
		runs = append(runs, madeRun(name, idle, madeSteps))
	}
	p := reading(t, runs)
	// The built-in rule says what the same rule says that is typed, and what diff says.
	for _, rule := range [][]string{nil, {"--rule", "stage.*.gpu_span_ns <= +5%"}} {
		p.wantLike(4, `cannot tell: 2 of 2 rules against idle.*run-to-run noise of up to \d+ % is assumed \(H100 and H200 virtual machines\).*`, "", append([]string{"check", "idle-too", "--baseline", "idle", "--wide"}, rule...)...)
	}
	p.wantLike(4, "Decode: cannot tell.*", "(prof: idle-too against idle, stage [a-z]+: .*\n){2}", "diff", "idle", "idle-too", "--fail-over", "5%")
	// What is certain of it can be ruled on.
	p.wantLike(0, "passed: 4 of 4 rules hold against idle.*", "", "check", "idle-too", "--baseline", "idle", "--rule", "stage.*.gpu_work <= +5%", "--rule", "stage.*.kernel_count <= +0")
	p.wantLike(3, `regression: 1 of 2 rules broken .*`, "", "check", "slower", "--baseline", "base", "--wide")
}
