package queries_test

import (
	"database/sql"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prof/ingest"
	ingestload "prof/ingest/load"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// newWarehouse opens an empty warehouse in a folder of the test's own.
func newWarehouse(t testing.TB) *schema.Warehouse {
	t.Helper()
	return copied(t, empty, nil)
}

// images are the files of warehouses that several tests begin with, by name: making one takes longer than copying it.
var images sync.Map

type image struct {
	once sync.Once
	file []byte
}

// empty is the image of a warehouse without runs.
const empty = "empty"

// copied opens a warehouse of the test's own as fill fills it, which is asked for the first test alone that wants one of that name.
func copied(t testing.TB, name string, fill func(w *schema.Warehouse)) *schema.Warehouse {
	t.Helper()
	w := open(t, imageOf(t, name, fill))
	if _, err := w.DB.Exec("PRAGMA disable_checkpoint_on_shutdown"); err != nil { // nobody opens it again
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func imageOf(t testing.TB, name string, fill func(w *schema.Warehouse)) []byte {
	t.Helper()
	kept, _ := images.LoadOrStore(name, &image{})
	i := kept.(*image)
	i.once.Do(func() {
		var base []byte
		if name != empty {
			base = imageOf(t, empty, nil)
		}
		w := open(t, base)
		defer w.Close()
		if fill != nil {
			fill(w)
			derived(t, w)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		if i.file, err = os.ReadFile(w.Home.Warehouse()); err != nil {
			t.Fatal(err)
		}
	})
	if i.file == nil {
		t.Fatalf("the warehouse %s was not made, as another test says", name)
	}
	return i.file
}

// open opens a warehouse that begins as a file, or without anything.
func open(t testing.TB, file []byte) *schema.Warehouse {
	t.Helper()
	home := schema.Home{Dir: t.TempDir()}
	if file != nil {
		if err := os.WriteFile(home.Warehouse(), file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := schema.Open(t.Context(), home, schema.Options{Write: true, Defs: queries.Relations{}, Facts: &lazyFacts{}})
	if err != nil {
		t.Fatal(err)
	}
	quickly(t, w)
	return w
}

// quickly has a warehouse written in many small steps, side by side with others.
func quickly(t testing.TB, w *schema.Warehouse) {
	t.Helper()
	if _, err := w.DB.Exec("SET threads = 1; SET checkpoint_threshold = '1GB'"); err != nil {
		t.Fatal(err)
	}
}

// change changes what was captured of made-up runs, and all facts follow.
func change(t *testing.T, w *schema.Warehouse, stmts ...string) {
	t.Helper()
	testkit.Exec(t, w, strings.Join(stmts, ";\n"))
	testkit.DeriveOnly(t, w)
}

// load ingests paths as one run.
func load(t testing.TB, w *schema.Warehouse, run string, paths ...string) *ingest.Result {
	t.Helper()
	return loadWith(t, w, ingestload.Options{WithOSRT: true}, run, paths...)
}

func loadWith(t testing.TB, w *schema.Warehouse, o ingestload.Options, run string, paths ...string) *ingest.Result {
	t.Helper()
	o.Threads = 2
	// Each run here is a capture of its own; the repeat check is tested elsewhere.
	if _, err := w.DB.Exec(`UPDATE source SET sha256 = run_id::VARCHAR || source_id`); err != nil {
		t.Fatal(err)
	}
	res, err := ingest.Run(t.Context(), w, paths, ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Load: o})
	if err != nil {
		t.Fatal(err)
	}
	if !res.Made {
		t.Fatalf("%v: no run was made: %+v", paths, res)
	}
	return res
}

func query(t testing.TB, w *schema.Warehouse, name string, args queries.Args) *frame.Frame {
	t.Helper()
	q, err := queries.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := runQuery(t, w, q, args)
	if err != nil {
		t.Fatal(err)
	}
	return f
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

// queryNoted is query on a warehouse that does not change.
func queryNoted(t testing.TB, noted *queries.Asker, name string, args queries.Args) *frame.Frame {
	t.Helper()
	q, err := queries.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := noted.Run(t.Context(), q, args)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// raw, runQuery and asker are those of queries over facts that are current.
func raw(t testing.TB, w *schema.Warehouse, stmt string) (*frame.Frame, error) {
	t.Helper()
	derivedFor(t, w, stmt)
	return queries.Raw(t.Context(), w, stmt)
}

func runQuery(t testing.TB, w *schema.Warehouse, q queries.Query, args queries.Args) (*frame.Frame, error) {
	t.Helper()
	derivedFor(t, w, "FROM "+q.Relation(), append(slices.Clone(q.Notes), "source", "timeline")...)
	return queries.Run(t.Context(), w, q, args)
}

func asker(t testing.TB, w *schema.Warehouse) *queries.Asker {
	t.Helper()
	derived(t, w)
	return queries.NewAsker(w)
}
