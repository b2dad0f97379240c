package names

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// Pattern is a regular expression that is tried only on names that hold one of the texts without which it cannot match: looking for a text
// takes a thousandth of the time, and of some 250 rules few can match a name.
type Pattern struct {
	re      *regexp.Regexp
	needles []string // lower case; nil: none is known
}

func Compile(expr string) (Pattern, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return Pattern{}, err
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{re, needlesOf(tree.Simplify())}, nil
}

// Match matches a name, of which lower is what lowered returns.
func (p Pattern) Match(name, lower string) bool {
	if p.needles != nil && !slices.ContainsFunc(p.needles, func(text string) bool { return strings.Contains(lower, text) }) {
		return false
	}
	return p.re.MatchString(name)
}

// needlesOf returns texts of ASCII, in lower case, of which each match of an expression, in lower case, has one or more; nil where it knows none.
func needlesOf(e *syntax.Regexp) []string {
	switch e.Op {
	case syntax.OpLiteral:
		if slices.ContainsFunc(e.Rune, func(r rune) bool { return r > unicode.MaxASCII }) { // whose case folds in other ways
			return nil
		}
		return []string{strings.ToLower(string(e.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return needlesOf(e.Sub[0])
	case syntax.OpAlternate:
		var all []string
		for _, sub := range e.Sub {
			one := needlesOf(sub)
			if one == nil {
				return nil
			}
			all = append(all, one...)
		}
		return all
	case syntax.OpConcat:
		var best []string
		for _, sub := range e.Sub {
			if one := needlesOf(sub); one != nil && (best == nil || shortest(one) > shortest(best)) {
				best = one
			}
		}
		return best
	}
	return nil
}

func shortest(texts []string) int {
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}

// Lower returns a name in lower case, in which every letter that an expression takes for one of ASCII is that one: of the two others that
// are, strings.ToLower makes the Kelvin sign a k.
func Lower(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "ſ", "s")
}
