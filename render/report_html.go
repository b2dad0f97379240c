package render

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"prof/queries/judge"
)

// pageFiles are what the page is made of: one file in the end, since nothing in it is fetched, and its policy forbids it.
//
//go:embed page
var pageFiles embed.FS

// The page's files of style and script in the order in which they are put together.
var (
	pageStyles  = []string{"base.css", "figures.css", "glance.css", "timeline.css", "narrow_print.css"}
	pageScripts = []string{"base.js", "tables.js", "timeline_lines.js", "timeline_works.js", "timeline_draw.js", "timeline_kinds.js", "timeline_read.js", "timeline_input.js", "timeline.js"}
)

// joined puts files of the page together.
func joined(names []string) (string, error) {
	var out strings.Builder
	for _, name := range names {
		text, err := pageFiles.ReadFile("page/" + name)
		if err != nil {
			return "", err
		}
		out.Write(text)
	}
	return out.String(), nil
}

// firstFacts are what is shown of a run without asking; the page folds the rest away.
var firstFacts = []string{"captured", "command", "tags", "model", "capture"}

// page is what the template shows.
type page struct {
	Title    string
	Facts    [][2]string     // what a reader wants to know first of the run
	More     [][2]string     // the rest of it
	Glance   *glance         // nil when only other sections were asked for
	Timeline *timelineFigure // nil when no device work was captured
	Notes    *notesView      // nil when no note holds for several sections
	Sections []sectionView
	Style    template.CSS
	Script   template.JS
	// StyleHash and ScriptHash let these two run, and nothing that a name of a kernel could bring in.
	StyleHash, ScriptHash string
}

// sectionView is a section as the page shows it.
type sectionView struct {
	ID, Title string
	Missing   string
	Hint      string
	Nothing   string // what no rows mean
	figures
	Findings []finding
	Table    *tableView
	Notes    []string
	Others   string      // which of the notes on several tables hold here; "" for none
	Queries  [][2]string // name and version, SQL
}

// notesView are the notes that hold for several sections.
type notesView struct {
	Title string
	Notes []string
}

// ReportHTML writes a report as one page of HTML: the sections of ReportMarkdown, with pictures of where the time went and of the devices
// over time. It needs no network, and without its script all but the timeline is there. The same frames give the same bytes.
func ReportHTML(w io.Writer, r *judge.Report) error {
	style, err := joined(pageStyles)
	if err != nil {
		return err
	}
	script, err := joined(pageScripts)
	if err != nil {
		return err
	}
	p := page{Title: neutral(reportTitle(r)), Style: template.CSS(style), Script: template.JS(script), StyleHash: hash(style), ScriptHash: hash(script)}
	for _, f := range r.Facts {
		to := &p.More
		if slices.Contains(firstFacts, f[0]) {
			to = &p.Facts
		}
		*to = append(*to, [2]string{neutral(f[0]), neutral(f[1])})
	}
	if p.Glance, err = newGlance(r); err != nil {
		return err
	}
	names := kernelNames(reportFrames(r))
	if p.Timeline, err = newTimelineFigure(r.Timeline, names); err != nil {
		return err
	}
	shared := p.shareNotes(r)
	text, err := p.fitted(r, names, shared)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// shareNotes puts the notes that hold for several sections in a place of their own.
func (p *page) shareNotes(r *judge.Report) []string {
	lists := sectionNotes(r.Sections, true)
	if p.Timeline != nil {
		lists = append(lists, p.Timeline.Notes)
	}
	shared := sharedNotes(lists...)
	if len(shared) > 0 {
		p.Notes = &notesView{sharedTitle, shared}
	}
	if p.Timeline != nil {
		p.Timeline.Notes, p.Timeline.Others = ownNotes(p.Timeline.Notes, shared)
	}
	return shared
}

// mostPage is how many bytes the page takes, at most, where tables can be made shorter.
const mostPage = 2_950_000

// leastTable is how many bytes a table is never cut below.
const leastTable = 4000

// fitted writes the page with tables as long as there is room for.
func (p *page) fitted(r *judge.Report, names map[string]string, shared []string) ([]byte, error) {
	t, err := template.ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return nil, err
	}
	for tables := pageExcerpt; ; tables = tables.smaller() {
		if p.Timeline != nil {
			if err := p.Timeline.addGaps(r.Timeline.Gaps, tables, names); err != nil {
				return nil, err
			}
		}
		p.Sections = nil
		for _, s := range r.Sections {
			v, err := viewSection(r, s, tables, names)
			if err != nil {
				return nil, err
			}
			v.Notes, v.Others = ownNotes(v.Notes, shared)
			p.Sections = append(p.Sections, v)
		}
		var out bytes.Buffer
		if err := t.ExecuteTemplate(&out, "report.tmpl", p); err != nil {
			return nil, fmt.Errorf("render report.html: %w", err)
		}
		if out.Len() <= mostPage || tables.bytes < leastTable {
			return out.Bytes(), nil
		}
	}
}

// hash is how a content security policy names a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func viewSection(r *judge.Report, s judge.Section, tables excerpt, names map[string]string) (sectionView, error) {
	v := sectionView{ID: "section-" + s.ID, Title: s.Title}
	if s.Missing != "" {
		v.Missing = missingText(r, s)
		return v, nil
	}
	v.Hint = neutral(s.Hint)
	f := s.Frame
	v.Queries = [][2]string{{fmt.Sprintf("%s v%d", f.Query, f.Version), neutral(f.SQL)}}
	v.Notes = notesOf(f)
	var err error
	switch {
	case f.Query == "findings":
		if v.Findings, err = findingsOf(f); len(v.Findings) == 0 {
			v.Nothing = noFindings
		}
		return v, err
	case len(f.Rows) == 0: // which is an answer here
		v.Nothing = noRows
		return v, nil
	}
	if makeFigures := figureMakers[f.Query]; makeFigures != nil {
		if err := makeFigures(r, f, &v.figures); err != nil {
			return v, err
		}
	}
	if v.Roofline != nil && v.Roofline.Ceilings != nil {
		v.Queries = append(v.Queries, v.Roofline.Query)
	}
	if hasTable(f.Query) {
		v.Table, err = newTableView(f, s.Title, tables, names)
	}
	return v, err
}

// noRows stands for a table that has none.
const noRows = "None."
