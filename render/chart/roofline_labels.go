package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// The width of the picture on a phone and, at least, on other screens, and of a letter in it, in pixels.
const (
	narrowRoofline = 280.0
	broadRoofline  = 560.0
	roofLetter     = 6.4
)

// labelRoofs names the levels, those that are the same together, and the diagonal below its start.
func (p *rooflinePlot) labelRoofs(roofs []roof, resources []string, x, y logAxis) {
	const same, apart = 1.015, 12.0 // ratio of levels that are one; pixels from one label to the next
	levels := slices.DeleteFunc(slices.Clone(roofs), func(r roof) bool { return r.resource == dram || !leading(r, roofs) })
	slices.SortStableFunc(levels, func(x, y roof) int { return cmp.Compare(x.rate, y.rate) })
	bytes, last := bandwidth(roofs), math.Inf(1)
	for i := 0; i < len(levels); {
		var names []string
		class, lowest := "soft", levels[i].rate
		for ; i < len(levels) && levels[i].rate <= lowest*same; i++ {
			names = append(names, levels[i].resource)
			if slices.Contains(resources, levels[i].resource) {
				class = "own"
			}
		}
		last = min(rooflineHeight*(1-y.at(lowest))-2, last-apart)
		ridge := 0.0 // without a bandwidth the level begins at the left
		if bytes > 0 {
			ridge = min(x.at(lowest/bytes)-0.015, 1)
		}
		p.labelLevel(class, strings.Join(names, ", ")+" ", typeset.Amount(frame.FlopPerSec, lowest), ridge, last)
	}
	if bytes > 0 {
		start := max(x.at(y.from/bytes), 0) + 0.06
		down := func() float64 { return rooflineHeight * (1 - y.at(bytes*x.from*math.Pow(x.to/x.from, start))) }
		crowded := func(d roofDot) bool {
			across := x.at(d.intensity) - start
			return across > -0.05 && across < 0.3 && math.Abs(rooflineHeight*(1-y.at(d.rate))-down()) < 60
		}
		for first := start; slices.ContainsFunc(p.Dots, crowded); start += 0.05 {
			if start > 0.6 { // there is no better place
				start = first
				break
			}
		}
		height := 1 - down()/rooflineHeight
		p.Labels = append(p.Labels, roofLabel{"own", Length(start + 0.03), Pixels(rooflineHeight*(1-height) + 8), "start", "DRAM " + typeset.Amount(frame.BytesPerSec, bytes)})
	}
}

// labelLevel names a level at the given height: left of its ridge, since no launch lies there, else at its right end, as far as it
// does not reach back to the ridge. A phone that has room for neither gets the rate alone.
func (p *rooflinePlot) labelLevel(class, names, rate string, ridge, height float64) {
	if label, fits := levelLabel(class, names+rate, ridge, height, narrowRoofline); fits {
		p.Labels = append(p.Labels, label)
		return
	}
	narrow, _ := levelLabel(class+" narrow", rate, ridge, height, narrowRoofline)
	broad, _ := levelLabel(class+" broad", names+rate, ridge, height, broadRoofline)
	p.Labels = append(p.Labels, narrow, broad)
}

// levelLabel places a label on a screen so wide; fits is false where it covers the ridge.
func levelLabel(class, text string, ridge, height, screen float64) (label roofLabel, fits bool) {
	long := float64(typeset.Width(text)) * roofLetter
	if ridge*screen > long {
		return roofLabel{class, Length(ridge), Pixels(height), "end", text}, true
	}
	return roofLabel{class, Length(1), Pixels(height - 3), "end", text}, (1-ridge)*screen > long
}

// prefixed shows a rate on an axis by its prefix only: 100 G is 1e11.
func prefixed(v float64) string {
	prefixes := []string{"", " k", " M", " G", " T", " P", " E"}
	at := 0
	for at < len(prefixes)-1 && v >= 999.5 {
		v, at = v/1000, at+1
	}
	return typeset.Amount(frame.None, v) + prefixes[at]
}

// placeNumbers puts the numbers of the dots at each place where they cover no dot and no other number on a narrow screen, as far as there is such a place.
func placeNumbers(dots []roofDot, x logAxis, down func(float64) float64) {
	const clear = 11.0 // pixels that two marks need between them
	const same = 3.0   // pixels within which dots are at one place
	type spot struct{ x, y, half float64 }
	var taken []spot
	for _, d := range dots {
		taken = append(taken, spot{x.at(d.intensity) * narrowRoofline, down(d.rate), roofLetter / 2})
	}
	free := func(at spot) bool {
		return at.x-at.half > 1 && at.x+at.half < narrowRoofline-1 && at.y > 6 && at.y < rooflineHeight-4 &&
			!slices.ContainsFunc(taken, func(t spot) bool {
				return math.Abs(t.x-at.x) < clear-3+t.half+at.half && math.Abs(t.y-at.y) < clear
			})
	}
	at := slices.Clone(taken)
	named := make([]bool, len(dots))
	for i := range dots {
		if dots[i].Number == "" || named[i] {
			continue
		}
		own := taken[i]
		var numbers []int64
		for j := i; j < len(dots); j++ {
			if dots[j].Number != "" && !named[j] && math.Hypot(at[j].x-own.x, at[j].y-own.y) <= same {
				numbers, named[j] = append(numbers, dots[j].number), true
			}
		}
		dots[i].Near = joinRuns(numbers)
		half := float64(typeset.Width(dots[i].Near)) * roofLetter / 2
		best := spot{max(half, min(narrowRoofline-half, own.x)), own.y - 14, half}
	search:
		for radius := 14.0; radius <= 62; radius += 8 {
			for turn := range 12 {
				angle := float64(turn) * math.Pi / 6
				to := spot{own.x + (radius+half-roofLetter/2)*math.Sin(angle), own.y - radius*math.Cos(angle), half}
				if free(to) {
					best = to
					break search
				}
			}
		}
		taken = append(taken, best)
		dots[i].LabelX, dots[i].LabelY = Pixels(best.x-own.x), Pixels(best.y-own.y)
	}
}

// joinRuns writes rising numbers, three or more in a row by the first and the last: 1, 2, 4 to 9.
func joinRuns(numbers []int64) string {
	var out []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		if last-i < 2 {
			last = i
			out = append(out, fmt.Sprint(numbers[i]))
		} else {
			out = append(out, fmt.Sprintf("%d to %d", numbers[i], numbers[last]))
		}
		i = last + 1
	}
	return strings.Join(out, ", ")
}
