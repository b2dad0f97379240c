// Package picture draws pictures that stand alone: light, with their own titles and legends, as SVG for any viewer or as PNG.
package picture

import (
	"io"
	"math"

	"prof/render/typeset"
)

// Picture is a list of shapes, drawn in order. Lengths are pixels from the top left corner.
type Picture struct {
	Width, Height float64
	Title         string // for screen readers
	shapes        []shape
}

// Style is how a shape is drawn; "" paints nothing.
type Style struct {
	Fill, Stroke string // #rrggbb
	Width        float64
	Dash         float64 // length of dashes and of the gaps between; 0 for none
	Opacity      float64 // 0 is 1
}

// Text is how words are drawn.
type Text struct {
	Size   float64
	Fill   string
	Bold   bool
	Anchor string // start, middle or end; "" is start
	Halo   string // colour around the letters; "" for none
}

// The colours of every picture, those of the page by day.
const (
	Ink   = "#1b1b1b"
	Soft  = "#565656"
	Paper = "#ffffff"
	Line  = "#d4d4d4"
	Tint  = "#f4f4f2"
)

// shape is a path of straight lines, or words at the first point of one.
type shape struct {
	lines [][]Point
	round float64 // radius of a circle around the first point; 0 for none
	style Style
	text  string
	words Text
	title string
}

// Point is a place.
type Point struct{ X, Y float64 }

// New returns an empty picture of that width. Its height grows with what is drawn by Room.
func New(width float64, title string) *Picture {
	return &Picture{Width: width, Title: typeset.Neutral(title)}
}

// Rect draws a rectangle; title is what viewers show when pointed at it, "" for nothing.
func (p *Picture) Rect(x, y, width, height float64, s Style, title string) {
	p.Shape([]Point{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}, {x, y}}, s, title)
}

// Line draws a straight line.
func (p *Picture) Line(x1, y1, x2, y2 float64, s Style, title string) {
	p.Shape([]Point{{x1, y1}, {x2, y2}}, s, title)
}

// Shape draws lines from point to point, and fills what they enclose.
func (p *Picture) Shape(points []Point, s Style, title string) { p.Shapes([][]Point{points}, s, title) }

// Shapes draws several at once, as one for whoever points at them.
func (p *Picture) Shapes(lines [][]Point, s Style, title string) {
	p.shapes = append(p.shapes, shape{lines: lines, style: s, title: typeset.Neutral(title)})
}

// Circle draws a circle.
func (p *Picture) Circle(x, y, r float64, s Style, title string) {
	p.shapes = append(p.shapes, shape{lines: [][]Point{{{x, y}}}, round: r, style: s, title: typeset.Neutral(title)})
}

// Words writes a line of text; y is its base line.
func (p *Picture) Words(x, y float64, text string, t Text) {
	if text = typeset.Neutral(text); text != "" {
		p.shapes = append(p.shapes, shape{lines: [][]Point{{{x, y}}}, text: text, words: t})
	}
}

// Forms lists the forms of files of pictures.
func Forms() typeset.Forms[*Picture, struct{}] {
	return typeset.Forms[*Picture, struct{}]{
		{Name: "svg", Ending: ".svg", Doc: "vectors, for pages and papers", Write: func(w io.Writer, p *Picture, _ struct{}) error { return p.WriteSVG(w) }},
		{Name: "png", Ending: ".png", Doc: "pixels, for chats, slides and terminals", Write: func(w io.Writer, p *Picture, _ struct{}) error { return p.WritePNG(w) }},
	}
}

// circle returns the corners of a polygon that looks like a circle.
func circle(at Point, r float64) []Point {
	const corners = 48
	var out []Point
	for i := range corners + 1 {
		angle := 2 * math.Pi * float64(i) / corners
		out = append(out, Point{at.X + r*math.Cos(angle), at.Y + r*math.Sin(angle)})
	}
	return out
}
