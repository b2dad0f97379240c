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

	"prof/queries"
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
	Nothing   string // what no rows mean
	figures
	Findings []finding
	Table    *tableView
	Notes    []string
	Queries  [][2]string // name and version, SQL
}

// ReportHTML writes a report as one page of HTML: the sections of ReportMarkdown, with pictures of where the time went and of the devices
// over time. It needs no network, and without its script all but the timeline is there. The same frames give the same bytes.
func ReportHTML(w io.Writer, r *queries.Report) error {
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
	if p.Timeline, err = newTimelineFigure(r.Timeline); err != nil {
		return err
	}
	for _, s := range r.Sections {
		v, err := viewSection(r, s)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, v)
	}
	t, err := template.ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "report.tmpl", p); err != nil {
		return fmt.Errorf("render report.html: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// hash is how a content security policy names a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func viewSection(r *queries.Report, s queries.Section) (sectionView, error) {
	v := sectionView{ID: "section-" + s.ID, Title: s.Title, Missing: neutral(s.Missing)}
	if s.Missing != "" {
		return v, nil
	}
	f := s.Frame
	v.Queries = [][2]string{{fmt.Sprintf("%s v%d", f.Query, f.Version), neutral(f.SQL)}}
	for _, note := range f.Notes {
		v.Notes = append(v.Notes, neutral(note))
	}
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
		v.Table, err = newTableView(f, s.Title)
	}
	return v, err
}

// noRows stands for a table that has none.
const noRows = "None."
