package cli

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// ncuReport is what the fake ncu leaves.
const ncuReport = "kernels-prefill.ncu-rep.gz"

// fakes gives a place whose PATH has stand-ins for nsys and ncu before everything else. how are variables for them, as NSYS_FAKE=hang.
func fakes(t testing.TB, how ...string) *place {
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
		"NSYS_FAKE_NCU_REPORT=" + write(t, filepath.Join(t.TempDir(), "k.ncu-rep"), ncu),
		"NSYS_FAKE_NCU_ASKED=" + p.path("asked")}, how...)
	return p
}

// passes gives the passes of a run: name, status and reason; before them what else is asked.
func (p *place) passes(run string, also ...string) string {
	p.t.Helper()
	return p.sql("SELECT " + strings.Join(also, "") + "pass, status, coalesce(exit_code::VARCHAR, signal, '-') AS ended, coalesce(reason, '') AS reason FROM capture_passes('" + run + "')")
}

// Every way in which tools and workloads end has its message, exit code and stored status.
func TestCaptureEnds(t *testing.T) {
	for name, c := range map[string]struct {
		how    string
		args   string
		status string // of the workload, 0 unless said; and what it does before it would end
		code   int
		passes string // regular expression of the stored passes
		said   string // regular expression that stderr holds
		rows   string // kernels and profiled launches that were stored
		runs   int    // how often the workload is run; 0: once a pass, -1: never
	}{
		"deep":                {passes: "nsys-1,ok,0,\nncu-1,ok,0,\n", rows: "16,4"},
		"light":               {args: "--mode light", passes: "nsys-1,ok,0,\n", rows: "16,0"},
		"baseline":            {args: "--mode light --baseline --repeats 2", passes: "baseline-1,ok,0,\nnsys-1,ok,0,\nbaseline-2,ok,0,\nnsys-2,ok,0,\n", said: `overhead of nsys \(light\): [+-]\d+ % \(median of 2 against 2\)`, rows: "16,0"},
		"workload fails":      {status: "7", code: 7, passes: "nsys-1,failed,7,the workload ended with exit status 7\nncu-1,failed,7,the workload ended with exit status 7\n", said: `nsys-1: the workload ended with exit status 7`, rows: "16,4"},
		"workload killed":     {status: "0; kill -SEGV $$", args: "--mode light", code: 139, passes: "nsys-1,failed,SIGSEGV,the workload was ended by SIGSEGV\n", rows: "16,0"},
		"nsys refuses":        {how: "NSYS_FAKE=fail", code: 1, passes: "nsys-1,failed,-,nsys ended with exit status 1 before it started the workload: unrecognised option '--trace=nonsense'\nncu-1,not_run.*", runs: -1, rows: "0,0"},
		"nsys hangs":          {how: "NSYS_FAKE=hang", args: "--mode light --timeout 1s", code: 1, passes: `nsys-1,timeout,-,stopped after 1s \(--timeout\); it left no report\n`, runs: -1, rows: "0,0"},
		"nsys is old":         {how: "NSYS_FAKE=old", args: "--mode light", passes: "nsys-1,ok,0,\n", rows: "16,0"},
		"nsys hangs after":    {how: "NSYS_FAKE=hangafter", args: "--mode light", code: 1, passes: "nsys-1,no_report,0,nsys had not written a report 2s after the workload ended and was killed\n", rows: "0,0"},
		"nsys writes none":    {how: "NSYS_FAKE=nothing", args: "--mode light", code: 1, passes: "nsys-1,no_report,0,nsys left no report: Collecting data...\n", rows: "0,0"},
		"nsys cannot import":  {how: "NSYS_FAKE=qdstrm", args: "--mode light", code: 1, passes: "nsys-1,no_report,0,.*libdw.*nsys/report-1.qdstrm.*\n", rows: "0,0"},
		"nsys cannot export":  {how: "NSYS_FAKE=noexport", args: "--mode light", code: 1, passes: "nsys-1,no_report,0,.*could not be exported.*Importer error.*\n", rows: "0,0"},
		"nsys writes garbage": {how: "NSYS_FAKE=garbage", args: "--mode light", code: 1, passes: "nsys-1,no_report,0,its report could not be exported: report-1.sqlite: it is not an SQLite database\n", said: "report-1.nsys-rep.*skipped", rows: "0,0"},
		"nsys exits oddly":    {how: "NSYS_FAKE=oddexit", args: "--mode light", passes: "nsys-1,ok,0,\n", said: "nsys ended with exit status 42 although the workload succeeded", rows: "16,0"},
		"ncu refuses":         {how: "NSYS_FAKE_NCU=refuse", code: 1, passes: "nsys-1,ok,0,\nncu-1,failed,-,ncu ended with exit status 1; it left no report.*\n", said: "==ERROR== unrecognised option", rows: "16,0", runs: 1},
		"ncu finds none":      {how: "NSYS_FAKE_NCU=nothing", code: 1, passes: "nsys-1,ok,0,\nncu-1,no_report,0,ncu left no report: ==WARNING== No kernels were profiled.\n", rows: "16,0"},
		"ncu is not allowed":  {how: "NSYS_FAKE_NCU=denied", code: 1, passes: "nsys-1,ok,0,\nncu-1,failed,-,.*ERR_NVGPUCTRPERM.*prof doctor.*\n", rows: "16,0"},
		"ncu writes garbage":  {how: "NSYS_FAKE_NCU=garbage", code: 1, passes: "nsys-1,ok,0,\nncu-1,no_report,0,its report cannot be read: report-1.ncu-rep is not a report\n", said: "report-1.ncu-rep.*skipped", rows: "16,0", runs: 2},
		"ncu by name":         {args: "--tools ncu --ncu-kernels saxpy", passes: "ncu-1,ok,0,\n", runs: 1, rows: "0,4"},
		"ncu stalls":          {how: "NSYS_FAKE_NCU=stall", args: "--tools ncu --ncu-kernels nccl --stall 1s", status: "0; sleep 30", code: 1, passes: `ncu-1,timeout,.*,"?no progress for 1s: ncu was profiling launch 1, of ncclDevKernel_AllReduce;.*\(--stall\)"?\n`, runs: 1, rows: "0,4"},
		"too large":           {args: "--mode light --max-artifact-size 1B", status: "0; sleep 30", code: 1, passes: `nsys-1,too_large,.*,"?stopped when the run had more than .*--max-artifact-size.*\n`, rows: "16,0"},
		"time is up":          {args: "--mode light --timeout 1s", status: "0; sleep 30", code: 1, passes: `nsys-1,timeout,.*,stopped after 1s \(--timeout\)\n`, rows: "16,0"},
		"deaf workload":       {args: "--mode light --timeout 1s", status: "0; trap '' INT TERM; while :; do sleep 1; done", code: 1, passes: `nsys-1,timeout,SIGKILL,stopped after 1s \(--timeout\)\n`, rows: "16,0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, c.how)
			status, before, _ := strings.Cut(c.status, "; ")
			write(t, p.path("work.sh"), []byte("#!/bin/sh\nprintf 'to stdout\\n'\nprintf 'to stderr\\n' >&2\n"+before+"\nexit "+status+"\n"))
			args := append([]string{"capture", "--run", "r", "--grace", "1s", "--report-timeout", "2s"}, strings.Fields(c.args)...)
			got := p.run(append(args, "--", "sh", "work.sh")...)
			runs := c.runs
			if runs == 0 {
				runs = strings.Count(c.passes, "nsys-") + strings.Count(c.passes, "ncu-") + strings.Count(c.passes, "baseline-")
			}
			if got.code != c.code || got.out != strings.Repeat("to stdout\n", max(runs, 0)) && c.how != "NSYS_FAKE_NCU=refuse" || strings.Count(got.err, "to stderr\n") != max(runs, 0) || !whole(".*"+c.said+".*").MatchString(got.out+got.err) {
				t.Errorf("exit %d, stdout %q, stderr:\n%s", got.code, got.out, got.err)
			}
			stored := p.passes("r", "(SELECT count(*) FROM kernel) AS kernels, (SELECT count(*) FROM ncu_launch) AS launches, ")
			passes := strings.ReplaceAll("\n"+stored, "\n"+c.rows+",", "\n") // each row begins with what was stored
			if !whole("\nkernels,launches,pass,status,ended,reason\n" + c.passes).MatchString(passes) {
				t.Errorf("passes:\n%s\nwant %s rows and\n%s", stored, c.rows, c.passes)
			}
			if left, err := filepath.Glob(filepath.Join(p.path("tmp"), ".prof~*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %q %v", left, err)
			}
		})
	}
}
