package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/queries"
	"prof/schema"
)

// digestRun makes what comparisons read of a run that an ingest made or added to. An interrupt does not stop it: the run is stored, and an
// interrupted program says that nothing was changed.
func digestRun(ctx context.Context, w *schema.Warehouse, res *ingest.Result) error {
	if err := queries.Digest(context.WithoutCancel(ctx), w, res.Run.ID); err != nil {
		return fmt.Errorf("run %s is stored, but %w", res.Run.Name, err)
	}
	return nil
}

// openDigested opens the warehouse for reading and gives the runs that need finds in it, each with its digest: where some are missing or
// made by other rules, it is opened for writing in between and they are made. The caller closes the warehouse.
func (p *program) openDigested(c *cli.Context, need func(w *schema.Warehouse) ([]schema.Run, error)) (*schema.Warehouse, []schema.Run, error) {
	w, runs, missing, err := p.openNeeded(c, need)
	if err != nil || len(missing) == 0 {
		return w, runs, err
	}
	if err := w.Close(); err != nil { // the one that writes must be alone
		return nil, nil, err
	}
	if err := p.makeDigests(c, missing); err != nil {
		return nil, nil, fmt.Errorf("%d of the runs have no digest yet, which is written to the warehouse once: %w", len(missing), err)
	}
	w, runs, missing, err = p.openNeeded(c, need)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("another process changed the runs or the rules meanwhile (%d runs have no digest): try again", len(missing))
		closing(w, &err)
	}
	return w, runs, err
}

// openNeeded opens the warehouse for reading and says which of the runs have no digest.
func (p *program) openNeeded(c *cli.Context, need func(w *schema.Warehouse) ([]schema.Run, error)) (w *schema.Warehouse, runs []schema.Run, missing []string, err error) {
	if w, err = p.open(c, false); err != nil {
		return nil, nil, nil, err
	}
	defer func() {
		if err != nil {
			closing(w, &err)
			w, runs = nil, nil
		}
	}()
	if runs, err = need(w); err != nil {
		return w, nil, nil, err
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	missing, err = queries.Digested(c.Context, w, ids)
	return w, runs, missing, err
}

// makeDigests opens the warehouse for writing and makes the digests of runs.
func (p *program) makeDigests(c *cli.Context, ids []string) (err error) {
	w, err := p.open(c, true)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	var progress func(done, all int)
	if isTerminal(p.err) {
		defer fmt.Fprint(p.err, "\r\x1b[K")
		progress = func(done, all int) { fmt.Fprintf(p.err, "\r\x1b[Kprof: digest of run %d of %d", done+1, all) }
	}
	return queries.EnsureDigests(c.Context, w, ids, progress)
}
