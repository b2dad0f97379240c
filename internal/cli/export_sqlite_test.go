package cli

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportSQLite compares a database with what the views have of the run, cell by cell, next to another run.
func TestExportSQLite(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import sqlite3").Run()
	}
	if err != nil {
		t.Skip("python3 with sqlite3 is not installed")
	}
	p := reading(t, withStacks)
	for _, run := range []string{"a", "llama"} {
		out := filepath.Join(p.dir, run+".sqlite")
		p.wantLike(0, "", "wrote .*: [0-9,]+ rows\n", "export", run, "--to", "sqlite", "--out", out)
		var wants []string
		for _, view := range namedRows {
			wants = append(wants, p.ok("sql", "SELECT * EXCLUDE (run_id) FROM "+view+" WHERE run = '"+run+"' ORDER BY ALL", "--format", "json"))
		}
		const compare = `
import json, sqlite3, sys
wants = json.load(sys.stdin)
assert len(wants) == len(sys.argv) - 2 > 0
for view, want in zip(sys.argv[2:], wants):
    rows = sqlite3.connect(sys.argv[1]).execute("SELECT * FROM " + view + " ORDER BY rowid")
    assert [d[0] for d in rows.description] == [c["name"] for c in want["columns"]], view
    got, want = [list(r) for r in rows], [list(r.values()) for r in want["rows"]]
    assert got == want, (view, next((g, w) for g, w in zip(got + [None], want + [None]) if g != w))
`
		cmd := exec.Command(python, append([]string{"-c", compare, out}, namedRows...)...)
		cmd.Stdin = strings.NewReader("[" + strings.Join(wants, ",") + "]")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("run %s: %v: %s", run, err, said)
		}
	}
	p.wantLike(2, "", "prof: --to sqlite writes a database: name its file with --out FILE\n", "export", "a", "--to", "sqlite")
	// The views with names are all there are.
	if got := p.sql("SELECT string_agg(view_name, ' ' ORDER BY view_name) AS v FROM duckdb_views() WHERE NOT internal AND comment NOT LIKE 'prof: % v_: %' AND comment LIKE 'prof: %'"); got != "v\nkernels memops operators ranges\n" {
		t.Errorf("views: %s", got)
	}
}
