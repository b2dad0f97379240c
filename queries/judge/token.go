package judge

import (
	"slices"

	"prof/queries/judge/serving"
	"prof/queries/judge/stats"
)

// TokenTime is what decode takes for each output token of a sequence: for each step, which makes one token for every sequence of its batch.
// All passes count alike, so that a long one is no more than one of them.
type TokenTime struct {
	Ns      float64  // median over the measured passes of the GPU span for each step
	AloneNs *float64 // the same without a profiler; nil where it was not measured, or passes have different numbers of steps
	BusyNs  *float64 // how much of Ns the GPU works, as of the median pass; nil where several GPUs do
	RoofNs  *float64 // what a step would take if it read its weights and KV cache at peak bandwidth and did nothing else; nil when not known
	Kernels *float64 // median number of kernels for each step; nil when not known of a pass
}

// tokenOf returns the time per token of a stage; nil where a measured pass does not say how many steps it has, or decodes nothing.
func (s *summariser) tokenOf(stage StageSummary) *TokenTime {
	list := s.passes[stage.Stage]
	if len(list) == 0 || slices.ContainsFunc(list, func(p passTime) bool { return p.steps == 0 }) {
		return nil
	}
	perStep := func(of func(passTime) float64) float64 {
		var values []float64
		for _, p := range list {
			values = append(values, of(p)/p.steps)
		}
		return stats.Centre(values)
	}
	t := &TokenTime{Ns: perStep(func(p passTime) float64 { return p.span })}
	if stage.GPUs == 1 && stage.BusyRatio != nil {
		t.BusyNs = new(*stage.BusyRatio * t.Ns)
	}
	if !slices.ContainsFunc(list, func(p passTime) bool { return p.kernels == nil }) {
		t.Kernels = new(perStep(func(p passTime) float64 { return float64(*p.kernels) }))
	}
	steps := list[0].steps
	if slices.ContainsFunc(list, func(p passTime) bool { return p.steps != steps }) {
		return t
	}
	if alone := stage.Alone.MedianNs; alone != nil {
		t.AloneNs = new(*alone / steps)
	}
	if mbu := usable(stage.MBU); mbu != nil && !stage.IsLeast {
		t.RoofNs = new(*mbu * stage.MedianNs / steps)
	}
	return t
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

// readServed reads what a token took of an engine under load, and what load generators measured.
func (s *summariser) readServed() error {
	list, err := read(s, serving.Causes)
	if err != nil {
		return err
	}
	s.out.Served = serving.TokenOf(list)
	benchmarks, err := read(s, serving.Benchmarks)
	if err != nil {
		return err
	}
	times, err := read(s, serving.Latencies)
	s.out.Benchmarks = serving.MeasuredOf(benchmarks, times)
	return err
}
