package ask

import (
	"context"
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"prof/schema/terms"
)

// FindingsOf asks what could make a run faster.
type FindingsOf struct {
	Stage    string  `query:"stage" json:"stage" required:"false" maxLength:"300" doc:"only findings of this stage; (none) for those of all device work"`
	Top      int     `query:"top" json:"top" required:"false" minimum:"0" maximum:"100000" default:"10" doc:"findings at most; 0 for all"`
	MinShare float64 `query:"min_share" json:"min_share" required:"false" minimum:"0" maximum:"1" default:"0.01" doc:"only findings that could save at least this share of their stage"`
}

// Difference asks what differs between runs.
type Difference struct {
	Base        string     `query:"base" json:"base" required:"true" minLength:"1" maxLength:"2000" doc:"the run or runs to compare with: any reference, or several with commas between them"`
	New         string     `query:"new" json:"new" required:"true" minLength:"1" maxLength:"2000" doc:"the run or runs that are compared"`
	By          string     `query:"by" json:"by" required:"false" enum:"kernel,family,grid,stage,operator,range,metric,tree" default:"kernel" doc:"what is compared"`
	Unfold      bool       `query:"unfold" json:"unfold" required:"false" doc:"by tree: a row for each layer, not one for what is the same in several"`
	Stage       string     `query:"stage" json:"stage" required:"false" maxLength:"300" doc:"only this stage"`
	Metric      DiffMetric `query:"metric" json:"metric" required:"false" doc:"judge by this"`
	Top         int        `query:"top" json:"top" required:"false" minimum:"0" maximum:"100000" default:"10" doc:"rows of a stage, the largest change first; 0 for all"`
	Alpha       float64    `query:"alpha" json:"alpha" required:"false" exclusiveMinimum:"0" exclusiveMaximum:"0.5" default:"0.01" doc:"probability of calling noise a change"`
	MinEffect   float64    `query:"min_effect" json:"min_effect" required:"false" minimum:"0" maximum:"9" default:"0.01" doc:"smaller changes, as ratios, count as none"`
	Margin      float64    `query:"margin" json:"margin" required:"false" minimum:"0" maximum:"9" default:"0.05" doc:"no change means that it is certainly smaller than this ratio"`
	AssumeNoise float64    `query:"assume_noise" json:"assume_noise" required:"false" minimum:"0" maximum:"9" doc:"identical runs may differ by up to this ratio; by default from earlier runs"`
}

// TrendMetric is what a workload is followed by.
type TrendMetric string

// Schema describes the metrics.
func (TrendMetric) Schema(huma.Registry) *huma.Schema {
	return oneOf(slices.Concat(terms.NamesOf(terms.MeasuresIn(terms.Measures, terms.Trend)), terms.NamesOf(terms.ServingIn(terms.Trend))))
}

// DiffMetric is what stages are judged by.
type DiffMetric string

// Schema describes the metrics.
func (DiffMetric) Schema(huma.Registry) *huma.Schema { return oneOf(terms.StageTimes()) }

func oneOf(words []string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, word := range words {
		s.Enum = append(s.Enum, word)
	}
	return s
}

// Course asks how a workload went over time.
type Course struct {
	Workload string      `query:"workload" json:"workload" required:"false" maxLength:"4000" doc:"key of the workload, a prefix of it, or a run of it; by default the latest run's"`
	Stage    string      `query:"stage" json:"stage" required:"false" maxLength:"300" doc:"only this stage; (run) for runs without stages"`
	Tags     []string    `query:"tag,explode" json:"tags" required:"false" nullable:"false" maxItems:"20" doc:"only runs with this tag, key=value; with all of several"`
	Metric   TrendMetric `query:"metric" json:"metric" required:"false" default:"gpu_span_ns" doc:"what is followed"`
	Load     string      `query:"load" json:"load" required:"false" maxLength:"1000" doc:"for a metric of serving (ttft_mean_ns to total_tokens_per_s), only loads with these parts: rate=4, rate=inf, concurrency=32, in=1024, out=128, scenario=Server, model=NAME; by default the load that most runs share"`
	Kernels  int         `query:"kernels" json:"kernels" required:"false" minimum:"0" maximum:"1000" default:"20" doc:"look for the cause of a change in so many kernels of each stage"`
}

// Rules asks whether a run keeps rules.
type Rules struct {
	Run      string   `query:"run" json:"run" required:"false" minLength:"1" maxLength:"2000" default:"@latest" doc:"the run or runs to judge"`
	Baseline string   `query:"baseline" json:"baseline" required:"false" maxLength:"2000" doc:"the run or runs to compare with; by default the only baseline"`
	Rules    []string `query:"rule,explode" json:"rules" required:"false" nullable:"false" maxItems:"50" doc:"a rule, as prof check takes it, such as stage.decode.gpu_span_ns <= +3%; by default those of the warehouse"`
	Alpha    float64  `query:"alpha" json:"alpha" required:"false" exclusiveMinimum:"0" exclusiveMaximum:"0.5" default:"0.01" doc:"probability of calling noise a regression, over all rules"`
}

// Summary is a run on one screen, as prof show gives it.
func (a *Asker) Summary(ctx context.Context, run string) (Answer, error) {
	return a.VerbOfRun(ctx, JSON, run, options("show", "json")...)
}

// Findings is what could make a run faster, as prof explain gives it.
func (a *Asker) Findings(ctx context.Context, run string, q FindingsOf, form string) (Answer, error) {
	return a.VerbOfRun(ctx, JSON, run, options("explain", form, "stage", q.Stage, "top", q.Top, "min-share", q.MinShare)...)
}

// Diff compares runs, as prof diff does. form is json or blocks, as of the others.
func (a *Asker) Diff(ctx context.Context, q Difference, form string) (Answer, error) {
	args := options("diff", form, "by", q.By, "unfold", q.Unfold, "stage", q.Stage, "metric", string(q.Metric), "top", q.Top, "alpha", q.Alpha, "min-effect", percent(q.MinEffect), "margin", percent(q.Margin))
	if q.AssumeNoise > 0 {
		args = append(args, "--assume-noise="+percent(q.AssumeNoise))
	}
	return a.Verb(ctx, JSON, append(args, "--", q.Base, q.New)...) // no run is an option
}

// Trend follows a workload, as prof trend does.
func (a *Asker) Trend(ctx context.Context, q Course, form string) (Answer, error) {
	args := options("trend", form, "workload", q.Workload, "stage", q.Stage, "load", q.Load, "metric", string(q.Metric), "kernels", q.Kernels)
	for _, tag := range q.Tags {
		args = append(args, "--tag="+tag)
	}
	return a.Verb(ctx, JSON, args...)
}

// Check judges a run, as prof check does.
func (a *Asker) Check(ctx context.Context, q Rules, form string) (Answer, error) {
	args := options("check", form, "baseline", q.Baseline, "alpha", q.Alpha, "run", q.Run)
	for _, rule := range q.Rules {
		args = append(args, "--rule="+rule)
	}
	if len(q.Rules) == 0 { // those of the home are in a file, which no commit changes
		return a.makeEachTime(ctx, a.run(JSON, args))
	}
	return a.Verb(ctx, JSON, args...)
}

// options writes a verb with its form and options, given as names and values, as the command line takes them; those without a value are left out.
func options(verb, form string, pairs ...any) []string {
	out := []string{verb, "--format=" + form}
	for i := 0; i < len(pairs); i += 2 {
		if text := fmt.Sprint(pairs[i+1]); text != "" {
			out = append(out, fmt.Sprintf("--%s=%s", pairs[i], text))
		}
	}
	return out
}

// percent writes a ratio as options take it.
func percent(ratio float64) string { return fmt.Sprintf("%g%%", ratio*100) }
