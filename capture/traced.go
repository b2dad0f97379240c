package capture

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"prof/capture/tracer"
	"prof/internal/file"
	"prof/schema/rundir"
)

//go:embed cupti_places.py
var cuptiPlaces string

// placesMark begins the line that cuptiPlaces prints.
const placesMark = "prof-cupti-places "

// toolkits are folders of the CUDA toolkit, as patterns.
var toolkits = []string{"/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda"}

// buildTracer builds prof's own tracer for a workload: against the CUPTI of its Python, or else that of a CUDA toolkit.
func (m Machine) buildTracer(ctx context.Context, argv []string, dir string) (tracer.Library, error) {
	p := m.cuptiOfPython(ctx, argv, dir)
	folders, patterns := []string{}, toolkits
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH"} {
		if v := m.Getenv(name); v != "" {
			folders = append(folders, v)
		}
	}
	if len(folders) > 0 { // as the user wants it
		patterns = nil
	}
	for _, pattern := range patterns {
		found, err := m.Glob(pattern)
		if err != nil { // only a malformed pattern is one
			panic(err)
		}
		folders = append(folders, found...)
	}
	for _, f := range folders {
		p.Includes = append(p.Includes, filepath.Join(f, "include"), filepath.Join(f, "extras", "CUPTI", "include"))
		for _, pattern := range []string{"lib64/libcupti.so", "extras/CUPTI/lib64/libcupti.so", "targets/*/lib/libcupti.so"} {
			found, err := m.Glob(filepath.Join(f, pattern))
			if err != nil {
				panic(err)
			}
			p.Libraries = append(p.Libraries, found...)
		}
	}
	for _, name := range []string{m.Getenv("CC"), "cc", "gcc", "clang"} {
		if name == "" {
			continue
		}
		if path, err := m.LookPath(name); err == nil {
			p.Compilers = append(p.Compilers, path)
			break
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil { // a user without a home
		cache = os.TempDir()
	}
	p.Cache = filepath.Join(cache, "prof")
	return m.Build(ctx, p)
}

// cuptiOfPython asks the interpreter of a workload where the wheels of PyTorch and Triton keep CUPTI. Without such an interpreter there is none.
func (m Machine) cuptiOfPython(ctx context.Context, argv []string, dir string) (p tracer.Places) {
	path, _, err := m.findPython(argv, dir)
	if err != nil {
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, pythonTimeout)
	defer cancel()
	out, err := m.Run(ctx, Command{Argv: []string{path, "-c", cuptiPlaces}, Env: ToolEnv(m.Environ), Dir: dir})
	if err != nil {
		return p
	}
	for line := range strings.Lines(string(out.Stdout)) {
		if text, ok := strings.CutPrefix(line, placesMark); ok && json.Unmarshal([]byte(text), &p) != nil {
			return tracer.Places{}
		}
	}
	return p
}

// findTracer builds the tracer.
func (s *Session) findTracer(ctx context.Context) tool {
	lib, err := s.m.buildTracer(ctx, s.setup.Argv, s.setup.Dir)
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
			return file.Write(s.below(stem+switchExt), []byte("off\n"))
		},
		env: func() ([]string, error) {
			now, err := monotonic()
			return s.tracer.Env(tracer.Options{Dir: s.below(stem), GraphNodes: s.o.tracesGraphNodes(), Base: now, Window: s.window(stem)}), err
		},
		mark: s.timelineMark(stem),
		keep: func(p *rundir.Pass, _ *launcher) {
			if err := s.removeSwitch(stem); err != nil {
				s.warn(err.Error())
			}
			traces, err := filepath.Glob(filepath.Join(s.below(stem), "*.proftrace"))
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
