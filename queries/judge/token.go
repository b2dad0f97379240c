package judge

import (
	"slices"

	"prof/queries/frame"
	"prof/queries/judge/serving"
)

// TokenTime is what decode takes for each output token of a sequence: for each step, which makes one token for every sequence of its batch.
// All passes count alike, so that a long one is no more than one of them.
type TokenTime struct {
	Ns      float64  // median over the measured passes of the GPU span for each step
	AloneNs *float64 // the same without a profiler; nil where it was not measured, or passes have different numbers of steps
	BusyNs  *float64 // median of the time for each step in which the GPU works; nil where several GPUs do
	RoofNs  *float64 // what a step would take if it read its weights and KV cache at peak bandwidth and did nothing else, mean; nil when not known
	Kernels *float64 // median number of kernels for each step; nil when not known of a pass
}

// tokenRow is what passes says of steps.
type tokenRow struct {
	passRow
	TokenTimeNs *float64 `col:"token_time_ns"`
	Steps       *int64   `col:"decode_count"` // per sequence
	KernelCount *int64   `col:"kernel_count"`
}

var tokenRows = frame.RowsOf[tokenRow]("passes")

// passSteps is a pass by its steps.
type passSteps struct {
	span, busy float64 // ns
	steps      float64
	kernels    *int64
}

// tokenOf returns the time per token of a stage; nil where a measured pass does not say how many steps it has, or decodes nothing.
func (s *summariser) tokenOf(stage StageSummary) (*TokenTime, error) {
	rows, err := read(s, tokenRows)
	if err != nil {
		return nil, err
	}
	var list []passSteps
	for _, r := range rows {
		if r.Stage != stage.Stage || r.IsWarmup || r.GPUSpanNs == nil || *r.GPUSpanNs <= 0 || r.GPUBusyNs == nil {
			continue
		}
		if r.TokenTimeNs == nil || r.Steps == nil {
			return nil, nil
		}
		list = append(list, passSteps{*r.GPUSpanNs, *r.GPUBusyNs, float64(*r.Steps), r.KernelCount})
	}
	if len(list) == 0 {
		return nil, nil
	}
	t := &TokenTime{Ns: medianOf(list, func(p passSteps) float64 { return p.span / p.steps })}
	if stage.GPUs == 1 {
		t.BusyNs = new(medianOf(list, func(p passSteps) float64 { return p.busy / p.steps }))
	}
	if !slices.ContainsFunc(list, func(p passSteps) bool { return p.kernels == nil }) {
		t.Kernels = new(medianOf(list, func(p passSteps) float64 { return float64(*p.kernels) / p.steps }))
	}
	steps := list[0].steps
	if slices.ContainsFunc(list, func(p passSteps) bool { return p.steps != steps }) {
		return t, nil
	}
	if alone := stage.Alone.MedianNs; alone != nil {
		t.AloneNs = new(*alone / steps)
	}
	if mbu := usable(stage.MBU); mbu != nil && !stage.IsLeast {
		t.RoofNs = new(*mbu * stage.MeanNs / steps)
	}
	return t, nil
}

// medianOf is the median of what passes have.
func medianOf(list []passSteps, of func(passSteps) float64) float64 {
	values := make([]float64, len(list))
	for i, p := range list {
		values[i] = of(p)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// TokenStage is the stage whose time per token is known, that with the most measured time; nil when there is none.
func (s Summary) TokenStage() *StageSummary {
	for i := range s.Stages { // by time
		if s.Stages[i].Token != nil {
			return &s.Stages[i]
		}
	}
	return nil
}

// FindingOf returns what a rule found in a stage; nil when it found nothing there.
func (s Summary) FindingOf(id, stage string) *Finding {
	at := slices.IndexFunc(s.Findings, func(f Finding) bool { return f.ID == id && f.Stage == stage })
	if at < 0 {
		return nil
	}
	return &s.Findings[at]
}

// readServed reads what a token took of an engine under load.
func (s *summariser) readServed() error {
	list, err := read(s, serving.Causes)
	s.out.Served = serving.TokenOf(list)
	return err
}
