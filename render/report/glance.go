package report

import (
	"fmt"
	"slices"

	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/render/words"
	"prof/schema/terms"
)

// glance is what a report says first, in words and figures as they are shown.
type glance struct {
	Lead      string
	Stages    []glanceStage
	Serving   doc.Facts
	Parts     []terms.Part // of the bars of the stages
	GPUs      int          // that a bar is added up from, at most
	Breakdown []glanceCategory
	Kernels   []glanceKernel
	Advice    []judge.Advice
	Doubts    []string
}

type glanceStage struct {
	Name                                             string
	Time                                             string         // of a pass, with its spread
	Share                                            string         // of the time of all measured passes of its stage
	Bar                                              *chart.BarView // nil where accounting has none
	Busy, MFU, MBU, Tokens                           string         // "-" when not known
	Bound, Says, Meaning, Why, But, Unknown, Command string
	IsAll                                            bool
}

type glanceCategory struct{ Words, Stage, Time, Share, Command string }

// glanceKernel is a kernel with its name in short and whole, and what is said of it.
type glanceKernel struct{ Short, Name, Words, Command string }

// mostBenchmarks is how many of a load generator's a summary has room for.
const mostBenchmarks = 8

// newGlance words the summary of a report; nil for one of chosen sections that has no place for it.
func newGlance(r *judge.Report) (*glance, error) {
	if r.Frame("stages") == nil || r.Frame("accounting") == nil {
		return nil, nil
	}
	s, err := r.Summary()
	if err != nil {
		return nil, err
	}
	g := &glance{Lead: typeset.Neutral(words.LeadOf(s))}
	stages := s.Stages
	if s.All != nil {
		stages = append(slices.Clone(stages), *s.All)
	}
	bars, gpus, err := chart.StageBars(r.Frame("accounting"), stages)
	if err != nil {
		return nil, err
	}
	g.Parts, g.GPUs = chart.PartsOf(bars), gpus
	for i, stage := range stages {
		g.Stages = append(g.Stages, newGlanceStage(stage))
		if len(bars[i].Pieces) > 0 {
			g.Stages[i].Bar = new(bars[i].View(g.Stages[i].Name))
		}
	}
	g.Serving = words.Serving(s.Benchmarks, mostBenchmarks)
	for _, c := range s.Breakdown {
		stage := typeset.Neutral(c.Stage)
		if stage == "" {
			stage = words.AllWork
		}
		g.Breakdown = append(g.Breakdown, glanceCategory{typeset.Neutral(c.Words), stage, words.CategoryTime(c), typeset.Percent(c.StageRatio), typeset.Neutral(c.Query)})
	}
	if g.Kernels, err = glanceKernels(r, s.Kernels); err != nil {
		return nil, err
	}
	for _, a := range s.Advice {
		for _, text := range []*string{&a.Stage, &a.Advice, &a.Title, &a.Number, &a.Why, &a.Subject, &a.Command} {
			*text = typeset.Neutral(*text)
		}
		a.Subject = typeset.Kernels(nil, typeset.LongName)(a.Subject)
		g.Advice = append(g.Advice, a)
	}
	if s.NotWhole != "" {
		g.Doubts = append(g.Doubts, typeset.Neutral(s.NotWhole))
	}
	for _, d := range s.Doubts {
		g.Doubts = append(g.Doubts, typeset.Neutral(d))
	}
	return g, nil
}

// glanceKernels words kernels, each by what tells its name from those of the others in the table.
func glanceKernels(r *judge.Report, list []judge.TopKernel) ([]glanceKernel, error) {
	var names []string
	for _, k := range list {
		names = append(names, typeset.Neutral(k.Name))
	}
	// How a name is shortened does not depend on the rows that were asked for.
	table := r.Whole["top-kernels"]
	if table == nil {
		table = r.Frame("top-kernels")
	}
	if table != nil && len(table.Rows) > 0 {
		rows, err := kernelRows.Of(table)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if name := typeset.Neutral(row.Kernel); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	short := typeset.Kernels(names, typeset.LongName)
	var out []glanceKernel
	for i, k := range list {
		out = append(out, glanceKernel{short(names[i]), names[i], words.KernelText(k), typeset.Neutral(k.Query)})
	}
	return out, nil
}

func newGlanceStage(s judge.StageSummary) glanceStage {
	g := glanceStage{Name: typeset.Neutral(s.Stage), Time: words.PassTimeText(s), Share: typeset.Percent(s.ShareRatio), Busy: typeset.Null, MFU: typeset.Null, MBU: typeset.Null, Tokens: typeset.Null,
		Bound: s.Label, Says: s.Says(), Meaning: s.Meaning, Why: typeset.Neutral(s.Why), But: typeset.Neutral(s.But), Unknown: typeset.Neutral(s.Unknown), Command: typeset.Neutral(s.Query), IsAll: s.Stage == ""}
	if g.IsAll {
		g.Name = words.AllWork
	}
	if s.IsCPU {
		g.Share = typeset.Null
	}
	if s.BusyRatio != nil {
		if g.Busy = typeset.Percent(*s.BusyRatio); s.GPUs > 1 {
			g.Busy += fmt.Sprintf(" over %d GPUs", s.GPUs)
		}
	}
	if s.Alone.MedianNs != nil {
		g.Time = typeset.Nanoseconds(*s.Alone.MedianNs) + " alone; under the profiler " + g.Time
	}
	use := func(v float64) string { return words.UseText(v, s.IsLeast) }
	g.MFU, g.MBU, g.Tokens = quoted(s.Alone.MFU, s.MFU, use), quoted(s.Alone.MBU, s.MBU, use), quoted(s.Alone.TokensPerS, s.TokensPerS, typeset.Digits)
	return g
}

// quoted words the figure without a profiler, and says so, else the one under it.
func quoted(alone, profiled *float64, text func(float64) string) string {
	switch {
	case alone != nil:
		return text(*alone) + " alone"
	case profiled != nil:
		return text(*profiled)
	}
	return typeset.Null
}

// whole is why the stage is said to be bound so, with what speaks against it.
func (s glanceStage) whole() string {
	if s.But == "" {
		return s.Why
	}
	return s.Why + "; but " + s.But
}

// MeaningSentence is what the bound means, as the page shows it.
func (s glanceStage) MeaningSentence() string { return typeset.Sentence(s.Meaning) + "." }

// WhySentence is what it follows from.
func (s glanceStage) WhySentence() string { return typeset.Sentence(s.Why) + "." }

// section is the summary as a part of the report, with what is to be done.
func (g *glance) section(todo []doc.Block) doc.Section {
	s := doc.Section{Title: "at a glance", ID: "glance"}
	part := func(title string, blocks ...doc.Block) {
		s.Blocks = append(s.Blocks, doc.Section{Title: title, Blocks: blocks})
	}
	if len(g.Stages) > 0 {
		s.Blocks = append(s.Blocks, doc.Either{Page: []doc.Block{doc.Figure{Template: "stage-cards", Of: g}}, Other: g.stageBlocks()})
	}
	if len(g.Serving) > 0 {
		part(words.ServingTitle, g.Serving)
	}
	s.Blocks = append(s.Blocks, todo...)
	if len(g.Breakdown) > 0 {
		part("where most of the time goes", g.breakdown()...)
	}
	if len(g.Kernels) > 0 {
		part("the kernels that take most time", doc.List{Items: typeset.Each(g.Kernels, func(k glanceKernel) doc.Item { return doc.Item{Name: k.Short, Text: k.Words} })},
			doc.Commands{Lead: "see", List: []string{g.Kernels[0].Command}},
			doc.Either{Page: []doc.Block{doc.Hint{Text: "The table of top kernels opens names in full.", To: "section-top-kernels"}},
				Other: []doc.Block{doc.Hint{Text: "kernels.md has names in full."}}})
	}
	if len(g.Doubts) > 0 {
		part("caveats", doc.List{Items: sentences(g.Doubts)})
	}
	return s
}

// breakdown is what most of the time goes to.
func (g *glance) breakdown() []doc.Block {
	return []doc.Block{doc.List{Ordered: true, Plain: true, Items: typeset.Each(g.Breakdown, func(c glanceCategory) doc.Item {
		return doc.Item{Text: fmt.Sprintf("%s of %s (%s): %s", c.Share, c.Stage, c.Time, c.Words)}
	})}, doc.Commands{Lead: "see", List: []string{g.Breakdown[0].Command}}}
}

// stageBlocks are the stages where they are not drawn: their figures, and what bounds each.
func (g *glance) stageBlocks() []doc.Block {
	t := figures("stage", "time per pass", "share", "GPU busy", "MFU", "MBU", "tokens/s", "bound")
	t.Columns[1].Right, t.Columns[7].Right = false, false
	for _, s := range g.Stages {
		t.AddRow(s.Name, s.Time, s.Share, s.Busy, s.MFU, s.MBU, s.Tokens, s.Bound)
	}
	return []doc.Block{doc.Table{Of: t}, doc.List{Items: typeset.Each(g.Stages, func(s glanceStage) doc.Item {
		return doc.Item{Text: fmt.Sprintf("%s, %s: %s", s.Name, s.Bound, s.whole()), See: []string{s.Command}}
	})}}
}

// toCapture is what to capture next, where findings alone say too little.
func (g *glance) toCapture() []doc.Block {
	list := slices.DeleteFunc(slices.Clone(g.Advice), func(a judge.Advice) bool { return a.Title != "" })
	if len(list) == 0 {
		return nil
	}
	return []doc.Block{doc.Section{Title: "what to capture next", Blocks: []doc.Block{doc.List{Ordered: true, Items: typeset.Each(list, adviceItem)}}}}
}

// adviceItem is what was found with its numbers, then what to try; where something is to be captured, what and why.
func adviceItem(a judge.Advice) doc.Item {
	item := doc.Item{Text: a.Advice, Under: []string{a.Why}, See: []string{a.Command}}
	if a.Title == "" {
		return item
	}
	item.Text, item.Try = a.Title, a.Advice
	if a.Stage != "" {
		item.Text = a.Stage + ": " + item.Text
	}
	item.Of = a.Subject
	return item
}
