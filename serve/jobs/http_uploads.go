package jobs

import (
	"context"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// UploadPath names an upload in a path.
type UploadPath struct {
	ID string `path:"id" maxLength:"100" doc:"Id of the upload" example:"upload-20260102-030405-abcdefghij"`
}

type uploadOutput struct {
	Offset int64 `header:"Upload-Offset" doc:"Bytes that are there"`
	Length int64 `header:"Upload-Length" doc:"Bytes of the whole file"`
	Body   Upload
}

type createdUpload struct {
	Location string `header:"Location"`
	Body     Upload
}

type uploadHead struct {
	Offset  int64  `header:"Upload-Offset" doc:"Bytes that are there"`
	Length  int64  `header:"Upload-Length" doc:"Bytes of the whole file"`
	Caching string `header:"Cache-Control"`
}

type uploadsOutput struct {
	Body struct {
		Uploads []Upload `json:"uploads" nullable:"false" doc:"The newest first"`
	}
}

type newUploadInput struct {
	Body struct {
		Name   string `json:"name" minLength:"1" maxLength:"255" doc:"Name of the file, whose end says what it is, as .sqlite or .ncu-rep; nothing else of it is used" example:"report1.sqlite"`
		Size   int64  `json:"size" minimum:"1" doc:"Bytes of the file"`
		SHA256 string `json:"sha256,omitempty" nullable:"true" pattern:"^[0-9A-Fa-f]{64}$" doc:"SHA-256 of the file, in hexadecimal digits: checked when all bytes are there"`
	}
}

// patchInput is a part of a file. The body is read as it comes and never held.
type patchInput struct {
	UploadPath
	Offset int64 `header:"Upload-Offset" required:"true" minimum:"0" doc:"Where in the file the body begins: the bytes that are there"`
	body   io.Reader
}

// readWithin is how long a sender may be silent.
const readWithin = 60 * time.Second

// Resolve takes the body, which huma would read into memory.
func (in *patchInput) Resolve(ctx huma.Context) []error {
	in.body = patient{ctx}
	return nil
}

// patient reads a body whose sender may take any time, but not be silent for long.
type patient struct{ ctx huma.Context }

func (p patient) Read(into []byte) (int, error) {
	_ = p.ctx.SetReadDeadline(time.Now().Add(readWithin)) // some connections have none
	return p.ctx.BodyReader().Read(into)
}

type ingestInput struct {
	UploadPath
	Body struct {
		With []string `json:"with,omitempty" nullable:"false" maxItems:"999" doc:"Ids of further uploads of the same run"`
		Name string   `json:"name,omitempty" maxLength:"200" doc:"Name of the run; absent: the job's id"`
		Tags []string `json:"tags,omitempty" nullable:"false" maxItems:"100" doc:"Tags of the run, KEY=VALUE"`
		Facts
	}
}

func registerUploads(api huma.API, s *Service) {
	huma.Register(api, huma.Operation{OperationID: "list-uploads", Method: http.MethodGet, Path: uploadsPath, Tags: []string{uploadsTag}, Summary: "List the uploads", RejectUnknownQueryParameters: true, Errors: failures()},
		func(context.Context, *struct{}) (*uploadsOutput, error) {
			if err := s.needIngest(); err != nil {
				return nil, err
			}
			out := &uploadsOutput{}
			out.Body.Uploads = s.Uploads()
			return out, nil
		})
	huma.Register(api, huma.Operation{OperationID: "create-upload", Method: http.MethodPost, Path: uploadsPath, Tags: []string{uploadsTag}, DefaultStatus: http.StatusCreated, RejectUnknownQueryParameters: true, Errors: failures(413, 415, 429, 507),
		Summary: "Announce a file", Description: "Then send its bytes by PATCH, in one or several parts, and ingest it."},
		func(_ context.Context, in *newUploadInput) (*createdUpload, error) {
			if err := s.needIngest(); err != nil {
				return nil, err
			}
			u, err := s.Announce(in.Body.Name, in.Body.Size, in.Body.SHA256)
			if err != nil {
				return nil, s.problem(err)
			}
			return &createdUpload{uploadsPath + "/" + u.ID, u}, nil
		})
	huma.Register(api, huma.Operation{OperationID: "get-upload", Method: http.MethodGet, Path: uploadsPath + "/{id}", Tags: []string{uploadsTag}, Summary: "Show an upload", RejectUnknownQueryParameters: true, Errors: failures(404)},
		func(_ context.Context, in *UploadPath) (*uploadOutput, error) {
			if err := s.needIngest(); err != nil {
				return nil, err
			}
			u, err := s.Upload(in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &uploadOutput{u.Offset, u.Size, u}, nil
		})
	huma.Register(api, huma.Operation{OperationID: "head-upload", Method: http.MethodHead, Path: uploadsPath + "/{id}", Tags: []string{uploadsTag}, DefaultStatus: http.StatusOK, RejectUnknownQueryParameters: true, Errors: failures(404),
		Summary: "Ask how much of a file is there", Description: "After an upload that broke off: go on from Upload-Offset."},
		func(_ context.Context, in *UploadPath) (*uploadHead, error) {
			if err := s.needIngest(); err != nil {
				return nil, err
			}
			u, err := s.Upload(in.ID)
			if err != nil {
				return nil, s.problem(err)
			}
			return &uploadHead{u.Offset, u.Size, "no-store"}, nil
		})
	huma.Register(api, huma.Operation{OperationID: "send-upload", Method: http.MethodPatch, Path: uploadsPath + "/{id}", Tags: []string{uploadsTag}, RejectUnknownQueryParameters: true, Errors: failures(404, 409, 413, 507),
		Summary: "Send bytes of a file", Description: "What arrived of a part that broke off is kept. The last byte ends the upload: then the SHA-256 is checked, and where it is wrong, all is discarded.",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}}}},
		func(_ context.Context, in *patchInput) (*uploadOutput, error) {
			if err := s.needIngest(); err != nil {
				return nil, err
			}
			u, err := s.Append(in.ID, in.Offset, in.body)
			if err != nil {
				return nil, s.sendProblem(u, err)
			}
			return &uploadOutput{u.Offset, u.Size, u}, nil
		})
	huma.Register(api, huma.Operation{OperationID: "delete-upload", Method: http.MethodDelete, Path: uploadsPath + "/{id}", Tags: []string{uploadsTag}, DefaultStatus: http.StatusNoContent, Summary: "Remove an upload", RejectUnknownQueryParameters: true, Errors: failures(404, 409)},
		func(_ context.Context, in *UploadPath) (*struct{}, error) {
			if err := s.needIngest(); err != nil {
				return nil, err
			}
			return nil, s.problem(s.Discard(in.ID))
		})
	huma.Register(api, huma.Operation{OperationID: "ingest-upload", Method: http.MethodPost, Path: uploadsPath + "/{id}/ingest", Tags: []string{uploadsTag}, DefaultStatus: http.StatusAccepted, RejectUnknownQueryParameters: true, Errors: failures(404, 409, 413, 415, 429, 507),
		Summary: "Store uploads as a run", Description: "A job of the same queue as captures ingests the file, and those of with, as one run. When it is done, the uploads are removed. A file of prof pack is ingested by itself."},
		func(ctx context.Context, in *ingestInput) (*acceptedJob, error) {
			if err := s.needIngest(); err != nil {
				return nil, err
			}
			j, err := s.Ingest(ctx, append([]string{in.ID}, in.Body.With...), in.Body.Name, in.Body.Tags, in.Body.Facts)
			if err != nil {
				return nil, s.problem(err)
			}
			return &acceptedJob{jobsPath + "/" + j.ID, j}, nil
		})
}

// sendProblem is problem with the offset, where the upload is known.
func (s *Service) sendProblem(u Upload, err error) error {
	out := s.problem(err)
	if u.ID == "" {
		return out
	}
	return huma.ErrorWithHeaders(out, http.Header{"Upload-Offset": {strconv.FormatInt(u.Offset, 10)}})
}
