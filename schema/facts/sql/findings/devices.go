package findings

import (
	"fmt"

	"prof/schema/say"
	"prof/schema/terms"
)

// devices are about GPUs that wait for each other, or are slow.
var devices = []Rule{
	{
		ID:        "collective-wait",
		Title:     "GPUs wait for each other in collectives",
		Bound:     AtMost,
		Saving:    "time in collectives, as in exposed-collectives, before the last GPU was in them",
		Advice:    "make the GPUs arrive at collectives together: find what delays now one, now another, and balance the work; a faster or overlapped collective does not fix that",
		Query:     "stragglers",
		Options:   "source",
		Needs:     "timelines of several GPUs",
		Reference: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/usage/collectives.html",
		Figures:   CollectiveWait{},
	},
	{
		ID:        "exposed-collectives",
		Title:     "Collectives not overlapped with compute",
		Bound:     AtMost,
		Saving:    "time in which collectives ran on the GPU and no other kernel of the pass did, less collective-wait; it includes waiting for GPUs whose arrival is unknown",
		Advice:    "overlap them with compute on another stream, split the work so that one part computes while another communicates, or use a faster collective",
		Query:     "collectives",
		Options:   "stage device source",
		Detail:    "stragglers",
		Needs:     "timeline",
		Reference: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/usage/streams.html",
		Figures:   ExposedCollectives{},
	},
	{
		ID:        "slow-gpu",
		Title:     "A GPU slower than the others at the same kernels",
		Bound:     AtMost,
		Saving:    "time x (1 - usual / own mean duration) of kernels that all GPUs execute five times or more with the same name, grid and block; usual is the median of the other GPUs; where that makes the GPU slower by more than the threshold, and four fifths of the time are in kernels that are slower",
		Advice:    "compare clocks, power limits and temperatures of the GPUs (prof query throttling, nvidia-smi -q), and look for other processes on it; balancing the work does not fix that",
		Value:     0.05,
		Unit:      "ratio",
		Query:     "kernel-grids",
		Options:   "stage device source top",
		Needs:     "timelines of several GPUs, with grids",
		Reference: "https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html",
		Figures:   slowGPU{},
	},
	{
		ID:        "throttling",
		Title:     "Clocks throttled by power or temperature",
		Bound:     AtMost,
		Saving:    "time of work x share of throttled samples x (1 - clock in them / highest clock)",
		Advice:    "see prof query throttling: raise the power limit, improve cooling, or compare runs at locked clocks (nvidia-smi -lgc)",
		Query:     "throttling",
		Needs:     "samples of prof capture",
		Reference: "https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html",
		Figures:   throttling{},
	},
}

// sharedStreams are streams of computing on which collectives or copies run, where nothing overlaps them; null where there are none.
type sharedStreams struct {
	SharedCount *int64   `json:"shared_count"`
	SharedNs    *float64 `json:"shared_ns"`
	Streams     []int64  `json:"streams"`
}

// text is "" where there are none; all is how many there are on any stream, and what is what their time is about.
func (s sharedStreams) text(all int64, what string) string {
	if len(s.Streams) == 0 {
		return ""
	}
	names := make([]string, len(s.Streams))
	for i, id := range s.Streams {
		names[i] = fmt.Sprint(id)
	}
	which := "all are"
	if s.SharedCount != nil && s.SharedNs != nil && *s.SharedCount < all {
		which = fmt.Sprintf("%d of them (%s%s) are", *s.SharedCount, say.Time(*s.SharedNs), what)
	}
	streams := "stream " + names[0]
	if len(names) > 1 {
		streams = "streams " + say.List(names)
	}
	return fmt.Sprintf("; %s on %s, which compute kernels also use, so they cannot overlap with the kernels there", which, streams)
}

// collectiveTimes are of the collectives that no other kernel of the pass ran beside.
type collectiveTimes struct {
	passTimes
	CollectiveCount int64     `json:"collective_count"`
	CollectivesNs   float64   `json:"collectives_ns"`
	ExposedNs       float64   `json:"exposed_ns"`
	WaitNs          *float64  `json:"wait_ns"` // of that, before the last GPU came; null where that is not known
	RankCount       int64     `json:"rank_count"`
	Late            []lateGPU `json:"late"` // the GPUs waited for, the longest first; null of what is no waiting
	sharedStreams
}

// lateGPU is a GPU that others wait for, and what it does in the longest wait for it.
type lateGPU struct {
	Device    int64    `json:"device"`
	WaitNs    float64  `json:"wait_ns"`
	LongestNs float64  `json:"longest_ns"`
	Cause     *string  `json:"cause"` // of most of that; null where it is idle for less than half
	CauseNs   *float64 `json:"cause_ns"`
	Call      *string  `json:"call"` // the longest, where that is the cause; else null
	CallNs    *float64 `json:"call_ns"`
}

// mostLate is how many GPUs are named that others wait for.
const mostLate = 3

// lateText says for which GPUs a GPU waits, where there are several.
func (n collectiveTimes) lateText() string {
	if len(n.Late) < 2 {
		return ""
	}
	var names []string
	for _, l := range n.Late[:min(mostLate, len(n.Late))] {
		names = append(names, fmt.Sprintf("%s for GPU %d", say.Time(l.WaitNs), l.Device))
	}
	if more := len(n.Late) - len(names); more > 0 {
		names = append(names, "the rest for "+say.Count(int64(more), "other", "others"))
	}
	return " (" + say.List(names) + ")"
}

// longestText says what the GPU that is waited for most does in the longest wait for it.
func (n collectiveTimes) longestText() string {
	if len(n.Late) == 0 || n.Late[0].Cause == nil || n.Late[0].CauseNs == nil {
		return ""
	}
	l := n.Late[0]
	cause, _ := terms.CauseNamed(*l.Cause)
	text := fmt.Sprintf("; in the longest wait (%s) GPU %d has %s %s", say.Time(l.LongestNs), l.Device, say.Time(*l.CauseNs), cause.Noun)
	if l.Call != nil && l.CallNs != nil {
		text += fmt.Sprintf(" (%s takes %s)", *l.Call, say.Time(*l.CallNs))
	}
	return text
}

func (n collectiveTimes) taken() string {
	return fmt.Sprintf("collectives take %s in %s, %s of it not overlapped (%.1f %%)", say.Time(n.CollectivesNs), say.Count(n.CollectiveCount, "call", "calls"), say.Time(n.ExposedNs), 100*n.ExposedNs/n.CollectivesNs)
}

// CollectiveWait is what of them is waiting for later GPUs.
type CollectiveWait struct{ collectiveTimes }

// LateCall is the longest call of a GPU's process in the longest wait for it, where it is idle in calls that neither launch nor wait; "" otherwise.
func (n CollectiveWait) LateCall(device int64) string {
	for _, l := range n.Late {
		if l.Device == device && l.Cause != nil && *l.Cause == "call" && l.Call != nil {
			return *l.Call
		}
	}
	return ""
}

func (n CollectiveWait) Words(x Found) string {
	return n.taken() + fmt.Sprintf("; waiting for later GPUs takes %s of that%s%s", x.saved(), n.lateText(), n.spread(x)) + n.longestText()
}

// ExposedCollectives are the rest.
type ExposedCollectives struct{ collectiveTimes }

// IsPart reports whether some of the time not overlapped is waiting, which the finding leaves out.
func (n ExposedCollectives) IsPart() bool { return n.WaitNs != nil && *n.WaitNs > 0 }

func (n ExposedCollectives) Words(x Found) string {
	text := n.taken()
	if n.IsPart() {
		text += fmt.Sprintf(", %s without waiting for later GPUs", x.saved())
	}
	return text + n.spread(x) + n.text(n.CollectiveCount, " not overlapped")
}

type slowGPU struct {
	GPUCount      int64    `json:"gpu_count"`
	CallCount     int64    `json:"call_count"`
	CallsNs       float64  `json:"calls_ns"`
	UsualNs       float64  `json:"usual_ns"`
	SlowerNs      float64  `json:"slower_ns"`
	ClockHz       *float64 `json:"clock_hz"` // null where clocks were not sampled
	OthersClockHz *float64 `json:"others_clock_hz"`
}

func (n slowGPU) Words(Found) string {
	text := fmt.Sprintf("%s that all %d GPUs execute take %s, %.1f %% longer than usual on the others; %.0f %% of the time is in slower kernels", say.Count(n.CallCount, "kernel", "kernels"), n.GPUCount, say.Time(n.CallsNs),
		100*(n.CallsNs/n.UsualNs-1), 100*n.SlowerNs/n.CallsNs)
	if n.ClockHz != nil && n.OthersClockHz != nil && *n.ClockHz > 0 && *n.OthersClockHz > 0 {
		text += fmt.Sprintf("; its SM clock averages %.0f MHz, that of the others %.0f MHz", *n.ClockHz/1e6, *n.OthersClockHz/1e6)
	}
	return text
}

type throttling struct {
	SlowCount   int64   `json:"slow_count"`
	SampleCount int64   `json:"sample_count"`
	ClockHz     float64 `json:"clock_hz"`
	MaxClockHz  float64 `json:"max_clock_hz"`
	WorkNs      float64 `json:"work_ns"`
}

func (n throttling) Words(Found) string {
	return fmt.Sprintf("clocks were throttled in %s of %s: mean %.0f MHz, maximum %.0f MHz; GPU work took %s", say.Whole(n.SlowCount), say.Count(n.SampleCount, "sample", "samples"), n.ClockHz/1e6, n.MaxClockHz/1e6, say.Time(n.WorkNs))
}
