package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/render/report"
)

// TestRunReport holds that a report says the same as the queries it names, and what is missing in its place.
func TestRunReport(t *testing.T) {
	t.Parallel()
	p := newStored(t, []testkit.Run{{Name: "llama", Files: []string{"nsys/" + llama, "workload/llama-graph-node.workload.json"}}, {Name: "bare", Files: []string{"nsys/" + kernels}}})
	text := p.ok("report", "llama", "--out", "-")
	for _, query := range []string{"mfu", "mbu", "stages", "models"} {
		table, _, _ := strings.Cut(p.ok("query", query, "--run", "llama", "--format", "md"), "\n\n") // notes stand below it
		if !strings.HasPrefix(table, "| ") || !holdsColumns(text, table) {
			t.Errorf("the report does not hold the table of %s:\n%s", query, table)
		}
	}
	for _, want := range []string{"# Run llama\n", "\n<summary>Model FLOPs utilisation</summary>\n", "\n<summary>Query mfu v6</summary>\n", "\nFROM mfu_v6('", "\n- Top operators: the run has no operators"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	dir := p.path(filepath.Join(".prof", "runs", "llama", "reports"))
	all := p.ok("report", "llama")
	var want strings.Builder
	for _, f := range report.Files() { // this run has something for each
		fmt.Fprintln(&want, filepath.Join(dir, f.Name))
		if _, err := os.Stat(filepath.Join(dir, f.Name)); err != nil {
			t.Error(err)
		}
	}
	if all != want.String() {
		t.Errorf("the report says that it wrote\n%snot\n%s", all, want.String())
	}
	if written := string(read(t, filepath.Join(dir, "report.md"))); written != text {
		t.Error("the written report differs from the printed one")
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
	at := filepath.Join(t.TempDir(), "report.md")
	if said := p.ok("report", "bare", "--file", "report.md", "--out", filepath.Dir(at)); said != at+"\n" {
		t.Errorf("the report is at %s", said)
	}
	if !strings.Contains(string(read(t, at)), "\n- Model: ") {
		t.Error("a report without a model does not say so")
	}
	p.want(result{2, "", "prof: report takes one run; see `prof help report`\n"}, "report", "a", "b")
}

// holdsColumns reports whether a text has a table of at least four columns of another, with all of its rows.
func holdsColumns(text, table string) bool {
	cells := func(line string) []string {
		return strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
	}
	rows := strings.Split(strings.TrimSpace(table), "\n")
	head := cells(rows[0])
	for at, line := range strings.Split(text, "\n") {
		var columns []int
		for _, name := range cells(line) {
			columns = append(columns, slices.Index(head, name))
		}
		if !strings.HasPrefix(line, "| ") || len(columns) < 4 || slices.Contains(columns, -1) {
			continue
		}
		found := strings.Split(text, "\n")[at:]
		same := len(found) >= len(rows)
		for i := 2; same && i < len(rows); i++ {
			all := cells(rows[i])
			for k, cell := range cells(found[i]) {
				same = same && cell == all[columns[k]]
			}
		}
		if same {
			return true
		}
	}
	return false
}
