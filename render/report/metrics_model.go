package report

import (
	"slices"
	"strconv"
	"strings"

	"prof/queries/caveat"
	"prof/render/typeset"
)

// useByStage returns the rows of mfu, also by stage.
func (m *metrics) useByStage() (map[string]useRow, []useRow) {
	rows := read(m.reader, useRows)
	of := map[string]useRow{}
	for _, row := range rows {
		of[row.Stage] = row
	}
	return of, rows
}

// perStage puts a utilisation of the model's whole, and of its stages: prefill, decode and vision always, others as the run has them.
func (m *metrics) perStage(name string, ratio func(useRow) *float64, lacks func(useRow) string) {
	of, rows := m.useByStage()
	order := []string{"prefill", "decode", "vision"}
	for _, row := range rows {
		if s := row.Stage; s != "model" && !slices.Contains(order, s) {
			order = append(order, s)
		}
	}
	level := func(o *typeset.Object, path, key, stage string) {
		row, ok := of[stage]
		if !ok {
			m.need(o, path, key, nil, m.lackOfStage(stage))
			return
		}
		m.need(o, path, key, ratio(row), lacks(row))
		if fault := faultOf(row, name, typeset.Finite(ratio(row))); fault != "" {
			m.faults.Put(path+key, fault)
		}
	}
	level(m.out, "", name+"_model_level", "model")
	stages := new(typeset.Object)
	for _, stage := range order {
		level(stages, name+"_per_stage.", stage, stage)
	}
	m.out.Put(name+"_per_stage", stages)
}

// faultOf says what is wrong with a utilisation: over 1 it cannot be, in the mean or in one of its passes.
func faultOf(row useRow, name string, share *float64) string {
	over := name + "-over-1"
	if share != nil && (*share > 1 || row.Fault == over) {
		return caveat.Fault(over)
	}
	return ""
}

func (m *metrics) lackOfStage(stage string) string {
	if !m.has("mfu") {
		return m.whyNone("mfu")
	}
	if stage == "model" {
		return "it needs measured passes of both prefill and decode"
	}
	return "the run has no such stage"
}

func (m *metrics) utilisation() {
	m.perStage("mfu", func(row useRow) *float64 { return row.MFURatio }, func(row useRow) string {
		why := unknown(row.Fault, ingredient{"flop", row.Flop}, ingredient{"time_ns", row.TimeNs}, ingredient{"peak_flop_per_s", row.PeakFlopPerS})
		if peak := m.lackOfPeak(row, underPeaks); peak != "" && row.Flop != nil {
			why = peak
		}
		if row.Flop == nil && !m.has("models") {
			why = noModelGiven + "; " + why
		}
		return why
	})
}

// noModelGiven says what a run without a model lacks.
const noModelGiven = "the run has no model: ingest its configuration with --model"

// bandwidth is what part of the memory's peak bandwidth must have been used.
func (m *metrics) bandwidth() {
	rows := read(m.reader, bandwidthRows)
	m.perStage("mbu", func(row useRow) *float64 { return row.MBURatio }, func(row useRow) string {
		for _, b := range rows {
			if b.Stage == row.Stage {
				return unknown(b.Fault, ingredient{"weight_bytes", b.WeightBytes}, ingredient{"kv_bytes", b.KVBytes}, ingredient{"time_ns", b.TimeNs}, ingredient{"peak_bytes_per_s", b.PeakBytesPerS})
			}
		}
		if len(rows) == 0 {
			return m.whyNone("mbu")
		}
		return "the bytes that it must read are not counted"
	})
}

// modelDims are the sizes of the model that FLOPs are counted of.
func (m *metrics) modelDims() {
	rows := read(m.reader, modelRows)
	o := new(typeset.Object)
	at := slices.IndexFunc(rows, func(r modelRow) bool { return r.IsCounted })
	if at < 0 {
		for _, key := range []string{"d_model", "d_ff", "n_layers"} {
			m.need(o, "model_dims.", key, nil, noModelGiven)
		}
		m.out.Put("model_dims", o)
		return
	}
	row := rows[at]
	ff, expert := m.feedForward(row.HiddenSize)
	m.need(o, "model_dims.", "d_model", row.HiddenSize, "the model has no decoder")
	m.need(o, "model_dims.", "d_ff", ff, "the model has no layer with one dense MLP, or several of different widths")
	m.need(o, "model_dims.", "n_layers", row.LayerCount, "the model has no decoder")
	if expert != nil {
		o.Put("d_ff_expert", expert)
	}
	o.PutText("name", row.Name).PutText("family", row.Family).Put("vocab_size", row.VocabSize).Put("parameter_count", row.ParameterCount).Put("active_parameter_count", row.ActiveParameterCount)
	m.out.Put("model_dims", o)
}

// feedForward returns the inner widths of the decoder's dense MLP and of one routed expert: the inputs of the matrix that leads back to the
// hidden size. nil is none, or several.
func (m *metrics) feedForward(hidden *int64) (dense, expert *int64) {
	if m.Static == nil || hidden == nil {
		return nil, nil
	}
	layers, err := layerRows.Of(m.Static.Groups)
	m.keep(err)
	one := func(prefix string) *int64 {
		found := map[int64]bool{}
		for _, g := range layers {
			in, outputs, ok := matrix(g.Shape)
			if ok && g.Part == "decoder" && g.Kind == "linear" && strings.HasPrefix(g.Component, prefix) && outputs == *hidden {
				found[in] = true
			}
		}
		if len(found) != 1 {
			return nil
		}
		for width := range found {
			return &width
		}
		return nil
	}
	return one("mlp."), one("experts.")
}

// matrix reads inputs and outputs of a shape as model-layers words it: 1280 x 6848, or 896 x 1280, 6 of 64.
func matrix(shape string) (in, out int64, ok bool) {
	shape, _, _ = strings.Cut(shape, ",")
	first, second, _ := strings.Cut(shape, " x ")
	in, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	out, err = strconv.ParseInt(second, 10, 64)
	return in, out, err == nil
}

// judged is the row of mfu whose peak and precision stand for the run: the model's, else the first with a peak.
func (m *metrics) judged() (row useRow, ok bool) {
	of, rows := m.useByStage()
	if len(rows) == 0 {
		return useRow{}, false
	}
	if row, ok := of["model"]; ok {
		return row, true
	}
	if at := slices.IndexFunc(rows, func(r useRow) bool { return r.peak() != nil }); at >= 0 {
		return rows[at], true
	}
	return rows[0], true
}

// peak is the dense peak that MFU is judged by, of all GPUs of a pass together.
func (m *metrics) peak() {
	row, ok := m.judged()
	if !ok {
		m.need(m.out, "", "peak_tflops", nil, m.whyNone("mfu"))
		return
	}
	why := m.lackOfPeak(row, underPeaks)
	if why == "" && row.peak() == nil {
		why = m.lackOfTable()
	}
	m.need(m.out, "", "peak_tflops", per(row.peak(), 1e12), why)
}

// underPeaks is where metrics.json has the peak of one GPU.
const underPeaks = "under peaks_of_one_gpu"

// lackOfPeak says why the peak of the GPUs of a pass, in a row of mfu, is not known though that of one GPU is; "" where it is another
// matter. where is the place of the peak of one GPU.
func (r *reader) lackOfPeak(row useRow, where string) string {
	one := slices.ContainsFunc(read(r, peakRows), func(p peakRow) bool { return p.PeakFlopPerS != nil })
	switch {
	case row.peak() != nil || !one:
		return ""
	case row.DeviceCount != nil && *row.DeviceCount == 0:
		return "no measured pass has work on a GPU in the capture; the peak of one GPU is " + where
	case row.Precision == "":
		return "the precision is not known; peaks of one GPU by precision: prof query peaks"
	case row.PeakOrigin == "":
		return "the GPU that ran the passes has no name, or several have different ones; the peak of each GPU that the capture names is " + where
	}
	return "how many GPUs work on a pass together is not known: the passes ran in several processes (option ranks of the query mfu) or have no work on a GPU; the peak of one GPU is " + where
}

// basis says what the figures are figures of.
func (m *metrics) basis() {
	o := new(typeset.Object).Put("accounting", "each GPU by itself, shares of the span of its passes").
		Put("std", "sample (n-1)").Put("tokens_per_s_mean", "all tokens by all time").Put("warmup", "passes that are warm-up are left out").Put("flop_per_multiply_add", 2)
	m.out.Put("basis", o)
	row, ok := m.judged()
	if !ok {
		return
	}
	need := func(key string, value any) { m.need(o, "basis.", key, value, "the query mfu does not know it") }
	need("time_basis", typeset.Optional(row.TimeBasis))
	need("precision", typeset.Optional(row.Precision))
	need("precision_origin", typeset.Optional(row.PrecisionOrigin))
	need("convention", typeset.Optional(row.Convention))
	if row.MLA != "" { // a model without latent attention has none
		o.Put("mla", row.MLA)
	}
	need("device_count", row.DeviceCount)
	need("peak_origin", typeset.Optional(row.PeakOrigin))
}
