// Package names reads names of kernels and ranges: the spelling that profilers share, and patterns that are quick to try on many.
package names

import (
	"bytes"
	"strings"
)

// Spelling returns a kernel's demangled name in a spelling that the profilers share, so that one kernel can be found in what
// several of them recorded. Nsight Systems prints a name in full, Nsight Compute's pages leave out some of its namespaces (not
// the same ones in every report), and PyTorch's profiler writes as c++filt does:
//
//	void at::native::<unnamed>::indexSelectSmallIndex<c10::BFloat16, (int)-2, (bool)1>(const T1 *)
//	void native::<unnamed>::indexSelectSmallIndex<c10::BFloat16, (int)-2, 1>(const T1 *)
//	void at::native::(anonymous namespace)::indexSelectSmallIndex<c10::BFloat16, -2, true>(long const*)
//
// are all spelled indexSelectSmallIndex<BFloat16,-2,1>. Left out are the qualifiers that are plain names (those with template arguments or
// parameters stay), the types and suffixes of template values, return types, blanks without meaning, and the parameters of a template:
// NVIDIA's tools write T1, T2, ... where c++filt writes them out, and its arguments say the same. Bool words become 0 and 1, a
// leading const comes after its type, and [lambda(int) (instance 2)] is written as c++filt does, {lambda(int)#2}. The spelling is
// never longer than the name and is its own spelling. A plain C name stays as it is, and so does a text that cannot be read as a
// C++ name, such as one that was cut off.
//
// Kernels that differ only in what is left out, such as two of one name in two namespaces, fall together.
func Spelling(name string) string {
	s := speller{in: name, out: make([]byte, 0, len(name)), word: none, levels: make([]level, 1, 8)}
	for s.at < len(s.in) {
		if !s.step() {
			return name
		}
	}
	s.settle()
	if s.scoped || len(s.levels) > 1 || len(s.out) > len(name) {
		return name
	}
	return string(s.out)
}

// SpellingVersion changes with what Spelling gives, so that warehouses get their spellings anew.
const SpellingVersion = "spelling 2"

// speller reads a name once from left to right. It takes back from its output what turns out to be left out, so that its
// time grows with the length of the name only.
type speller struct {
	in     string
	at     int
	out    []byte
	word   int  // where in out the last token starts when it is a plain name, else none
	scoped bool // the last token was ::
	args   int  // where in out the last template's arguments end
	levels []level
}

const none = -1

// level is an open bracket; the lowest one is the name itself.
type level struct {
	open  byte
	start int  // where in out the bracket stands
	hold  bool // a const came before the type that is being read
	drop  bool // parameters of a template, which its arguments give
}

// step reads one token. It gives false when the text is no C++ name.
func (s *speller) step() bool {
	c := s.in[s.at]
	switch {
	case isBlank(c):
		s.at++
		return true
	case strings.HasPrefix(s.in[s.at:], "::"):
		s.at += 2
		return s.scope()
	case isWord(c):
		if s.scoped && isDigit(c) {
			return false
		}
		s.scoped = false
		s.name()
		return true
	}
	if s.scoped && !strings.ContainsRune("<([{~'", rune(c)) {
		return false
	}
	s.scoped = false
	s.at++
	switch c {
	case '<', '(', '[', '{':
		s.open(c)
		return true
	case '>', ')', ']', '}':
		return s.close(c)
	case ',', '*', '&':
		s.settle()
	}
	s.put(c)
	return c != ':'
}

// scope drops the qualifier before a :: when it is a plain name.
func (s *speller) scope() bool {
	if s.scoped {
		return false
	}
	s.scoped = true
	if s.word != none {
		s.cut(s.word)
	} else if !s.atStart() {
		s.out = append(s.out, "::"...)
	}
	return true
}

// name reads a word: a name, a number, const, operator.
func (s *speller) name() {
	start := s.at
	for s.at < len(s.in) && isWord(s.in[s.at]) {
		s.at++
	}
	w, next := s.in[start:s.at], s.peek()
	inTemplate := s.top().open == '<'
	endsArgument := inTemplate && (next == ',' || next == '>')
	switch {
	case w == "const" && s.atStart():
		s.top().hold = true
		return
	case w == "operator":
		s.putWord(w + s.operator())
		s.word = none
		return
	case endsArgument && s.atStart() && w == "true":
		w = "1"
	case endsArgument && s.atStart() && w == "false":
		w = "0"
	case inTemplate && isDigit(w[0]):
		w = withoutSuffix(w)
	}
	s.putWord(w)
	if w == "const" || isDigit(w[0]) {
		s.word = none
	}
}

var operators = []string{"<=>", "<<=", ">>=", "->*", "()", "[]", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
	"+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", "<", ">", ","}

// operator reads the sign after the word operator, which is no bracket of the name's; empty for a conversion.
func (s *speller) operator() string {
	rest := strings.TrimLeft(s.in[s.at:], blanks)
	for _, sign := range operators {
		if strings.HasPrefix(rest, sign) {
			s.at = len(s.in) - len(rest) + len(sign)
			return sign
		}
	}
	return ""
}

func (s *speller) open(c byte) {
	if c != '<' && !s.atStart() {
		s.settle()
	}
	s.levels = append(s.levels, level{open: c, start: len(s.out), drop: c == '(' && s.args > 0 && s.args == len(s.out)})
	s.put(c)
}

// close ends a bracket: a cast of a template value is taken back, and an unnamed namespace may be a qualifier.
func (s *speller) close(c byte) bool {
	if c != '>' {
		for s.top().open == '<' { // it was a comparison
			s.settle()
			s.pop()
		}
	} else if s.top().open != '<' {
		s.put(c) // likewise
		return true
	}
	if s.top().open != opening[c] {
		return false
	}
	s.settle()
	l := s.pop()
	start := l.start
	if l.drop {
		s.cut(start)
		s.args = start
		return true
	}
	if c == '>' { // NVIDIA's tools write a comma before arguments that are none
		s.out = bytes.TrimRight(s.out, ",")
	}
	s.put(c)
	if string(s.out[start:]) == "<unnamed>" || string(s.out[start:]) == "(anonymous namespace)" {
		s.word = start
	} else if c == '>' {
		s.args = len(s.out)
	} else if c == ']' {
		s.lambda(start)
	} else if c == ')' && s.top().open == '<' && (s.out[start-1] == '<' || s.out[start-1] == ',') && s.atNumber() {
		s.cut(start)
	}
	return true
}

// lambda writes [lambda(int)(instance 2)], as NVIDIA's tools do, the way c++filt does: {lambda(int)#2}.
func (s *speller) lambda(start int) {
	text := s.out[start:]
	number := bytes.LastIndex(text, []byte("(instance "))
	if number < 0 || !bytes.HasPrefix(text, []byte("[lambda(")) || !bytes.HasSuffix(text, []byte(")]")) {
		return
	}
	text[0] = '{'
	end := append(text[:number], '#')
	end = append(end, text[number+len("(instance "):len(text)-len(")]")]...)
	s.out = append(s.out[:start], append(end, '}')...)
}

var opening = map[byte]byte{'>': '<', ')': '(', ']': '[', '}': '{'}

func (s *speller) top() *level { return &s.levels[len(s.levels)-1] }

func (s *speller) pop() level {
	l := *s.top()
	s.levels = s.levels[:len(s.levels)-1]
	return l
}

// settle writes the const that was held back until its type had ended.
func (s *speller) settle() {
	l := s.top()
	if !l.hold {
		return
	}
	l.hold = false
	before, isConst := bytes.CutSuffix(s.out, []byte("const"))
	if n := len(before); isConst && (n == 0 || !isWord(before[n-1])) {
		return
	}
	s.putWord("const")
	s.word = none
}

func (s *speller) put(c byte) { s.out, s.word = append(s.out, c), none }

// cut takes back the output from a token's start on.
func (s *speller) cut(start int) {
	if start > 0 && s.out[start-1] == ' ' {
		start--
	}
	s.out, s.word = s.out[:start], none
	s.forget()
}

// forget forgets arguments that the output has no more.
func (s *speller) forget() {
	if s.args > len(s.out) {
		s.args = 0
	}
}

func (s *speller) putWord(w string) {
	if before, isType := s.returnType(); isType && !typeWords[w] && !isDigit(w[0]) {
		s.out = before
		s.forget()
	} else if n := len(s.out); n > 0 && isWord(s.out[n-1]) {
		s.out = append(s.out, ' ')
	}
	s.word = len(s.out)
	s.out = append(s.out, w...)
}

// returnType returns what is before a return type when the output may end with one, and a name follows: void, or in a template's argument a plain name.
func (s *speller) returnType() (before []byte, isType bool) {
	n := len(s.out)
	if len(s.levels) == 1 && s.args > 0 && !s.scoped { // enable_if<...>::type
		return s.out[:0], isWord(s.out[n-1]) || s.out[n-1] == '>'
	}
	word := n
	for word > 0 && isWord(s.out[word-1]) {
		word--
	}
	isType = word < n && (s.top().open == '<' && !isDigit(s.out[word]) || string(s.out[word:]) == "void")
	return s.out[:word], isType && isStart(s.out[:word])
}

// typeWords follow another word of the same type.
var typeWords = map[string]bool{"const": true, "volatile": true, "int": true, "long": true, "short": true, "char": true, "double": true}

// atStart reports whether a type or value may begin here.
func (s *speller) atStart() bool { return isStart(s.out) }

func isStart(before []byte) bool {
	n := len(before)
	return n == 0 || before[n-1] == '<' || before[n-1] == '(' || before[n-1] == ','
}

// peek returns the next byte that is no blank, 0 at the end.
func (s *speller) peek() byte {
	for i := s.at; i < len(s.in); i++ {
		if !isBlank(s.in[i]) {
			return s.in[i]
		}
	}
	return 0
}

// atNumber reports whether a number follows, perhaps a negative one.
func (s *speller) atNumber() bool {
	rest := strings.TrimPrefix(strings.TrimLeft(s.in[s.at:], blanks), "-")
	return rest != "" && isDigit(rest[0])
}

// withoutSuffix returns 128 for 128u, 128l, 128ul, 128ll and 128ull, as c++filt writes them; any other word as it is.
func withoutSuffix(w string) string {
	digits := strings.TrimRight(w, "ul")
	if strings.Trim(digits, "0123456789") != "" {
		return w
	}
	return digits
}

const blanks = " \t\r\n"

func isBlank(c byte) bool { return strings.IndexByte(blanks, c) >= 0 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}
