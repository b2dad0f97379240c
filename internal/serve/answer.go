package serve

import (
	"context"
	"errors"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"prof/internal/serve/ask"
	"prof/queries"
	"prof/queries/judge/diff"
	"prof/queries/judge/trend"
	"prof/render/report"
	"prof/schema"
)

// answered is an answer as huma writes it.
type answered struct {
	Status       int
	ContentType  string `header:"Content-Type"`
	ETag         string `header:"ETag" doc:"changes whenever the answer may have changed"`
	CacheControl string `header:"Cache-Control"`
	Policy       string `header:"Content-Security-Policy" doc:"of a page with its own scripts"`
	Body         []byte
}

// Question is what each request for an answer may have.
type Question struct {
	IfNoneMatch string `header:"If-None-Match" doc:"the ETag of an answer: 304 if it is still right"`
}

// match is the ETag that the client has.
func (q Question) match() string { return q.IfNoneMatch }

// addAnswer adds an operation whose answer is JSON as O describes it.
func addAnswer[O any, I any, P interface {
	*I
	match() string
}](s *Server, op huma.Operation, answer func(context.Context, P) (ask.Answer, error)) {
	of := reflect.TypeFor[O]()
	op.Responses = s.response(of, of.Name())
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*answered, error) {
		return s.give(ctx, P(in).match(), func(ctx context.Context) (ask.Answer, error) { return answer(ctx, P(in)) })
	})
}

// give makes an answer into a response, or none where the client has it.
func (s *Server) give(ctx context.Context, match string, answer func(ctx context.Context) (ask.Answer, error)) (*answered, error) {
	a, err := answer(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	tag := `W/"` + a.Tag + `"`
	if strings.Contains(match, `"`+a.Tag+`"`) {
		return &answered{Status: http.StatusNotModified, ETag: tag}, nil // with the policy of the page, which a browser takes over
	}
	return &answered{Status: http.StatusOK, ContentType: a.Type, ETag: tag, CacheControl: "no-cache", Body: a.Body}, nil
}

// problem is an error as RFC 9457 has it: what the client can mend is below 500.
func (s *Server) problem(err error) error {
	var has huma.StatusError
	switch {
	case errors.As(err, &has):
		return err
	case errors.Is(err, schema.ErrUnknownRun), errors.Is(err, queries.ErrUnknownQuery), errors.Is(err, queries.ErrNoWorkload), errors.Is(err, trend.ErrNoWorkload), errors.Is(err, ask.ErrUnknownStage), errors.Is(err, report.ErrMissing), errors.Is(err, diff.ErrNothing):
		return huma.Error404NotFound(strings.TrimPrefix(err.Error(), ask.ErrInvalid.Error()+": "))
	case errors.Is(err, schema.ErrAmbiguousRun):
		return huma.Error409Conflict(err.Error())
	case errors.Is(err, ask.ErrInvalid), errors.Is(err, queries.ErrBadArgument), errors.Is(err, queries.ErrNotReadOnly), errors.Is(err, queries.ErrTooManyRows):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return huma.ErrorWithHeaders(huma.Error503ServiceUnavailable(err.Error()), http.Header{"Retry-After": {"5"}})
	case errors.Is(err, context.Canceled):
		return huma.NewError(499, "the client has gone")
	}
	s.log(err.Error())
	return huma.Error500InternalServerError("this should not have happened; the server's log says more")
}

// onlyNumbers refuses parameters that are no numbers where the description says numbers: huma takes inf and NaN for such, which have no place in JSON, not
// even in the error about them, and are within all bounds or none.
func (s *Server) onlyNumbers(ctx huma.Context, next func(huma.Context)) {
	for _, p := range ctx.Operation().Parameters {
		if p.In != "query" || p.Schema == nil || p.Schema.Type != huma.TypeNumber {
			continue
		}
		text := ctx.Query(p.Name)
		if v, err := strconv.ParseFloat(text, 64); text == "" || err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			continue
		}
		if err := huma.WriteErr(s.api, ctx, http.StatusUnprocessableEntity, "validation failed", &huma.ErrorDetail{Location: "query." + p.Name, Message: "want a number", Value: text}); err != nil {
			s.log(err.Error())
		}
		return
	}
	next(ctx)
}

func (s *Server) log(message string) {
	if s.options.Log != nil {
		s.options.Log(message)
	}
}

// response describes an answer of a type, as JSON and perhaps in other forms.
func (s *Server) response(of reflect.Type, doc string, others ...string) map[string]*huma.Response {
	schemaOf := s.api.OpenAPI().Components.Schemas.Schema(of, true, of.Name())
	content := map[string]*huma.MediaType{ask.JSON: {Schema: schemaOf}}
	for _, kind := range others {
		content[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, ContentEncoding: "binary"}}
	}
	return map[string]*huma.Response{
		strconv.Itoa(http.StatusOK):          {Description: doc, Content: content},
		strconv.Itoa(http.StatusNotModified): {Description: "the client's answer is still right"},
	}
}

// failures are the errors that each question may end with.
var failures = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusMisdirectedRequest, http.StatusServiceUnavailable}
