package render

import (
	"fmt"
	"strings"

	"prof/queries"
)

// passTimeText words the time of a pass: 398 ms (mean of 3, standard deviation 189 ms).
func passTimeText(s queries.StageSummary) string {
	text := timeText(s.MeanNs)
	switch {
	case s.Passes == 1:
		text += " (measured once)"
	case s.Passes > 1 && s.StdNs != nil:
		text += fmt.Sprintf(" (mean of %d, standard deviation %s)", s.Passes, timeText(*s.StdNs))
	case s.Passes > 1:
		text += fmt.Sprintf(" (mean of %d)", s.Passes)
	}
	if s.IsCPU {
		text += ", on the CPU"
	}
	return text
}

func timeText(ns float64) string {
	return alone(queries.Column{Name: "time_ns", Type: queries.Float, Unit: queries.Ns}, ns)
}

func shareText(ratio float64) string {
	return alone(queries.Column{Name: "share_ratio", Type: queries.Float, Unit: queries.Ratio}, ratio)
}

// dominates is how many times as long as the next a stage takes in all from which on it is said to dominate.
const dominates = 1.2

// leadOf is the first sentence: which stage takes most, and what bounds it.
func leadOf(s queries.Summary) string {
	switch {
	case len(s.Stages) > 0:
		first := s.Stages[0]
		if first.IsCPU {
			return fmt.Sprintf("No stage has work on a GPU in the capture: %s takes %s on the CPU.", first.Stage, timeText(first.MeanNs))
		}
		verb := "takes"
		if len(s.Stages) > 1 && first.ShareRatio >= dominates*s.Stages[1].ShareRatio {
			verb = "dominates with"
		}
		return fmt.Sprintf("%s %s %s of the measured time, %s a pass. %s", sentence(first.Stage), verb, shareText(first.ShareRatio), timeText(first.MeanNs), boundText(first))
	case s.All != nil:
		return fmt.Sprintf("The capture names no stages. From the first to the last work of the GPU are %s, loading and warm-up included. %s", timeText(s.All.MeanNs), boundText(*s.All))
	case s.Profiled != "":
		return s.Profiled + "."
	}
	return "The run has no work on a GPU whose time is known."
}

// boundText says what bounds a stage, and what comes next.
func boundText(s queries.StageSummary) string {
	if s.Bound == queries.UnknownBound {
		return fmt.Sprintf("What bounds it is not known: %s.", s.Why)
	}
	text := fmt.Sprintf("It is %s: %s.", s.Bound.Name(), s.Bound.Meaning())
	if s.Bound == queries.WaitBound {
		text = fmt.Sprintf("It waits: %s.", s.Bound.Meaning())
	}
	switch s.Next {
	case "", s.Bound, queries.UnknownBound:
	case queries.WaitBound:
		text += " Second, it waits."
	default:
		text += fmt.Sprintf(" Second, it is %s.", s.Next.Name())
	}
	if s.But != "" {
		text += " But " + s.But + "."
	}
	return text
}

// kernelText says of a kernel what it takes, where, and what bounds it.
func kernelText(k queries.TopKernel) string {
	text := fmt.Sprintf("%s of all kernel time: %s in %s of %s", shareText(k.ShareRatio), timeText(float64(k.TotalNs)), numberOf(k.Calls, "call", "calls"), timeText(k.MeanNs))
	if k.Role != "" {
		text += "; " + neutral(k.Role)
	}
	if k.Stage != "" {
		text += "; mostly in " + neutral(k.Stage)
	}
	switch k.Bound {
	case "":
		return text + "; what bounds it is not known, since Nsight Compute did not profile it"
	case "unknown":
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
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
