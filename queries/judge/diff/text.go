package diff

import (
	"math"
	"strconv"

	"prof/queries/judge"
)

// stageName names a stage in a sentence.
func stageName(stage string) string {
	switch stage {
	case "":
		return "all device work"
	case outside:
		return "work outside stages"
	}
	return stage
}

func signedTime(ns int64) string {
	if ns > 0 {
		return "+" + judge.DurationText(float64(ns))
	}
	return judge.DurationText(float64(ns))
}

// percentText returns the size of a ratio in percent, with one decimal below 10 and at least one digit that is not 0.
func percentText(ratio float64) string {
	percent := math.Abs(100 * ratio)
	decimals := 0
	switch {
	case percent == 0 || percent >= 9.95:
	case percent < 0.095:
		return strconv.FormatFloat(percent, 'g', 1, 64) + " %"
	default:
		decimals = 1
	}
	return strconv.FormatFloat(percent, 'f', decimals, 64) + " %"
}

// exactPercent is percentText with a decimal up to 100 %, for the figure that a verdict is about.
func exactPercent(ratio float64) string {
	if percent := math.Abs(100 * ratio); percent >= 9.95 && percent < 99.95 {
		return strconv.FormatFloat(percent, 'f', 1, 64) + " %"
	}
	return percentText(ratio)
}

// signedPercent returns a change: -31 %, +4.2 %, or how many times as much where it is more than three times.
func signedPercent(effect float64) string {
	switch {
	case effect > 99:
		return strconv.FormatFloat(1+effect, 'f', 0, 64) + "x"
	case effect > 2:
		return strconv.FormatFloat(1+effect, 'g', 3, 64) + "x"
	case effect < 0:
		return "-" + percentText(effect)
	}
	return "+" + percentText(effect)
}

func countText(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + several
}
