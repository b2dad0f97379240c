package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
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

// failures are the errors that an operation may end with: those that any may, and its own.
func failures(own ...int) []int {
	return append([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusUnprocessableEntity, http.StatusServiceUnavailable}, own...)
}

// needRun and needIngest refuse what the server was not started for.
func (s *Service) needRun() error {
	if !s.o.AllowRun {
		return huma.Error403Forbidden("this server runs no jobs: start it with prof serve --allow-run")
	}
	return nil
}

func (s *Service) needIngest() error {
	if !s.o.AllowIngest {
		return huma.Error403Forbidden("this server takes no uploads: start it with prof serve --allow-ingest")
	}
	return nil
}

func (s *Service) needEither() error {
	if !s.o.AllowRun && !s.o.AllowIngest {
		return huma.Error403Forbidden("this server runs no jobs: start it with prof serve --allow-run or --allow-ingest")
	}
	return nil
}

// problem gives an error the status that clients get.
func (s *Service) problem(err error) error {
	var value *valueError
	var has huma.StatusError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &has):
		return err
	case errors.As(err, &value):
		return huma.Error422UnprocessableEntity("a parameter is wrong", &huma.ErrorDetail{Message: value.err.Error(), Location: "body.parameters." + value.name})
	case errors.Is(err, ErrNoJob), errors.Is(err, ErrNoUpload), errors.Is(err, ErrNoRun):
		return huma.Error404NotFound(err.Error())
	case errors.Is(err, ErrFull):
		return huma.ErrorWithHeaders(huma.Error429TooManyRequests(err.Error()), http.Header{"Retry-After": {"60"}})
	case errors.Is(err, ErrOffset), errors.Is(err, ErrInUse):
		return huma.Error409Conflict(err.Error())
	case errors.Is(err, ErrBroken): // should the sender still listen
		return huma.Error400BadRequest(ErrBroken.Error())
	case errors.Is(err, ErrEmpty):
		return huma.Error400BadRequest(err.Error())
	case errors.Is(err, ErrTooLarge):
		return huma.NewError(http.StatusRequestEntityTooLarge, err.Error())
	case errors.Is(err, ErrHash), errors.Is(err, ErrBadUpload), errors.Is(err, ErrBadName):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, ErrNoSpace):
		return huma.NewError(http.StatusInsufficientStorage, err.Error())
	case errors.Is(err, ErrClosing):
		return huma.Error503ServiceUnavailable(err.Error())
	}
	s.o.Warn(err.Error())
	return huma.Error500InternalServerError("the server could not do it; its log says why")
}

// JobPath names a job in a path.
type JobPath struct {
	ID string `path:"id" maxLength:"100" doc:"Id of the job" example:"run-20260102-030405-abcdefghij"`
}

type jobOutput struct{ Body Job }

type jobsOutput struct {
	Body struct {
		Jobs []Job `json:"jobs" nullable:"false" doc:"The newest first"`
	}
}

type newJobInput struct {
	Body struct {
		Template   string         `json:"template" maxLength:"64" doc:"Name of a template of serve.yaml"`
		Parameters map[string]any `json:"parameters,omitempty" maxProperties:"200" doc:"Values of the template's parameters: texts, numbers or booleans"`
		Name       string         `json:"name,omitempty" maxLength:"200" doc:"Name of the run; absent: the job's id"`
		Tags       []string       `json:"tags,omitempty" nullable:"false" maxItems:"100" doc:"Tags of the run, KEY=VALUE"`
	}
}

type acceptedJob struct {
	Location string `header:"Location"`
	Body     Job
}

// TemplateInfo is what clients see of a template.
type TemplateInfo struct {
	Name       string               `json:"name"`
	Doc        string               `json:"doc,omitempty"`
	TimeoutNs  int64                `json:"timeout_ns" doc:"A job that takes longer is stopped"`
	Parameters []*TemplateParameter `json:"parameters" nullable:"false"`
}

type templatesOutput struct {
	Body struct {
		Templates []TemplateInfo `json:"templates" nullable:"false"`
	}
}

func registerJobs(api huma.API, s *Service) {
	huma.Register(api, huma.Operation{OperationID: "list-templates", Method: http.MethodGet, Path: "/api/v1/templates", Tags: []string{jobsTag}, RejectUnknownQueryParameters: true, Errors: failures(),
		Summary: "List what jobs may run", Description: "A template of serve.yaml is a command line with parameters. A job names a template and chooses values; it never names a command."},
		func(context.Context, *struct{}) (*templatesOutput, error) {
			if err := s.needRun(); err != nil {
				return nil, err
			}
			out := &templatesOutput{}
			out.Body.Templates = []TemplateInfo{}
			for _, t := range s.o.Config.Templates {
				out.Body.Templates = append(out.Body.Templates, TemplateInfo{t.Name, t.Doc, t.Timeout.Nanoseconds(), append([]*TemplateParameter{}, t.Parameters...)})
			}
			return out, nil
		})
	huma.Register(api, huma.Operation{OperationID: "list-jobs", Method: http.MethodGet, Path: jobsPath, Tags: []string{jobsTag}, Summary: "List the jobs", RejectUnknownQueryParameters: true, Errors: failures()},
		func(context.Context, *struct{}) (*jobsOutput, error) {
			if err := s.needEither(); err != nil {
				return nil, err
			}
			out := &jobsOutput{}
			out.Body.Jobs = s.List()
			return out, nil
		})
	huma.Register(api, huma.Operation{OperationID: "create-job", Method: http.MethodPost, Path: jobsPath, Tags: []string{jobsTag}, DefaultStatus: http.StatusAccepted,
		Summary: "Capture a run by a template", Description: "The job waits for those before it: one runs at a time.", RejectUnknownQueryParameters: true, Errors: failures(413, 415, 429, 507)},
		func(ctx context.Context, in *newJobInput) (*acceptedJob, error) {
			if err := s.needRun(); err != nil {
				return nil, err
			}
			j, err := s.Capture(ctx, in.Body.Template, in.Body.Parameters, in.Body.Name, in.Body.Tags)
			if err != nil {
				return nil, s.problem(err)
			}
			return &acceptedJob{jobsPath + "/" + j.ID, j}, nil
		})
	huma.Register(api, huma.Operation{OperationID: "get-job", Method: http.MethodGet, Path: jobsPath + "/{id}", Tags: []string{jobsTag}, Summary: "Show a job", RejectUnknownQueryParameters: true, Errors: failures(404)},
		func(_ context.Context, in *JobPath) (*jobOutput, error) {
			if err := s.needEither(); err != nil {
				return nil, err
			}
			j, _, err := s.Job(in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &jobOutput{j}, nil
		})
	huma.Register(api, huma.Operation{OperationID: "cancel-job", Method: http.MethodDelete, Path: jobsPath + "/{id}", Tags: []string{jobsTag}, RejectUnknownQueryParameters: true, Errors: failures(404), Summary: "Cancel a job",
		Description: "A job that waits is canceled at once. One that runs is stopped as Ctrl-C stops prof capture: what was captured so far is kept and stored. A job that has ended stays as it is."},
		func(_ context.Context, in *JobPath) (*jobOutput, error) {
			if err := s.needEither(); err != nil {
				return nil, err
			}
			j, err := s.Cancel(in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &jobOutput{j}, nil
		})
	huma.Register(api, huma.Operation{OperationID: "get-job-log", Method: http.MethodGet, Path: jobsPath + "/{id}/log", Tags: []string{jobsTag}, RejectUnknownQueryParameters: true, Errors: failures(404), Summary: "Show the log of a job",
		Description: "What prof and the workload wrote so far, as text, with secrets masked.",
		Responses:   map[string]*huma.Response{"200": {Description: "The log", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: "string"}}}}}},
		func(_ context.Context, in *JobPath) (*huma.StreamResponse, error) {
			if err := s.needEither(); err != nil {
				return nil, err
			}
			if _, _, err := s.Job(in.ID); err != nil {
				return nil, s.problem(err)
			}
			f, err := s.openLog(in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				ctx.SetHeader("Content-Type", "text/plain; charset=utf-8")
				if f == nil {
					ctx.SetStatus(http.StatusOK)
					return
				}
				defer f.Close()
				w := newStream(ctx.BodyWriter())
				_, _ = io.Copy(w, f) // the reader has gone
			}}, nil
		})
	registerEvents(api, s)
}

// stream writes to a client as long as that reads: each write has a deadline of its own.
type stream struct {
	w io.Writer
	c *http.ResponseController // nil where the writer is none of net/http
}

// writeWithin is how long a client may take to read what is written at once.
const writeWithin = 30 * time.Second

func newStream(w io.Writer) stream {
	out := stream{w: w}
	if rw, ok := w.(http.ResponseWriter); ok {
		out.c = http.NewResponseController(rw)
	}
	return out
}

func (s stream) Write(text []byte) (int, error) {
	if s.c != nil {
		_ = s.c.SetWriteDeadline(time.Now().Add(writeWithin)) // some writers have none
	}
	return s.w.Write(text)
}

func (s stream) flush() {
	if s.c != nil {
		_ = s.c.Flush() // what cannot be flushed arrives later
	}
}

type eventsInput struct {
	JobPath
	LastEventID string `header:"Last-Event-ID" maxLength:"20" doc:"Id of the last event that arrived: events go on after it"`
}

// LogEvent is a part of a log.
type LogEvent struct {
	Lines []string `json:"lines" nullable:"false" doc:"Whole lines of the log"`
}

// keepAlive is how often something is sent where nothing happens.
const keepAlive = 15 * time.Second

func registerEvents(api huma.API, s *Service) {
	schemas := api.OpenAPI().Components.Schemas
	event := func(name, doc string, data *huma.Schema) *huma.Schema {
		return &huma.Schema{Type: "object", Description: doc, Required: []string{"event", "data"}, Properties: map[string]*huma.Schema{
			"id": {Type: "integer"}, "event": {Type: "string", Enum: []any{name}}, "data": data}}
	}
	events := &huma.Schema{Type: "array", Description: "Server-sent events", Items: &huma.Schema{OneOf: []*huma.Schema{
		event("log", "Lines of the log; the id is where the log goes on", schemas.Schema(typeOf[LogEvent](), true, "LogEvent")),
		event("job", "The job, whenever its status changes; after its end, nothing more comes", schemas.Schema(typeOf[Job](), true, "Job")),
	}}}
	huma.Register(api, huma.Operation{OperationID: "follow-job", Method: http.MethodGet, Path: jobsPath + "/{id}/events", Tags: []string{jobsTag}, RejectUnknownQueryParameters: true, Errors: failures(404),
		Summary: "Follow a job", Description: "The log and the status of a job as server-sent events, until it ends. A client that reconnects with Last-Event-ID gets each line once.",
		Responses: map[string]*huma.Response{"200": {Description: "Events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: events}}}}},
		func(_ context.Context, in *eventsInput) (*huma.StreamResponse, error) {
			if err := s.needEither(); err != nil {
				return nil, err
			}
			if _, _, err := s.Job(in.ID); err != nil {
				return nil, s.problem(err)
			}
			offset := int64(0)
			if in.LastEventID != "" {
				var err error
				if offset, err = strconv.ParseInt(in.LastEventID, 10, 64); err != nil || offset < 0 {
					return nil, huma.Error422UnprocessableEntity("Last-Event-ID must be the id of an event")
				}
			}
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				_ = ctx.SetReadDeadline(time.Time{}) // that of the request's body, which would end the stream
				ctx.SetHeader("Content-Type", "text/event-stream")
				ctx.SetHeader("Cache-Control", "no-store")
				ctx.SetStatus(http.StatusOK)
				_ = s.follow(ctx.Context(), in.ID, offset, newStream(ctx.BodyWriter())) // the client has gone
			}}, nil
		})
}

// follow sends what becomes of a job, from an offset of its log on, until it ends or the server closes.
func (s *Service) follow(ctx context.Context, id string, offset int64, w stream) error {
	last := ""
	var log *os.File
	defer func() {
		if log != nil {
			log.Close()
		}
	}()
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		j, changed, err := s.Job(id)
		if err != nil {
			return err
		}
		if log == nil {
			if log, err = s.openLog(id); err != nil {
				return err
			}
		}
		if log != nil {
			if offset, err = sendLog(log, offset, w); err != nil {
				return err
			}
		}
		// Whoever waits does not see the jobs before it go.
		if now := fmt.Sprint(j.Status, j.Stopping); now != last {
			if last, err = now, sendEvent(w, "job", "", j); err != nil {
				return err
			}
		}
		w.flush()
		if j.ended() {
			return nil
		}
		select {
		case <-changed:
		case <-tick.C:
			if _, err := io.WriteString(w, ": \n\n"); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		case <-s.ctx.Done(): // the client asks the next server
			return nil
		}
	}
}

// sendLog sends the whole lines of a log from an offset on.
func sendLog(log io.ReaderAt, offset int64, w stream) (int64, error) {
	buf := make([]byte, 64<<10) // more than a line of the log has
	for {
		n, err := log.ReadAt(buf, offset)
		text := string(buf[:n])
		text = text[:strings.LastIndexByte(text, '\n')+1]
		if text == "" {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return offset, err
		}
		offset += int64(len(text))
		if err := sendEvent(w, "log", strconv.FormatInt(offset, 10), LogEvent{strings.Split(strings.TrimSuffix(text, "\n"), "\n")}); err != nil {
			return offset, err
		}
	}
}

func sendEvent(w stream, event, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	_, err = fmt.Fprintf(w, "%sevent: %s\ndata: %s\n\n", id, event, text)
	return err
}
