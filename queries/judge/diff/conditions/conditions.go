// Package conditions is what is known of runs beside their times, what differs between two sets of them, and what that means for their times.
package conditions

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/stats"
	"prof/schema/say"
)

// Aspect is one thing that is known of how a run came about: its GPU, its driver, its tokens, an option of its capture.
type Aspect struct {
	Name   string `col:"aspect"`
	Value  string `col:"value"`
	Weight Weight `col:"weight"`
}

// Weight is how much a difference matters to the verdict.
type Weight string

// How much a difference can matter.
const (
	Decides Weight = "decides" // the sides did different work or ran on different hardware: figures compare that too
	Clouds  Weight = "clouds"  // may move times: versions, options, throttling
	Tells   Weight = "tells"   // what was changed on purpose: commit, tags, command
)

// Run is what is known of a run: what it ran on, what it worked on, and how it was captured.
type Run struct {
	ID      string
	Aspects []Aspect
}

// Value returns what is said of an aspect; "" when nothing is. Of options that are written down only where they are on, it says off.
func (r Run) Value(name string) string {
	if v, known := r.said(name); known {
		return v
	}
	_, isCaptured := r.said("capture mode") // by prof itself, so that what it wrote of variables and inputs is all of them
	prefix, _, _ := strings.Cut(name, " ")
	switch {
	case prefix == "tag":
		return "none"
	case prefix == "torch" && name != "torch version":
		if profiler, _ := r.said("profiler"); profiler == "torch" {
			return "off"
		}
	case prefix == "variable" && isCaptured:
		return "not set"
	case prefix == "input" && isCaptured:
		return "not given"
	}
	return ""
}

func (r Run) said(name string) (value string, known bool) {
	for _, a := range r.Aspects {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// row is one row of run-conditions.
type row struct {
	Aspect
	RunID string `col:"run_id"`
}

var rows = frame.RowsOf[row]("run-conditions")

// Load asks what is known of runs, in their order, in one statement: planning it for one run takes as long as for all.
func Load(ctx context.Context, asker frame.Asker, ids []string) ([]Run, *frame.Frame, error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	var each []string
	for _, id := range ids {
		if !slices.Contains(each, id) {
			each = append(each, id)
		}
	}
	args := frame.Args{"run": each[0]}
	if len(each) > 1 {
		args["others"] = strings.Join(each[1:], ",")
	}
	frames, err := asker.AskAll(ctx, []frame.Question{{Query: rows.Query, Args: args, Notes: frame.RowsOnly}})
	if err != nil {
		return nil, nil, fmt.Errorf("read the conditions of the runs: %w", err)
	}
	list, err := rows.Of(frames[0])
	if err != nil {
		return nil, nil, err
	}
	byRun := map[string][]Aspect{}
	for _, r := range list {
		if place(r.Weight) < 0 {
			return nil, nil, fmt.Errorf("%s: %q of %s is none of decides, clouds and tells", rows.Query, r.Weight, r.Name)
		}
		byRun[r.RunID] = append(byRun[r.RunID], r.Aspect)
	}
	out := make([]Run, len(ids))
	for i, id := range ids {
		out[i] = Run{id, byRun[id]}
	}
	return out, frames[0], nil
}

// stated is what the runs of one side say of an aspect.
type stated struct {
	values  []string // those that differ, by how many runs say them
	counts  []int
	unknown int       // runs that say nothing
	numbers []float64 // that the values begin with, of the runs that say one
}

func stateOf(runs []Run, name string) stated {
	var s stated
	for _, r := range runs {
		v := r.Value(name)
		if v == "" {
			s.unknown++
			continue
		}
		if at := slices.Index(s.values, v); at >= 0 {
			s.counts[at]++
		} else {
			s.values, s.counts = append(s.values, v), append(s.counts, 1)
		}
		if n, ok := number(v); ok {
			s.numbers = append(s.numbers, n)
		}
	}
	order := make([]int, len(s.values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(s.counts[j]-s.counts[i], cmp.Compare(s.values[i], s.values[j]))
	})
	values, counts := s.values, s.counts
	s.values, s.counts = make([]string, len(order)), make([]int, len(order))
	for to, from := range order {
		s.values[to], s.counts[to] = values[from], counts[from]
	}
	return s
}

func (s stated) isKnown() bool { return len(s.values) > 0 }

// isMixed reports whether the runs of the side differ in it.
func (s stated) isMixed() bool { return len(s.values) > 1 || len(s.values) == 1 && s.unknown > 0 }

// centre is the median of the numbers; false where a run says none.
func (s stated) centre() (float64, bool) {
	if len(s.numbers) == 0 || s.unknown > 0 {
		return 0, false
	}
	return stats.Centre(s.numbers), true
}

// text is what the side says, in words: each value with the number of its runs where they differ.
func (s stated) text() string {
	switch {
	case !s.isKnown():
		return notKnown
	case !s.isMixed():
		return s.values[0]
	}
	const shown = 4
	var parts []string
	for i, v := range s.values {
		if i == shown && len(s.values) > shown+1 {
			parts = append(parts, fmt.Sprintf("%d others", len(s.values)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", v, say.Count(int64(s.counts[i]), "run", "runs")))
	}
	if s.unknown > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s)", notKnown, say.Count(int64(s.unknown), "run", "runs")))
	}
	return strings.Join(parts, ", ")
}

const notKnown = "unknown"

// number is what a value begins with, or the mean of several that it ends with: 1980 of "1980 MHz", 217.6 of "128, 1024; mean 217.6".
func number(value string) (float64, bool) {
	if _, mean, ok := strings.Cut(value, "; mean "); ok {
		value = mean
	}
	first, _, _ := strings.Cut(value, " ")
	n, err := strconv.ParseFloat(first, 64)
	return n, err == nil
}

// ruleKind is how the values of an aspect are compared.
type ruleKind int

const (
	plain    ruleKind = iota // by their text
	clock                    // by their numbers, as ratios
	share                    // by their numbers, as differences of percentages
	version                  // by their text; one may have more parts than the other
	identity                 // by their text; runs of one side may well differ
)

// rule is how an aspect is compared and what a difference in it means.
type rule struct {
	aspect   string // its name, or what that begins with where this ends in a space
	kind     ruleKind
	mustKnow bool // what one side alone knows of it is a difference
	effect   string
	words    func(ratio float64) string // effect where both sides say a number: ratio is B as a multiple of A
}

const (
	otherHardware = "the comparison includes hardware"
	otherWork     = "passes do different work"
	otherSoftware = "a version change may change times"
	otherTrace    = "tracing overhead differs"
	otherLaunches = "different launches: affects kernel metrics only"
)

// rules are the aspects in the order in which differences of one weight are told.
var rules = []rule{
	{aspect: "GPU", mustKnow: true, effect: "different GPUs: " + otherHardware},
	{aspect: "SMs", effect: "different number of SMs: " + otherHardware, words: func(r float64) string { return times(r, "SMs") + ": " + otherHardware }},
	{aspect: "MIG", effect: "different MIG partitioning: " + otherHardware},
	{aspect: "maximum SM clock", kind: clock, effect: "different maximum clock: " + otherHardware, words: func(r float64) string { return times(r, "maximum SM clock") + ": " + otherHardware }},
	{aspect: "SM clock", kind: clock, mustKnow: true, effect: "the clocks differ", words: clockWords},
	{aspect: "model", effect: "different models: " + otherWork},
	{aspect: "model configuration", effect: "different models: " + otherWork},
	{aspect: "precision of the model", effect: "different precision: " + otherWork},
	{aspect: "precision of kernels", effect: "different precision: " + otherWork + ", against a different peak"},
	{aspect: "prompt tokens", mustKnow: true, effect: "different tokens: prefill is judged per token", words: func(r float64) string { return times(r, "tokens") + ": prefill is judged per token" }},
	{aspect: "decoded tokens", mustKnow: true, effect: "different tokens: decode is judged per token", words: func(r float64) string { return times(r, "tokens") + ": decode is judged per token" }},
	{aspect: "sequences", effect: "different batch: " + otherWork, words: func(r float64) string { return times(r, "sequences") + ": " + otherWork }},
	{aspect: "images", effect: "different images: " + otherWork, words: func(r float64) string { return times(r, "images") + ": " + otherWork }},
	{aspect: "crops", effect: "different images: " + otherWork, words: func(r float64) string { return times(r, "crops") + ": " + otherWork }},
	{aspect: "input ", effect: "different input: passes may do different work"},
	{aspect: "ranks", effect: "the work is split over a different number of ranks", words: func(r float64) string { return times(r, "ranks") + ": the work is split differently" }},
	{aspect: "captured ranks", effect: "a different number of ranks was captured"},
	{aspect: "processes", effect: "the work is split over a different number of processes", words: func(r float64) string { return times(r, "processes") + ": the work is split differently" }},
	{aspect: "profiler", mustKnow: true, effect: "different profilers: their CPU overhead differs"},
	{aspect: "throttling", kind: share, effect: "throttled by power or temperature: times are longer than at full clocks"},
	{aspect: "other processes", kind: share, effect: "other processes used the GPU: times are not the workload's alone"},
	{aspect: "host", effect: "different machine"},
	{aspect: "driver", kind: version, mustKnow: true, effect: otherSoftware},
	{aspect: "power limit", effect: "different power limit: clocks under load differ"},
	{aspect: "application clock", effect: "different clock setting"},
	{aspect: "ECC", effect: "ECC costs memory bandwidth"},
	{aspect: "CPU", effect: "different CPU: launches are faster or slower"},
	{aspect: "CPU cores", effect: "different number of CPU cores"},
	{aspect: "completeness", effect: "part of a capture is missing"},
	{aspect: "package ", effect: otherSoftware},
	{aspect: "CUDA ", effect: otherSoftware},
	{aspect: "variable ", effect: "it may change how a library computes"},
	{aspect: "capture mode", effect: "a deep capture slows the CPU more than a light one"},
	{aspect: "capture ", effect: "different capture window: passes may differ"},
	{aspect: "nsys version", effect: otherTrace},
	{aspect: "nsys trace of CUDA graphs", effect: "tracing by node makes graph launches longer; tracing whole graphs hides their kernels"},
	{aspect: "nsys ", effect: otherTrace},
	{aspect: "torch ", effect: otherTrace},
	{aspect: "ncu ", effect: otherLaunches},
	{aspect: "commit", kind: identity},
	{aspect: "branch", kind: identity},
	{aspect: "uncommitted changes", effect: "the code differs from its commit"},
	{aspect: "CUDA graphs", effect: "graph replays save launches"},
	{aspect: "command"},
	{aspect: "folder"},
	{aspect: "workload key", effect: "different command line or folder: not the same workload"},
	{aspect: "tag ", kind: identity},
	{aspect: "GPU UUID", kind: identity},
	{aspect: "prof version", kind: identity},
}

// ruleOf returns the rule of that name, else the first whose beginning fits; an aspect without one is compared by its text.
func ruleOf(name string) rule {
	if at := rulePlace(name); at < len(rules) {
		return rules[at]
	}
	return rule{aspect: name, effect: otherSoftware}
}

func rulePlace(name string) int {
	at := len(rules)
	for i := len(rules) - 1; i >= 0; i-- {
		if strings.HasSuffix(rules[i].aspect, " ") && strings.HasPrefix(name, rules[i].aspect) {
			at = i
		}
	}
	for i, r := range rules {
		if r.aspect == name {
			return i
		}
	}
	return at
}

// clockWords returns what another clock does by itself: computing goes with the SM clock, memory does not.
func clockWords(r float64) string {
	return fmt.Sprintf("B ran at %s: compute-bound kernels take %.2fx as long from that alone", times(r, "SM clock"), 1/r)
}

// times says a ratio in words: twice the tokens, half the SM clock, 1.4x the tokens.
func times(r float64, what string) string {
	const near = 0.02
	for _, w := range []struct {
		ratio float64
		words string
	}{{2, "twice"}, {3, "three times"}, {4, "four times"}, {1. / 2, "half"}, {1. / 3, "a third of"}, {1. / 4, "a quarter of"}} {
		if math.Abs(r/w.ratio-1) <= near {
			return w.words + " the " + what
		}
	}
	return fmt.Sprintf("%.3gx the %s", r, what)
}
