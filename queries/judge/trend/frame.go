package trend

import (
	"prof/queries/frame"
)

// Frame gives every point of every series with the changes at it: what csv holds, and what tables show. Columns are in base units; that of
// the metric bears its name.
func (r *Result) Frame() *frame.Frame {
	f := &frame.Frame{Query: "trend", Version: 1, Notes: r.Notes, Columns: []frame.Column{
		{Name: "run", Doc: "the run's name"},
		{Name: "stage", Doc: "the stage; (run): all device work of a run without stages"},
		{Name: string(r.Options.Metric), Type: frame.Float, Unit: r.Options.Metric.Unit(), Doc: "median over the measured passes; of mfu_ratio, mbu_ratio and tokens_per_s that of all passes"},
		{Name: "change", Doc: "change: the first run of a new level; suspect: the first of a few last runs that are off, not confirmed; empty for none"},
		{Name: "effect_ratio", Type: frame.Float, Unit: frame.Ratio, Doc: "level from here on, divided by the level before, less 1"},
		{Name: "level", Type: frame.Float, Unit: r.Options.Metric.Unit(), Doc: "median of the runs between two changes that it is of, in the unit of the metric"},
		{Name: "mean", Type: frame.Float, Unit: r.Options.Metric.Unit(), Doc: "mean over the measured passes"},
		{Name: "std", Type: frame.Float, Unit: r.Options.Metric.Unit(), Doc: "their sample standard deviation (n-1)"},
		{Name: "passes", Type: frame.Int, Doc: "measured passes"},
		{Name: "at", Doc: "UTC time at which its capture began, or of the ingest"},
		{Name: "commit", Doc: "commit of the working folder's repository"},
		{Name: "branch", Doc: "its branch"},
		{Name: "is_dirty", Type: frame.Bool, Doc: "whether it held changes that were not committed"},
		{Name: "driver", Doc: "version of the GPU's driver"},
		{Name: "gpu", Doc: "GPU"},
		{Name: "tool", Doc: "what captured it"},
		{Name: "tool_version", Doc: "its version"},
		{Name: "host", Doc: "machine that it was captured on"},
		{Name: "prof_version", Doc: "version of prof that ingested it"},
		{Name: "prompt_token_count", Type: frame.Int, Unit: frame.Count, Doc: "tokens of the prompts of each pass"},
		{Name: "decode_token_count", Type: frame.Int, Unit: frame.Count, Doc: "decoded tokens of each pass"},
		{Name: "sequence_count", Type: frame.Int, Unit: frame.Count, Doc: "sequences of each pass"},
		{Name: "series", Type: frame.Int, Doc: "1, 2, ...: runs of a stage that can be compared bear the same number"},
		{Name: "run_id", Doc: "the run's id"},
	}}
	marks := map[[2]int]Change{}
	for _, c := range r.Changes {
		if c.Item == nil {
			marks[[2]int{c.Series, c.Point}] = c
		}
	}
	for i, s := range r.Series {
		for j, p := range s.Points {
			run := r.Runs[p.Run]
			cells := []any{run.Name, s.Stage, number(p.Value), nil, nil, s.levelAt(j), number(p.Mean), number(p.Std), p.Passes, run.At, text(run.Commit), text(run.Branch), nil, text(run.Driver), text(s.Same.GPU),
				text(s.Same.Tool), text(run.ToolVersion), text(run.Host), text(run.ProfVersion), whole(s.Same.Prompt), whole(s.Same.Decode), whole(s.Same.Sequences), int64(i + 1), run.ID}
			if run.Dirty != nil {
				cells[12] = *run.Dirty
			}
			if c, is := marks[[2]int{i, j}]; is {
				cells[3], cells[4] = "change", number(c.Effect)
				if c.Suspect {
					cells[3] = "suspect"
				}
			}
			f.Rows = append(f.Rows, cells)
		}
	}
	return f
}

// levelAt is the level that a point is of; nil in a series without values.
func (s Series) levelAt(point int) any {
	for _, l := range s.Levels {
		if l.From <= point && point <= l.To {
			return l.Median
		}
	}
	return nil
}

func number(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

func whole(v *int64) any {
	if v == nil {
		return nil
	}
	return *v
}

func text(v string) any {
	if v == "" {
		return nil
	}
	return v
}
