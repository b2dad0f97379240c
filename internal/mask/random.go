package mask

import "math"

// leastRandom is how long a value must be before it is looked at as a random one.
const leastRandom = 20

// isRandomByte reports whether random values, in base 62 or 64, have a character. A / parts names of paths, and is none of them here.
func isRandomByte(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '+' }

var randomBytes = func() (t [256]bool) {
	for i := range t {
		t[i] = isRandomByte(byte(i))
	}
	return t
}()

// random masks long random values of options and members. It looks at one byte in so many: no run of them is shorter.
func (f *finder) random() {
	s := f.text
	for i := leastRandom; i < len(s); {
		if !randomBytes[s[i]] {
			i += leastRandom
			continue
		}
		from := i
		for from > 0 && randomBytes[s[from-1]] {
			from--
		}
		for i++; i < len(s) && randomBytes[s[i]]; i++ {
		}
		end := i
		for end < len(s) && s[end] == '=' && (end == i || s[end-1] == '=') {
			end++
		}
		if i-from >= leastRandom && f.isValue(from) && isRandom(s[from:i]) {
			f.add(from, end)
		}
		i += leastRandom
	}
}

// isValue reports whether what is at a place is the value of something: = or : stands before it, or an option.
func (f *finder) isValue(from int) bool {
	s := f.text
	at := from
	for at > 0 && (s[at-1] == '"' || s[at-1] == '\'' || s[at-1] == '\\') {
		at--
	}
	if at == 0 {
		return false
	}
	if c := s[at-1]; c == '=' || c == ':' {
		return at < 2 || s[at-2] != ':'
	}
	blank := at
	for at > 0 && isBlank(s[at-1]) {
		at--
	}
	if at == 0 || at == blank {
		return false
	}
	if s[at-1] == '=' || s[at-1] == ':' {
		return true
	}
	word := at
	for word > 0 && !isBlank(s[word-1]) {
		word--
	}
	return s[word] == '-'
}

// isRandom reports whether a word looks random: letters of both cases and digits in no order, which names, versions, hashes and mangled symbols
// do not have. Of random values of 24 letters and digits it finds 5 in 6, of 40 and more 12 in 13.
func isRandom(word string) bool {
	if len(word) < leastRandom || len(word) > 1 && (word[:2] == "_Z" || word[0] == '-') {
		return false
	}
	var count [256]int
	var kinds [4]int // of letters, capitals, digits, signs
	orderly := 0     // characters among at least three of a kind
	for i := 0; i < len(word); {
		k, from := kindOf(word[i]), i
		for ; i < len(word) && kindOf(word[i]) == k; i++ {
			count[word[i]]++
		}
		if kinds[k] += i - from; i-from >= 3 {
			orderly += i - from
		}
	}
	if kinds[0] < 2 || kinds[1] < 2 || kinds[2] < 2 || kinds[3]*10 > len(word) || orderly*2 > len(word) {
		return false
	}
	bits := 0.0
	for _, k := range count {
		if k > 0 {
			p := float64(k) / float64(len(word))
			bits -= p * math.Log2(p)
		}
	}
	return bits >= 3.4
}

func kindOf(c byte) int {
	switch {
	case c >= 'a' && c <= 'z':
		return 0
	case c >= 'A' && c <= 'Z':
		return 1
	case c >= '0' && c <= '9':
		return 2
	}
	return 3
}
