package queries

import (
	"context"

	"prof/schema"
)

// Noted runs queries over a warehouse that does not change, and asks each kind of note once for the same arguments: many queries have
// the same notes, and planning those takes longer than planning the query.
type Noted struct {
	w     *schema.Warehouse
	known map[string][]string
}

// NewNoted is for one goroutine.
func NewNoted(w *schema.Warehouse) *Noted { return &Noted{w, map[string][]string{}} }

// Run gives what the function of that name gives, with the notes in the order of their kinds.
func (n *Noted) Run(ctx context.Context, q Query, args Args) (*Frame, error) {
	return run(ctx, n.w, q, args, n.notes)
}

func (n *Noted) notes(ctx context.Context, w *schema.Warehouse, args Args, kinds ...string) ([]string, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, kind := range kinds {
		asked, found := newest(all, "_note-"+kind)
		if !found {
			asked, _ = newest(all, "_run-note")
		}
		stmt, err := asked.Statement(asked.taken(args))
		if err != nil {
			return nil, err
		}
		key := kind + " " + stmt
		if _, found := n.known[key]; !found {
			if n.known[key], err = Notes(ctx, w, args, kind); err != nil {
				return nil, err
			}
		}
		out = append(out, n.known[key]...)
	}
	return out, nil
}
