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
	LaunchBound:  {"launch-bound", "the GPU waits for the CPU, which hands it work in small pieces, more slowly than it gets through them"},
	HostBound:    {"host-bound", "the GPU waits while the CPU does something else than handing it work"},
	WaitBound:    {"waiting", "the GPU idles while the program waits for a result, or allocates memory and loads code"},
	CommBound:    {"communication-bound", "GPUs exchange data while they compute nothing"},
	QueueBound:   {"queue-bound", "the GPU pauses between pieces of work that had been handed to it in time"},
	CopyBound:    {"copy-bound", "data is moved while nothing is computed"},
	MemoryBound:  {"memory-bound", "reading weights and cached context from the GPU's memory takes the time, not computing"},
	ComputeBound: {"compute-bound", "the GPU's arithmetic units take the time"},
	KernelBound:  {"kernel-bound", "the programs that run on the GPU (kernels) take most of the time"},
	MixedBound:   {"mixed", "its kernels take the time, and no one limit holds most of them back"},
	LateBound:    {"waiting for a late GPU", "one GPU comes late to where GPUs exchange data, and the others wait for it"},
	UnknownBound: {"not known", "what was captured does not tell"},
}

// Name is the term for it, such as launch-bound.
func (b Bound) Name() string { return boundWords[b][0] }

// Meaning explains it in plain words.
func (b Bound) Meaning() string { return boundWords[b][1] }

// DurationText gives a time with three digits in the unit that suits it: 631 ms.
func DurationText(ns float64) string { return caveat.Duration(ns) }

// percentText gives a share with one decimal, or as many as its first digit needs.
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

// command gives a query of the run as a command; options come in pairs, and those without a value are left out.
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
