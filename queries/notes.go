package queries

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/schema"
)

// Notes gives what a reader of a query's rows must know of the run and source in its arguments, of the given kinds: those of the
// query _run-note, or one with a query of its own.
func Notes(ctx context.Context, w *schema.Warehouse, args Args, kinds ...string) ([]string, error) {
	return notesBy(kinds, func(q Query, kinds ...string) (map[string][]string, error) {
		return readNotes(ctx, w, q, args, kinds...)
	})
}

// notesBy gives the notes of some kinds; ask gives those of a query of notes by kind, of one with kinds those given at least.
func notesBy(kinds []string, ask func(q Query, kinds ...string) (map[string][]string, error)) ([]string, error) {
	own, plain, err := noteQueries(kinds)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, q := range own {
		notes, err := ask(q)
		if err != nil {
			return nil, err
		}
		out = append(out, notes[""]...)
	}
	if len(plain) == 0 {
		return out, nil
	}
	shared, err := sharedNotes()
	if err != nil {
		return nil, err
	}
	notes, err := ask(shared, plain...)
	if err != nil {
		return nil, err
	}
	return append(out, ofKinds(notes, plain)...), nil
}

// noteQueries sorts kinds of notes: those with a query of their own, and the rest.
func noteQueries(kinds []string) (own []Query, plain []string, err error) {
	all, err := All()
	if err != nil {
		return nil, nil, err
	}
	for _, k := range kinds {
		if q, found := named(all, "_note-"+k); found {
			own = append(own, q)
		} else {
			plain = append(plain, k)
		}
	}
	return own, plain, nil
}

// sharedNotes is the query of the kinds that have none of their own.
func sharedNotes() (Query, error) {
	all, err := All()
	if err != nil {
		return Query{}, err
	}
	q, found := named(all, "_run-note")
	if !found {
		return Query{}, fmt.Errorf("%w: _run-note", ErrUnknownQuery)
	}
	return q, nil
}

// readNotes asks a query of notes and gives its notes by kind, those of a query without kinds as "". Of a query with kinds it asks
// only those given, or all of them.
func readNotes(ctx context.Context, w *schema.Warehouse, q Query, args Args, kinds ...string) (map[string][]string, error) {
	stmt, err := q.Statement(q.taken(args))
	if err != nil {
		return nil, err
	}
	kind, where := "''", ""
	if slices.ContainsFunc(q.Columns, func(c [2]string) bool { return c[0] == "kind" }) {
		kind = "kind"
		if len(kinds) > 0 {
			quoted := make([]string, len(kinds))
			for i, k := range kinds {
				quoted[i] = schema.Quote(k)
			}
			where = fmt.Sprintf("WHERE kind IN (%s)", strings.Join(quoted, ", "))
		}
	}
	f, err := read(ctx, w, fmt.Sprintf("SELECT %s, note FROM (%s) %s ORDER BY ALL", kind, stmt, where))
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, r := range f.Rows {
		out[r[0].(string)] = append(out[r[0].(string)], r[1].(string))
	}
	return out, nil
}

// ofKinds gives the notes of some kinds in order.
func ofKinds(notes map[string][]string, kinds []string) []string {
	var out []string
	for _, k := range slices.Compact(slices.Sorted(slices.Values(kinds))) {
		out = append(out, notes[k]...)
	}
	slices.Sort(out)
	return out
}

// taken gives those of the arguments that the query takes.
func (q Query) taken(args Args) Args {
	out := Args{}
	for _, p := range q.Params {
		if v, given := args[p.Name]; given {
			out[p.Name] = v
		}
	}
	return out
}
