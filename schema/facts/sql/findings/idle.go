package findings

import (
	"fmt"
	"strings"

	"prof/schema/say"
	"prof/schema/terms"
)

// idle are about idle time by what the launching thread does.
var idle = []Rule{
	{
		ID:        "launch-bound",
		Title:     "GPU idle: launches arrive too late",
		Bound:     AtMost,
		Saving:    "idle time inside launching calls, between calls on the way to the next launch, and from a launch that began when the GPU had run dry to the start of its work, where graphs do not launch most of the work (graph-gaps)",
		Advice:    `replay the work as a CUDA graph (torch.cuda.CUDAGraph, torch.compile with mode="reduce-overhead", the graph mode of an engine), or launch fewer, larger kernels`,
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "gaps",
		Needs:     "timeline",
		Reference: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-graphs",
		Figures:   LaunchBound{},
	},
	{
		ID:        "graph-gaps",
		Title:     "GPU idle: gaps between graph replays",
		Bound:     AtMost,
		Saving:    "as launch-bound, where graphs launch more than the threshold's share of the work, by time",
		Advice:    "capture a step as one graph instead of several, launch the next replay before the last one ends, and prepare its inputs meanwhile (asynchronous scheduling)",
		Value:     0.5,
		Unit:      "ratio",
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "gaps",
		Needs:     "timeline",
		Reference: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-graphs",
		Figures:   graphGaps{},
	},
	{
		ID:        "wait",
		Title:     "GPU idle: CPU waits for the GPU",
		Bound:     AtMost,
		Saving:    "idle time inside calls that wait for the device, and inside copies other than the next work",
		Advice:    "remove synchronisation from the pass: no .item(), .cpu(), .tolist() or print of device values; keep results on the device and read them after the pass; copy to pinned memory with non_blocking=True",
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "gaps",
		Needs:     "timeline",
		Reference: "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization",
		Figures:   waitFigures{},
	},
	{
		ID:        "call",
		Title:     "GPU idle: CUDA calls for memory, code or streams",
		Bound:     AtMost,
		Saving:    "idle time inside CUDA calls that neither launch nor wait, and inside launches of 100 us or longer, which load code first, less that of allocator-calls and code-loading",
		Advice:    "allocate memory and load code before the pass: warm up every shape, reuse buffers, allocate from a pool (PyTorch's allocator, cudaMallocAsync)",
		Subject:   "function",
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "api-calls",
		Needs:     "timeline",
		Reference: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#allocation",
		Figures:   callFigures{},
	},
	{
		ID:        "host",
		Title:     "GPU idle: CPU busy outside CUDA",
		Bound:     AtMost,
		Saving:    "idle time in which the launching thread made no CUDA call for 100 us or longer, less that of gc-pauses, gil-wait, code-loading and cpu-starved",
		Advice:    "move CPU work (Python, preparing inputs, logging) out of the pass or to another thread, and prepare the next step while the GPU computes",
		Subject:   "ranges",
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "gaps",
		Needs:     "timeline",
		Reference: "https://docs.nvidia.com/nsight-systems/UserGuide/",
		Figures:   HostFigures{},
	},
	{
		ID:        "queued",
		Title:     "GPU idle: gaps between back-to-back kernels",
		Bound:     AtMost,
		Saving:    "idle time after launches that began before the GPU ran dry, or 100 us or longer before their work: kernel start-up, and waits for events and other streams",
		Advice:    "launch fewer, larger kernels (fusion), overlap each kernel's start with the previous one's end (programmatic dependent launch), and wait for events only where data depends on it",
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "gaps",
		Needs:     "timeline",
		Reference: "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#programmatic-dependent-launch-and-synchronization",
		Figures:   queuedFigures{},
	},
	{
		ID:        "cpu-starved",
		Title:     "GPU idle: the launching thread waits for a CPU",
		Bound:     AtMost,
		Saving:    "time in which the threads of the passes were ready to run and no CPU ran them, capped at the idle time of each pass outside launching calls under 100 us that is not of gc-pauses, compilations, gil-wait or allocator-calls; where that is at least the threshold's share of the passes",
		Advice:    "give the process more CPUs or a higher limit (taskset, numactl, --cpus-per-task, cpu.max), start fewer threads (OMP_NUM_THREADS, torch.set_num_threads, TOKENIZERS_PARALLELISM=false, workers of data loaders), and keep other programs off its CPUs",
		Value:     0.02,
		Unit:      "ratio",
		Query:     "pass-accounting",
		Options:   "stage device source",
		Detail:    "gaps",
		Needs:     "timeline of prof capture --auto-stages on Linux",
		Reference: "https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat",
		Figures:   cpuStarved{},
	},
}

// OncePart is the share of a time from which on it is of one pass, not of all.
const OncePart = 0.8

// passTimes are the times of something in measured passes: what the pass has that has most, what the median pass would be shorter by without it, and how many
// passes there are.
type passTimes struct {
	MaxNs     float64 `json:"max_ns"`
	MedianNs  float64 `json:"median_ns"`
	PassCount int64   `json:"pass_count"`
}

// Usual is what the median pass would be shorter by.
func (p passTimes) Usual() float64 { return p.MedianNs }

// spread returns how the saving of a finding is spread over passes, as the end of a sentence; "" of a single one. A mean would hide that one cold
// pass holds nearly all of it.
func (p passTimes) spread(x Found) string { return p.spreadOf(x, float64(x.SavingNs)) }

// isOnce reports whether one pass of several holds nearly all of it.
func (p passTimes) isOnce(total float64) bool { return p.PassCount > 1 && p.MaxNs > OncePart*total }

func (p passTimes) spreadOf(x Found, total float64) string {
	median := "without it the median pass is " + say.Time(p.MedianNs) + " shorter"
	switch {
	case p.MedianNs == 0:
		median = "the median pass is no longer for it"
	case x.IsByPath:
		median = say.Time(p.MedianNs) + " in the median pass"
	}
	switch {
	case x.Stage == "" || p.PassCount <= 1:
		return ""
	case p.isOnce(total):
		return fmt.Sprintf("; %s of it in one of %s passes; %s", say.Time(p.MaxNs), say.Whole(p.PassCount), median)
	case total >= 0.9*p.MaxNs*float64(p.PassCount):
		return fmt.Sprintf("; about %s in each of %s passes", say.Time(total/float64(p.PassCount)), say.Whole(p.PassCount))
	}
	return fmt.Sprintf("; up to %s per pass over %s passes; %s", say.Time(p.MaxNs), say.Whole(p.PassCount), median)
}

// comesBefore is the work that more than half of an idle time comes before; nothing where none has so much of it.
type comesBefore struct {
	Before        string  `json:"before,omitempty"`         // family of kernels, else kernel or operation
	BeforeRole    string  `json:"before_role,omitempty"`    // what kernels of the family do
	BeforeLibrary string  `json:"before_library,omitempty"` // whose they are
	BeforeNs      float64 `json:"before_ns,omitempty"`
	StepCount     int64   `json:"step_count,omitempty"`      // steps of the pass with most of it that have some of it
	PassStepCount int64   `json:"pass_step_count,omitempty"` // all steps of that pass; 0 where steps are not known
}

// nearlyAll is the share of a time from which on it is nearly all of it.
const nearlyAll = 0.9

// before says what an idle time comes before, as the end of a sentence that ends in how it is spread over passes.
func (c comesBefore) before(x Found, spread passTimes) string {
	if c.Before == "" {
		return ""
	}
	share, what := "nearly all", c.Before
	if c.BeforeNs < nearlyAll*float64(x.SavingNs) {
		share = say.Time(c.BeforeNs)
	}
	if role := strings.ReplaceAll(c.BeforeRole, "_", " "); role != "" {
		if what += " kernels"; !strings.Contains(c.Before, role) {
			what += " (" + role + ")"
		}
	}
	text := fmt.Sprintf("; %s of it comes before %s", share, what)
	switch {
	case c.PassStepCount < 2:
	case spread.isOnce(float64(x.SavingNs)):
		text += fmt.Sprintf(", in %s of the %s steps of that pass", say.Whole(c.StepCount), say.Whole(c.PassStepCount))
	default:
		text += fmt.Sprintf(", in %s of %s steps of the pass with most", say.Whole(c.StepCount), say.Whole(c.PassStepCount))
	}
	return text
}

// BuildsPlans reports whether the CPU is busy before attention kernels of cuDNN, which makes a plan for each new shape, and so for each length.
func (n HostFigures) BuildsPlans() bool {
	return n.BeforeRole == "attention" && n.BeforeLibrary == "cuDNN"
}

// launchTimes are what the rules of launches know.
type launchTimes struct {
	passTimes
	comesBefore
	BusyRatio       float64  `json:"busy_ratio"`
	LaunchNs        float64  `json:"launch_ns"`
	LaunchDelayNs   float64  `json:"launch_delay_ns"`
	LaunchLatencyNs float64  `json:"launch_latency_ns"`
	SingleCount     int64    `json:"single_count"` // kernels that no graph launched
	SingleNs        float64  `json:"single_ns"`
	ReplayCount     int64    `json:"replay_count"`
	GraphRatio      *float64 `json:"graph_ratio"` // null without GPU work
}

func (n launchTimes) idle(x Found) string {
	var parts []string
	add := func(ns float64, what string) {
		if ns > 0 {
			parts = append(parts, say.Time(ns)+what)
		}
	}
	add(n.LaunchNs, " inside launching calls")
	add(n.LaunchDelayNs, " between calls before the next launch")
	add(n.LaunchLatencyNs, " between a late launch and the start of its work")
	return fmt.Sprintf("GPU busy %.1f %% of the time; idle %s%s%s", 100*n.BusyRatio, say.List(parts), n.spread(x), n.before(x, n.passTimes))
}

// singles is about kernels that no graph launched; "" when there are none.
func (n launchTimes) singles(x Found) string {
	if n.SingleCount == 0 {
		return ""
	}
	return fmt.Sprintf("launched one by one: %s, mean %s", x.aPass(n.SingleCount, "kernel", "kernels"), say.Time(n.SingleNs/float64(n.SingleCount)))
}

// replays is about graph replays; "" when there are none.
func (n launchTimes) replays(x Found) string {
	if n.ReplayCount == 0 {
		return ""
	}
	return x.aPass(n.ReplayCount, "graph replay", "graph replays")
}

// LaunchBound are of idle time for launches that come late.
type LaunchBound struct{ launchTimes }

// HasReplays reports whether some of the work is launched by graphs already.
func (n LaunchBound) HasReplays() bool { return n.ReplayCount > 0 }

func (n LaunchBound) Words(x Found) string { return say.Clauses(n.idle(x), n.singles(x), n.replays(x)) }

type graphGaps struct{ launchTimes }

func (n graphGaps) Words(x Found) string {
	share := ""
	if n.GraphRatio != nil {
		share = fmt.Sprintf("graph replays take %.1f %% of GPU work time", 100**n.GraphRatio)
	}
	return say.Clauses(n.idle(x), n.replays(x), share, n.singles(x))
}

type waitFigures struct {
	passTimes
	comesBefore
	CallCount *int64   `json:"call_count"` // null without calls that wait or copy, like those below
	CallsNs   *float64 `json:"calls_ns"`
	API       *string  `json:"api"`
}

func (n waitFigures) Words(x Found) string {
	text := fmt.Sprintf("GPU idle %s while the CPU waits for the GPU or for a copy%s%s", x.saved(), n.spread(x), n.before(x, n.passTimes))
	if n.CallCount != nil && n.CallsNs != nil && n.API != nil && *n.CallCount > 0 {
		text += fmt.Sprintf("; %s that wait or copy take %s of CPU time, mostly in %s", say.Count(*n.CallCount, "call", "calls"), say.Time(*n.CallsNs), *n.API)
	}
	return text
}

type callFigures struct {
	passTimes
	comesBefore
	CallCount *int64   `json:"call_count"` // null without such calls, like those below
	CallsNs   *float64 `json:"calls_ns"`
	IsLoad    *bool    `json:"is_load"`
}

func (n callFigures) Words(x Found) string {
	text := fmt.Sprintf("GPU idle %s during CUDA calls that neither launch nor wait%s%s", x.saved(), n.spread(x), n.before(x, n.passTimes))
	if x.Subject != "" && n.CallCount != nil && n.CallsNs != nil {
		loads := ""
		if n.IsLoad != nil && *n.IsLoad {
			loads = " of 100 us or longer (loading code)"
		}
		text += fmt.Sprintf("; most call time is in %s: %s%s, %s", x.Subject, say.Count(*n.CallCount, "call", "calls"), loads, say.Time(*n.CallsNs))
	}
	return text
}

// HostFigures are of idle time while the CPU is busy outside CUDA.
type HostFigures struct {
	passTimes
	comesBefore
	Line   string  `json:"line,omitempty"` // of the user's own code
	LineNs float64 `json:"line_ns,omitempty"`
	// LineKind is the kind of timeline whose stacks tell the line, where this one has none; how much of this one's time is in it is not known then.
	LineKind string `json:"line_kind,omitempty"`
}

func (n HostFigures) Words(x Found) string {
	text := fmt.Sprintf("GPU idle %s while the thread that launches next makes no CUDA call for 100 us or longer%s%s", x.saved(), n.spread(x), n.before(x, n.passTimes))
	switch {
	case n.LineKind != "":
		text += fmt.Sprintf("; in the recording of %s most of it is in %s", terms.SourceLabel(n.LineKind), n.Line)
	case n.Line != "":
		text += fmt.Sprintf("; %s of it in %s", say.Time(n.LineNs), n.Line)
	}
	return text
}

type queuedFigures struct {
	passTimes
	comesBefore
	GapCount int64 `json:"gap_count"`
}

func (n queuedFigures) Words(x Found) string {
	return fmt.Sprintf("GPU idle %s in gaps between back-to-back kernels: %s per gap over %s%s%s", x.saved(), say.Time(float64(x.SavingNs)/float64(n.GapCount)), say.Count(n.GapCount, "gap", "gaps"), n.spread(x), n.before(x, n.passTimes))
}

type cpuStarved struct {
	passTimes
	WaitNs         float64  `json:"wait_ns"`
	WallNs         float64  `json:"wall_ns"`
	RunNs          float64  `json:"run_ns"`
	OthersNs       float64  `json:"others_ns"`
	PreemptedCount int64    `json:"preempted_count"`
	CPUCount       int64    `json:"cpu_count"`
	LimitRatio     *float64 `json:"limit_ratio"`  // CPUs; null without a limit
	ThrottledNs    *float64 `json:"throttled_ns"` // null likewise
	ThreadCount    int64    `json:"thread_count"`
	RunnableCount  int64    `json:"runnable_count"`
}

func (n cpuStarved) Words(x Found) string {
	text := fmt.Sprintf("GPU idle %s while the thread of the pass is ready to run and no CPU runs it%s; it waited %s for a CPU and ran %s, and lost its CPU %s", x.saved(), n.spread(x), say.Time(n.WaitNs), say.Time(n.RunNs), say.Count(n.PreemptedCount, "time", "times"))
	if n.LimitRatio != nil && n.ThrottledNs != nil && *n.ThrottledNs > 0 {
		text += fmt.Sprintf("; its control group may use %.1f CPUs and was stopped %s for it, all CPUs together", *n.LimitRatio, say.Time(*n.ThrottledNs))
	}
	return text + fmt.Sprintf("; it may run on %s; the other threads of its process (%s in all) used %.1f CPUs meanwhile, and up to %s of the machine were running or ready to run",
		say.Count(n.CPUCount, "CPU", "CPUs"), say.Count(n.ThreadCount, "thread", "threads"), n.OthersNs/n.WallNs, say.Count(n.RunnableCount, "thread", "threads"))
}
