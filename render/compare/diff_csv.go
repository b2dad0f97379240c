package compare

import (
	"cmp"
	"io"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/diff"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// DiffCSV writes comparisons as one table with one header, times in ns and at full precision; what is not known is an empty field. A row
// of kind stage stands for a whole stage and is followed by the rows of its parts. With --by kernel, family, grid or stage, the parts'
// a_per_unit_ns, b_per_unit_ns and delta_ns add up to those of that row, exactly; items of the other dimensions stand by themselves.
// delta_ns is count_ns + duration_ns + interaction_ns + new_ns + removed_ns.
//
// The columns: a, b (labels of the sides); stage; unit (pass, token, run: what the per_unit figures are divided by); kind (stage, kernel,
// family, grid, copy, fill, graph, overlap, other, idle, operator, range, metric, node, serving, whose stage is a load, rest); name, family, grid, block; status (both, new,
// removed, moved), partner and how (what took its place); a_calls, b_calls (of all passes), a_calls_per_unit, b_calls_per_unit;
// a_total_ns, b_total_ns (of all passes, as captured); a_per_unit_ns, b_per_unit_ns, delta_ns, count_ns, duration_ns, interaction_ns,
// new_ns, removed_ns; stage_share_ratio (delta_ns as a share of the stage's time in A); mean, standard deviation, least and longest
// duration of a call on both sides; value_unit, a_value, b_value (of a metric, and of a stage what it is judged by); a_samples,
// b_samples, effect_ratio (of the samples), low_ratio and high_ratio (its interval), p, smallest_ratio (detectable change), verdict; of a node a_kernels,
// b_kernels (names joined by " + "), a_shapes, b_shapes and places (of how many instances of modules it is).
func DiffCSV(w io.Writer, list []*diff.Result, o typeset.Options) error {
	f := &frame.Frame{Query: "diff"}
	for _, name := range diffCSVColumns {
		f.Columns = append(f.Columns, frame.Column{Name: name})
	}
	for _, r := range list {
		for i := range r.Stages {
			s := &r.Stages[i]
			f.Rows = append(f.Rows, stageRecord(r, s).values())
		}
		for _, l := range r.Serving {
			for _, figure := range l.Figures {
				f.Rows = append(f.Rows, servingRecord(r, l, figure).values())
			}
		}
		for _, g := range itemGroups(r) {
			for _, item := range g.items {
				f.Rows = append(f.Rows, itemRecord(r, g, item).values())
			}
		}
	}
	return table.CSV(w, f, o)
}

// diffCSVColumns is the header. Readers of old files rely on it: new columns go to the end.
var diffCSVColumns = []string{"a", "b", "stage", "unit", "kind", "name", "family", "grid", "block", "status", "partner", "how",
	"a_calls", "b_calls", "a_calls_per_unit", "b_calls_per_unit", "a_total_ns", "b_total_ns", "a_per_unit_ns", "b_per_unit_ns",
	"delta_ns", "count_ns", "duration_ns", "interaction_ns", "new_ns", "removed_ns", "stage_share_ratio",
	"a_mean_ns", "a_std_ns", "a_min_ns", "a_max_ns", "b_mean_ns", "b_std_ns", "b_min_ns", "b_max_ns",
	"value_unit", "a_value", "b_value", "a_samples", "b_samples", "effect_ratio", "low_ratio", "high_ratio", "p", "smallest_ratio", "verdict", "a_kernels", "b_kernels", "a_shapes", "b_shapes", "places"}

// csvRecord is one row by the names of its columns; what it lacks is not known.
type csvRecord map[string]any

func (c csvRecord) values() []any {
	out := make([]any, len(diffCSVColumns))
	for i, name := range diffCSVColumns {
		out[i] = c[name]
	}
	return out
}

// set puts values under the names of columns; of pointers what they point to, and nothing where that is not known.
func (c csvRecord) set(pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		switch v := pairs[i+1].(type) {
		case *float64:
			if v != nil {
				c[name] = *v
			}
		case *int64:
			if v != nil {
				c[name] = *v
			}
		default:
			c[name] = v
		}
	}
}

func newCSVRecord(r *diff.Result, stage string, unit diff.Unit) csvRecord {
	return csvRecord{"a": r.A.Label, "b": r.B.Label, "stage": stage, "unit": string(unit)}
}

func (c csvRecord) setDelta(d *diff.Delta) {
	if d != nil {
		c.set("delta_ns", d.Ns, "count_ns", d.CountNs, "duration_ns", d.DurationNs, "interaction_ns", d.InteractionNs, "new_ns", d.NewNs, "removed_ns", d.RemovedNs)
	}
}

func stageRecord(r *diff.Result, s *diff.Stage) csvRecord {
	c := newCSVRecord(r, s.Name, s.Unit)
	c.set("kind", "stage", "name", words.DiffStage(s.Name), "verdict", string(s.Verdict), "value_unit", cmp.Or(s.Metric, words.JudgedBy(r.Options)), "a_samples", int64(s.Comparison.NA), "b_samples", int64(s.Comparison.NB),
		"effect_ratio", s.Comparison.Effect, "low_ratio", s.Comparison.Low, "high_ratio", s.Comparison.High, "p", s.Comparison.JudgedP(), "smallest_ratio", s.Comparison.Smallest)
	for _, side := range []struct {
		key    string
		of     diff.StageSide
		n      int
		centre float64
	}{{"a", s.A, s.Comparison.NA, s.Comparison.A}, {"b", s.B, s.Comparison.NB, s.Comparison.B}} {
		if side.of.Units > 0 {
			c.set(side.key+"_calls", side.of.Launches, side.key+"_total_ns", side.of.TimeNs, side.key+"_per_unit_ns", side.of.PerUnitNs)
			if n := side.of.Launches; n != nil {
				c.set(side.key+"_calls_per_unit", float64(*n)/float64(side.of.Units))
			}
		}
		if side.n > 0 {
			c.set(side.key+"_value", side.centre)
		}
	}
	c.setDelta(s.Delta)
	return c
}

func itemRecord(r *diff.Result, g itemGroup, i diff.Item) csvRecord {
	c := newCSVRecord(r, i.Stage, g.unit())
	c.set("kind", i.Kind, "name", i.Name, "family", i.Family, "grid", i.Grid, "block", i.Block, "status", string(i.Status), "partner", i.Partner, "how", i.How, "verdict", string(i.Verdict),
		"stage_share_ratio", shareOfStage(g, i))
	if i.Places > 0 {
		c.set("places", int64(i.Places))
	}
	for key, m := range map[string]diff.Measure{"a": i.A, "b": i.B} {
		if isTime(i) {
			c.set(key+"_calls", m.Calls, key+"_calls_per_unit", m.PerUnitCalls, key+"_total_ns", m.TotalNs, key+"_per_unit_ns", m.PerUnitNs,
				key+"_kernels", strings.Join(m.Kernels, " + "), key+"_shapes", m.Shapes, key+"_mean_ns", m.MeanNs, key+"_std_ns", m.StdNs, key+"_min_ns", m.MinNs, key+"_max_ns", m.MaxNs)
		} else {
			c.set("value_unit", i.Unit, key+"_value", m.Value)
		}
	}
	if cmp := i.Comparison; cmp != nil {
		c.set("a_samples", int64(cmp.NA), "b_samples", int64(cmp.NB), "effect_ratio", cmp.Effect, "low_ratio", cmp.Low, "high_ratio", cmp.High, "p", cmp.JudgedP(), "smallest_ratio", cmp.Smallest)
	}
	c.setDelta(i.Delta)
	return c
}
