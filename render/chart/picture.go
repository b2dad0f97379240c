package chart

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"prof/queries/frame"
	"prof/render/picture"
)

// inks are the colours of pictures that stand alone, by class: those of the page by day; a test compares.
var inks = map[string]string{
	"part-compute": "#0072b2", "part-collective-overlapped": "#56b4e9", "part-collective-exposed": "#e69f00", "part-graph": "#009e73", "part-copy": "#cc79a7", "part-other": "#8f8f8f", "part-launch": "#d55e00",
	"part-launch-delay": "#f2a66f", "part-launch-latency": "#f7cfa8", "part-wait": "#e6d72a", "part-call": "#8766ad", "part-host": "#a9ada3", "part-profiler": "#7a5230", "part-queued": "#80c9bd", "part-unknown": "#d9d9d9",
	"part-kernel": "#0072b2", "part-collective": "#e69f00",
	"series-0": "#0072b2", "series-1": "#b5460f", "series-2": "#7a5195", "series-3": "#9a6a00", "series-4": "#147d90", "series-5": "#2e7d4f", "series-6": "#ad4d7c", "series-7": "#6e6e6e",
	"time-cpu": "#777c72", "time-span": "#4f86c0", "time-busy": "#0b4f8a", "good": "#1a7f37", "bad": "#b3261e", "unsure": "#8a6100",
	"stage-0": "#3c5a99", "stage-1": "#a03e63", "stage-2": "#2f7358", "stage-3": "#85601b", "stage-4": "#6a4c93", "stage-5": "#4d6570",
	"kernel-0": "#0b5a94", "kernel-1": "#a5cdee", "kernel-2": "#43479f", "kernel-3": "#c0bbee", "kernel-4": "#0c6b6b", "kernel-5": "#93d4cd", "kernel-6": "#5b6975", "kernel-7": "#c4cdd5",
	"on-kernel-0": "#ffffff", "on-kernel-1": "#000000", "on-kernel-2": "#ffffff", "on-kernel-3": "#000000", "on-kernel-4": "#ffffff", "on-kernel-5": "#000000", "on-kernel-6": "#ffffff", "on-kernel-7": "#000000",
}

// stageClass is the class of a stage's colour, which the timeline of the page has too: the same in every run.
func stageClass(stage string) string {
	switch stage {
	case "prefill":
		return "stage-0"
	case "decode":
		return "stage-1"
	}
	hash := uint32(2166136261)
	for _, unit := range utf16.Encode([]rune(stage)) {
		hash = (hash ^ uint32(unit)) * 16777619
	}
	return fmt.Sprintf("stage-%d", 2+(hash^hash>>15)%4)
}

// InkOf is the colour of a class that has one, the first of several.
func InkOf(classes string) string {
	for class := range strings.FieldsSeq(classes) {
		if ink := inks[class]; ink != "" {
			return ink
		}
	}
	return picture.Soft
}

// Lengths reads the lengths of figures, which are shares or pixels, for a plot whose width is known.
type Lengths struct {
	Left, Top, Width float64 // of the plot
	Err              error   // of the first that is none
}

// X is how far right a length is.
func (l *Lengths) X(length string) float64 { return l.Left + l.Of(length) }

// Y is how far down a length is.
func (l *Lengths) Y(length string) float64 { return l.Top + l.Of(length) }

// Of is a length.
func (l *Lengths) Of(length string) float64 {
	text, isShare := strings.CutSuffix(length, "%")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && l.Err == nil {
		l.Err = fmt.Errorf("length %q of a figure: %w", length, err)
	}
	if isShare {
		v *= l.Width / 100
	}
	return v
}

// StagesPicture draws the times of stages; nil where none is known.
func StagesPicture(f *frame.Frame, title string) (*picture.Picture, error) {
	figure, err := newStageFigure(f)
	if figure == nil || err != nil {
		return nil, err
	}
	s := picture.NewSheet(title)
	const name = 80
	l := &Lengths{Left: picture.Margin + name, Width: picture.Inner - name}
	for _, stage := range figure.Stages {
		s.Head(stage.Label)
		l.Top = s.Room(float64(len(stage.Bars) * stageBarRow))
		for _, b := range stage.Bars {
			y := l.Top + float64(b.TextY)
			s.Words(l.Left-8, y, b.Name, picture.EndLabel)
			if b.Width != "" {
				s.Rect(l.Left, l.Top+float64(b.BarY), l.Of(b.Width), 18, picture.Style{Fill: InkOf(b.Class)}, b.Title)
			}
			if b.To != "" {
				middle := l.Top + float64(b.MidY)
				s.Line(l.X(b.From), middle, l.X(b.To), middle, picture.Style{Stroke: picture.Ink, Width: 1.5}, "")
			}
			s.Words(l.X(b.TextX)+7, y, b.Text, picture.Label)
		}
	}
	s.Room(10)
	s.Note(strings.TrimSpace("Mean time per pass, all stages on one scale: on the CPU, from the first to the last GPU work (GPU span), and with GPU work running, on all GPUs together (GPU busy). Lines show one standard deviation either way. " + figure.LeftOut))
	return s.Picture, l.Err
}

// mark draws the shape of a launch around a point.
func mark(s *picture.Sheet, shape string, x, y float64, style picture.Style, title string) {
	switch shape {
	case "square":
		s.Rect(x-5, y-5, 10, 10, style, title)
	case "diamond":
		s.Shape([]picture.Point{{X: x, Y: y - 6.5}, {X: x + 6.5, Y: y}, {X: x, Y: y + 6.5}, {X: x - 6.5, Y: y}, {X: x, Y: y - 6.5}}, style, title)
	case "triangle":
		s.Shape([]picture.Point{{X: x, Y: y - 6}, {X: x + 6, Y: y + 5}, {X: x - 6, Y: y + 5}, {X: x, Y: y - 6}}, style, title)
	default:
		s.Circle(x, y, 5.5, style, title)
	}
}

// RooflinePicture draws the launches of each device below its ceilings; nil where none can be drawn.
func RooflinePicture(f, ceilings *frame.Frame, title string) (*picture.Picture, error) {
	figure, err := newRooflineFigure(f, ceilings)
	if err != nil {
		return nil, err
	}
	s := picture.NewSheet(title)
	drawn := 0
	for _, p := range figure.Plots {
		if len(p.Dots) == 0 {
			continue
		}
		drawn++
		if err := p.picture(s); err != nil {
			return nil, err
		}
	}
	if drawn == 0 {
		return nil, nil
	}
	s.Room(8)
	s.Note("Lines are what the device can reach: solid as measured (the highest over the launches), dashed from the table of dense peaks; bold for the precisions of the launches drawn. Left of the ridge (small ring) DRAM bandwidth bounds a kernel, right of it arithmetic. A launch's share is of its own roof, at the clock it ran at.")
	return s.Picture, nil
}

func (p *rooflinePlot) picture(s *picture.Sheet) error {
	s.Head(p.Device)
	s.Note("Rate (FLOP/s; G is a billion, T a thousand G, P a thousand T) over arithmetic intensity (FLOP per byte of DRAM traffic), both logarithmic")
	const left, right = 52, 20
	height := float64(p.Height)
	l := &Lengths{Left: picture.Margin + left, Width: picture.Inner - left - right}
	l.Top = s.Room(height+42) + 12
	s.Rect(l.Left, l.Top, l.Width, height, picture.Style{Fill: picture.Tint}, "")
	grid := picture.Style{Stroke: picture.Line}
	for _, t := range p.XTicks {
		s.Line(l.X(t.At), l.Top, l.X(t.At), l.Top+height, grid, "")
		s.Words(l.X(t.At), l.Top+float64(p.Below), t.Text, picture.TickLabel)
	}
	for _, t := range p.YTicks {
		s.Line(l.Left, l.Y(t.At), l.Left+l.Width, l.Y(t.At), grid, "")
		s.Words(l.Left-6, l.Y(t.At)+4, t.Text, picture.EndLabel)
	}
	for _, r := range p.Lines {
		s.Line(l.X(r.X1), l.Y(r.Y1), l.X(r.X2), l.Y(r.Y2), roofStyle(r.Class), r.Title)
	}
	for _, r := range p.Ridges {
		s.Line(l.X(r.X), l.Y(r.Y), l.X(r.X), l.Top+height, picture.Style{Stroke: InkOf(r.Class), Width: 1.5, Dash: 3}, "")
		s.Circle(l.X(r.X), l.Y(r.Y), 4, picture.Style{Stroke: InkOf(r.Class), Width: 1.5}, r.Title)
	}
	for _, t := range p.Labels {
		if strings.Contains(t.Class, "narrow") { // for phones
			continue
		}
		words := picture.Text{Size: 11.5, Fill: picture.Ink, Anchor: t.Anchor, Halo: picture.Tint}
		if strings.Contains(t.Class, "soft") {
			words.Fill = picture.Soft
		}
		s.Words(l.X(t.X), l.Y(t.Y), t.Text, words)
	}
	for _, d := range p.Dots {
		mark(s, d.Shape, l.X(d.X), l.Y(d.Y), picture.Style{Fill: InkOf(d.Class), Stroke: picture.Paper}, d.Title)
	}
	for _, d := range p.Points {
		if d.Near == "" { // at a dot that has its number
			continue
		}
		s.Words(l.X(d.X)+l.Of(d.LabelX), l.Y(d.Y)+l.Of(d.LabelY)+4, d.Near, picture.Text{Size: 11.5, Fill: picture.Ink, Bold: true, Anchor: "middle", Halo: picture.Tint})
	}
	var keys []picture.Key
	for _, k := range append(p.Resources, p.Stages...) {
		style := picture.Style{Fill: InkOf(k.Class)}
		if k.Class == "outline" {
			style = picture.Style{Stroke: picture.Soft, Width: 1.5}
		}
		keys = append(keys, picture.Key{Text: k.Text, Draw: func(x, y float64) { mark(s, k.Shape, x, y, style, "") }})
	}
	s.Keys(0, keys...)
	for _, d := range p.Points {
		y := s.Room(32)
		s.Words(picture.Margin+14, y+13, d.Number, picture.Text{Size: 12, Fill: picture.Ink, Bold: true, Anchor: "end"})
		mark(s, d.Shape, picture.Margin+26, y+9, picture.Style{Fill: InkOf(d.Class)}, "")
		s.Words(picture.Margin+40, y+13, picture.Fit(d.Name, picture.Inner-40, picture.Label), picture.Label)
		s.Words(picture.Margin+40, y+27, picture.Fit(d.Said, picture.Inner-40, picture.SoftLabel), picture.SoftLabel)
	}
	if len(p.Missing) > 0 {
		s.Note(strings.TrimSuffix(p.NotDrawable, ":") + ".")
	}
	return l.Err
}

// roofStyle is how the page draws a ceiling of these classes.
func roofStyle(classes string) picture.Style {
	s := picture.Style{Stroke: picture.Soft, Opacity: .7}
	for class := range strings.FieldsSeq(classes) {
		switch class {
		case "dram":
			s.Stroke, s.Width, s.Opacity = picture.Ink, 2, 1
		case "own":
			s.Stroke, s.Width, s.Opacity = InkOf(classes), 2.5, 1
		case "table":
			s.Dash, s.Width = 5, 1.5
		}
	}
	return s
}
