package chart

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"prof/queries/frame"
	"prof/render/picture"
	"prof/render/typeset"
)

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
