package ledger

import (
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
)

// TestRows holds every type that reads answers to the columns of its query, with and without the options that add some.
func TestRows(t *testing.T) {
	w := testkit.All(t)
	runs, err := w.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(q queries.Query, withAll bool) *frame.Frame {
		args := queries.Args{}
		for _, p := range q.Params {
			switch {
			case p.Name == "run":
				args["run"] = runs[0].ID
			case p.Default == "":
				args[p.Name] = map[string]string{"BIGINT": "0", "DOUBLE": "0", "BOOLEAN": "false", "VARCHAR": "x"}[p.Type]
			}
		}
		for _, o := range q.Optional {
			if withAll {
				args[o[1]] = "true"
			}
		}
		f, err := queries.Run(t.Context(), w, q, args)
		if err != nil {
			t.Fatalf("%s: %v", q.Name, err)
		}
		return f
	}
	list := frame.Declarations()
	for _, d := range list {
		q, err := queries.Find(d.Query)
		if err != nil {
			t.Errorf("%s: %v", d.Type, err)
			continue
		}
		if err := d.Check(ask(q, true), ask(q, false)); err != nil {
			t.Error(err)
		}
	}
	if len(list) < 20 {
		t.Errorf("only %d types are declared", len(list))
	}
}

// TestRowsOfCaptures reads what each type reads of some captures, or with -whole of all: no column has NULL where a type takes none.
func TestRowsOfCaptures(t *testing.T) {
	w := testkit.All(t)
	runs, err := w.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	read := map[string][]frame.Declaration{}
	for _, d := range frame.Declarations() {
		read[d.Query] = append(read[d.Query], d)
	}
	a := queries.NewAsker(w)
	for query, list := range read {
		q, err := queries.Find(query)
		if err != nil || !q.TakesRun() || !isOptional(q.Params[1:]) {
			continue
		}
		for _, run := range newPage(t, "queries/"+query).choose(runs) {
			f, err := a.Ask(t.Context(), query, queries.Args{"run": run.ID})
			if err != nil {
				t.Errorf("%s of %s: %v", query, run.Name, err)
				continue
			}
			for _, d := range list {
				if err := d.Read(f); err != nil {
					t.Errorf("%s: %v", run.Name, err)
				}
			}
		}
	}
}

func isOptional(list []queries.Param) bool {
	for _, p := range list {
		if p.Default == "" {
			return false
		}
	}
	return true
}
