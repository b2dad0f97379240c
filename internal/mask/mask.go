// Package mask takes what looks like a secret out of texts and command lines before they are stored or shown.
package mask

import (
	"slices"
	"strings"
)

const masked = "***"

// Text replaces what looks like a secret in a text: values of options, variables, members and headers whose name says that they are one,
// tokens of known services, keys written out, and long random values.
func Text(s string) string {
	f := finder{text: s}
	f.find()
	return f.masked()
}

// Stored is Text for what goes into the warehouse: homes of people lose their name too.
func Stored(s string) string {
	f := finder{text: s, isStored: true}
	f.find()
	return f.masked()
}

// Value is Stored for a value that has a name of its own.
func Value(name, value string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if !strings.ContainsAny(last, " =:") && isSecretName(last, pairOf(last)) && !isPlainValue(last, value) {
		return masked
	}
	return Stored(value)
}

// span is a part of a text, up to before to, and what takes its place.
type span struct {
	from, to int
	by       string
}

// finder finds the secrets of one text.
type finder struct {
	text     string
	isStored bool // see Stored
	unclosed rest // of the value that was looked at last
	open     rest // of a secret on the last line
	spans    []span
}

func (f *finder) add(from, to int) {
	if from < to {
		f.spans = append(f.spans, span{from, to, masked})
	}
}

// find looks at each place where a needle is.
func (f *finder) find() {
	eachNeedle(f.text, func(n needle, from int) bool {
		n.rule(f, from, from+len(n.text))
		return false
	})
	f.random()
}

// masked is the text with what was found replaced.
func (f *finder) masked() string {
	if len(f.spans) == 0 {
		return f.text
	}
	slices.SortFunc(f.spans, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	end := 0 // of what is written or replaced
	for _, sp := range f.spans {
		if sp.from >= end {
			b.WriteString(f.text[end:sp.from])
			b.WriteString(sp.by)
		}
		end = max(end, sp.to)
	}
	b.WriteString(f.text[end:])
	return b.String()
}

// Argv takes secrets out of a command line, word by word: also a word of its own after an option whose name says that it is one.
func Argv(argv []string) []string {
	out := make([]string, len(argv))
	isSeveral := false // values of the option before
	for i, a := range argv {
		out[i] = Text(a)
		if name, value, ok := strings.Cut(a, "="); ok && isSecretName(name, pairOf(name)) && !isNothing(value) && !isFolder(name, value) && (i == 0 || argv[i-1] != "-c") { // the value ends where the word does, not at a blank
			out[i] = name + "=" + masked
		}
		switch {
		case strings.HasPrefix(a, "-"):
			isSeveral = false
			if i > 0 && strings.HasPrefix(argv[i-1], "-") {
				out[i] = afterOption(argv[i-1], a, out[i])
			}
		case i > 0 && strings.HasPrefix(argv[i-1], "-"):
			out[i] = afterOption(argv[i-1], a, out[i])
			isSeveral = out[i] == masked && takesSeveral(argv[i-1])
		case isSeveral && isOneMore(a):
			out[i] = masked
		default:
			isSeveral = false
		}
		if i > 0 && isPasswordWord(argv[:i], a) {
			out[i] = a[:2] + masked
		}
		if i > 0 && argv[i-1] == "-p" && !strings.HasPrefix(a, "-") && takesPassword(argv[:i-1]) {
			out[i] = masked
		}
	}
	return out
}

// severally are the ends of options that may have several values.
var severally = strings.Fields("s api-key api_key apikey")

// takesSeveral reports whether an option may have several values, as vLLM's --api-key does.
func takesSeveral(option string) bool {
	n := strings.ToLower(option)
	return endsWith(n, severally) && !strings.HasSuffix(n, "pass")
}

// isOneMore reports whether a word may be one more value of such an option: no address, no path, and no value with a name.
func isOneMore(word string) bool {
	return word != "" && !strings.Contains(strings.TrimRight(word, "="), "=") && !strings.Contains(word, "://") && !strings.HasPrefix(word, "/") && !strings.HasPrefix(word, "./")
}

// afterOption masks the word that follows an option.
func afterOption(option, word, otherwise string) string {
	switch {
	case isSecretName(option, anOption) && !strings.HasPrefix(word, "--") && !isNothing(word):
		return masked
	case isLogin(option):
		if n := loginSecret(word); n > 0 {
			return word[:n] + masked
		}
	case isRandom(word):
		return masked
	}
	return otherwise
}

// Command joins a command line's words for display as a shell would read them, secrets masked.
func Command(argv []string) string {
	out := Argv(argv)
	for i, a := range out {
		if a == "" || strings.ContainsFunc(a, isShells) {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// isShells reports whether a character may mean something to a shell.
func isShells(r rune) bool { return strings.ContainsRune(" \t\n'\"$&|;<>()*?[]{}`\\#~!", r) }
