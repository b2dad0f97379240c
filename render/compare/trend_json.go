package compare

import (
	"encoding/json"
	"io"
	"math"

	"prof/queries/judge/trend"
	"prof/render/words"
)

// trendJSON is a trend as other programs read it. Times are in ns, changes are ratios (0.01 is 1 %), places are counted from 0.
type trendJSON struct {
	Version  int               `json:"version"` // of this form: raised when a key goes or changes its meaning
	Workload string            `json:"workload"`
	Command  *string           `json:"command"`
	Metric   string            `json:"metric"`
	Unit     string            `json:"unit"`
	Alpha    float64           `json:"alpha"`
	Least    float64           `json:"min_effect_ratio"`
	Runs     []trendRunJSON    `json:"runs"`
	Series   []trendSeriesJSON `json:"series"`
	Changes  []trendChangeJSON `json:"changes"`
	Notes    []string          `json:"notes"`
	Queries  []trendQueryJSON  `json:"queries"`
}

type trendRunJSON struct {
	Run         string  `json:"run"`
	RunID       string  `json:"run_id"`
	At          string  `json:"at"`
	Commit      *string `json:"commit"`
	Branch      *string `json:"branch"`
	IsDirty     *bool   `json:"is_dirty"`
	Driver      *string `json:"driver"`
	Host        *string `json:"host"`
	ToolVersion *string `json:"tool_version"`
	ProfVersion *string `json:"prof_version"`
}

type trendSeriesJSON struct {
	Stage     string           `json:"stage"`
	GPU       *string          `json:"gpu"`
	Tool      *string          `json:"tool"`
	Prompt    *int64           `json:"prompt_token_count"`
	Decode    *int64           `json:"decode_token_count"`
	Sequences *int64           `json:"sequence_count"`
	IsVarying bool             `json:"is_varying"`
	IsLatest  bool             `json:"is_latest"`
	Points    []trendPointJSON `json:"points"`
	Levels    []trendLevelJSON `json:"levels"`
	Items     []trendItemJSON  `json:"items"`
}

type trendPointJSON struct {
	Run    int      `json:"run"` // place in runs
	Value  *float64 `json:"value"`
	Mean   *float64 `json:"mean"`
	Std    *float64 `json:"std"`
	Passes int64    `json:"passes"`
}

type trendLevelJSON struct {
	From   int     `json:"from"` // places in points, both inclusive
	To     int     `json:"to"`
	Median float64 `json:"median"`
}

type trendItemJSON struct {
	Kind   string     `json:"kind"`
	Name   string     `json:"name"`
	Family *string    `json:"family"`
	Values []*float64 `json:"pass_ns"` // one for each point
	Calls  []*float64 `json:"pass_launch_count"`
}

type trendChangeJSON struct {
	Series      int                   `json:"series"`    // place in series
	Kind        *string               `json:"item_kind"` // null: the stage itself
	Name        *string               `json:"item_name"`
	First       int                   `json:"first"` // places in runs: the first at the new level, the last at the old one
	Last        int                   `json:"last"`
	Before      float64               `json:"before"`
	After       float64               `json:"after"`
	Effect      *float64              `json:"effect_ratio"`
	P           *float64              `json:"p"`
	IsSuspect   bool                  `json:"is_suspect"`
	Verdict     string                `json:"verdict"`
	Words       string                `json:"words"`
	CallsBefore *float64              `json:"calls_before"` // of an item: executions in a pass of the runs last and first
	CallsAfter  *float64              `json:"calls_after"`
	Moved       []trendChangeJSON     `json:"moved"`
	Largest     *trendChangeJSON      `json:"largest_unsure"` // of a stage: the item that changed most without being sure
	Differs     []trendDifferenceJSON `json:"differences"`    // null where it was not looked up
}

type trendDifferenceJSON struct {
	Aspect string  `json:"aspect"`
	Before *string `json:"before"`
	After  *string `json:"after"`
	Weight string  `json:"weight"`
}

type trendQueryJSON struct {
	Query string `json:"query"`
	SQL   string `json:"sql"`
}

// TrendJSON writes a trend as one object; null is not known.
func TrendJSON(w io.Writer, r *trend.Result, o TrendOptions) error {
	out := trendJSON{Version: 1, Workload: r.Workload, Command: knownText(o.Command), Metric: string(r.Options.Metric), Unit: string(r.Options.Metric.Unit()), Alpha: r.Options.Alpha,
		Least: r.Options.MinEffect, Runs: []trendRunJSON{}, Series: []trendSeriesJSON{}, Changes: []trendChangeJSON{}, Notes: append([]string{}, r.Notes...), Queries: []trendQueryJSON{}}
	for _, run := range r.Runs {
		out.Runs = append(out.Runs, trendRunJSON{run.Name, run.ID, run.At, knownText(run.Commit), knownText(run.Branch), run.Dirty, knownText(run.Driver), knownText(run.Host),
			knownText(run.ToolVersion), knownText(run.ProfVersion)})
	}
	for _, s := range r.Series {
		out.Series = append(out.Series, newTrendSeriesJSON(s))
	}
	for _, c := range r.Changes {
		out.Changes = append(out.Changes, newTrendChangeJSON(r, c))
	}
	for _, q := range r.Queries {
		out.Queries = append(out.Queries, trendQueryJSON{q.Query, q.SQL})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}

func newTrendSeriesJSON(s trend.Series) trendSeriesJSON {
	out := trendSeriesJSON{Stage: s.Stage, GPU: knownText(s.Same.GPU), Tool: knownText(s.Same.Tool), Prompt: s.Same.Prompt, Decode: s.Same.Decode, Sequences: s.Same.Sequences,
		IsVarying: s.Same.Varying, IsLatest: s.Latest, Points: []trendPointJSON{}, Levels: []trendLevelJSON{}, Items: []trendItemJSON{}}
	for _, p := range s.Points {
		out.Points = append(out.Points, trendPointJSON{p.Run, p.Value, p.Mean, p.Std, p.Passes})
	}
	for _, l := range s.Levels {
		out.Levels = append(out.Levels, trendLevelJSON{l.From, l.To, l.Median})
	}
	for _, it := range s.Items {
		out.Items = append(out.Items, trendItemJSON{it.Kind, it.Name, knownText(it.Family), it.Values, it.Calls})
	}
	return out
}

func newTrendChangeJSON(r *trend.Result, c trend.Change) trendChangeJSON {
	out := trendChangeJSON{Series: c.Series, First: c.First, Last: c.Last, Before: c.Before, After: c.After, Effect: c.Effect, IsSuspect: c.Suspect, Verdict: string(c.Verdict),
		Words: words.ChangeHeadline(r, c), Moved: []trendChangeJSON{}}
	if !math.IsNaN(c.P) {
		out.P = &c.P
	}
	if c.Item != nil {
		out.Kind, out.Name, out.CallsBefore, out.CallsAfter = &c.Item.Kind, &c.Item.Name, c.CallsBefore, c.CallsAfter
	}
	for _, m := range c.Moved {
		out.Moved = append(out.Moved, newTrendPartJSON(r, m))
	}
	if c.Largest != nil {
		out.Largest = new(newTrendPartJSON(r, *c.Largest))
	}
	if c.Asked {
		out.Differs = []trendDifferenceJSON{}
		for _, d := range c.Provenance {
			out.Differs = append(out.Differs, trendDifferenceJSON{d.Aspect, knownText(d.Before), knownText(d.After), d.Weight})
		}
	}
	return out
}

// newTrendPartJSON is an item's part of its stage's change, in words that say no more than that.
func newTrendPartJSON(r *trend.Result, c trend.Change) trendChangeJSON {
	out := newTrendChangeJSON(r, c)
	out.Words = words.TrendItem(*c.Item, words.ItemWidth) + " " + words.ItemMoved(c)
	return out
}

// knownText is nil for what is not known.
func knownText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
