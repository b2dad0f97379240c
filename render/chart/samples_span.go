package chart

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// sampleSpan is the time that the samples of one GPU in one pass take, from the start of the pass.
type sampleSpan struct {
	from, to float64 // ns
	silence  float64 // ns without a sample that break a line
}

func newSampleSpan(parts []sampleRow) sampleSpan {
	first, last := parts[0].StartNs, parts[len(parts)-1].EndNs
	s := sampleSpan{from: first, to: max(last, first+1)}
	var steps []float64
	for i := 1; i < len(parts); i++ {
		steps = append(steps, middle(parts[i])-middle(parts[i-1]))
	}
	if len(steps) > 0 {
		slices.Sort(steps)
		s.silence = lineBreak * steps[len(steps)/2]
	}
	return s
}

// middle is the time that a part stands for.
func middle(r sampleRow) float64 {
	return (r.StartNs + r.EndNs) / 2
}

func (s sampleSpan) at(ns float64) float64 { return (ns - s.from) / (s.to - s.from) }

// lines draws a quantity. Where it was not told for long, the line is broken.
func (s sampleSpan) lines(parts []sampleRow, of func(sampleRow) *float64, top float64, class, title string) []sampleLine {
	var out []sampleLine
	var points []string
	end := func() {
		if len(points) == 1 { // a line of one point is drawn as a dot
			points = append(points, points[0])
		}
		if len(points) > 0 {
			out = append(out, sampleLine{class, title, strings.Join(points, " ")})
		}
		points = nil
	}
	last := s.from
	for _, r := range parts {
		v, known := frame.Finite(of(r))
		if !known {
			continue
		}
		if middle(r)-last > s.silence {
			end()
		}
		last = middle(r)
		points = append(points, Pixels(s.at(last)*lineWidth)+","+Pixels((1-v/top)*lineHeight))
	}
	end()
	return out
}

// The classes of what is shaded.
const (
	classSlowed  = "slowed"
	classUnknown = "perhaps"
)

// slowdowns reads from throttling which reasons mean that times are longer than they could be; nil when it was not asked. A reason that
// is not there is not known.
func slowdowns(f *frame.Frame) (map[string]bool, error) {
	if f == nil {
		return nil, nil
	}
	out := map[string]bool{}
	if len(f.Rows) == 0 {
		return out, nil
	}
	rows, err := throttleRows.Of(f)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if is := r.IsSlowdown; is != nil {
			out[r.Reason] = *is
		}
	}
	return out, nil
}

// shadeClass returns how a part with these reasons is shaded; "" where none of them slows down.
func shadeClass(reasons string, slows map[string]bool) string {
	class := ""
	for _, reason := range strings.Split(reasons, ", ") {
		switch is, known := slows[reason]; {
		case reason == "":
		case is:
			return classSlowed
		case !known:
			class = classUnknown
		}
	}
	return class
}

// shades returns the stretches in which clocks were held down. A part stands for the time to the middle between its neighbours and it, since
// parts without a sample are left out. Nothing is shaded where it was not asked which reasons slow a GPU down.
func (s sampleSpan) shades(parts []sampleRow, slows map[string]bool) []sampleShade {
	if slows == nil {
		return nil
	}
	var out []sampleShade
	for i := 0; i < len(parts); {
		reasons, first := parts[i].Throttle, i
		for i++; i < len(parts) && parts[i].Throttle == reasons; i++ {
		}
		class := shadeClass(reasons, slows)
		if class == "" {
			continue
		}
		from, to := s.from, s.to
		if first > 0 {
			from = (middle(parts[first-1]) + middle(parts[first])) / 2
		}
		if i < len(parts) {
			to = (middle(parts[i-1]) + middle(parts[i])) / 2
		}
		title := fmt.Sprintf("%s from %s to %s", typeset.Neutral(reasons), typeset.Nanoseconds(from), typeset.Nanoseconds(to))
		out = append(out, sampleShade{class, Length(s.at(from)), Length(s.at(to) - s.at(from)), title})
	}
	return out
}

// shadesSpoken is how many stretches are read out.
const shadesSpoken = 5

// spokenShades puts the first stretches in words.
func spokenShades(shades []sampleShade) string {
	if len(shades) == 0 {
		return ""
	}
	var said []string
	first, left := typeset.FirstOf(shades, shadesSpoken)
	for _, s := range first {
		said = append(said, s.Title)
	}
	if left > 0 {
		said = append(said, fmt.Sprintf("%d stretches more", left))
	}
	return "; throttled: " + strings.Join(said, ", ")
}
