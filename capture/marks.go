package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/capture/mark"
	"prof/schema/rundir"
)

// markSpec says what prof's Python helper is to do in a pass. Paths are below the run's folder; "" leaves it out.
type markSpec struct {
	stages bool     // mark prefill and decode, and write facts about them
	facts  string   // write what the passes worked on
	times  string   // time the stages, into files whose names begin so
	trace  string   // hold the PyTorch profiler
	waits  bool     // mark how long stages waited for a CPU
	model  string   // copy the model's configuration into that folder
	ncu    mark.Ncu // start that rank under ncu
}

// timelineMark is what the helper does in a pass with a timeline. Facts about passes that the timeline has in part or not at all would give its
// passes the tokens of others.
func (s *Session) timelineMark(stem string) markSpec {
	m := markSpec{stages: s.o.AutoStages, facts: stem + ".facts.json", times: s.timesOf(stem), waits: true, model: "model"}
	if s.o.NeedsProf() || s.o.Delay > 0 {
		m.facts = ""
	}
	return m
}

// isAsked reports whether the helper has anything to do.
func (m markSpec) isAsked() bool { return m.stages || m.trace != "" }

// needsHelper reports whether the workload gets the helper: for its marks, to start a rank under ncu, or to import it for its inputs.
func (s *Session) needsHelper(m markSpec) bool {
	return m.isAsked() || m.ncu.IsRank() || s.o.InputsManifest != ""
}

// helperIn is where the helper lies in a temporary folder.
func helperIn(temp string) string { return filepath.Join(temp, "mark") }

// markedEnv is the workload's environment with the helper in it, where it has anything to do.
func (s *Session) markedEnv(m markSpec, temp string) []string {
	env := s.inputsEnv()
	if !s.needsHelper(m) {
		return env
	}
	t := s.o.TorchOptions
	o := mark.Options{Trace: s.below(m.trace), Stack: t.Stack, Flops: t.Flops, Memory: t.Memory, Skip: t.Skip, Passes: t.Passes}
	if m.stages { // else warm-up is told to the warehouse, which leaves it out of what was captured
		o.Facts, o.ModelDir, o.Warmup, o.Times, o.Waits = s.below(m.facts), s.below(m.model), s.o.Warmup, s.below(m.times), m.waits
	}
	path := helperIn(temp)
	if i := slices.IndexFunc(env, func(v string) bool { return strings.HasPrefix(v, "PYTHONPATH=") }); i >= 0 {
		path += string(os.PathListSeparator) + strings.TrimPrefix(env[i], "PYTHONPATH=")
	}
	env = append(without(env, "PYTHONPATH"), "PYTHONPATH="+path)
	env = append(env, m.ncu.Env()...)
	if !m.isAsked() { // the workload may import it for its inputs
		return env
	}
	return append(env, mark.Env(o)...)
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

// workloadInputs is inputs.json, which tells the workload what to work on.
type workloadInputs struct {
	Version int            `json:"version"`
	Inputs  []rundir.Input `json:"inputs"` // in the order of work, each as often as it is to be worked on
}

// inputsVariable names inputs.json in the workload's environment.
const inputsVariable = "PROF_INPUTS"

// writeWorkloadInputs writes inputs.json where the options have a manifest.
func (s *Session) writeWorkloadInputs(inputs []rundir.Input) error {
	if len(inputs) == 0 {
		return nil
	}
	list := workloadInputs{Version: 1}
	for range max(s.o.RepeatInputs, 1) {
		list.Inputs = append(list.Inputs, inputs...)
	}
	return rundir.WriteJSON(filepath.Join(s.dir, rundir.WorkloadInputsName), list)
}

// inputsEnv is what the workload's environment has of its inputs; an inherited variable is that of a capture around this one.
func (s *Session) inputsEnv() []string {
	env := without(s.setup.Environ, inputsVariable)
	if s.o.InputsManifest == "" {
		return env
	}
	return append(env, inputsVariable+"="+s.below(rundir.WorkloadInputsName))
}
