package page

import (
	"bytes"
	"fmt"
	"math"
	"prof/ingest/ncu"
	"strings"
)

// pageMetric is a metric of the page with whether any result had a value of it.
type pageMetric struct {
	name           string
	valued, saidNo bool // saidNo: n/a, as ncu prints for a metric that it could not measure
}

// pageCell is one value as it is printed.
type pageCell struct {
	metric *pageMetric
	unit   *pageUnit
	text   []byte
}

func (p *pageReader) metricNamed(name string) *pageMetric {
	m := p.metrics[name]
	if m == nil {
		m = &pageMetric{name: name}
		p.metrics[name] = m
	}
	return m
}

// start begins the result of the row that was read.
func (p *pageReader) start(key pageKey) {
	h, f := p.header, p.record.fields
	old := p.result
	p.open, p.key = true, key
	p.result = ncu.Result{
		ID: key.id, PID: key.pid, Process: p.text(column(f, h.process)), Host: p.text(column(f, h.host)), Name: p.text(column(f, h.kernel)),
		Device: numberOr(column(f, h.device), -1), Context: numberOr(column(f, h.context), -1), Stream: numberOr(column(f, h.stream), -1),
		Grid: dimensions(column(f, h.grid)), Block: dimensions(column(f, h.block)),
		ClockLocked: p.clock, Metrics: old.Metrics[:0], Ranges: old.Ranges[:0], Findings: old.Findings[:0],
	}
	p.cc = computeCapability(column(f, h.cc))
	p.result.Capability = p.cc
	p.result.Kind = p.kind()
	switch {
	case p.result.Kind != ncu.Kernel: // the page prints a name and sizes in their place that are none
		p.result.Name, p.result.Grid, p.result.Block = "", [3]int32{}, [3]int32{}
	case strings.HasPrefix(p.result.Name, "_Z"): // ncu --kernel-name-base mangled
		p.result.Symbol = p.result.Name
	}
	p.ranges()
}

// kind returns what was profiled. A page has no column for it: a range is a "range" without a stream, a graph is a "graph". Kernels
// can have that name too, which a raw page with the attributes of launches tells apart.
func (p *pageReader) kind() ncu.Kind {
	h := p.header
	switch p.result.Name {
	case "range":
		if p.result.Stream < 0 && p.result.Grid == [3]int32{} {
			return ncu.Range
		}
	case "graph":
		for i := range h.metrics {
			switch c := &h.metrics[i]; c.metric.name {
			case "launch__graph_contains_device_launch":
				if !isNoValue(column(p.record.fields, c.at)) {
					return ncu.Graph
				}
				return ncu.Kernel
			case "launch__grid_size": // the page has the attributes of launches, and none of graphs before this one
				return ncu.Kernel
			}
		}
		return ncu.Graph
	}
	return ncu.Kernel
}

// ranges reads the NVTX columns of a result.
func (p *pageReader) ranges() {
	h, r := p.header, &p.result
	if r.HasNVTX = h.nvtx >= 0 || h.nvtxStartEnd >= 0; !r.HasNVTX {
		return
	}
	cell := nvtxCell{quote: []byte(`""`), text: p.text, ranges: r.Ranges}
	if !h.quoted {
		cell.quote = []byte{'"'}
	}
	// A start/end range is of the whole process and of no thread's stack.
	cell.read(column(p.record.fields, h.nvtxStartEnd), true)
	cell.read(column(p.record.fields, h.nvtx), false)
	r.Ranges = cell.ranges
	p.badRanges += cell.bad
	p.manyThreads = p.manyThreads || len(cell.threads) > 1
	// A cell with several threads tells that ranges were scoped by process: then none of them need be the one that launched.
	if len(cell.threads) == 1 && !p.manyThreads {
		r.TID = cell.threads[0]
	}
	for _, n := range r.Ranges {
		if n.Domain != r.Ranges[0].Domain || n.StartEnd != r.Ranges[0].StartEnd {
			p.mixedRanges++
			break
		}
	}
}

// flush passes on the result whose rows were read.
func (p *pageReader) flush() error {
	if !p.open {
		return nil
	}
	p.open = false
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if p.decimal == 0 {
		p.decimal = decimalSign(p.cells)
	}
	for _, c := range p.cells {
		p.metric(c)
	}
	for i, gain := range p.gains {
		if v, ok := parseNumber([]byte(gain), 0, p.decimalOrPoint()); ok && v >= 0 && v <= math.MaxInt32 {
			p.result.Findings[i].Speedup = v / 100
		}
	}
	clear(p.have)
	clear(p.repeats)
	p.cells, p.valueText, p.gains = p.cells[:0], p.valueText[:0], p.gains[:0]
	p.sizesFromMetrics()
	p.info.Results++
	if p.ids[p.key] {
		p.again++
	} else if len(p.ids) < maxRemembered {
		p.ids[p.key] = true
	}
	if err := p.each(&p.result); err != nil {
		return fmt.Errorf("%s: result %d: %w", p.name, p.result.ID, err)
	}
	return nil
}

func (p *pageReader) decimalOrPoint() byte {
	if p.decimal == 0 {
		return '.'
	}
	return p.decimal
}

// metric adds a value to the result. The same metric stands in several sections of a details page; its first value is kept.
func (p *pageReader) metric(c pageCell) {
	if isNoValue(c.text) {
		c.metric.saidNo = c.metric.saidNo || string(c.text) == "n/a"
		return
	}
	if p.have[c.metric] {
		return
	}
	c.metric.valued = true
	m := ncu.Metric{Name: c.metric.name, Unit: c.unit.base}
	var ok bool
	number := withoutInstances(c.text)
	if m.Value, ok = parseNumber(number, c.unit.exponent, p.decimalOrPoint()); ok {
		m.Text = exactInteger(number, c.unit.exponent, p.decimalOrPoint())
	} else {
		m.Value, m.Text, m.IsText = 0, p.text(c.text), true
	}
	if p.header.form == DetailsForm {
		p.have[c.metric] = true
	}
	p.result.Metrics = append(p.result.Metrics, m)
	p.values++
}

// sizesFromMetrics fills in what a page of an older ncu has no columns for.
func (p *pageReader) sizesFromMetrics() {
	h, r := p.header, &p.result
	if h.device >= 0 && h.grid >= 0 && h.block >= 0 {
		return
	}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		prefix, axis, dim := strings.Cut(m.Name, "_dim_")
		switch {
		case m.IsText || !(m.Value >= 0 && m.Value <= math.MaxInt32):
		case h.device < 0 && m.Name == "launch__device_id":
			r.Device = int32(m.Value)
		case !dim || r.Kind != ncu.Kernel || len(axis) != 1 || !strings.Contains("xyz", axis):
		case h.grid < 0 && prefix == "launch__grid":
			r.Grid[axis[0]-'x'] = int32(m.Value)
		case h.block < 0 && prefix == "launch__block":
			r.Block[axis[0]-'x'] = int32(m.Value)
		}
	}
}

// isNoValue reports whether a cell says that there is no value. ncu marks values that it could not trust with (!).
func isNoValue(text []byte) bool {
	switch string(text) {
	case "", "n/a", "N/A", "no data":
		return true
	}
	return bytes.HasPrefix(text, []byte("(!) n"))
}

// maxRemembered bounds how many results are remembered to recognise repeats.
const maxRemembered = 1 << 20

// text makes a string of a field, one for all equal ones. What is no UTF-8 in it becomes a replacement character.
func (p *pageReader) text(b []byte) string {
	if s, ok := p.names[string(b)]; ok {
		return s
	}
	s := cleanText(b)
	if len(s) > 8<<10 {
		return s
	}
	if len(p.names) >= 1<<12 {
		clear(p.names)
	}
	p.names[string(b)] = s
	return s
}

func cleanText(b []byte) string { return strings.ToValidUTF8(string(b), "�") }
