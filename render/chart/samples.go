package chart

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"prof/queries/frame"
	"prof/render/picture"
	"prof/render/typeset"
)

// sampleFigure is the picture of sample-series, lines over the time of a pass for each of its GPUs, and of ncu-samples, lines over the time of a launch.
type sampleFigure struct {
	Groups []sampleGroup
	Hint   string // what the lines are, and what is not drawn
}

// sampleGroup is one GPU in one pass, or one launch.
type sampleGroup struct {
	Title string
	Plots []samplePlot
}

type samplePlot struct {
	Title, Said, Spoken string
	Height, Below       int
	XTicks, YTicks      []Tick
	Lines               []sampleLine
	Shades              []sampleShade
}

// sampleLine is a line without a break, as points of an SVG of 1000 by 100.
type sampleLine struct{ Class, Title, Points string }

// sampleShade is a stretch in which clocks were held down.
type sampleShade struct{ Class, X, Width, Title string }

// The measures of these pictures.
const (
	sampleHeight = 72 // pixels
	groupsShown  = 8
	lineWidth    = 1000
	lineHeight   = 100
	lineBreak    = 5 // so many times the median distance without a sample break a line
)

// quantity is what a small picture shows: the mean of each part, and its extreme where the query has one.
type quantity struct {
	title    string
	of       func(sampleRow) *float64
	extreme  func(sampleRow) *float64 // nil where there is none
	farthest string                   // what the extreme is
	unit     frame.Unit
	top      float64 // of the axis; 0 for what the largest value needs
}

var quantities = []quantity{
	{title: "SM use", of: func(r sampleRow) *float64 { return r.SMRatio }, unit: frame.Ratio, top: 1},
	{title: "SM clock", of: func(r sampleRow) *float64 { return r.SMClockHz }, extreme: func(r sampleRow) *float64 { return r.SMClockMinHz }, farthest: "lowest", unit: frame.Hz},
	{title: "Power", of: func(r sampleRow) *float64 { return r.PowerW }, extreme: func(r sampleRow) *float64 { return r.PowerMaxW }, farthest: "highest", unit: frame.Watt},
	{title: "Temperature, highest", of: func(r sampleRow) *float64 { return r.TemperatureC }, unit: frame.Celsius},
	{title: "Memory used, most", of: func(r sampleRow) *float64 { return r.MemoryUsedBytes }, unit: frame.Bytes},
}

// newSampleFigure draws the series; throttling says which reasons slow a GPU down, and is nil when it was not asked.
func newSampleFigure(f, throttling *frame.Frame) (*sampleFigure, error) {
	rows, err := sampleRows.Of(f)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	slows, err := slowdowns(throttling)
	if err != nil {
		return nil, err
	}
	groups := groupRows(rows, groupTitle)
	shown, left := typeset.FirstOf(groups, groupsShown)
	figure := &sampleFigure{Hint: "NVML samples during the recordings; each point is the mean of the samples in one part of the recording; thin lines are the lowest clock and the highest power of each part. Time counts from the start of the recording; lines break where NVML gave no value."}
	slowed, unknown := false, false
	tops := topsOf(shown)
	for _, parts := range shown {
		g := sampleGroup{Title: groupTitle(parts[0])}
		span := newSampleSpan(parts)
		shades := span.shades(parts, slows)
		for i, q := range quantities {
			plot, some := newSamplePlot(parts, q, tops[i], span)
			if !some {
				continue
			}
			plot.Shades, plot.Spoken = shades, g.Title+", "+plot.Spoken+spokenShades(shades)
			g.Plots = append(g.Plots, plot)
		}
		for _, s := range shades {
			slowed = slowed || s.Class == classSlowed
			unknown = unknown || s.Class == classUnknown
		}
		figure.Groups = append(figure.Groups, g)
	}
	if slowed {
		figure.Hint += " Shaded: clocks were throttled by power or temperature."
	}
	if unknown {
		figure.Hint += " Shaded lightly: clocks were throttled, and whether that lengthens times is not known."
	}
	if text := leftOut(groups, left, slows); text != "" {
		figure.Hint += " " + text
	}
	return figure, nil
}

// groupTitle names a pass and GPU.
func groupTitle(r sampleRow) string {
	return fmt.Sprintf("%s, GPU %d", typeset.Neutral(r.Pass), r.Device)
}

// leftOut names what is not drawn, the last so many groups, and says of which of these clocks were held down.
func leftOut(groups [][]sampleRow, left int, slows map[string]bool) string {
	if left == 0 {
		return ""
	}
	var held []string
	for _, parts := range groups[len(groups)-left:] {
		if len(newSampleSpan(parts).shades(parts, slows)) > 0 {
			held = append(held, groupTitle(parts[0]))
		}
	}
	text := fmt.Sprintf("The first %d of %d recordings and GPUs are drawn; the query gives the others.", groupsShown, len(groups))
	if len(held) > 0 {
		named, more := typeset.FirstOf(held, groupsShown)
		text += " Throttled among the others: " + strings.Join(named, "; ")
		if more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		text += "."
	}
	return text
}

// topsOf returns the top of each quantity's axis: one for all groups, so that they can be compared.
func topsOf(groups [][]sampleRow) []float64 {
	tops := make([]float64, len(quantities))
	for i, q := range quantities {
		most := 0.0
		for _, parts := range groups {
			for _, r := range parts {
				for _, of := range []func(sampleRow) *float64{q.of, q.extreme} {
					if of == nil {
						continue
					}
					if v, known := frame.Finite(of(r)); known {
						most = max(most, v)
					}
				}
			}
		}
		if tops[i] = q.top; q.top == 0 {
			tops[i] = roundTop(q.unit, most)
		}
	}
	return tops
}

// newSamplePlot draws one quantity; some is false when no part has a value of it.
func newSamplePlot(parts []sampleRow, q quantity, top float64, span sampleSpan) (p samplePlot, some bool) {
	p = samplePlot{Title: q.title, Height: sampleHeight, Below: sampleHeight + 15, XTicks: timeTicks(span.from, span.to)}
	for _, v := range []float64{0, top / 2, top} {
		p.YTicks = append(p.YTicks, Tick{Pixels(sampleHeight * (1 - v/top)), typeset.Amount(q.unit, v)})
	}
	mean, least, most, weight := 0.0, math.Inf(1), math.Inf(-1), 0.0
	for _, r := range parts {
		if v, known := frame.Finite(q.of(r)); known {
			n := float64(max(r.SampleCount, 1))
			mean, weight = mean+v*n, weight+n
			least, most = min(least, v), max(most, v)
		}
		if q.extreme == nil {
			continue
		}
		if v, known := frame.Finite(q.extreme(r)); known {
			least, most = min(least, v), max(most, v)
		}
	}
	if weight == 0 {
		return p, false
	}
	p.Said = fmt.Sprintf("mean %s, %s to %s", typeset.Amount(q.unit, mean/weight), typeset.Amount(q.unit, least), typeset.Amount(q.unit, most))
	p.Spoken = q.title + ": " + p.Said
	if q.extreme != nil {
		p.Lines = span.lines(parts, q.extreme, top, "line extreme", q.title+", "+q.farthest+" of each part: "+p.Said)
	}
	p.Lines = append(p.Lines, span.lines(parts, q.of, top, "line", p.Spoken)...)
	return p, true
}

// partOfUnit are metrics of a part of what a unit does, beside one of all of it.
var partOfUnit = regexp.MustCompile(`_(srcunit|aperture|read|write)_|_pipe_fma(heavy|lite)_`)

// coursesShown is how many metrics of a launch are drawn.
const coursesShown = 6

// courseHint says what the lines of ncu-samples are.
const courseHint = "PM samples of Nsight Compute: the share of its peak that a unit reached, over the time of the launch; the six units with the most, all of a launch on one scale. Each pass runs the kernel anew, so lines of two passes need not agree to the sample."

// newCourseFigure draws the throughput of units over the time of launches; nil where none was sampled.
func newCourseFigure(f *frame.Frame) (*sampleFigure, error) {
	rows, err := courseRows.Of(f)
	if err != nil {
		return nil, err
	}
	figure := &sampleFigure{Hint: courseHint}
	for _, launch := range groupRows(rows, func(r courseRow) string { return strconv.FormatInt(r.Launch, 10) }) {
		g := sampleGroup{Title: fmt.Sprintf("%s, launch %d", typeset.Neutral(launch[0].Kernel), launch[0].Launch)}
		var courses []course
		for _, parts := range groupRows(launch, func(r courseRow) string { return r.Metric }) {
			c := newCourse(parts, len(courses))
			if name := parts[0].Metric; strings.HasSuffix(name, ".pct_of_peak_sustained_elapsed") && !partOfUnit.MatchString(name) && c.most > 0 {
				courses = append(courses, c)
			}
		}
		slices.SortStableFunc(courses, func(a, b course) int { return cmp.Compare(b.mean, a.mean) })
		courses, _ = typeset.FirstOf(courses, coursesShown)
		slices.SortFunc(courses, func(a, b course) int { return cmp.Compare(a.order, b.order) })
		top := 0.0
		for _, c := range courses {
			top = max(top, c.most)
		}
		for _, c := range courses {
			g.Plots = append(g.Plots, c.plot(g.Title, roundTop(frame.Ratio, top)))
		}
		if len(g.Plots) > 0 {
			figure.Groups = append(figure.Groups, g)
		}
	}
	if len(figure.Groups) == 0 {
		return nil, nil
	}
	return figure, nil
}

// course is one metric of a launch; values are shares of the peak.
type course struct {
	parts             []courseRow
	order             int
	mean, least, most float64
}

func newCourse(parts []courseRow, order int) course {
	c := course{parts: parts, order: order, least: parts[0].Value / 100}
	sum, n := 0.0, 0.0
	for _, r := range parts {
		sum, n = sum+r.Value/100*float64(r.Samples), n+float64(r.Samples)
		c.least, c.most = min(c.least, r.Value/100), max(c.most, r.Value/100)
	}
	c.mean = sum / max(n, 1)
	return c
}

// plot draws a course: each sample stands for all of its time.
func (c course) plot(of string, top float64) samplePlot {
	from, to := c.parts[0].StartNs, c.parts[len(c.parts)-1].EndNs
	to = max(to, from+1)
	title := cmp.Or(c.parts[0].Label, c.parts[0].Metric)
	p := samplePlot{Title: typeset.Neutral(title), Height: sampleHeight, Below: sampleHeight + 15, XTicks: timeTicks(from, to)}
	for _, v := range []float64{0, top / 2, top} {
		p.YTicks = append(p.YTicks, Tick{Pixels(sampleHeight * (1 - v/top)), typeset.Amount(frame.Ratio, v)})
	}
	p.Said = fmt.Sprintf("mean %s, %s to %s", typeset.Amount(frame.Ratio, c.mean), typeset.Amount(frame.Ratio, c.least), typeset.Amount(frame.Ratio, c.most))
	p.Spoken = of + ", " + p.Title + ": " + p.Said
	var points []string
	for _, r := range c.parts {
		y := Pixels((1 - r.Value/100/top) * lineHeight)
		for _, at := range []float64{r.StartNs, r.EndNs} {
			points = append(points, Pixels((at-from)/(to-from)*lineWidth)+","+y)
		}
	}
	p.Lines = []sampleLine{{"line", p.Title + ": " + p.Said, strings.Join(points, " ")}}
	return p
}

// CoursePicture draws the throughput of units over the time of launches; nil where none was sampled.
func CoursePicture(f *frame.Frame, title string) (*picture.Picture, error) {
	figure, err := newCourseFigure(f)
	if figure == nil || err != nil {
		return nil, err
	}
	const left, right = 52, 20
	s := picture.NewSheet(title)
	l := &Lengths{Left: picture.Margin + left, Width: picture.Inner - left - right}
	for _, g := range figure.Groups {
		s.Head(g.Title)
		for _, p := range g.Plots {
			height := float64(p.Height)
			l.Top = s.Room(height+48) + 20
			s.Words(l.Left, l.Top-6, p.Title+": "+p.Said, picture.Label)
			s.Rect(l.Left, l.Top, l.Width, height, picture.Style{Fill: picture.Tint}, "")
			for _, t := range p.YTicks {
				s.Line(l.Left, l.Y(t.At), l.Left+l.Width, l.Y(t.At), picture.Style{Stroke: picture.Line}, "")
				s.Words(l.Left-6, l.Y(t.At)+4, t.Text, picture.EndLabel)
			}
			for _, t := range p.XTicks {
				s.Words(l.X(t.At), l.Top+float64(p.Below), t.Text, picture.TickLabel)
			}
			for _, line := range p.Lines {
				var points []picture.Point
				for point := range strings.FieldsSeq(line.Points) {
					x, y, _ := strings.Cut(point, ",")
					points = append(points, picture.Point{X: l.Left + l.Of(x)*l.Width/lineWidth, Y: l.Top + l.Of(y)*height/lineHeight})
				}
				s.Shape(points, picture.Style{Stroke: InkOf("series-0"), Width: 1.5}, line.Title)
			}
		}
	}
	s.Room(8)
	s.Note(figure.Hint)
	return s.Picture, l.Err
}
