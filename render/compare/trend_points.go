package compare

import (
	"cmp"

	"prof/queries/judge/trend"
	"prof/render/typeset"
	"prof/render/words"
)

// pointView is what is known of a point for whoever picks it.
type pointView struct {
	Run   string      `json:"run"`
	Facts [][2]string `json:"facts"`
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
