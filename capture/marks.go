package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/capture/mark"
	"prof/schema"
)

// markSpec says what prof's Python helper is to do in a pass. Paths are below the run's folder; "" leaves it out.
type markSpec struct {
	stages bool   // mark prefill and decode, and tell of them
	facts  string // write what the passes worked on
	trace  string // hold the PyTorch profiler
	model  string // copy the model's configuration into that folder
}

// markedEnv is the workload's environment with the helper in it, where it has anything to do.
func (s *Session) markedEnv(m markSpec, temp string) ([]string, error) {
	env := s.setup.Environ
	if !m.stages && m.trace == "" {
		return env, nil
	}
	dir := filepath.Join(temp, "mark")
	if err := mark.Write(dir); err != nil {
		return nil, fmt.Errorf("write the Python helper: %w", err)
	}
	o := mark.Options{Trace: s.below(m.trace), Warmup: s.o.Warmup}
	if m.stages {
		o.Facts, o.ModelDir = s.below(m.facts), s.below(m.model)
	}
	path := dir
	if i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "PYTHONPATH=") }); i >= 0 {
		path += string(os.PathListSeparator) + strings.TrimPrefix(env[i], "PYTHONPATH=")
	}
	return append(append(without(env, "PYTHONPATH"), "PYTHONPATH="+path), mark.Env(o)...), nil
}

func (s *Session) below(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Join(s.dir, path)
}

// chooseFacts keeps what the workload did in the last pass under nsys that tells, as the facts about all of them: they are repeats of
// the same. Where they differ, the user should know.
func (s *Session) chooseFacts() error {
	var last []byte
	differ := false
	for _, p := range s.manifest.Passes {
		if p.Tool != schema.ToolNsys {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.dir, fmt.Sprintf("nsys/report-%d.facts.json", p.Repeat)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		differ = differ || last != nil && string(last) != string(text)
		last = text
	}
	if last == nil {
		return nil
	}
	if differ {
		s.warn("the repeats did not all work on the same: what the last one says of its passes is taken for all of them")
	}
	return schema.WriteWhole(filepath.Join(s.dir, "nsys", "workload.json"), last)
}
