package compare

import (
	"io"

	"prof/queries/frame"
	"prof/queries/judge/trend"
	"prof/render/typeset"
	"prof/render/words"
)

// TrendJSON writes a trend as TrendForm.
func TrendJSON(w io.Writer, r *trend.Result, o TrendOptions) error {
	return typeset.WriteIndented(w, TrendForm{
		Version: 1, Workload: r.Workload, Command: typeset.Optional(o.Command), Metric: r.Options.Metric, Unit: r.Options.Metric.Unit(),
		Alpha: typeset.Number(r.Options.Alpha), MinEffectRatio: typeset.Number(r.Options.MinEffect), Runs: typeset.Each(r.Runs, trendRunForm), Series: typeset.Each(r.Series, seriesForm),
		Changes: typeset.Each(r.Changes, func(c trend.Change) ChangeForm { return changeForm(r, c, words.ChangeHeadline(r, c)) }),
		Notes:   typeset.Listed(r.Notes), Queries: typeset.Each(r.Queries, func(q trend.Source) QueryForm { return QueryForm{q.Query, q.SQL} }),
	})
}

// TrendForm is a workload over time as JSON. Times are in ns, changes are ratios (0.01 is 1 %), places are counted from 0, what is not known is null.
type TrendForm struct {
	Version        int            `json:"version" doc:"of this form: raised when a key goes or changes its meaning"`
	Workload       string         `json:"workload" doc:"what the workload is known by"`
	Command        *string        `json:"command"`
	Metric         trend.Metric   `json:"metric" doc:"what is followed"`
	Unit           frame.Unit     `json:"unit"`
	Alpha          typeset.Number `json:"alpha" doc:"probability of calling noise a change"`
	MinEffectRatio typeset.Number `json:"min_effect_ratio" doc:"smaller changes count as none"`
	Runs           []TrendRunForm `json:"runs" nullable:"false" doc:"oldest first"`
	Series         []SeriesForm   `json:"series" nullable:"false" doc:"stages over runs that can be compared, that of the latest run first"`
	Changes        []ChangeForm   `json:"changes" nullable:"false" doc:"where the level changed, by the first run of the new one"`
	Notes          []string       `json:"notes" nullable:"false" doc:"what a reader must know of the figures"`
	Queries        []QueryForm    `json:"queries" nullable:"false" doc:"what the figures are from"`
}

// QueryForm is a query that figures are from.
type QueryForm struct {
	Query string `json:"query" doc:"name.vN"`
	SQL   string `json:"sql"`
}

// TrendRunForm is a run with its provenance.
type TrendRunForm struct {
	Run         string  `json:"run" doc:"run name"`
	RunID       string  `json:"run_id"`
	At          string  `json:"at" doc:"start of the capture, or of the ingest, UTC"`
	Commit      *string `json:"commit"`
	Branch      *string `json:"branch"`
	IsDirty     *bool   `json:"is_dirty" doc:"it had changes that were not committed"`
	Driver      *string `json:"driver"`
	Host        *string `json:"host"`
	ToolVersion *string `json:"tool_version" doc:"of the profiler"`
	ProfVersion *string `json:"prof_version"`
}

// SeriesForm is a stage over the runs that can be compared: on the same GPU, with the same tokens, captured by the same tool.
type SeriesForm struct {
	Stage            string           `json:"stage" doc:"of a metric of serving the load"`
	GPU              *string          `json:"gpu"`
	Tool             *string          `json:"tool"`
	PromptTokenCount *int64           `json:"prompt_token_count" doc:"of a pass; null too where passes differ"`
	DecodeTokenCount *int64           `json:"decode_token_count"`
	SequenceCount    *int64           `json:"sequence_count"`
	IsVarying        bool             `json:"is_varying" doc:"tokens or sequences differ between the passes of a run"`
	IsLatest         bool             `json:"is_latest" doc:"it has the latest run of the stage"`
	Points           []PointForm      `json:"points" nullable:"false"`
	Levels           []LevelForm      `json:"levels" nullable:"false"`
	Items            []SeriesItemForm `json:"items" nullable:"false" doc:"kernels, copies, graphs and idle time, those that take most first"`
}

// PointForm is a stage in one run.
type PointForm struct {
	Run    int      `json:"run" doc:"place in runs"`
	Value  *float64 `json:"value" doc:"of the metric"`
	Mean   *float64 `json:"mean"`
	Std    *float64 `json:"std"`
	Passes int64    `json:"passes" doc:"of a metric of serving benchmarks"`
}

// LevelForm is a stretch of points between two changes.
type LevelForm struct {
	From   int            `json:"from" doc:"place in points"`
	To     int            `json:"to" doc:"place in points, inclusive"`
	Median typeset.Number `json:"median"`
}

// SeriesItemForm is a part of a stage over its points.
type SeriesItemForm struct {
	Kind            string     `json:"kind"`
	Name            string     `json:"name"`
	Family          *string    `json:"family"`
	PassNs          []*float64 `json:"pass_ns" nullable:"false" doc:"time of a pass at each point"`
	PassLaunchCount []*float64 `json:"pass_launch_count" nullable:"false" doc:"launches of a pass at each point"`
}

// ChangeForm is a change of a stage or, with item_kind and item_name, of an item.
type ChangeForm struct {
	_             struct{}              `nullable:"true"`
	Series        int                   `json:"series" doc:"place in series"`
	ItemKind      *string               `json:"item_kind"`
	ItemName      *string               `json:"item_name"`
	First         int                   `json:"first" doc:"place in runs: the first at the new level"`
	Last          int                   `json:"last" doc:"place in runs: the last at the old level"`
	Before        typeset.Number        `json:"before" doc:"median of the old level"`
	After         typeset.Number        `json:"after" doc:"median of the new level"`
	EffectRatio   *float64              `json:"effect_ratio" doc:"after / before - 1"`
	P             *float64              `json:"p" doc:"probability of such a change in noise"`
	IsSuspect     bool                  `json:"is_suspect" doc:"only the last runs differ: too few to know a new level from outliers"`
	Verdict       trend.Verdict         `json:"verdict" enum:"better,worse"`
	Words         string                `json:"words"`
	CallsBefore   *float64              `json:"calls_before" doc:"of an item: launches of a pass in last"`
	CallsAfter    *float64              `json:"calls_after" doc:"of an item: launches of a pass in first"`
	Moved         []ChangeForm          `json:"moved" nullable:"false" doc:"of a stage: items that surely moved with it"`
	LargestUnsure *ChangeForm           `json:"largest_unsure" doc:"of a stage: the item that changed most without being sure"`
	Differences   []TrendDifferenceForm `json:"differences" nullable:"true" doc:"what else differs between last and first; null where that was not looked up"`
}

// TrendDifferenceForm is a condition in which two runs differ.
type TrendDifferenceForm struct {
	Aspect string  `json:"aspect"`
	Before *string `json:"before"`
	After  *string `json:"after"`
	Weight string  `json:"weight"`
}

func trendRunForm(run trend.Run) TrendRunForm {
	return TrendRunForm{
		Run: run.Name, RunID: run.ID, At: run.At, Commit: typeset.Optional(run.Commit), Branch: typeset.Optional(run.Branch), IsDirty: run.Dirty,
		Driver: typeset.Optional(run.Driver), Host: typeset.Optional(run.Host), ToolVersion: typeset.Optional(run.ToolVersion), ProfVersion: typeset.Optional(run.ProfVersion),
	}
}

func seriesForm(s trend.Series) SeriesForm {
	return SeriesForm{
		Stage: s.Stage, GPU: typeset.Optional(s.Same.GPU), Tool: typeset.Optional(s.Same.Tool),
		PromptTokenCount: s.Same.Prompt, DecodeTokenCount: s.Same.Decode, SequenceCount: s.Same.Sequences, IsVarying: s.Same.Varying, IsLatest: s.Latest,
		Points: typeset.Each(s.Points, func(p trend.Point) PointForm {
			return PointForm{p.Run, typeset.Finite(p.Value), typeset.Finite(p.Mean), typeset.Finite(p.Std), p.Passes}
		}),
		Levels: typeset.Each(s.Levels, func(l trend.Level) LevelForm { return LevelForm{l.From, l.To, typeset.Number(l.Median)} }),
		Items: typeset.Each(s.Items, func(it trend.Item) SeriesItemForm {
			return SeriesItemForm{it.Kind, it.Name, typeset.Optional(it.Family), typeset.Each(it.Values, typeset.Finite), typeset.Each(it.Calls, typeset.Finite)}
		}),
	}
}

func changeForm(r *trend.Result, c trend.Change, text string) ChangeForm {
	part := func(c trend.Change) ChangeForm { // in words that say no more than its part of the stage's change
		return changeForm(r, c, words.TrendItem(*c.Item, words.ItemWidth)+" "+words.ItemMoved(c))
	}
	f := ChangeForm{
		Series: c.Series, First: c.First, Last: c.Last, Before: typeset.Number(c.Before), After: typeset.Number(c.After), EffectRatio: typeset.Finite(c.Effect),
		P: typeset.Finite(&c.P), IsSuspect: c.Suspect, Verdict: c.Verdict, Words: text,
		CallsBefore: typeset.Finite(c.CallsBefore), CallsAfter: typeset.Finite(c.CallsAfter), Moved: typeset.Each(c.Moved, part),
	}
	if c.Item != nil {
		f.ItemKind, f.ItemName = typeset.Optional(c.Item.Kind), typeset.Optional(c.Item.Name)
	}
	if c.Largest != nil {
		largest := part(*c.Largest)
		f.LargestUnsure = &largest
	}
	if c.Asked {
		f.Differences = typeset.Each(c.Provenance, func(d trend.Difference) TrendDifferenceForm {
			return TrendDifferenceForm{d.Aspect, typeset.Optional(d.Before), typeset.Optional(d.After), d.Weight}
		})
	}
	return f
}
