package mask

import (
	"slices"
	"strings"
)

// needle is a word, in lower case, at which a rule looks closer.
type needle struct {
	text   string
	anchor int // place of its rarest pair of bytes, by which it is found
	rule   rule
}

// rule takes what it finds around the needle text[from:to].
type rule func(f *finder, from, to int)

// class numbers the bytes that needles are made of, capitals as small letters; 0 is any other. pair finds the needles by the
// classes of their rarest pair: most pairs of an ordinary text have none.
var (
	class    [256]uint8
	pair     [classes * classes]uint8 // place in haystack; 0 none
	haystack = make([][]needle, 1)
)

const classes = 64 // a power of two, so that no place of a pair is outside

// common are letters from the most frequent one on.
const common = "etaoinsr_hldcumfgpwybvkxjqz"

// init builds the table once from the rules, which refer to functions that use it.
func init() {
	next := uint8(1)
	for _, group := range rules() {
		for _, text := range group.words {
			for _, c := range []byte(text) {
				if class[c] == 0 {
					class[c] = next
					next++
				}
			}
		}
	}
	if int(next) > classes {
		panic("mask: more characters than classes")
	}
	for c := byte('A'); c <= 'Z'; c++ {
		class[c] = class[c|0x20]
	}
	for _, group := range rules() {
		for _, text := range group.words {
			n := needle{text, rarest(text), group.rule}
			p := &pair[int(class[text[n.anchor]])*classes+int(class[text[n.anchor+1]])]
			if *p == 0 {
				*p = uint8(len(haystack))
				haystack = append(haystack, nil)
			}
			at := &haystack[*p]
			if !slices.ContainsFunc(*at, func(o needle) bool { return o.text == text }) {
				*at = append(*at, n)
			}
		}
	}
}

// eachNeedle calls f for every place of a text at which a rule looks closer, in one pass over the text, and stops where f says so. It reports whether f did.
func eachNeedle[T string | []byte](s T, f func(n needle, from int) (stop bool)) bool {
	last := uint(0)
	for i := range len(s) {
		this := uint(class[s[i]])
		at := pair[(last*classes|this)%uint(len(pair))]
		if last = this; at == 0 {
			continue
		}
		for _, n := range haystack[at] {
			if from := i - 1 - n.anchor; from >= 0 && from+len(n.text) <= len(s) && equalFold(string(s[from:from+len(n.text)]), n.text) && f(n, from) {
				return true
			}
		}
	}
	return false
}

// hasNeedle reports whether a rule would look closer at some place of a text.
func hasNeedle[T string | []byte](s T) bool {
	return eachNeedle(s, func(needle, int) bool { return true })
}

// rarest returns the place of the pair of bytes that is least likely in a text.
func rarest(text string) int {
	best, most := 0, -1
	for i := range len(text) - 1 {
		rarity := 0
		for _, c := range []byte(text[i : i+2]) {
			switch n := strings.IndexByte(common, c); {
			case n >= 0:
				rarity += n
			case c >= '0' && c <= '9', c == ' ', c == ':', c == '.', c == '-', c == '/':
				rarity += 5
			default:
				rarity += len(common)
			}
		}
		if rarity > most {
			best, most = i, rarity
		}
	}
	return best
}

// equalFold reports whether s is the lower-case ASCII word.
func equalFold(s, word string) bool {
	for i := range len(word) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
