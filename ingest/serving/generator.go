package serving

import (
	"cmp"
	"slices"
	"strings"
)

// generator is a load generator that writes a benchmark as an object of JSON: a table says which of its fields is which measure.
type generator struct {
	form string
	tool string            // "" where it is called as its form is
	is   func(fields) bool // whether an object is one of its own
	each string            // the list of which each item is a benchmark; "" where the object itself is one
	// beside are files that may lie next to it and say more of the same benchmark: their fields are NAME/field.
	beside []string
	before func(*parser) // puts right what the table reads then; may be nil
	// names are measures with the names of their fields, of which the first that is there counts: "completed=requests,num_requests duration_s=time". A blank
	// in a field's name is ~.
	names string
	// times returns what it calls a latency, in which unit, and its statistics. A statistic with several names has a space between them.
	times    func(f fields, metric string) (reportedAs string, unit unit, names [len(Statistics)]string)
	requests requestTable  // requests one by one; without lists it has none
	also     func(*parser) // what a table does not say; may be nil
}

// unit is a unit of time as a power of ten of ns.
type unit int

const (
	inMs unit = 6
	inS  unit = 9
)

// timeTable is what a function of times is for a tool that has each latency as an object: "ttft=path/of/it:as it is called", by their unit, and in each the same statistics: in the order of
// Statistics, "-" for one that it has not.
func timeTable(latencies map[unit]string, statistics string) func(fields, string) (string, unit, [len(Statistics)]string) {
	return func(_ fields, metric string) (reportedAs string, in unit, names [len(Statistics)]string) {
		for u, entries := range latencies {
			for entry := range strings.FieldsSeq(entries) {
				if name, at, _ := strings.Cut(entry, "="); name == metric {
					at, reportedAs, _ = strings.Cut(at, ":")
					reportedAs = cmp.Or(reportedAs, at[strings.LastIndexByte(at, '/')+1:])
					for i, statistic := range strings.Fields(statistics) {
						if statistic != "-" {
							names[i] = at + "/" + statistic
						}
					}
					return reportedAs, u, names
				}
			}
		}
		return "", 0, names
	}
}

// measure is one measure of a benchmark, with its unit, by the name that it has in prof's own form.
type measure struct {
	name string
	set  func(p *parser, names []string)
}

// isTheirs reports whether a measure is one that prof's own form has in another unit.
func (m measure) isTheirs() bool {
	return slices.Contains([]string{"duration_ms", "began_unix_s", "requests_per_min"}, m.name)
}

// measures are all that a table may name.
var measures = []measure{
	{"label", func(p *parser, n []string) { p.b.Label = p.text(n...) }},
	{"backend", func(p *parser, n []string) { p.b.Backend = p.text(n...) }},
	{"model", func(p *parser, n []string) { p.b.Model = p.text(n...) }},
	{"began_unix_s", func(p *parser, n []string) { p.b.Date = p.moment(n...) }},
	{"date", func(p *parser, n []string) { p.b.Date = p.text(n...) }},
	{"duration_s", func(p *parser, n []string) { p.b.DurationNs = p.number(9, n...) }},
	{"duration_ms", func(p *parser, n []string) { p.b.DurationNs = p.number(6, n...) }},
	{"completed", func(p *parser, n []string) { p.b.Completed = p.count(n...) }},
	{"failed", func(p *parser, n []string) { p.b.Failed = p.count(n...) }},
	{"input_tokens", func(p *parser, n []string) { p.b.InputTokens = p.count(n...) }},
	{"output_tokens", func(p *parser, n []string) { p.b.OutputTokens = p.count(n...) }},
	{"request_rate", func(p *parser, n []string) { p.rate(n[0]) }},
	{"max_concurrency", func(p *parser, n []string) { p.b.ConcurrencyLimit = p.count(n...) }},
	{"mean_concurrency", func(p *parser, n []string) { p.b.ConcurrencyMean = p.number(0, n...) }},
	{"requests_per_s", func(p *parser, n []string) { p.b.RequestsPerS = p.number(0, n...) }},
	{"requests_per_min", func(p *parser, n []string) {
		if v := p.number(0, n...); v != nil {
			p.b.RequestsPerS = new(*v / 60)
		}
	}},
	{"output_tokens_per_s", func(p *parser, n []string) { p.b.OutputTokensPerS = p.number(0, n...) }},
	{"total_tokens_per_s", func(p *parser, n []string) { p.b.TotalTokensPerS = p.number(0, n...) }},
}

// generators are those that a table describes. To add one, add a value.
func generators() []generator {
	return []generator{own, vllm, sglang, trtllm, guidellm, inferencePerf, genaiBench, evalScope, vllmLatency, vllmThroughput, llmPerf}
}

// read reads an object by the table.
func (g generator) read(p *parser) {
	p.b.Tool = cmp.Or(g.tool, g.form)
	if g.before != nil {
		g.before(p)
	}
	for entry := range strings.FieldsSeq(g.names) {
		name, fields, _ := strings.Cut(entry, "=")
		for _, m := range measures {
			if m.name == name {
				m.set(p, strings.Split(strings.ReplaceAll(fields, "~", " "), ","))
			}
		}
	}
	if g.also != nil {
		g.also(p)
	}
	for _, metric := range Metrics {
		reportedAs, in, names := g.times(p.f, metric)
		p.latency(metric, reportedAs, int(in), names)
	}
	if p.lists.requests != nil && p.err == nil {
		p.listedRequests()
	}
}

// formOf is the kind of its files.
func (g generator) formOf() Form {
	return Form{Name: g.form, MaxBytes: MaxBytes, Sniff: sniffKeys(g.is), read: g.reader(""), readIn: g.reader}
}
