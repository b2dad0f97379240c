package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/capture/mark"
	"prof/internal/file"
	"prof/schema/rundir"
)

// markSpec says what prof's Python helper is to do in a pass. Paths are below the run's folder; "" leaves it out.
type markSpec struct {
	stages bool   // mark prefill and decode, and tell of them
	facts  string // write what the passes worked on
	times  string // time the stages, into files whose names begin so
	trace  string // hold the PyTorch profiler
	model  string // copy the model's configuration into that folder
}

// timelineMark is what the helper does in a pass with a timeline. Facts about passes that the timeline has in part or not at all would give its
// passes the tokens of others.
func (s *Session) timelineMark(stem string) markSpec {
	m := markSpec{stages: s.o.AutoStages, facts: stem + ".facts.json", times: s.timesOf(stem), model: "model"}
	if s.o.needsProf() || s.o.Delay > 0 {
		m.facts = ""
	}
	return m
}

// markedEnv is the workload's environment with the helper in it, where it has anything to do.
func (s *Session) markedEnv(m markSpec, temp string) ([]string, error) {
	env := s.inputsEnv()
	marks := m.stages || m.trace != ""
	if !marks && s.o.InputsManifest == "" {
		return env, nil
	}
	dir := filepath.Join(temp, "mark")
	if err := mark.Write(dir); err != nil {
		return nil, fmt.Errorf("write the Python helper: %w", err)
	}
	t := s.o.TorchOptions
	o := mark.Options{Trace: s.below(m.trace), Stack: t.Stack, Flops: t.Flops, Memory: t.Memory}
	if m.stages { // else warm-up is told to the warehouse, which leaves it out of what was captured
		o.Facts, o.ModelDir, o.Warmup, o.Times = s.below(m.facts), s.below(m.model), s.o.Warmup, s.below(m.times)
	}
	path := dir
	if i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "PYTHONPATH=") }); i >= 0 {
		path += string(os.PathListSeparator) + strings.TrimPrefix(env[i], "PYTHONPATH=")
	}
	env = append(without(env, "PYTHONPATH"), "PYTHONPATH="+path)
	if !marks { // the workload may import it for its inputs
		return env, nil
	}
	return append(env, mark.Env(o)...), nil
}

// timesOf is where the helper times the stages of a pass under a tool. Without a pass that has none there is nothing to compare with, and
// nothing is timed.
func (s *Session) timesOf(stem string) string {
	if !s.o.Baseline {
		return ""
	}
	return stem + timesEnd
}

const timesEnd = ".times"

// noteTimes notes the files that the helper wrote its times into.
func (s *Session) noteTimes(p *rundir.Pass, m markSpec) {
	if !m.stages || m.times == "" {
		return
	}
	found, err := filepath.Glob(filepath.Join(escaped(s.dir), m.times+"-*.json"))
	if err != nil {
		s.warn(fmt.Sprintf("%s: its times of stages are unknown: %v", p.Name, err))
	}
	for _, f := range found {
		p.StageTimes = append(p.StageTimes, filepath.ToSlash(filepath.Join(filepath.Dir(m.times), filepath.Base(f))))
	}
}

// escaped is a path as a pattern that only the path itself matches.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func (s *Session) below(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Join(s.dir, path)
}

// chooseFacts keeps what the workload did in the last pass with a timeline that says it, as the facts about all of them: they are repeats of
// the same. Where they differ, there are none: the tokens of one would be taken for those of another.
func (s *Session) chooseFacts() error {
	var last []byte
	var was, folder string
	differ := false
	for _, p := range s.manifest.Passes {
		var stem string
		switch p.Tool {
		case rundir.ToolNsys:
			stem = fmt.Sprintf("nsys/report-%d", p.Repeat)
		case rundir.ToolProf:
			stem = fmt.Sprintf("prof/trace-%d", p.Repeat)
		default:
			continue
		}
		if folder == "" {
			folder = filepath.Dir(stem)
		}
		text, err := file.Read(s.below(stem+".facts.json"), maxFacts)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		now, err := worked(text)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		differ = differ || last != nil && now != was
		last, was = text, now
	}
	if last == nil {
		return nil
	}
	to := filepath.Join(s.dir, folder, "workload.json")
	if differ {
		s.warn("the repeats did not all do the same work, so their tokens are treated as unknown; --prefill, --decode and --model set them for all repeats")
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return file.Write(to, last)
}

// maxFacts bounds what a workload says of its passes, in bytes; the ingest reads no more.
const maxFacts = 64 << 20

// worked is what facts say of the passes, without what differs from process to process.
func worked(facts []byte) (string, error) {
	var f struct {
		Config json.RawMessage `json:"config"`
		Runs   json.RawMessage `json:"runs"`
	}
	if err := json.Unmarshal(facts, &f); err != nil {
		return "", fmt.Errorf("read the workload facts: %w", err)
	}
	return string(f.Config) + string(f.Runs), nil
}
