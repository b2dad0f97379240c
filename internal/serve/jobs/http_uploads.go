package jobs

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// UploadPath names an upload in a path.
type UploadPath struct {
	ID string `path:"id" maxLength:"100" doc:"Id of the upload" example:"upload-20260102-030405-abcdefghij"`
}

type uploadOutput struct {
	Offset int64 `header:"Upload-Offset" doc:"Bytes that have arrived"`
	Length int64 `header:"Upload-Length" doc:"Bytes of the whole file"`
	Body   Upload
}

type createdUpload struct {
	Location string `header:"Location"`
	Body     Upload
}

type uploadHead struct {
	Offset  int64  `header:"Upload-Offset" doc:"Bytes that have arrived"`
	Length  int64  `header:"Upload-Length" doc:"Bytes of the whole file"`
	Caching string `header:"Cache-Control"`
}

// UploadList is all uploads.
type UploadList struct {
	Uploads []Upload `json:"uploads" nullable:"false" doc:"The newest first"`
}

type newUploadInput struct {
	Body struct {
		Name   string `json:"name" minLength:"1" maxLength:"255" doc:"Name of the file. Its ending says what it is, such as .sqlite or .ncu-rep; the rest is only shown" example:"report1.sqlite"`
		Size   int64  `json:"size" minimum:"1" doc:"Bytes of the file"`
		SHA256 string `json:"sha256,omitempty" nullable:"true" pattern:"^[0-9A-Fa-f]{64}$" doc:"SHA-256 of the file, in hexadecimal digits; checked when all bytes have arrived"`
	}
}

// patchInput is a part of a file. The body is read as it comes, and is never whole in memory.
type patchInput struct {
	UploadPath
	Offset int64 `header:"Upload-Offset" required:"true" minimum:"0" doc:"Where in the file the body begins: the bytes that have arrived"`
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
	g := group{api, s, uploadsTag, s.o.AllowIngest, "--allow-ingest"}
	add(g, huma.Operation{OperationID: "list-uploads", Method: http.MethodGet, Path: uploadsPath, Summary: "List the uploads"},
		func(context.Context, *struct{}) (*body[UploadList], error) {
			return &body[UploadList]{UploadList{s.Uploads()}}, nil
		})
	add(g, huma.Operation{OperationID: "create-upload", Method: http.MethodPost, Path: uploadsPath, DefaultStatus: http.StatusCreated, Errors: posted,
		Summary: "Announce a file", Description: "Then send its bytes with PATCH, in one or several parts, and ingest it."},
		func(_ context.Context, in *newUploadInput) (*createdUpload, error) {
			u, err := s.Announce(in.Body.Name, in.Body.Size, in.Body.SHA256)
			return &createdUpload{uploadsPath + "/" + u.ID, u}, err
		})
	add(g, huma.Operation{OperationID: "get-upload", Method: http.MethodGet, Path: uploadsPath + "/{id}", Summary: "Show an upload", Errors: []int{404}},
		func(_ context.Context, in *UploadPath) (*uploadOutput, error) {
			u, err := s.Upload(in.ID)
			return &uploadOutput{u.Offset, u.Size, u}, err
		})
	add(g, huma.Operation{OperationID: "head-upload", Method: http.MethodHead, Path: uploadsPath + "/{id}", DefaultStatus: http.StatusOK, Errors: []int{404},
		Summary: "Ask how much of a file has arrived", Description: "After an upload that broke off: continue at Upload-Offset."},
		func(_ context.Context, in *UploadPath) (*uploadHead, error) {
			u, err := s.Upload(in.ID)
			return &uploadHead{u.Offset, u.Size, "no-store"}, err
		})
	add(g, huma.Operation{OperationID: "send-upload", Method: http.MethodPatch, Path: uploadsPath + "/{id}", Errors: []int{404, 409, 413, 507},
		Summary: "Send bytes of a file", Description: "What arrived of a part that broke off is kept. After the last byte the SHA-256 is checked; if it is wrong, all bytes are discarded.",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}}}},
		func(_ context.Context, in *patchInput) (*uploadOutput, error) {
			u, err := s.Append(in.ID, in.Offset, in.body)
			if err != nil && u.ID != "" {
				err = huma.ErrorWithHeaders(s.problem(err), http.Header{"Upload-Offset": {strconv.FormatInt(u.Offset, 10)}})
			}
			return &uploadOutput{u.Offset, u.Size, u}, err
		})
	add(g, huma.Operation{OperationID: "delete-upload", Method: http.MethodDelete, Path: uploadsPath + "/{id}", DefaultStatus: http.StatusNoContent, Summary: "Remove an upload", Errors: []int{404, 409}},
		func(_ context.Context, in *UploadPath) (*struct{}, error) {
			return nil, s.Discard(in.ID)
		})
	add(g, huma.Operation{OperationID: "ingest-upload", Method: http.MethodPost, Path: uploadsPath + "/{id}/ingest", DefaultStatus: http.StatusAccepted, Errors: append([]int{404, 409}, posted...),
		Summary: "Store uploads as a run", Description: "A job, in the same queue as captures, ingests the file and those of `with` as one run; then the uploads are removed. A file of prof pack is ingested by itself."},
		func(ctx context.Context, in *ingestInput) (*acceptedJob, error) {
			j, err := s.Ingest(ctx, append([]string{in.ID}, in.Body.With...), in.Body.Name, in.Body.Tags, in.Body.Facts)
			return &acceptedJob{jobsPath + "/" + j.ID, j}, err
		})
}
