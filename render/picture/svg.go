package picture

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// fonts are such as any viewer has one of; all are about as wide as the first, by which texts are measured.
const fonts = "Go, Arial, Helvetica, Liberation Sans, DejaVu Sans, sans-serif"

// WriteSVG writes the picture as a file of its own: no style sheet, script or font from elsewhere.
func (p *Picture) WriteSVG(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]s" height="%[2]s" viewBox="0 0 %[1]s %[2]s" role="img" font-family="%[3]s">`+"\n<title>%[4]s</title>\n", short(p.Width), short(p.Height), fonts, escaped(p.Title))
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", Paper)
	for _, s := range p.shapes {
		s.writeSVG(out)
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

func (s shape) writeSVG(out io.Writer) {
	at := s.lines[0][0]
	if s.text != "" {
		fmt.Fprintf(out, `<text x="%s" y="%s" font-size="%s" fill="%s"`, short(at.X), short(at.Y), short(s.words.Size), s.words.Fill)
		if s.words.Anchor != "" && s.words.Anchor != "start" {
			fmt.Fprintf(out, ` text-anchor="%s"`, s.words.Anchor)
		}
		if s.words.Bold {
			fmt.Fprint(out, ` font-weight="bold"`)
		}
		if s.words.Halo != "" {
			fmt.Fprintf(out, ` stroke="%s" stroke-width="3" stroke-linejoin="round" paint-order="stroke"`, s.words.Halo)
		}
		fmt.Fprintf(out, ">%s</text>\n", escaped(s.text))
		return
	}
	name := "path"
	if s.round > 0 {
		name = "circle"
		fmt.Fprintf(out, `<circle cx="%s" cy="%s" r="%s"`, short(at.X), short(at.Y), short(s.round))
	} else {
		fmt.Fprintf(out, `<path d="%s"`, s.path())
	}
	fmt.Fprintf(out, ` fill="%s"`, cmp.Or(s.style.Fill, "none"))
	if s.style.Stroke != "" {
		fmt.Fprintf(out, ` stroke="%s" stroke-width="%s"`, s.style.Stroke, short(cmp.Or(s.style.Width, 1)))
	}
	if s.style.Dash > 0 {
		fmt.Fprintf(out, ` stroke-dasharray="%s"`, short(s.style.Dash))
	}
	if s.style.Opacity > 0 {
		fmt.Fprintf(out, ` opacity="%s"`, short(s.style.Opacity))
	}
	if s.title == "" {
		fmt.Fprintln(out, "/>")
		return
	}
	fmt.Fprintf(out, "><title>%s</title></%s>\n", escaped(s.title), name)
}

// path returns the lines as SVG writes them.
func (s shape) path() string {
	var out strings.Builder
	for _, line := range s.lines {
		closed := len(line) > 2 && line[0] == line[len(line)-1]
		if closed {
			line = line[:len(line)-1]
		}
		for i, at := range line {
			switch {
			case i == 0:
				fmt.Fprintf(&out, "M%s %s", short(at.X), short(at.Y))
			case at.Y == line[i-1].Y:
				fmt.Fprintf(&out, "H%s", short(at.X))
			case at.X == line[i-1].X:
				fmt.Fprintf(&out, "V%s", short(at.Y))
			default:
				fmt.Fprintf(&out, "L%s %s", short(at.X), short(at.Y))
			}
		}
		if closed {
			out.WriteByte('Z')
		}
	}
	return out.String()
}

// short writes a length with as many digits as can be seen.
func short(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }

func escaped(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a Builder takes all
	return out.String()
}
