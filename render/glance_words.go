package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"prof/queries/judge"
)

// passTimeText words the time of a pass: 291 ms (median of 3, 287 to 617 ms).
func passTimeText(s judge.StageSummary) string {
	text := nanoseconds(s.MedianNs)
	switch {
	case s.Passes == 1:
		text += " (measured once)"
	case s.Passes > 1:
		text += fmt.Sprintf(" (median of %d, %s)", s.Passes, passRange(s))
	}
	if s.IsCPU {
		text += ", on the CPU"
	}
	return text
}

// passRange is the shortest and the longest pass: 287 to 617 ms.
func passRange(s judge.StageSummary) string {
	least, most := nanoseconds(s.MinNs), nanoseconds(s.MaxNs)
	if number, unit, _ := strings.Cut(least, " "); strings.HasSuffix(most, " "+unit) {
		least = number
	}
	return least + " to " + most
}

// dominates is how many times as long as the next a stage takes in all from which on it is said to dominate.
const dominates = 1.2

// leadOf is the first sentence: which stage takes most, and what bounds it.
func leadOf(s judge.Summary) string {
	switch {
	case len(s.Stages) > 0:
		first := s.Stages[0]
		if first.IsCPU {
			return fmt.Sprintf("No stage has work on a GPU that is known to be its own: %s takes %s on the CPU. Of it, %s.", first.Stage, nanoseconds(first.MedianNs), first.Why)
		}
		verb, of, rest := "takes", "the measured time", ""
		for _, other := range s.Stages[1:] {
			if other.IsCPU {
				of, rest = "the measured time on the GPU", rest+fmt.Sprintf(" %s takes %s on the CPU, and no work on the GPU is known to be its own.", sentence(other.Stage), nanoseconds(other.MedianNs))
			}
		}
		if len(s.Stages) > 1 && !s.Stages[1].IsCPU && first.ShareRatio >= dominates*s.Stages[1].ShareRatio {
			verb = "dominates with"
		}
		return fmt.Sprintf("%s %s %s of %s, %s a pass. %s%s", sentence(first.Stage), verb, percent(first.ShareRatio), of, nanoseconds(first.MedianNs), boundText(first), rest)
	case s.All != nil && len(s.WarmOnly) > 0:
		return fmt.Sprintf("All passes of %s count as warm-up: no stage was measured. From the first to the last work of the GPU are %s, loading and warm-up included. %s", strings.Join(s.WarmOnly, ", "), nanoseconds(s.All.MeanNs), boundText(*s.All))
	case s.All != nil:
		return fmt.Sprintf("The capture names no stages. From the first to the last work of the GPU are %s, loading and warm-up included. %s", nanoseconds(s.All.MeanNs), boundText(*s.All))
	case s.Profiled != "":
		return s.Profiled + "."
	}
	return "The run has no work on a GPU whose time is known."
}

// boundText says what bounds a stage, and what comes next.
func boundText(s judge.StageSummary) string {
	if s.Bound == judge.UnknownBound {
		return fmt.Sprintf("What bounds it is not known: %s.", s.Why)
	}
	text := fmt.Sprintf("It is %s: %s.", s.Bound.Name(), s.Meaning)
	if s.Bound == judge.WaitBound {
		text = fmt.Sprintf("It waits: %s.", s.Meaning)
	}
	switch {
	case s.Next == "" || s.Next == s.Bound || s.Next == judge.UnknownBound:
	case s.Bound == judge.LateBound && s.Next == judge.WaitBound:
		text += " That one idles while the program waits for a result, or allocates memory and loads code."
	case s.Bound == judge.LateBound:
		text += fmt.Sprintf(" That one is %s.", s.Next.Name())
	case s.Next == judge.WaitBound:
		text += " Second, it waits."
	default:
		text += fmt.Sprintf(" Second, it is %s.", s.Next.Name())
	}
	if s.But != "" {
		text += " But " + s.But + "."
	}
	return text
}

// useText words a utilisation. More than all is an error in what it was made from.
func useText(ratio float64, isLeast bool) string {
	switch {
	case ratio > 1:
		return percent(ratio) + " (an error in the inputs)"
	case isLeast:
		return "≥ " + percent(ratio)
	}
	return percent(ratio)
}

// centreTime words what a cost centre took: GPUs that work side by side add up.
func centreTime(c judge.CostCentre) string {
	text := nanoseconds(float64(c.TotalNs))
	switch {
	case c.GPUs == 2:
		text += " of both GPUs together"
	case c.GPUs > 2:
		text += fmt.Sprintf(" of %d GPUs together", c.GPUs)
	}
	return text
}

// kernelText says of a kernel what it takes, where, and what bounds it.
func kernelText(k judge.TopKernel) string {
	text := fmt.Sprintf("%s of all kernel time: %s in %s of %s", percent(k.ShareRatio), nanoseconds(float64(k.TotalNs)), numberOf(k.Calls, "call", "calls"), nanoseconds(k.MeanNs))
	if k.Role != "" {
		text += "; " + neutral(k.Role)
	}
	if k.Stage != "" {
		text += "; mostly in " + neutral(k.Stage)
	}
	switch {
	case k.Role == "collective":
		return text + "; its time holds the waiting for ranks that come later"
	case k.Bound == "":
		return text + "; what bounds it is not known, since Nsight Compute did not profile it"
	case k.Bound == "unknown":
		return text + "; what Nsight Compute measured does not tell what bounds it"
	}
	text += "; " + neutral(k.Bound) + "-bound by Nsight Compute"
	if k.Limiter != "" {
		text += " (" + neutral(k.Limiter) + ")"
	}
	return text
}

// sentence begins with a capital letter.
func sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
