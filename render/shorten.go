package render

import "strings"

const ellipsis = "…"

// splits are the shares of a shortened text, in percent, that its start may take. A kernel is told by its name in front or
// by the tile and type at its end.
func splits() []int { return []int{60, 40, 75, 25} }

// shorten cuts the middle out of s so that it takes at most the given width; headShare percent of what stays is its start.
func shorten(s string, to, headShare int) string {
	if width(s) <= to {
		return s
	}
	if to <= 1 {
		return strings.Repeat(ellipsis, max(0, to))
	}
	front := (to - 1) * headShare / 100
	return prefix(s, front) + ellipsis + suffix(s, to-1-front)
}

// shortener shortens the texts of one column so that different ones stay different as far as possible: it cuts all of them
// at the place that keeps most apart, and shows what differs in those that still look alike.
func shortener(texts []string, to int) func(string) string {
	var best map[string][]string // by shortened text
	for _, share := range splits() {
		groups := map[string][]string{}
		for _, text := range unique(texts) {
			short := shorten(text, to, share)
			groups[short] = append(groups[short], text)
		}
		if len(groups) > len(best) {
			best = groups
		}
	}
	short := make(map[string]string)
	for text, group := range best {
		for _, original := range group {
			short[original] = text
			if len(group) > 1 {
				short[original] = window(original, to, commonPrefix(group))
			}
		}
	}
	return func(s string) string { return short[s] }
}

// window shortens s to its start and the part from the word that the byte at stands in.
func window(s string, to, at int) string {
	for at > 0 && isWord(s[at-1]) {
		at--
	}
	front := (to - 2) * 35 / 100
	if width(s[:at]) <= front {
		return shorten(s, to, 100)
	}
	return prefix(s, front) + ellipsis + shorten(s[at:], to-1-front, 100)
}

// commonPrefix gives the length of the start that all texts share, which ends between two characters.
func commonPrefix(texts []string) int {
	n := len(texts[0])
	for _, text := range texts[1:] {
		same := 0
		for same < min(n, len(text)) && texts[0][same] == text[same] {
			same++
		}
		n = same
	}
	for n > 0 && n < len(texts[0]) && texts[0][n]&0xc0 == 0x80 {
		n--
	}
	return n
}

func unique(texts []string) []string {
	seen, kept := map[string]bool{}, []string{}
	for _, text := range texts {
		if !seen[text] {
			seen[text], kept = true, append(kept, text)
		}
	}
	return kept
}
