package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"prof/queries/caveat"
	"prof/render/typeset"
	"prof/render/words"
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
	m.out.Put("lead", words.LeadOf(s)).Put("stages", boundForms(s)).Put("findings", typeset.Each(s.Findings, findingForm))
	answer(m.document, "conservation", conservationCells)
	m.keep(typeset.WriteIndented(out, m.out.Put("queries", m.queries()).Put("faults", m.faults).Put("missing", m.missing)))
}

// aggregates puts the figures to quote: prefill_ms, decode_ms, tokens and tokens_per_s of decode, stage_ms, then others that the run has.
func (m *metrics) aggregates() {
	rows := read(m.reader, aggregateRows)
	known := map[string]aggregateRow{}
	for _, row := range rows {
		known[row.Metric] = row
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
		if _, left := known[row.Metric]; !left || row.Metric == row.Stage+"_ns" {
			continue
		}
		key := row.Metric
		if row.Unit == "ns" {
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

// figure is mean, std and n of a metric over its passes, with what else is known. The median of a rate is that of the median pass.
func (m *metrics) figure(path string, row aggregateRow) *typeset.Object {
	unit := 1.0
	if row.Unit == "ns" {
		unit = nsPerMs
	}
	o := new(typeset.Object)
	m.need(o, path+".", "mean", per(row.Mean, unit), undefined)
	m.need(o, path+".", "std", per(row.Std, unit), "a single pass has no deviation")
	o.Put("n", row.Passes)
	m.need(o, path+".", "median", per(row.Value, unit), undefined)
	m.need(o, path+".", "min", per(row.Min, unit), undefined)
	m.need(o, path+".", "max", per(row.Max, unit), undefined)
	return o.PutText("basis", row.Basis)
}

// stageTimes are the times of prefill and decode, of other stages, of the vision part of prefill, and of the parts that are told apart.
func (m *metrics) stageTimes(rows []aggregateRow) *typeset.Object {
	o := new(typeset.Object)
	of := map[string]aggregateRow{}
	order := []string{"prefill", "decode"}
	for _, row := range rows {
		if row.Metric != row.Stage+"_ns" || row.Basis == "workload" {
			continue
		}
		if of[row.Stage] = row; !slices.Contains(order, row.Stage) {
			order = append(order, row.Stage)
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
	for _, row := range read(m.reader, useRows) {
		if row.Stage != "vision" {
			continue
		}
		v := new(typeset.Object)
		m.need(v, "aggregates.stage_ms.vision.", "mean", per(row.TimeNs, nsPerMs), "the passes have no device work of vision")
		m.need(v, "aggregates.stage_ms.vision.", "std", nil, "the query mfu gives the mean of the vision time alone")
		o.Put("vision", v.Put("n", row.Passes).PutText("basis", row.TimeBasis).PutText("part_of", row.PartOf))
		return
	}
	m.need(o, "aggregates.stage_ms.", "vision", nil, "no range of the run is vision work by the rules in stage_rule")
}

// partTimes puts the parts inside stages (sam, clip, projector, ...), all executions of a pass together: they are in their stage's time.
func (m *metrics) partTimes(o *typeset.Object) {
	for _, row := range read(m.reader, noteRows) {
		key := row.Note
		if slices.ContainsFunc(o.Members, func(x typeset.Member) bool { return x.Key == key }) {
			key = row.Note + " in " + row.Stage
		}
		path := "aggregates.stage_ms." + key + "."
		v := new(typeset.Object)
		if row.Passes == 0 { // outside of stages
			m.need(v, path, "mean", per(row.GPUSpanMeanNs, nsPerMs), "it has no device work")
			m.need(v, path, "std", nil, "it is in no pass of a stage")
			o.Put(key, v.Put("n", row.Instances).Put("basis", "gpu_span of an execution").PutText("part_of", row.Stage))
			continue
		}
		m.need(v, path, "mean", per(row.PassMeanNs, nsPerMs), "not every pass has device work of it")
		m.need(v, path, "std", per(row.PassStdNs, nsPerMs), "a single pass has no deviation")
		v.Put("n", row.Passes).Put("executions", row.Instances)
		m.need(v, path, "mean_of_an_image", per(row.ImageMeanNs, nsPerMs), "how many images the prompts have is unknown")
		o.Put(key, v.Put("basis", "gpu_span of its executions in a pass, together").PutText("part_of", row.Stage))
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

// ingredient is what a figure follows from.
type ingredient struct {
	column string
	value  *float64
}

// unknown words which of a figure's ingredients are NULL.
func unknown(fault string, of ...ingredient) string {
	if fault != "" {
		return caveat.Fault(fault)
	}
	var lacking []string
	for _, x := range of {
		if typeset.Finite(x.value) == nil {
			lacking = append(lacking, x.column)
		}
	}
	if len(lacking) == 0 {
		return "the query gives none; its notes are under queries"
	}
	return fmt.Sprintf("not known of it: %s; the notes under queries say why", strings.Join(lacking, ", "))
}

// peaks are the rows of the table of peaks that utilisation is judged by, of one GPU each.
func (m *metrics) peaks() {
	precision := ""
	if row, ok := m.judged(); ok {
		precision = row.Precision
	}
	list := []any{}
	for _, p := range read(m.reader, peakCells) {
		if p.isKnown() && (p.Resource == "dram" || strings.TrimPrefix(p.Resource, "tensor_") == precision) {
			list = append(list, object(peakCells, p))
		}
	}
	m.list("peaks_of_one_gpu", list, m.lackOfTable())
}

// lackOfTable says why the table of peaks has none for the run.
func (r *reader) lackOfTable() string {
	all := r.gpuNames()
	if len(all) == 0 {
		return "no source names a GPU"
	}
	for _, g := range workingGPUs(all) {
		if len(g.names) == 0 {
			return g.saying()
		}
	}
	name, _ := gpuOf(all) // all that worked have one
	return fmt.Sprintf("the table of peaks has none of %v in the precision of the run", name)
}

// accounting splits the time of each stage on each GPU into its parts.
func (m *metrics) accounting() {
	list := []any{}
	var parts *typeset.Object
	var last partRow
	for _, row := range read(m.reader, partRows) {
		if parts == nil || row.Stage != last.Stage || row.Device != last.Device {
			last, parts = row, new(typeset.Object)
			list = append(list, new(typeset.Object).PutText("stage", row.Stage).Put("device", row.Device).Put("passes", row.Passes).
				Put("span_total_ms", per(row.SpanTotalNs, nsPerMs)).Put("parts", parts))
		}
		parts.Put(row.Part, new(typeset.Object).PutText("kind", row.Kind).Put("total_ms", per(row.TotalNs, nsPerMs)).
			Put("mean_ms", per(row.MeanNs, nsPerMs)).Put("share", row.ShareRatio))
	}
	m.list("accounting", list, m.whyNone("accounting"))
}
