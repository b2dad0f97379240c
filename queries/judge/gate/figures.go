package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/internal/suggest"
	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/queries/judge/stats"
	"prof/schema/terms"
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

func newKnown(frames []*frame.Frame) *known {
	k := &known{values: map[string][]float64{}, why: map[string]string{}, least: map[string]bool{}}
	for _, f := range frames {
		k.caveats = append(k.caveats, f.Caveats...)
	}
	return k
}

// add adds what a run has of a figure. Several values of a name in one run are a mistake of the query.
func (k *known) add(name string, value *float64, fault string, isLeast bool) {
	if _, seen := k.values[name]; !seen {
		k.order, k.values[name] = append(k.order, name), nil
	}
	switch {
	case fault != "":
		k.why[name] = caveat.Fault(fault)
	case value == nil || finite(*value) == nil:
		k.why[name] = k.about(name)
	default:
		k.values[name] = append(k.values[name], *value)
		k.least[name] = k.least[name] || isLeast
	}
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
	rows, err := judge.UseRows.Of(frames...)
	if err != nil {
		return err
	}
	k := newKnown(frames)
	for _, x := range rows {
		if r.Stage != AnyStage || x.Stage != "model" && x.PartOf == "" { // any stage: of passes, and not of a part of one or of the whole model
			k.add(x.Stage, map[string]*float64{"mfu": x.MFURatio, "mbu": x.MBURatio}[r.Metric], x.Fault, x.IsLeast)
		}
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

// expandOverhead makes the checks of a rule on the overhead of profiling, as the query overhead tells it: of the stages that were timed, else of the whole
// process. Of several tools it is about the one whose timeline is counted, the first of terms.Sources. Nsight Compute replays kernels one by one, and takes long
// by design: only a rule that names its mode is about it. Less than the noise is at most what the samples allow for.
func (j *judging) expandOverhead(ctx context.Context, r Rule) error {
	frames, err := j.ask(ctx, "overhead", "capture", "overhead")
	if err != nil {
		return err
	}
	rows, err := judge.OverheadRows.Of(frames...)
	if err != nil {
		return err
	}
	if r.Metric != "" {
		rows = slices.DeleteFunc(rows, func(x judge.OverheadRow) bool { return x.Mode != r.Metric })
	}
	for _, tool := range terms.Timelines() {
		isOther := func(x judge.OverheadRow) bool { return x.Tool != tool }
		if slices.ContainsFunc(rows, func(x judge.OverheadRow) bool { return !isOther(x) }) {
			rows = slices.DeleteFunc(rows, isOther)
		}
	}
	if r.Metric == "" {
		rows = slices.DeleteFunc(rows, func(x judge.OverheadRow) bool { return x.Tool == "ncu" })
	}
	staged := map[string]bool{}
	for _, x := range rows {
		staged[x.Mode] = staged[x.Mode] || x.Stage != "" && x.IsMeasured()
	}
	k := newKnown(frames)
	for _, x := range rows {
		if staged[x.Mode] != (x.Stage != "") {
			continue
		}
		name, value := x.Mode, x.OverheadRatio
		if x.Stage != "" {
			name += " of " + x.Stage
		}
		if x.IsNoise() && r.AtMost && x.HighRatio != nil && *x.HighRatio <= r.Limit.Value {
			value = x.HighRatio
		}
		k.add(name, value, "", false)
		switch why := terms.OverheadReason(x.Reason); {
		case value != nil:
		case x.IsNoise():
			k.why[name] = fmt.Sprintf("%s (%s)", x.Change(), x.Basis())
		case why != "" && x.Reason != "not-timed-alone": // of which the caveat has the way out
			k.why[name] = why
		}
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
