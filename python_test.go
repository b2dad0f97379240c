package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

// needsPython skips where there is no Python with the modules.
func needsPython(t *testing.T, modules ...string) {
	t.Helper()
	if out, err := exec.Command("python3", "-c", "import "+strings.Join(modules, ", ")).CombinedOutput(); err != nil {
		t.Skipf("no python3 with %s: %v %.200s", strings.Join(modules, ", "), err, out)
	}
}

// TestPython lays a warehouse and the answers to every query of it before the tests of python/prof.py.
func TestPython(t *testing.T) {
	needsPython(t, "duckdb")
	bin := buildProf(t)
	w := newWorkplace(t, bin)
	w.run(t, "prof ingest --run a testdata/ncu/llama.sqlite.gz testdata/ncu/llama.ncu-rep.gz && prof ingest --run b testdata/torch/llama.trace.json.gz")
	home := filepath.Join(w.dir, schema.HomeName)
	if err := os.WriteFile(filepath.Join(home, "answers.json"), answers(t, home, "a", "b"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-m", "unittest", "-v", "test_prof")
	cmd.Dir, cmd.Env = "python", append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PROF_TEST_HOME="+home, "PROF_TEST_BINARY="+filepath.Join(bin, "prof"), "MPLCONFIGDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("python3 -m unittest: %v\n%s", err, out)
	}
	t.Logf("%s", out)
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
