package serve

import (
	"context"

	"prof/internal/serve/ask"
	"prof/render/compare"
	"prof/render/report"
)

// Fields is an object of JSON whose members its documentation lists.
type Fields = map[string]any

// InBlocks asks for an answer as people see it.
type InBlocks struct {
	Format string `query:"format" enum:"json,blocks" default:"json" doc:"blocks: what the command line says to people, block by block (documents), for a page that draws it"`
}

// Summary is a run on one screen: prof show.
type Summary struct {
	report.SummaryForm[map[string]string]
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
		InBlocks
		ask.FindingsOf
	}
	explain := get("explain-run", "/api/v1/runs/{run}/findings", "runs", "What could make a run faster, ranked by the time it could save", "As prof explain --format json.")
	addAnswer[report.FindingsForm](s, explain, func(ctx context.Context, in *findings) (ask.Answer, error) {
		return s.asker.Findings(ctx, in.Run, in.FindingsOf, in.Format)
	})

	type difference struct {
		Question
		InBlocks
		ask.Difference
	}
	between := get("diff-runs", "/api/v1/diff", "compare", "What differs between runs, and whether it is certain", "As prof diff --format json.")
	addAnswer[compare.DiffForm](s, between, func(ctx context.Context, in *difference) (ask.Answer, error) {
		return s.asker.Diff(ctx, in.Difference, in.Format)
	})

	type trend struct {
		Question
		InBlocks
		ask.Course
	}
	follow := get("follow-workload", "/api/v1/trend", "compare", "A workload over time, and where its level changed", "As prof trend --format json.")
	addAnswer[compare.TrendForm](s, follow, func(ctx context.Context, in *trend) (ask.Answer, error) {
		return s.asker.Trend(ctx, in.Course, in.Format)
	})

	type check struct {
		Question
		InBlocks
		ask.Rules
	}
	judge := get("check-run", "/api/v1/check", "compare", "A run judged by rules", "As prof check --format json: outcome says whether a rule is broken.")
	addAnswer[compare.GateForm](s, judge, func(ctx context.Context, in *check) (ask.Answer, error) {
		return s.asker.Check(ctx, in.Rules, in.Format)
	})
	return nil
}
