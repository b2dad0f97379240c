package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunReport holds that a report says the same as the queries it names, and what is missing in its place.
func TestRunReport(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.ok("ingest", "--run", "llama", exported(t, "llama-graph-node/llama-graph-node.sqlite.gz"), exported(t, "../workload/llama-graph-node.workload.json"))
	text := p.ok("report", "llama", "--out", "-")
	for _, query := range []string{"mfu", "mbu", "stages", "models"} {
		table := strings.TrimSpace(p.ok("query", query, "--run", "llama", "--format", "md"))
		if !strings.Contains(text, table) {
			t.Errorf("the report does not hold the table of %s:\n%s", query, table)
		}
	}
	for _, want := range []string{"# Run llama\n", "\n## Model FLOPs utilisation\n", "\nQuery mfu v2: `FROM mfu_v2('", "\n## Top operators\n\nNot known: the run has no operators"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if at := p.ok("report", "llama"); !strings.HasSuffix(strings.TrimSpace(at), filepath.Join("runs", "llama", "reports", "report.md")) {
		t.Errorf("the report is at %s", at)
	}
	dir := t.TempDir()
	p.ok("report", "llama", "--out", dir)
	if written, err := os.ReadFile(filepath.Join(dir, "report.md")); err != nil || string(written) != text {
		t.Errorf("the written report differs: %v", err)
	}
	var static struct {
		Total  struct{ Params, Flops int64 }
		Stages map[string]struct{ Flops int64 }
	}
	artifact, err := os.ReadFile(filepath.Join(dir, "static_compute.json"))
	if err == nil {
		err = json.Unmarshal(artifact, &static)
	}
	if err != nil || static.Total.Params != 1498482688 || static.Total.Flops != 1112621973504 || static.Stages["prefill"].Flops != 1031317487616 {
		t.Errorf("static_compute.json holds %+v, %v", static, err)
	}
	p.ok("ingest", "--run", "bare", exported(t, "kernels/kernels.sqlite.gz"))
	if bare := p.ok("report", "bare", "--out", "-"); !strings.Contains(bare, "\n## Model\n\nNot known: ") {
		t.Error("a report without a model does not say so")
	}
	p.want(result{2, "", "prof: report takes one run; see `prof help report`\n"}, "report", "a", "b")
}
