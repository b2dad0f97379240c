package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// Times without a profiler that the workload wrote beside a capture stand beside the traced ones; nothing else of that file is taken, and files of that name of
// other programs are left alone.
func TestBaselineBeside(t *testing.T) {
	t.Parallel()
	var facts map[string]any
	text := read(t, "../../testdata/workload/llama-graph-node.workload.json")
	if err := json.Unmarshal(text, &facts); err != nil {
		t.Fatal(err)
	}
	for _, run := range facts["runs"].([]any) {
		run := run.(map[string]any)
		run["decode_ms"], run["prefill_ms"] = run["decode_ms"].(float64)-20, run["prefill_ms"].(float64)-1
	}
	baseline, err := json.Marshal(facts)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	write(t, p.path("in/baseline.json"), baseline)
	write(t, p.path("in/workload.json"), text)
	write(t, p.path("in/x.sqlite"), unpacked(t, llama))
	write(t, p.path("in/loss/baseline.json"), []byte(`{"runs": [{"loss": 1}]}`))
	write(t, p.path("in/model/baseline.json"), append(append([]byte(`{"config": `), config(2)...), '}'))
	said := p.run("ingest", "--run", "x", "in")
	if said.code != 0 || !strings.Contains(said.err, "left alone: 1 file that is no capture: in/loss/baseline.json\n") ||
		!strings.Contains(said.err, "in/model/baseline.json: no workload facts: it lists no times of passes (runs with prefill_ms, decode_ms or vision_ms)\n") {
		t.Errorf("%+v", said)
	}
	if got := p.sql("SELECT stage, tool, mode, clock, round(alone_median_ns / 1e6, 1) AS alone, round(profiled_median_ns / 1e6, 1) AS profiled FROM stage_overhead ORDER BY stage"); got !=
		"stage,tool,mode,clock,alone,profiled\ndecode,nsys,workload,workload,68.4,88.4\nprefill,nsys,workload,workload,10.2,11.2\n" {
		t.Error(got)
	}
	if got := p.sql("SELECT count(*) AS passes, (SELECT count(*) FROM workload) AS files, (SELECT count(*) FROM model) AS models FROM workload_pass"); got != "passes,files,models\n3,1,1\n" {
		t.Errorf("the traced passes are %s", got)
	}
	if shown := p.ok("show", "x"); !strings.Contains(shown, "2.14 ms/token, 10.2 ms to the first token, both without a profiler") {
		t.Error(shown)
	}
}
