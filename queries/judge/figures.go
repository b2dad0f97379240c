package judge

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"prof/queries/frame"
)

// Figures are what a finding of a rule follows from, in base units, and say it in words.
type Figures interface{ words(x Finding) string }

// figuresOf are the figures of each rule, as the facts of findings have them.
var figuresOf = map[string]Figures{
	"launch-bound":        launchBound{},
	"graph-gaps":          graphGaps{},
	"wait":                waitFigures{},
	"call":                callFigures{},
	"gc-pauses":           gcPauses{},
	"gil-wait":            gilWait{},
	"code-loading":        codeLoading{},
	"allocator-calls":     allocatorCalls{},
	"cpu-starved":         cpuStarved{},
	"host":                hostFigures{},
	"queued":              queuedFigures{},
	"elementwise-chains":  elementwiseChains{},
	"fp32-products":       fp32Products{},
	"small-grids":         smallGrids{},
	"wave-tail":           waveTail{},
	"below-roof":          belowRoof{},
	"low-occupancy":       lowOccupancy{},
	"uneven-sms":          unevenSMs{},
	"pageable-copies":     pageableCopies{},
	"exposed-copies":      exposedCopies{},
	"exposed-collectives": exposedCollectives{},
	"slow-gpu":            slowGPU{},
	"throttling":          throttling{},
}

// readFigures reads the figures of a rule's finding.
func readFigures(rule, evidence string) (Figures, error) {
	none := figuresOf[rule]
	if none == nil {
		return nil, fmt.Errorf("the figures of finding %s are not known", rule)
	}
	out := reflect.New(reflect.TypeOf(none)).Elem()
	if err := readMembers(evidence, out); err != nil {
		return nil, fmt.Errorf("figures of finding %s: %w", rule, err)
	}
	return out.Interface().(Figures), nil
}

// readMembers reads an object whose members are exactly the fields of a struct: each has its key, omitempty where there may be no such member,
// and a pointer or list where it may be null.
func readMembers(evidence string, to reflect.Value) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(evidence), &members); err != nil {
		return err
	}
	for _, f := range reflect.VisibleFields(to.Type()) {
		if f.Anonymous {
			continue
		}
		key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		text, has := members[key]
		delete(members, key)
		switch kind := f.Type.Kind(); {
		case !has && option == "omitempty":
		case !has:
			return fmt.Errorf("no %s", key)
		case string(text) == "null" && kind != reflect.Pointer && kind != reflect.Slice:
			return fmt.Errorf("%s is null", key)
		default:
			if err := json.Unmarshal(text, to.FieldByIndex(f.Index).Addr().Interface()); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	for key := range members {
		return fmt.Errorf("%s is none of its figures", key)
	}
	return nil
}

// Numbers are the figures by name, as JSON has them.
func (x Finding) Numbers() map[string]any {
	var out map[string]any
	if text, err := json.Marshal(x.Figures); err == nil {
		json.Unmarshal(text, &out)
	}
	return out
}

// passTimes are the times of something in measured passes: what the pass has that has most, the median one, and how many there are.
type passTimes struct {
	MaxNs     float64 `json:"max_ns"`
	MedianNs  float64 `json:"median_ns"`
	PassCount int64   `json:"pass_count"`
}

// spread says how the saving of a finding is spread over passes, as the end of a sentence; "" of a single one. A mean would hide that one cold
// pass holds nearly all of it.
func (p passTimes) spread(x Finding) string { return p.spreadOf(x, float64(x.SavingNs)) }

func (p passTimes) spreadOf(x Finding, total float64) string {
	median := timeText(p.MedianNs)
	if p.MedianNs == 0 {
		median = "none"
	}
	switch {
	case x.Stage == "" || p.PassCount <= 1:
		return ""
	case p.MaxNs > oncePart*total:
		return fmt.Sprintf("; %s of it in one of %s passes, %s in the median pass", timeText(p.MaxNs), grouped(p.PassCount), median)
	case total >= 0.9*p.MaxNs*float64(p.PassCount):
		return fmt.Sprintf("; about %s in each of %s passes", median, grouped(p.PassCount))
	}
	return fmt.Sprintf("; up to %s per pass over %s passes, %s in the median pass", timeText(p.MaxNs), grouped(p.PassCount), median)
}

// launchTimes are what the rules of launches know.
type launchTimes struct {
	passTimes
	BusyRatio       float64  `json:"busy_ratio"`
	LaunchNs        float64  `json:"launch_ns"`
	LaunchDelayNs   float64  `json:"launch_delay_ns"`
	LaunchLatencyNs float64  `json:"launch_latency_ns"`
	SingleCount     int64    `json:"single_count"` // kernels that no graph launched
	SingleNs        float64  `json:"single_ns"`
	ReplayCount     int64    `json:"replay_count"`
	GraphRatio      *float64 `json:"graph_ratio"` // null without GPU work
}

func (n launchTimes) idle(x Finding) string {
	var parts []string
	add := func(ns float64, what string) {
		if ns > 0 {
			parts = append(parts, timeText(ns)+what)
		}
	}
	add(n.LaunchNs, " inside launching calls")
	add(n.LaunchDelayNs, " between calls before the next launch")
	add(n.LaunchLatencyNs, " between a late launch and the start of its work")
	return fmt.Sprintf("GPU busy %.1f %% of the time; idle %s%s", 100*n.BusyRatio, listed(parts), n.spread(x))
}

// singles is about kernels that no graph launched; "" when there are none.
func (n launchTimes) singles(x Finding) string {
	if n.SingleCount == 0 {
		return ""
	}
	return fmt.Sprintf("launched one by one: %s, mean %s", x.aPass(n.SingleCount, "kernel", "kernels"), timeText(n.SingleNs/float64(n.SingleCount)))
}

// replays is about graph replays; "" when there are none.
func (n launchTimes) replays(x Finding) string {
	if n.ReplayCount == 0 {
		return ""
	}
	return x.aPass(n.ReplayCount, "graph replay", "graph replays")
}

type launchBound struct{ launchTimes }

func (n launchBound) words(x Finding) string { return joined(n.idle(x), n.singles(x), n.replays(x)) }

type graphGaps struct{ launchTimes }

func (n graphGaps) words(x Finding) string {
	return joined(n.idle(x), n.replays(x), fmt.Sprintf("graph replays take %.1f %% of GPU work time", 100*frame.Or(n.GraphRatio, 0)), n.singles(x))
}

type waitFigures struct {
	passTimes
	CallCount *int64   `json:"call_count"` // null without calls that wait or copy, like those below
	CallsNs   *float64 `json:"calls_ns"`
	API       *string  `json:"api"`
}

func (n waitFigures) words(x Finding) string {
	text := fmt.Sprintf("GPU idle %s while the CPU waits for the GPU or for a copy%s", x.saved(), n.spread(x))
	if n.CallCount != nil && n.CallsNs != nil && n.API != nil && *n.CallCount > 0 {
		text += fmt.Sprintf("; %s that wait or copy take %s of CPU time, mostly in %s", many(*n.CallCount, "call", "calls"), timeText(*n.CallsNs), *n.API)
	}
	return text
}

type callFigures struct {
	passTimes
	CallCount *int64   `json:"call_count"` // null without such calls, like those below
	CallsNs   *float64 `json:"calls_ns"`
	IsLoad    *bool    `json:"is_load"`
}

func (n callFigures) words(x Finding) string {
	text := fmt.Sprintf("GPU idle %s during CUDA calls that neither launch nor wait%s", x.saved(), n.spread(x))
	if x.Subject != "" {
		loads := ""
		if frame.Or(n.IsLoad, false) {
			loads = " of 100 us or longer (loading code)"
		}
		text += fmt.Sprintf("; most call time is in %s: %s%s, %s", x.Subject, many(frame.Or(n.CallCount, 0), "call", "calls"), loads, timeText(frame.Or(n.CallsNs, 0)))
	}
	return text
}

// pauses are what the GPU waited for, with what the other rules of causes know: null where it is of another rule, or not known.
type pauses struct {
	passTimes
	CallCount   int64    `json:"call_count"` // of the function or range that it waited for longest
	CallsNs     float64  `json:"calls_ns"`
	AllCount    int64    `json:"all_count"`
	FailedCount *int64   `json:"failed_count"`
	RetryCount  *int64   `json:"retry_count"`
	GotBytes    *float64 `json:"got_bytes"`
	GivenBytes  *float64 `json:"given_bytes"`
	BlockBytes  *float64 `json:"block_bytes"`
	HolderTID   *int64   `json:"holder_tid"`
	HeldNs      *float64 `json:"held_ns"`
	sampledLine
}

// most says what of a cause the GPU waited for longest: a function or range, and how often.
func (n pauses) most(x Finding, one, several string) string {
	text := fmt.Sprintf("%s, %s in idle gaps", many(n.CallCount, one, several), timeText(n.CallsNs))
	if n.AllCount > n.CallCount {
		return fmt.Sprintf("most in %s: %s; %s in all", x.Subject, text, grouped(n.AllCount))
	}
	return x.Subject + ": " + text
}

// sampledLine is the line of the user's own code in which a thread was by most samples of Python.
type sampledLine struct {
	Line        string `json:"line,omitempty"`
	LineCount   int64  `json:"line_count,omitempty"`
	SampleCount int64  `json:"sample_count,omitempty"`
}

func (l sampledLine) text(what string) string {
	if l.Line == "" {
		return ""
	}
	return fmt.Sprintf("; %sin %s by %d of %s", what, l.Line, l.LineCount, many(l.SampleCount, "sample", "samples"))
}

type gcPauses struct{ pauses }

func (n gcPauses) words(x Finding) string {
	return fmt.Sprintf("GPU idle %s while Python collects garbage%s; %s", x.saved(), n.spread(x), n.most(x, "collection", "collections")) + n.text("")
}

type gilWait struct{ pauses }

func (n gilWait) words(x Finding) string {
	text := fmt.Sprintf("GPU idle %s while the thread that launches next waits for Python's lock (the GIL)%s; %s, %s in idle gaps", x.saved(), n.spread(x), many(n.AllCount, "wait", "waits"), timeText(n.CallsNs))
	if n.HeldNs != nil && n.HolderTID != nil && *n.HeldNs > 0 {
		text += fmt.Sprintf("; of the other threads, thread %d held the lock longest, for %s", *n.HolderTID, timeText(*n.HeldNs)) + n.text("it was ")
	}
	return text
}

type codeLoading struct{ pauses }

func (n codeLoading) words(x Finding) string {
	return fmt.Sprintf("GPU idle %s while code is compiled or loaded%s; %s", x.saved(), n.spread(x), n.most(x, "time", "times"))
}

type allocatorCalls struct{ pauses }

func (n allocatorCalls) words(x Finding) string {
	text := fmt.Sprintf("GPU idle %s while memory is allocated or freed%s; %s", x.saved(), n.spread(x), n.most(x, "call", "calls"))
	if failed := frame.Or(n.FailedCount, 0); failed > 0 {
		text += fmt.Sprintf("; %s failed: memory ran out, and what was free had to be given back first", many(failed, "call", "calls"))
	}
	switch {
	case n.GotBytes != nil && n.GivenBytes != nil:
		text += fmt.Sprintf("; CUDA gave %s and took back %s in them", bytesText(*n.GotBytes), bytesText(*n.GivenBytes))
	case n.BlockBytes != nil:
		text += "; PyTorch needed them for blocks of " + bytesText(*n.BlockBytes)
	}
	if retries := frame.Or(n.RetryCount, 0); retries > 0 {
		text += fmt.Sprintf("; in %s memory was freed and then allocated, as PyTorch does when it runs out and gives its cache back", many(retries, "gap", "gaps"))
	}
	return text
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

func (n cpuStarved) words(x Finding) string {
	text := fmt.Sprintf("GPU idle %s while the thread of the pass is ready to run and no CPU runs it%s; it waited %s for a CPU and ran %s, and lost its CPU %s", x.saved(), n.spread(x), timeText(n.WaitNs), timeText(n.RunNs), many(n.PreemptedCount, "time", "times"))
	if n.ThrottledNs != nil && *n.ThrottledNs > 0 {
		text += fmt.Sprintf("; its control group may use %.1f CPUs and was stopped %s for it, all CPUs together", frame.Or(n.LimitRatio, 0), timeText(*n.ThrottledNs))
	}
	return text + fmt.Sprintf("; it may run on %s; the other threads of its process (%s in all) used %.1f CPUs meanwhile, and up to %s of the machine were running or ready to run",
		many(n.CPUCount, "CPU", "CPUs"), many(n.ThreadCount, "thread", "threads"), n.OthersNs/n.WallNs, many(n.RunnableCount, "thread", "threads"))
}

type hostFigures struct {
	passTimes
	Line   string  `json:"line,omitempty"` // of the user's own code
	LineNs float64 `json:"line_ns,omitempty"`
}

func (n hostFigures) words(x Finding) string {
	text := fmt.Sprintf("GPU idle %s while the thread that launches next makes no CUDA call for 100 us or longer%s", x.saved(), n.spread(x))
	if n.Line != "" {
		text += fmt.Sprintf("; %s of it in %s", timeText(n.LineNs), n.Line)
	}
	return text
}

type queuedFigures struct {
	passTimes
	GapCount int64 `json:"gap_count"`
}

func (n queuedFigures) words(x Finding) string {
	return fmt.Sprintf("GPU idle %s although the next work had been launched in time: %s per gap over %s%s", x.saved(), timeText(float64(x.SavingNs)/float64(n.GapCount)), many(n.GapCount, "gap", "gaps"), n.spread(x))
}

type elementwiseChains struct {
	KernelCount int64   `json:"kernel_count"`
	BelowNs     float64 `json:"below_ns"`
	ChainCount  int64   `json:"chain_count"`
	KernelsNs   float64 `json:"kernels_ns"`
	ChainedNs   float64 `json:"chained_ns"`
}

func (n elementwiseChains) words(Finding) string {
	return fmt.Sprintf("%s elementwise kernels under %.0f us in %s take %s; all but the first of each chain take %s", grouped(n.KernelCount), n.BelowNs/1e3, many(n.ChainCount, "chain", "chains"), timeText(n.KernelsNs), timeText(n.ChainedNs))
}

// executions are those of a kernel that could be faster.
type executions struct {
	CallCount int64   `json:"call_count"`
	CallsNs   float64 `json:"calls_ns"`
	HiddenNs  float64 `json:"hidden_ns"`
}

func (n executions) count() string { return many(n.CallCount, "execution", "executions") }

// hidden says what faster kernels would not save; "" for nothing.
func (n executions) hidden() string {
	if n.HiddenNs == 0 {
		return ""
	}
	return "; another " + timeText(n.HiddenNs) + " would save nothing: by the critical path, launches or other work end later"
}

type fp32Products struct {
	executions
	FP32FlopPerS float64 `json:"fp32_flop_per_s"`
	TF32FlopPerS float64 `json:"tf32_flop_per_s"`
}

func (n fp32Products) words(Finding) string {
	return fmt.Sprintf("%s of matrix products in FP32 take %s; TF32 on tensor cores has %.1f times the peak", n.count(), timeText(n.CallsNs), n.TF32FlopPerS/n.FP32FlopPerS) + n.hidden()
}

type smallGrids struct {
	executions
	LeastCount int64 `json:"least_count"` // blocks
	MostCount  int64 `json:"most_count"`
	SMCount    int64 `json:"sm_count"`
}

func (n smallGrids) words(Finding) string {
	blocks := fmt.Sprint(n.LeastCount)
	if n.LeastCount != n.MostCount {
		blocks += fmt.Sprintf(" to %d", n.MostCount)
	}
	return fmt.Sprintf("%s, mean %s, total %s; enough blocks for %s of %d SMs", n.count(), timeText(n.CallsNs/float64(n.CallCount)), timeText(n.CallsNs), blocks, n.SMCount) + n.hidden()
}

type waveTail struct {
	executions
	BlockCount int64 `json:"block_count"`
	SlotCount  int64 `json:"slot_count"`
}

func (n waveTail) words(Finding) string {
	return fmt.Sprintf("%s take %s in total; the grid with the most time has %s blocks, and %s fit on the GPU at once: %.2f waves", n.count(), timeText(n.CallsNs), grouped(n.BlockCount), grouped(n.SlotCount), float64(n.BlockCount)/float64(n.SlotCount)) + n.hidden()
}

// profiledGrid is the grid of a kernel that has the most time of those that Nsight Compute profiled.
type profiledGrid struct {
	executions
	Grid    string  `json:"grid"`
	Block   string  `json:"block"`
	Bound   *string `json:"bound"`
	Limiter *string `json:"limiter"`
}

func (n profiledGrid) at() string {
	return fmt.Sprintf("%s take %s in total; the grid with the most time (%s, blocks of %s)", n.count(), timeText(n.CallsNs), n.Grid, n.Block)
}

type belowRoof struct {
	profiledGrid
	RoofRatio float64 `json:"roof_ratio"`
}

func (n belowRoof) words(Finding) string {
	text := fmt.Sprintf("%s reaches %.1f %% of its roof", n.at(), 100*n.RoofRatio)
	if bound := frame.Or(n.Bound, "unknown"); bound != "unknown" {
		text += " and is bound by " + bound
	}
	if limiter := frame.Or(n.Limiter, ""); limiter != "" {
		text += " (" + limiter + ")"
	}
	return text + n.hidden()
}

type lowOccupancy struct {
	profiledGrid
	RoofRatio      *float64 `json:"roof_ratio"` // null where Nsight Compute measured one throughput alone
	OccupancyRatio float64  `json:"occupancy_ratio"`
}

func (n lowOccupancy) words(Finding) string {
	text := fmt.Sprintf("%s reaches %.1f %% occupancy", n.at(), 100*n.OccupancyRatio)
	if n.RoofRatio != nil {
		text += fmt.Sprintf(" and %.1f %% of its roof", 100**n.RoofRatio)
	}
	return text + n.hidden()
}

type unevenSMs struct {
	executions
	BlockCount int64   `json:"block_count"`
	SMCount    int64   `json:"sm_count"`
	MeanCycles float64 `json:"mean_cycles"`
	MaxCycles  float64 `json:"max_cycles"`
}

func (n unevenSMs) words(Finding) string {
	return fmt.Sprintf("%s take %s in total; with %s blocks on %d SMs, the busiest SM is active for %s cycles, the mean SM for %s (%.0f %%)", n.count(), timeText(n.CallsNs), grouped(n.BlockCount), n.SMCount, grouped(int64(n.MaxCycles)),
		grouped(int64(n.MeanCycles)), 100*n.MeanCycles/n.MaxCycles) + n.hidden()
}

type pageableCopies struct {
	passTimes
	CopyCount   int64    `json:"copy_count"`
	CopiedBytes *float64 `json:"copied_bytes"`
	CopiesNs    float64  `json:"copies_ns"`
	AloneNs     float64  `json:"alone_ns"` // of all copies, while no kernel ran
	CallNs      float64  `json:"call_ns"`
}

func (n pageableCopies) words(x Finding) string {
	in, beside, total := "", "", ""
	if x.Stage != "" {
		in = fmt.Sprintf(" in %s of %s", grouped(n.PassCount), many(x.Passes, "pass", "passes"))
	}
	if n.AloneNs < n.CopiesNs {
		beside = fmt.Sprintf(" (%s of it while no kernel ran)", timeText(n.AloneNs))
	}
	if n.CopiedBytes != nil {
		total = fmt.Sprintf(" (%.3f MB in total)", *n.CopiedBytes/1e6)
	}
	return fmt.Sprintf("%s from pageable memory%s%s take %s on the GPU%s and %s in their calls%s", many(n.CopyCount, "copy", "copies"), in, total, timeText(n.CopiesNs), beside,
		timeText(n.CallNs), n.spreadOf(x, n.CopiesNs))
}

func (n pageableCopies) copies(x Finding) copyKinds {
	return copyKinds{"memcpy Host-to-Device", n.CopyCount, n.CopiesNs, frame.Or(n.CopiedBytes, 0), float64(x.SavingNs) / n.AloneNs} // of the time in which nothing computes
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
	which, count := "all are", frame.Or(s.SharedCount, 0)
	if count < all {
		which = fmt.Sprintf("%d of them (%s%s) are", count, timeText(frame.Or(s.SharedNs, 0)), what)
	}
	streams := "stream " + names[0]
	if len(names) > 1 {
		streams = "streams " + listed(names)
	}
	return fmt.Sprintf("; %s on %s, which compute kernels also use, so they cannot overlap with the kernels there", which, streams)
}

type exposedCopies struct {
	CopyCount   int64    `json:"copy_count"`
	CopiesNs    float64  `json:"copies_ns"`
	CopiedBytes *float64 `json:"copied_bytes"`
	AllNs       float64  `json:"all_ns"`
	sharedStreams
}

func (n exposedCopies) words(x Finding) string {
	return "mostly " + n.copies(x).evidence() + n.text(n.CopyCount, "")
}

func (n exposedCopies) copies(x Finding) copyKinds {
	return copyKinds{x.Subject, n.CopyCount, n.CopiesNs, frame.Or(n.CopiedBytes, 0), n.CopiesNs / n.AllNs}
}

type exposedCollectives struct {
	passTimes
	CollectiveCount int64   `json:"collective_count"`
	CollectivesNs   float64 `json:"collectives_ns"`
	RankCount       int64   `json:"rank_count"`
	sharedStreams
}

func (n exposedCollectives) words(x Finding) string {
	return n.taken(x) + n.text(n.CollectiveCount, " not overlapped")
}

// taken says what collectives take, without what they share a stream with: waiting may be the cause.
func (n exposedCollectives) taken(x Finding) string {
	return fmt.Sprintf("collectives take %s in %s, %s of it not overlapped (%.1f %%)%s", timeText(n.CollectivesNs), many(n.CollectiveCount, "call", "calls"), x.saved(), 100*float64(x.SavingNs)/n.CollectivesNs, n.spread(x))
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

func (n slowGPU) words(Finding) string {
	text := fmt.Sprintf("%s that all %d GPUs execute take %s, %.1f %% longer than usual on the others; %.0f %% of the time is in slower kernels", many(n.CallCount, "kernel", "kernels"), n.GPUCount, timeText(n.CallsNs),
		100*(n.CallsNs/n.UsualNs-1), 100*n.SlowerNs/n.CallsNs)
	if own, others := frame.Or(n.ClockHz, 0), frame.Or(n.OthersClockHz, 0); own > 0 && others > 0 {
		text += fmt.Sprintf("; its SM clock averages %.0f MHz, that of the others %.0f MHz", own/1e6, others/1e6)
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

func (n throttling) words(Finding) string {
	return fmt.Sprintf("clocks were throttled in %s of %s: mean %.0f MHz, maximum %.0f MHz; GPU work took %s", grouped(n.SlowCount), many(n.SampleCount, "sample", "samples"), n.ClockHz/1e6, n.MaxClockHz/1e6, timeText(n.WorkNs))
}
