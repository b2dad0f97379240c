package queries

import (
	"context"
	"strings"

	"prof/schema"
)

// Section is one part of a report: a query's answer, or why there is none.
type Section struct {
	Title   string
	Frame   *Frame
	Missing string // why Frame has no rows; "" when it has some, or none are the answer
}

// sections are what a report shows, in order.
var sections = []struct {
	title, query string
	args         Args
	optional     bool // left out where it has no rows: not every run has such a thing
	answers      bool // no rows are an answer too, and nothing is missing
}{
	{title: "Devices", query: "devices"},
	{title: "Capture", query: "capture-passes", optional: true},
	{title: "Overhead of profiling", query: "overhead", optional: true},
	{title: "Use of devices", query: "device-use", optional: true},
	{title: "Throttling", query: "throttling", optional: true},
	{title: "Stages", query: "stages"},
	{title: "Where the time went", query: "accounting"},
	{title: "What to do about it", query: "findings", args: Args{"top": "10"}, answers: true},
	{title: "Idle gaps", query: "gaps", args: Args{"top": "10"}},
	{title: "Steps", query: "step-times", optional: true},
	{title: "Collectives", query: "collectives", optional: true},
	{title: "Parts of stages", query: "stage-notes"},
	{title: "Model", query: "models"},
	{title: "Model FLOPs utilisation", query: "mfu"},
	{title: "Memory bandwidth utilisation", query: "mbu"},
	{title: "Top kernels", query: "top-kernels", args: Args{"top": "20"}},
	{title: "Top operators", query: "top-operators", args: Args{"top": "20"}},
	{title: "Sources", query: "sources"},
}

// Report asks what a report of a run shows.
func Report(ctx context.Context, w *schema.Warehouse, run string) ([]Section, error) {
	var out []Section
	for _, s := range sections {
		args := Args{"run": run}
		for k, v := range s.args {
			args[k] = v
		}
		f, err := ask(ctx, w, s.query, args)
		if err != nil {
			return nil, err
		}
		if s.optional && len(f.Rows) == 0 {
			continue
		}
		section := Section{Title: s.title, Frame: f}
		if len(f.Rows) == 0 && !s.answers {
			if section.Missing = strings.Join(f.Notes, "; "); section.Missing == "" {
				section.Missing = "nothing was captured of it"
			}
		}
		out = append(out, section)
	}
	return out, nil
}
