package cli

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"prof/capture/capturetest"
	"prof/internal/testkit"
)

// ncuReport is what the fake ncu leaves.
const ncuReport = "kernels-prefill.ncu-rep.gz"

// fakes returns a place whose PATH has stand-ins for nsys and ncu before everything else. env are more variables.
func fakes(t testing.TB, env ...string) *place {
	t.Helper()
	p := newPlace(t)
	p.apart = true
	dir, err := filepath.Abs(filepath.Join("testdata", "fake"))
	if err != nil {
		t.Fatal(err)
	}
	testkit.CopyHome(t, p.path(".prof")) // making a warehouse takes longer than most of these tests
	z, err := gzip.NewReader(bytes.NewReader(read(t, filepath.Join("..", "..", "testdata", "ncu", ncuReport))))
	if err != nil {
		t.Fatal(err)
	}
	ncu, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.path("tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.env = append([]string{"TMPDIR=" + p.path("tmp"), "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"), "PROF_NSYS=", "PROF_NCU=",
		"NSYS_FAKE_REPORT=" + write(t, filepath.Join(t.TempDir(), "kernels.sqlite"), unpacked(t, kernels)),
		"NSYS_FAKE_NCU_REPORT=" + write(t, filepath.Join(t.TempDir(), "k.ncu-rep"), ncu)}, env...)
	return p
}

// passes returns the passes of a run: name, status and reason; before them what else is asked.
func (p *place) passes(run string, also ...string) string {
	p.t.Helper()
	return p.sql("SELECT " + strings.Join(also, "") + "pass, status, coalesce(exit_code::VARCHAR, signal, '-') AS ended, coalesce(reason, '') AS reason FROM capture_passes('" + run + "')")
}

// Every way in which tools and workloads end has its message, exit code and status.
func TestCaptureEnds(t *testing.T) {
	t.Parallel()
	const nsysFile, ncuFile = "nsys/report-1.sqlite", "ncu/report-1.ncu-rep"
	const both = nsysFile + " " + ncuFile
	for name, c := range map[string]struct {
		nsys, ncu string
		args      string
		work      capturetest.Program // nil: well
		code      int
		passes    string // regular expression
		said      string // regular expression that stderr holds
		left      string // artifacts
		runs      int    // how often the workload is run; 0: once a pass, -1: never
	}{
		"deep":                {passes: "nsys-1,ok,0,\nncu-1,ok,0,\n", left: both},
		"light":               {args: "--mode light", passes: "nsys-1,ok,0,\n", left: nsysFile, said: "using Nsight Systems, because prof's own tracer cannot be built: no headers of CUPTI"},
		"baseline":            {args: "--mode light --baseline --repeats 2", passes: "baseline-1,ok,0,\nnsys-1,ok,0,\nnsys-2,ok,0,\nbaseline-2,ok,0,\n", left: nsysFile + " nsys/report-2.sqlite"},
		"workload fails":      {work: exits(7), code: 7, passes: "nsys-1,failed,7,the workload ended with exit status 7\nncu-1,failed,7,the workload ended with exit status 7\n", said: `nsys-1: the workload ended with exit status 7`, left: both},
		"workload killed":     {work: func(p *capturetest.Process) int { exits(0)(p); return p.Die(syscall.SIGSEGV) }, args: "--mode light", code: 139, passes: "nsys-1,failed,SIGSEGV,the workload was ended by SIGSEGV\n", left: nsysFile},
		"nsys refuses":        {nsys: "fail", code: 1, passes: "nsys-1,failed,-,nsys ended with exit status 1 before it started the workload: unrecognised option '--trace=nonsense'\nncu-1,not_run.*", runs: -1},
		"nsys hangs":          {nsys: "hang", args: "--mode light --timeout 1s", code: 1, passes: `nsys-1,timeout,-,stopped after 1s \(--timeout\); it left no report\n`, runs: -1},
		"nsys is old":         {nsys: "old", args: "--mode light", passes: "nsys-1,ok,0,\n", left: nsysFile},
		"nsys hangs after":    {nsys: "hangafter", args: "--mode light", code: 1, passes: "nsys-1,no_report,0,nsys had not written a report 2s after the workload ended and was killed\n"},
		"nsys writes none":    {nsys: "nothing", args: "--mode light", code: 1, passes: "nsys-1,no_report,0,nsys left no report: Collecting data...\n"},
		"nsys cannot import":  {nsys: "qdstrm", args: "--mode light", code: 1, passes: "nsys-1,no_report,0,.*libdw.*nsys/report-1.qdstrm.*\n"},
		"nsys cannot export":  {nsys: "noexport", args: "--mode light", code: 1, passes: "nsys-1,no_report,0,.*could not be exported.*Importer error.*\n", said: "report-1.nsys-rep has the whole environment", left: "nsys/report-1.nsys-rep"},
		"nsys writes garbage": {nsys: "garbage", args: "--mode light", code: 1, passes: "nsys-1,no_report,0,its report could not be exported: report-1.sqlite: it is not an SQLite database\n", left: "nsys/report-1.nsys-rep"},
		"nsys exits oddly":    {nsys: "oddexit", args: "--mode light", passes: "nsys-1,ok,0,\n", said: "nsys ended with exit status 42 although the workload succeeded", left: nsysFile},
		"ncu refuses":         {ncu: "refuse", code: 1, passes: "nsys-1,ok,0,\nncu-1,failed,-,ncu ended with exit status 1; it left no report.*\n", said: "==ERROR== unrecognised option", left: nsysFile, runs: 1},
		"ncu finds none":      {ncu: "nothing", code: 1, passes: "nsys-1,ok,0,\nncu-1,no_report,0,ncu left no report: ==WARNING== No kernels were profiled.\n", left: nsysFile},
		"ncu is not allowed":  {ncu: "denied", code: 1, passes: "nsys-1,ok,0,\nncu-1,failed,-,.*ERR_NVGPUCTRPERM.*prof doctor.*\n", left: nsysFile},
		"ncu writes garbage":  {ncu: "garbage", code: 1, passes: "nsys-1,ok,0,\nncu-1,no_report,0,its report cannot be read: report-1.ncu-rep is not a report\n", left: both, runs: 2},
		"ncu by name":         {args: "--tools ncu --ncu-kernels saxpy", passes: "ncu-1,ok,0,\n", left: ncuFile},
		"ncu stalls":          {ncu: "stall", args: "--tools ncu --ncu-kernels nccl --stall 1s", work: sleeps, code: 1, passes: `ncu-1,timeout,.*,"?no progress for 1s: ncu was profiling launch 1, of ncclDevKernel_AllReduce;.*\(--stall\)"?\n`, left: ncuFile},
		"too large":           {args: "--mode light --max-artifact-size 1B", work: sleeps, code: 1, passes: `nsys-1,too_large,.*,"?stopped when the run had more than .*--max-artifact-size.*\n`, left: nsysFile},
		"time is up":          {args: "--mode light --timeout 1s", work: sleeps, code: 1, passes: `nsys-1,timeout,SIGINT,stopped after 1s \(--timeout\)\n`, left: nsysFile},
		"deaf workload":       {args: "--mode light --timeout 1s", work: func(p *capturetest.Process) int { p.Ignore(); return sleeps(p) }, code: 1, passes: `nsys-1,timeout,SIGKILL,stopped after 1s \(--timeout\)\n`, left: nsysFile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.nsys.How, b.ncu.How, b.work = c.nsys, c.ncu, c.work
			if b.work == nil {
				b.work = exits(0)
			}
			got := b.prof(append(append([]string{"capture", "--run", "r", "--grace", "1s", "--report-timeout", "2s"}, strings.Fields(c.args)...), "--", "work")...)
			runs := c.runs
			if runs == 0 {
				runs = strings.Count(c.passes, "nsys-") + strings.Count(c.passes, "ncu-") + strings.Count(c.passes, "baseline-")
			}
			if got.code != c.code || strings.Count(got.out, "to stdout\n") != max(runs, 0) || strings.Count(got.err, "to stderr\n") != max(runs, 0) || !whole(".*"+c.said+".*").MatchString(got.out+got.err) {
				t.Errorf("exit %d, stdout %q, stderr:\n%s", got.code, got.out, got.err)
			}
			b.wantPasses("r", c.passes)
			if left := b.artifacts("r"); left != c.left {
				t.Errorf("left %q, want %q", left, c.left)
			}
			if len(b.shelf.stored) == 0 || b.shelf.stored[len(b.shelf.stored)-1] != map[bool]string{false: "r", true: "r again"}[len(b.shelf.stored) == 2] {
				t.Errorf("stored %q", b.shelf.stored)
			}
			if left, err := filepath.Glob(filepath.Join(b.temp, ".prof~*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %q %v", left, err)
			}
		})
	}
}
