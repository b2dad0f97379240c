package typeset

import (
	"regexp"
	"strings"
)

// Kernels returns how names of kernels are shortened wherever people read them: without what nobody knows them by (the return type, the
// parameters, namespaces, casts of numbers), as far as they stay different, and then cut to a width where one is given. Names that it was
// not given are shortened on their own.
func Kernels(names []string, to int) func(string) string {
	names = Unique(names)
	bare := PlainNames(names)
	short := map[string]string{}
	if to > 0 {
		alike := map[string][]string{}
		for _, name := range bare {
			short[name] = cutName(name, to)
			alike[short[name]] = append(alike[short[name]], name)
		}
		for _, group := range alike {
			if len(group) > 1 {
				apart(short, group, to)
			}
		}
		sumAlike(short, to)
	}
	known := make(map[string]string, len(names))
	for i, name := range names {
		if known[name] = bare[i]; to > 0 {
			known[name] = short[bare[i]]
		}
	}
	return func(name string) string {
		if s, is := known[name]; is {
			return s
		}
		if name = bareName(name); to > 0 {
			name = cutName(name, to)
		}
		return name
	}
}

// cutName cuts a name where it says least: of a template late in its arguments, of others in the middle, since both ends of a name such as
// nvjet_hsh_128x64_64x9_1x2_h_bz_coopB_TNT say something.
func cutName(name string, to int) string {
	if strings.Contains(name, "<") {
		return Shorten(name, to, 85)
	}
	return Shorten(name, to, 60)
}

// PlainNames returns names of kernels without return type, parameters, namespaces and casts; those that would be alike keep more of them.
func PlainNames(names []string) []string {
	out := make([]string, len(names))
	open := make([]int, len(names)) // places of the names that are not yet different from all others
	for i := range names {
		open[i] = i
	}
	for _, form := range []func(string) string{bareName, withoutParameters, func(name string) string { return name }} {
		seen := map[string]map[string]bool{} // names by what is shown of them
		for _, i := range open {
			out[i] = form(names[i])
		}
		for i, name := range names {
			if seen[out[i]] == nil {
				seen[out[i]] = map[string]bool{}
			}
			seen[out[i]][name] = true
		}
		var alike []int
		for i := range names {
			if len(seen[out[i]]) > 1 {
				alike = append(alike, i)
			}
		}
		if open = alike; len(open) == 0 {
			break
		}
	}
	return out
}

var (
	namespaces = regexp.MustCompile(`(?:\b[A-Za-z_]\w*::|<unnamed>::|\(anonymous namespace\)::)+`)
	casts      = regexp.MustCompile(`\([A-Za-z_][\w ]*\)(-?\d)`)
)

// bareName is a name without namespaces and casts of numbers in templates either.
func bareName(name string) string {
	name = withoutResult(withoutParameters(name))
	name = strings.NewReplacer("<void ", "<", ", void ", ", ").Replace(name)
	bare := casts.ReplaceAllString(namespaces.ReplaceAllString(name, ""), "$1")
	if strings.HasPrefix(bare, "operator") { // of which its class is all that is known
		return name
	}
	return bare
}

// withoutResult cuts a return type that is a template: std::enable_if<!T7, void>::type kernel<int>.
func withoutResult(name string) string {
	depth, last := 0, -1
	for i, c := range []byte(name) {
		switch c {
		case '<', '(', '[', '{':
			depth++
		case '>', ')', ']', '}':
			depth--
		case ' ':
			if depth == 0 {
				last = i
			}
		}
	}
	if depth != 0 || last < 0 || !strings.HasPrefix(strings.TrimLeft(name[:last], wordBytes), "<") || strings.HasSuffix(name[:last], "operator") {
		return name
	}
	return name[last+1:]
}

// wordBytes are what a qualified name is made of.
const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:"

// withoutParameters cuts the return type void, and the parentheses that end a name with what is in them.
func withoutParameters(name string) string {
	name = strings.TrimPrefix(name, "void ")
	if !strings.HasSuffix(name, ")") {
		return name
	}
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			if name[i-1] == ' ' { // a remark, as of copies: Memcpy HtoD (Pinned -> Device)
				return name
			}
			return name[:i]
		}
	}
	return name
}
