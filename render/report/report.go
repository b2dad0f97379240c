// Package report writes the documents of one run: the page, Markdown, and the files of figures for other programs.
package report

import (
	"bytes"
	"slices"
	"strings"

	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// markdown returns the function that writes a document in GitHub's Markdown.
func markdown(document func(r *reader) doc.Document) func(out *bytes.Buffer, r *reader) {
	return func(out *bytes.Buffer, r *reader) {
		if d := document(r); r.err == nil {
			r.keep(doc.Markdown(out, []doc.Document{d}, typeset.Options{}))
		}
	}
}

// reportFile is report.md.
func reportFile(r *reader) doc.Document { return r.document(false) }

// writeHTML writes a report as one page of HTML, with pictures of where the time went and of the devices over time. Without its script all but
// the timeline is there.
func writeHTML(out *bytes.Buffer, r *reader) {
	if d := r.document(true); r.err == nil {
		r.keep(doc.HTML(out, []doc.Document{d}, typeset.Options{}))
	}
}

// document is the report: facts of the run, what they come to, then each section with the query that gives it. What is missing is said in its
// place. Pictures are made where they will be drawn.
func (r *reader) document(withPictures bool) doc.Document {
	d := doc.Document{Title: typeset.Neutral(reportTitle(r.Report)), IsFile: true}
	g, err := newGlance(r.Report)
	r.keep(err)
	if g != nil {
		d.Blocks = append(d.Blocks, doc.Lead{Text: g.Lead})
	}
	d.Blocks = append(d.Blocks, r.facts()...)
	var timeline *chart.TimelineFigure
	if withPictures {
		d.Kernels = table.KernelNames(reportFrames(r.Report))
		timeline, err = chart.NewTimeline(r.Timeline, d.Kernels)
		r.keep(err)
	}
	lists := words.SectionNotes(r.Sections, withPictures)
	if timeline != nil {
		lists = append(lists, timeline.Notes)
	}
	shared := words.SharedNotes(lists...)
	var todo, sections []doc.Block
	var reasons []string
	unknown := map[string][]string{} // sections, by what they lack
	isLong := len(r.Sections) >= manySections
	if timeline != nil {
		timeline.Notes, timeline.Others = words.OwnNotes(timeline.Notes, shared)
		sections = append(sections, doc.Either{Page: []doc.Block{doc.Section{Title: "timeline", ID: "timeline", Blocks: []doc.Block{doc.Figure{Template: "timeline", Of: timeline, Scripts: timelineScripts}}}}})
	}
	pictures := len(sections)
	for _, s := range r.Sections {
		isFolded := isLong && s.ID != "findings" && len(sections) > pictures
		section := doc.Section{Title: typeset.Neutral(s.Title), ID: "section-" + s.ID, Folded: isFolded, Blocks: r.section(s, shared, withPictures)}
		if s.Missing != "" {
			section.Title, section.Brief = section.Title+": not known", section.Title
		}
		switch {
		case s.Page:
			sections = append(sections, doc.Either{Page: []doc.Block{section}})
		case s.ID == "findings" && g != nil:
			todo = append(todo, section)
		case s.Missing != "" && isLong:
			why := r.missingText(s)
			if unknown[why] == nil {
				reasons = append(reasons, why)
			}
			unknown[why] = append(unknown[why], typeset.Neutral(s.Title))
		default:
			sections = append(sections, section)
		}
	}
	if g != nil {
		d.Blocks = append(d.Blocks, g.section(append(todo, g.toCapture()...)))
	}
	d.Blocks = append(d.Blocks, sections...)
	if len(reasons) > 0 {
		d.Blocks = append(d.Blocks, doc.Section{Title: "not known", ID: "unknown", Blocks: []doc.Block{doc.List{Items: typeset.Each(reasons, func(why string) doc.Item {
			return doc.Item{Text: strings.Join(unknown[why], ", ") + ": " + why}
		})}}})
	}
	if len(shared) > 0 {
		d.Blocks = append(d.Blocks, doc.Section{Title: words.SharedTitle, ID: notesID, Blocks: []doc.Block{doc.List{Ordered: true, Plain: true, Items: sentences(shared)}}})
	}
	return d
}

// manySections is how many sections are folded, but for what to do and the first, which a reader sees without a click.
const manySections = 8

// notesID names the section of notes on several tables.
const notesID = "notes"

// timelineScripts draw the timeline of a page.
var timelineScripts = []string{"el.js", "times.js", "timeline_marks.js", "timeline_palette.js", "timeline_view.js", "timeline_embedded.js", "timeline.js"}

func reportTitle(r *judge.Report) string { return "Run " + r.Name }

// firstFacts are what a report shows of a run without asking.
var firstFacts = []string{"captured", "command", "tags", "model", "capture"}

// facts say what the run is; most of them are folded away.
func (r *reader) facts() []doc.Block {
	var first, more doc.Facts
	if gpus := r.gpuText(); gpus != "" {
		first = append(first, [2]string{"GPU", gpus})
	}
	for _, f := range r.Facts {
		f = [2]string{typeset.Neutral(f[0]), typeset.Neutral(f[1])}
		if slices.Contains(firstFacts, f[0]) {
			first = append(first, f)
		} else {
			more = append(more, f)
		}
	}
	var out []doc.Block
	if len(first) > 0 {
		out = append(out, first)
	}
	if len(more) > 0 {
		out = append(out, doc.Section{Title: "more about the run", Folded: true, Blocks: []doc.Block{more}})
	}
	return out
}

func sentences(texts []string) []doc.Item {
	return typeset.Each(texts, func(text string) doc.Item { return doc.Item{Text: text} })
}

// section is a section: why there is nothing of it, or its pictures, rows and notes, with the SQL that they come from.
func (r *reader) section(s judge.Section, shared []string, withPictures bool) (out []doc.Block) {
	if s.Missing != "" {
		return []doc.Block{doc.Text("Not known: " + r.missingText(s))}
	}
	if s.Hint != "" {
		out = append(out, doc.Hint{Text: typeset.Neutral(s.Hint)})
	}
	f, sql := *s.Frame, sqlOf(s.Frame)
	var others string
	f.Notes, others = words.OwnNotes(words.NotesOf(s.Frame), shared)
	hasRows := false
	switch {
	case f.Query == "findings" && len(s.Findings) > 0:
		out = append(out, firstOfList(words.Findings(s.Findings))...)
	case f.Query == "findings":
		summary, err := r.Summary()
		if r.keep(err); len(summary.Replayed) == 0 {
			out = append(out, doc.Text(words.NoFindings(&f)))
		} else {
			out = append(out, doc.Section{Title: words.ReplayedTitle, Blocks: []doc.Block{doc.List{Ordered: true, Items: words.ReplayedKernels(summary.Replayed)}}})
		}
	case f.Query == "large-kernels":
		out = append(out, doc.List{Ordered: true, Items: words.LargeKernels(s.Kernels)})
	case len(f.Rows) == 0: // which is an answer here
		out = append(out, doc.Text("None."))
	default:
		var figures chart.Figures
		if makeFigures := chart.Makers[f.Query]; makeFigures != nil && withPictures {
			r.keep(makeFigures(r.Report, s.Frame, &figures))
		}
		out = append(out, r.bars(s, figures)...)
		out = append(out, drawings(figures)...)
		if figures.Roofline != nil && figures.Roofline.Ceilings != nil {
			sql.Queries = append(sql.Queries, doc.Query{Name: figures.Roofline.Query[0], SQL: figures.Roofline.Query[1]})
		}
		if hasRows = chart.HasTable(f.Query); hasRows {
			out = append(out, doc.Rows{Frame: &f, Part: true})
		}
	}
	if len(f.Notes) > 0 && !hasRows {
		out = append(out, doc.Notes(f.Notes))
	}
	if others != "" {
		out = append(out, doc.Hint{Text: "See foot" + others + " below.", To: notesID})
	}
	return append(out, sql)
}

// firstFindings is how many findings a report shows without a click.
const firstFindings = 5

// firstOfList is a list of which the first items are seen without a click.
func firstOfList(items []doc.Item) []doc.Block {
	first, left := typeset.FirstOf(items, firstFindings)
	out := []doc.Block{doc.List{Ordered: true, Items: first}}
	if left > 0 {
		out = append(out, doc.Section{Title: typeset.Plural(int64(left), "more finding", "more findings"), Folded: true, Blocks: []doc.Block{doc.List{Ordered: true, Before: firstFindings, Items: items[firstFindings:]}}})
	}
	return out
}

// bars are what the time of stages is made of, as a picture and as lines of text.
func (r *reader) bars(s judge.Section, figures chart.Figures) []doc.Block {
	if s.Frame.Query != "accounting" {
		return nil
	}
	bars, err := chart.BarsOf(s.Frame)
	r.keep(err)
	first, left := typeset.FirstOf(bars, chart.MostBars)
	var out []doc.Block
	if len(first) > 0 {
		out = append(out, doc.Either{Other: []doc.Block{doc.Figure{Text: chart.TextBars(first)}}})
	}
	if left > 0 {
		out = append(out, doc.Either{Other: []doc.Block{doc.Text(chart.BarsLeftOut(left))}})
	}
	return out
}

// drawings are those of a section, on pages.
func drawings(f chart.Figures) (out []doc.Block) {
	add := func(has bool, template string, of any) {
		if has {
			out = append(out, doc.Figure{Template: template, Of: of})
		}
	}
	add(f.Bars != nil, "bars", f.Bars)
	add(f.Stages != nil, "stages", f.Stages)
	add(f.Kernels != nil, "kernels", f.Kernels)
	add(f.Roofline != nil, "roofline", f.Roofline)
	add(f.Durations != nil, "durations", f.Durations)
	add(f.Skew != nil, "skew", f.Skew)
	add(f.Samples != nil, "samples", f.Samples)
	return out
}

// missingText is why a section has no rows: of all that its query notes, what is about that.
func (r *reader) missingText(s judge.Section) string {
	if r.Frame(s.ID) == nil {
		return typeset.Neutral(s.Missing)
	}
	return typeset.Neutral(r.whyNone(s.ID))
}
