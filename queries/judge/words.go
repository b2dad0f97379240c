package judge

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"prof/queries/caveat"
)

// Bound is what keeps a stage from being faster.
type Bound string

// What a stage can be bound by.
const (
	LaunchBound  Bound = "launch"
	HostBound    Bound = "host"
	WaitBound    Bound = "waiting"
	CommBound    Bound = "communication"
	QueueBound   Bound = "queue"
	CopyBound    Bound = "copies"
	MemoryBound  Bound = "memory"
	ComputeBound Bound = "compute"
	KernelBound  Bound = "kernels"
	MixedBound   Bound = "mixed"
	LateBound    Bound = "late-gpu"
	UnknownBound Bound = "unknown"
)

// boundWords are the name of a bound and its meaning for a reader who is new to it.
var boundWords = map[Bound][2]string{
	LaunchBound:  {"launch-bound", "the GPU idles because the CPU launches work more slowly than the GPU completes it"},
	HostBound:    {"host-bound", "the GPU idles while the CPU is busy outside CUDA"},
	WaitBound:    {"waiting", "the GPU idles while the CPU waits for a result, allocates memory or loads code"},
	CommBound:    {"communication-bound", "GPUs exchange data instead of computing"},
	QueueBound:   {"queue-bound", "the GPU pauses before work that was launched in time"},
	CopyBound:    {"copy-bound", "data is copied while no kernel runs"},
	MemoryBound:  {"memory-bound", "time goes to reading weights and KV cache from GPU memory, not to arithmetic"},
	ComputeBound: {"compute-bound", "the GPU's arithmetic units limit the speed"},
	KernelBound:  {"kernel-bound", "kernels take most of the time"},
	MixedBound:   {"mixed", "kernels take the time, and no single limit applies to most of them"},
	LateBound:    {"held up by a late GPU", "one GPU arrives late at collectives, and the others wait for it"},
	UnknownBound: {"unknown", "the capture does not show it"},
}

// Name is the term for it, such as launch-bound.
func (b Bound) Name() string { return boundWords[b][0] }

// Meaning explains it in plain words.
func (b Bound) Meaning() string { return boundWords[b][1] }

// DurationText returns a time with three digits in the unit that suits it: 631 ms.
func DurationText(ns float64) string { return caveat.Duration(ns) }

// percentText returns a share with one decimal, or as many as its first digit needs.
func percentText(ratio float64) string {
	percent := 100 * ratio
	decimals := 1
	for decimals < 4 && percent != 0 && math.Abs(percent) < 0.95*math.Pow10(-decimals) {
		decimals++
	}
	return strconv.FormatFloat(percent, 'f', decimals, 64) + " %"
}

// countText gives a number of things: 1 pass, 3 passes.
func countText(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + several
}

// stageText names a stage in a sentence.
func stageText(stage string) string {
	if stage == "" {
		return "all device work"
	}
	return stage
}

// command returns a query of the run as a command; options come in pairs, and those without a value are left out.
func (s *summariser) command(query string, options ...string) string {
	out := fmt.Sprintf("prof query %s --run %s", query, ShellWord(s.name))
	for i := 0; i+1 < len(options); i += 2 {
		if options[i+1] != "" {
			out += " --" + options[i] + " " + ShellWord(options[i+1])
		}
	}
	return out
}

var shellPlain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,][A-Za-z0-9_./:@%+=,-]*$`)

// ShellWord writes a word for a shell, between quotes where it needs them, as the query _shell-word does in the rows of findings.
func ShellWord(s string) string {
	if shellPlain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
