package report

import (
	"slices"
	"strings"

	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/schema/terms"
)

// What a run lacks, where its sources tell that already.
const (
	notCaptured = "the run was not made by prof capture"
	noneOnGPU   = "no kernel ran on a GPU in the capture"
	noTimeline  = "the run has no timeline, neither of Nsight Systems nor of the PyTorch profiler"
)

// ofCapture and ofTimeline are the queries that have no rows without such a source.
var (
	ofCapture  = []string{"captures", "capture-passes", "device-use", "throttling", "sample-series"}
	ofTimeline = []string{"aggregates", "stages", "stage-notes", "accounting", "conservation", "mfu", "mbu", "passes", "top-kernels"}
)

// whyNone says why an answer has no rows: what its sources lack, else those of its notes that are about that.
func (r *reader) whyNone(key string) string {
	f, kinds := r.Frame(key), r.sourceKinds()
	known := len(kinds) > 0
	switch {
	case r.Lacking() != "":
		return r.Lacking()
	case known && slices.Contains(ofCapture, key) && !kinds["capture"]:
		return notCaptured
	case known && slices.Contains(ofTimeline, key) && !hasTimeline(kinds):
		if kinds["ncu"] {
			return noTimeline + ", only what Nsight Compute profiled: see prof query bottlenecks and region-metrics"
		}
		return noTimeline
	case f == nil:
		return "the query " + key + " was not asked"
	case known && key == "top-kernels" && !r.hasGraphs():
		return noneOnGPU
	case known && key == "devices":
		return "no source names a GPU"
	}
	if notes := r.explaining(f); len(notes) > 0 {
		return strings.Join(notes, "; ")
	}
	return "the query " + key + " has no rows for this run"
}

// timelineKinds are the kinds of sources that say when and where kernels ran, the one that counts before others.
func timelineKinds() []string { return terms.Kinds(terms.Source.IsTraced) }

func hasTimeline(kinds map[string]bool) bool { return counted(kinds) != "" }

// counted is the kind of timelines that sums are of; "" where there is none.
func counted(kinds map[string]bool) string {
	for _, kind := range timelineKinds() {
		if kinds[kind] {
			return kind
		}
	}
	return ""
}

// sourceKinds are the kinds of the run's sources; none where they were not asked.
func (r *reader) sourceKinds() map[string]bool {
	out := map[string]bool{}
	for _, row := range read(r, sourceRows) {
		out[row.Kind] = true
	}
	return out
}

// hasGraphs reports whether graph replays took time of the GPUs.
func (r *reader) hasGraphs() bool {
	return slices.ContainsFunc(read(r, partRows), func(p partRow) bool { return p.Part == "graph" })
}

// explaining leaves out what is about something else than what is missing: how far times can be trusted, and sources that were read in
// part while another one is a timeline. Where no range is a stage, that explains all that is told by stage.
func (r *reader) explaining(f *frame.Frame) []string {
	if f.Warns("no-stage") {
		return f.Said("stage")
	}
	others := map[string]bool{}
	for _, row := range read(r, sourceRows) {
		if !slices.Contains(timelineKinds(), row.Kind) {
			others[row.Path] = true
		}
	}
	var out []string
	for _, c := range f.Caveats {
		partial, is := caveat.PartialSourceOf(c)
		if c.Topic != "throttle" && !(is && others[partial.Source]) && !slices.Contains(out, c.Text) {
			out = append(out, c.Text)
		}
	}
	return out
}
