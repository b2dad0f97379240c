package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// needsPython skips where there is no Python with the modules.
func needsPython(t *testing.T, modules ...string) {
	t.Helper()
	if out, err := exec.Command("python3", "-c", "import sys, "+strings.Join(append(modules, "os"), ", ")).CombinedOutput(); err != nil {
		t.Skipf("no python3 with %v: %v %.200s", modules, err, out)
	}
}

// TestPython lays a warehouse and the answers to every query of it before the tests of python/prof.py, and metrics before their own parsers.
func TestPython(t *testing.T) {
	needsPython(t)
	bin := prof(t)
	w := newWorkplace(t, bin)
	home := filepath.Join(w.dir, schema.HomeName)
	testkit.CopyHome(t, home, testkit.Run{Name: "a", Files: []string{"ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz"}, Options: ingest.Options{Tags: [][2]string{{"team", "x"}}}},
		testkit.Run{Name: "b", Files: []string{"torch/llama.trace.json.gz"}})
	t.Run("prof.py", func(t *testing.T) {
		needsPython(t, "duckdb")
		if err := os.WriteFile(filepath.Join(home, "answers.json"), answers(t, home, "a", "b"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "python3", "-m", "unittest", "-v", "test_prof")
		cmd.Dir, cmd.Env = "python", append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PROF_TEST_HOME="+home, "PROF_TEST_BINARY="+filepath.Join(bin, "prof"), "MPLCONFIGDIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("python3 -m unittest: %v", err)
		}
		t.Logf("%s", out)
	})
	for form, c := range map[string]struct {
		needs   []string
		program string
	}{
		"openmetrics": {[]string{"prometheus_client"}, `import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
print(sum(len(f.samples) for f in parse(sys.stdin.read())))`},
		"otlp-json": {[]string{"google.protobuf", "opentelemetry.proto.collector.metrics.v1.metrics_service_pb2"}, `import sys
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest as Request
print(sum(len(m.gauge.data_points) for r in json_format.Parse(sys.stdin.read(), Request()).resource_metrics for s in r.scope_metrics for m in s.metrics))`},
	} {
		t.Run(form, func(t *testing.T) {
			needsPython(t, c.needs...)
			text := w.run(t, "prof export a --to "+form)
			cmd := exec.CommandContext(t.Context(), "python3", "-c", c.program)
			cmd.Stdin = strings.NewReader(text)
			out, err := cmd.CombinedOutput()
			want := strings.Count(text, `run="a"`) + strings.Count(text, `timeUnixNano`)
			if n, _ := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || n != want || n < 10 {
				t.Errorf("%d points were written, and read %s (%v)", want, out, err)
			}
		})
	}
}

// answers are those to every query of each run, as JSON.
func answers(t *testing.T, home string, runs ...string) []byte {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: home}, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	asker := queries.NewAsker(w)
	var out []map[string]any
	for _, q := range all {
		for _, run := range runs {
			args := queries.Args{"run": run}
			if !q.TakesRun() {
				run, args = "", nil
			}
			f, err := asker.Run(t.Context(), q, args)
			if err != nil {
				t.Fatal(err)
			}
			var columns []map[string]string
			for _, c := range f.Columns {
				columns = append(columns, map[string]string{"name": c.Name, "unit": string(c.Unit), "doc": c.Doc})
			}
			var caveats [][]string
			for _, c := range f.Caveats {
				caveats = append(caveats, []string{c.Topic, c.Kind, c.Subject})
			}
			out = append(out, map[string]any{"query": q.Name, "run": run, "columns": columns, "rows": f.Rows, "caveats": caveats, "notes": f.Notes})
			if !q.TakesRun() {
				break
			}
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
