// Package plan is what the user asks of a capture: options, config.yaml, suites, inputs, the node of a job; and what of it cannot be.
package plan

import (
	"time"
)

// Modes of a capture.
const (
	ModeLight  = "light"  // prof's own tracer with what costs least, or where it cannot be built, nsys
	ModeDeep   = "deep"   // prof's own tracer with each kernel of CUDA graphs, or where it cannot be built, nsys; then ncu on the kernels that take the most time
	ModeCustom = "custom" // the tools were named
)

// Options say what to run and how. The names in yaml are those of config.yaml, and with - for _ those of the command line.
type Options struct {
	Mode         string       `yaml:"mode"`
	Tools        []string     `yaml:"tools,omitempty"` // nsys, prof, ncu, torch; empty: what the mode says
	Torch        bool         `yaml:"torch"`           // a pass under the PyTorch profiler too
	TorchOptions TorchOptions `yaml:"torch_options"`
	Repeats      int          `yaml:"repeats"`  // passes with a timeline, and without a tool; NsysRepeats of those under nsys
	Baseline     bool         `yaml:"baseline"` // passes without a tool first

	Nsys NsysOptions `yaml:"nsys"`
	Ncu  NcuOptions  `yaml:"ncu"`

	Range       string        `yaml:"range,omitempty"` // only this range, as RANGE or RANGE@DOMAIN, \@ for a plain @; empty: all
	ProfilerAPI bool          `yaml:"profiler_api"`    // only between cudaProfilerStart and cudaProfilerStop
	After       int           `yaml:"after"`           // from the instance after so many of Range; prof's tracer alone
	Window      int           `yaml:"window"`          // and for so many instances; 0: to the end; prof's tracer alone
	Paused      bool          `yaml:"paused"`          // only while prof mark has switched it on; prof's tracer alone
	Delay       time.Duration `yaml:"delay"`           // the timeline begins so long after the start
	Duration    time.Duration `yaml:"duration"`        // and collects for so long; then the workload is stopped. 0: to its end

	Serving ServingOptions `yaml:"serving"`

	AutoStages bool `yaml:"auto_stages"` // mark stages of Hugging Face models by prof's helper
	Warmup     int  `yaml:"warmup"`      // first generations of the workload that are warm-up; only with the helper

	Inputs           []string      `yaml:"inputs,omitempty"`          // files whose size and hash are kept
	InputsManifest   string        `yaml:"inputs_manifest,omitempty"` // list of inputs, see ReadManifest; --inputs
	Subset           string        `yaml:"subset,omitempty"`          // list of the inputs to use of it; empty: all
	RepeatInputs     int           `yaml:"repeat_inputs"`             // how often the workload is to go through them
	Keep             []string      `yaml:"keep,omitempty"`            // patterns of files below the working folder that are kept where the workload writes them
	SampleHz         float64       `yaml:"sample_hz"`                 // NVML samples a second; 0: none
	NoLog            bool          `yaml:"no_log"`                    // keep no log of what the workload writes, which then writes to prof's own stdout and stderr
	MaxArtifactBytes int64         `yaml:"max_artifact_bytes"`
	Budget           time.Duration `yaml:"budget"`         // of all passes together; 0: any. See Session.leftOut
	Timeout          time.Duration `yaml:"timeout"`        // of one pass
	Stall            time.Duration `yaml:"stall"`          // a pass under ncu whose log does not grow for so long is ended; 0: never. See stall
	ReportTimeout    time.Duration `yaml:"report_timeout"` // from the end of the workload to that of its tool
	Grace            time.Duration `yaml:"grace"`          // from a signal that asks the workload to end to a stronger one
}

// NsysOptions are those of nsys profile.
type NsysOptions struct {
	Trace      []string `yaml:"trace,omitempty"`       // APIs; empty: what the mode says
	GraphTrace string   `yaml:"graph_trace,omitempty"` // node or graph; empty: what the mode says
	Args       []string `yaml:"args,omitempty"`        // more arguments, last
	Memory     bool     `yaml:"memory"`                // record what the workload allocates by CUDA
	Stack      bool     `yaml:"stack"`                 // the Python stack of each CUDA call that nsys can have
	KeepReport bool     `yaml:"keep_report"`           // keep the .nsys-rep beside its export; it holds the workload's environment
}

// TorchOptions are those of the PyTorch profiler: what it records, each of which makes the workload slower, and when.
type TorchOptions struct {
	Stack  bool `yaml:"stack"`  // the Python stack of each operator
	Flops  bool `yaml:"flops"`  // PyTorch's estimate of operations, of the operators that it has one for
	Memory bool `yaml:"memory"` // allocations, and operators of the main thread only
	Skip   int  `yaml:"skip"`   // generations after warm-up that are not recorded
	Passes int  `yaml:"passes"` // generations that are recorded then; 0: all
}

// NcuOptions are those of ncu.
type NcuOptions struct {
	Top          int      `yaml:"top"`                // kernels to profile, by their time in the timeline
	Launches     int      `yaml:"launches"`           // launches of each kernel: of its stages and grids that take the most time
	Preset       string   `yaml:"preset"`             // roofline, memory or full
	Set          string   `yaml:"set,omitempty"`      // ncu's section set in place of the preset
	Sections     []string `yaml:"sections,omitempty"` // sections in place of the preset
	Metrics      []string `yaml:"metrics,omitempty"`  // metrics beside them
	Source       bool     `yaml:"source"`             // measure single instructions too, and keep the texts of source files in the report
	Kernels      string   `yaml:"kernels,omitempty"`  // regular expression of function names in place of the top ones
	LaunchSkip   int      `yaml:"launch_skip"`        // with Kernels: launches to skip before the first
	LaunchCount  int      `yaml:"launch_count"`       // with Kernels: launches to profile; 0: all
	Rank         string   `yaml:"rank,omitempty"`     // with Kernels or ranges: the rank of a job to profile, or AllRanks; empty: the first on the machine where a known launcher begins ranks
	Replay       string   `yaml:"replay"`             // kernel, range, app-range or application
	ClockControl string   `yaml:"clock_control"`      // none or base
	Args         []string `yaml:"args,omitempty"`     // more arguments, last
}

// AllRanks is the value of NcuOptions.Rank for every rank of a job.
const AllRanks = "all"

// ServingOptions say how a serving engine is recorded under load: by prof's own tracer, for one window.
type ServingOptions struct {
	On            bool          `yaml:"on"`                    // the workload is an engine, which serves until it is ended
	Ready         string        `yaml:"ready,omitempty"`       // URL that answers 2xx once the engine serves; empty: it does already
	ReadyTimeout  time.Duration `yaml:"ready_timeout"`         // from the start of the engine to that answer
	Load          string        `yaml:"load,omitempty"`        // command line of the load generator, for the shell; empty: others send requests
	LoadResult    []string      `yaml:"load_result,omitempty"` // patterns of its result files; empty: JSON that it writes below the working folder and prof reads
	LoadTimeout   time.Duration `yaml:"load_timeout"`          // from the end of the window to that of the load generator, which writes its result last
	Window        time.Duration `yaml:"window"`                // that is recorded
	Warm          time.Duration `yaml:"warm"`                  // under load before the window, at least
	SteadyTimeout time.Duration `yaml:"steady_timeout"`        // under load before the window, at most: then it is recorded whether the load is steady or not
}

// Defaults returns the options that hold where nothing else is said.
func Defaults() Options {
	return Options{
		Mode: ModeDeep, Repeats: 1,
		Ncu:              NcuOptions{Top: 10, Launches: 1, Preset: "roofline", Replay: "kernel", ClockControl: "none"},
		Serving:          ServingOptions{ReadyTimeout: 20 * time.Minute, LoadTimeout: 10 * time.Minute, Window: 20 * time.Second, Warm: 5 * time.Second, SteadyTimeout: time.Minute},
		RepeatInputs:     1,
		SampleHz:         10,
		MaxArtifactBytes: 2 << 30,
		Timeout:          30 * time.Minute,
		Stall:            2 * time.Minute,
		ReportTimeout:    10 * time.Minute,
		Grace:            10 * time.Second,
	}
}

// With returns the default options after a change.
func With(change func(*Options)) Options {
	o := Defaults()
	change(&o)
	return o
}
