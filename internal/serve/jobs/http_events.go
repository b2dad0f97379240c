package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prof/internal/file"
	"prof/internal/serve/places"
)

// stream writes to a client as long as that reads: each write has a deadline of its own.
type stream struct {
	w io.Writer
	c *http.ResponseController
}

// writeWithin is how long a client may take to read what is written at once.
const writeWithin = 30 * time.Second

func newStream(ctx huma.Context) stream {
	_, w := humago.Unwrap(ctx)
	return stream{w, http.NewResponseController(w)}
}

func (s stream) Write(text []byte) (int, error) {
	_ = s.c.SetWriteDeadline(time.Now().Add(writeWithin)) // some writers have none
	return s.w.Write(text)
}

type eventsInput struct {
	JobPath
	LastEventID string `header:"Last-Event-ID" maxLength:"20" doc:"Id of the last event that arrived: the stream continues after it"`
}

// LogEvent is a part of a log.
type LogEvent struct {
	Lines []string `json:"lines" nullable:"false" doc:"Whole lines of the log"`
}

// keepAlive is how often something is sent where nothing happens.
const keepAlive = 15 * time.Second

// mostStreams is how many events are followed at once: fewer than the requests that the server takes, of which each is one as long as its job.
const mostStreams = 64

func registerEvents(g group) {
	s, schemas := g.s, g.api.OpenAPI().Components.Schemas
	event := func(name, doc string, data *huma.Schema) *huma.Schema {
		return &huma.Schema{Type: "object", Description: doc, Required: []string{"id", "event", "data"}, Properties: map[string]*huma.Schema{
			"id": {Type: "integer"}, "event": {Type: "string", Enum: []any{name}}, "data": data}}
	}
	events := &huma.Schema{Type: "array", Description: "Server-sent events", Items: &huma.Schema{OneOf: []*huma.Schema{
		event("log", "Lines of the log", schemas.Schema(reflect.TypeFor[LogEvent](), true, "LogEvent")),
		event("job", "The job, whenever its status changes; once it has ended, the stream ends", schemas.Schema(reflect.TypeFor[Job](), true, "Job")),
	}}}
	add(g, huma.Operation{OperationID: "follow-job", Method: http.MethodGet, Path: jobsPath + "/{id}/events", Errors: []int{404},
		Summary: "Follow a job", Description: "The log and the status of a job as server-sent events, until it ends. A client that reconnects with Last-Event-ID gets each line once.",
		Responses: map[string]*huma.Response{"200": {Description: "Events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: events}}}}},
		func(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
			if _, _, err := s.Job(in.ID); err != nil {
				return nil, err
			}
			offset := int64(0)
			if in.LastEventID != "" {
				var err error
				if offset, err = strconv.ParseInt(in.LastEventID, 10, 64); err != nil || offset < 0 {
					return nil, huma.Error422UnprocessableEntity("Last-Event-ID must be the id of an event")
				}
			}
			leave, ok := s.streams.Try(places.Client(ctx))
			if !ok {
				return nil, huma.ErrorWithHeaders(huma.Error503ServiceUnavailable("too many clients follow jobs"), http.Header{"Retry-After": {"5"}})
			}
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				defer leave()
				_ = ctx.SetReadDeadline(time.Time{}) // that of the request's body, which would end the stream
				ctx.SetHeader("Content-Type", "text/event-stream")
				ctx.SetHeader("Cache-Control", "no-store")
				ctx.SetStatus(http.StatusOK)
				_ = s.follow(ctx.Context(), in.ID, offset, newStream(ctx)) // the client has gone
			}}, nil
		})
}

// follow sends what becomes of a job, from an offset of its log on, until it ends or the server closes.
func (s *Service) follow(ctx context.Context, id string, offset int64, w stream) error {
	log, err := file.Open(s.logPath(id))
	if err != nil {
		return err
	}
	defer log.Close()
	last := ""
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		j, changed, err := s.Job(id)
		if err != nil {
			return err
		}
		if offset, err = sendLog(log, offset, w); err != nil {
			return err
		}
		// Whoever waits does not see the jobs before it go.
		if now := fmt.Sprint(j.Status, j.Stopping); now != last {
			if last, err = now, sendEvent(w, "job", offset, j); err != nil {
				return err
			}
		}
		_ = w.c.Flush() // what cannot be flushed arrives later
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
		if err := sendEvent(w, "log", offset, LogEvent{strings.Split(strings.TrimSuffix(text, "\n"), "\n")}); err != nil {
			return offset, err
		}
	}
}

// sendEvent sends an event. Its id is where in the log a client that reconnects goes on.
func sendEvent(w stream, event string, id int64, data any) error {
	text, err := json.Marshal(data)
	if err == nil {
		_, err = fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", id, event, text)
	}
	return err
}
