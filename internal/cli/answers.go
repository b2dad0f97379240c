package cli

import (
	"context"
	"errors"

	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/schema"
)

// What verbs read of answers that no judgement reads.
var (
	captureRows    = frame.RowsOf[captureRow]("captures")
	passRows       = frame.RowsOf[passRow]("capture-passes")
	keptRows       = frame.RowsOf[keptRow]("kept-files")
	inputRows      = frame.RowsOf[inputRow]("input-stages")
	memoryRows     = frame.RowsOf[memoryRow]("memory-peaks")
	diagnosticRows = frame.RowsOf[diagnosticRow]("diagnostics")
	lossRows       = frame.RowsOf[lossRow]("losses")
	planRows       = frame.RowsOf[planRow]("ncu-plan")
)

// captureRow is a row of captures.
type captureRow struct {
	Mode       string `col:"mode"`
	Status     string `col:"status"`
	Reason     string `col:"reason"`
	GitCommit  string `col:"git_commit"`
	GitBranch  string `col:"git_branch"`
	IsGitDirty *bool  `col:"is_git_dirty"`
	SourceID   int64  `col:"source_id"`
	StartedAt  string `col:"started_at"`
}

// passRow is a row of capture-passes.
type passRow struct {
	Pass       string `col:"pass"`
	Tool       string `col:"tool"`
	Status     string `col:"status"`
	Reason     string `col:"reason"`
	WorkloadNs *int64 `col:"workload_ns"`
	DurationNs *int64 `col:"duration_ns"`
}

// keptRow is a row of kept-files.
type keptRow struct {
	Path      string `col:"path"`
	SizeBytes *int64 `col:"size_bytes"`
	Reason    string `col:"reason"`
}

// inputRow is a row of input-stages.
type inputRow struct {
	Input           string   `col:"input"`
	Stage           string   `col:"stage"`
	GPUSpanMedianNs *float64 `col:"gpu_span_median_ns"`
	AloneMedianNs   *float64 `col:"alone_median_ns"`
}

// memoryRow is a row of memory-peaks.
type memoryRow struct {
	Stage     string `col:"stage"`
	Basis     string `col:"basis"`
	Pass      string `col:"pass"`
	PeakBytes *int64 `col:"peak_bytes"`
}

// diagnosticRow is a row of diagnostics.
type diagnosticRow struct {
	Severity string `col:"severity"`
}

// lossRow is a row of losses.
type lossRow struct {
	Capture string `col:"capture"`
}

// planRow is a row of ncu-plan.
type planRow struct {
	Symbol       string `col:"symbol"`
	Invocation   *int64 `col:"invocation"` // nil: of a graph with conditional nodes
	SkipCount    *int64 `col:"skip_count"`
	Match        *int64 `col:"match_nth"`
	BeforeCount  int64  `col:"before_count"`
	RecordingNs  *int64 `col:"recording_ns"`
	PID          int64  `col:"pid"`
	RankID       *int64 `col:"rank_id"`
	Device       *int64 `col:"device"`
	GPUNth       *int64 `col:"gpu_nth"`
	ProcessCount int64  `col:"process_count"`
	DeviceCount  int64  `col:"device_count"`
}

// runAnswers are those of a run, with the errors of reading them.
type runAnswers struct {
	*judge.Report
	err error
}

// askRun asks queries about a run.
func askRun(ctx context.Context, a *queries.Asker, run schema.Run, names ...string) (*runAnswers, error) {
	list := make([]queries.Question, len(names))
	for i, name := range names {
		list[i] = queries.Question{Query: name, Args: queries.Args{"run": run.ID}}
	}
	frames, err := a.AskAll(ctx, list)
	of := &runAnswers{Report: &judge.Report{Name: run.Name, Frames: map[string]*frame.Frame{}}}
	for i, name := range names {
		of.Frames[name] = frames[i]
	}
	return of, err
}

// rowsIn returns the rows of an answer; none where it was not asked.
func rowsIn[T any](a *runAnswers, rows frame.Rows[T]) []T {
	list, err := rows.Of(a.Frame(rows.Query))
	a.err = errors.Join(a.err, err)
	return list
}

// runNamed asks a query about a run.
func runNamed(ctx context.Context, w *schema.Warehouse, name, run string) (*frame.Frame, error) {
	q, err := queries.Find(name)
	if err != nil {
		return nil, err
	}
	return queries.Run(ctx, w, q, queries.Args{"run": run})
}

// rowsNamed asks a query about a run, and reads its rows.
func rowsNamed[T any](ctx context.Context, w *schema.Warehouse, rows frame.Rows[T], run string) ([]T, error) {
	f, err := runNamed(ctx, w, rows.Query, run)
	if err != nil {
		return nil, err
	}
	return rows.Of(f)
}
