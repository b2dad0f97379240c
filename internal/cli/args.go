package cli

import (
	"flag"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/internal/suggest"
)

// completionFlag is the library's: as the last argument it asks for candidates in place of doing anything.
const completionFlag = "--generate-bash-completion"

// permute puts flags before the other arguments, of prof itself and of its verb, so that they may stand anywhere. The library
// would take a flag behind an argument for one more argument. What follows -- is no flag.
func permute(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	if last := len(args) - 1; last > 0 && args[last] == completionFlag {
		return append(completing(app, args[:last]), completionFlag)
	}
	if verb, flag := missingValue(app, args); flag != "" {
		return []string{args[0], verb, flag} // an argument must not become its value; the library says that it has none
	}
	return arrange(app, args)
}

// missingValue finds a flag of the verb at the very end that needs a value.
func missingValue(app *cli.App, args []string) (verb, flag string) {
	last := args[len(args)-1]
	_, rest := splitFlags(app.Flags, args[1:], true)
	if len(rest) < 2 || slices.Contains(rest, "--") {
		return "", ""
	}
	v := app.Command(rest[0])
	if v == nil || !looksLikeFlag(last) || !takesValue(v.Flags, last) {
		return "", ""
	}
	return rest[0], last
}

// arrange does the moving.
func arrange(app *cli.App, args []string) []string {
	front, rest := splitFlags(app.Flags, args[1:], true)
	if len(rest) == 0 {
		return append(args[:1:1], front...)
	}
	verb := app.Command(rest[0])
	if verb == nil {
		return append(append(args[:1:1], front...), rest...)
	}
	// --home may stand behind the verb too.
	own, after := splitFlags(append(slices.Clone(verb.Flags), app.Flags...), rest[1:], false)
	global := slices.DeleteFunc(slices.Clone(app.Flags), func(f cli.Flag) bool { return f == cli.HelpFlag }) // every verb has that
	own, home := takeFlags(global, own)
	if n := len(home); n > 0 && home[n-1] == rest[len(rest)-1] && takesValue(global, home[n-1]) {
		return append(args[:1:1], home[n-1]) // the verb must not become its value; the library says that it has none
	}
	if asksForHelp(global, verb.Flags, own) {
		after = nil // the library would take the first for a topic of its help
	}
	out := append(append(args[:1:1], front...), home...)
	out = append(append(out, rest[0]), own...)
	return append(out, guarded(after)...)
}

// asksForHelp looks for --help or -h in a list that holds only flags and their values.
func asksForHelp(global, own []cli.Flag, list []string) bool {
	for i := 0; i < len(list); i++ {
		if slices.Contains([]string{"-h", "--h", "-help", "--help"}, list[i]) {
			return true
		}
		if takesValue(global, list[i]) || takesValue(own, list[i]) {
			i++
		}
	}
	return false
}

// completing permutes a command line that the user is still typing. It must not hold --, behind which the library would not
// see that completion is asked for, and would run the verb.
func completing(app *cli.App, args []string) []string {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--" })
	return slices.DeleteFunc(arrange(app, args), func(a string) bool { return a == "--" })
}

// guarded puts -- before arguments that the library would otherwise take for flags, in place of one among them.
func guarded(args []string) []string {
	if !slices.ContainsFunc(args, func(a string) bool { return len(a) > 1 && a[0] == '-' }) {
		return args
	}
	out := slices.Clone(args)
	if i := slices.Index(out, "--"); i >= 0 {
		out = slices.Delete(out, i, i+1)
	}
	return slices.Insert(out, 0, "--")
}

// splitFlags parts flags, with their values, from other arguments; with stop it ends at the first of those.
func splitFlags(known []cli.Flag, args []string, stop bool) (flags, rest []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return flags, append(rest, args[i:]...)
		case !looksLikeFlag(a):
			if stop {
				return flags, append(rest, args[i:]...)
			}
			rest = append(rest, a)
		default:
			flags = append(flags, a)
			if takesValue(known, a) && i+1 < len(args) {
				i++
				flags = append(flags, args[i])
			}
		}
	}
	return flags, rest
}

// takeFlags takes the given flags out of a list that holds only flags and their values.
func takeFlags(which []cli.Flag, list []string) (left, taken []string) {
	for i := 0; i < len(list); i++ {
		to := &left
		if find(which, list[i]) != nil {
			to = &taken
		}
		*to = append(*to, list[i])
		if i+1 < len(list) && (takesValue(which, list[i]) || !strings.HasPrefix(list[i+1], "-")) {
			i++
			*to = append(*to, list[i])
		}
	}
	return left, taken
}

// looksLikeFlag tells flags from negative numbers and from SQL that begins with a comment.
func looksLikeFlag(a string) bool {
	if len(a) < 2 || a[0] != '-' || a[1] >= '0' && a[1] <= '9' {
		return false
	}
	name, _, _ := strings.Cut(a, "=")
	return !strings.ContainsAny(name, " \t\r\n")
}

func find(known []cli.Flag, arg string) cli.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	for _, f := range known {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// takesValue says whether the next argument is the flag's value.
func takesValue(known []cli.Flag, arg string) bool {
	f := find(known, arg)
	if f == nil || strings.Contains(arg, "=") {
		return false
	}
	set := flag.NewFlagSet("", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	if err := f.Apply(set); err != nil {
		return true
	}
	b, ok := set.Lookup(f.Names()[0]).Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

func didYouMean(word string, names []string) string {
	if near := suggest.Nearest(word, names); len(near) > 0 {
		return "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return "; `prof` lists the verbs"
}

// exactArgs checks the number of arguments.
func exactArgs(c *cli.Context, n int, what string) error {
	if c.NArg() != n {
		return usagef("%s takes %s; see `prof help %s`", c.Command.Name, what, c.Command.Name)
	}
	return nil
}
