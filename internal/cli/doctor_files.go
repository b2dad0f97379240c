package cli

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"prof/ingest"
	"prof/ingest/load"
	"prof/internal/scratch"
	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/table"
	"prof/render/typeset"
	"prof/schema"
)

// doctorFiles says what captures did not record. They are stored for that, in a folder that goes again.
func (p *program) doctorFiles(c *cli.Context) (err error) {
	temp, err := scratch.Make("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	w, err := p.openHome(c, schema.Home{Dir: filepath.Join(temp.Path, "home")}, true)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	spin := p.spin("reading")
	res, err := ingest.Run(c.Context, w, p.paths(c.Args().Slice()), ingest.Options{Name: "files", Now: time.Now(), ProfVersion: version(), Warn: p.warn, Load: load.Options{Threads: runtime.GOMAXPROCS(0), Progress: spin.rows}})
	spin.end()
	if err != nil {
		return err
	}
	p.sayUnread(res.Skipped)
	f, said, err := p.losses(c.Context, p.asker(w), res.Run)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = table.JSON(p.out, f, p.options(c))
	} else {
		err = p.printLosses(said)
	}
	if err == nil && len(f.Rows) > 0 {
		return exitStatus(exitFailed)
	}
	return err
}

// losses are what a run's captures did not record, and what that comes to in words, for each kind of capture. Most have none, and then nothing is asked about it.
func (p *program) losses(ctx context.Context, a *queries.Asker, run schema.Run) (*frame.Frame, []string, error) {
	args := queries.Args{"run": run.ID}
	frames, err := a.AskAll(ctx, []queries.Question{{Query: "losses", Args: args, Notes: frame.RowsOnly}})
	if err != nil {
		return nil, nil, err
	}
	var said []string
	kinds := map[string]bool{}
	for _, row := range frames[0].Rows {
		kind, _ := row[frames[0].Index("capture")].(string)
		if kinds[kind] {
			continue
		}
		kinds[kind] = true
		f, err := a.Ask(ctx, "losses", queries.Args{"run": run.ID, "source": kind})
		if err != nil {
			return nil, nil, err
		}
		for _, l := range judge.Losses(f) {
			if !slices.Contains(said, l.Text) {
				said = append(said, l.Text)
			}
		}
	}
	return frames[0], said, nil
}

func (p *program) printLosses(said []string) error {
	if len(said) == 0 {
		return p.wrapped("whole: ", "all launches have their GPU work, all work its launch, and every stream its order, as far as that is recorded")
	}
	for _, text := range said {
		if err := p.wrapped("not whole: ", typeset.Neutral(text)); err != nil {
			return err
		}
	}
	return nil
}
