// Package mark holds the Python helper of prof capture --auto-stages, which marks the stages of a model's inference without touching
// the program. It makes NVTX ranges for Nsight Systems, record_function ranges for the PyTorch profiler, and a file with the facts that a
// timeline does not hold (workload.json, read by ingest/workload). It imports nothing by itself, and a Python process that never loads
// PyTorch runs as without it.
//
// # How it gets into a process
//
// Write puts the helper into a folder. That folder goes first on PYTHONPATH, before what the user has there, and the variables of Env
// into the environment. Python then runs the folder's sitecustomize.py when it starts: it arms the helper and runs the sitecustomize
// that the environment would have had without it. Children of the workload inherit both. Python started with -S, -E or -I reads no
// sitecustomize or no PYTHONPATH: nothing is marked, and no facts are written.
//
// # What is marked
//
// In Hugging Face transformers every generate, with its prefill, decode and decode_step[k], and bare forwards with a cache; image
// encoders and projectors inside of a prefill as sam, clip, projector and vision. The details are in prof_mark/generation.py,
// prof_mark/calls.py and prof_mark/towers.py. Other engines say it themselves:
//
//	import prof_mark
//
//	prof_mark.model("/models/llama/config.json")
//	with prof_mark.warmup():
//	    engine.step(prompt)
//	with prof_mark.stage("prefill", tokens=681, batch=1, images=0):
//	    logits = engine.prefill(prompt)
//	with prof_mark.stage("decode", steps=16):
//	    for _ in range(16):
//	        logits = engine.step(logits)
//	prof_mark.facts(batch=1)
//
// and go through the inputs that prof capture --inputs gives, so that each pass is known by the input it worked on:
//
//	for item in prof_mark.inputs(default=["page.png"]):
//	    engine.step(item.path)
//
// Outside of prof these calls do nothing, and inputs gives the default. prof_mark/__init__.py documents them.
//
// # What it leaves
//
// The facts at Options.Facts, of the first process that ran a pass; other processes that ran some write beside it, NAME-PID.json. A
// process that loaded PyTorch and ran none writes facts without passes, where no other has written any. A process that is killed
// leaves what was known at the end of a prefill or generate, at most a second or so before; the last pass then does not tell its steps.
// Without PyTorch nothing is written. The object has a field marks, of which ingest/workload reads the versions and capture the process: pid, main (the workload's
// first Python process), rank and world_size of a process in a job, tensor_parallel where transformers splits the model over so many ranks, versions of python, torch, cuda and transformers, notes, and fault where an error of the helper ended the
// marking; the program went on all the same, and no passes are listed. With Options.Skip or Passes they are those that the profiler recorded. A pass whose counts are not known has a field why. Two more are for
// readers of the file, and ingest/workload passes them over: outputs of a pass are the sequences that generate returns, where beams make
// them fewer than batch, and decoding has the settings of generate, each with the values that it had.
//
// The times at Options.Times, of each process with its id behind the name: prof_mark/times.py says which clocks they are by. Nothing
// waits for the GPU to take them.
//
// The trace at Options.Trace, when the process ends by itself, by an error,
// by SIGINT or by SIGTERM; that takes seconds. What the helper has to say goes to the workload's stderr, in lines that begin with
// "prof_mark: ".
package mark

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"prof/internal/file"
)

//go:embed sitecustomize.py prof_mark/*.py
var helper embed.FS

// Options say what the helper does in a pass of the workload. Paths are absolute, since the workload may change its folder.
type Options struct {
	Facts    string // where the facts go; empty: they are not written
	Trace    string // where the trace of the PyTorch profiler goes, packed where it ends in .gz; empty: no profiler
	Times    string // stages are timed, and the times go to Times-PID.json, one file a process; empty: they are not
	Waits    bool   // stages end with a mark of how long their thread waited for a CPU
	Stack    bool   // the trace has the Python stack of each operator
	Flops    bool   // the trace has PyTorch's estimates of operations
	Memory   bool   // the trace has allocations
	Skip     int    // generations after warm-up that the profiler does not record
	Passes   int    // generations that it then records; 0: all
	ModelDir string // folder for a copy of the model's config.json, made when there is one; empty: no copy
	Warmup   int    // first generations that are warm-up: in a range warmup, and before the profiler starts
}

// Env returns the variables of the environment that turn the helper on, as NAME=VALUE. PYTHONPATH is not among them: the folder that
// Write made goes before the user's.
func Env(o Options) []string {
	env := []string{"PROF_MARK=1"}
	for _, v := range []struct{ name, value string }{
		{"PROF_MARK_FACTS", o.Facts}, {"PROF_MARK_TRACE", o.Trace}, {"PROF_MARK_TIMES", o.Times}, {"PROF_MARK_MODEL_DIR", o.ModelDir},
	} {
		if v.value != "" {
			env = append(env, v.name+"="+v.value)
		}
	}
	if o.Waits {
		env = append(env, "PROF_MARK_WAITS=1")
	}
	for _, v := range []struct {
		name string
		on   bool
	}{{"stack", o.Stack}, {"flops", o.Flops}, {"memory", o.Memory}} {
		if v.on && o.Trace != "" {
			env = append(env, "PROF_MARK_TRACE_"+strings.ToUpper(v.name)+"=1")
		}
	}
	for _, v := range []struct {
		name  string
		value int
		on    bool
	}{{"WARMUP", o.Warmup, true}, {"TRACE_SKIP", o.Skip, o.Trace != ""}, {"TRACE_PASSES", o.Passes, o.Trace != ""}} {
		if v.value > 0 && v.on {
			env = append(env, "PROF_MARK_"+v.name+"="+strconv.Itoa(v.value))
		}
	}
	return env
}

// Ncu is the rank of a job that runs under Nsight Compute, the others without it. Of Rank and Local one is set, or none where the tool runs the
// whole job.
type Ncu struct {
	Rank    string   // among all ranks
	Local   string   // among those on this machine
	Command []string // the tool and its arguments, which those of the rank's process follow
}

// IsRank reports whether one rank is chosen.
func (n Ncu) IsRank() bool { return n.Rank != "" || n.Local != "" }

// Name is the rank as users know it.
func (n Ncu) Name() string {
	if n.Rank != "" {
		return "rank " + n.Rank
	}
	return "local rank " + n.Local
}

// Env returns the variables by which a rank's Python starts itself under Nsight Compute, as NAME=VALUE. prof_mark/ncu.py does it in Python processes
// whose launcher sets RANK and LOCAL_RANK, or Open MPI's variables.
func (n Ncu) Env() (env []string) {
	if !n.IsRank() {
		return nil
	}
	command, _ := json.Marshal(n.Command) // of strings, which cannot fail
	env = append(env, "PROF_MARK_NCU="+string(command))
	if n.Rank != "" {
		env = append(env, "PROF_MARK_NCU_RANK="+n.Rank)
	}
	if n.Local != "" {
		env = append(env, "PROF_MARK_NCU_LOCAL_RANK="+n.Local)
	}
	return env
}

// Write writes the helper's files into a folder, which is made where there is none. Python adds a __pycache__ to it.
func Write(dir string) error {
	return fs.WalkDir(helper, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(dir, filepath.FromSlash(path))
		if d.IsDir() {
			return file.MakeDir(at)
		}
		text, err := helper.ReadFile(path)
		if err != nil {
			return err
		}
		if err := file.Write(at, text); err != nil {
			return fmt.Errorf("write the Python helper: %w", err)
		}
		return nil
	})
}
