package mask

import (
	"cmp"
	"slices"
	"strings"
)

// leastKnown is how long a secret must be, in bytes, to be found by its own text: a shorter one would be found in words of others.
const leastKnown = 6

// Known returns a function that masks as Text does what a program writes that has got an environment and a command line: values of these that Value
// and Argv mask are masked wherever they stand.
func Known(environ, argv []string) func(string) string {
	var secrets []string
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok && name != "PWD" && name != "OLDPWD" && Value(name, value) == masked {
			secrets = append(secrets, value)
			for line := range strings.Lines(value) { // a program's output is masked line by line
				if line = strings.TrimSpace(line); len(line) >= leastRandom {
					secrets = append(secrets, line)
				}
			}
		}
	}
	for i, word := range Argv(argv) {
		switch name, value, ok := strings.Cut(word, "="); {
		case word == masked:
			secrets = append(secrets, argv[i])
		case ok && value == masked:
			secrets = append(secrets, strings.TrimPrefix(argv[i], name+"="))
		}
	}
	secrets = slices.DeleteFunc(secrets, func(s string) bool { return len(s) < leastKnown })
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) }) // of two that begin alike the longer one is meant
	var pairs []string
	for _, s := range slices.Compact(secrets) {
		pairs = append(pairs, s, masked)
	}
	known := strings.NewReplacer(pairs...)
	return func(s string) string { return Text(known.Replace(s)) }
}
