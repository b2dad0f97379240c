package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/capture/capturetest"
)

// What only Nsight Systems has is recorded beside the timeline of prof's own tracer, and both are stored as one run.
func TestCaptureBoth(t *testing.T) {
	t.Parallel()
	b := newBench(t).tracing().storing()
	got := b.prof("capture", "--run", "r", "--nsys-memory", "--", "work")
	if got.code != 0 || strings.Contains(got.err, "warning: nsys") {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	b.wantPasses("r", "prof-1,ok,0,\nnsys-1,ok,0,\nncu-1,ok,0,\n")
	b.wantRows(map[string]string{
		"SELECT kind, is_counted FROM timeline ORDER BY kind":                                           "kind,is_counted\nnsys,false\nprof,true\n",
		"SELECT sum(calls)::BIGINT AS calls FROM top_kernels('r', top := 0)":                            "calls\n16\n",
		"SELECT name, mode FROM capture_pass WHERE tool IN ('prof', 'nsys') ORDER BY name":              "name,mode\nnsys-1,deep\nprof-1,deep\n",
		"SELECT stage, kernel_count = other_kernel_count AS equal, reason FROM timeline_agreement('r')": "stage,equal,reason\nprefill,true,\ndecode,true,\n",
		"SELECT count(*) AS planned FROM ncu_plan('r') WHERE symbol IS NOT NULL AND symbol <> ''":       "planned\n4\n",
	})
}

// What nsys did not record, or slowed by much, prof's own tracer records unasked: once, within the budget, and with one sentence that says why.
func TestCaptureByTracer(t *testing.T) {
	t.Parallel()
	const slow = "decode takes 100 % longer under Nsight Systems than alone"
	jax := filepath.Join(t.TempDir(), "jax.sqlite")
	write(t, jax, unpacked(t, "../odd/jax-no-kernels.sqlite.gz"))
	for name, c := range map[string]struct {
		args   string
		nsys   string
		export string
		slow   string
		work   capturetest.Program
		bare   bool // the tracer cannot be built
		code   int
		passes string
		said   string // once; "" for nothing of the tracer
		stored string
	}{
		"slowed":                {args: "--tools nsys --baseline", slow: slow, passes: "baseline-1,ok,0,\nnsys-1,ok,0,\nprof-1,ok,0,\n", said: slow + ": prof's own tracer records the timeline that figures rest on once more", stored: "r r again"},
		"slowed, then ncu":      {args: "--tools nsys,ncu --baseline", slow: slow, passes: "baseline-1,ok,0,\nnsys-1,ok,0,\nprof-1,ok,0,\nncu-1,ok,0,\n", said: slow + ": prof's own tracer", stored: "r r again r again"},
		"little":                {args: "--tools nsys,ncu --baseline", passes: "baseline-1,ok,0,\nnsys-1,ok,0,\nncu-1,ok,0,\n", stored: "r r again"},
		"slowed, not known":     {args: "--tools nsys", slow: slow, passes: "nsys-1,ok,0,\n", stored: "r"},
		"by the tracer":         {args: "--baseline --mode light", slow: slow, passes: "baseline-1,ok,0,\nprof-1,ok,0,\n", stored: "r"},
		"no tracer":             {args: "--tools nsys --baseline", slow: slow, bare: true, passes: "baseline-1,ok,0,\nnsys-1,ok,0,\n", said: slow + "; prof's own tracer, which could record the timeline that figures rest on, cannot be built: no headers of CUPTI", stored: "r r again"},
		"in the tracer's place": {args: "--mode light --baseline", slow: slow, bare: true, passes: "baseline-1,ok,0,\nnsys-1,ok,0,\n", said: "using Nsight Systems, because prof's own tracer cannot be built", stored: "r r again"},
		"not to be stored":      {args: "--tools nsys --baseline --no-ingest", slow: slow, passes: "baseline-1,ok,0,\nnsys-1,ok,0,\n"},
		"no time": {args: "--tools nsys --baseline --budget 15s", slow: slow, work: func(p *capturetest.Process) int { p.Sleep(6 * time.Second); return 0 },
			passes: `nsys-1,ok,0,\nbaseline-1,ok,0,\nprof-1,not_run,-,"?there was no time for it: .*\n`, said: slow + ": prof's own tracer", stored: "r r again"},
		"fails": {args: "--tools nsys --baseline", slow: slow, work: func(p *capturetest.Process) int {
			if p.Getenv("PROF_TRACE_DIR") != "" {
				return 3
			}
			return 0
		}, code: 3, passes: "baseline-1,ok,0,\nnsys-1,ok,0,\nprof-1,failed,3,the workload ended with exit status 3\n", said: slow + ": prof's own tracer", stored: "r r again"},
		"no importer":            {args: "--tools nsys --repeats 2", nsys: "qdstrm", code: 1, passes: `nsys-1,no_report,0,.*\nnsys-2,no_report,0,.*\nprof-1,ok,0,\n`, said: "nsys-2: nsys made no report that can be read: prof's own tracer records the timeline once more", stored: "r"},
		"no export":              {args: "--tools nsys --no-ingest", nsys: "noexport", code: 1, passes: `nsys-1,no_report,0,.*\nprof-1,ok,0,\n`, said: "nsys-1: nsys made no report that can be read"},
		"no export, no tracer":   {args: "--tools nsys", nsys: "noexport", bare: true, code: 1, passes: `nsys-1,no_report,0,.*\n`, said: "cannot be built: no headers of CUPTI", stored: "r"},
		"lost by the importer":   {args: "--tools nsys", export: jax, passes: "nsys-1,ok,0,\nprof-1,ok,0,\n", said: "nsys-1: nsys' importer lost all work of the GPU: prof's own tracer records the timeline once more", stored: "r"},
		"lost beside the tracer": {args: "--mode light --nsys-memory", export: jax, passes: "prof-1,ok,0,\nnsys-1,ok,0,\n", said: "nsys-1: nsys' importer lost all work of the GPU: the timeline is that of prof's own tracer alone", stored: "r"},
		"a workload that fails":  {args: "--tools nsys", nsys: "nothing", work: exits(4), code: 4, passes: `nsys-1,no_report,4,.*\n`, stored: "r"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if !c.bare {
				b.tracing()
			}
			b.work, b.shelf.slow, b.nsys.How = c.work, c.slow, c.nsys
			if c.export != "" {
				b.nsys.SQLite = c.export
			}
			got := b.prof(append(append([]string{"capture", "--run", "r"}, strings.Fields(c.args)...), "--", "work")...)
			says := strings.Count(got.err, "own tracer")
			if got.code != c.code || !strings.Contains(got.err, c.said) || says > 1 || says == 1 && c.said == "" {
				t.Errorf("exit %d, want %d and once %q:\n%s", got.code, c.code, c.said, got.err)
			}
			b.wantPasses("r", c.passes)
			if stored := strings.Join(b.shelf.stored, " "); stored != c.stored {
				t.Errorf("stored %q, want %q", stored, c.stored)
			}
		})
	}
}

// A capture ends with a stored run, or with its files and the one command that stores them, also where it is stopped between the recording that was asked
// for and the tracer's, or the warehouse cannot be written to in between.
func TestCaptureByTracerStopped(t *testing.T) {
	t.Parallel()
	const slow = "decode takes 100 % longer under Nsight Systems than alone"
	for name, c := range map[string]struct {
		stop   bool
		fails  func(again bool) error
		code   int
		passes string
		said   string
	}{
		"in the tracer's recording": {stop: true, code: 130, passes: "baseline-1,ok,0,\nnsys-1,ok,0,\nprof-1,interrupted,.*,stopped by the user\n", said: "next: "},
		"not stored":                {fails: func(bool) error { return errors.New("the disk is full") }, code: 1, passes: "baseline-1,ok,0,\nnsys-1,ok,0,\n", said: "to try again: prof --home "},
		"not stored again": {fails: func(again bool) error {
			if again {
				return errors.New("the disk is full")
			}
			return nil
		}, code: 1, passes: "baseline-1,ok,0,\nnsys-1,ok,0,\nprof-1,ok,0,\n", said: "ingest --replace --run r "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t).tracing()
			b.shelf.slow, b.shelf.fails = slow, c.fails
			b.work = func(p *capturetest.Process) int {
				if c.stop && p.Getenv("PROF_TRACE_DIR") != "" {
					b.interrupt()
					return p.Hang()
				}
				return 0
			}
			got := b.prof("capture", "--run", "r", "--tools", "nsys", "--baseline", "--grace", "1s", "--", "work")
			if got.code != c.code || !strings.Contains(got.err, c.said) {
				t.Errorf("exit %d, want %d and %q:\n%s", got.code, c.code, c.said, got.err)
			}
			b.wantPasses("r", c.passes)
			if _, err := os.Stat(b.path(".prof/runs/r/nsys/report-1.sqlite")); err != nil {
				t.Error(err)
			}
		})
	}
}
