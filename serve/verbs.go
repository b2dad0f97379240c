package serve

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"prof/serve/ask"
)

// Fields is an object of JSON whose fields the documentation of its verb lists.
type Fields = map[string]any

// Summary is a run on one screen: prof show.
type Summary struct {
	Run    string            `json:"run" doc:"run name"`
	Facts  map[string]string `json:"facts" doc:"what the run is, in words"`
	Stages []Fields          `json:"stages" doc:"each with its time, what bounds it and why"`
}

// FindingList is what could make a run faster: prof explain.
type FindingList struct {
	Run      string   `json:"run" doc:"run name"`
	Findings []Fields `json:"findings" doc:"each with its saving in ns, the numbers behind it, what to try, and its query"`
	Notes    []string `json:"notes"`
}

// DiffList is what differs between runs: prof diff.
type DiffList struct {
	Version     int      `json:"version" doc:"of this form"`
	Comparisons []Fields `json:"comparisons" doc:"each side, verdict, stages with their test, contributors, and what adds up to the change"`
}

// Trend is a workload over time: prof trend.
type Trend struct {
	Version int      `json:"version" doc:"of this form"`
	Metric  string   `json:"metric"`
	Unit    string   `json:"unit"`
	Runs    []Fields `json:"runs" doc:"with their provenance"`
	Series  []Fields `json:"series" doc:"points by stage, and levels"`
	Changes []Fields `json:"changes" doc:"where the level changed, and by what"`
	Notes   []string `json:"notes"`
}

// Judgement is a run by rules: prof check.
type Judgement struct {
	Version int      `json:"version" doc:"of this form"`
	Outcome string   `json:"outcome" doc:"whether all rules hold"`
	Words   string   `json:"words"`
	Rules   []Fields `json:"rules" doc:"each with its outcome and reason"`
	Notes   []string `json:"notes"`
}

type diffInput struct {
	Question
	Base        string  `query:"base" required:"true" minLength:"1" maxLength:"2000" doc:"the run or runs to compare with: any reference, or several with commas between them"`
	New         string  `query:"new" required:"true" minLength:"1" maxLength:"2000" doc:"the run or runs that are compared"`
	By          string  `query:"by" enum:"kernel,family,grid,stage,operator,range,metric" default:"kernel" doc:"what is compared"`
	Stage       string  `query:"stage" maxLength:"300" doc:"only this stage"`
	Metric      string  `query:"metric" enum:"gpu_span_ns,gpu_busy_ns,gpu_sum_ns,cpu_ns" doc:"judge by this"`
	Top         int     `query:"top" minimum:"0" maximum:"100000" default:"10" doc:"rows of a stage, the largest change first; 0 for all"`
	Alpha       float64 `query:"alpha" exclusiveMinimum:"0" exclusiveMaximum:"0.5" default:"0.01" doc:"probability of calling noise a change"`
	MinEffect   float64 `query:"min_effect" minimum:"0" maximum:"9" default:"0.01" doc:"smaller changes, as ratios, count as none"`
	Margin      float64 `query:"margin" minimum:"0" maximum:"9" default:"0.05" doc:"no change means that it is certainly smaller than this ratio"`
	AssumeNoise float64 `query:"assume_noise" minimum:"0" maximum:"9" doc:"identical runs may differ by up to this ratio; by default from earlier runs"`
}

type trendInput struct {
	Question
	Workload string   `query:"workload" maxLength:"4000" doc:"key of the workload, a prefix of it, or a run of it; by default the latest run's"`
	Stage    string   `query:"stage" maxLength:"300" doc:"only this stage; (run) for runs without stages"`
	Tags     []string `query:"tag,explode" maxItems:"20" doc:"only runs with this tag, key=value"`
	Metric   string   `query:"metric" enum:"gpu_span_ns,gpu_busy_ns,gpu_sum_ns,cpu_ns,mfu_ratio,mbu_ratio,tokens_per_s" default:"gpu_span_ns" doc:"what is followed"`
	Kernels  int      `query:"kernels" minimum:"0" maximum:"1000" default:"10" doc:"look for the cause of a change in so many kernels of each stage"`
}

type checkInput struct {
	Question
	Run      string   `query:"run" minLength:"1" maxLength:"2000" default:"@latest" doc:"the run or runs to judge"`
	Baseline string   `query:"baseline" maxLength:"2000" doc:"the run or runs to compare with; by default the only baseline"`
	Rules    []string `query:"rule,explode" maxItems:"50" doc:"a rule, as prof check takes it; by default those of the warehouse"`
	Alpha    float64  `query:"alpha" exclusiveMinimum:"0" exclusiveMaximum:"0.5" default:"0.01" doc:"probability of calling noise a regression, over all rules"`
}

// addVerbs adds what prof show, explain, diff, trend and check answer.
func (s *Server) addVerbs() error {
	show := get("show-run", "/api/v1/runs/{run}", "runs", "A run on one screen: its stages, what bounds them, what to try", "As prof show --format json.")
	show.Responses = s.response(reflect.TypeFor[Summary](), "the summary")
	addVerb(s, show, func(in *struct {
		Question
		NamesRun
	}) (Question, []string) {
		return in.Question, options("show", "run", in.Run)
	})

	explain := get("explain-run", "/api/v1/runs/{run}/findings", "runs", "What could make a run faster, ranked by the time it could save", "As prof explain --format json.")
	explain.Responses = s.response(reflect.TypeFor[FindingList](), "the findings")
	addVerb(s, explain, func(in *struct {
		Question
		NamesRun
		Stage    string  `query:"stage" maxLength:"300" doc:"only findings of this stage; (none) for those of all device work"`
		Top      int     `query:"top" minimum:"0" maximum:"100000" default:"10" doc:"findings at most; 0 for all"`
		MinShare float64 `query:"min_share" minimum:"0" maximum:"1" default:"0.01" doc:"only findings that could save at least this share of their stage"`
	}) (Question, []string) {
		return in.Question, options("explain", "stage", in.Stage, "top", in.Top, "min-share", in.MinShare, "run", in.Run)
	})

	diff := get("diff-runs", "/api/v1/diff", "compare", "What differs between runs, and whether it is certain", "As prof diff --format json.")
	diff.Responses = s.response(reflect.TypeFor[DiffList](), "the comparison")
	addVerb(s, diff, func(in *diffInput) (Question, []string) {
		args := options("diff", "by", in.By, "stage", in.Stage, "metric", in.Metric, "top", in.Top, "alpha", in.Alpha, "min-effect", percent(in.MinEffect), "margin", percent(in.Margin))
		if in.AssumeNoise > 0 {
			args = append(args, "--assume-noise="+percent(in.AssumeNoise))
		}
		return in.Question, append(args, "--", in.Base, in.New) // no run is an option
	})

	trend := get("follow-workload", "/api/v1/trend", "compare", "A workload over time, and where its level changed", "As prof trend --format json.")
	trend.Responses = s.response(reflect.TypeFor[Trend](), "the trend")
	addVerb(s, trend, func(in *trendInput) (Question, []string) {
		args := options("trend", "workload", in.Workload, "stage", in.Stage, "metric", in.Metric, "kernels", in.Kernels)
		for _, tag := range in.Tags {
			args = append(args, "--tag="+tag)
		}
		return in.Question, args
	})

	check := get("check-run", "/api/v1/check", "compare", "A run judged by rules", "As prof check --format json: outcome says whether a rule is broken.")
	check.Responses = s.response(reflect.TypeFor[Judgement](), "the judgement")
	addVerb(s, check, func(in *checkInput) (Question, []string) {
		args := options("check", "baseline", in.Baseline, "alpha", in.Alpha, "run", in.Run)
		for _, rule := range in.Rules {
			args = append(args, "--rule="+rule)
		}
		return in.Question, args
	})
	return nil
}

// addVerb adds an operation that a verb of the command line answers as JSON.
func addVerb[I any](s *Server, op huma.Operation, args func(*I) (Question, []string)) {
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*answered, error) {
		q, words := args(in)
		return s.give(ctx, q, func(ctx context.Context) (ask.Answer, error) {
			return s.asker.Verb(ctx, ask.JSON, slices.Insert(words, 1, "--format=json")...)
		})
	})
}

// options writes a verb and its options, given as names and values, as the command line takes them; those without a value are left out.
func options(verb string, pairs ...any) []string {
	out := []string{verb}
	for i := 0; i < len(pairs); i += 2 {
		if text := fmt.Sprint(pairs[i+1]); text != "" {
			out = append(out, fmt.Sprintf("--%s=%s", pairs[i], text))
		}
	}
	return out
}

// percent writes a ratio as options take it.
func percent(ratio float64) string { return fmt.Sprintf("%g%%", ratio*100) }
