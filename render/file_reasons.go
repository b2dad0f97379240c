package render

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/judge"
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
func whyNone(r *judge.Report, key string) string {
	f, kinds := r.Frame(key), sourceKinds(r)
	known := len(kinds) > 0
	switch {
	case known && slices.Contains(ofCapture, key) && !kinds["capture"]:
		return notCaptured
	case known && slices.Contains(ofTimeline, key) && !kinds["nsys"] && !kinds["torch"]:
		return noTimeline + onlyProfiled(kinds)
	case f == nil:
		return "the query " + key + " was not asked"
	case known && key == "top-kernels" && !hasPart(r.Frame("accounting"), "graph"):
		return noneOnGPU
	case known && key == "devices":
		return "no source tells of a GPU"
	}
	if notes := explaining(r, f.Notes); len(notes) > 0 {
		return strings.Join(notes, "; ")
	}
	return "the query " + key + " has no rows for this run"
}

func onlyProfiled(kinds map[string]bool) string {
	if kinds["ncu"] {
		return ", only what Nsight Compute profiled: see prof query bottlenecks and region-metrics"
	}
	return ""
}

// sourceKinds are the kinds of the run's sources; none where they were not asked.
func sourceKinds(r *judge.Report) map[string]bool {
	out := map[string]bool{}
	if f := r.Frame("sources"); hasColumn(f, "kind") {
		for _, row := range f.Rows {
			if kind, ok := row[f.Index("kind")].(string); ok {
				out[kind] = true
			}
		}
	}
	return out
}

// ofMeasuring are words of notes that say how far times can be trusted. They are no reasons why there are none.
var ofMeasuring = []string{" was held back (", "other processes computed on GPU "}

// noStages is how the note begins that explains all that is told by stage.
const noStages = "no range of this run is a stage"

// explaining leaves out notes that are about something else than what is missing: clocks that were held down, other processes, and
// sources that were read in part while another one is a timeline.
func explaining(r *judge.Report, notes []string) []string {
	if at := slices.IndexFunc(notes, func(note string) bool { return strings.HasPrefix(note, noStages) }); at >= 0 {
		return notes[at : at+1]
	}
	partial := partialSources(r)
	return slices.DeleteFunc(slices.Clone(notes), func(note string) bool {
		measuring := slices.ContainsFunc(ofMeasuring, func(words string) bool { return strings.Contains(note, words) })
		return measuring || slices.ContainsFunc(partial, func(start string) bool { return strings.HasPrefix(note, start) })
	})
}

// partialSources gives the starts of the notes on sources that are no timeline and were not read as a whole.
func partialSources(r *judge.Report) []string {
	f := r.Frame("sources")
	if !hasColumn(f, "kind") || !hasColumn(f, "path") || !hasColumn(f, "status") {
		return nil
	}
	var out []string
	for _, row := range f.Rows {
		kind, status := row[f.Index("kind")], row[f.Index("status")]
		if status != "ok" && kind != "nsys" && kind != "torch" {
			out = append(out, fmt.Sprintf("%v is %v: ", row[f.Index("path")], status))
		}
	}
	return out
}
