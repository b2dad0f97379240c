package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"
)

// pixels draws a picture as PNG and reads it back.
func pixels(t *testing.T, p *Picture) image.Image {
	t.Helper()
	var out bytes.Buffer
	if err := p.WritePNG(&out); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// at is the colour of a place of a picture.
func at(m image.Image, x, y float64) color.NRGBA {
	return color.NRGBAModel.Convert(m.At(int(x*Density), int(y*Density))).(color.NRGBA)
}

// dark counts the pixels of a part of a picture that are no paper.
func dark(m image.Image, x1, y1, x2, y2 int) (n int) {
	for y := y1 * Density; y < y2*Density; y++ {
		for x := x1 * Density; x < x2*Density; x++ {
			if r, _, _, _ := m.At(x, y).RGBA(); r < 0x8000 {
				n++
			}
		}
	}
	return n
}

// TestPNG holds that what is drawn is where it was drawn, in its colour, and that text comes out.
func TestPNG(t *testing.T) {
	p := New(200, "t")
	p.Height = 100
	p.Rect(10, 10, 20, 20, Style{Fill: "#ff0000"}, "")
	p.Circle(60, 20, 10, Style{Fill: "#00ff00"}, "")
	p.Rect(80, 10, 20, 20, Style{Fill: "#000000", Opacity: .5}, "")
	p.Line(110, 20, 190, 20, Style{Stroke: "#0000ff", Width: 4, Dash: 20}, "")
	p.Circle(40, 70, 20, Style{Stroke: "#000000", Width: 4}, "")
	p.Words(90, 80, "Test", Text{Size: 20, Fill: Ink})
	m := pixels(t, p)
	for _, c := range []struct {
		name string
		x, y float64
		want color.NRGBA
	}{
		{"rectangle", 20, 20, color.NRGBA{255, 0, 0, 255}}, {"beside it", 32, 20, color.NRGBA{255, 255, 255, 255}},
		{"circle", 60, 20, color.NRGBA{0, 255, 0, 255}}, {"its box's corner", 51, 11, color.NRGBA{255, 255, 255, 255}},
		{"half black", 90, 20, color.NRGBA{127, 127, 127, 255}},
		{"dash", 120, 20, color.NRGBA{0, 0, 255, 255}}, {"gap", 140, 20, color.NRGBA{255, 255, 255, 255}}, {"next dash", 160, 20, color.NRGBA{0, 0, 255, 255}},
		{"ring", 20, 70, color.NRGBA{0, 0, 0, 255}}, {"inside it", 40, 70, color.NRGBA{255, 255, 255, 255}},
	} {
		if got := at(m, c.x, c.y); got != c.want {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
	if n := dark(m, 90, 60, 140, 82); n < 200 {
		t.Errorf("only %d pixels of the text", n)
	}
	if long := Long("Test", Text{Size: 20}); dark(m, 90+int(long)+1, 60, 200, 90) > 0 || long < 30 {
		t.Errorf("the text is longer than %g", long)
	}
	huge := New(10, "")
	huge.Height = 1e6
	if err := huge.WritePNG(io.Discard); err == nil || !strings.Contains(err.Error(), "use .svg") {
		t.Errorf("too large: %v", err)
	}
	bad := New(10, "")
	bad.Height = 10
	bad.Rect(0, 0, 5, 5, Style{Fill: "red"}, "")
	if err := bad.WritePNG(io.Discard); err == nil {
		t.Error("a colour that is none is drawn")
	}
}

// TestSVG holds that a file is whole XML, names nothing outside itself, and keeps what others wrote as text.
func TestSVG(t *testing.T) {
	const breakout = `</text><script>alert(1)</script>&"`
	s := NewSheet("Title " + breakout)
	s.Head("Head " + breakout)
	s.Note(strings.Repeat("many words ", 40))
	s.Keys(0, Key{"key " + breakout, s.Swatch("#123456", 0)}, Key{"other", s.Swatch("#123456", .5)})
	s.Shape([]Point{{1, 1}, {2, 1}, {2, 3}, {1, 1}}, Style{Fill: "#123456"}, "title "+breakout)
	s.Circle(5, 5, 2, Style{Stroke: "#123456"}, "")
	s.Words(0, 0, "a\x1b[31m", Label)
	var out bytes.Buffer
	if err := s.WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Contains(text, "<script") || strings.Contains(text, "\x1b") || strings.Count(text, "http") != 1 || strings.Contains(text, "%\"") != strings.Contains(text, `width="100%"`) {
		t.Errorf("got\n%s", text)
	}
	var elements, lines int
	for d := xml.NewDecoder(&out); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, is := token.(xml.StartElement); is {
			elements++
			if e.Name.Local == "text" {
				lines++
			}
		}
	}
	if elements < 10 || lines < 8 || s.Height < 100 {
		t.Errorf("%d elements, %d texts, height %g", elements, lines, s.Height)
	}
	if !strings.Contains(text, `<path d="M1 1H2V3Z"`) {
		t.Errorf("paths are %s", text)
	}
}

// TestText holds how texts are measured, shortened and broken.
func TestText(t *testing.T) {
	if Long("", Label) != 0 || Long("wide", Label)*2 != Long("widewide", Label) || Long("wide", Text{Size: 24}) != 2*Long("wide", Label) {
		t.Error("texts are not measured in proportion")
	}
	const name = "void at::native::elementwise_kernel<128, 4>"
	got := Fit(name, 120, Label)
	if Long(got, Label) > 120 || !strings.HasPrefix(got, "void") || !strings.HasSuffix(got, ">") || !strings.Contains(got, "…") {
		t.Errorf("short is %q", got)
	}
	if Fit(name, 1000, Label) != name || Fit(name, 10, Label) != "" {
		t.Error("a text that fits is shortened, or one without room is not left out")
	}
	for _, line := range Wrapped(strings.Repeat("word ", 50)+strings.Repeat("x", 200), 200, Label) {
		if Long(line, Label) > 200 || line == "" {
			t.Errorf("line %q", line)
		}
	}
	p := New(10, "")
	p.Words(0, 0, "µ ± … – Ω ж", Label)
	p.Words(0, 0, "解码", Label)
	if missing, err := p.Missing(); err != nil || string(missing) != "码解" {
		t.Errorf("missing %q, %v", string(missing), err)
	}
}
