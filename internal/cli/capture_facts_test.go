package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prof/capture/capturetest"
)

// Files of facts may be written by the workload itself; what it does not write costs no capture.
func TestCaptureFacts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		writes bool
		said   string
	}{
		"written":     {true, "facts.json is not there yet"},
		"not written": {false, "facts.json: there is no such file or folder: no recording of the workload has written it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.work = func(p *capturetest.Process) int {
				if c.writes {
					write(t, b.path("facts.json"), []byte("{}"))
				}
				return 0
			}
			got := b.prof("capture", "--run", "r", "--workload", "facts.json", "--", "work")
			if got.code != 0 || !strings.Contains(got.err, c.said) {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			if is := len(b.shelf.last.Workloads) == 1; is != c.writes {
				t.Errorf("stored with %q", b.shelf.last.Workloads)
			}
		})
	}
}

// The whole way of a capture: its recordings and what it found are stored, and can be asked for. What the processes of a job say is one file: each
// process with its passes, where they differ too.
func TestCaptureStored(t *testing.T) {
	t.Parallel()
	b := newBench(t).storing()
	b.nsys.How = "vary"
	b.work = func(p *capturetest.Process) int {
		exits(0)(p)
		p.Sleep(time.Second)
		path := p.Getenv("PROF_MARK_FACTS")
		if path == "" { // without a timeline
			return 0
		}
		const config = `{"config":{"model_type":"llama"},"runs":[{"prefill_len":%d,"new_tokens":3,"batch":1}],"marks":{"pid":%d,"rank":%d,"world_size":2%s}}`
		write(t, path, fmt.Appendf(nil, config, 681, p.PID, 0, `,"torch":"2.11.0"`))
		write(t, strings.Replace(path, ".facts", fmt.Sprintf("-%d.facts", p.PID+1), 1), fmt.Appendf(nil, config, 12, p.PID+1, 1, ""))
		return 0
	}
	got := b.prof("capture", "--run", "r", "--tag", "k=v w", "--auto-stages", "--baseline", "--repeats", "2", "--", "work")
	for _, said := range []string{`prof: Nsight Compute profiles \d+ launch(es)? of \d+ kernels?, chosen from the timeline\n`, `\nrun r\n +baseline-1 +ok +workload \S+, total \S+\n`, `  the whole process: alone \S+ s, recorded by Nsight Systems \S+ s: ([+-]\S+ %|not measurable) \(1 recording alone, 2 under it, noise \S+ %\)\n`, `\nnext: prof --home \S+ show r\n\z`} {
		if !whole(".*" + said + ".*").MatchString(got.err) {
			t.Errorf("stderr lacks %s:\n%s", said, got.err)
		}
	}
	if got.code != 0 || got.out != strings.Repeat("to stdout\n", 5) {
		t.Errorf("exit %d, stdout %q", got.code, got.out)
	}
	const passes = "baseline-1,ok,0,\nnsys-1,ok,0,\nnsys-2,ok,0,\nbaseline-2,ok,0,\nncu-1,ok,0,\n"
	b.wantPasses("r", passes)
	if got := b.place.passes("r"); got != "pass,status,ended,reason\n"+passes {
		t.Errorf("stored passes:\n%s", got)
	}
	b.wantRows(map[string]string{
		"SELECT (SELECT count(*) FROM kernel) AS kernels, (SELECT count(*) FROM ncu_launch) AS launches, (SELECT value FROM run_tag WHERE key = 'k') AS tag":               "kernels,launches,tag\n32,4,v w\n",
		"SELECT p.rank_id, p.world_size, w.prefill_count, w.pass_id FROM workload_process p JOIN workload_pass w USING (run_id, source_id, process_id) ORDER BY p.rank_id": "rank_id,world_size,prefill_count,pass_id\n0,2,681,1\n0,2,681,3\n1,2,12,2\n1,2,12,4\n",
		"SELECT value FROM facts('r') WHERE key = 'workload.torch'":                    "value\n2.11.0\n",
		"SELECT value, weight FROM run_conditions('r') WHERE aspect = 'package torch'": "value,weight\n2.11.0,clouds\n",
	})
	if got := b.prof("capture", "--run", "r", "--", "work"); got.code != 1 || !strings.Contains(got.err, "choose another --run, or `prof rm r` first") {
		t.Errorf("the name is taken: exit %d: %s", got.code, got.err)
	}
}

// What profilers left that is no report is stored as such, and such a run can be asked about.
func TestCaptureGarbage(t *testing.T) {
	t.Parallel()
	b := newBench(t).storing()
	b.nsys.How, b.ncu.How = "garbage", "garbage"
	got := b.prof("capture", "--run", "r", "--tools", "nsys,ncu", "--ncu-kernels", "saxpy", "--", "work")
	if got.code != 1 || !whole(`.*report-1.nsys-rep.*skipped.*`).MatchString(got.err) || !whole(`.*report-1.ncu-rep.*skipped.*`).MatchString(got.err) {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
	}
	if got := b.place.passes("r", "(SELECT count(*) FROM kernel) AS kernels, "); !whole("kernels,pass,status,ended,reason\n0,nsys-1,no_report,0,.*\n0,ncu-1,no_report,0,.*\n").MatchString(got) {
		t.Errorf("stored passes:\n%s", got)
	}
	for _, q := range []string{"stages", "overhead", "top-kernels", "aggregates"} {
		b.ok("query", q, "--run", "r")
	}
	b.ok("show", "r")
}
