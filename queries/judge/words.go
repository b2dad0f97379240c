package judge

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"prof/schema/say"
	"prof/schema/terms"
)

// Bound is what keeps a stage from being faster: the name of a terms.Bound.
type Bound string

// What a stage can be bound by.
const (
	LaunchBound  Bound = "launch-bound"
	HostBound    Bound = "host"
	WaitBound    Bound = "wait"
	CommBound    Bound = "communication"
	QueueBound   Bound = "queued"
	CopyBound    Bound = "copies"
	MemoryBound  Bound = "memory"
	ComputeBound Bound = "compute"
	BusyBound    Bound = "busy"
	MixedBound   Bound = "mixed"
	LateBound    Bound = "late-gpu"
	UnknownBound Bound = "unknown"
)

func (b Bound) words() terms.Bound {
	w, _ := terms.BoundNamed(string(b))
	return w
}

// Label is the term for it in a cell, such as launch-bound.
func (b Bound) Label() string { return b.words().Label }

// Says is what the stage does or is, in a sentence: is launch-bound.
func (b Bound) Says() string { return b.words().Says }

// Meaning explains it in plain words.
func (b Bound) Meaning() string { return b.words().Meaning }

// DurationText returns a time with three digits in the unit that suits it: 631 ms.
func DurationText(ns float64) string { return say.Duration(ns) }

// percentText returns a share with one decimal, or as many as its first digit needs.
func percentText(ratio float64) string {
	percent := 100 * ratio
	decimals := 1
	for decimals < 4 && percent != 0 && math.Abs(percent) < 0.95*math.Pow10(-decimals) {
		decimals++
	}
	return strconv.FormatFloat(percent, 'f', decimals, 64) + " %"
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
	return commandOf("prof query "+query, s.name, options...)
}

// commandOf writes a command about a run; options are names and values, of which empty ones are left out.
func commandOf(verb, run string, options ...string) string {
	out := verb + " --run " + ShellWord(run)
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

// usable leaves out a utilisation over 1, which is an error in what was given.
func usable(ratio *float64) *float64 {
	if ratio == nil || *ratio > 1 {
		return nil
	}
	return ratio
}

func (e evidence) mfuText() string { return e.useText("MFU", e.use.mfu) }
func (e evidence) mbuText() string { return e.useText("MBU", e.use.mbu) }

func (e evidence) useText(name string, ratio *float64) string {
	switch {
	case ratio == nil:
		return name + " is unknown"
	case usable(ratio) == nil:
		return name + " of " + percentText(*ratio) + " means that an input is wrong"
	case e.use.isLeast:
		return name + " is at least " + percentText(*ratio)
	}
	return name + " is " + percentText(*ratio)
}

// uncountedText returns why utilisation is more than the figures say; "" when it is not.
func (e evidence) uncountedText() string {
	if len(e.use.uncounted) == 0 {
		return ""
	}
	return " (without the operations of " + strings.Join(e.use.uncounted, ", ") + ")"
}
