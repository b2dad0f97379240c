package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"prof/queries/caveat"
	"prof/render/typeset"
)

// metrics makes metrics.json; under faults is what is wrong with a number that cannot be.
type metrics struct {
	document
	faults *typeset.Object
}

// writeMetrics writes metrics.json: the original's keys first, in its order, then what they rest on, the accounting of the time, the
// proof of attribution, and the query behind each block. What is not known is null and has a reason under missing, and is never 0. Times
// are ms unless their name says ns, shares and utilisations 0 to 1; a utilisation over 1 is an error in what was given, and named under faults.
func writeMetrics(out *bytes.Buffer, r *reader) {
	m := &metrics{newDocument(r), new(typeset.Object)}
	m.aggregates()
	m.utilisation()
	m.modelDims()
	m.peak()
	m.out.Put("run", m.runObject(func(key, why string) { m.missing.Put("run."+key, why) }))
	m.basis()
	m.bandwidth()
	m.peaks()
	m.accounting()
	s, err := m.Summary()
	m.keep(err)
	m.out.Put("stages", boundForms(s)).Put("findings", typeset.Each(s.Findings, findingForm))
	m.answer("conservation", "conservation", "capture", "kernel_count", "kernel_sum_ns", "attributed_count", "attributed_ns", "outside_count", "outside_ns", "unlaunched_count", "unlaunched_ns", "is_exact")
	m.keep(typeset.WriteIndented(out, m.out.Put("queries", m.queries()).Put("faults", m.faults).Put("missing", m.missing)))
}

// aggregateColumns are the columns of the query aggregates.
var aggregateColumns = []string{"metric", "stage", "unit", "value", "mean", "std", "min", "max", "median", "passes", "basis"}

// aggregates puts the figures to quote: prefill_ms, decode_ms, tokens and tokens_per_s of decode, stage_ms, then others that the run has.
func (m *metrics) aggregates() {
	rows := m.rows("aggregates", aggregateColumns...)
	known := map[string]answered{}
	for _, row := range rows {
		known[row.Text("metric")] = row
	}
	o := new(typeset.Object)
	for _, fixed := range [][2]string{{"prefill_ms", "prefill_ns"}, {"decode_ms", "decode_ns"}, {"tokens", "decode_tokens"}, {"tokens_per_s", "decode_tokens_per_s"}} {
		row, ok := known[fixed[1]]
		if !ok {
			m.need(o, "aggregates.", fixed[0], nil, m.lackOfAggregate(fixed[1]))
			continue
		}
		o.Put(fixed[0], m.figure("aggregates."+fixed[0], row))
		delete(known, fixed[1])
	}
	o.Put("stage_ms", m.stageTimes(rows))
	for _, row := range rows { // those that are left, in the query's order
		name := row.Text("metric")
		if _, left := known[name]; !left || name == row.Text("stage")+"_ns" {
			continue
		}
		key := name
		if row.Text("unit") == "ns" {
			key = strings.Replace(key, "_ns", "_ms", 1)
		}
		o.Put(key, m.figure("aggregates."+key, row))
	}
	m.out.Put("aggregates", o)
}

// undefined is why a figure of a row is null where nothing tells more.
const undefined = "the query aggregates has no number for it"

// lackOfAggregate says why a figure is not there.
func (m *metrics) lackOfAggregate(metric string) string {
	if !m.has("aggregates") {
		return m.whyNone("aggregates")
	}
	stage, what, _ := strings.Cut(metric, "_")
	if strings.HasPrefix(what, "tokens") {
		return "no source says the tokens of each measured pass of " + stage + ": give the facts of the workload (see prof help ingest)"
	}
	return "the run has no measured pass of " + stage + " with device work"
}

// figure is mean, std and n of a metric over its passes, with what else is known. The mean of a rate is that of all tokens over all time.
func (m *metrics) figure(path string, row answered) *typeset.Object {
	unit := 1.0
	if row.Text("unit") == "ns" {
		unit = nsPerMs
	}
	o := new(typeset.Object)
	m.need(o, path+".", "mean", row.per("value", unit), undefined)
	m.need(o, path+".", "std", row.per("std", unit), "a single pass has no deviation")
	o.Put("n", row.value("passes"))
	m.need(o, path+".", "median", row.per("median", unit), undefined)
	m.need(o, path+".", "min", row.per("min", unit), undefined)
	m.need(o, path+".", "max", row.per("max", unit), undefined)
	o.Put("basis", row.value("basis"))
	if value, ok := row.Finite("value"); ok {
		if mean, ok := row.Finite("mean"); ok && mean != value {
			o.Put("mean_of_passes", mean/unit)
		}
	}
	return o
}

// stageTimes are the times of prefill and decode, of other stages, of the vision part of prefill, and of the parts that are told apart.
func (m *metrics) stageTimes(rows []answered) *typeset.Object {
	o := new(typeset.Object)
	of := map[string]answered{}
	order := []string{"prefill", "decode"}
	for _, row := range rows {
		stage := row.Text("stage")
		if row.Text("metric") != stage+"_ns" || row.Text("basis") == "workload" {
			continue
		}
		if of[stage] = row; !slices.Contains(order, stage) {
			order = append(order, stage)
		}
	}
	for _, stage := range order {
		if row, ok := of[stage]; ok {
			o.Put(stage, m.figure("aggregates.stage_ms."+stage, row))
			continue
		}
		m.need(o, "aggregates.stage_ms.", stage, nil, m.lackOfAggregate(stage+"_ns"))
	}
	m.visionTime(o)
	m.partTimes(o)
	return o
}

// visionTime puts the mean time of the vision work in a prefill.
func (m *metrics) visionTime(o *typeset.Object) {
	rows := m.rows("mfu", "stage", "passes", "time_ns", "time_basis", "part_of")
	for _, row := range rows {
		if row.Text("stage") != "vision" {
			continue
		}
		v := new(typeset.Object)
		m.need(v, "aggregates.stage_ms.vision.", "mean", row.per("time_ns", nsPerMs), "the passes have no device work of vision")
		m.need(v, "aggregates.stage_ms.vision.", "std", nil, "the query mfu gives the mean of the vision time alone")
		o.Put("vision", v.Put("n", row.value("passes")).Put("basis", row.value("time_basis")).Put("part_of", row.value("part_of")))
		return
	}
	m.need(o, "aggregates.stage_ms.", "vision", nil, "no range of the run is vision work by the rules in stage_rule")
}

// partTimes puts the parts inside stages (sam, clip, projector, ...), all executions of a pass together: they are in their stage's time.
func (m *metrics) partTimes(o *typeset.Object) {
	rows := m.rows("stage-notes", "stage", "note", "instances", "gpu_span_mean_ns", "passes", "pass_mean_ns", "pass_std_ns", "image_mean_ns")
	for _, row := range rows {
		key := row.Text("note")
		if slices.ContainsFunc(o.Members, func(x typeset.Member) bool { return x.Key == key }) {
			key = row.Text("note") + " in " + row.Text("stage")
		}
		path := "aggregates.stage_ms." + key + "."
		v := new(typeset.Object)
		if row.Count("passes") == 0 { // outside of stages
			m.need(v, path, "mean", row.per("gpu_span_mean_ns", nsPerMs), "it has no device work")
			m.need(v, path, "std", nil, "it is in no pass of a stage")
			o.Put(key, v.Put("n", row.value("instances")).Put("basis", "gpu_span of an execution").Put("part_of", row.value("stage")))
			continue
		}
		m.need(v, path, "mean", row.per("pass_mean_ns", nsPerMs), "not every pass has device work of it")
		m.need(v, path, "std", row.per("pass_std_ns", nsPerMs), "a single pass has no deviation")
		v.Put("n", row.value("passes"))
		m.need(v, path, "executions", row.value("instances"), undefined)
		m.need(v, path, "mean_of_an_image", row.per("image_mean_ns", nsPerMs), "how many images the prompts have is unknown")
		o.Put(key, v.Put("basis", "gpu_span of its executions in a pass, together").Put("part_of", row.value("stage")))
	}
}

// queries names the query behind each block, its version, statement and notes.
func (m *metrics) queries() *typeset.Object {
	o := new(typeset.Object)
	for _, b := range [][2]string{{"aggregates", "aggregates"}, {"aggregates.stage_ms.vision, mfu_model_level, mfu_per_stage, peak_tflops, basis, mbu_model_level, mbu_per_stage", "mfu"}, {"missing of mbu_per_stage", "mbu"},
		{"aggregates.stage_ms of parts", "stage-notes"}, {"model_dims", "models"}, {"run", "run-details"}, {"peak", "peaks"}, {"accounting", "accounting"}, {"conservation", "conservation"}} {
		f := m.Frame(b[1])
		if f == nil || f.Query == "" {
			continue
		}
		o.Put(f.Query, new(typeset.Object).Put("version", f.Version).Put("gives", b[0]).Put("sql", f.SQL).Put("notes", f.Notes))
	}
	if m.Static != nil && m.Static.Groups != nil && m.Static.Groups.Query != "" {
		g := m.Static.Groups
		o.Put(g.Query, new(typeset.Object).Put("version", g.Version).Put("gives", "model_dims.d_ff and what follows it").Put("sql", g.SQL).Put("notes", []any{}))
	}
	return o
}

// unknown words which of a row's ingredients are NULL.
func unknown(row answered, columns ...string) string {
	var lacking []string
	for _, c := range columns {
		if row.value(c) == nil {
			lacking = append(lacking, c)
		}
	}
	if fault := row.Text("fault"); fault != "" {
		return caveat.Fault(fault)
	}
	if len(lacking) == 0 {
		return "the query gives none; its notes are under queries"
	}
	return fmt.Sprintf("not known of it: %s; the notes under queries say why", strings.Join(lacking, ", "))
}
