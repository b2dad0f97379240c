package screen

import (
	"cmp"
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/render/words"
)

// Explained is what findings are written from.
type Explained struct {
	Report   *judge.Report
	Findings []judge.Finding
	Kernels  []judge.LargeKernel
	Replayed []judge.ReplayedKernel // of a run without a timeline, in which nothing else can be found
	Lead     string                 // what a run without GPU work has
	Stages   []judge.StageSummary   // of the run
	Stage    string                 // of which alone they are; "" for all
	Next     []string               // commands that show more
	First    []string               // notes that are said before them
}

// Explain returns findings, ranked, each with what it could save, the numbers that it follows from, what to do about it and the commands that
// show more. What they are about stands first: each stage with its span, and how much of that each GPU was busy.
func Explain(e Explained) (doc.Document, error) {
	d := doc.Document{Title: typeset.Neutral(e.Report.Name)}
	parts, err := judge.PartRows.Of(e.Report.Frame("accounting"))
	if err != nil {
		return d, err
	}
	d.Blocks = []doc.Block{spanFacts(e.Report.Name, e.Stage, e.Stages, parts)}
	add := func(notes []string) {
		if len(notes) > 0 {
			d.Blocks = append(d.Blocks, doc.Notes(typeset.Each(notes, typeset.Neutral)))
		}
	}
	hasWork := len(parts) > 0 || e.Lead == ""
	if hasWork {
		add(e.First)
	} else {
		d.Blocks = []doc.Block{doc.Lead{Text: typeset.Neutral(e.Lead)}, d.Blocks[0]}
	}
	f := e.Report.Frame("findings")
	switch {
	case len(e.Findings) > 0:
		d.Blocks = append(d.Blocks, doc.List{Ordered: true, Apart: true, Items: words.Findings(e.Findings)})
	case len(e.Replayed) > 0:
		d.Blocks = append(d.Blocks, doc.Section{Title: words.ReplayedTitle, Blocks: []doc.Block{doc.List{Ordered: true, Items: words.ReplayedKernels(e.Replayed)}}})
	default:
		d.Blocks = append(d.Blocks, doc.Text(words.NoFindings(f)))
	}
	if len(e.Kernels) > 0 {
		d.Blocks = append(d.Blocks, doc.Section{Title: words.LargeTitle, Blocks: []doc.Block{doc.List{Ordered: true, Items: words.LargeKernels(e.Kernels)}}})
	}
	if !hasWork { // that no rule was tried is least of what is to be said
		add(e.First)
	}
	add(slices.DeleteFunc(slices.Clone(f.Notes), func(note string) bool { return slices.Contains(e.First, note) }))
	if len(e.Next) > 0 {
		d.Blocks = append(d.Blocks, doc.Commands{Lead: "more", List: e.Next})
	}
	return d, nil
}

// spanFacts say what findings of a stage, or of all, are about.
func spanFacts(run, stage string, stages []judge.StageSummary, parts []judge.PartRow) doc.Facts {
	facts := doc.Facts{{"run", run}}
	for _, s := range spansOf(stages, parts) {
		if (stage == "" || stage == s.asked()) && s.ns > 0 {
			facts = append(facts, [2]string{words.Stage(s.stage), s.text()})
		}
	}
	return facts
}

// span is what a stage takes: its median pass, which findings say how to shorten, and how busy each GPU is in its own.
type span struct {
	stage   string // "" is all device work
	passes  int64
	ns      float64
	devices []int64
	busy    []float64 // of each device, as a share
}

func (s span) text() string {
	text := typeset.Nanoseconds(s.ns)
	if s.stage != "" && s.passes > 1 {
		text += " median of " + typeset.Plural(s.passes, "pass", "passes")
	}
	share := func(i int) string { return typeset.Percent(s.busy[i]) }
	on := func(i int) string { return fmt.Sprintf("%s on GPU %d", share(i), s.devices[i]) }
	switch len(s.devices) {
	case 1:
		return fmt.Sprintf("%s on GPU %d, busy %s", text, s.devices[0], share(0))
	case 2:
		return fmt.Sprintf("%s, busy %s, %s", text, on(0), on(1))
	}
	return fmt.Sprintf("%s, busy %s to %s", text, on(slices.Index(s.busy, slices.Min(s.busy))), on(slices.Index(s.busy, slices.Max(s.busy))))
}

// asked is how findings are asked for the stage.
func (s span) asked() string {
	return cmp.Or(s.stage, "(none)")
}

// spansOf adds up the busy parts of each stage on each GPU: of stages where the run has any, else of the whole run, which takes as long as on the GPU where
// that is longest.
func spansOf(stages []judge.StageSummary, parts []judge.PartRow) []span {
	var out, all []span
	for _, r := range parts {
		ns, _ := frame.Finite(r.MedianPassNs)
		whole, _ := frame.Finite(r.MedianPassSpanNs)
		list, stage := &out, r.Stage
		if stage == words.WholeRun {
			list, stage = &all, ""
		}
		if n := len(*list); n == 0 || (*list)[n-1].stage != stage { // rows are in this order
			*list = append(*list, span{stage: stage, passes: r.Passes})
		}
		s := &(*list)[len(*list)-1]
		if n := len(s.devices); n == 0 || s.devices[n-1] != r.Device {
			s.devices, s.busy, s.ns = append(s.devices, r.Device), append(s.busy, 0), max(s.ns, whole)
		}
		if r.Kind == "busy" && whole > 0 {
			s.busy[len(s.busy)-1] += ns / whole
		}
	}
	for i, s := range out {
		if at := slices.IndexFunc(stages, func(x judge.StageSummary) bool { return x.Stage == s.stage && !x.IsCPU }); at >= 0 {
			out[i].ns, out[i].passes = stages[at].MedianNs, stages[at].Passes
		}
	}
	if len(out) > 0 {
		return out
	}
	return all
}
