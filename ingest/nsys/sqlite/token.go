package sqlite

import "strings"

// tokenKind is what the lexer of CREATE TABLE statements tells apart.
type tokenKind uint8

const (
	endToken    tokenKind = iota
	wordToken             // an unquoted name or keyword
	quotedToken           // "x", [x], `x` or 'x', unquoted
	numberToken
	punctToken
)

type token struct {
	kind tokenKind
	text string
}

// is reports whether the token is an unquoted keyword or a punctuation mark.
func (t token) is(text string) bool {
	return (t.kind == wordToken || t.kind == punctToken) && strings.EqualFold(t.text, text)
}

// isAny reports whether the token is one of the keywords.
func (t token) isAny(texts ...string) bool {
	for _, text := range texts {
		if t.is(text) {
			return true
		}
	}
	return false
}

// isName reports whether the token can name a column. SQLite takes string literals for names too.
func (t token) isName() bool { return t.kind == wordToken || t.kind == quotedToken }

// tokenize splits SQL text, leaving out white space and comments. A quote or comment that is not closed runs to the
// end: SQLite would not have stored such a statement, and the parser then misses the closing parenthesis.
func tokenize(sql string) []token {
	var out []token
	for i := 0; i < len(sql); {
		if n := blank(sql[i:]); n > 0 {
			i += n
			continue
		}
		t, n := lex(sql[i:])
		out = append(out, t)
		i += n
	}
	return out
}

// blank returns the length of the white space or comment at the start of s.
func blank(s string) int {
	switch {
	case strings.IndexByte(" \t\n\f\r", s[0]) >= 0:
		return 1
	case strings.HasPrefix(s, "--"):
		return until(s, 2, "\n")
	case strings.HasPrefix(s, "/*"):
		return until(s, 2, "*/")
	}
	return 0
}

// until returns the length of s up to and with the first end behind from, all of s when there is none.
func until(s string, from int, end string) int {
	if i := strings.Index(s[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(s)
}

// lex reads the token at the start of s and gives its length.
func lex(s string) (token, int) {
	c := s[0]
	switch {
	case c == '"' || c == '`' || c == '\'':
		return quoted(s, c)
	case c == '[':
		n := until(s, 1, "]")
		return token{quotedToken, strings.TrimSuffix(s[1:n], "]")}, n
	case c >= '0' && c <= '9':
		n := numberLen(s)
		return token{numberToken, s[:n]}, n
	case isWordByte(c):
		n := 1
		for n < len(s) && isWordByte(s[n]) {
			n++
		}
		return token{wordToken, s[:n]}, n
	}
	return token{punctToken, s[:1]}, 1
}

// quoted reads a name or string between two equal marks; a doubled mark inside stands for one.
func quoted(s string, mark byte) (token, int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] == mark {
			if i+1 == len(s) || s[i+1] != mark {
				return token{quotedToken, b.String()}, i + 1
			}
			i++
		}
		b.WriteByte(s[i])
	}
	return token{quotedToken, b.String()}, len(s)
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// numberLen returns the length of the numeric literal at the start of s.
func numberLen(s string) int {
	hex := len(s) > 1 && (s[1] == 'x' || s[1] == 'X')
	n := 1
	for n < len(s) {
		sign := (s[n] == '+' || s[n] == '-') && !hex && (s[n-1] == 'e' || s[n-1] == 'E')
		if !isWordByte(s[n]) && s[n] != '.' && !sign {
			break
		}
		n++
	}
	return n
}
