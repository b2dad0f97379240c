package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/schema"
)

// lackingRuns are two runs of one workload, of which the later lacks its facts.
var lackingRuns = []testkit.Run{{Name: "whole", Files: []string{"capture/llama/sdpa-1"}}, {Name: "lost", Files: []string{"capture/llama/sdpa-2", "model/deepseek-ocr.config.json"}, Key: "lacks its facts", Then: func(ctx context.Context, w *schema.Warehouse) error {
	run, err := w.Resolve(ctx, "lost")
	if err != nil {
		return err
	}
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := schema.LackFacts(ctx, tx, w.Facts, run.ID); err != nil {
		return err
	}
	return w.Commit(ctx, tx.Commit)
}}}

// TestLackingVerbs: every verb says of a run without facts that they are missing and what derives them, and gives no figure that would need them; the next
// command that changes the warehouse derives them.
func TestLackingVerbs(t *testing.T) {
	t.Parallel()
	p := newStored(t, lackingRuns)
	lacks := func(what, text string) {
		t.Helper()
		text = strings.Join(strings.Fields(text), " ") // tables wrap
		if !strings.Contains(text, "is missing, since DuckDB had too little memory for it: prof --memory SIZE tag RUN KEY=VALUE derives it") {
			t.Errorf("%s does not say that facts are missing:\n%s", what, text)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		not  string // is not said
	}{
		{[]string{"runs"}, 0, ""},
		{[]string{"show", "lost"}, 0, "capture a timeline"},
		{[]string{"show", "lost", "--facts"}, 0, ""},
		{[]string{"show", "lost", "--format", "json"}, 0, "capture a timeline"},
		{[]string{"explain", "lost"}, 0, "no findings"},
		{[]string{"explain", "lost", "--format", "json"}, 0, ""},
		{[]string{"check", "lost", "--baseline", "whole"}, 4, "holds"},
		{[]string{"check", "whole", "--baseline", "lost"}, 4, "holds"},
		{[]string{"check", "lost", "--baseline", "whole", "--rule", "new_kernels <= 0"}, 4, "holds"},
		{[]string{"check", "whole", "--baseline", "lost", "--rule", "new_kernels <= 1000"}, 4, "holds"},
		{[]string{"check", "lost", "--rule", "stage.decode.launches <= 100", "--rule", "kernel:/gemm/.calls <= 0", "--rule", "mfu.prefill >= 0", "--rule", "overhead <= 25%", "--rule", "serving.ttft_p99 <= 1s"}, 4, "holds"},
		{[]string{"diff", "whole", "lost"}, 1, "gone"},
		{[]string{"diff", "lost", "whole"}, 1, "new"},
		{[]string{"diff", "whole,lost", "whole", "--by", "tree"}, 1, ""},
		{[]string{"trend"}, 0, ""},
		{[]string{"export", "lost", "--to", "folded"}, 1, "no kernels"},
		{[]string{"export", "lost", "--to", "openmetrics"}, 1, "no stages"},
		{[]string{"export", "lost", "--to", "perfetto", "--out", p.path("t.pftrace")}, 1, ""},
		{[]string{"export", "lost", "--to", "parquet", "--out", p.path("parquet")}, 0, ""},
		{[]string{"plot", "stages", "--run", "lost", "--out", p.path("stages.svg")}, 1, ""},
		{[]string{"plot", "timeline", "--run", "lost", "--out", p.path("timeline.svg")}, 1, ""},
		{[]string{"model", "--run", "lost"}, 1, "has no model"},
		{[]string{"query", "stages", "--run", "lost"}, 0, ""},
		{[]string{"query", "models", "--run", "lost"}, 0, ""},
		{[]string{"query", "run-conditions", "--run", "lost"}, 0, ""},
		{[]string{"query", "timeline-gaps", "--run", "lost"}, 0, ""},
		{[]string{"query", "run-list"}, 0, ""},
		{[]string{"query", "mfu", "--run", "lost"}, 0, ""},
	} {
		r := p.run(c.args...)
		what, said := "prof "+strings.Join(c.args, " "), r.out+r.err
		if r.code != c.code || c.not != "" && strings.Contains(said, c.not) {
			t.Errorf("%s: exit %d, want %d, without %q:\n%s", what, r.code, c.code, c.not, said)
		}
		lacks(what, said)
	}

	p.ok("report", "lost", "--out", p.path("report"))
	for _, name := range []string{"report.html", "report.md", "stakeholder_summary.md", "kernels.md", "operators.md", "metrics.json", "assumptions.md"} {
		text, err := os.ReadFile(filepath.Join(p.path("report"), name))
		if err != nil {
			t.Fatal(err)
		}
		lacks(name, string(text))
		for _, not := range []string{"no kernel ran on a GPU", "no device work", "no GPU work", "not captured with", "capture a timeline"} {
			if strings.Contains(string(text), not) {
				t.Errorf("%s says %q", name, not)
			}
		}
	}

	p.settle()
	at := serveAt(t, p)
	for path, code := range map[string]int{"/runs": 200, "/runs/lost": 200, "/runs/lost/findings": 200, "/runs/lost/queries/stages": 200, "/diff?base=whole&new=lost": 404, "/check?run=lost&baseline=whole": 200, "/trend?workload=lost": 200} {
		r, err := http.Get(at + "/api/v1" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != code {
			t.Errorf("%s: %v, %d, want %d: %s", path, err, r.StatusCode, code, body)
		}
		lacks(path, string(body))
	}
}

// TestLackingDerived: the command that is named derives the facts.
func TestLackingDerived(t *testing.T) {
	t.Parallel()
	p := newStored(t, lackingRuns)
	p.ok("--memory", "2GB", "tag", "lost", "tried=again")
	if text := p.ok("runs") + p.ok("show", "lost"); strings.Contains(text, "is missing") || !strings.Contains(text, "decode") {
		t.Error(text)
	}
}
