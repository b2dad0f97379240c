package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/capture/capturetest"
)

// A workload under Nsight Compute is ended when all that was chosen is profiled: by ncu, or by prof where that leaves it. What it would have
// written at its end is that of earlier recordings. Where it is not known how much is to be profiled, or somebody waits for the end, it runs on.
func TestCaptureCut(t *testing.T) {
	t.Parallel()
	const cut = "ncu-1: the workload was ended, since all that was to be profiled is"
	for name, c := range map[string]struct {
		how, args string
		passes    string
		isCut     bool
		kept      string // what became of the kept file
	}{
		"by ncu":                {how: "profiles", passes: `nsys-1,ok,0,\nncu-1,ok,-,\n`, isCut: true, kept: "whole"},
		"by prof":               {how: "leaves", passes: `nsys-1,ok,0,\nncu-1,ok,-,\n`, isCut: true, kept: "whole"},
		"kernels and a number":  {how: "profiles", args: "--tools ncu --ncu-kernels saxpy --ncu-launch-count 3", passes: `ncu-1,ok,-,\n`, isCut: true, kept: "it may not be whole: Nsight Compute ended the workload"},
		"kernels":               {how: "profiles", args: "--tools ncu --ncu-kernels saxpy", passes: `ncu-1,ok,0,\n`, kept: "whole"},
		"asked not to":          {how: "profiles", args: "--ncu-arg=--kill=no", passes: `nsys-1,ok,0,\nncu-1,ok,0,\n`, kept: "whole"},
		"it writes facts":       {how: "profiles", args: "--workload facts.json", passes: `nsys-1,ok,0,\nncu-1,ok,0,\n`, kept: "whole"},
		"ncu counts less":       {how: "", passes: `nsys-1,ok,0,\nncu-1,ok,0,\n`, kept: "whole"},
		"ranges":                {how: "profiles", args: "--tools ncu --ncu-replay range --range decode --ncu-launch-count 1", passes: `ncu-1,ok,0,\n`, kept: "whole"},
		"the whole application": {how: "profiles", args: "--ncu-replay application", passes: `nsys-1,ok,0,\nncu-1,ok,0,\n`, kept: "whole"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.ncu.How = c.how
			b.work = func(p *capturetest.Process) int {
				write(t, filepath.Join(b.folder, "out.json"), []byte("half"))
				p.Sleep(20 * time.Second)
				write(t, filepath.Join(b.folder, "out.json"), []byte("whole"))
				write(t, filepath.Join(b.folder, "facts.json"), []byte("{}"))
				return 0
			}
			got := b.prof(append(append([]string{"capture", "--run", "r", "--keep", "out.json", "--grace", "1s"}, strings.Fields(c.args)...), "--", "work")...)
			if got.code != 0 || strings.Contains(got.err, cut) != c.isCut {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			b.wantPasses("r", c.passes)
			if left, want := string(read(t, filepath.Join(b.folder, "out.json"))), map[bool]string{true: "half", false: "whole"}[c.isCut]; left != want {
				t.Errorf("the last recording left %q, want %q", left, want)
			}
			kept := string(read(t, b.path(".prof/runs/r/run.json")))
			if c.kept == "whole" {
				kept = string(read(t, b.path(".prof/runs/r/kept/out.json")))
			} else if _, err := os.Stat(b.path(".prof/runs/r/kept/out.json")); err == nil {
				t.Error("half a file is kept")
			}
			if !strings.Contains(kept, c.kept) {
				t.Errorf("kept %s, want %s", kept, c.kept)
			}
		})
	}
}

// When the rank that runs under ncu has ended, the others, which would wait for it, are ended with their launcher.
func TestCaptureCutRank(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ncu.How = "profiles"
	b.machine.Install("rank", func(p *capturetest.Process) int { return p.Hang() })
	b.work = func(p *capturetest.Process) int { // a launcher, which waits for its ranks
		text := p.Getenv("PROF_MARK_NCU")
		if text == "" {
			return 0
		}
		var argv []string
		if err := json.Unmarshal([]byte(text), &argv); err != nil {
			t.Error(err)
		}
		first, err := p.Begin(append(argv, "rank")...)
		if err != nil {
			t.Error(err)
			return 1
		}
		second, err := p.Begin("rank")
		if err != nil {
			t.Error(err)
			return 1
		}
		return max(p.Wait(first), p.Wait(second))
	}
	got := b.prof("capture", "--run", "r", "--tools", "ncu", "--ncu-kernels", "saxpy", "--ncu-rank", "0", "--ncu-launch-count", "2", "--grace", "1s", "--timeout", "1m", "--", "work")
	if got.code != 0 {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	b.wantPasses("r", `ncu-1,ok,-,\n`)
}
