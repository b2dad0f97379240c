package typeset

import (
	"fmt"
	"hash/crc32"
	"strings"
)

// splits are the shares of a shortened text, in percent, that its start may take. A kernel is told by its name in front or
// by the tile and type at its end.
func splits() []int { return []int{60, 40, 75, 25} }

// Shorten cuts the middle out of s so that it takes at most the given width; headShare percent of what stays is its start.
func Shorten(s string, to, headShare int) string {
	if Width(s) <= to {
		return s
	}
	if to <= 1 {
		return strings.Repeat(Ellipsis, max(0, to))
	}
	front := (to - 1) * headShare / 100
	return Prefix(s, front) + Ellipsis + suffix(s, to-1-front)
}

// Shortener shortens the texts of one column so that different ones stay different.
func Shortener(texts []string, to int) func(string) string {
	short := map[string]string{}
	apart(short, Unique(texts), to)
	sumAlike(short, to)
	return func(s string) string { return short[s] }
}

// shortened shortens different texts as far as possible to different ones: it cuts all of them at the place that keeps most apart, and shows what
// differs in those that still look alike.
func shortened(texts []string, to int) map[string]string {
	var best map[string][]string // by shortened text
	for _, share := range splits() {
		groups := map[string][]string{}
		for _, text := range texts {
			short := Shorten(text, to, share)
			groups[short] = append(groups[short], text)
		}
		if len(groups) > len(best) {
			best = groups
		}
	}
	short := make(map[string]string, len(texts))
	for text, group := range best {
		for _, original := range group {
			short[original] = text
			if len(group) > 1 {
				short[original] = window(original, to, commonPrefix(group))
			}
		}
	}
	return short
}

// window shortens s to its start and the part from the word that the byte at stands in, of a long word from shortly before that byte.
func window(s string, to, at int) string {
	for least := at - to/3; at > max(0, least) && IsWord(s[at-1]); {
		at--
	}
	front := (to - 2) * 35 / 100
	if Width(s[:at]) <= front {
		return Shorten(s, to, 100)
	}
	return Prefix(s, front) + Ellipsis + Shorten(s[at:], to-1-front, 100)
}

// commonPrefix returns the length of the start that all texts share, which ends between two characters.
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

// apart shortens different texts to names that differ, as far as so many columns can show it: those that still look alike are shortened
// once more among themselves, at what differs in these.
func apart(short map[string]string, texts []string, to int) {
	alike, shorter := map[string][]string{}, shortened(texts, to)
	for _, text := range texts {
		short[text] = shorter[text]
		alike[short[text]] = append(alike[short[text]], text)
	}
	for _, group := range alike {
		if len(group) > 1 && len(group) < len(texts) {
			apart(short, group, to)
		}
	}
}

// sumAlike ends texts that look alike in short, since no one place tells all of them apart, in a sum of the whole, where there is room for one.
func sumAlike(short map[string]string, to int) {
	alike := map[string][]string{}
	for text, s := range short {
		alike[s] = append(alike[s], text)
	}
	for _, group := range alike {
		for _, text := range group {
			if sum := fmt.Sprintf("~%08x", crc32.ChecksumIEEE([]byte(text))); len(group) > 1 && to >= 3*len(sum) {
				short[text] = Shorten(text, to-len(sum), 60) + sum
			}
		}
	}
}

// From longText on a text takes several lines; from longName on a name is shown in short, to be opened.
const (
	LongText = 48
	LongName = 72
)
