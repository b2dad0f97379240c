package diff

import (
	"fmt"
	"slices"
	"strings"
)

// sumMetric is what runs without a timeline are judged by: nothing else is known of their time.
const sumMetric = "gpu_sum_ns"

// bySums compares all device work of the runs as one sum each, where one of them has nothing else: what a stage or a warm-up has of that is not
// known.
func (r *Result) bySums(a, b []runData) {
	if r.Options.Stage != "" {
		return
	}
	named := foldSums(a, b)
	if len(named) == 0 {
		return
	}
	if r.Options.Metric == spanMetric {
		r.Options.Metric = sumMetric
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s: nsys stats added up all GPU work, so the sides are compared by the sum of all GPU work, warm-up included; stages and idle time are unknown, and a single sum shows no noise", strings.Join(named, ", ")))
}

// foldSums makes one sum of all that each run has, where one of them has nothing else, and names those.
func foldSums(a, b []runData) (named []string) {
	for _, d := range slices.Concat(a, b) {
		if d.isSum && !slices.Contains(named, d.run.Name) {
			named = append(named, d.run.Name)
		}
	}
	for _, runs := range [][]runData{a, b} {
		for i := range runs {
			if len(named) > 0 {
				runs[i].fold()
			}
		}
	}
	return named
}

// fold makes one sum of all that a run has.
func (d *runData) fold() {
	whole := pass{number: 1, repeat: 1, isSum: true, kernels: new(int64)}
	if len(d.passes) > 0 {
		whole.source = d.passes[0].source
	}
	for i := range d.work {
		w := &d.work[i]
		w.stage, w.number, w.repeat, w.isWarmup = "", 1, 1, false
		whole.sum += w.tally.total
		switch w.kind {
		case "kernel":
			whole.kernels = plus(whole.kernels, &w.tally.calls)
		case "graph":
			whole.kernels = nil
		}
	}
	d.steps, d.passes = nil, []pass{whole}
}
