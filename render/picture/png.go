package picture

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// Density is how many pixels of a PNG a pixel of the picture is: sharp on screens of today.
const Density = 2

// WritePNG writes the picture in Density times its size.
func (p *Picture) WritePNG(w io.Writer) error {
	width, height := int(math.Ceil(p.Width*Density)), int(math.Ceil(p.Height*Density))
	if width < 1 || height < 1 || height > 1<<15 {
		return fmt.Errorf("a picture of %d x %d pixels is too large for PNG: use .svg", width, height)
	}
	c := &canvas{image: image.NewRGBA(image.Rect(0, 0, width, height)), faces: map[Text]font.Face{}}
	draw.Draw(c.image, c.image.Bounds(), image.White, image.Point{}, draw.Src)
	for _, s := range p.shapes {
		if err := c.draw(s); err != nil {
			return err
		}
	}
	return png.Encode(w, c.image)
}

// canvas is a picture in pixels.
type canvas struct {
	image *image.RGBA
	faces map[Text]font.Face // by size and weight
}

func (c *canvas) draw(s shape) error {
	if s.text != "" {
		return c.write(s)
	}
	lines := s.lines
	if s.round > 0 {
		lines = [][]Point{circle(s.lines[0][0], s.round)}
	}
	opacity := cmp.Or(s.style.Opacity, 1)
	if s.style.Fill != "" {
		paint, err := paintOf(s.style.Fill, opacity)
		if err != nil {
			return err
		}
		c.fill(lines, paint)
	}
	if s.style.Stroke == "" {
		return nil
	}
	paint, err := paintOf(s.style.Stroke, opacity)
	if err != nil {
		return err
	}
	var strokes [][]Point
	for _, line := range lines {
		strokes = append(strokes, stroked(line, cmp.Or(s.style.Width, 1), s.style.Dash)...)
	}
	c.fill(strokes, paint)
	return nil
}

// fill paints what the lines enclose.
func (c *canvas) fill(lines [][]Point, paint image.Image) {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, line := range lines {
		for _, at := range line {
			low, high = Point{min(low.X, at.X), min(low.Y, at.Y)}, Point{max(high.X, at.X), max(high.Y, at.Y)}
		}
	}
	box := image.Rect(int(math.Floor(low.X*Density)), int(math.Floor(low.Y*Density)), int(math.Ceil(high.X*Density))+1, int(math.Ceil(high.Y*Density))+1).Intersect(c.image.Bounds())
	if box.Empty() {
		return
	}
	z := vector.NewRasterizer(box.Dx(), box.Dy())
	at := func(p Point) (float32, float32) {
		return float32(p.X*Density - float64(box.Min.X)), float32(p.Y*Density - float64(box.Min.Y))
	}
	for _, line := range lines {
		for i, p := range line {
			x, y := at(p)
			if i == 0 {
				z.MoveTo(x, y)
			} else {
				z.LineTo(x, y)
			}
		}
		z.ClosePath()
	}
	z.Draw(c.image, box, paint, image.Point{})
}

// stroked returns the outlines of lines of that width, all turning the same way, so that where they overlap they do not cancel out.
func stroked(line []Point, width, dash float64) [][]Point {
	var out [][]Point
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		long := math.Hypot(b.X-a.X, b.Y-a.Y)
		if long == 0 {
			continue
		}
		along := Point{(b.X - a.X) / long, (b.Y - a.Y) / long}
		side := Point{-along.Y * width / 2, along.X * width / 2}
		step := cmp.Or(dash, long)
		for from := 0.0; from < long; from += 2 * step {
			to := min(from+step, long)
			p, q := Point{a.X + along.X*from, a.Y + along.Y*from}, Point{a.X + along.X*to, a.Y + along.Y*to}
			out = append(out, []Point{{p.X + side.X, p.Y + side.Y}, {p.X - side.X, p.Y - side.Y}, {q.X - side.X, q.Y - side.Y}, {q.X + side.X, q.Y + side.Y}})
		}
	}
	return out
}

// write draws a text, its halo first.
func (c *canvas) write(s shape) error {
	key := Text{Size: s.words.Size, Bold: s.words.Bold}
	face := c.faces[key]
	if face == nil {
		var err error
		if face, err = newFace(s.words.Size*Density, s.words.Bold); err != nil {
			return err
		}
		c.faces[key] = face
	}
	at := s.lines[0][0]
	x, y := at.X*Density, at.Y*Density
	switch long := float64(font.MeasureString(face, s.text)) / 64; s.words.Anchor {
	case "middle":
		x -= long / 2
	case "end":
		x -= long
	}
	d := font.Drawer{Dst: c.image, Face: face}
	put := func(dx, dy float64) {
		d.Dot = fixed.Point26_6{X: fixed.Int26_6((x + dx) * 64), Y: fixed.Int26_6((y + dy) * 64)}
		d.DrawString(s.text)
	}
	var err error
	if s.words.Halo != "" {
		if d.Src, err = paintOf(s.words.Halo, 1); err != nil {
			return err
		}
		for _, off := range circle(Point{}, 1.5*Density)[:48] {
			put(off.X, off.Y)
		}
	}
	if d.Src, err = paintOf(s.words.Fill, 1); err != nil {
		return err
	}
	put(0, 0)
	return nil
}

func paintOf(text string, opacity float64) (image.Image, error) {
	c := color.NRGBA{A: uint8(math.Round(255 * opacity))}
	if _, err := fmt.Sscanf(text, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		return nil, fmt.Errorf("colour %q: %w", text, err)
	}
	return image.NewUniform(c), nil
}
