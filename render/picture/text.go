package picture

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
)

// The fonts of PNG, which need none of the machine; they have Latin, Greek and Cyrillic letters.
var (
	regular = sync.OnceValues(func() (*sfnt.Font, error) { return opentype.Parse(goregular.TTF) })
	bold    = sync.OnceValues(func() (*sfnt.Font, error) { return opentype.Parse(gobold.TTF) })
)

func newFace(size float64, isBold bool) (font.Face, error) {
	load := regular
	if isBold {
		load = bold
	}
	f, err := load()
	if err != nil {
		return nil, fmt.Errorf("font: %w", err)
	}
	return opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
}

// measureSize is the size by which texts are measured; others are in proportion.
const measureSize = 100

var measures = [2]func() (font.Face, error){
	sync.OnceValues(func() (font.Face, error) { return newFace(measureSize, false) }),
	sync.OnceValues(func() (font.Face, error) { return newFace(measureSize, true) }),
}

// measuring guards the faces, which keep a glyph while they measure.
var measuring sync.Mutex

// Long is the width of a text in pixels, as PNG has it; viewers of SVG with another font may need a little more.
func Long(text string, t Text) float64 {
	which := 0
	if t.Bold {
		which = 1
	}
	measuring.Lock()
	defer measuring.Unlock()
	face, err := measures[which]()
	if err != nil { // the fonts are part of the program; a test reads them
		return float64(len(text)) * t.Size * 0.6
	}
	return float64(font.MeasureString(face, text)) / 64 * t.Size / measureSize
}

// Fit shortens a text to a width, its middle left out; "" where not even a few letters have room.
func Fit(text string, width float64, t Text) string {
	if Long(text, t) <= width {
		return text
	}
	letters := []rune(text)
	most := 0
	for low, high := 1, len(letters)-1; low <= high; {
		middle := (low + high) / 2
		if Long(cut(letters, middle), t) <= width {
			most, low = middle, middle+1
		} else {
			high = middle - 1
		}
	}
	if most < 3 {
		return ""
	}
	return cut(letters, most)
}

// cut leaves so many letters, more of them at the start.
func cut(letters []rune, keep int) string {
	head := (keep*3 + 4) / 5
	return string(letters[:head]) + "…" + string(letters[len(letters)-(keep-head):])
}

// Wrapped breaks a text into lines of that width; a word wider than a line is shortened.
func Wrapped(text string, width float64, t Text) []string {
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch longer := strings.TrimSpace(line + " " + word); {
		case Long(longer, t) <= width:
			line = longer
		case line == "":
			out = append(out, Fit(word, width, t))
		default:
			out = append(out, line)
			line = Fit(word, width, t)
		}
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}

// Missing are the characters of the picture that PNG's font lacks and draws as boxes, in order.
func (p *Picture) Missing() ([]rune, error) {
	f, err := regular()
	if err != nil {
		return nil, fmt.Errorf("font: %w", err)
	}
	var out []rune
	var buffer sfnt.Buffer
	for _, s := range p.shapes {
		for _, r := range s.text {
			at, err := f.GlyphIndex(&buffer, r)
			if err != nil {
				return nil, fmt.Errorf("font: %w", err)
			}
			if at == 0 && !slices.Contains(out, r) {
				out = append(out, r)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
