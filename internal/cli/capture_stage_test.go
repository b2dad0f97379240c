package cli

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Stages of a workload that uses prof_mark are timed without a profiler, and under one where there is something to compare with. What the
// fake nsys gives is the timeline of another program.
func TestCaptureStages(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	for name, c := range map[string]struct {
		args  string
		files int // of times
		said  string
	}{
		"with a baseline":     {"--baseline --repeats 2", 4, `overhead of decode \(light\) is unknown: the timeline does not have all of its executions`},
		"without":             {"", 0, ""},
		"without auto-stages": {"--baseline", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			write(t, p.path("work.py"), []byte(`
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
			got := p.run(append(args, "--", python, "work.py")...)
			if got.code != 0 || !regexp.MustCompile(c.said).MatchString(got.err) || c.said == "" && strings.Contains(got.err, "alone") {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			files := 0
			for _, folder := range []string{"baseline", "nsys"} {
				entries, err := os.ReadDir(p.path(".prof/runs/r/" + folder))
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
			if got := p.sql(`SELECT p.tool, e.path, count(*) AS n, count(*) FILTER (e.is_warmup) AS warm, max(e.token_count) AS tokens, max(e.batch_count) AS batches, min(e.cpu_ns) BETWEEN 19e6 AND 2e9 AS long
				FROM stage_execution e JOIN capture_pass p USING (run_id, pass_id) WHERE e.gpu_ns IS NULL GROUP BY ALL ORDER BY ALL`); got != want {
				t.Errorf("stored:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Where there is no profiler, the workload is run once without, and its stages are timed.
func TestCaptureStagesAlone(t *testing.T) {
	t.Parallel()
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable, end='')").Output()
	if err != nil {
		t.Skip("there is no python3")
	}
	p := fakes(t, "")
	p.env = append(p.env, only(t, "sh"))
	write(t, p.path("work.py"), []byte("import time, prof_mark\nfor _ in range(3):\n    with prof_mark.stage('decode', steps=4):\n        time.sleep(0.02)\n"))
	p.run("capture", "--run", "r", "--mode", "light", "--auto-stages", "--", string(python), "work.py")
	p.wantPasses("r", `nsys-1,not_run,.*\nbaseline-1,ok,0,\n`)
	if got := p.sql("SELECT stage, passes, alone_median_ns BETWEEN 19e6 AND 2e9 AS timed, alone_clock, over_alone_ratio IS NULL AS unknown FROM stages('r')"); got != "stage,passes,timed,alone_clock,unknown\ndecode,0,true,cpu,true\n" {
		t.Errorf("stages: %q", got)
	}
	if got := p.run("show", "r"); got.code != 0 || strings.Contains(got.out, "warm-up") {
		t.Errorf("exit %d, shown:\n%s%s", got.code, got.out, got.err)
	}
}
