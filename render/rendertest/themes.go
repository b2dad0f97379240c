package rendertest

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"prof/render/page"
)

// Themes reads the colours of the page, light and dark: what the dark one does not name is as in the light one.
func Themes(t *testing.T, styles []string) map[string]map[string]string {
	t.Helper()
	style, err := page.Joined(styles)
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

// Contrast is the ratio of WCAG 2.2: 1 to 21.
func Contrast(t *testing.T, one, other string) float64 {
	t.Helper()
	x, y := luminance(t, one), luminance(t, other)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}
