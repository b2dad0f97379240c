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
	Stage    string                 // of which alone they are; "" for all
	Next     []string               // commands that show more
	First    []string               // notes that are said before them
}

// Explain returns findings, ranked, each with what it could save, the numbers that it follows from, what to do about it and the commands that
// show more. What they are about stands first: each stage on each GPU with its span, and how much of that the GPU was busy.
func Explain(e Explained) (doc.Document, error) {
	d := doc.Document{Title: typeset.Neutral(e.Report.Name)}
	parts, err := judge.PartRows.Of(e.Report.Frame("accounting"))
	if err != nil {
		return d, err
	}
	d.Blocks = []doc.Block{spanFacts(e.Report.Name, e.Stage, parts)}
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
func spanFacts(run, stage string, parts []judge.PartRow) doc.Facts {
	facts := doc.Facts{{"run", run}}
	for _, s := range spansOf(parts) {
		if (stage == "" || stage == s.asked()) && s.ns > 0 {
			facts = append(facts, [2]string{words.Stage(s.stage), fmt.Sprintf("%s on GPU %d, busy %s", s.text(), s.device, typeset.Percent(s.busy/s.ns))})
		}
	}
	return facts
}

// span is what a stage takes on a GPU: its median pass, which findings say how to shorten.
type span struct {
	stage          string // "" is all device work
	device, passes int64
	ns, busy       float64
}

func (s span) text() string {
	text := typeset.Nanoseconds(s.ns)
	if s.stage != "" && s.passes > 1 {
		text += " median of " + typeset.Plural(s.passes, "pass", "passes")
	}
	return text
}

// asked is how findings are asked for the stage.
func (s span) asked() string {
	return cmp.Or(s.stage, "(none)")
}

// spansOf adds up the busy parts of each stage on each GPU: of stages where the run has any, else of the whole run.
func spansOf(parts []judge.PartRow) []span {
	var stages, all []span
	for _, r := range parts {
		ns, _ := frame.Finite(r.MedianPassNs)
		whole, _ := frame.Finite(r.MedianPassSpanNs)
		list, s := &stages, span{stage: r.Stage, device: r.Device, passes: r.Passes, ns: whole}
		if s.stage == words.WholeRun {
			list, s.stage = &all, ""
		}
		last := len(*list) - 1
		if last < 0 || (*list)[last].stage != s.stage || (*list)[last].device != s.device { // rows are in this order
			*list = append(*list, s)
			last++
		}
		if r.Kind == "busy" {
			(*list)[last].busy += ns
		}
	}
	if len(stages) > 0 {
		return stages
	}
	return all
}
