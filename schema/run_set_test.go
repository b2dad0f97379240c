package schema_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/internal/testkit"
	"prof/schema"
)

func names(runs []schema.Run) []string {
	var out []string
	for _, r := range runs {
		out = append(out, r.Name)
	}
	return out
}

// TestResolveAll holds which runs a reference means where several may be meant, and in which order.
func TestResolveAll(t *testing.T) {
	w := threeRuns(t)
	testkit.Exec(t, w, `INSERT INTO run_tag VALUES (?::UUID, 'list', 'a,b')`, idC)
	baseline(t, w, "main", "base")
	for _, c := range []struct {
		ref  string
		want []string
		err  error
		says string
	}{
		{"base", []string{"base"}, nil, ""},
		{"@latest", []string{"fast 2=x"}, nil, ""},
		{"baseline:main", []string{"base"}, nil, ""},
		{"tag:gpu=h200", []string{"base", "baseline"}, nil, ""}, // oldest first
		{"tag:list=a,b", []string{"fast 2=x"}, nil, ""},
		{"fast 2=x,base", []string{"base", "fast 2=x"}, nil, ""},
		{" @latest , tag:gpu=h200,base", []string{"base", "baseline", "fast 2=x"}, nil, ""}, // each once
		{"tag:gpu=h200,baseline:main", []string{"base", "baseline"}, nil, ""},
		{"", nil, schema.ErrUnknownRun, "empty"},
		{"base,", nil, schema.ErrUnknownRun, "comma too many"},
		{",", nil, schema.ErrUnknownRun, "comma too many"},
		{"base,nosuch", nil, schema.ErrUnknownRun, `"nosuch"`},
		{"bas", nil, schema.ErrAmbiguousRun, "could be"},
		{"tag:gpu=h100", nil, schema.ErrUnknownRun, "none is tagged gpu=h100"},
		{"tag:gpu", nil, schema.ErrUnknownRun, "write tag:key=value"},
		{"baseline:mian", nil, schema.ErrUnknownRun, "did you mean main?"},
	} {
		runs, err := w.ResolveAll(t.Context(), c.ref)
		if !slices.Equal(names(runs), c.want) || !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q means %q, %v; want %q, %v %s", c.ref, names(runs), err, c.want, c.err, c.says)
		}
	}
}

// TestResolveAllWithComma: a run whose name holds a comma is itself, not two.
func TestResolveAllWithComma(t *testing.T) {
	w := threeRuns(t)
	testkit.Exec(t, w, `UPDATE run SET name = 'a,base' WHERE name = 'baseline'`)
	runs, err := w.ResolveAll(t.Context(), "a,base")
	if err != nil || !slices.Equal(names(runs), []string{"a,base"}) {
		t.Errorf("it means %q, %v", names(runs), err)
	}
}

// baseline sets a baseline.
func baseline(t *testing.T, w *schema.Warehouse, name, ref string) {
	t.Helper()
	r, err := w.Resolve(t.Context(), ref)
	if err == nil {
		err = w.SetBaseline(t.Context(), name, r, time.Date(2025, 2, 1, 12, 0, 0, 0, time.UTC))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestBaselines: a name has one run, a run any number of names, and both go when they should.
func TestBaselines(t *testing.T) {
	w := threeRuns(t)
	if _, err := w.Resolve(t.Context(), "baseline:main"); !errors.Is(err, schema.ErrUnknownRun) || !strings.Contains(err.Error(), "no baseline is set; `prof baseline set main RUN` sets it") {
		t.Errorf("without any: %v", err)
	}
	baseline(t, w, "main", "base")
	baseline(t, w, "release/1.2", "base")
	baseline(t, w, "main", "baseline") // takes it from the other
	list := func() []string {
		all, err := w.Baselines(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, b := range all {
			out = append(out, b.Name+" "+b.Run.Name+" "+b.SetAt.Format(time.DateTime))
		}
		return out
	}
	if got, want := list(), []string{"main baseline 2025-02-01 12:00:00", "release/1.2 base 2025-02-01 12:00:00"}; !slices.Equal(got, want) {
		t.Errorf("the baselines are %q, want %q", got, want)
	}
	if _, err := w.Resolve(t.Context(), "main"); !errors.Is(err, schema.ErrUnknownRun) || err.Error() != `no such run: "main"; a baseline has that name: write baseline:main` {
		t.Errorf("a baseline in place of a run: %v", err)
	}
	if r, err := w.Resolve(t.Context(), "baseline"); err != nil || r.Name != "baseline" {
		t.Errorf("a run goes before: %q, %v", r.Name, err)
	}
	for ref, want := range map[string]string{"baseline:main": "baseline", "baseline:release/1.2": "base"} {
		if r, err := w.Resolve(t.Context(), ref); err != nil || r.Name != want {
			t.Errorf("%s is %q, %v", ref, r.Name, err)
		}
	}
	tx, err := w.DB.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Clear(t.Context(), tx, idA); err != nil { // what makes a run anew keeps its name
		t.Fatal(err)
	}
	exec := `INSERT INTO run VALUES (?::UUID, 'base', now()::TIMESTAMP, NULL, NULL, NULL, 'test')`
	if _, err := tx.Exec(exec, idA); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := list(); len(got) != 2 {
		t.Errorf("after a run was made anew the baselines are %q", got)
	}
	r, err := w.Resolve(t.Context(), "baseline:main")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Remove(t.Context(), r); err != nil { // with the run goes its name
		t.Fatal(err)
	}
	if got := testkit.Rows(t, w, `SELECT name FROM baseline`); !slices.Equal(got, []string{"release/1.2"}) {
		t.Errorf("after its run was removed the baselines are %q", got)
	}
	b, err := w.FindBaseline(t.Context(), "release/1.2")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveBaseline(t.Context(), b); err != nil || len(list()) != 0 {
		t.Errorf("after it was removed the baselines are %q, %v", list(), err)
	}
	if _, err := w.Resolve(t.Context(), "base"); err != nil {
		t.Errorf("its run went with it: %v", err)
	}
}

func TestBaselineNames(t *testing.T) {
	for _, name := range []string{"main", "release/1.2", "0", "_x", "größe", "a+b-c"} {
		if err := schema.CheckBaselineName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "a,b", "a b", "@latest", "-x", "a\n", "a:b", "\xff"} {
		if err := schema.CheckBaselineName(name); err == nil || !strings.Contains(err.Error(), "such as main") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestUnfinished: what an ingest that was killed stored is deleted by whoever opens the warehouse for writing next; readers leave it.
func TestUnfinished(t *testing.T) {
	for _, write := range []bool{false, true} {
		home := fresh(t)
		rows := func(run string) string {
			return `INSERT INTO source (run_id, source_id, kind, form, path, size_bytes, sha256, row_count, status) VALUES ('` + run + `', 1, 'nsys', 'sqlite', 'a.sqlite', 1, 'x', 1, 'ok');
				INSERT INTO process (run_id, source_id, pid) SELECT '` + run + `', 1, 7`
		}
		change(t, home, rows(idA), `INSERT INTO run (run_id, name, created_at, prof_version) VALUES ('`+idA+`', 'whole', now()::TIMESTAMP, 'x')`)
		done(t, open(t, home, true, nil)) // derives facts, which no reader may
		change(t, home, rows(idB))
		done(t, open(t, home, write, nil))
		w := open(t, home, false, nil)
		got := testkit.Rows(t, w, `SELECT run_id::VARCHAR FROM source UNION ALL SELECT run_id::VARCHAR FROM process`)
		done(t, w)
		want := []string{idA, idA}
		if !write {
			want = append(want, idB, idB)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("opened for writing: %v: %q are left, want %q", write, got, want)
		}
	}
}
