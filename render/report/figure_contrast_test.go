package report

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"
	"testing"

	"prof/render/chart"
	"prof/render/doc"
	"prof/render/page"
	"prof/render/rendertest"
	"prof/schema/terms"
)

// TestContrastFormula holds the formula by pairs whose ratio is known.
func TestContrastFormula(t *testing.T) {
	for _, c := range []struct {
		one, other string
		want       float64
	}{{"#000", "#fff", 21}, {"#777777", "#ffffff", 4.48}, {"#ff0000", "#fff", 4.00}, {"#0000ff", "#ffffff", 8.59}} {
		if got := rendertest.Contrast(t, c.one, c.other); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%s on %s: %.3f, want %.2f", c.one, c.other, got, c.want)
		}
	}
}

// TestContrast holds that texts have the contrast of WCAG's level AA, and marks that carry a meaning that of its graphical objects.
func TestContrast(t *testing.T) {
	type pair struct{ on, ground string }
	texts := []pair{{"ink", "paper"}, {"soft", "paper"}, {"link", "paper"}, {"ink", "tint"}, {"soft", "tint"}, {"ink", "shade"}}
	marks := []pair{{"ink", "line"}, {"link", "tint"}, {"time-cpu", "paper"}, {"time-span", "paper"}, {"time-busy", "paper"}, {"shade-edge", "paper"}}
	for i := range chart.SeriesCount {
		marks = append(marks, pair{fmt.Sprintf("series-%d", i), "paper"}, pair{fmt.Sprintf("series-%d", i), "tint"})
	}
	for name, colors := range rendertest.Themes(t, doc.Styles) {
		for least, pairs := range map[float64][]pair{4.5: texts, 3: marks} {
			for _, p := range pairs {
				if colors[p.on] == "" || colors[p.ground] == "" {
					t.Errorf("%s: no colour %s or %s", name, p.on, p.ground)
					continue
				}
				if got := rendertest.Contrast(t, colors[p.on], colors[p.ground]); got < least {
					t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", name, p.on, p.ground, got, least)
				}
			}
		}
	}
}

// TestContrastInBars holds that the texts in bars can be read on the colour of each part.
func TestContrastInBars(t *testing.T) {
	style, err := page.Joined(doc.Styles)
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`(?m)^(\.part-[^{]*text) \{ fill: #fff; \}`).FindStringSubmatch(style)
	if rule == nil {
		t.Fatal("no part has white text")
	}
	for name, colors := range rendertest.Themes(t, doc.Styles) {
		for _, p := range terms.Parts {
			text := "#000"
			if strings.Contains(rule[1], ".part-"+p.Name+" text") {
				text = "#fff"
			}
			if got := rendertest.Contrast(t, text, colors[p.Name]); got < 4.5 {
				t.Errorf("%s: %s on %s (%s) has a contrast of %.2f", name, text, p.Name, colors[p.Name], got)
			}
		}
	}
}

// TestContrastInTimeline holds that the timeline has the colours that its script counts, and that black or white, whichever its script takes, can be read on each.
func TestContrastInTimeline(t *testing.T) {
	kinds := map[string]int{}
	for name, color := range rendertest.Themes(t, doc.Styles)["light"] {
		c := regexp.MustCompile(`^(stage|kernel|collective|graph|copy|range|dark-range)-\d$`).FindStringSubmatch(name)
		if c == nil {
			continue
		}
		kinds[c[1]]++
		if got := max(rendertest.Contrast(t, "#000", color), rendertest.Contrast(t, "#fff", color)); got < 4.5 {
			t.Errorf("%s: the contrast is %.2f", name, got)
		}
	}
	if want := map[string]int{"stage": 6, "kernel": 8, "collective": 2, "graph": 2, "copy": 2, "range": 4, "dark-range": 4}; !maps.Equal(kinds, want) {
		t.Errorf("the style has the colours %v, want %v", kinds, want)
	}
}
