package cli

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"prof/capture/capturetest"
)

// withPython has python3 of the bench run the one of this machine. Without one the test is skipped.
func (b *bench) withPython() *bench {
	b.t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		b.t.Skip("there is no python3")
	}
	b.machine.Install("python3", func(p *capturetest.Process) int {
		if p.Argv[1] == "-c" {
			return capturetest.Python(p)
		}
		return p.Exec(python, p.Argv[1:]...)
	})
	return b
}

// Stages of a workload that uses prof_mark are timed without a profiler, and under one where there is something to compare with. What the
// fake nsys gives is the timeline of another program.
func TestCaptureStages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args  string
		files int // of times
		said  string
	}{
		"with a baseline":     {"--baseline --repeats 2", 4, `overhead of decode under Nsight Systems \(light\) is unknown: the timeline does not have all of its executions`},
		"without":             {"", 0, ""},
		"without auto-stages": {"--baseline", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).withPython()
			if c.files > 0 {
				b.storing()
			}
			write(t, b.path("work.py"), []byte(`
import time
try:
    import prof_mark
except ImportError:
    raise SystemExit
with prof_mark.warmup(), prof_mark.stage("prefill", tokens=5):
    pass
for _ in range(3):
    with prof_mark.stage("prefill", tokens=5, batch=2):
        time.sleep(0.02)
    with prof_mark.stage("decode", steps=4):
        time.sleep(0.03)
`))
			args := append([]string{"capture", "--run", "r", "--mode", "light"}, strings.Fields(c.args)...)
			if name != "without auto-stages" {
				args = append(args, "--auto-stages")
			}
			got := b.prof(append(args, "--", "python3", "work.py")...)
			if got.code != 0 || !regexp.MustCompile(c.said).MatchString(got.err) || c.said == "" && strings.Contains(got.err, "alone") {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			files := 0
			for _, folder := range []string{"baseline", "nsys"} {
				entries, err := os.ReadDir(b.path(".prof/runs/r/" + folder))
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				for _, e := range entries {
					if strings.Contains(e.Name(), ".times-") {
						files++
					}
				}
			}
			if files != c.files {
				t.Errorf("%d files of times, want %d", files, c.files)
			}
			if c.files == 0 {
				return
			}
			const want = `tool,path,n,warm,tokens,batches,long
none,decode,6,0,4,2,true
none,prefill,6,0,5,2,true
none,warmup > prefill,2,2,5,,false
nsys,decode,6,0,4,2,true
nsys,prefill,6,0,5,2,true
nsys,warmup > prefill,2,2,5,,false
`
			if got := b.sql(`SELECT p.tool, e.path, count(*) AS n, count(*) FILTER (e.is_warmup) AS warm, max(e.token_count) AS tokens, max(e.batch_count) AS batches, min(e.cpu_ns) BETWEEN 19e6 AND 2e9 AS long
				FROM stage_execution e JOIN capture_pass p USING (run_id, pass_id) WHERE e.gpu_ns IS NULL GROUP BY ALL ORDER BY ALL`); got != want {
				t.Errorf("stored:\n%s\nwant\n%s", got, want)
			}
			// Both recordings without a profiler are processes of each stage.
			if got := b.prof("query", "process-noise", "--run", "r", "--format", "csv"); !whole(`run,.*\n(r,[-0-9a-f]+,none,[14],decode,3,\d{8,9}\.?\d*,,\n){2}(r,[-0-9a-f]+,none,[14],prefill,3,\d{8,9}\.?\d*,,\n){2}`).MatchString(got.out) {
				t.Errorf("process-noise has\n%s%s", got.out, got.err)
			}
		})
	}
}

// Where there is no profiler, the workload is run once without, and its stages are timed.
func TestCaptureStagesAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t).withPython().storing()
	b.machine.Remove("nsys", "ncu")
	write(t, b.path("work.py"), []byte("import time, prof_mark\nfor _ in range(3):\n    with prof_mark.stage('decode', steps=4):\n        time.sleep(0.02)\n"))
	b.prof("capture", "--run", "r", "--mode", "light", "--auto-stages", "--", "python3", "work.py")
	b.wantPasses("r", `prof-1,not_run,.*\nbaseline-1,ok,0,\n`)
	if got := b.sql("SELECT stage, passes, alone_median_ns BETWEEN 19e6 AND 2e9 AS timed, alone_clock, over_alone_ratio IS NULL AS unknown FROM stages('r')"); got != "stage,passes,timed,alone_clock,unknown\ndecode,0,true,cpu,true\n" {
		t.Errorf("stages: %q", got)
	}
	if got := b.run("show", "r"); got.code != 0 || strings.Contains(got.out, "warm-up") {
		t.Errorf("exit %d, shown:\n%s%s", got.code, got.out, got.err)
	}
}

// A workload goes through the inputs of the manifest; each of them has the times of its own stages, without a profiler too.
func TestCaptureInputs(t *testing.T) {
	t.Parallel()
	b := newBench(t).withPython().storing()
	write(t, b.path("pages.yaml"), []byte("root: data\ninputs:\n- {path: a.png, pages: 2, width: 640}\n- {path: b.png, id: second}\n- c.png\n"))
	if err := os.Mkdir(b.path("data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.png", "b.png", "c.png"} {
		write(t, b.path("data/"+name), []byte(name))
	}
	write(t, b.path("chosen.txt"), []byte("second\na.png\n"))
	write(t, b.path("work.py"), []byte(`
import time, prof_mark
for item in prof_mark.inputs(default=["none.png"]):
    with open(item) as f:
        print(item.id, item.pages, f.read(), flush=True)
    with prof_mark.stage("prefill", tokens=5, batch=1):
        pass
    with prof_mark.stage("decode", steps=4):
        time.sleep(0.2 if item.id == "second" else 0.02)
`))
	inputs := []string{"--inputs", "pages.yaml", "--subset", "chosen.txt", "--repeat-inputs", "2"}
	const each = "a.png 2 a.png\nsecond None b.png\na.png 2 a.png\nsecond None b.png\n"
	got := b.prof(append(append([]string{"capture", "--run", "r", "--mode", "light", "--auto-stages", "--baseline"}, inputs...), "--", "python3", "work.py")...)
	if got.code != 0 || got.out != each+each {
		t.Errorf("exit %d, stdout %q, stderr:\n%s", got.code, got.out, got.err)
	}
	if got := b.sql("SELECT input, stage, page_count, width_count, alone_count, alone_clock, alone_median_ns BETWEEN CASE input WHEN 'second' THEN 39e6 ELSE 19e6 END AND 2e9 AS timed, alone_per_page_ns = alone_median_ns / 2 AS per_page FROM input_stages('r', stage := 'decode') WHERE alone_count IS NOT NULL"); got != "input,stage,page_count,width_count,alone_count,alone_clock,timed,per_page\na.png,decode,2,640,2,cpu,true,true\nsecond,decode,,,2,cpu,true,\n" {
		t.Errorf("by input:\n%s", got)
	}
	if got := b.sql("SELECT pass_id, input FROM workload_pass ORDER BY pass_id"); got != "pass_id,input\n1,a.png\n2,second\n3,a.png\n4,second\n" {
		t.Errorf("passes:\n%s", got)
	}
	if got := b.run("show", "r", "--facts"); got.code != 0 || !regexp.MustCompile(`inputs +.*decode [0-9.]+m?s \(a.png\) to [0-9.]+m?s \(second\)`).MatchString(got.out) {
		t.Errorf("exit %d, shown:\n%s%s", got.code, got.out, got.err)
	}
	// Without marks the workload has its inputs too, and no pass is known.
	got = b.prof(append(append([]string{"capture", "--run", "s", "--mode", "light", "--no-ingest"}, inputs...), "--", "python3", "work.py")...)
	if got.code != 0 || got.out != each {
		t.Errorf("without marks: exit %d, stdout %q, stderr:\n%s", got.code, got.out, got.err)
	}
}
