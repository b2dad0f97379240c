// Package gate judges a run by rules: limits of what its stages, kernels and figures may come to, by themselves or against a baseline.
package gate

import (
	"regexp"

	"prof/queries/judge/serving"
	"prof/schema/terms"
)

// Rule is one limit of one figure, as "stage.decode.gpu_span_ns <= +3%".
type Rule struct {
	Text string // as it was written, without comment
	At   Position
	Subject
	AtMost bool // <=; else >=
	Limit
	IsDefault bool // nobody gave rules, and this is the built-in one
}

// Position is where a rule stands.
type Position struct {
	File         string // as the user named it
	Line, Column int    // from 1; columns count characters
}

// Kind is what kind of figure a rule is about.
type Kind string

// What rules can be about.
const (
	StageFigure Kind = "stage"       // stage.NAME.METRIC
	KernelTime  Kind = "kernel"      // kernel:/RE/.METRIC of each stage, stage.NAME.kernel:/RE/.METRIC of one
	Utilisation Kind = "utilisation" // mfu.STAGE, mbu.STAGE
	Overhead    Kind = "overhead"    // overhead, overhead.MODE
	Serving     Kind = "serving"     // serving.LATENCY_STATISTIC, serving.requests_per_s and others that a load generator measured; serving{LOAD}.FIGURE of some loads
	NewKernels  Kind = "new kernels" // new_kernels of the run, stage.NAME.new_kernels of a stage
)

// AnyStage in place of a stage's name stands for each stage that the run or its baseline has.
const AnyStage = "*"

// Subject is the figure that a rule is about.
type Subject struct {
	Kind   Kind
	Stage  string         // AnyStage for each; "" where the whole run is meant
	Kernel *regexp.Regexp // by the demangled name, any part of it; nil where no kernel is meant
	Load   serving.Pick   // of Serving, the loads that the rule is about; empty for each
	Metric string         // as in metrics; of Overhead the mode of profiling, "" for each that times are from
}

// Unit is what a figure is counted in.
type Unit string

// The units of figures.
const (
	Ns     Unit = "ns"
	Ratio  Unit = "ratio"
	Count  Unit = "count"
	PerSec Unit = "per_s"
)

// Limit is what a figure may come to.
type Limit struct {
	Unit     Unit    // of the figure
	Relative bool    // to the baseline: it was written with a sign
	Percent  bool    // of a relative limit: Value is a part of the baseline's figure, else a difference in Unit
	Value    float64 // in Unit, or a ratio: 0.03 is 3 %
}

// figure is what a rule's metric is.
type figure struct {
	unit     Unit
	relative bool // whether a rule may compare it with the baseline; each may stand by itself
}

// The figures by kind and name. Times are base units as everywhere; launches are kernels.
var (
	stageFigures   = figuresOf(terms.Measures)
	kernelFigures  = figuresOf(terms.KernelMeasures)
	servingFigures = makeServingFigures()
	ownFigures     = map[Kind]figure{Utilisation: {Ratio, false}, Overhead: {Ratio, false}, NewKernels: {Count, false}}
)

// unitOf is the unit of a measure in rules.
func unitOf(m terms.Measure) Unit {
	if m.IsRate() {
		return PerSec
	}
	return Unit(m.Unit)
}

// figuresOf are measures by both of their names, which rules may compare with the baseline.
func figuresOf(list []terms.Measure) map[string]figure {
	out := map[string]figure{}
	for _, m := range terms.MeasuresIn(list, terms.Check) {
		out[m.Name] = figure{unitOf(m), true}
		if m.Also != "" {
			out[m.Also] = figure{unitOf(m), true}
		}
	}
	return out
}

// figure returns what the subject is counted in and may be compared with.
func (s Subject) figure() figure {
	switch s.Kind {
	case StageFigure:
		return stageFigures[s.Metric]
	case KernelTime:
		return kernelFigures[s.Metric]
	case Serving:
		return servingFigures[s.Metric]
	}
	return ownFigures[s.Kind]
}

// On names the subject with the stage that it is judged on, in the words of rules.
func (s Subject) On(stage string) string {
	prefix := ""
	if stage != "" && s.Kind != Utilisation {
		prefix = "stage." + stage + "."
	}
	switch s.Kind {
	case KernelTime:
		return prefix + "kernel:/" + escapeSlash(s.Kernel.String()) + "/." + s.Metric
	case Utilisation:
		return s.Metric + "." + stage
	case Overhead:
		if s.Metric != "" {
			return "overhead." + s.Metric
		}
		return "overhead"
	case Serving:
		if len(s.Load) > 0 {
			return "serving{" + s.Load.String() + "}." + s.Metric
		}
		return "serving." + s.Metric
	case NewKernels:
		return prefix + "new_kernels"
	}
	return prefix + s.Metric
}

// NeedsBaseline reports whether the rule compares with one.
func (r Rule) NeedsBaseline() bool { return r.Relative || r.Kind == NewKernels }

// Operator is how the figure must lie to the limit: <= or >=.
func (r Rule) Operator() string {
	if r.AtMost {
		return "<="
	}
	return ">="
}

// String writes the rule in one way, which Parse reads back.
func (r Rule) String() string {
	return r.On(r.stageText()) + " " + r.Operator() + " " + r.Limit.String()
}

// stageText is the stage as rules write it.
func (r Rule) stageText() string {
	if r.Kind == KernelTime && r.Stage == AnyStage {
		return "" // each stage, without saying so
	}
	return r.Stage
}

// Default are the rules where none are given: no stage may take over 5 % longer on the GPUs.
func Default() []Rule {
	return []Rule{{Text: "stage.*.gpu_span_ns <= +5%", At: Position{File: "built-in rule", Line: 1, Column: 1},
		Subject: Subject{Kind: StageFigure, Stage: AnyStage, Metric: "gpu_span_ns"}, AtMost: true,
		Limit: Limit{Unit: Ns, Relative: true, Percent: true, Value: 0.05}, IsDefault: true}}
}
