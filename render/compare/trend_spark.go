package compare

import (
	"slices"

	"prof/queries/judge/trend"
)

// sparks are the heights of a line of text, lowest first.
var sparks = []rune("▁▂▃▄▅▆▇█")

// sparkGap stands for runs of which the value is not known.
const sparkGap = '·'

// leastSwing is the least share of its median that a line of text is high: noise of a per cent is not to look like a mountain range.
const leastSwing = 0.1

// sparkline draws values, oldest first, in at most so many cells. Where there are more values, a cell is the median of those that fall into
// it. Values beyond the lowest and the highest 2 % of many are drawn at the edge, so that an outlier does not flatten the rest.
func sparkline(values []*float64, cells int) string {
	cells = min(cells, len(values))
	if cells <= 0 {
		return ""
	}
	low, high := sparkRange(sortedKnown(values))
	out := make([]rune, cells)
	for i := range cells {
		v, some := medianKnown(values[i*len(values)/cells : (i+1)*len(values)/cells])
		if !some {
			out[i] = sparkGap
			continue
		}
		at := int((v - low) / (high - low) * float64(len(sparks)))
		out[i] = sparks[max(0, min(len(sparks)-1, at))]
	}
	return string(out)
}

// sortedKnown returns the values that are known.
func sortedKnown(values []*float64) []float64 {
	var known []float64
	for _, v := range values {
		if v != nil {
			known = append(known, *v)
		}
	}
	slices.Sort(known)
	return known
}

// sparkRange returns the lowest and highest value of a line, which differ, of its values in order.
func sparkRange(sorted []float64) (low, high float64) {
	if len(sorted) == 0 {
		return 0, 1
	}
	cut := len(sorted) / 50
	low, high = sorted[cut], sorted[len(sorted)-1-cut]
	middle := sorted[len(sorted)/2]
	if short := leastSwing*middle - (high - low); short > 0 {
		low, high = low-short/2, high+short/2
	}
	if low == high { // all are 0
		high = low + 1
	}
	return low, high
}

// medianKnown is the median of the values that are known; the upper one of two in the middle.
func medianKnown(values []*float64) (v float64, some bool) {
	known := sortedKnown(values)
	if len(known) == 0 {
		return 0, false
	}
	return known[len(known)/2], true
}

// pointValues are the values of a series.
func pointValues(s trend.Series) []*float64 {
	out := make([]*float64, len(s.Points))
	for i, p := range s.Points {
		out[i] = p.Value
	}
	return out
}
