package capture

import (
	"context"
	"fmt"

	"prof/capture/machine"
	"prof/capture/nvml"
	"prof/schema/rundir"
)

// sample begins to sample the GPUs while a pass runs; nil where there is nothing to sample.
func (s *Session) sample(ctx context.Context, spec passSpec, p *rundir.Pass, tool int) *nvml.Sampler {
	if s.nvml == nil || s.o.SampleHz == 0 {
		return nil
	}
	p.Samples = spec.stem + ".samples.csv"
	from := s.nvml
	if visible, known := nvml.VisibleDevices(s.manifest.Devices, s.foundEnviron()); known { // what others do on other GPUs is not this run's
		from = nvml.OnlyDevices(from, visible)
	}
	return nvml.StartSampler(ctx, from, s.o.SampleHz, s.below(p.Samples), machine.Descendant(tool))
}

func (s *Session) endSampling(sampler *nvml.Sampler, p *rundir.Pass) {
	if sampler == nil {
		return
	}
	n, err := sampler.Stop()
	if err != nil {
		s.warn(fmt.Sprintf("%s: NVML samples: %v", p.Name, err))
	}
	if n == 0 {
		p.Samples = ""
	}
	for _, f := range sampler.Findings() {
		s.warn(p.Name + ": " + f)
	}
}
