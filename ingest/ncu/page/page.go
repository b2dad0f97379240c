// Package page reads the CSV pages that ncu prints, and its console output.
package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"prof/ingest/ncu"
)

// Forms of what ncu prints, as PageInfo.Form says them.
const (
	RawForm     = "raw"     // a row a result, a column a metric
	DetailsForm = "details" // a row a metric or rule
	SessionForm = "session" // how the capture was made; no results
	TextForm    = "text"    // console output with tables for people and no page
	LogForm     = "log"     // what ncu said while it wrote a report; the results are in that report
	FailedForm  = "failed"  // nothing was profiled; Errors says why, as far as ncu did
)

// Errors that ReadCSV's errors wrap.
var (
	ErrNotPage     = errors.New("it is neither a CSV page nor console output of Nsight Compute")
	ErrSummaryPage = errors.New("it is a summary page: it has minimum, maximum and average over launches, not the launches themselves")
	ErrLongLine    = errors.New("a line is too long")
)

// Info is what ReadCSV found in one file beside its results.
type Info struct {
	Form     string   // one of RawForm, DetailsForm, SessionForm, TextForm, LogForm and FailedForm
	Errors   []string // what ncu called an error
	Notes    []string // what ncu warned of, and what a page cannot say: worth keeping, not worth an alarm
	Warnings []string // what this reader could not read
	// Facts are what a session page says, by the names that ncu gives them: "Profiler Command Line", "Created", "CUDA Version";
	// "Process 476" is the name of a process, "Device 0 display_name" an attribute of a device. A log says "Report", the path of
	// the report that ncu wrote, and the processes.
	Facts   map[string]string
	Command string // ncu's own command line; "" when not said
	Results int    // launches, ranges and graphs
	Rows    int    // rows of the page read, without headers
	Lost    int    // rows that were cut off or are not of the page; the first of Warnings says so
}

// Read reads what ncu printed: a raw or details page (ncu --csv --page raw or details), the session page, or console output in
// which a page stands after what ncu and the profiled program said. It calls each for every result as soon as its rows are read;
// the Result and what it holds are each's only until it returns. Memory is bounded by one result and one line.
//
// Values come in base units whatever units the page was printed in; a page with scaled or rounded values gives them as precisely
// as they are printed. A cell without a value (empty, n/a, no data) gives no metric. Ranges of several NVTX domains are in the
// order of the page, which keeps domains apart and does not say which one was opened first.
//
// A file in which nothing was profiled is no error here: its Form is FailedForm. Errors wrap ErrNotPage, ErrSummaryPage or
// ErrLongLine, or are those of r, of each and of ctx.
func Read(ctx context.Context, r io.Reader, name string, each func(*ncu.Result) error) (*Info, error) {
	p := &pageReader{
		ctx: ctx, name: name, each: each, lines: newPageLines(r, name),
		info:  &Info{Facts: map[string]string{}},
		names: map[string]string{}, units: map[string]*pageUnit{}, labels: map[string]*pageLabel{}, metrics: map[string]*pageMetric{},
		repeats: map[*pageLabel]int{}, have: map[*pageMetric]bool{}, ids: map[pageKey]bool{},
	}
	for {
		ok, err := p.lines.next()
		if err == nil && ok {
			err = p.line()
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
	}
	if err := p.flush(); err != nil {
		return nil, err
	}
	return p.finish()
}

// pageReader reads one file. Lines decide: what starts no row of the page whose header was seen is said by ncu or by the program.
type pageReader struct {
	ctx   context.Context
	name  string
	each  func(*ncu.Result) error
	lines *pageLines
	info  *Info

	header *pageHeader // nil before a page begins
	record pageRecord

	// The result whose rows are being read.
	result    ncu.Result
	open      bool // whether it was not passed on yet
	key       pageKey
	cc        int // compute capability of its device, 90 for 9.0; 0 when not said
	cells     []pageCell
	valueText []byte               // what the cells of a details page say, which outlives its row
	gains     []string             // estimated speedups of its findings, as printed
	have      map[*pageMetric]bool // metrics that it has
	repeats   map[*pageLabel]int   // rows of a label so far

	// What holds for the page.
	decimal     byte // the decimal sign; 0 until values tell
	clock       *bool
	manyThreads bool              // whether a cell has NVTX ranges of several threads
	aside       bool              // whether rows of a table follow that belongs to no metric
	names       map[string]string // strings that rows repeat
	units       map[string]*pageUnit
	metrics     map[string]*pageMetric
	labels      map[string]*pageLabel
	labelKey    []byte
	labelBytes  int              // of the keys of labels
	ids         map[pageKey]bool // results so far

	session        sessionTable
	sessionColumns []string
	factBytes      int // of all facts
	pageTally
}

// maxCells bounds a result; one with every section of ncu has under 2000 values.
const maxCells = 1 << 20

// pageKey tells results of one page apart.
type pageKey struct{ id, pid int32 }

// line takes the line that was read, and the lines after it that belong to the same row.
func (p *pageReader) line() error {
	line := p.lines.text
	if p.lines.number%1024 == 0 {
		if err := p.ctx.Err(); err != nil {
			return err
		}
	}
	if p.header != nil && p.header.mayStartRow(line) {
		return p.row()
	}
	if at := headerStart(line); at >= 0 {
		return p.begin(line[at:])
	}
	p.aside = p.aside || bytes.HasPrefix(line, []byte(`"GPU ID","`)) // a table of the section NUMA Affinity, with --print-details all
	if p.console(line) {
		return nil
	}
	p.tables = p.tables || p.said && bytes.HasPrefix(line, []byte("    Section: "))
	return p.sessionLine()
}

// begin starts the page whose header the line is.
func (p *pageReader) begin(line []byte) error {
	if err := p.flush(); err != nil {
		return err
	}
	if p.record.reset(line); !p.record.split() {
		p.lost(p.lines.number)
		return nil
	}
	h, err := newPageHeader(p.record.fields, line[0] == '"', p.metricNamed)
	if err != nil {
		return fmt.Errorf("%s: line %d: %w", p.name, p.lines.number, err)
	}
	p.header, p.session = h, noTable
	if p.info.Form == "" || p.info.Form == SessionForm {
		p.info.Form = h.form
	}
	return nil
}

// row reads one row of the page.
func (p *pageReader) row() error {
	number := p.lines.number
	ok, err := p.readRecord()
	if err != nil {
		return err
	}
	if !ok {
		p.lost(number)
		return nil
	}
	h := p.header
	if h.isUnits(p.record.fields) {
		p.rawUnits()
		return nil
	}
	key, ok := h.row(p.record.fields)
	if !ok {
		p.lost(number)
		return nil
	}
	p.info.Rows++
	if !p.open || key != p.key {
		if err := p.flush(); err != nil {
			return err
		}
		p.start(key)
	}
	p.aside = false
	if h.form == RawForm {
		p.rawRow()
		return p.flush()
	}
	if p.detailsRow(); len(p.cells)+len(p.gains) > maxCells {
		return fmt.Errorf("%s: line %d: result %d has more than %d values: is it a page of ncu?", p.name, p.lines.number, key.id, maxCells)
	}
	return nil
}
