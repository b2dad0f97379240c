package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Digest names all that a warehouse has of a run, but its tags and baselines: while it stays the same in a process, so does what is asked of the run, however often
// the warehouse was written. Each row is hashed, which takes some tenths of a second for ten million: what wrote a row, and why, need not be known.
func (w *Warehouse) Digest(ctx context.Context, runID string) (string, error) {
	tables, err := runTables(ctx, w.DB)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, t := range tables {
		if !slices.Contains([]string{"run_tag", "baseline"}, t) {
			parts = append(parts, fmt.Sprintf(`SELECT '%s ' || count(*) || ' ' || coalesce(sum(hash(t)), 0) AS digest FROM %[1]s t WHERE run_id = %s::UUID`, t, Quote(runID)))
		}
	}
	lines, err := texts(w.DB.QueryContext(ctx, strings.Join(parts, "\nUNION ALL ")+"\nORDER BY digest"))
	if err != nil {
		return "", fmt.Errorf("digest of run %s: %w", runID, err)
	}
	return md5Of(strings.Join(lines, "\n")), nil
}
