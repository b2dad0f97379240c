package plan

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// AnyDomain as a Range's domain stands for every domain. Only nsys knows it.
const AnyDomain = "*"

// Range names an NVTX range in the one way that serves both tools, which write it differently.
type Range struct {
	Name   string
	Domain string // "" is the default domain, AnyDomain every one
}

// errRange is wrapped by errors about a range's text.
var errRange = errors.New("write a range as NAME or NAME@DOMAIN, with \\@ for an @ in the name")

// ParseRange reads RANGE or RANGE@DOMAIN. A plain @ is written \@. Other backslashes are refused: the tools do not agree on how
// a name holds one.
func ParseRange(text string) (Range, error) {
	var parts []string
	var part strings.Builder
	escaped := false
	for _, c := range text {
		switch {
		case escaped && c != '@':
			return Range{}, fmt.Errorf("range %q: a backslash may only precede @: %w", text, errRange)
		case unicode.IsControl(c):
			return Range{}, fmt.Errorf("range %q: it has a control character: %w", text, errRange)
		case c == '\\':
			escaped = true
			continue
		case c == '@' && !escaped:
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteRune(c)
		}
		escaped = false
	}
	parts = append(parts, part.String())
	switch {
	case escaped:
		return Range{}, fmt.Errorf("range %q: it ends in a backslash: %w", text, errRange)
	case len(parts) > 2:
		return Range{}, fmt.Errorf("range %q: it has more than one @: %w", text, errRange)
	case parts[0] == "":
		return Range{}, fmt.Errorf("range %q: it has no name: %w", text, errRange)
	case len(parts) == 2 && parts[1] == "":
		return Range{}, fmt.Errorf("range %q: no domain follows the @; omit the @ for the default domain: %w", text, errRange)
	}
	r := Range{Name: parts[0]}
	if len(parts) == 2 {
		r.Domain = parts[1]
	}
	return r, nil
}

// Nsys is the range as nsys profile --nvtx-capture takes it.
func (r Range) Nsys() string {
	escape := strings.NewReplacer("@", `\@`).Replace
	if r.Domain == "" {
		return escape(r.Name)
	}
	return escape(r.Name) + "@" + escape(r.Domain)
}

// Ncu is the range as values of ncu's --nvtx-include, of which each adds to what the others include: for ncu a push/pop range
// ends in a slash and a start/end range does not, while nsys takes both for the same.
func (r Range) Ncu() []string {
	text := ncuQuantifiers.Replace(r.Name)
	if r.Domain != "" {
		text = ncuQuantifiers.Replace(r.Domain) + "@" + text
	}
	return []string{text + "/", text}
}

// ncuQuantifiers escapes what ncu's filter of NVTX ranges gives a meaning.
var ncuQuantifiers = strings.NewReplacer("@", `\@`, ",", `\,`, "[", `\[`, "]", `\]`, "/", `\/`, "*", `\*`, "+", `\+`)

// checkNcu refuses what ncu cannot be asked for.
func (r Range) checkNcu() error {
	switch {
	case r.Domain == AnyDomain:
		return errors.New("ncu cannot match a range in every domain: name the domain")
	case strings.HasPrefix(r.Ncu()[0], "regex:"):
		return errors.New("ncu treats a name that begins with regex: as a regular expression and has no escape for it")
	}
	return nil
}
