package queries_test

import (
	"database/sql"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"prof/ingest"
	ingestload "prof/ingest/load"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// change changes what was captured of made-up runs, and all facts follow.
func change(t *testing.T, w *schema.Warehouse, stmts ...string) {
	t.Helper()
	testkit.Exec(t, w, strings.Join(stmts, ";\n"))
	testkit.DeriveOnly(t, w)
}

// load ingests paths as one run.
func load(t testing.TB, w *schema.Warehouse, run string, paths ...string) *ingest.Result {
	t.Helper()
	// Each run here is a capture of its own; the repeat check is tested elsewhere.
	if _, err := w.DB.Exec(`UPDATE source SET sha256 = run_id::VARCHAR || source_id`); err != nil {
		t.Fatal(err)
	}
	res, err := ingest.Run(t.Context(), w, paths, ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Load: ingestload.Options{WithOSRT: true, Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if !res.Made {
		t.Fatalf("%v: no run was made: %+v", paths, res)
	}
	return res
}

// plans are statements that were planned once, to be asked of many runs.
type plans struct {
	*testing.T
	w     *schema.Warehouse
	known map[string]*sql.Stmt
}

func newPlans(t *testing.T, w *schema.Warehouse) plans { return plans{t, w, map[string]*sql.Stmt{}} }

// ask returns the rows of a statement in which ? stands for an argument and {name} for the relation of a named query, which takes a run by its id.
func (p plans) ask(stmt string, args ...any) *frame.Frame {
	p.Helper()
	if p.known[stmt] == nil {
		conn, err := p.w.DB.Conn(p.Context())
		if err != nil {
			p.Fatal(err)
		}
		p.Cleanup(func() { conn.Close() })
		text := regexp.MustCompile(`\{([a-z-]+)\}`).ReplaceAllStringFunc(stmt, func(name string) string {
			q, err := queries.Find(strings.Trim(name, "{}"))
			if err != nil {
				p.Fatal(err)
			}
			return q.Relation()
		})
		if p.known[stmt], err = conn.PrepareContext(p.Context(), text); err != nil {
			p.Fatalf("%s: %v", text, err)
		}
	}
	r, err := p.known[stmt].QueryContext(p.Context(), args...)
	if err != nil {
		p.Fatalf("%s of %v: %v", stmt, args, err)
	}
	defer r.Close()
	f, err := queries.Scan(r, math.MaxInt)
	if err != nil {
		p.Fatalf("%s of %v: %v", stmt, args, err)
	}
	return f
}

// queryNoted asks a named query of a warehouse that does not change.
func queryNoted(t testing.TB, noted *queries.Asker, name string, args queries.Args) *frame.Frame {
	t.Helper()
	f, err := noted.Ask(t.Context(), name, args)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
