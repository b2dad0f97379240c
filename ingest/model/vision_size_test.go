package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
)

// sized reads a case of vision.json for pictures of a size.
func sized(t *testing.T, name string, width, height int64) (*Model, error) {
	t.Helper()
	return Read(strings.NewReader(string(picturedCase(t, name).Config)), Options{Image: load.ImageSize{Width: width, Height: height}})
}

// TestSizeNoted holds that a note begins with the size that was given, and says what it came to.
func TestSizeNoted(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int64
		says          string
		tokens        int64
	}{
		{"qwen2.5-vl-7b", 1024, 768, "images of 1024 x 768 pixels, resized to 1036 x 756, multiples of 28; the configuration does not have the pixel limits", 37 * 27},
		{"qwen2.5-vl-7b", 640, 9, "images of 640 x 9 pixels, resized to 644 x 28", 23},
		{"qwen3-vl-4b", 1, 1, "images of 1 x 1 pixels, resized to 32 x 32", 1},
		{"pixtral of a size", 65, 40, "images of 65 x 40 pixels, resized to 80 x 48, multiples of 16; the configuration does not have the size limits of the processor, which are assumed to be the tower's 80 x 80", 3 * 6},
		{"pixtral of a size", 800, 400, "images of 800 x 400 pixels, resized to 80 x 48", 3 * 6},
		{"mistral3 of a size", 1, 1, "images of 1 x 1 pixels, resized to 48 x 48, multiples of 48", 2},
		{"llava", 65, 40, "images of 65 x 40 pixels: no vision tower of this model takes images of any size", 16},
		{"vit", 65, 40, "images of 65 x 40 pixels: no vision tower of this model", 0},
	} {
		m, err := sized(t, c.name, c.width, c.height)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !slices.ContainsFunc(m.Notes, func(n Note) bool { return n.Kind == Assumed && strings.HasPrefix(n.Text, c.says) }) || noted(m, LeftOut, "FLOPs of the vision tower") {
			t.Errorf("%s: notes %q, want %q", c.name, m.Notes, c.says)
		}
		if m.ImageTokens != c.tokens {
			t.Errorf("%s of %d x %d: %d tokens, want %d", c.name, c.width, c.height, m.ImageTokens, c.tokens)
		}
	}
	for _, c := range []struct {
		name          string
		width, height int64
	}{{"qwen2.5-vl-7b", 201, 1}, {"qwen2.5-vl-7b", 28, 5601}, {"pixtral of a size", 81, 1}} {
		if _, err := sized(t, c.name, c.width, c.height); !errors.Is(err, ErrWrong) || !strings.Contains(err.Error(), fmt.Sprintf("image_size is %d x %d, want", c.width, c.height)) {
			t.Errorf("%s of %d x %d: %v", c.name, c.width, c.height, err)
		}
	}
}

// TestSizeNotGiven holds that a tower has the same parameters with a size and without, and counts nothing without.
func TestSizeNotGiven(t *testing.T) {
	for _, name := range []string{"qwen2-vl-2b", "qwen2.5-vl-3b", "qwen3-vl-30b-a3b", "qwen3.5-27b"} {
		m, err := sized(t, name, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := parametersOf(m.Layers), *picturedCase(t, name).Params; got != want {
			t.Errorf("%s: %d parameters, want %d", name, got, want)
		}
		for _, l := range m.Layers {
			if l.Part != decoderPart && (l.View != "" || l.Positions > 0 || l.Input > 0 || l.Kind != Parameter || l.Parameters == 0) {
				t.Errorf("%s: %+v", name, l)
			}
		}
	}
}

// TestWindowRows holds the windows of a grid of 5 x 7 squares of 2 x 2 patches, of 3 x 3 squares: two whole ones, one at the right, two
// at the bottom and one in the corner.
func TestWindowRows(t *testing.T) {
	for _, c := range []struct {
		rows, cols, side int64
		want             string
	}{
		{5, 7, 3, "attention 72 36, attention.right 12 12, attention.bottom 48 24, attention.corner 8 8"},
		{6, 9, 3, "attention 216 36"},
		{6, 7, 3, "attention 144 36, attention.right 24 12"},
		{2, 7, 3, "attention.bottom 48 24, attention.corner 8 8"},
		{7, 2, 3, "attention.right 48 24, attention.corner 8 8"},
		{2, 2, 3, "attention.corner 16 16"},
	} {
		var b builder
		var got []string
		var positions int64
		for _, w := range b.windows(c.rows, c.cols, c.side, 4) {
			got = append(got, fmt.Sprintf("%s %d %d", w.name, w.positions, w.keys))
			positions += w.positions
		}
		if strings.Join(got, ", ") != c.want || positions != 4*c.rows*c.cols {
			t.Errorf("%d x %d: %q, want %q", c.rows, c.cols, got, c.want)
		}
	}
	m, err := sized(t, "qwen2.5-vl-7b", 1024, 1024)
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, l := range m.Layers {
		if name := fmt.Sprintf("%s x%d", l.Group, l.Count); l.View != "" && !slices.Contains(groups, name) {
			groups = append(groups, name)
		}
	}
	if want := []string{"embedding x1", "layers 0-6,8-14,16-22,24-30 x28", "layers 7,15,23,31 x4", "merger x1"}; !slices.Equal(groups, want) {
		t.Errorf("groups %q, want %q", groups, want)
	}
}
