package jobs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"prof/internal/file"
)

// Register adds the operations of jobs, uploads, and the contract of profile services, to an API. Those that the server was not started for answer 403.
func Register(api huma.API, s *Service) {
	registerJobs(api, s)
	registerUploads(api, s)
	registerProfile(api, s)
}

// Tags of the operations.
const (
	jobsTag    = "jobs"
	uploadsTag = "uploads"
	profileTag = "profile service"
)

// Paths of the API.
const (
	jobsPath    = "/api/v1/jobs"
	uploadsPath = "/api/v1/uploads"
)

// group is operations with one tag, which answer 403 where the server was started without their options.
type group struct {
	api     huma.API
	s       *Service
	tag     string
	allowed bool
	options string // that allow them
}

// add adds an operation. Besides its own errors it may end with those that any may.
func add[I, O any](g group, op huma.Operation, do func(context.Context, *I) (*O, error)) {
	op.Tags, op.RejectUnknownQueryParameters = []string{g.tag}, true
	op.Errors = slices.Concat([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusUnprocessableEntity, http.StatusServiceUnavailable}, op.Errors)
	huma.Register(g.api, op, func(ctx context.Context, in *I) (*O, error) {
		if !g.allowed {
			return nil, huma.Error403Forbidden("this server does not allow it: start it with prof serve " + g.options)
		}
		out, err := do(ctx, in)
		if err != nil {
			return nil, g.s.problem(err)
		}
		return out, nil
	})
}

// posted are the errors of an operation that takes a body and begins something.
var posted = []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests, http.StatusInsufficientStorage}

// problem gives an error the status that clients get.
func (s *Service) problem(err error) error {
	var value *valueError
	var has huma.StatusError
	var known *failure
	switch {
	case errors.As(err, &has):
		return err
	case errors.As(err, &value):
		return huma.Error422UnprocessableEntity("invalid parameter", &huma.ErrorDetail{Message: value.err.Error(), Location: "body.parameters." + value.name})
	case errors.Is(err, errBroken): // what else it says is about the connection
		return huma.NewError(http.StatusBadRequest, errBroken.Error())
	case errors.As(err, &known):
		out := huma.NewError(known.status, err.Error())
		if known.status == http.StatusTooManyRequests {
			return huma.ErrorWithHeaders(out, http.Header{"Retry-After": {"60"}})
		}
		return out
	}
	s.o.Warn(err.Error())
	return huma.Error500InternalServerError("internal error; the server's log says more")
}

// JobPath names a job in a path.
type JobPath struct {
	ID string `path:"id" maxLength:"100" doc:"Id of the job" example:"run-20260102-030405-abcdefghij"`
}

// body is an answer that has nothing but a body.
type body[T any] struct{ Body T }

// JobList is all jobs.
type JobList struct {
	Jobs []Job `json:"jobs" nullable:"false" doc:"The newest first"`
}

// TemplateList is what jobs may run.
type TemplateList struct {
	Templates []*Template `json:"templates" nullable:"false"`
}

type newJobInput struct {
	Body struct {
		Template   string         `json:"template" maxLength:"64" doc:"Name of a template of serve.yaml"`
		Parameters map[string]any `json:"parameters,omitempty" maxProperties:"200" doc:"Values of the template's parameters: strings, numbers or booleans"`
		Name       string         `json:"name,omitempty" maxLength:"200" doc:"Name of the run; absent: the job's id"`
		Tags       []string       `json:"tags,omitempty" nullable:"false" maxItems:"100" doc:"Tags of the run, KEY=VALUE"`
	}
}

type acceptedJob struct {
	Location string `header:"Location"`
	Body     Job
}

func registerJobs(api huma.API, s *Service) {
	run := group{api, s, jobsTag, s.o.AllowRun, "--allow-run"}
	any := group{api, s, jobsTag, s.o.AllowRun || s.o.AllowIngest, "--allow-run or --allow-ingest"}
	add(run, huma.Operation{OperationID: "list-templates", Method: http.MethodGet, Path: "/api/v1/templates",
		Summary: "List what jobs may run", Description: "A template of serve.yaml is a command line with parameters. A job names a template and chooses values; it never names a command."},
		func(context.Context, *struct{}) (*body[TemplateList], error) {
			return &body[TemplateList]{TemplateList{append([]*Template{}, s.o.Config.Templates...)}}, nil
		})
	add(any, huma.Operation{OperationID: "list-jobs", Method: http.MethodGet, Path: jobsPath, Summary: "List the jobs"},
		func(context.Context, *struct{}) (*body[JobList], error) {
			return &body[JobList]{JobList{s.List()}}, nil
		})
	add(run, huma.Operation{OperationID: "create-job", Method: http.MethodPost, Path: jobsPath, DefaultStatus: http.StatusAccepted, Errors: posted,
		Summary: "Capture a run by a template", Description: "The job is queued: one job runs at a time."},
		func(ctx context.Context, in *newJobInput) (*acceptedJob, error) {
			j, err := s.Capture(ctx, in.Body.Template, in.Body.Parameters, in.Body.Name, in.Body.Tags)
			return &acceptedJob{jobsPath + "/" + j.ID, j}, err
		})
	add(any, huma.Operation{OperationID: "get-job", Method: http.MethodGet, Path: jobsPath + "/{id}", Summary: "Show a job", Errors: []int{404}},
		func(_ context.Context, in *JobPath) (*body[Job], error) {
			j, _, err := s.Job(in.ID)
			return &body[Job]{j}, err
		})
	add(any, huma.Operation{OperationID: "cancel-job", Method: http.MethodDelete, Path: jobsPath + "/{id}", Errors: []int{404}, Summary: "Cancel a job",
		Description: "A queued job is canceled at once. A running one is stopped as Ctrl-C stops prof capture: what was captured so far is kept and stored. A job that has ended stays as it is."},
		func(_ context.Context, in *JobPath) (*body[Job], error) {
			j, err := s.Cancel(in.ID)
			return &body[Job]{j}, err
		})
	add(any, huma.Operation{OperationID: "get-job-log", Method: http.MethodGet, Path: jobsPath + "/{id}/log", Errors: []int{404}, Summary: "Show the log of a job",
		Description: "What prof and the workload wrote so far, as text, with secrets masked.",
		Responses:   map[string]*huma.Response{"200": {Description: "The log", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: "string"}}}}}},
		func(_ context.Context, in *JobPath) (*huma.StreamResponse, error) {
			if _, _, err := s.Job(in.ID); err != nil {
				return nil, err
			}
			f, err := file.Open(s.logPath(in.ID))
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				defer f.Close()
				ctx.SetHeader("Content-Type", "text/plain; charset=utf-8")
				ctx.SetStatus(http.StatusOK)
				_, _ = io.Copy(newStream(ctx), f) // the reader has gone
			}}, err
		})
	registerEvents(any)
}
