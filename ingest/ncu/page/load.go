package page

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/ingest/ncu"
	"prof/internal/file"
	"prof/internal/mask"
)

// pageEnd is how files with the pages of one capture end: ncu.raw.csv, ncu.details.csv, ncu.section_SpeedOfLight.csv, raw.csv, ...
var pageEnd = regexp.MustCompile(`(?i)(?:(?:(^|/)|[._-])(raw(?:[_-]base)?|details(?:[_-](?:all|base))?|session|metrics|sections?[_.-]\w+))?\.csv$`)

// Stem is a path without what tells the CSV pages of one capture apart; other paths stay as they are.
func Stem(path string) string { return pageEnd.ReplaceAllString(path, "$1") }

// Order returns which pages of one capture are read first, for the first value of a metric stays: those in base units, which
// hold the most digits, then raw pages, which scale and round, and details pages last.
func Order(path string) int {
	m := pageEnd.FindStringSubmatch(strings.TrimSuffix(path, ".gz"))
	switch page := strings.ToLower(strings.Join(m, " ")); {
	case strings.Contains(page, "base"):
		return 0
	case strings.Contains(page, "raw"), strings.Contains(page, "metrics"):
		return 1
	case strings.Contains(page, "details"), strings.Contains(page, "section"):
		return 3
	}
	return 2
}

// Identify knows no more of a page than that it is one: pages do not name their capture.
func Identify(context.Context, string, string) (*load.SourceInfo, error) {
	return &load.SourceInfo{}, nil
}

// ErrNoResults is wrapped by LoadCSV's error for a file of ncu that holds none of what it measured: it is no failed capture either.
var ErrNoResults = errors.New("it has no results")

// Load stores a CSV page, or the console output of ncu --csv, as one source of the target's run. Pages of one capture, told
// by their paths, add up to the same results. A file in which ncu only says why it failed is stored as failed.
func Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := ncu.NewStore(ctx, t)
	if s.Group, err = filepath.Abs(Stem(strings.TrimSuffix(name, ".gz"))); err != nil {
		return nil, err
	}
	page, err := Read(ctx, f, name, s.Add)
	switch {
	case errors.Is(err, ErrSummaryPage):
		return nil, fmt.Errorf("%w: %w", ErrNoResults, err)
	case err != nil:
		return nil, err
	case page.Form == TextForm:
		return nil, fmt.Errorf("%s: %w that prof reads: ncu printed tables for people; use --csv, or write a report with -o", name, ErrNoResults)
	case page.Form == LogForm:
		return nil, fmt.Errorf("%s: %w: it is the log of ncu while it wrote %s; ingest that report", name, ErrNoResults, page.Facts["Report"])
	}
	info := &load.SourceInfo{Command: mask.Command(ncu.ParseCommand(page.Command).Program)}
	for _, e := range page.Errors {
		s.Say("error", e)
	}
	for _, n := range page.Notes {
		s.Say("warning", n)
	}
	for _, w := range page.Warnings {
		s.Warn(info, w)
	}
	if page.Form == FailedForm {
		info.Status, info.Reason = "failed", mask.Text(page.failure())
		s.Warn(info, "the capture failed: "+info.Reason)
	} else if len(page.Errors) > 0 {
		info.Status, info.Reason = "partial", mask.Text(page.failure())
		s.Warn(info, info.Reason)
	} else if page.Lost > 0 {
		info.Status, info.Reason = "partial", page.Warnings[0]
	}
	s.Facts(page.facts())
	return info, s.Finish(info)
}

// facts names what a session page says; addresses of machines are nobody's business.
func (p *Info) facts() [][2]string {
	var facts [][2]string
	for _, k := range slices.Sorted(maps.Keys(p.Facts)) {
		if k != "Target IP Addresses" {
			facts = append(facts, [2]string{"ncu." + strings.ReplaceAll(strings.ToLower(k), " ", "_"), p.Facts[k]})
		}
	}
	return facts
}

// failure is what ncu said of why there is nothing, or not all.
func (p *Info) failure() string {
	return strings.Join(p.Errors[:min(len(p.Errors), maxNamed)], " ")
}
