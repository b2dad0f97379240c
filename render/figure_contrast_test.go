package render

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// themes reads the colours of the page, light and dark: what the dark one does not name is as in the light one.
func themes(t *testing.T) map[string]map[string]string {
	t.Helper()
	style, err := joined(pageStyles)
	if err != nil {
		t.Fatal(err)
	}
	light, dark := map[string]string{}, map[string]string{}
	variable := regexp.MustCompile(`--([\w-]+):\s*(#[0-9a-f]{3,6})\b`)
	for _, block := range regexp.MustCompile(`(@media screen and \(prefers-color-scheme: dark\) \{ )?:root \{([^}]*)\}`).FindAllStringSubmatch(style, -1) {
		to := light
		if block[1] != "" {
			to = dark
		}
		for _, v := range variable.FindAllStringSubmatch(block[2], -1) {
			to[v[1]] = v[2]
		}
	}
	if len(light) < 20 || len(dark) < 10 {
		t.Fatalf("the style names %d colours, and %d in the dark", len(light), len(dark))
	}
	all := maps.Clone(light)
	maps.Copy(all, dark)
	return map[string]map[string]string{"light": light, "dark": all}
}

// luminance is the relative luminance of WCAG 2.2 of a colour such as #16181a or #fff.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	hex := strings.TrimPrefix(color, "#")
	if len(hex) == 3 {
		hex = fmt.Sprintf("%c%c%c%c%c%c", hex[0], hex[0], hex[1], hex[1], hex[2], hex[2])
	}
	n, err := strconv.ParseUint(hex, 16, 24)
	if err != nil || len(hex) != 6 {
		t.Fatalf("%q is no colour: %v", color, err)
	}
	out := 0.0
	for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
		c := float64(n>>(8*i)&0xff) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		out += weight * c
	}
	return out
}

// contrast is the ratio of WCAG 2.2: 1 to 21.
func contrast(t *testing.T, one, other string) float64 {
	t.Helper()
	x, y := luminance(t, one), luminance(t, other)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrastFormula holds the formula by pairs whose ratio is known.
func TestContrastFormula(t *testing.T) {
	for _, c := range []struct {
		one, other string
		want       float64
	}{{"#000", "#fff", 21}, {"#777777", "#ffffff", 4.48}, {"#ff0000", "#fff", 4.00}, {"#0000ff", "#ffffff", 8.59}} {
		if got := contrast(t, c.one, c.other); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%s on %s: %.3f, want %.2f", c.one, c.other, got, c.want)
		}
	}
}

// TestContrast holds that texts have the contrast of WCAG's level AA, and marks that carry a meaning that of its graphical objects.
func TestContrast(t *testing.T) {
	type pair struct{ on, ground string }
	texts := []pair{{"ink", "paper"}, {"soft", "paper"}, {"link", "paper"}, {"ink", "tint"}, {"soft", "tint"}, {"ink", "shade"}}
	marks := []pair{{"ink", "line"}, {"link", "tint"}, {"time-cpu", "paper"}, {"time-span", "paper"}, {"time-busy", "paper"}, {"shade-edge", "paper"}}
	for i := range seriesCount {
		marks = append(marks, pair{fmt.Sprintf("series-%d", i), "paper"}, pair{fmt.Sprintf("series-%d", i), "tint"})
	}
	for name, colors := range themes(t) {
		for least, pairs := range map[float64][]pair{4.5: texts, 3: marks} {
			for _, p := range pairs {
				if colors[p.on] == "" || colors[p.ground] == "" {
					t.Errorf("%s: no colour %s or %s", name, p.on, p.ground)
					continue
				}
				if got := contrast(t, colors[p.on], colors[p.ground]); got < least {
					t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", name, p.on, p.ground, got, least)
				}
			}
		}
	}
}

// TestContrastInBars holds that the texts in bars can be read on the colour of each part.
func TestContrastInBars(t *testing.T) {
	style, err := joined(pageStyles)
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`(?m)^(\.part-[^{]*text) \{ fill: #fff; \}`).FindStringSubmatch(style)
	if rule == nil {
		t.Fatal("no part has white text")
	}
	for name, colors := range themes(t) {
		for _, p := range parts {
			text := "#000"
			if strings.Contains(rule[1], ".part-"+p.name+" text") {
				text = "#fff"
			}
			if got := contrast(t, text, colors[p.name]); got < 4.5 {
				t.Errorf("%s: %s on %s (%s) has a contrast of %.2f", name, text, p.name, colors[p.name], got)
			}
		}
	}
}

// TestContrastInTimeline holds that the texts on passes and on single pieces of work can be read.
func TestContrastInTimeline(t *testing.T) {
	style, err := joined(pageStyles)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(style, "#timeline-plot .on { fill: #fff;") {
		t.Error("the texts on passes are not white")
	}
	kinds := map[string]int{}
	for _, c := range regexp.MustCompile(`\.(stage|kernel|collective|graph|copy|depth)-\d \{ --c: (#[0-9a-f]+);(?: --on: (#[0-9a-f]+);)? \}`).FindAllStringSubmatch(style, -1) {
		text := c[3]
		if c[1] == "stage" {
			text = "#fff"
		}
		kinds[c[1]]++
		if got := contrast(t, text, c[2]); got < 4.5 {
			t.Errorf("%s: the contrast is %.2f", c[0], got)
		}
	}
	if want := map[string]int{"stage": 6, "kernel": 8, "collective": 2, "graph": 2, "copy": 2, "depth": 4}; !maps.Equal(kinds, want) { // those of depth in the dark too
		t.Errorf("the style has the colours %v, want %v", kinds, want)
	}
}
