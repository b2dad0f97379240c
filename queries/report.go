package queries

import (
	"context"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/schema"
)

// ReportOptions say what of a report is wanted.
type ReportOptions struct {
	Sections []string // only these, by id; empty for all
	Top      int64    // rows of ranked tables; 0 for each table's own number
	Page     bool     // with what only the page of HTML shows
}

// asked is a report while its questions are asked.
type asked struct{ *judge.Report }

// wanted is one question of a report.
type wanted struct {
	id, title string // the query's name; without a title it is no section
	by        string // what its rows are grouped by, all of them, where that is not what they are by default
	top       string // rows of a ranked table, unless it is told otherwise
	optional  bool   // left out where it has no rows: not every run has such a thing
	ranks     bool   // of a run with several ranks it says why it has no rows, though optional
	answers   bool   // no rows are an answer too, and nothing is missing
	page      bool   // only the page of HTML has it
	warm      bool   // it counts warm-up too
	of        string // asked only of runs with a source of one of these kinds; others have nothing of it

	screen string   // a screen asks it too: always, or of runs with a source of one of these kinds; "" where it does not
	notes  []string // topics of notes that a screen's summary reads; all of them take longer than the rows and have no place there
	alone  bool     // only a screen asks it
}

// always says that a screen asks a question of every run.
const always = "always"

// questions are what reports and screens ask of a run, the sections of a report in order: where the time goes and why, then what the run was.
var questions = []wanted{
	{id: "stages", title: "Stages", screen: always, notes: []string{"timelines", "pass", "stage"}},
	{id: "stage-notes", title: "Parts of stages", optional: true},
	{id: "findings", title: "What to do first", top: "10", answers: true, screen: always},
	{id: "time-breakdown", title: "Time breakdown", top: "10"},
	{id: "accounting", title: "Where the time went", screen: always},
	{id: "large-kernels", title: "Largest kernels of each stage", optional: true, screen: always},
	{id: "layers", title: "Layers", optional: true},
	{id: "top-kernels", title: "Top kernels", top: "20", screen: always, notes: []string{"left-kernels"}}, {id: "top-kernels", by: "family"},
	{id: "stage-kernels", title: "Kernels by stage", top: "8", screen: "ncu"},
	{id: "kernel-durations", title: "Kernel durations", top: "9", optional: true, page: true},
	{id: "bottlenecks", title: "What bounds the kernels", top: "20", screen: "ncu"},
	{id: "roofline", title: "Roofline"},
	{id: "ncu-hotspots", title: "Hot lines", top: "10", optional: true, of: "ncu"},
	{id: "ncu-samples", title: "Throughput within kernels", top: "4", optional: true, page: true, of: "ncu"},
	{id: "top-operators", title: "Top operators", top: "20", warm: true, screen: always},
	{id: "gaps", title: "Idle gaps", top: "10", screen: always},
	{id: "step-times", title: "Steps", optional: true},
	{id: "late-ranks", title: "Slow ranks", optional: true},
	{id: "rank-passes", title: "Skew per step and rank", optional: true, ranks: true, page: true},
	{id: "collectives", title: "Collectives", optional: true, notes: []string{"left-collectives"}},
	{id: "aggregates", title: "Aggregates"},
	{id: "mfu", title: "Model FLOPs utilisation", screen: always, notes: []string{"mfu"}},
	{id: "mbu", title: "Memory bandwidth utilisation"},
	{id: "models", title: "Model", screen: always},
	{id: "serving", title: "Serving benchmarks", optional: true, of: "serving", screen: "serving"},
	{id: "serving-latency", title: "Latencies of serving", optional: true, of: "serving", screen: "serving"},
	{id: "reported-metrics", title: "Reported by other tools", top: "60", optional: true, of: "reported workload", screen: "reported workload"},
	{id: "input-stages", title: "Inputs", optional: true, of: "capture"},
	{id: "memory-peaks", title: "Peak memory", optional: true, warm: true, screen: always},
	{id: "memory", title: "Memory"},
	{id: "throttling", title: "Throttling", optional: true, of: "capture", screen: "capture"},
	{id: "device-use", title: "Use of devices", optional: true, of: "capture"},
	{id: "sample-series", title: "GPU samples", optional: true, page: true, of: "capture"},
	{id: "devices", title: "Devices", screen: always},
	{id: "capture-passes", title: "Capture", optional: true, of: "capture", screen: "capture"},
	{id: "kept-files", title: "Kept files", top: "20", optional: true, of: "capture"},
	{id: "overhead", title: "Overhead of profiling", optional: true, screen: "capture", notes: []string{"overhead"}},
	{id: "warnings", title: "Warnings of the capture", top: "20", answers: true},
	{id: "facts", title: "Environment", optional: true},
	{id: "sources", title: "Sources"},
	{id: "captures", of: "capture", screen: "capture"}, {id: "passes", screen: always}, {id: "workload-passes"},
	{id: "run-details"}, {id: "inputs"}, {id: "conservation", screen: always, notes: []string{"launch"}}, {id: "peaks"}, {id: "finding-rules", screen: always}, {id: "kernel-devices", top: "20"},
	{id: "ceilings", page: true},
	{id: "tpot-causes", of: "serving", screen: "serving"},
	{id: "graphs", screen: always}, {id: "diagnostics", screen: always, alone: true},
}

// SectionName is what a section is asked for by.
type SectionName struct {
	ID, Title string
	Page      bool // only the page of HTML has it
}

// ReportSections returns a report's sections in order, also those that not every run has.
func ReportSections() []SectionName {
	var out []SectionName
	for _, q := range questions {
		if q.title != "" {
			out = append(out, SectionName{q.id, q.title, q.page})
		}
	}
	return out
}

// NewReport asks what the reports of a run show.
func NewReport(ctx context.Context, a *Asker, run schema.Run, o ReportOptions) (*judge.Report, error) {
	chosen, err := choose(o)
	if err != nil {
		return nil, err
	}
	first, err := a.AskAll(ctx, []Question{{Query: "sources", Args: Args{"run": run.ID}}, {Query: "devices", Args: Args{"run": run.ID}}})
	if err != nil {
		return nil, err
	}
	r := asked{&judge.Report{Name: run.Name, Frames: map[string]*frame.Frame{"sources": first[0], "devices": first[1]}}}
	if o.Page && r.hasKind("capture") { // how many passes there are tells how finely their samples are drawn
		if r.Frames["capture-passes"], err = a.Ask(ctx, "capture-passes", Args{"run": run.ID}); err != nil {
			return nil, err
		}
	}
	list := r.requests(chosen, run.ID, o.Top)
	timeline := r.timelineRequests(run.ID)
	if o.Page {
		list = append(list, timeline.requests...)
	}
	list = slowestFirst(list)
	frames, err := a.AskAll(ctx, list)
	if err != nil {
		return nil, err
	}
	byKey := map[string]*frame.Frame{}
	for i, q := range list {
		byKey[judge.GroupedKey(q.Query, q.Args["by"])] = frames[i]
	}
	for _, q := range chosen {
		key := judge.GroupedKey(q.id, q.by)
		if f := byKey[key]; f != nil {
			r.Frames[key] = f
		}
	}
	if o.Page {
		r.Timeline = timeline.of(byKey)
	}
	r.fillSections(chosen)
	if o.Top > 0 && len(o.Sections) == 0 {
		if err := r.askWhole(ctx, a, chosen, run.ID); err != nil {
			return nil, err
		}
	}
	if err := AskMore(ctx, a, r.Report, run.ID); err != nil {
		return nil, err
	}
	summary, err := r.Summary()
	if err != nil {
		return nil, err
	}
	for i, s := range r.Sections {
		switch s.ID {
		case "findings":
			if r.Sections[i].Findings, err = r.Findings(); err != nil {
				return nil, err
			}
		case "large-kernels":
			r.Sections[i].Kernels = summary.Large
		case "late-ranks":
			r.Sections[i].Hint = summary.SlowWords()
		}
	}
	return r.Report, err
}

// NewScreen asks what one screen shows of a run, as a report asks it, so that both come to the same.
func NewScreen(ctx context.Context, a *Asker, run schema.Run) (*judge.Report, error) {
	sources, err := a.Ask(ctx, "sources", Args{"run": run.ID})
	if err != nil {
		return nil, err
	}
	r := asked{&judge.Report{Name: run.Name, Frames: map[string]*frame.Frame{"sources": sources}}}
	var list []Question
	for _, q := range questions {
		if q.screen == always || slices.ContainsFunc(strings.Fields(q.screen), r.hasKind) {
			question := r.question(q, run.ID, 0)
			question.Notes = func(kind string) bool { return slices.Contains(q.notes, kind) }
			list = append(list, question)
		}
	}
	list = slowestFirst(list)
	frames, err := a.AskAll(ctx, list)
	if err != nil {
		return nil, err
	}
	for i, q := range list {
		r.Frames[q.Query] = frames[i]
	}
	return r.Report, AskMore(ctx, a, r.Report, run.ID)
}
