package compare

import (
	"io"

	"prof/queries/judge/trend"
	"prof/render/typeset"
	"prof/render/words"
)

// TrendJSON writes a trend as one object; null is not known. Times are in ns, changes are ratios (0.01 is 1 %), places are counted from 0.
// The version is of this form: raised when a key goes or changes its meaning.
func TrendJSON(w io.Writer, r *trend.Result, o TrendOptions) error {
	return typeset.WriteIndented(w, new(typeset.Object).Put("version", 1).
		Put("workload", r.Workload).PutText("command", o.Command).
		Put("metric", r.Options.Metric).Put("unit", r.Options.Metric.Unit()).
		Put("alpha", r.Options.Alpha).Put("min_effect_ratio", r.Options.MinEffect).
		Put("runs", typeset.List(r.Runs, trendRunObject)).
		Put("series", typeset.List(r.Series, seriesObject)).
		Put("changes", typeset.List(r.Changes, func(c trend.Change) *typeset.Object { return changeObject(r, c, words.ChangeHeadline(r, c)) })).
		Put("notes", r.Notes).
		Put("queries", typeset.List(r.Queries, func(q trend.Source) *typeset.Object {
			return new(typeset.Object).Put("query", q.Query).Put("sql", q.SQL)
		})))
}

func trendRunObject(run trend.Run) *typeset.Object {
	return new(typeset.Object).Put("run", run.Name).Put("run_id", run.ID).Put("at", run.At).
		PutText("commit", run.Commit).PutText("branch", run.Branch).Put("is_dirty", run.Dirty).
		PutText("driver", run.Driver).PutText("host", run.Host).PutText("tool_version", run.ToolVersion).PutText("prof_version", run.ProfVersion)
}

func seriesObject(s trend.Series) *typeset.Object {
	return new(typeset.Object).Put("stage", s.Stage).PutText("gpu", s.Same.GPU).PutText("tool", s.Same.Tool).
		Put("prompt_token_count", s.Same.Prompt).Put("decode_token_count", s.Same.Decode).Put("sequence_count", s.Same.Sequences).
		Put("is_varying", s.Same.Varying).Put("is_latest", s.Latest).
		Put("points", typeset.List(s.Points, func(p trend.Point) *typeset.Object { // run is a place in runs
			return new(typeset.Object).Put("run", p.Run).Put("value", p.Value).Put("mean", p.Mean).Put("std", p.Std).Put("passes", p.Passes)
		})).
		Put("levels", typeset.List(s.Levels, func(l trend.Level) *typeset.Object { // from and to are places in points, both inclusive
			return new(typeset.Object).Put("from", l.From).Put("to", l.To).Put("median", l.Median)
		})).
		Put("items", typeset.List(s.Items, func(it trend.Item) *typeset.Object { // values and calls are one for each point
			return new(typeset.Object).Put("kind", it.Kind).Put("name", it.Name).PutText("family", it.Family).
				Put("pass_ns", it.Values).Put("pass_launch_count", it.Calls)
		}))
}

// changeObject is a change of a stage or, with item_kind and item_name, of an item. series is a place in series; first and last are places
// in runs, the first at the new level and the last at the old one; calls are those of an item per pass of these two. largest_unsure is, of a
// stage, the item that changed most without being sure; differences are null where they were not looked up.
func changeObject(r *trend.Result, c trend.Change, text string) *typeset.Object {
	item := trend.Item{}
	if c.Item != nil {
		item = *c.Item
	}
	part := func(c trend.Change) *typeset.Object { // in words that say no more than its part of the stage's change
		return changeObject(r, c, words.TrendItem(*c.Item, words.ItemWidth)+" "+words.ItemMoved(c))
	}
	var largest *typeset.Object
	if c.Largest != nil {
		largest = part(*c.Largest)
	}
	out := new(typeset.Object)
	out.Put("series", c.Series).PutText("item_kind", item.Kind).PutText("item_name", item.Name)
	out.Put("first", c.First).Put("last", c.Last).Put("before", c.Before).Put("after", c.After).Put("effect_ratio", c.Effect)
	out.Put("p", c.P).Put("is_suspect", c.Suspect).Put("verdict", c.Verdict).Put("words", text)
	out.Put("calls_before", c.CallsBefore).Put("calls_after", c.CallsAfter)
	out.Put("moved", typeset.List(c.Moved, part)).Put("largest_unsure", largest)
	if !c.Asked {
		return out.Put("differences", nil)
	}
	return out.Put("differences", typeset.List(c.Provenance, func(d trend.Difference) *typeset.Object {
		return new(typeset.Object).Put("aspect", d.Aspect).PutText("before", d.Before).PutText("after", d.After).Put("weight", d.Weight)
	}))
}
