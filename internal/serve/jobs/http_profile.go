package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/klauspost/compress/gzhttp"
)

// ProfileReport is what GET /reports/{run_id} gives of a run. What is not known is null, and the notes say why.
type ProfileReport struct {
	RunID         string              `json:"run_id"`
	MFUModelLevel *float64            `json:"mfu_model_level" doc:"Model FLOPs utilization of the whole pass; null where it is not known"`
	MFUPerStage   map[string]*float64 `json:"mfu_per_stage" doc:"By stage"`
	TopOperators  []ReportOperator    `json:"top_operators" nullable:"false"`
	Aggregates    map[string]Spread   `json:"aggregates" doc:"Figures of all passes, by name, such as prefill_ms or tokens_per_s"`
	Notes         string              `json:"notes" doc:"What a reader must know of the figures"`
}

// ReportOperator is one operator of a report.
type ReportOperator struct {
	Name     string   `json:"op_name"`
	TotalMs  *float64 `json:"total_time_ms" doc:"On the CPU, children included"`
	DeviceMs *float64 `json:"cuda_time_ms" doc:"Of the kernels that it launched"`
	Calls    *int64   `json:"calls"`
	MeanMs   *float64 `json:"mean_ms"`
}

// Spread is the mean of a figure and its standard deviation.
type Spread struct {
	Mean *float64 `json:"mean"`
	Std  *float64 `json:"std"`
}

// Artifact is a file of a capture.
type Artifact struct {
	Name   string `json:"name" doc:"Below the folder of the run"`
	URL    string `json:"url"`
	Size   int64  `json:"size_bytes"`
	SHA256 string `json:"sha256"`
}

// RunPath names a run, or the job that makes it, in a path.
type RunPath struct {
	Run string `path:"run_id" maxLength:"250" doc:"Id of the job that made the run, or any reference to a run: name, id, @latest, tag:KEY=VALUE, baseline:NAME"`
}

type profileInput struct {
	Body struct {
		Model    string `json:"model" minLength:"1" maxLength:"4096" example:"deepseek-ocr"`
		Manifest string `json:"inputs_manifest" minLength:"1" maxLength:"4096" doc:"Manifest of the inputs, as the template allows"`
		Mode     string `json:"profiling_mode,omitempty" enum:"deep,light" default:"deep"`
	}
}

// ProfileJob is the job of POST /profile/run.
type ProfileJob struct {
	RunID string `json:"run_id"`
}

type stageInput struct {
	Body struct {
		Model     string `json:"model_path" minLength:"1" maxLength:"4096"`
		Inputs    string `json:"input_dir" minLength:"1" maxLength:"4096"`
		Repeats   int64  `json:"repeats,omitempty" minimum:"1" maximum:"1000000" default:"3"`
		Flash     *bool  `json:"use_flash_attn,omitempty" default:"true"`
		Device    string `json:"device,omitempty" maxLength:"100" default:"cuda:0"`
		NewTokens int64  `json:"max_new_tokens,omitempty" minimum:"1" maximum:"1000000000" default:"64"`
	}
}

// StageJob is the job of POST /profile/stage1.
type StageJob struct {
	RunID     string `json:"run_id"`
	Status    string `json:"status" enum:"queued,running"`
	Artifacts string `json:"artifacts_dir" doc:"Path of this server that lists the artifacts"`
}

// ArtifactList is the captured files of a run.
type ArtifactList struct {
	RunID     string     `json:"run_id"`
	Status    string     `json:"status" enum:"queued,running,done,failed,canceled,timeout,interrupted" doc:"Of the job; done if no job made the run"`
	Artifacts []string   `json:"artifacts" nullable:"false" doc:"Names of the files"`
	Files     []Artifact `json:"files" nullable:"false" doc:"The files"`
}

type artifactInput struct {
	RunPath
	Name    string `path:"name" maxLength:"4096" doc:"Name of the artifact, its / written %2F"`
	Range   string `header:"Range" doc:"Part of the file" example:"bytes=1048576-"`
	IfRange string `header:"If-Range" doc:"ETag of the file that the part is to be of: all of it if it is another"`
}

const bytesType = "application/octet-stream"

// fileAnswer has net/http answer with a file or parts of it, as long as the client reads; what it refuses is a problem as of the other operations.
type fileAnswer struct {
	http.ResponseWriter
	to      stream
	size    int64 // of the file
	refused bool
}

func (p *fileAnswer) WriteHeader(status int) {
	if p.refused = status >= http.StatusBadRequest; !p.refused {
		p.ResponseWriter.WriteHeader(status)
		return
	}
	h := p.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Del("Content-Disposition")
	detail := "the file is not the one that the request is about"
	if status == http.StatusRequestedRangeNotSatisfiable {
		detail = "the file has no such part; its size is in Content-Range"
		h.Set("Content-Range", fmt.Sprintf("bytes */%d", p.size))
	}
	p.ResponseWriter.WriteHeader(status)
	_ = json.NewEncoder(p.to).Encode(huma.NewError(status, detail)) // the reader may have gone
}

func (p *fileAnswer) Write(text []byte) (int, error) {
	if p.refused {
		return len(text), nil
	}
	return p.to.Write(text)
}

// pastAll is a byte behind those of any file.
const pastAll = "9223372036854775807"

var (
	digits    = regexp.MustCompile(`[0-9]+`)
	lastZero  = regexp.MustCompile(`^-\s*0$`)
	mostPlace = len(pastAll) - 1 // digits that fit whatever they are
)

// partOf is the Range of a request as net/http takes it; "" is all of the file. net/http refuses other units and numbers past 64 bits, and answers the last 0
// bytes with a part that ends before it begins.
func partOf(r *http.Request) string {
	unit, parts, _ := strings.Cut(r.Header.Get("Range"), "=")
	if r.Method != http.MethodGet || !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		return ""
	}
	var out []string
	for part := range strings.SplitSeq(parts, ",") {
		part = digits.ReplaceAllStringFunc(strings.TrimSpace(part), func(n string) string {
			if n = strings.TrimLeft(n, "0"); len(n) > mostPlace {
				return pastAll
			}
			return cmp.Or(n, "0")
		})
		out = append(out, lastZero.ReplaceAllString(part, pastAll+"-"))
	}
	return "bytes=" + strings.Join(out, ",")
}

// Templates of the contract.
const (
	runTemplate   = "run"
	stageTemplate = "stage1"
)

func artifactsPath(run string) string { return "/profile/" + url.PathEscape(run) + "/artifacts" }

// PathText is what of an address's path must be text: all but the name of an artifact, which is what the file system has.
func PathText(u *url.URL) string {
	parts := strings.Split(u.EscapedPath(), "/")
	if len(parts) != 5 || parts[1] != "profile" || parts[3] != "artifacts" {
		return u.Path
	}
	run, _ := url.PathUnescape(parts[2]) // the path as a whole could be read
	return run
}

func registerProfile(api huma.API, s *Service) {
	run := group{api, s, profileTag, s.o.AllowRun, "--allow-run"}
	read := group{api, s, profileTag, true, ""}
	add(run, huma.Operation{OperationID: "profile-run", Method: http.MethodPost, Path: "/profile/run", DefaultStatus: http.StatusAccepted, Errors: append([]int{409}, posted...),
		Summary: "Profile a model on a manifest of inputs", Description: "A job by the template run of serve.yaml, which gets the fields as parameters."},
		func(ctx context.Context, in *profileInput) (*body[ProfileJob], error) {
			j, err := s.profile(ctx, runTemplate, map[string]any{"model": in.Body.Model, "inputs_manifest": in.Body.Manifest, "profiling_mode": in.Body.Mode})
			return &body[ProfileJob]{ProfileJob{j.ID}}, err
		})
	add(run, huma.Operation{OperationID: "profile-stage1", Method: http.MethodPost, Path: "/profile/stage1", DefaultStatus: http.StatusAccepted, Errors: append([]int{409}, posted...),
		Summary: "Profile a model on a folder of inputs", Description: "A job by the template stage1 of serve.yaml, which gets the fields as parameters."},
		func(ctx context.Context, in *stageInput) (*body[StageJob], error) {
			b := in.Body
			j, err := s.profile(ctx, stageTemplate, map[string]any{"model_path": b.Model, "input_dir": b.Inputs, "repeats": float64(b.Repeats), "use_flash_attn": b.Flash == nil || *b.Flash,
				"device": b.Device, "max_new_tokens": float64(b.NewTokens)})
			return &body[StageJob]{StageJob{j.ID, j.Status, artifactsPath(j.ID)}}, err
		})
	add(read, huma.Operation{OperationID: "list-artifacts", Method: http.MethodGet, Path: "/profile/{run_id}/artifacts", Errors: []int{404},
		Summary: "List the captured files of a run"},
		func(ctx context.Context, in *RunPath) (*body[ArtifactList], error) {
			name, status, err := s.runOf(ctx, in.Run)
			if err != nil {
				return nil, err
			}
			out := ArtifactList{RunID: in.Run, Status: status, Artifacts: []string{}}
			out.Files, err = s.artifacts(ctx, in.Run, name)
			for _, a := range out.Files {
				out.Artifacts = append(out.Artifacts, a.Name)
			}
			return &body[ArtifactList]{out}, err
		})
	whole := map[string]*huma.MediaType{bytesType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	add(read, huma.Operation{OperationID: "get-artifact", Method: http.MethodGet, Path: "/profile/{run_id}/artifacts/{name}", Errors: []int{404, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable},
		Summary: "Fetch a captured file", Description: "A download that broke goes on with Range and, in If-Range, the ETag that it had.",
		Responses: map[string]*huma.Response{"200": {Description: "The file", Content: whole}, "206": {Description: "The part of it that Range asks for", Content: whole}, "304": {Description: "The client's file is still right"}}},
		func(ctx context.Context, in *artifactInput) (*huma.StreamResponse, error) {
			name, _, err := s.runOf(ctx, in.Run)
			if err != nil {
				return nil, err
			}
			f, err := s.openArtifact(name, in.Name)
			if err != nil {
				return nil, err
			}
			st, err := f.Stat()
			if err != nil {
				return nil, errors.Join(err, f.Close())
			}
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				defer f.Close()
				_ = ctx.SetReadDeadline(time.Time{})
				r, w := humago.Unwrap(ctx)
				for name, value := range map[string]string{"Content-Type": bytesType, "Content-Disposition": "attachment", gzhttp.HeaderNoCompression: "1", // a part is of the bytes as they are
					"ETag": fmt.Sprintf(`"%x-%x"`, st.ModTime().UnixNano(), st.Size())} {
					w.Header().Set(name, value)
				}
				if part := partOf(r); part == "" {
					r.Header.Del("Range")
				} else {
					r.Header.Set("Range", part)
				}
				http.ServeContent(&fileAnswer{ResponseWriter: w, to: newStream(ctx), size: st.Size()}, r, "", st.ModTime(), f)
			}}, nil
		})
	add(read, huma.Operation{OperationID: "get-report", Method: http.MethodGet, Path: "/reports/{run_id}", Errors: []int{404, 409},
		Summary: "Show the main figures of a run"},
		func(ctx context.Context, in *RunPath) (*body[ProfileReport], error) {
			name, status, err := s.runOf(ctx, in.Run)
			if err != nil {
				return nil, err
			}
			run, err := s.o.Runs.Find(ctx, name)
			if errors.Is(err, ErrNoRun) && (status == StatusQueued || status == StatusRunning) {
				return nil, huma.Error409Conflict("the job is " + status + ": its run is not stored yet")
			}
			if err != nil {
				return nil, err
			}
			r, err := s.o.Runs.Report(ctx, run)
			if err != nil {
				return nil, err
			}
			r.RunID = in.Run
			return &body[ProfileReport]{*r}, nil
		})
}

// profile queues a job of the contract.
func (s *Service) profile(ctx context.Context, template string, values map[string]any) (Job, error) {
	t := s.template(template)
	if t == nil {
		return Job{}, huma.Error409Conflict(fmt.Sprintf("%s of the server has no template %s: add one whose parameters are the fields of this request", ConfigName, template))
	}
	for name := range values {
		if t.parameter(name) == nil {
			return Job{}, huma.Error409Conflict(fmt.Sprintf("the template %s in %s of the server has no parameter %s: the fields of the request must be its parameters", template, ConfigName, name))
		}
	}
	j, err := s.Capture(ctx, template, values, "", nil)
	if value := (*valueError)(nil); errors.As(err, &value) {
		return Job{}, huma.Error422UnprocessableEntity("invalid field", &huma.ErrorDetail{Message: value.err.Error(), Location: "body." + value.name})
	}
	return j, err
}

// runOf returns the name of the run that a job makes, or that is referred to, and the status of its job.
func (s *Service) runOf(ctx context.Context, ref string) (name, status string, err error) {
	if j, _, err := s.Job(ref); err == nil {
		if j.Name == "" && len(j.Runs) > 0 { // of a packed file
			j.Name = j.Runs[0].Name
		}
		return j.Name, j.Status, nil
	}
	run, err := s.o.Runs.Find(ctx, ref)
	return run.Name, StatusDone, err
}
