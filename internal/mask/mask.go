// Package mask takes what looks like a secret out of texts and command lines before they are stored or shown.
package mask

import (
	"regexp"
	"strings"
)

// Patterns of secrets that end up in command lines and messages: tokens of well-known services, the value of an option, variable
// or JSON member whose name says that it is one, and what HTTP headers and URLs carry.
var (
	tokenText  = regexp.MustCompile(`\b(hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|nvapi-[A-Za-z0-9_-]{16,}|glpat-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|AKIA[A-Z0-9]{12,}|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+)`)
	secretPair = regexp.MustCompile(`(?i)([A-Za-z0-9_.-]*(?:token|secret|passw(?:or)?d|passphrase|\bpass\b|[_-]pass\b|\bpwd\b|[_-]pwd\b|(?:api|access|private|auth|secret|nvidia|ssh|openai)[_-]?key|[_-]auth|credential|cookie)[A-Za-z0-9_.-]*["']?\s*[=:]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;"']+)`)
	secretWord = regexp.MustCompile(`(?i)((?:^|\s)--?[a-z0-9_.-]*(?:token|secret|passw(?:or)?d|passphrase|\bpass\b|[_-]pass\b|\bpwd\b|[_-]pwd\b|(?:api|access|private|auth|secret|nvidia|ssh|openai)[_-]?key|[_-]auth|credential|cookie)s?\s+)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s-]\S*)`)
	bearerText = regexp.MustCompile(`(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}`)
	headerText = regexp.MustCompile(`(?i)(\bauthorization\s*:\s*(?:(?:bearer|basic|token|apikey|digest|negotiate)\s+)?)[^\r\n"']+`)
	urlUser    = regexp.MustCompile(`(://(?:[^/\s:@]*:)?)[^/\s]+@`)
	secretFlag = regexp.MustCompile(`(?i)^[a-z0-9_.-]*(token|secret|passw(or)?d|passphrase|\bpass|[_-]pass|\bpwd|[_-]pwd|(?:api|access|private|auth|secret|nvidia|ssh|openai)[_-]?key|[_-]auth|credential|cookie)s?$`)
	// notSecret are options that hold such a word but count or name tokens of text.
	notSecret = regexp.MustCompile(`(?i)(tokens|tokenizer|token[_-](len|count|limit|id|budget|num))`)
)

// surelySecret are secrets even where such a word stands in their name too.
var surelySecret = regexp.MustCompile(`(?i)(secret|passw|key|credential|hf_token)`)

const masked = "***"

// Text replaces what looks like a secret in a text.
func Text(s string) string {
	s = tokenText.ReplaceAllString(s, masked)
	s = headerText.ReplaceAllString(s, "${1}"+masked)
	s = bearerText.ReplaceAllString(s, "${1}"+masked)
	s = urlUser.ReplaceAllString(s, "${1}"+masked+"@")
	return maskValues(secretWord, maskValues(secretPair, s))
}

// maskValues masks the second group of what names a secret in its first.
func maskValues(named *regexp.Regexp, s string) string {
	return named.ReplaceAllStringFunc(s, func(m string) string {
		parts := named.FindStringSubmatch(m)
		if notSecret.MatchString(parts[1]) && !surelySecret.MatchString(parts[1]) {
			return m
		}
		return parts[1] + masked
	})
}

// Argv takes secrets out of a command line, word by word: also a word of its own after an option whose name says that it is one.
func Argv(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = Text(a)
		if name, _, ok := strings.Cut(a, "="); ok && isSecretWord(name) && (i == 0 || argv[i-1] != "-c") { // the value ends where the word does, not at a blank
			out[i] = name + "=" + masked
		}
		if i > 0 && strings.HasPrefix(argv[i-1], "-") && isSecretWord(argv[i-1]) {
			out[i] = masked
		}
	}
	return out
}

// isShells says whether a character may mean something to a shell.
func isShells(r rune) bool { return strings.ContainsRune(" \t\n'\"$&|;<>()*?[]{}`\\#~!", r) }

// isSecretWord says whether an option or variable is a secret by its name.
func isSecretWord(name string) bool {
	return secretFlag.MatchString(name) && (!notSecret.MatchString(name) || surelySecret.MatchString(name))
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
