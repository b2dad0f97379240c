package diff

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/stats"
)

// whole fills in what the caller left open.
func (o Options) whole() (Options, error) {
	if o.By == "" {
		o.By = ByKernel
	}
	if o.Metric == "" {
		o.Metric = spanMetric
	}
	o.Metric = Canonical(o.Metric)
	if !slices.Contains(wholeTimes(), o.Metric) {
		return o, fmt.Errorf("%w: stages are judged by %s, not %q", frame.ErrBadArgument, strings.Join(wholeTimes(), ", "), o.Metric)
	}
	if !slices.Contains(Dimensions, o.By) {
		return o, fmt.Errorf("%w: work is compared by %s, not %q", frame.ErrBadArgument, dimensionsText(), o.By)
	}
	if o.Stats.Alpha == 0 && o.Stats.MinEffect == 0 && o.Stats.Margin == 0 {
		noise := o.Stats.Noise
		o.Stats = stats.DefaultOptions()
		o.Stats.Noise = noise
	}
	if o.AssumeNoise != nil {
		if o.Stats.Noise = stats.AssumeNoise(*o.AssumeNoise); o.Stats.Noise == nil {
			return o, fmt.Errorf("%w: noise of %v is not a share; write 0.02 for 2 %%", frame.ErrBadArgument, *o.AssumeNoise)
		}
	}
	return o, nil
}

// Dimensions are what work can be compared by.
var Dimensions = []Dimension{ByKernel, ByFamily, ByGrid, ByStage, ByOperator, ByRange, ByMetric, ByTree}

func dimensionsText() string {
	var names []string
	for _, d := range Dimensions {
		names = append(names, string(d))
	}
	return strings.Join(names, ", ")
}

// adds reports whether the items of a dimension are parts of the time of their stage.
func (d Dimension) adds() bool { return d == ByKernel || d == ByFamily || d == ByGrid }

// distinctSources leaves out queries of a run that is on both sides.
func distinctSources(list []Source) []Source {
	seen := map[Source]bool{}
	return slices.DeleteFunc(list, func(s Source) bool {
		twice := seen[s]
		seen[s] = true
		return twice
	})
}
