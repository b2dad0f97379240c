package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prof/queries/judge/diff"
	"prof/queries/judge/stats"
	"prof/render/table"
	"prof/render/typeset"
)

// stageLegend returns what the columns of the table of stages mean that a reader may not know.
func stageLegend(r *diff.Result, t table.Table, dropped []string) []string {
	has := func(name string) bool {
		return slices.ContainsFunc(t.Columns, func(c table.Column) bool { return c.Name == name && !slices.Contains(dropped, c.Title) })
	}
	var first, out []string
	if has("a") || has("b") {
		first = append(first, "A, B: median (mean of fewer than three samples) ± standard deviation (samples)")
	}
	if has("effect_ratio") {
		first = append(first, "change: B / A - 1")
	}
	if len(first) > 0 {
		out = append(out, strings.Join(first, "; "))
	}
	if slices.ContainsFunc(r.Stages, func(s diff.Stage) bool { return s.IsPaced() }) {
		out = append(out, "pace: from the start of a pass to that of the next, which is how fast the stage goes: the CPU paces it")
	}
	if has("p") {
		var methods []string
		for _, s := range r.Stages {
			if s.Comparison.P != nil && s.Comparison.Method != "" {
				methods = append(methods, s.Comparison.Method)
			}
		}
		out = append(out, fmt.Sprintf("p: probability of such a difference without a change (%s)", strings.Join(typeset.Unique(methods), ", "))+correctedText(r))
	}
	if has("change_interval") {
		text := "between: where the change lies; the error rate is " + errorRate(r.Options) + " at each end (--alpha)"
		if k := slices.IndexFunc(judgedStages(r), func(s diff.Stage) bool { return s.Comparison.NoiseFrom != "" }); k >= 0 {
			text += "; it includes what processes of the same code may differ by, assumed as on " + judgedStages(r)[k].Comparison.NoiseFrom
		}
		out = append(out, text)
	}
	return out
}

// centreName is what the centres of the samples of all stages are; "centre" where some are means of fewer than three samples.
func centreName(r *diff.Result) string {
	var names []string
	for _, s := range judgedStages(r) {
		for _, n := range []int{s.Comparison.NA, s.Comparison.NB} {
			switch {
			case n >= 3 && !s.Comparison.Paired:
				names = append(names, "median")
			case n > 0:
				names = append(names, "mean")
			}
		}
	}
	if names = typeset.Unique(names); len(names) == 1 {
		return names[0]
	}
	return "centre"
}

// errorRate is how often noise is called a change.
func errorRate(o diff.Options) string { return percentOf(cmp.Or(o.Stats.Alpha, stats.DefaultAlpha)) }

// confidence is how sure an interval is that misses as often.
func confidence(o diff.Options) string {
	return percentOf(1 - cmp.Or(o.Stats.Alpha, stats.DefaultAlpha))
}

func percentOf(ratio float64) string { return strconv.FormatFloat(100*ratio, 'g', 4, 64) + " %" }

// correctedText returns how verdicts read p where there are several; "" for one stage.
func correctedText(r *diff.Result) string {
	if len(judgedStages(r)) < 2 {
		return ""
	}
	return ", corrected for the number of stages (Holm)"
}
