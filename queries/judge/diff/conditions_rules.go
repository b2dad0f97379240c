package diff

import (
	"fmt"
	"math"
	"strings"
)

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

// clockWords says what another clock does by itself: computing goes with the SM clock, memory does not.
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
