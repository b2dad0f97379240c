package page

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// consoleKind is who said a line of console output.
type consoleKind int

const (
	consoleOther consoleKind = iota // the profiled program
	consoleProgress
	consoleWarning
	consoleError
)

var consoleMarks = []struct {
	mark string
	kind consoleKind
}{{"==PROF== ", consoleProgress}, {"==WARNING== ", consoleWarning}, {"==ERROR== ", consoleError}}

// consoleText returns what ncu says in a line. Its mark need not be at the beginning: a program that prints no line end leaves its
// words before it.
func consoleText(line []byte) (consoleKind, []byte) {
	for _, m := range consoleMarks {
		if at := bytes.Index(line, []byte(m.mark)); at >= 0 {
			return m.kind, bytes.TrimSpace(line[at+len(m.mark):])
		}
	}
	return consoleOther, nil
}

// maxSaid bounds how many different messages of one kind are kept.
const maxSaid = 100

// console takes a line that ncu said of its work; false for every other line.
func (p *pageReader) console(line []byte) bool {
	if !bytes.Contains(line, []byte("== ")) {
		return false
	}
	kind, said := consoleText(line)
	text := cleanText(said)
	switch kind {
	case consoleOther:
		return false
	case consoleError:
		p.info.Errors = say(p.info.Errors, text)
	case consoleWarning:
		p.info.Notes = say(p.info.Notes, text)
		p.nothing = p.nothing || strings.HasPrefix(text, "No kernels were profiled") || strings.HasPrefix(text, "No ranges were profiled")
		if strings.Contains(text, "Running with unmodified GPU clocks") {
			p.clock = new(bool)
		}
	default:
		p.progress(text)
	}
	p.said = true
	return true
}

func say(said []string, text string) []string {
	text = text[:min(len(text), 4096)]
	if len(said) < maxSaid && text != "" && !slices.Contains(said, text) {
		said = append(said, text)
	}
	return said
}

// progress takes the facts from what ncu says of its work.
func (p *pageReader) progress(text string) {
	if path, ok := strings.CutPrefix(text, "Report: "); ok {
		p.fact("Report", path)
	}
	if rest, ok := strings.CutPrefix(text, "Connected to process "); ok {
		pid, path, _ := strings.Cut(rest, " (")
		p.fact("Process "+pid, strings.TrimSuffix(path, ")"))
	}
}

// pageTally is what the reader counts to say it once, at the end.
type pageTally struct {
	said        bool // whether ncu said anything
	tables      bool // whether a table for people was seen
	nothing     bool // whether ncu said that it profiled nothing
	values      int  // of all results
	lostRows    int
	lostLine    int // of the first row that was lost
	again       int // results of a number and process that were there before
	badRanges   int // entries of NVTX cells that could not be taken apart
	mixedRanges int // results with ranges of several domains or kinds
	unitless    int // rows of a raw page without a row of units
	unmapped    int // labels that no table has
	unmappedAs  []string
}

// lost counts a row that begins like one of the page's and is none.
func (p *pageReader) lost(line int) {
	if p.aside {
		return
	}
	if p.lostRows++; p.lostRows == 1 {
		p.lostLine = line
	}
}

// finish returns what the file was.
func (p *pageReader) finish() (*Info, error) {
	i := p.info
	p.warnCounts()
	switch {
	case i.Results > 0:
	case i.Form == SessionForm:
	case i.Form == "" && !p.said:
		return nil, fmt.Errorf("%s: %w", p.name, ErrNotPage)
	case i.Facts["Report"] != "":
		i.Form = LogForm
	case p.tables && i.Form == "":
		i.Form = TextForm
	default:
		p.fail()
	}
	return i, nil
}

// fail makes the reason of an empty page the first of its errors, where ncu did not report one.
func (p *pageReader) fail() {
	i := p.info
	switch {
	case len(i.Errors) > 0:
	case p.nothing:
		for _, w := range i.Notes {
			if strings.Contains(w, "were profiled") {
				i.Errors = append(i.Errors, w)
			}
		}
	case i.Form == "":
		i.Errors = append(i.Errors, "ncu printed no results: its output ends before them")
	default:
		i.Errors = append(i.Errors, fmt.Sprintf("the %s page has a header and no results", i.Form))
	}
	i.Form = FailedForm
}

// warnCounts says what was counted.
func (p *pageReader) warnCounts() {
	p.info.Lost = p.lostRows
	for _, c := range []struct {
		n          int
		what, text string
	}{
		{p.lostRows, "row", fmt.Sprintf("cut off or not from this page: not stored; the first is at line %d", p.lostLine)},
		{p.again, "result", "with the number and process of an earlier one: does the file have several pages?"},
		{p.badRanges, "NVTX range", "in a form that prof does not know; the text of the page is used as its name"},
		{p.unitless, "result", "of a page without a row of units: the units are unknown"},
		{p.unmapped, "label", "unknown to prof and stored under the page's own name: " + someOf(p.unmapped, p.unmappedAs)},
	} {
		if c.n > 0 {
			p.info.Warnings = append(p.info.Warnings, counted(c.n, c.what)+" "+c.text)
		}
	}
	if p.mixedRanges > 0 {
		p.info.Notes = append(p.info.Notes, counted(p.mixedRanges, "result")+" in NVTX ranges of several domains or kinds: the page does not say which was opened first")
	}
	if p.info.Results > 0 && p.values == 0 {
		p.info.Warnings = append(p.info.Warnings, "no result has a metric value")
	}
	var missing []string
	for _, m := range p.metrics {
		if m.saidNo && !m.valued {
			missing = append(missing, m.name)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		p.info.Warnings = append(p.info.Warnings, counted(len(missing), "metric")+" without a value in any result (n/a): "+someOf(len(missing), missing))
	}
}

// maxNamed is how many examples a warning names.
const maxNamed = 5

// someOf lists the first of n names.
func someOf(n int, names []string) string {
	list := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if n > maxNamed {
		list += ", ..."
	}
	return list
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
