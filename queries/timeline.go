package queries

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"prof/queries/frame"
	"prof/queries/judge"
)

// The detail of a timeline: a part is about a quarter of a pixel of most screens, so that a picture can be enlarged a few times. Of more
// GPUs the parts are longer, so that the page stays small.
const (
	timelineParts   = 4000
	fullDetail      = 2 // GPUs that get so many parts
	leastParts      = 500
	timelineGaps    = 200
	timelineKernels = 30000
	drawnKernels    = 100000 // of a picture, which does not grow with them
	timelineRanges  = 3000
	timelineCalls   = 3000 // that launched nothing of what is drawn
)

// timelineAsked is what a timeline asks.
type timelineAsked struct {
	parts    int64
	requests []Question
}

// timelineRequests are the questions for the timeline of a run, which must have its devices and sources.
func (r asked) timelineRequests(run string) timelineAsked {
	t := timelineAsked{parts: max(leastParts, timelineParts*fullDetail/int64(max(fullDetail, len(r.Frames["devices"].Rows))))}
	parts := strconv.FormatInt(t.parts, 10)
	t.requests = []Question{
		{Query: "timeline-blocks", Args: Args{"run": run, "blocks": parts}},
		{Query: "timeline-passes", Args: Args{"run": run, "blocks": parts}},
		{Query: "longest-gaps", Args: Args{"run": run, "top": strconv.Itoa(timelineGaps), "warmup": "true"}},
		{Query: "timeline-windows", Args: Args{"run": run, "top": strconv.Itoa(timelineKernels)}},
		{Query: "timeline-kernels", Args: Args{"run": run, "top": strconv.Itoa(timelineKernels)}},
		{Query: "timeline-calls", Args: Args{"run": run, "top": strconv.Itoa(timelineKernels), "others": strconv.Itoa(timelineCalls)}},
		{Query: "timeline-ranges", Args: Args{"run": run, "top": strconv.Itoa(timelineRanges)}},
	}
	if r.timelines() > 1 {
		t.requests = append(t.requests, Question{Query: "clock-offsets", Args: Args{"run": run}})
	}
	return t
}

// of makes the timeline from the answers by query.
func (t timelineAsked) of(frames map[string]*frame.Frame) *judge.Timeline {
	out := &judge.Timeline{Parts: t.parts, Blocks: frames["timeline-blocks"], Passes: frames["timeline-passes"], Gaps: frames["longest-gaps"],
		Windows: frames["timeline-windows"], Kernels: frames["timeline-kernels"], Calls: frames["timeline-calls"], Ranges: frames["timeline-ranges"]}
	if !isConstant(out.Blocks, "source_id") {
		out.Clocks = frames["clock-offsets"]
	}
	return out
}

// isConstant reports whether a column has no two values.
func isConstant(f *frame.Frame, column string) bool {
	at := f.Index(column)
	return !slices.ContainsFunc(f.Rows, func(r []any) bool { return r[at] != f.Rows[0][at] })
}

// AskTimeline asks what a picture of the GPUs of a run over time is drawn from, without the calls and ranges of threads.
// The arguments are run and, where only one kind of capture is wanted, source.
func AskTimeline(ctx context.Context, a *Asker, args Args) (*judge.Timeline, error) {
	run := Args{"run": args["run"]}
	first, err := a.AskAll(ctx, []Question{{Query: "sources", Args: run}, {Query: "devices", Args: run}})
	if err != nil {
		return nil, err
	}
	t := asked{&judge.Report{Source: args["source"], Frames: map[string]*frame.Frame{"sources": first[0], "devices": first[1]}}}.timelineRequests(args["run"])
	t.requests = slices.DeleteFunc(t.requests, func(q Question) bool { return q.Query == "timeline-calls" || q.Query == "timeline-ranges" })
	for _, q := range t.requests {
		maps.Copy(q.Args, args)
		if q.Query == "timeline-windows" || q.Query == "timeline-kernels" {
			q.Args["top"] = strconv.Itoa(drawnKernels)
		}
	}
	frames, err := a.AskAll(ctx, t.requests)
	if err != nil {
		return nil, err
	}
	byQuery := map[string]*frame.Frame{}
	for i, q := range t.requests {
		byQuery[q.Query] = frames[i]
	}
	return t.of(byQuery), nil
}
