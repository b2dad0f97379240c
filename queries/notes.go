package queries

import (
	"context"
	"fmt"
	"strings"

	"prof/schema"
)

// Notes gives what a reader of a query's rows must know of the run and source in its arguments, of the given kinds: those of the
// query _run-note, or one with a query of its own.
func Notes(ctx context.Context, w *schema.Warehouse, args Args, kinds ...string) ([]string, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var out, plain []string
	ask := func(q Query, where string) error {
		stmt, err := q.Statement(q.taken(args))
		if err != nil {
			return err
		}
		f, err := read(ctx, w, fmt.Sprintf("SELECT note FROM (%s) %s ORDER BY ALL", stmt, where))
		if err != nil {
			return err
		}
		for _, r := range f.Rows {
			out = append(out, r[0].(string))
		}
		return nil
	}
	for _, k := range kinds {
		if own, found := newest(all, "_note-"+k); !found {
			plain = append(plain, schema.Quote(k))
		} else if err := ask(own, ""); err != nil {
			return nil, err
		}
	}
	if len(plain) == 0 {
		return out, nil
	}
	notes, found := newest(all, "_run-note")
	if !found {
		return nil, fmt.Errorf("%w: _run-note", ErrUnknownQuery)
	}
	return out, ask(notes, fmt.Sprintf("WHERE kind IN (%s)", strings.Join(plain, ", ")))
}

// newest gives the newest version of a query, a private one too.
func newest(all []Query, name string) (q Query, found bool) {
	for _, other := range all { // in the order of versions
		if other.Name == name {
			q, found = other, true
		}
	}
	return q, found
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
