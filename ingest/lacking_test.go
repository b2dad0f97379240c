package ingest_test

import (
	"errors"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

// TestLackingFacts: where DuckDB's memory never suffices for the facts of a run, the run is stored all the same, and says so; who opens the warehouse to change
// it next derives them.
func TestLackingFacts(t *testing.T) {
	const small = "../testdata/forms/llama.sqlite.gz"
	some, err := derive.Behind("caveat", "timeline")
	if err != nil {
		t.Fatal(err)
	}
	const lacking = `SELECT count(*) FROM caveat WHERE kind = 'facts-lacking'`
	for name, way := range map[string]func(b *bench) string{
		"small": func(*bench) string { return small },
		"large": func(b *bench) string { return b.large(small) },
	} {
		t.Run(name, func(t *testing.T) {
			b, home := &bench{t: t, dir: t.TempDir()}, schema.Home{Dir: t.TempDir()}
			open := func(o schema.Options) {
				t.Helper()
				o.Defs, o.Facts = queries.Relations{}, some
				if b.w, err = schema.Open(t.Context(), home, o); err != nil {
					t.Fatal(err)
				}
			}
			end := func() {
				t.Helper()
				if err := b.w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			path := way(b)
			open(schema.Options{Write: true})
			b.w.Facts, b.w.Budget = failing{some, errors.New("Out of Memory Error: failed to pin block\n\nPossible solutions:\n* SET threads")}, schema.NewBudget(schema.LeastMemory)
			b.ok(ingest.Options{Name: "r"}, path)
			if n := len(b.warnings); n == 0 || !strings.Contains(b.warnings[n-1], "what follows from the captures of run r is missing") || strings.Contains(b.warnings[n-1], "SET threads") || !strings.Contains(b.warnings[n-1], "try it again with --memory 1GiB or more") {
				t.Errorf("warned %q", b.warnings)
			}
			b.expect(lacking, "1")
			b.expect(`SELECT count(*) FROM timeline`, "0")
			b.expect(`SELECT count(*) > 0 FROM kernel`, "true")
			b.w.Budget = schema.Budget{}
			if f, err := queries.NewAsker(b.w).Ask(t.Context(), "stages", queries.Args{"run": "r"}); err != nil || !strings.Contains(strings.Join(f.Notes, "\n"), "too little memory") {
				t.Errorf("stages: %v, %v", f, err)
			}
			end()
			open(schema.Options{AsIs: true})
			b.expect(lacking, "1")
			end()
			open(schema.Options{Write: true})
			b.expect(lacking, "0")
			b.expect(`SELECT count(*) FROM timeline`, "1")
			end()
		})
	}
}

// TestDerivedAnew: facts derived anew are the same, of a large run too, whose statements go on side by side.
func TestDerivedAnew(t *testing.T) {
	some, err := derive.Behind("caveat", "timeline", "work_sum")
	if err != nil {
		t.Fatal(err)
	}
	b, home := &bench{t: t, dir: t.TempDir()}, schema.Home{Dir: t.TempDir()}
	open := func() {
		t.Helper()
		if b.w, err = schema.Open(t.Context(), home, schema.Options{Write: true, Defs: queries.Relations{}, Facts: some}); err != nil {
			t.Fatal(err)
		}
	}
	open()
	b.ok(ingest.Options{Name: "r"}, "../testdata/forms/llama.sqlite.gz")
	want := b.numbered()
	defer func(usual int64) { schema.LargeRun = usual }(schema.LargeRun)
	for _, schema.LargeRun = range []int64{schema.LargeRun, 1} {
		_, err := b.w.DB.ExecContext(t.Context(), `DELETE FROM derivation`)
		if err = errors.Join(err, b.w.Close()); err != nil {
			t.Fatal(err)
		}
		open()
		if got := b.numbered(); got != want {
			t.Errorf("large from %d rows on:\n%s\nwant\n%s", schema.LargeRun, got, want)
		}
	}
	if err := b.w.Close(); err != nil {
		t.Fatal(err)
	}
}
