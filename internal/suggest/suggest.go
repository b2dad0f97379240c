// Package suggest words what a message offers in place of a name that it does not know: names like it, or those that there are.
package suggest

import (
	"fmt"
	"sort"
	"strings"
)

// Nearest returns the candidates that word most likely meant, best first, three at most: those that share a long prefix or
// differ by few edits.
func Nearest(word string, candidates []string) []string {
	type scored struct {
		name string
		d    int
	}
	var near []scored
	most, lower := max(1, len(word)/3), strings.ToLower(word)
	for _, c := range candidates {
		d := most + 1
		if other := strings.ToLower(c); max(len(lower)-len(other), len(other)-len(lower)) <= most { // each edit changes the length by one at most
			d = distance(lower, other)
		}
		if strings.HasPrefix(c, word) || strings.Contains(c, word) && len(word) > 2 {
			d = min(d, 1)
		}
		if d <= most {
			near = append(near, scored{c, d})
		}
	}
	sort.SliceStable(near, func(i, j int) bool {
		if near[i].d != near[j].d {
			return near[i].d < near[j].d
		}
		if len(near[i].name) != len(near[j].name) { // of those that contain the word, the one with the least besides
			return len(near[i].name) < len(near[j].name)
		}
		return near[i].name < near[j].name
	})
	var out []string
	for i := 0; i < len(near) && i < 3; i++ {
		out = append(out, near[i].name)
	}
	return out
}

// DidYouMean is the end of an error about an unknown word: its nearest candidates, else all of them when they are few.
func DidYouMean(word string, candidates []string) string {
	if near := Nearest(word, candidates); len(near) > 0 {
		return "; did you mean " + strings.Join(near, " or ") + "?"
	}
	if len(candidates) > 0 {
		return "; available: " + List(candidates, 8)
	}
	return ""
}

// List joins names for a message, at most n of them.
func List(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
	}
	return strings.Join(names, ", ")
}

// distance counts the edits between two words: letters put in, left out, replaced, or in each other's place.
func distance(a, b string) int {
	last, row := make([]int, len(b)+1), make([]int, len(b)+1) // of all letters of a but one, and of all so far
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before := last
		last, row = row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
