package trend

import (
	"prof/queries/frame"
)

// Frame returns every point of every series with the changes at it: what csv holds, and what tables show. Columns are in base units; that of
// the metric bears its name.
func (r *Result) Frame() *frame.Frame {
	of := frame.Column{Name: "stage", Doc: "stage; (run) is all device work of a run without stages"}
	metric := "median over the measured passes; mfu_ratio, mbu_ratio and tokens_per_s are of the median pass"
	passes := frame.Column{Name: "passes", Type: frame.Int, Doc: "measured passes"}
	if r.Options.Metric.IsServing() {
		of = frame.Column{Name: "load", Doc: "load of the benchmark: requests per second, requests at once at most, mean tokens of prompts and answers"}
		metric = "as the load generator measured it; median over the benchmarks that the run has under this load"
		passes = frame.Column{Name: "benchmarks", Type: frame.Int, Doc: "benchmarks of the run under this load that have the metric"}
	}
	f := &frame.Frame{Query: "trend", Version: 1, Notes: r.Notes, Columns: []frame.Column{
		{Name: "run", Doc: "name of the run"},
		of,
		{Name: string(r.Options.Metric), Type: frame.Float, Unit: r.Options.Metric.Unit(), Doc: metric},
		{Name: "change", Doc: "change: first run at a new level; suspect: first of the latest runs that look different, too few to confirm; empty otherwise"},
		{Name: "effect_ratio", Type: frame.Float, Unit: frame.Ratio, Doc: "new level / old level - 1"},
		{Name: "level", Type: frame.Float, Unit: r.Options.Metric.Unit(), Doc: "level at this run: median over the runs between two changes"},
		{Name: "mean", Type: frame.Float, Unit: r.Options.Metric.Unit(), Doc: "mean over the measured passes, or benchmarks"},
		{Name: "std", Type: frame.Float, Unit: r.Options.Metric.Unit(), Doc: "sample standard deviation (n-1) over the measured passes, or benchmarks"},
		passes,
		{Name: "at", Doc: "UTC start of the capture; if unknown, of the ingest"},
		{Name: "commit", Doc: "git commit of the working folder"},
		{Name: "branch", Doc: "git branch of the working folder"},
		{Name: "is_dirty", Type: frame.Bool, Doc: "whether the working folder had uncommitted changes"},
		{Name: "driver", Doc: "version of the GPU driver"},
		{Name: "gpu", Doc: "GPU"},
		{Name: "tool", Doc: "tool that captured the run, or the load generator"},
		{Name: "tool_version", Doc: "version of that tool"},
		{Name: "host", Doc: "machine of the capture"},
		{Name: "prof_version", Doc: "version of prof that ingested the run"},
		{Name: "prompt_token_count", Type: frame.Int, Unit: frame.Count, Doc: "prompt tokens per pass"},
		{Name: "decode_token_count", Type: frame.Int, Unit: frame.Count, Doc: "decoded tokens per pass"},
		{Name: "sequence_count", Type: frame.Int, Unit: frame.Count, Doc: "sequences per pass"},
		{Name: "series", Type: frame.Int, Doc: "1, 2, ...: runs of a stage or load with the same number can be compared"},
		{Name: "run_id", Doc: "id of the run"},
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
