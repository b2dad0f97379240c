package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ResolveAll finds the runs that ref means, oldest first and each once. It is what Resolve takes, but tag:key=value means every run
// with that tag, and several references may stand side by side with commas between them. A name with a comma in it is itself where
// there is such a run.
func (w *Warehouse) ResolveAll(ctx context.Context, ref string) ([]Run, error) {
	runs, err := w.Runs(ctx)
	if err != nil {
		return nil, err
	}
	found, err := w.resolveSet(ctx, runs, ref)
	if errors.Is(err, ErrUnknownRun) && strings.Contains(ref, ",") {
		found, err = w.resolveList(ctx, runs, ref)
	}
	if err != nil {
		return nil, err
	}
	var out []Run
	for _, r := range slices.Backward(runs) { // they are listed newest first
		if slices.ContainsFunc(found, func(f Run) bool { return f.ID == r.ID }) {
			out = append(out, r)
		}
	}
	return out, nil
}

// resolveList finds the runs of several references with commas between them.
func (w *Warehouse) resolveList(ctx context.Context, runs []Run, ref string) ([]Run, error) {
	var out []Run
	for part := range strings.SplitSeq(ref, ",") {
		if part = strings.TrimSpace(part); part == "" {
			return nil, fmt.Errorf("%w: %q has a comma too many", ErrUnknownRun, ref)
		}
		found, err := w.resolveSet(ctx, runs, part)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// resolveSet finds the runs of one reference.
func (w *Warehouse) resolveSet(ctx context.Context, runs []Run, ref string) ([]Run, error) {
	if !strings.HasPrefix(ref, "tag:") {
		r, err := w.resolve(ctx, runs, ref)
		return []Run{r}, err
	}
	key, value, ok := strings.Cut(strings.TrimPrefix(ref, "tag:"), "=")
	if !ok {
		return nil, fmt.Errorf("%w: %q; write tag:key=value", ErrUnknownRun, ref)
	}
	ids, err := texts(w.DB.QueryContext(ctx, `SELECT run_id::VARCHAR FROM run_tag WHERE key = ? AND value = ?`, key, value))
	if err != nil {
		return nil, err
	}
	var out []Run
	for _, r := range runs {
		if slices.Contains(ids, r.ID) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: none is tagged %s=%s", ErrUnknownRun, key, value)
	}
	return out, nil
}
