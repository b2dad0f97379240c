package queries

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/schema/terms"
)

// askWhole asks ranked tables with their own numbers of rows: what a run comes to does not depend on how many are shown.
func (r asked) askWhole(ctx context.Context, a *Asker, chosen []wanted, run string) error {
	ranked := slices.DeleteFunc(slices.Clone(chosen), func(q wanted) bool { return q.top == "" || q.page })
	list := slowestFirst(r.requests(ranked, run, 0))
	frames, err := a.AskAll(ctx, list)
	if err != nil {
		return err
	}
	r.Whole = map[string]*frame.Frame{}
	for i, q := range list {
		r.Whole[q.Query] = frames[i]
	}
	return nil
}

// choose returns the questions that the options leave.
func choose(o ReportOptions) ([]wanted, error) {
	for _, id := range o.Sections {
		if !slices.ContainsFunc(questions, func(q wanted) bool { return q.id == id && q.title != "" }) {
			var known []string
			for _, s := range ReportSections() {
				known = append(known, s.ID)
			}
			return nil, fmt.Errorf("%w: a report has no section %q; sections: %s", ErrBadArgument, id, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(questions), func(q wanted) bool {
		forFigures := q.page && q.title == "" || q.id == "finding-rules" && slices.Contains(o.Sections, "findings")
		return q.alone || q.page && !o.Page || len(o.Sections) > 0 && !forFigures && !slices.Contains(o.Sections, q.id)
	}), nil
}

// requests ask the questions that the run has something of; top is the number of rows of ranked tables, 0 for each table's own.
func (r asked) requests(chosen []wanted, run string, top int64) []Question {
	var out []Question
	for _, q := range chosen {
		if q.of != "" && !slices.ContainsFunc(strings.Fields(q.of), r.hasKind) {
			continue
		}
		out = append(out, r.question(q, run, top))
	}
	return out
}

func (r asked) question(q wanted, run string, top int64) Question {
	args := Args{"run": run}
	if q.top != "" {
		args["top"] = q.top
		if top > 0 {
			args["top"] = strconv.FormatInt(top, 10)
		}
	}
	if q.by != "" {
		args["by"], args["top"] = q.by, "0"
	}
	if q.id == "top-kernels" && q.by == "" && r.hasKind("ncu") {
		args["with_ncu"] = "true"
	}
	if q.id == "layers" {
		args["short"] = "true"
	}
	if q.id == "sample-series" {
		args["parts"] = strconv.Itoa(r.sampleParts())
	}
	return Question{Query: q.id, Args: args}
}

// QuestionOf is what a report asks of a run by that id, so that others who ask it come to the same; of a query that reports do not ask,
// the plain one. The report must hold its sources.
func QuestionOf(r *judge.Report, id, run string) Question {
	for _, q := range questions {
		if q.id == id {
			return asked{r}.question(q, run, 0)
		}
	}
	return Question{Query: id, Args: Args{"run": run}}
}

// AskMore asks what the first answers of a report call for, see judge.Report.More. Other runs are not asked, since planning takes most of
// the time.
func AskMore(ctx context.Context, a *Asker, r *judge.Report, run string) error {
	more, err := r.More(run)
	if err != nil {
		return err
	}
	keys := slices.Sorted(maps.Keys(more))
	list := make([]Question, len(keys))
	for i, key := range keys {
		list[i] = more[key]
		list[i].Notes = frame.RowsOnly // the first answers have them
	}
	frames, err := a.AskAll(ctx, list)
	if err != nil {
		return err
	}
	for i, key := range keys {
		r.Frames[key] = frames[i]
	}
	return nil
}

// How finely samples are drawn: a part is a few pixels of a picture. Of more passes and GPUs the parts are longer.
const (
	mostSampleParts  = 200
	leastSampleParts = 20
	samplePoints     = 40000 // parts of all passes and GPUs
)

// sampleParts is the number of parts that the time of each pass is cut into.
func (r asked) sampleParts() int {
	series := max(1, len(r.Frames["capture-passes"].Rows)*len(r.Frames["devices"].Rows))
	return min(mostSampleParts, max(leastSampleParts, samplePoints/series))
}

// hasKind reports whether the run has a source of a kind.
func (r asked) hasKind(kind string) bool {
	f := r.Frames["sources"]
	at := f.Index("kind")
	return slices.ContainsFunc(f.Rows, func(row []any) bool { return row[at] == kind })
}

// hasRanks reports whether several processes or GPUs ran collectives.
func (r asked) hasRanks() bool {
	f := r.Frames["collectives"]
	return f != nil && len(f.Rows) > 0 && !(isConstant(f, "source_id") && isConstant(f, "pid") && isConstant(f, "device"))
}

// timelines is the number of sources whose timeline counts: those of the kind asked, else of the first kind that the run has.
func (r asked) timelines() int {
	count := map[any]int{}
	f := r.Frames["sources"]
	for _, row := range f.Rows {
		count[row[f.Index("kind")]]++
	}
	if r.Source != "" {
		return count[r.Source]
	}
	for _, kind := range terms.Kinds(terms.Source.IsTraced) {
		if count[kind] > 0 {
			return count[kind]
		}
	}
	return 0
}

// slow are the queries that take longest to plan; begun first they end with the others.
var slow = []string{"findings", "mbu", "mfu", "timeline-kernels", "timeline-calls", "top-kernels", "bottlenecks", "step-times", "memory", "timeline-windows", "roofline", "ceilings", "accounting", "timeline-passes", "aggregates", "time-breakdown",
	"longest-gaps", "timeline-blocks", "stages", "top-operators"}

func slowestFirst(list []Question) []Question {
	place := func(r Question) int {
		if at := slices.Index(slow, r.Query); at >= 0 {
			return at
		}
		return len(slow)
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(x, y Question) int { return place(x) - place(y) })
	return out
}

// fillSections makes the sections from the answers.
func (r asked) fillSections(chosen []wanted) {
	for _, q := range chosen {
		f := r.Frames[q.id]
		if f == nil || q.title == "" || q.optional && len(f.Rows) == 0 && !(q.ranks && r.hasRanks()) {
			continue
		}
		s := judge.Section{ID: q.id, Title: q.title, Frame: f, Page: q.page}
		if len(f.Rows) == 0 && !q.answers {
			if s.Missing = strings.Join(f.Notes, "; "); s.Missing == "" {
				s.Missing = "the capture has no data for it"
			}
		}
		s.Hint = r.hint(q)
		r.Sections = append(r.Sections, s)
	}
}

// hint returns what the rows of a section count.
func (r asked) hint(q wanted) string {
	var hints []string
	if q.warm {
		hints = append(hints, "Of the whole run: warm-up and work outside stages too.")
	}
	behind := ""
	switch {
	case q.id != "top-operators" && q.id != "memory" || !r.hasKind("torch"):
	case r.hasKind("nsys"):
		behind = "Nsight Systems capture"
	case r.hasKind("prof"):
		behind = "recording of prof's tracer"
	}
	if behind != "" {
		hints = append(hints, "From the PyTorch profiler's capture, which recorded other executions than the "+behind+" behind the tables of kernels and stages.")
	}
	return strings.Join(hints, " ")
}
