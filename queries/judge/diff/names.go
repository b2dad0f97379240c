package diff

import (
	"cmp"
	"regexp"
	"strings"
)

var numbers = regexp.MustCompile(`[0-9]+`)

// baseName is what names of variants of a kernel share: the name without its result, template and parameters, every number as #.
func baseName(name string) string { return numbers.ReplaceAllString(plainName(name), "#") }

// plainName is a kernel's name without its result, template arguments and parameters.
func plainName(name string) string {
	name = strings.ReplaceAll(name, "<unnamed>", "(anonymous namespace)")
	name = strings.ReplaceAll(name, "(anonymous namespace)", "{anonymous}")
	var out strings.Builder
	depth := 0
	for _, r := range name {
		switch r {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			depth = max(0, depth-1)
		default:
			if depth == 0 {
				out.WriteRune(r)
			}
		}
	}
	plain := strings.TrimSpace(out.String())
	if i := strings.LastIndexByte(plain, ' '); i >= 0 && i+1 < len(plain) {
		plain = plain[i+1:]
	}
	return cmp.Or(plain, name)
}

// shortName is a kernel's name as a sentence can bear it.
func shortName(name string) string {
	plain := plainName(name)
	if i := strings.LastIndex(plain, "::"); i >= 0 && i+2 < len(plain) {
		plain = plain[i+2:]
	}
	const most = 40
	if r := []rune(plain); len(r) > most {
		plain = string(r[:most]) + "..."
	}
	return plain
}
