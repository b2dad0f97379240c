package serve

import (
	"context"

	"prof/serve/ask"
)

// Fields is an object of JSON whose fields the documentation of its verb lists.
type Fields = map[string]any

// Summary is a run on one screen: prof show.
type Summary struct {
	_      struct{}          `additionalProperties:"true"`
	Run    string            `json:"run" doc:"run name"`
	Facts  map[string]string `json:"facts" doc:"what the run is, in words"`
	Stages []Fields          `json:"stages" doc:"each with its time, what bounds it and why"`
}

// FindingList is what could make a run faster: prof explain.
type FindingList struct {
	_        struct{} `additionalProperties:"true"`
	Run      string   `json:"run" doc:"run name"`
	Findings []Fields `json:"findings" doc:"each with its saving in ns, the numbers behind it, what to try, and its query"`
	Notes    []string `json:"notes"`
}

// DiffList is what differs between runs: prof diff.
type DiffList struct {
	_           struct{} `additionalProperties:"true"`
	Version     int      `json:"version" doc:"of this form"`
	Comparisons []Fields `json:"comparisons" doc:"each side, verdict, stages with their test, contributors, and what adds up to the change"`
}

// Trend is a workload over time: prof trend.
type Trend struct {
	_       struct{} `additionalProperties:"true"`
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
	_       struct{} `additionalProperties:"true"`
	Version int      `json:"version" doc:"of this form"`
	Outcome string   `json:"outcome" doc:"whether all rules hold"`
	Words   string   `json:"words"`
	Rules   []Fields `json:"rules" doc:"each with its outcome and reason"`
	Notes   []string `json:"notes"`
}

// addVerbs adds what prof show, explain, diff, trend and check answer.
func (s *Server) addVerbs() error {
	type OfRun struct {
		Question
		NamesRun
	}
	show := get("show-run", "/api/v1/runs/{run}", "runs", "A run on one screen: its stages, what bounds them, what to try", "As prof show --format json.")
	addAnswer[Summary](s, show, func(ctx context.Context, in *OfRun) (ask.Answer, error) { return s.asker.Summary(ctx, in.Run) })

	type findings struct {
		OfRun
		ask.FindingsOf
	}
	explain := get("explain-run", "/api/v1/runs/{run}/findings", "runs", "What could make a run faster, ranked by the time it could save", "As prof explain --format json.")
	addAnswer[FindingList](s, explain, func(ctx context.Context, in *findings) (ask.Answer, error) {
		return s.asker.Findings(ctx, in.Run, in.FindingsOf)
	})

	type diff struct {
		Question
		ask.Difference
	}
	compare := get("diff-runs", "/api/v1/diff", "compare", "What differs between runs, and whether it is certain", "As prof diff --format json.")
	addAnswer[DiffList](s, compare, func(ctx context.Context, in *diff) (ask.Answer, error) { return s.asker.Diff(ctx, in.Difference) })

	type trend struct {
		Question
		ask.Course
	}
	follow := get("follow-workload", "/api/v1/trend", "compare", "A workload over time, and where its level changed", "As prof trend --format json.")
	addAnswer[Trend](s, follow, func(ctx context.Context, in *trend) (ask.Answer, error) { return s.asker.Trend(ctx, in.Course) })

	type check struct {
		Question
		ask.Rules
	}
	judge := get("check-run", "/api/v1/check", "compare", "A run judged by rules", "As prof check --format json: outcome says whether a rule is broken.")
	addAnswer[Judgement](s, judge, func(ctx context.Context, in *check) (ask.Answer, error) { return s.asker.Check(ctx, in.Rules) })
	return nil
}
