package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/internal/suggest"
	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/queries/judge/stats"
)

// ask asks a query of each run that is judged, with caveats of some topics only.
func (j *judging) ask(ctx context.Context, query string, topics ...string) ([]*frame.Frame, error) {
	var list []frame.Question
	for _, r := range j.out.Run.Runs {
		list = append(list, frame.Question{Query: query, Args: frame.Args{"run": r.Name}, Notes: func(topic string) bool {
			return slices.Contains(topics, topic)
		}})
	}
	return j.asker.AskAll(ctx, list)
}

// known is a figure of each run by what it is of: a stage or a mode of profiling.
type known struct {
	order   []string
	values  map[string][]float64
	why     map[string]string // why one is not known
	least   map[string]bool   // those that are at least their value
	caveats []frame.Caveat    // of all that the query says
}

// about returns what the query says of one of the figures, or else of all of them first.
func (k *known) about(name string) string {
	for _, c := range k.caveats {
		if c.Stage == name || c.Subject == name {
			return c.Text
		}
	}
	if len(k.caveats) > 0 {
		return k.caveats[0].Text
	}
	return ""
}

// read takes a figure out of the answers of all runs. Several rows of a key in one run are a mistake of the query.
func read(frames []*frame.Frame, key, value string, use func(f *frame.Frame, row []any) bool) (*known, error) {
	k := &known{values: map[string][]float64{}, why: map[string]string{}, least: map[string]bool{}}
	for _, f := range frames {
		keyAt, valueAt, faultAt := f.Index(key), f.Index(value), f.Index("fault")
		leastAt := f.Index("is_least")
		if keyAt < 0 || valueAt < 0 {
			return nil, fmt.Errorf("query %s has no column %s or %s", f.Query, key, value)
		}
		k.caveats = append(k.caveats, f.Caveats...)
		for _, row := range f.Rows {
			if use != nil && !use(f, row) {
				continue
			}
			name := fmt.Sprint(row[keyAt])
			if _, seen := k.values[name]; !seen {
				k.order, k.values[name] = append(k.order, name), nil
			}
			v, isNumber := row[valueAt].(float64)
			switch {
			case faultAt >= 0 && row[faultAt] != nil:
				k.why[name] = caveat.Fault(fmt.Sprint(row[faultAt]))
			case !isNumber || finite(v) == nil:
				k.why[name] = k.about(name)
			default:
				k.values[name] = append(k.values[name], v)
				k.least[name] = k.least[name] || leastAt >= 0 && row[leastAt] == true
			}
		}
	}
	return k, nil
}

// settle gives a check the median of a figure over the runs, or says why it has none.
func (c *Check) settle(k *known, name, unknown string) {
	if why, missing := k.why[name]; missing {
		c.Outcome, c.Reason = CannotTell, unknown
		if strings.HasPrefix(why, unknown) {
			c.Reason = why
		} else if why != "" {
			c.Reason += ": " + why
		}
		return
	}
	c.Value, c.isLeast = new(stats.Centre(k.values[name])), k.least[name]
}

// expandUtilisation makes the checks of a rule on model FLOPs or bandwidth utilisation, as the query mfu tells them.
func (j *judging) expandUtilisation(ctx context.Context, r Rule) error {
	frames, err := j.ask(ctx, "mfu", "mfu")
	if err != nil {
		return err
	}
	k, err := read(frames, "stage", r.Metric+"_ratio", func(f *frame.Frame, row []any) bool { // any stage: of passes, and not of a part of one or of the whole model
		part := f.Index("part_of")
		return r.Stage != AnyStage || row[f.Index("stage")] != "model" && (part < 0 || row[part] == nil)
	})
	if err != nil {
		return err
	}
	list := []string{r.Stage}
	if r.Stage == AnyStage && len(k.order) > 0 {
		list = k.order
	}
	for _, stage := range list {
		c := Check{Rule: r, Stage: stage, Subject: r.On(stage), Unit: Ratio}
		measured := []string{stage}
		if stage == "model" { // a prefill with its decode
			measured = []string{"prefill", "decode"}
		}
		if lost := j.notWhole(false, measured...); lost != "" {
			c.Outcome, c.Reason = CannotTell, lost
		} else if _, found := k.values[stage]; found {
			c.settle(k, stage, fmt.Sprintf("the %s of %s is unknown", strings.ToUpper(r.Metric), stage))
		} else {
			c.Outcome, c.Reason = CannotTell, fmt.Sprintf("%s has no stage %s with a known %s%s", sideName(j.out.Run), stage, strings.ToUpper(r.Metric), suggest.DidYouMean(stage, k.order))
		}
		j.add(c)
	}
	return nil
}

// expandOverhead makes the checks of a rule on the overhead of profiling, as the query overhead tells it. Unless the rule names a mode it
// is about those that times are taken from: those of Nsight Systems, or without any those of prof's tracer, or of the PyTorch profiler. Nsight Compute replays
// kernels one by one, and takes long by design.
func (j *judging) expandOverhead(ctx context.Context, r Rule) error {
	frames, err := j.ask(ctx, "overhead", "capture", "overhead")
	if err != nil {
		return err
	}
	timeline := "torch"
	for _, f := range frames {
		for _, row := range f.Rows {
			if at := f.Index("tool"); at >= 0 && (row[at] == "nsys" || row[at] == "prof" && timeline != "nsys") {
				timeline = row[at].(string)
			}
		}
	}
	k, err := read(frames, "mode", "overhead_ratio", func(f *frame.Frame, row []any) bool {
		if row[f.Index("stage")] != nil { // the rule is about the whole process
			return false
		}
		if r.Metric != "" {
			return row[f.Index("mode")] == r.Metric
		}
		at := f.Index("tool")
		return at >= 0 && row[at] == timeline
	})
	if err != nil {
		return err
	}
	for _, mode := range k.order {
		c := Check{Rule: r, Subject: "overhead." + mode, Unit: Ratio}
		c.settle(k, mode, "profiling overhead is unknown")
		j.add(c)
	}
	if len(k.order) == 0 {
		reason := fmt.Sprintf("%s has no recording under a profiler to measure the overhead", sideName(j.out.Run))
		if r.Metric != "" {
			reason = fmt.Sprintf("%s has no recording in mode %s", sideName(j.out.Run), r.Metric)
		}
		if note := k.about("profil"); note != "" && r.Metric == "" {
			reason += ": " + note
		}
		j.add(Check{Rule: r, Subject: r.On(""), Unit: Ratio, Outcome: CannotTell, Reason: reason})
	}
	return nil
}
