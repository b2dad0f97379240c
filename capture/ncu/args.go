// Package ncu has the command line of Nsight Compute, and says which launches it profiles.
package ncu

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"prof/capture/envvar"
	"prof/capture/mark"
	"prof/capture/plan"
)

// measurement is what ncu measures of each launch.
type measurement struct {
	set      string
	sections []string
	metrics  []string
}

// presets are what prof's queries need, no more: each section costs more replays of every launch.
//
// roofline serves bottlenecks (throughputs and their breakdowns, occupancy, waves, stalls of warps), roofline and kernel-efficiency
// (operations of each precision with their peaks, among them those of tensor cores by type, and DRAM traffic). Of the metrics that
// kernel-sol shows, DRAM reads apart from writes are in none of its sections.
func presets() map[string]measurement {
	return map[string]measurement{
		plan.PresetRoofline: {
			set:      "roofline",
			sections: []string{"ComputeWorkloadAnalysis", "LaunchStats", "MemoryWorkloadAnalysis", "Occupancy", "SchedulerStats", "WarpStateStats"},
			metrics:  []string{"dram__bytes_read.sum", "dram__bytes_write.sum"},
		},
		plan.PresetMemory: {
			sections: []string{"SpeedOfLight", "MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Chart", "MemoryWorkloadAnalysis_Tables", "LaunchStats", "Occupancy",
				"SchedulerStats", "WarpStateStats"},
		},
		plan.PresetFull: {set: "full"},
	}
}

// Args are the arguments of ncu, without the program itself, that profile a target's launches of the application app (its program and
// arguments) into the report out, whose extension ncu adds, with ncu's own talk in the file log. With Kernels, and where whole
// ranges are replayed, launches do not count. With neither launches nor Kernels every launch is profiled.
func Args(o plan.Options, target Target, out, log string, app []string) []string {
	args := []string{
		"--target-processes", "all", "--force-overwrite", "--export", plan.EscapeMacros(out), "--log-file", log,
		"--nvtx", "--clock-control", o.Ncu.ClockControl, "--replay-mode", o.Ncu.Replay,
	}
	if target.Device != nil { // replays on several GPUs would take turns, while their ranks wait for each other
		args = append(args, "--devices", strconv.FormatInt(*target.Device, 10))
	}
	if target.Graphs {
		args = append(args, graphArgs(o)...)
	} else {
		args = append(args, kernelArgs(o, target)...)
	}
	if Kills(o, target) {
		args = append(args, killOption, "yes")
	}
	args = append(args, rangeArgs(o)...)
	args = append(args, measured(o).args()...)
	if o.Ncu.Source {
		args = append(args, "--import-source", "yes")
	}
	args = append(args, o.Ncu.Args...)
	return append(args, app...)
}

// Rank is the rank that runs under ncu: that of a target of several ranks, or the one whose place is that of its GPU. Without such a target
// it is the one asked for, or the first on the machine where the workload's command line begins ranks, be it one. Else ncu runs the whole
// workload, and also where prof itself runs in a rank.
func Rank(o plan.Options, target Target, argv, environ []string) mark.Ncu {
	for _, name := range []string{"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"} {
		if _, is := envvar.Lookup(environ, name); is {
			return mark.Ncu{}
		}
	}
	switch {
	case target.Rank != nil:
		return mark.Ncu{Rank: strconv.FormatInt(*target.Rank, 10)}
	case target.Local != nil:
		return mark.Ncu{Local: strconv.FormatInt(*target.Local, 10)}
	case o.Ncu.Rank == plan.AllRanks:
		return mark.Ncu{}
	case o.Ncu.Rank != "":
		return mark.Ncu{Rank: o.Ncu.Rank}
	case BeginsRanks(argv):
		return mark.Ncu{Local: "0"}
	}
	return mark.Ncu{}
}

// BeginsRanks reports whether a command line has, before its script, one of the launchers that give each process its local rank, also where there is one.
func BeginsRanks(argv []string) bool {
	if script := slices.IndexFunc(argv, func(word string) bool { return strings.HasSuffix(word, ".py") }); script >= 0 {
		argv = argv[:script]
	}
	return slices.ContainsFunc(argv, func(word string) bool {
		return slices.Contains([]string{"torchrun", "deepspeed", "mpirun", "mpiexec", "orterun", "torch.distributed.run", "torch.distributed.launch"}, filepath.Base(word))
	})
}

// kernelArgs returns which launches are profiled.
func kernelArgs(o plan.Options, target Target) []string {
	var args []string
	switch {
	case o.ReplaysRanges():
	case o.Ncu.Kernels != "":
		args = append(args, "--kernel-name-base", "function", "--kernel-name", "regex:"+strings.TrimPrefix(o.Ncu.Kernels, "regex:"))
	case len(target.Launches) > 0:
		args = []string{"--kernel-name-base", "mangled", "--kernel-id", kernelID(target.Launches)}
		if target.Skip > 0 { // --launch-skip is refused beside --kernel-id (2025.3.1); with this the numbers count from there
			args = append(args, "--launch-skip-before-match", strconv.FormatInt(target.Skip, 10))
		}
		if count := matches(target.Launches); count > 0 { // after so many the workload runs on nearly as by itself
			args = append(args, "--launch-count", strconv.Itoa(count))
		}
		return args
	default:
		return nil
	}
	if o.Ncu.LaunchSkip > 0 {
		args = append(args, "--launch-skip", strconv.Itoa(o.Ncu.LaunchSkip))
	}
	if o.Ncu.LaunchCount > 0 {
		args = append(args, "--launch-count", strconv.Itoa(o.Ncu.LaunchCount))
	}
	return args
}

// graphProfiling is ncu's option that says whether graphs are profiled as wholes.
const graphProfiling = "--graph-profiling"

// graphArgs has the first launches of CUDA graphs profiled as wholes: ncu names all graphs alike, and as many as kernels would be.
func graphArgs(o plan.Options) []string {
	args := []string{graphProfiling, "graph", "--kernel-name-base", "function", "--kernel-name", "regex:^graph$"}
	if o.Ncu.LaunchSkip > 0 {
		args = append(args, "--launch-skip", strconv.Itoa(o.Ncu.LaunchSkip))
	}
	return append(args, "--launch-count", strconv.Itoa(graphCount(o)))
}

// graphCount is how many launches of graphs are profiled at most.
func graphCount(o plan.Options) int {
	if o.Ncu.LaunchCount > 0 {
		return o.Ncu.LaunchCount
	}
	return max(o.Ncu.Top, 1) * max(o.Ncu.Launches, 1)
}

// rangeArgs returns between which events is profiled.
func rangeArgs(o plan.Options) []string {
	if o.ProfilerAPI {
		return []string{"--profile-from-start", "off"}
	}
	if o.Range == "" {
		return nil
	}
	r, _ := plan.ParseRange(o.Range) // Validate has refused others
	var args []string
	for _, text := range r.Ncu() {
		args = append(args, "--nvtx-include", text)
	}
	return args
}

// measured returns what is measured: the user's set and sections in place of the preset, and metrics beside either.
func measured(o plan.Options) measurement {
	m := presets()[o.Ncu.Preset]
	if o.Ncu.Set != "" || len(o.Ncu.Sections) > 0 {
		m = measurement{set: o.Ncu.Set, sections: o.Ncu.Sections}
	}
	if o.Ncu.Source && m.set != plan.PresetFull { // the full set has it
		m.sections = append(slices.Clip(m.sections), "SourceCounters")
	}
	for _, name := range o.Ncu.Metrics {
		if !slices.Contains(m.metrics, name) {
			m.metrics = append(m.metrics, name)
		}
	}
	return m
}

// args are the options of ncu. Metrics go into one: it is a list.
func (m measurement) args() []string {
	var args []string
	if m.set != "" {
		args = append(args, "--set", m.set)
	}
	for _, s := range m.sections {
		args = append(args, "--section", s)
	}
	if len(m.metrics) > 0 {
		args = append(args, "--metrics", strings.Join(m.metrics, ","))
	}
	return args
}
