package page

import (
	"prof/ingest/ncu"
	"strconv"
	"strings"
)

// commandLineSection is where ncu shows what was asked for with --metrics; its labels are names of metrics.
const commandLineSection = "Command line profiler metrics"

// detailsRow takes a row of a details page: a metric, or what a rule says.
func (p *pageReader) detailsRow() {
	h, f := p.header, p.record.fields
	if rule := column(f, h.rule); len(rule) > 0 {
		p.rule(rule)
		return
	}
	label := column(f, h.label)
	if len(label) == 0 {
		return
	}
	l := p.label(column(f, h.section), column(f, h.item), label)
	nth := p.repeats[l]
	p.repeats[l] = nth + 1
	from := len(p.valueText)
	p.valueText = append(p.valueText, column(f, h.value)...)
	p.cells = append(p.cells, pageCell{l.metric(nth), p.unitOfText(column(f, h.unit)), p.valueText[from:]})
}

// ruleSeverities are the types of rules as pages print them, and what reports call these.
var ruleSeverities = map[string]string{"OPT": "optimization", "WRN": "warning", "ERR": "error", "INF": "ok", "": "none"}

// rule takes what a rule says. One that says nothing gives no finding, as in a report.
func (p *pageReader) rule(name []byte) {
	h, f := p.header, p.record.fields
	g := ncu.Finding{
		Rule: p.text(name), Section: p.text(column(f, h.section)), Message: p.text(column(f, h.ruleText)),
		Scope: strings.ToLower(p.text(column(f, h.scope))),
	}
	kind := p.text(column(f, h.ruleType))
	var ok bool
	if g.Severity, ok = ruleSeverities[kind]; !ok {
		g.Severity = strings.ToLower(kind)
	}
	if g.Message != "" {
		p.result.Findings = append(p.result.Findings, g)
		p.gains = append(p.gains, string(column(f, h.speedup)))
	}
}

// pageLabel is a label of a details page with the metrics that it stands for: rows of equal labels are told apart by their order.
type pageLabel struct {
	metrics []*pageMetric
	more    func(nth int) *pageMetric // rows of that label beyond those that are known
}

func (l *pageLabel) metric(nth int) *pageMetric {
	if nth < len(l.metrics) {
		return l.metrics[nth]
	}
	return l.more(nth)
}

// label finds what a label of that section, and of that item of the section's body, stands for.
func (p *pageReader) label(section, item, label []byte) *pageLabel {
	p.labelKey = append(append(append(append(p.labelKey[:0], section...), 0), item...), 0)
	p.labelKey = append(append(append(p.labelKey, label...), 0), byte(p.cc), byte(p.cc>>8))
	if l := p.labels[string(p.labelKey)]; l != nil {
		return l
	}
	if p.labelBytes += len(p.labelKey); p.labelBytes > 8<<20 { // a page of every section has under 2000 labels
		p.labelBytes = 0
		clear(p.labels)
		clear(p.metrics)
	}
	l := p.newLabel(cleanText(section), cleanText(item), cleanText(label))
	p.labels[string(p.labelKey)] = l
	return l
}

func (p *pageReader) newLabel(section, item, label string) *pageLabel {
	l := &pageLabel{}
	own := section + ": " + label
	if item != "" {
		own = section + ": " + item + ": " + label
	}
	names, one := metricsOfLabel(section, item, label, p.cc)
	if name, ok := nameInLabel(section, label); ok && len(names) == 0 {
		names, one = []string{name}, true
	}
	if len(names) == 0 {
		names, one = []string{own}, false
		if p.unmapped++; p.unmapped <= maxNamed {
			p.unmappedAs = append(p.unmappedAs, own)
		}
	}
	for _, n := range names {
		l.metrics = append(l.metrics, p.metricNamed(n))
	}
	l.more = func(nth int) *pageMetric {
		if one { // the same metric shown again
			return l.metrics[0]
		}
		return p.metricNamed(own + " (" + strconv.Itoa(int(nth)+1) + ")")
	}
	return l
}

// nameInLabel finds the metric's name in a label that holds it: ncu --print-metric-name name prints names in the place of labels,
// label-name prints "LABEL (NAME)", and the tables of memory have no labels.
func nameInLabel(section, label string) (string, bool) {
	if section == commandLineSection || isMetricName(label) {
		return label, true
	}
	if head, ok := strings.CutSuffix(label, ")"); ok {
		if name := head[strings.LastIndexByte(head, '(')+1:]; name != head && isMetricName(name) {
			return name, true
		}
	}
	return "", false
}

// isMetricName reports whether text can only be a metric's name: UNIT__COUNTER with what follows, or one that the table has.
func isMetricName(s string) bool {
	return strings.Contains(s, "__") && !strings.ContainsAny(s, " ()") || labelTable().names[s]
}
