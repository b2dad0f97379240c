package judge

import (
	"strings"

	"prof/queries/caveat"
	"prof/queries/frame"
)

// Report is what the reports of a run are made from: the answers to its queries, each asked once.
type Report struct {
	Name     string      // the run's
	Source   string      // the kind of capture that all of it is of; "" for the counted one
	Within   float64     // steady passes repeat where nine tenths of them are within this share of their median; 0 for a tenth
	Facts    [][2]string // what the run is, in words
	Sections []Section
	Frames   map[string]*frame.Frame // answers by key: those of sections, and those that figures and files need beside them
	Whole    map[string]*frame.Frame // what the summary follows from, where Frames holds other numbers of rows of it; nil for none
	Timeline *Timeline               // nil unless asked for
	Static   *Static                 // what the run's model needs; nil without a model

	summary *Summary
	worded  []Finding // those of the answer to findings
}

// Section is one part of a report: a query's answer, or why there is none.
type Section struct {
	ID    string // how it is asked for; also its key in Frames
	Title string
	Frame *frame.Frame
	// Findings are the rows of findings, in words.
	Findings []Finding
	Hint     string // what its rows count that one may not think of; "" where there is no such thing
	Missing  string // why Frame has no rows; "" when it has some, or none are the answer
	Page     bool   // only the page of HTML shows it, as a picture
}

// Frame returns an answer by its key; nil when it was not asked for.
func (r *Report) Frame(key string) *frame.Frame { return r.Frames[key] }

// Lacking says that the run has no facts, and what derives them; "" where it has. Every answer does.
func (r *Report) Lacking() string {
	for _, f := range r.Frames {
		if f != nil && f.Warns(caveat.FactsLacking) {
			return strings.Join(f.Said(caveat.Facts), "; ")
		}
	}
	return ""
}

// Summary is what the answers come to, made the first time. Neither it nor the answers may be changed then.
func (r *Report) Summary() (Summary, error) {
	if r.summary == nil {
		s := newSummariser(r)
		if err := s.summarise(); err != nil {
			return Summary{}, err
		}
		r.summary, r.worded = &s.out, s.out.Findings
		if r.Whole["findings"] != nil {
			var err error
			if r.worded, err = s.refined(r.Frame("findings")); err != nil {
				return Summary{}, err
			}
		}
	}
	return *r.summary, nil
}

// Timeline is what a picture of a run's devices over time is drawn from.
type Timeline struct {
	Blocks  *frame.Frame // timeline-blocks: work by GPU and kind
	Passes  *frame.Frame // timeline-passes: passes of stages by GPU
	Gaps    *frame.Frame // longest-gaps
	Windows *frame.Frame // timeline-windows: where single kernels are known
	Kernels *frame.Frame // timeline-kernels: those kernels
	Calls   *frame.Frame // timeline-calls: the CUDA calls that launched them, and others of their threads
	Ranges  *frame.Frame // timeline-ranges: the longest ranges of threads
	Clocks  *frame.Frame // clock-offsets; nil for a single source
	Parts   int64        // equal parts of the time of the capture: what begins in the same one is drawn as one
}
