package ncu

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/mask"
)

// Store puts Results into the warehouse, so many at a time that memory stays bounded.
type Store struct {
	ctx    context.Context
	target *load.Target
	Group  string  // capture that several CSV pages share; "" for a report
	report *Report // nil for pages
	counts [4]int64

	launches, ranges, findings, evidence [][]any
	cells                                [][]any
	metrics                              metricRows
	metricCount                          int64
	instances                            instanceRows
	instanceCount                        int64 // values at instructions that are stored
	instancesRead, instancesElsewhere    int64
	samples                              [][]any
	samplesRead, sampleCount             int64
	sampled                              map[string]bool // metrics that have samples
	other                                int64           // rows of other tables
	parts                                []part
	later                                []tableRows
	diagnostics                          []diagnosticRow
}

// part is a row of source_part.
type part struct {
	name         string
	read, stored int64
	reason       string
}

// flushRows is how many metrics are held before they are stored: 2 MiB.
const flushRows = 1 << 16

// flushOthers is how many rows of other tables are held, of some hundred bytes each.
const flushOthers = 1 << 14

func NewStore(ctx context.Context, t *load.Target) *Store {
	return &Store{ctx: ctx, target: t}
}

// Add takes one result; it keeps none of its memory but texts.
func (s *Store) Add(r *Result) error {
	id, known, err := s.launch(r)
	if err != nil {
		return err
	}
	for _, m := range r.Metrics {
		number := s.target.Run.Metrics.Add(m.Name, unitOrUnknown(m.Unit))
		if known == nil || known.Take(number) {
			s.metrics.add(id, number, m)
		}
	}
	if s.report != nil {
		if err := s.addInstances(id); err != nil {
			return err
		}
		if err := s.addSamples(id); err != nil {
			return err
		}
	}
	if known == nil || known.TakeFindings(len(r.Findings) > 0) {
		s.addFindings(id, r.Findings)
	}
	if s.metrics.len() < flushRows && len(s.launches)+len(s.ranges)+len(s.findings)+len(s.evidence)+len(s.samples)+len(s.cells) < flushOthers {
		return nil
	}
	return s.flush()
}

func unitOrUnknown(unit string) *string {
	if unit == UnknownUnit {
		return nil
	}
	return &unit
}

// launch returns the result's number in the run. A page of a capture of which another page was read before finds its results
// again; known then tells which of the result's values are stored.
func (s *Store) launch(r *Result) (id int32, known *load.Profiled, err error) {
	run := s.target.Run
	if s.Group != "" {
		var first bool
		known, first = run.Profile(load.ProfiledKey{Group: s.Group, ID: r.ID, PID: r.PID, Kind: r.Kind.String(), Name: r.Name, Grid: r.Grid, Block: r.Block})
		if !first {
			return known.Launch, known, nil
		}
		id = known.Launch
	} else {
		id = run.NextLaunch()
	}
	s.counts[r.Kind]++
	if s.Group != "" {
		s.machine(r)
	}
	row, err := s.launchRow(r, id)
	s.launches = append(s.launches, row)
	return id, known, err
}

// launchRow is a row of ncu_launch. It stores the ranges on the way, which give the row its path.
func (s *Store) launchRow(r *Result, id int32) ([]any, error) {
	row := []any{s.target.RunID, int32(s.target.SourceID), id, r.ID, r.Kind.String(), orNull(r.PID, 0), orNull(r.TID, 0),
		orNull(r.Device, -1), orNull(r.Context, -1), orNull(r.Stream, -1)}
	if r.Kind == Kernel {
		short := cmp.Or(r.Function, load.ShortName(r.Name))
		row = append(row, s.target.Run.Kernels.Add(r.Name, &short), orNull(r.Symbol, ""))
		for _, size := range slices.Concat(r.Grid[:], r.Block[:]) {
			row = append(row, orNull(size, unknownSize))
		}
	} else {
		row = append(row, nil, nil, nil, nil, nil, nil, nil, nil)
	}
	var created, locked, path any
	if at := unixTime(r.Created); at != nil {
		created = *at
	}
	if r.ClockLocked != nil {
		locked = *r.ClockLocked
	}
	if r.HasNVTX {
		path = s.addRanges(id, r.Ranges)
	}
	return append(row, created, locked, path), nil
}

// unixTime is a time of the report; nil when it is not said or no clock gives it.
func unixTime(seconds int64) *time.Time {
	at := time.Unix(seconds, 0).UTC()
	if seconds <= 0 || !load.IsWallClock(at) {
		return nil
	}
	return &at
}

func orNull[T comparable](v, unsaid T) any {
	if v == unsaid {
		return nil
	}
	return v
}

// addRanges returns the path of the ranges' names, shared with the timeline's paths of the same run.
func (s *Store) addRanges(launch int32, ranges []NVTXRange) int32 {
	var path int32
	for i, r := range ranges {
		style := "push_pop"
		if r.StartEnd {
			style = "start_end"
		}
		name, domain := load.RangeName(mask.Stored(r.Name)), load.RangeName(mask.Stored(r.Domain))
		path = s.target.Run.Paths.Add(path, domain, load.Normalise(name))
		s.ranges = append(s.ranges, []any{s.target.RunID, launch, int32(i + 1), path, style, domain, name})
	}
	return path
}

func (s *Store) addFindings(launch int32, findings []Finding) {
	for i, f := range findings {
		n := int32(i + 1)
		var speedup any
		if f.Scope != "" {
			speedup = number(f.Speedup)
		}
		s.findings = append(s.findings, []any{s.target.RunID, int32(s.target.SourceID), launch, n, f.Rule, cmp.Or(f.Title, f.Rule), orNull(f.Section, ""),
			f.Severity, plainMessage(f.Message), orNull(f.Scope, ""), speedup})
		for _, m := range f.Metrics {
			s.evidence = append(s.evidence, []any{s.target.RunID, launch, n, m.Name, number(m.Value), orNull(m.Advice, "")})
		}
		for _, c := range f.Cells {
			row := []any{s.target.RunID, launch, n, c.Table, c.Title, c.Row, c.Column, c.Header, number(c.Value), nil}
			if c.IsText {
				row[8], row[9] = nil, plainMessage(c.Text)
			}
			s.cells = append(s.cells, row)
		}
	}
}

// number returns NULL for what is no number.
func number(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// flush stores what is held.
func (s *Store) flush() error {
	n, err := s.target.Insert(s.ctx, "ncu_metric", &s.metrics)
	if err != nil {
		return err
	}
	s.metricCount += n
	s.metrics.clear()
	if err := s.flushInstances(); err != nil {
		return err
	}
	for _, t := range []struct {
		name string
		rows *[][]any
	}{{"ncu_launch", &s.launches}, {"ncu_range", &s.ranges}, {"ncu_rule", &s.findings}, {"ncu_rule_metric", &s.evidence}, {"ncu_sample", &s.samples}, {"ncu_rule_cell", &s.cells}} {
		if err := s.append(t.name, *t.rows); err != nil {
			return err
		}
		*t.rows = (*t.rows)[:0]
	}
	return nil
}

func (s *Store) append(table string, list [][]any) error {
	if len(list) == 0 {
		return nil
	}
	n, err := s.target.Append(s.ctx, table, func(add rows.Add) error {
		for _, r := range list {
			if err := add(r...); err != nil {
				return err
			}
		}
		return nil
	})
	s.other += n
	return err
}

// metricRows are rows of ncu_metric by column. DuckDB's threads take them in chunks.
type metricRows struct {
	launch, metric []int32
	value          []float64
	text           map[int]string // of the rows that have one
	noValue        map[int]bool   // rows whose value is NULL
	cursor         chunkCursor
	odd            load.Odd // values of mostValue and more
}

// mostValue is more than any metric counts. Such a value stays as text only: what reads counts as whole numbers could not hold it.
const mostValue = 1 << 63

func (m *metricRows) len() int { return len(m.launch) }

func (m *metricRows) clear() {
	m.launch, m.metric, m.value = m.launch[:0], m.metric[:0], m.value[:0]
	clear(m.text)
	clear(m.noValue)
	m.cursor.next.Store(0)
}

func (m *metricRows) add(launch, number int32, v Metric) {
	i := len(m.launch)
	m.launch, m.metric, m.value = append(m.launch, launch), append(m.metric, number), append(m.value, v.Value)
	text := v.Text
	odd := math.IsNaN(v.Value) || math.IsInf(v.Value, 0)
	if big := math.Abs(v.Value) >= mostValue && !v.IsText; big {
		odd = true
		m.odd.Add("metrics", v.Value)
	}
	if odd || v.IsText {
		if m.noValue == nil {
			m.noValue = map[int]bool{}
		}
		m.noValue[i] = true
		if odd && text == "" && !v.IsText {
			text = strconv.FormatFloat(v.Value, 'f', -1, 64)
		}
	}
	if text != "" || v.IsText {
		if m.text == nil {
			m.text = map[int]string{}
		}
		m.text[i] = text
	}
}
