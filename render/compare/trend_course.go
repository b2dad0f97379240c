package compare

import (
	"cmp"

	"prof/queries/judge/trend"
	"prof/render/typeset"
	"prof/render/words"
)

// course is a series as the page of prof serve draws it: its plot, and of each point what is known of its run.
type course struct {
	Stage  string        `json:"stage"`
	About  string        `json:"about"`
	Figure *trendFigure  `json:"figure"` // null where less than two points are known
	Points []coursePoint `json:"points"`
}

type coursePoint struct {
	Run   string      `json:"run"`
	Facts [][2]string `json:"facts"`
}

// courses are all series of a trend.
func courses(r *trend.Result) []course {
	out := []course{}
	for i, s := range r.Series {
		c := course{Stage: s.Stage, About: words.SameWords(s.Same), Figure: newTrendFigure(r, i)}
		for j, p := range s.Points {
			c.Points = append(c.Points, coursePoint{typeset.Neutral(r.Runs[p.Run].Name), pointFacts(r, s, j)})
		}
		out = append(out, c)
	}
	return out
}

// pointFacts say what a point comes from, and what of that is other than at the point before.
func pointFacts(r *trend.Result, s trend.Series, point int) (out [][2]string) {
	add := func(key, value string) {
		if value != "" {
			out = append(out, [2]string{key, typeset.Neutral(value)})
		}
	}
	p, m := s.Points[point], r.Options.Metric
	show := func(v *float64) string {
		if v == nil {
			return ""
		}
		return words.TrendValue(m, *v)
	}
	add("value", cmp.Or(show(p.Value), typeset.Null))
	if point > 0 && p.Value != nil {
		if last := s.Points[point-1].Value; last != nil && *last != 0 {
			add("change", typeset.SignedPercent(*p.Value / *last - 1))
		}
	}
	if p.Std != nil && p.Mean != nil {
		add("mean", show(p.Mean)+" ± "+show(p.Std))
	}
	add("passes", typeset.Int(p.Passes))
	add("captured", typeset.Minute(r.Runs[p.Run].At)+" UTC")
	var before [][2]string
	if point > 0 {
		before = provenance(r.Runs[s.Points[point-1].Run])
	}
	for i, f := range provenance(r.Runs[p.Run]) {
		if before != nil && before[i] != f {
			f[1] = typeset.OrNull(before[i][1]) + " → " + typeset.OrNull(f[1])
		}
		add(f[0], f[1])
	}
	return out
}

// provenance is what a run is of.
func provenance(run trend.Run) [][2]string {
	commit, _ := runCommit(run).(string)
	return [][2]string{{"commit", commit}, {"branch", run.Branch}, {"host", run.Host}, {"driver", run.Driver}, {"tool", run.ToolVersion}, {"prof", run.ProfVersion}}
}
