// Package serve answers over HTTP what people and programs ask of a warehouse: an API described by OpenAPI, and the page that uses it. It reads a
// copy of each commit and writes nothing itself.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/klauspost/compress/gzhttp"

	"prof/internal/serve/ask"
	"prof/internal/serve/jobs"
	"prof/internal/serve/mcp"
	"prof/internal/serve/page"
)

// Options say how a server answers.
type Options struct {
	Asker   *ask.Asker
	Version string // of prof
	Guard   Guard
	Jobs    jobs.Options         // what runs and uploads are allowed; Runs and Warn are the server's
	Log     func(message string) // what went wrong inside, for whoever runs the server
}

// Server is the API and the page.
type Server struct {
	options Options
	asker   *ask.Asker
	api     huma.API
	mux     *http.ServeMux
	handler http.Handler
	jobs    *jobs.Service
	running atomic.Int64 // requests
}

// New makes a server.
func New(o Options) (*Server, error) {
	s := &Server{options: o, asker: o.Asker, mux: http.NewServeMux()}
	config := huma.DefaultConfig("prof", o.Version)
	config.Info.Description = "The profiler's warehouse: runs, what bounds them, and whether a change helped. Times are in ns, sizes in bytes, shares are ratios; null is unknown."
	config.DocsPath, config.SchemasPath = "", ""
	config.CreateHooks = nil // no links to schemas in answers: they would be no rows of ours
	config.Formats = map[string]huma.Format{ask.JSON: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	s.api = humago.New(s.mux, config)
	s.api.UseMiddleware(s.onlyNumbers)
	for _, add := range []func() error{s.addAbout, s.addRuns, s.addQueries, s.addVerbs, s.addReports, s.addTimeline, s.addSQL, s.addReference} {
		if err := add(); err != nil {
			return nil, err
		}
	}
	if err := s.addJobs(); err != nil {
		return nil, err
	}
	s.addAgents()
	s.addTooLarge()
	page.Add(s.mux)
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024))
	if err != nil {
		return nil, err
	}
	s.handler = o.Guard.wrap(s.count(compress(s.route())))
	return s, nil
}

// addAgents adds the Model Context Protocol, whose messages have a description of their own: tools/list.
func (s *Server) addAgents() {
	const path = "/mcp"
	s.mux.Handle("POST "+path, mcp.Handler(mcp.New(s.asker, s.options.Version)))
	message := &huma.Schema{Type: huma.TypeObject, Required: []string{"jsonrpc"}, Properties: map[string]*huma.Schema{
		"jsonrpc": {Type: huma.TypeString, Enum: []any{"2.0"}},
		"id":      {Description: "an integer or a text; a message without it gets no answer"},
		"method":  {Type: huma.TypeString, Description: "such as initialize, tools/list, tools/call, resources/read", Examples: []any{"tools/list"}},
		"params":  {Type: huma.TypeObject, AdditionalProperties: true},
		"result":  {Type: huma.TypeObject, AdditionalProperties: true}, "error": {Type: huma.TypeObject, AdditionalProperties: true},
	}}
	in := func(kind string, schema *huma.Schema) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{kind: {Schema: schema}}
	}
	op := &huma.Operation{OperationID: "ask-as-agent", Method: http.MethodPost, Path: path, Tags: []string{"agents"}, Summary: "Ask over the Model Context Protocol",
		Description: "A message of JSON-RPC 2.0, as an agent's program sends it. Each is answered by itself, without a session; all of it only reads.",
		RequestBody: &huma.RequestBody{Required: true, Content: in(ask.JSON, message)},
		Responses:   map[string]*huma.Response{"200": {Description: "the answer, or a JSON-RPC error", Content: in(ask.JSON, message)}, "202": {Description: "the message needs no answer"}}}
	text := in("text/plain", &huma.Schema{Type: huma.TypeString})
	text[ask.JSON] = &huma.MediaType{Schema: message}
	for _, status := range []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType} {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: text}
	}
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusServiceUnavailable} {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: in("application/problem+json", &huma.Schema{Type: huma.TypeObject})}
	}
	s.api.OpenAPI().AddOperation(op)
}

// addTooLarge describes what net/http answers before a request gets here.
func (s *Server) addTooLarge() {
	answer := &huma.Response{Description: fmt.Sprintf("address and headers have more than %d KiB", headerSize>>10), Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}}
	for _, item := range s.api.OpenAPI().Paths {
		for _, op := range []*huma.Operation{item.Get, item.Head, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				op.Responses[strconv.Itoa(http.StatusRequestHeaderFieldsTooLarge)] = answer
			}
		}
	}
}

// Handler answers requests.
func (s *Server) Handler() http.Handler { return s.handler }

// Limits of connections.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	headerSize = 32 << 10
	DrainTime  = 10 * time.Second // in which what was asked before the end is answered
)

// Serve answers on a listener until ctx ends, and then finishes what it was asked before.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s.handler, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerSize, ConnContext: withPeer, BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) }}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ended := make(chan error, 1)
	go func() { ended <- s.endJobs(context.WithoutCancel(ctx)) }()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), DrainTime)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		return errors.Join(fmt.Errorf("%d requests were cut off: %w", s.running.Load(), err), server.Close(), <-ended)
	}
	return <-ended
}

// count counts the requests that are worked on.
func (s *Server) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Add(-1)
		next.ServeHTTP(w, r)
	})
}

// route hands a request to what answers it; where nothing does, the error is one of the API's.
func (s *Server) route() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, pattern := s.mux.Handler(r); pattern == "" {
			refusal := &refused{header: w.Header()}
			h.ServeHTTP(refusal, r)
			if refusal.status < http.StatusBadRequest { // it leads to the path as it should be
				w.Header().Del("Content-Type") // of the one before, without which it says where
				h.ServeHTTP(w, r)
				return
			}
			refuse(w, refusal.status, fmt.Sprintf("%s %s: %s; /docs lists what there is", r.Method, r.URL.Path, http.StatusText(refusal.status)))
			return
		}
		s.mux.ServeHTTP(w, r)
	})
}

// refused takes the status of a refusal, and not its text.
type refused struct {
	header http.Header
	status int
}

func (r *refused) Header() http.Header         { return r.header }
func (r *refused) Write(b []byte) (int, error) { return len(b), nil }
func (r *refused) WriteHeader(status int)      { r.status = status }
