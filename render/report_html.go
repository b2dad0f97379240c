package render

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"prof/queries"
)

// The page is one file: these are put into it. Nothing in it is fetched, and its policy forbids it.
var (
	//go:embed report.html.tmpl
	pageTemplate string
	//go:embed report.css
	pageStyle string
	//go:embed report.js
	pageScript string
)

// page is what the template shows.
type page struct {
	Title    string
	Facts    [][2]string
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
	Bars      *barFigure
	Findings  []finding
	Table     *tableView
	Notes     []string
	Query     string // name and version
	SQL       string
}

// ReportHTML writes a report as one page of HTML: the sections of ReportMarkdown, with pictures of where the time went and of the devices
// over time. It needs no network, and without its script all but the timeline is there. The same frames give the same bytes.
func ReportHTML(w io.Writer, title string, facts [][2]string, sections []queries.Section, timeline *queries.Timeline) error {
	p := page{Title: neutral(title), Style: template.CSS(pageStyle), Script: template.JS(pageScript), StyleHash: hash(pageStyle), ScriptHash: hash(pageScript)}
	for _, f := range facts {
		p.Facts = append(p.Facts, [2]string{neutral(f[0]), neutral(f[1])})
	}
	var err error
	if p.Timeline, err = newTimelineFigure(timeline); err != nil {
		return err
	}
	for i, s := range sections {
		v, err := viewSection(s, fmt.Sprintf("section-%d", i+1))
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, v)
	}
	t, err := template.New("report").Parse(pageTemplate)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
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

func viewSection(s queries.Section, id string) (sectionView, error) {
	v := sectionView{ID: id, Title: s.Title, Missing: neutral(s.Missing)}
	if s.Missing != "" {
		return v, nil
	}
	f := s.Frame
	v.Query, v.SQL = fmt.Sprintf("%s v%d", f.Query, f.Version), neutral(f.SQL)
	for _, note := range f.Notes {
		v.Notes = append(v.Notes, neutral(note))
	}
	var err error
	switch f.Query {
	case "accounting":
		v.Bars, err = newBarFigure(f)
	case "findings":
		if v.Findings, err = findingsOf(f); len(v.Findings) == 0 {
			v.Nothing = noFindings
		}
		return v, err
	}
	if err != nil {
		return v, err
	}
	v.Table, err = newTableView(f, s.Title)
	return v, err
}
