package report

import (
	"slices"
	"strconv"
	"strings"

	"prof/queries/caveat"
	"prof/queries/judge"
	"prof/render/typeset"
)

// mfuColumns are the columns of the query mfu that metrics.json shows.
var mfuColumns = []string{"stage", "flop", "time_basis", "time_ns", "peak_flop_per_s", "mfu_ratio", "mbu_ratio", "precision", "precision_origin", "convention", "mla", "peak_origin",
	"device_count", "part_of", "is_least", "fault"}

func (m *metrics) mfuRows() (map[string]answered, []answered) {
	rows := m.rows("mfu", mfuColumns...)
	of := map[string]answered{}
	for _, row := range rows {
		of[row.Text("stage")] = row
	}
	return of, rows
}

// perStage puts a utilisation of the model's whole, and of its stages: prefill, decode and vision always, others as the run has them.
func (m *metrics) perStage(name, column string, lacks func(answered) string) {
	of, rows := m.mfuRows()
	order := []string{"prefill", "decode", "vision"}
	for _, row := range rows {
		if s := row.Text("stage"); s != "model" && !slices.Contains(order, s) {
			order = append(order, s)
		}
	}
	level := func(o *typeset.Object, path, key, stage string) {
		row, ok := of[stage]
		if !ok {
			m.need(o, path, key, nil, m.lackOfStage(stage))
			return
		}
		m.need(o, path, key, row.value(column), lacks(row))
		if fault := faultOf(row, name, column); fault != "" {
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
func faultOf(row answered, name, column string) string {
	over := name + "-over-1"
	if share, known := row.Finite(column); known && (share > 1 || row.Text("fault") == over) {
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
	m.perStage("mfu", "mfu_ratio", func(row answered) string {
		why := unknown(row, "flop", "time_ns", "peak_flop_per_s")
		if peak := m.lackOfPeak(row, underPeaks); peak != "" && row.value("flop") != nil {
			why = peak
		}
		if row.value("flop") == nil && !m.has("models") {
			why = noModelGiven + "; " + why
		}
		return why
	})
}

// noModelGiven says what a run without a model lacks.
const noModelGiven = "the run has no model: ingest its configuration with --model"

// bandwidth is what part of the memory's peak bandwidth must have been used.
func (m *metrics) bandwidth() {
	rows := m.rows("mbu", "stage", "weight_bytes", "kv_bytes", "time_ns", "peak_bytes_per_s", "fault")
	m.perStage("mbu", "mbu_ratio", func(row answered) string {
		for _, b := range rows {
			if b.Text("stage") == row.Text("stage") {
				return unknown(b, "weight_bytes", "kv_bytes", "time_ns", "peak_bytes_per_s")
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
	rows := m.rows("models", "name", "family", "is_counted", "hidden_size", "layer_count", "vocab_size", "parameter_count", "active_parameter_count")
	o := new(typeset.Object)
	at := slices.IndexFunc(rows, func(r answered) bool { return r.Is("is_counted") })
	if at < 0 {
		for _, key := range []string{"d_model", "d_ff", "n_layers"} {
			m.need(o, "model_dims.", key, nil, noModelGiven)
		}
		m.out.Put("model_dims", o)
		return
	}
	row := rows[at]
	hidden, _ := row.value("hidden_size").(int64)
	ff, expert := feedForward(m.Static, hidden)
	m.need(o, "model_dims.", "d_model", row.value("hidden_size"), "the model has no decoder")
	m.need(o, "model_dims.", "d_ff", ff, "the model has no layer with one dense MLP, or several of different widths")
	m.need(o, "model_dims.", "n_layers", row.value("layer_count"), "the model has no decoder")
	if expert != nil {
		o.Put("d_ff_expert", expert)
	}
	for _, c := range []string{"name", "family", "vocab_size", "parameter_count", "active_parameter_count"} {
		o.Put(c, row.value(c))
	}
	m.out.Put("model_dims", o)
}

// feedForward returns the inner widths of the decoder's dense MLP and of one routed expert: the inputs of the matrix that leads back to the
// hidden size. nil is none, or several.
func feedForward(s *judge.Static, hidden int64) (dense, expert any) {
	if s == nil || s.Groups == nil {
		return nil, nil
	}
	one := func(prefix string) any {
		found := map[int64]bool{}
		for _, g := range objects(s.Groups) {
			component, _ := g["component"].(string)
			shape, _ := g["shape"].(string)
			in, outputs, ok := matrix(shape)
			if ok && g["part"] == "decoder" && g["kind"] == "linear" && strings.HasPrefix(component, prefix) && outputs == hidden {
				found[in] = true
			}
		}
		if len(found) != 1 {
			return nil
		}
		for width := range found {
			return width
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
func (m *metrics) judged() (row answered, ok bool) {
	of, rows := m.mfuRows()
	if len(rows) == 0 {
		return answered{}, false
	}
	if row, ok := of["model"]; ok {
		return row, true
	}
	if at := slices.IndexFunc(rows, func(r answered) bool { return r.value("peak_flop_per_s") != nil }); at >= 0 {
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
	if why == "" && row.value("peak_flop_per_s") == nil {
		why = m.lackOfTable()
	}
	m.need(m.out, "", "peak_tflops", row.per("peak_flop_per_s", 1e12), why)
}

// underPeaks is where metrics.json has the peak of one GPU.
const underPeaks = "under peaks_of_one_gpu"

// lackOfPeak says why the peak of the GPUs of a pass, in a row of mfu, is not known though that of one GPU is; "" where it is another
// matter. where is the place of the peak of one GPU.
func (r *reader) lackOfPeak(row answered, where string) string {
	one := slices.ContainsFunc(r.rows("peaks", "peak_flop_per_s"), func(p answered) bool { return p.value("peak_flop_per_s") != nil })
	switch {
	case row.value("peak_flop_per_s") != nil || !one:
		return ""
	case row.value("device_count") == int64(0):
		return "no measured pass has work on a GPU in the capture; the peak of one GPU is " + where
	case row.value("precision") == nil:
		return "the precision is not known; peaks of one GPU by precision: prof query peaks"
	case row.value("peak_origin") == nil:
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
	for _, c := range []string{"time_basis", "precision", "precision_origin", "convention", "mla", "device_count", "peak_origin"} {
		if value := row.value(c); c != "mla" || value != nil { // a model without latent attention has none
			m.need(o, "basis.", c, value, "the query mfu does not know it")
		}
	}
}
