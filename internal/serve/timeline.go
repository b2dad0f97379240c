package serve

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"prof/internal/serve/ask"
	"prof/queries"
	"prof/schema"
	"prof/schema/terms"
)

// TimelineBusy is how long tracks were busy in a window.
type TimelineBusy struct {
	Tracks []queries.TrackBusy `json:"tracks" nullable:"false" doc:"tracks that were busy"`
}

// TimelineKind is a kind of sources whose timeline is shown.
type TimelineKind string

// Schema describes the kinds.
func (TimelineKind) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, kind := range terms.Timelines() {
		s.Enum = append(s.Enum, kind)
	}
	return s
}

// TimelineOf is what each question about a timeline has.
type TimelineOf struct {
	Question
	NamesRun
	Source TimelineKind `query:"source" doc:"only this kind of capture; default: the first of these that the run has"`
}

// TimelineSpan is from one time to another.
type TimelineSpan struct {
	TimelineOf
	FromNs int64 `query:"from_ns" required:"true" minimum:"-72000000000000000" maximum:"72000000000000000" doc:"start of the window on the timeline's clock" example:"0"`
	ToNs   int64 `query:"to_ns" required:"true" minimum:"-72000000000000000" maximum:"72000000000000000" doc:"end of the window" example:"1000000000"`
}

func (s *Server) addTimeline() error {
	addAnswer[queries.TimelineAbout](s, get("describe-timeline", "/api/v1/runs/{run}/timeline/about", "timeline", "What a run's timeline consists of: its sources on one clock, and its tracks", "The first question about a large run reads all of it: some seconds for millions of kernels."),
		func(ctx context.Context, in *TimelineOf) (ask.Answer, error) {
			return s.asker.Timeline(ctx, in.Run, string(in.Source), "about", func(_ context.Context, _ *schema.Warehouse, t *queries.Timeline) (any, error) { return t.About(), nil })
		})

	type window struct {
		TimelineSpan
		Bins int `query:"bins" minimum:"1" maximum:"4096" default:"512" doc:"parts of the window at most; fewer where that would be too many marks"`
	}
	addAnswer[queries.TimelineWindow](s, get("show-timeline", "/api/v1/runs/{run}/timeline", "timeline", "A window of a run's timeline, in some thousand marks whatever its length",
		"What is shorter than a bin is added up by bins of time; busy_ns of a track's marks adds up to the time in which any of its items ran, at every level. Windows of a power of two that begin at a multiple of it are tiles: each answer is the same for everyone who asks."),
		func(ctx context.Context, in *window) (ask.Answer, error) {
			return s.asker.Timeline(ctx, in.Run, string(in.Source), fmt.Sprint("window ", in.FromNs, " ", in.ToNs, " ", in.Bins), func(ctx context.Context, w *schema.Warehouse, t *queries.Timeline) (any, error) {
				return t.Window(ctx, w, queries.TimelineAsked{FromNs: in.FromNs, ToNs: in.ToNs, Bins: in.Bins})
			})
		})

	addAnswer[TimelineBusy](s, get("sum-timeline", "/api/v1/runs/{run}/timeline/busy", "timeline", "How long each track of a timeline was busy between two times, to the nanosecond", ""),
		func(ctx context.Context, in *TimelineSpan) (ask.Answer, error) {
			return s.asker.Timeline(ctx, in.Run, string(in.Source), fmt.Sprint("busy ", in.FromNs, " ", in.ToNs), func(ctx context.Context, w *schema.Warehouse, t *queries.Timeline) (any, error) {
				list, err := t.Busy(ctx, w, queries.TimelineAsked{FromNs: in.FromNs, ToNs: in.ToNs})
				return TimelineBusy{list}, err
			})
		})
	return nil
}
