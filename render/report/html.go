package report

import (
	"bytes"
	"slices"

	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/page"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// The page's files of style and script in the order in which they are put together.
var (
	pageStyles  = []string{"base.css", "figures.css", "glance.css", "timeline.css", "timeline_report.css", "narrow_print.css"}
	pageScripts = []string{"base.js", "tables.js", "el.js", "times.js", "timeline_marks.js", "timeline_palette.js", "timeline_view.js", "timeline_embedded.js", "timeline.js"}
)

// firstFacts are what is shown of a run without asking; the page folds the rest away.
var firstFacts = []string{"captured", "command", "tags", "model", "capture"}

// pageView is what the template shows.
type pageView struct {
	page.Head
	Facts    [][2]string           // what a reader wants to know first of the run
	More     [][2]string           // the rest of it
	Glance   *glance               // nil when only other sections were asked for
	Timeline *chart.TimelineFigure // nil when no device work was captured
	Notes    *notesView            // nil when no note holds for several sections
	Sections []sectionView
}

// sectionView is a section as the page shows it.
type sectionView struct {
	ID, Title string
	Missing   string
	Hint      string
	Nothing   string // what no rows mean
	chart.Figures
	Findings []words.Finding
	Table    *table.View
	Notes    []string
	Others   string      // which of the notes on several tables hold here; "" for none
	Queries  [][2]string // name and version, SQL
}

// notesView are the notes that hold for several sections.
type notesView struct {
	Title string
	Notes []string
}

// writeHTML writes a report as one page of HTML: the sections of report.md, with pictures of where the time went and of the devices
// over time. It needs no network, and without its script all but the timeline is there. The same frames give the same bytes.
func writeHTML(out *bytes.Buffer, r *reader) {
	head, err := page.NewHead(typeset.Neutral(reportTitle(r.Report)), pageStyles, pageScripts)
	r.keep(err)
	p := pageView{Head: head}
	for _, f := range r.Facts {
		to := &p.More
		if slices.Contains(firstFacts, f[0]) {
			to = &p.Facts
		}
		*to = append(*to, [2]string{typeset.Neutral(f[0]), typeset.Neutral(f[1])})
	}
	p.Glance, err = newGlance(r.Report)
	r.keep(err)
	names := table.KernelNames(reportFrames(r.Report))
	p.Timeline, err = chart.NewTimeline(r.Timeline, names)
	r.keep(err)
	if r.err != nil {
		return
	}
	text, err := p.fitted(r, names, p.shareNotes(r.Report))
	r.keep(err)
	out.Write(text)
}

// shareNotes puts the notes that hold for several sections in a place of their own.
func (p *pageView) shareNotes(r *judge.Report) []string {
	lists := words.SectionNotes(r.Sections, true)
	if p.Timeline != nil {
		lists = append(lists, p.Timeline.Notes)
	}
	shared := words.SharedNotes(lists...)
	if len(shared) > 0 {
		p.Notes = &notesView{words.SharedTitle, shared}
	}
	if p.Timeline != nil {
		p.Timeline.Notes, p.Timeline.Others = words.OwnNotes(p.Timeline.Notes, shared)
	}
	return shared
}

// mostPage is how many bytes the page takes, at most, where tables can be made shorter.
const mostPage = 2_950_000

// leastTable is how many bytes a table is never cut below.
const leastTable = 4000

// fitted writes the page with tables as long as there is room for.
func (p *pageView) fitted(r *reader, names map[string]string, shared []string) ([]byte, error) {
	for tables := table.PageExcerpt; ; tables = tables.Smaller() {
		if p.Timeline != nil {
			if err := p.Timeline.AddGaps(r.Timeline.Gaps, tables, names); err != nil {
				return nil, err
			}
		}
		p.Sections = nil
		for _, s := range r.Sections {
			v, err := viewSection(r, s, tables, names)
			if err != nil {
				return nil, err
			}
			v.Notes, v.Others = words.OwnNotes(v.Notes, shared)
			p.Sections = append(p.Sections, v)
		}
		text, err := page.Render("report.tmpl", p)
		if err != nil || len(text) <= mostPage || tables.Bytes < leastTable {
			return text, err
		}
	}
}

func viewSection(r *reader, s judge.Section, tables table.Excerpt, names map[string]string) (sectionView, error) {
	v := sectionView{ID: "section-" + s.ID, Title: s.Title}
	if s.Missing != "" {
		v.Missing = r.missingText(s)
		return v, nil
	}
	v.Hint = typeset.Neutral(s.Hint)
	f := s.Frame
	v.Queries = [][2]string{{sourceOf(f), typeset.Whole(f.SQL)}}
	v.Notes = words.NotesOf(f)
	var err error
	switch {
	case f.Query == "findings":
		if v.Findings = words.Findings(s.Findings); len(v.Findings) == 0 {
			v.Nothing = words.NoFindings(f)
		}
		return v, nil
	case len(f.Rows) == 0: // which is an answer here
		v.Nothing = noRows
		return v, nil
	}
	if makeFigures := chart.Makers[f.Query]; makeFigures != nil {
		if err := makeFigures(r.Report, f, &v.Figures); err != nil {
			return v, err
		}
	}
	if v.Roofline != nil && v.Roofline.Ceilings != nil {
		v.Queries = append(v.Queries, v.Roofline.Query)
	}
	if chart.HasTable(f.Query) {
		v.Table, err = table.NewView(f, s.Title, tables, names)
	}
	return v, err
}

// noRows stands for a table that has none.
const noRows = "None."
