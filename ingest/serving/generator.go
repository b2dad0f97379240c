package serving

import "strings"

// generator is a load generator that writes a benchmark as an object of JSON: a table says which of its fields is which measure.
type generator struct {
	form string
	is   func(fields) bool // whether an object is one of its own
	// names are measures with the names of their fields, of which the first that is there counts: "completed=requests,num_requests duration_s=time".
	names string
	// times returns what it calls a latency, and its statistics, in ms. A statistic with several names has a space between them.
	times func(f fields, metric string) (reportedAs string, names [len(Statistics)]string)
	also  func(*parser) // what a table does not say; may be nil
}

// measure is one measure of a benchmark, with its unit, by the name that it has in prof's own form.
type measure struct {
	name string
	set  func(p *parser, names []string)
}

// measures are all that a table may name.
var measures = []measure{
	{"label", func(p *parser, n []string) { p.b.Label = p.text(n...) }},
	{"backend", func(p *parser, n []string) { p.b.Backend = p.text(n...) }},
	{"model", func(p *parser, n []string) { p.b.Model = p.text(n...) }},
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
	{"output_tokens_per_s", func(p *parser, n []string) { p.b.OutputTokensPerS = p.number(0, n...) }},
	{"total_tokens_per_s", func(p *parser, n []string) { p.b.TotalTokensPerS = p.number(0, n...) }},
}

// generators are those that a table describes. To add one, add a value.
func generators() []generator { return []generator{own, vllm, sglang, trtllm} }

// read reads an object by the table.
func (g generator) read(p *parser) {
	p.b.Tool = g.form
	for entry := range strings.FieldsSeq(g.names) {
		name, fields, _ := strings.Cut(entry, "=")
		for _, m := range measures {
			if m.name == name {
				m.set(p, strings.Split(fields, ","))
			}
		}
	}
	if g.also != nil {
		g.also(p)
	}
	for _, metric := range Metrics {
		reportedAs, names := g.times(p.f, metric)
		p.latency(metric, reportedAs, 6, names)
	}
}

// formOf is the kind of its files.
func (g generator) formOf() Form { return Form{g.form, MaxBytes, sniffKeys(g.is), objects(g.read)} }
