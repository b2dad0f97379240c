// Package metrics writes the figures of a run's stages as metrics, for dashboards.
package metrics

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"prof/queries/frame"
	"prof/render/typeset"
)

// Metric is a figure with a point for each stage that has it.
type Metric struct {
	Name   string // without unit: stage_gpu_span_mean
	Unit   Unit
	Doc    string
	Points []Point
}

// Point is a value with its labels, names and values in turn; an unknown one is no point.
type Point struct {
	Labels [][2]string
	Value  float64
	Whole  bool // a count
}

// Unit is a unit by its names in OpenMetrics, where it ends the name of the metric, and in UCUM, which OpenTelemetry takes.
type Unit struct{ Open, UCUM string }

// Run is what the figures are of.
type Run struct {
	Name, ID, Device, Model, Version string
	Tags                             []string // key=value
	At                               time.Time
}

// Forms lists the forms of files.
func Forms() typeset.Forms[[]Metric, Run] {
	return typeset.Forms[[]Metric, Run]{
		{Name: "openmetrics", Doc: "figures of each stage at the time of the capture, as text: Prometheus and what reads its format", Write: writeOpenMetrics},
		{Name: "otlp-json", Doc: "the same for an OpenTelemetry collector: POST to /v1/metrics", Write: writeOTLP},
	}
}

// figure is a column of a query that is a metric.
type figure struct {
	query, column string
	name          string      // of the metric without unit
	labels        [][2]string // name of a label, and the column that it has
	unless        string      // column that says why a value cannot be right; "" for none
	most          bool        // of rows with the same labels the largest value counts
}

// figures are the metrics, in this order.
var figures = []figure{
	{query: "stages", column: "passes", name: "stage_passes"},
	{query: "stages", column: "cpu_mean_ns", name: "stage_cpu_mean"},
	{query: "stages", column: "cpu_median_ns", name: "stage_cpu_median"},
	{query: "stages", column: "gpu_span_mean_ns", name: "stage_gpu_span_mean"},
	{query: "stages", column: "gpu_span_median_ns", name: "stage_gpu_span_median"},
	{query: "stages", column: "gpu_span_std_ns", name: "stage_gpu_span_std"},
	{query: "stages", column: "gpu_busy_mean_ns", name: "stage_gpu_busy_mean"},
	{query: "stages", column: "alone_median_ns", name: "stage_alone_median", labels: [][2]string{{"clock", "alone_clock"}}},
	{query: "stages", column: "over_alone_ratio", name: "stage_over_alone"},
	{query: "stages", column: "busy_ratio", name: "stage_gpu_busy"},
	{query: "stages", column: "gpu_span_tokens_per_s", name: "stage_gpu_span"},
	{query: "stages", column: "alone_tokens_per_s", name: "stage_alone"},
	{query: "stages", column: "token_count", name: "stage_tokens"},
	{query: "stages", column: "kernel_count", name: "stage_kernels"},
	{query: "mfu", column: "mfu_ratio", name: "stage_mfu", labels: bound, unless: "fault"},
	{query: "mfu", column: "mbu_ratio", name: "stage_mbu", labels: bound, unless: "fault"},
	{query: "mfu", column: "alone_mfu_ratio", name: "stage_alone_mfu", labels: bound, unless: "fault"},
	{query: "mfu", column: "alone_mbu_ratio", name: "stage_alone_mbu", labels: bound, unless: "fault"},
	{query: "overhead", column: "overhead_ratio", name: "profiling_overhead", labels: [][2]string{{"mode", "mode"}, {"tool", "tool"}}},
	// Of any process and recording: their numbers are others in each run.
	{query: "memory-peaks", column: "peak_bytes", name: "stage_memory_peak", labels: [][2]string{{"basis", "basis"}, {"device", "device"}}, most: true},
}

// bound says which precision utilisation is of, and whether it is a lower bound.
var bound = [][2]string{{"precision", "precision"}, {"lower_bound", "is_least"}}

// fullName is the name with the unit, words joined by _.
func (m Metric) fullName() string {
	return strings.TrimSuffix("prof_"+m.Name+"_"+m.Unit.Open, "_")
}

// Queries are those that metrics are read from.
func Queries() []string {
	var out []string
	for _, f := range figures {
		if !slices.Contains(out, f.query) {
			out = append(out, f.query)
		}
	}
	return out
}

// Read reads the metrics of a run from the answers to Queries. What is unknown is left out, and so is utilisation that cannot be right.
func Read(answers []*frame.Frame, run Run) ([]Metric, error) {
	always := [][2]string{{"run", run.Name}, {"gpu", run.Device}, {"model", run.Model}}
	always = append(always, tagLabels(run.Tags)...)
	var out []Metric
	for _, x := range figures {
		at := slices.IndexFunc(answers, func(f *frame.Frame) bool { return f.Query == x.query })
		if at < 0 {
			return nil, fmt.Errorf("metrics without the query %s", x.query)
		}
		m, err := x.read(answers[at], always)
		if err != nil {
			return nil, err
		}
		if len(m.Points) > 0 {
			out = append(out, m)
		}
	}
	return out, nil
}

// read reads a metric from an answer. All points have some labels.
func (x figure) read(f *frame.Frame, always [][2]string) (Metric, error) {
	values, err := f.Numbers(x.column)
	if err != nil {
		return Metric{}, err
	}
	names, columns := [][2]string{{"stage", "stage"}}, map[string][]string{}
	names = append(names, x.labels...)
	for _, column := range append(typeset.Each(names, func(l [2]string) string { return l[1] }), x.unless) {
		if column != "" {
			if columns[column], err = f.Texts(column); err != nil {
				return Metric{}, err
			}
		}
	}
	column := f.Columns[f.Index(x.column)]
	m := Metric{Name: x.name, Unit: unitOf(column), Doc: docOf(column)}
	if x.most {
		m.Doc += "; the largest of any process and recording"
	}
	for i, value := range values {
		v, known := frame.Finite(value)
		if !known || x.unless != "" && columns[x.unless][i] != "" {
			continue
		}
		p := Point{Value: scaled(v, column.Unit), Whole: column.Type == frame.Int && column.Unit != frame.Ns, Labels: slices.Clone(always)}
		for _, l := range names {
			p.Labels = append(p.Labels, [2]string{l[0], columns[l[1]][i]})
		}
		p.Labels = slices.DeleteFunc(p.Labels, func(l [2]string) bool { return l[1] == "" })
		if same := slices.IndexFunc(m.Points, func(o Point) bool { return slices.Equal(o.Labels, p.Labels) }); x.most && same >= 0 {
			m.Points[same].Value = max(m.Points[same].Value, p.Value)
			continue
		}
		m.Points = append(m.Points, p)
	}
	return m, nil
}

// scaled brings a value in a base unit of the warehouse to the base unit of metrics: seconds in place of nanoseconds.
func scaled(v float64, unit frame.Unit) float64 {
	if unit == frame.Ns {
		return v / 1e9
	}
	return v
}

func unitOf(c frame.Column) Unit {
	switch {
	case c.Unit == frame.Ns:
		return Unit{"seconds", "s"}
	case c.Unit == frame.Bytes:
		return Unit{"bytes", "By"}
	case c.Unit == frame.Ratio:
		return Unit{"ratio", "1"}
	case strings.HasSuffix(c.Name, "tokens_per_s"):
		return Unit{"tokens_per_second", "{token}/s"}
	}
	return Unit{} // a count: collectors take the unit 1 for a ratio
}

// docOf is what the column means, without when it is NULL: then there is no point.
func docOf(c frame.Column) string {
	doc := c.Doc
	for _, end := range []string{"; NULL", ". NULL"} {
		doc, _, _ = strings.Cut(doc, end)
	}
	return doc
}

// tagLabels are labels by tags: tag_KEY, in which what a name of a label cannot have becomes _. Keys that become the same get a number.
func tagLabels(tags []string) [][2]string {
	var out [][2]string
	used := map[string]int{}
	for _, tag := range tags {
		key, value, _ := strings.Cut(tag, "=")
		name := "tag_" + strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '_'
		}, key)
		if used[name]++; used[name] > 1 {
			name = fmt.Sprintf("%s__%d", name, used[name])
		}
		out = append(out, [2]string{name, value})
	}
	return out
}
