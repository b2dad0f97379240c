package capture

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"prof/capture/machine"
	"prof/capture/tracer"
	"prof/internal/file"
	"prof/schema/rundir"
)

// findTracer builds the tracer.
func (s *Session) findTracer(ctx context.Context) tool {
	lib, err := s.m.BuildTracer(ctx, s.setup.Argv, s.setup.Dir)
	if err != nil {
		return tool{missing: err}
	}
	s.tracer = lib
	return tool{path: lib.Path, version: tracer.Version}
}

// traced is a pass under prof's own tracer.
func (s *Session) traced(n int) passSpec {
	stem := fmt.Sprintf("prof/trace-%d", n)
	return passSpec{tool: rundir.ToolProf, repeat: n, stem: stem,
		ready: func() error {
			if err := file.MakeDir(s.below(stem)); err != nil || !s.o.Paused {
				return err
			}
			s.talk("recording is paused: `prof mark start` begins it, `prof mark stop` pauses it again")
			return tracer.Set(s.below(stem+switchExt), tracer.SwitchOff)
		},
		env: func() ([]string, error) {
			now, err := machine.Monotonic()
			return s.tracer.Env(tracer.Options{Dir: s.below(stem), GraphNodes: s.o.TracesGraphNodes(), Base: now, Window: s.window(stem)}), err
		},
		mark: s.timelineMark(stem),
		keep: func(p *rundir.Pass, _ *launcher) {
			if err := s.removeSwitch(stem); err != nil {
				s.warn(err.Error())
			}
			traces, err := tracer.Traces(s.below(stem))
			if err != nil || len(traces) == 0 {
				p.Reason = errors.Join(errors.New("no process of the workload loaded CUDA or NVTX: nothing was traced"), err).Error()
				return
			}
			p.Artifacts = append(p.Artifacts, stem)
			if err := s.chooseFacts(); err != nil {
				s.warn(fmt.Sprintf("%s: the workload's facts about its passes are unknown: %v", p.Name, err))
			}
		},
	}
}
