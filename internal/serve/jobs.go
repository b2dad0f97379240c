package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"prof/internal/serve/ask"
	"prof/internal/serve/jobs"
	"prof/queries"
	"prof/schema"
)

// addJobs adds jobs and uploads.
func (s *Server) addJobs() error {
	o := s.options.Jobs
	o.Runs, o.Warn = stored{s}, s.log
	var err error
	if s.jobs, err = jobs.New(o); err != nil {
		return err
	}
	jobs.Register(s.api, s.jobs)
	return nil
}

// JobsTime is how long a server may take to end its job: as long as that may take after an interrupt, and what killing takes.
func JobsTime(o jobs.Options) time.Duration { return o.Config.Jobs.Grace + 15*time.Second }

// endJobs stops the job that runs.
func (s *Server) endJobs(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, JobsTime(s.options.Jobs))
	defer cancel()
	return s.jobs.Close(ctx)
}

// stored are the runs of the warehouse, for jobs.
type stored struct{ s *Server }

// Find returns the run that a reference names.
func (r stored) Find(ctx context.Context, ref string) (jobs.StoredRun, error) {
	run, err := r.resolve(ctx, ref)
	if errors.Is(err, schema.ErrUnknownRun) { // it may have been stored a moment ago
		looking, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		if r.s.asker.Look(looking) == nil {
			run, err = r.resolve(ctx, ref)
		}
	}
	switch {
	case errors.Is(err, schema.ErrUnknownRun):
		return jobs.StoredRun{}, fmt.Errorf("%w: %.200q", jobs.ErrNoRun, ref)
	case err != nil:
		return jobs.StoredRun{}, r.s.problem(err)
	}
	return jobs.StoredRun{ID: run.ID, Name: run.Name}, nil
}

// lookTime is how long a question waits for a commit to be read: on a busy machine a second or two, and of one that cannot be read the log has it.
const lookTime = 10 * time.Second

func (r stored) resolve(ctx context.Context, ref string) (schema.Run, error) {
	w, done := r.s.asker.Use()
	defer done()
	return w.Resolve(ctx, ref)
}

// Check is an error where no run can have the name or the tags.
func (r stored) Check(ctx context.Context, name string, tags []string) error {
	err := schema.CheckRunName(name)
	for _, tag := range tags {
		_, _, wrong := schema.ParseTag(tag)
		err = errors.Join(err, wrong)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", jobs.ErrInvalid, err)
	}
	w, done := r.s.asker.Use()
	defer done()
	runs, err := w.Runs(ctx)
	if err == nil && slices.ContainsFunc(runs, func(run schema.Run) bool { return run.Name == name }) {
		err = fmt.Errorf("%w: there is already a run with the name %q", jobs.ErrInvalid, name)
	}
	return err
}

// topOperators is how many operators a report lists, as operators.md does.
const topOperators = 20

// Report returns the figures of a run, as metrics.json of its report and the query top-operators have them.
func (r stored) Report(ctx context.Context, run jobs.StoredRun) (*jobs.ProfileReport, error) {
	a, err := r.s.asker.VerbOfRun(ctx, ask.JSON, run.ID, "report", "--out=-", "--file=metrics.json")
	if err != nil {
		return nil, r.s.problem(err)
	}
	var m struct {
		Aggregates    map[string]json.RawMessage `json:"aggregates"`
		MFUModelLevel *float64                   `json:"mfu_model_level"`
		MFUPerStage   map[string]*float64        `json:"mfu_per_stage"`
		Faults        map[string]string          `json:"faults"`
		Missing       map[string]string          `json:"missing"`
	}
	if err := json.Unmarshal(a.Body, &m); err != nil {
		return nil, fmt.Errorf("metrics.json of run %s: %w", run.Name, err)
	}
	out := &jobs.ProfileReport{MFUModelLevel: m.MFUModelLevel, MFUPerStage: m.MFUPerStage, TopOperators: []jobs.ReportOperator{}, Aggregates: map[string]jobs.Spread{}}
	if err := spreads(m.Aggregates, out.Aggregates); err != nil {
		return nil, fmt.Errorf("metrics.json of run %s: %w", run.Name, err)
	}
	notes, err := r.operators(ctx, run, out)
	if err != nil {
		return nil, err
	}
	for _, lacks := range []map[string]string{m.Faults, m.Missing} {
		for _, path := range slices.Sorted(maps.Keys(lacks)) {
			if key, _, _ := strings.Cut(path, "."); key == "mfu_model_level" || key == "mfu_per_stage" || key == "aggregates" && !strings.HasSuffix(path, ".std") {
				notes = append(notes, path+": "+lacks[path])
			}
		}
	}
	out.Notes = strings.Join(notes, "\n")
	return out, nil
}

// spreads are the figures of metrics.json; those under stage_ms are called STAGE_ms.
func spreads(from map[string]json.RawMessage, into map[string]jobs.Spread) error {
	for key, text := range from {
		if key == "stage_ms" {
			continue
		}
		var one jobs.Spread
		if err := json.Unmarshal(text, &one); err != nil { // null is one without figures
			return fmt.Errorf("aggregates.%s: %w", key, err)
		}
		into[key] = one
	}
	stages := map[string]json.RawMessage{}
	if text := from["stage_ms"]; text != nil {
		if err := json.Unmarshal(text, &stages); err != nil {
			return fmt.Errorf("aggregates.stage_ms: %w", err)
		}
	}
	for stage, text := range stages {
		if _, ok := into[stage+"_ms"]; ok {
			continue
		}
		if err := spreads(map[string]json.RawMessage{stage + "_ms": text}, into); err != nil {
			return err
		}
	}
	return nil
}

// operators puts the operators that take the most time, and gives what a reader must know of them.
func (r stored) operators(ctx context.Context, run jobs.StoredRun, out *jobs.ProfileReport) (notes []string, err error) {
	q, err := queries.Find("top-operators")
	if err != nil {
		return nil, err
	}
	a, err := r.s.asker.Query(ctx, q, run.ID, queries.Args{"top": "0"}, "json", 0)
	if err != nil {
		return nil, r.s.problem(err)
	}
	var answer struct {
		Rows []struct {
			Operator string   `json:"operator"`
			Calls    *int64   `json:"calls"`
			CPU      *float64 `json:"total_cpu_ns"`
			Device   *float64 `json:"total_device_ns"`
		} `json:"rows"`
		Notes []string `json:"notes"`
	}
	if err := json.Unmarshal(a.Body, &answer); err != nil {
		return nil, fmt.Errorf("operators of run %s: %w", run.Name, err)
	}
	ms := func(ns *float64) *float64 {
		if ns == nil {
			return nil
		}
		v := *ns / 1e6
		return &v
	}
	for _, row := range answer.Rows {
		if row.Calls == nil { // work outside operators
			continue
		}
		if len(out.TopOperators) == topOperators {
			break
		}
		one := jobs.ReportOperator{Name: row.Operator, TotalMs: ms(row.CPU), DeviceMs: ms(row.Device), Calls: row.Calls}
		if one.TotalMs != nil && *row.Calls > 0 {
			mean := *one.TotalMs / float64(*row.Calls)
			one.MeanMs = &mean
		}
		out.TopOperators = append(out.TopOperators, one)
	}
	return answer.Notes, nil
}
