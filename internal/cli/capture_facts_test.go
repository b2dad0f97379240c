package cli

import (
	"strings"
	"testing"
)

// Files of facts may be written by the workload itself; what it does not write costs no capture.
func TestCaptureFacts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ work, stored, said string }{
		"written":     {`echo '{"runs":[{"prefill_len":681,"new_tokens":3,"batch":1}]}' >facts.json`, "1", "facts.json is not there yet"},
		"not written": {"true", "0", "warning: facts.json: there is no such file or folder: no recording of the workload has written it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes(t, "")
			got := p.run("capture", "--run", "r", "--workload", "facts.json", "--", "sh", "-c", c.work)
			if got.code != 0 || !strings.Contains(got.err, c.said) {
				t.Errorf("exit %d, stderr:\n%s", got.code, got.err)
			}
			if got := p.sql("SELECT count(*) AS passes, (SELECT count(*) FROM kernel) AS kernels FROM workload_pass"); got != "passes,kernels\n"+c.stored+",16\n" {
				t.Errorf("stored: %q", got)
			}
		})
	}
}

// What the processes of a job say is one file: each process with its passes, where they differ too.
func TestCaptureJobFacts(t *testing.T) {
	t.Parallel()
	const work = `cd .prof/runs/r/nsys; for n in 1 2; do
		echo '{"config":{"model_type":"llama"},"runs":[{"prefill_len":681,"new_tokens":3,"batch":1}],"marks":{"pid":'$$',"rank":0,"world_size":2,"torch":"2.11.0"}}' >report-$n.facts.json
		echo '{"config":{"model_type":"llama"},"runs":[{"prefill_len":'$LENGTH',"new_tokens":3,"batch":1}],"marks":{"pid":7'$n',"rank":1,"world_size":2}}' >report-$n-7$n.facts.json; done`
	p := fakes(t, "NSYS_FAKE_NCU=")
	if got := p.run("capture", "--run", "r", "--auto-stages", "--", "sh", "-c", "LENGTH=12; "+work); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if got := p.sql("SELECT p.rank_id, p.world_size, w.prefill_count, w.pass_id FROM workload_process p JOIN workload_pass w USING (run_id, source_id, process_id) ORDER BY p.rank_id"); got != "rank_id,world_size,prefill_count,pass_id\n0,2,681,1\n1,2,12,2\n" {
		t.Error(got)
	}
	if got := p.sql("SELECT value FROM facts('r') WHERE key = 'workload.torch'"); got != "value\n2.11.0\n" {
		t.Error(got)
	}
	if got := p.sql("SELECT value, weight FROM run_conditions('r') WHERE aspect = 'package torch'"); got != "value,weight\n2.11.0,clouds\n" {
		t.Error(got)
	}
}
