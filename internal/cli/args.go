package cli

import (
	"flag"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// permute puts flags before the other arguments, of prof itself and of its verb or query, so that they may stand anywhere. The library
// would take a flag behind an argument for one more argument. What follows -- is no flag.
func permute(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	front, rest := splitFlags(app.Flags, args[1:], true)
	out := append(args[:1:1], front...)
	cmd, path, words := named(app, rest)
	if cmd == nil || cmd.SkipFlagParsing {
		return append(out, rest...)
	}
	last := args[len(args)-1]
	if len(words) > 0 && !slices.Contains(rest, "--") && looksLikeFlag(last) && takesValue(cmd.Flags, last) {
		return append(append(args[:1:1], path...), last) // an argument must not become its value; the library says that it has none
	}
	// --home may stand behind the verb too.
	own, after := splitFlags(append(optionsOf(cmd), app.Flags...), words, false)
	global := slices.DeleteFunc(slices.Clone(app.Flags), func(f cli.Flag) bool { return f == cli.HelpFlag }) // every verb has that
	own, home := takeFlags(global, own)
	if n := len(home); n > 0 && home[n-1] == last && takesValue(global, home[n-1]) {
		return append(args[:1:1], home[n-1]) // the verb must not become its value; the library says that it has none
	}
	switch {
	case asksForHelp(global, optionsOf(cmd), own):
		after = nil // the library would take the first for a topic of its help
	case len(cmd.Subcommands) > 0 && len(after) > 0: // which is none of them, and its options are nobody's
		own, after = nil, append([]string{"--"}, append(after, own...)...)
	}
	out = append(append(append(out, home...), path...), own...)
	return append(out, guarded(after)...)
}

// named is the verb, or the query, that words begin with; path names it, and left are the words besides.
func named(app *cli.App, words []string) (cmd *cli.Command, path, left []string) {
	if len(words) == 0 {
		return nil, nil, nil
	}
	cmd, path, left = app.Command(words[0]), words[:1:1], words[1:]
	if cmd == nil || len(cmd.Subcommands) == 0 {
		return cmd, path, left
	}
	before, rest := splitFlags(append(optionsOf(cmd), app.Flags...), left, true)
	at := 0
	if len(rest) > 1 && rest[0] == "--" {
		at = 1
	}
	if len(rest) > 0 {
		if sub := cmd.Command(rest[at]); sub != nil {
			return sub, append(path, rest[at]), slices.Concat(before, rest[:at], rest[at+1:])
		}
	}
	return cmd, path, left
}

// optionsOf are the options of a verb and of its queries.
func optionsOf(cmd *cli.Command) []cli.Flag {
	out := slices.Clone(cmd.Flags)
	for _, sub := range cmd.Subcommands {
		out = append(out, sub.Flags...)
	}
	return out
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

// givenTwice is the first of some options that stands twice among arguments, of which the library keeps the last; "" for none.
func givenTwice(args []string, names ...string) string {
	var seen []string
	for _, a := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		switch {
		case a == "--":
			return ""
		case !looksLikeFlag(a) || !slices.Contains(names, name):
		case slices.Contains(seen, name):
			return name
		default:
			seen = append(seen, name)
		}
	}
	return ""
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

// takesValue reports whether the next argument is the flag's value.
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

// exactArgs checks the number of arguments.
func exactArgs(c *cli.Context, n int, what string) error {
	if c.NArg() != n {
		return usagef("%s takes %s; see `%s`", c.Command.Name, what, helpOf(c))
	}
	return nil
}

// helpOf is the command line that explains a command.
func helpOf(c *cli.Context) string {
	if path := strings.Fields(c.Command.HelpName); len(path) > 2 {
		return strings.Join(path, " ") + " -h"
	}
	return "prof help " + c.Command.Name
}

// systemNames match the usage of options that take what is the system's, and need be no text: names of files, and what other programs are started with.
var systemNames = regexp.MustCompile("`(FILE|DIR|GLOB|LIST|MANIFEST|CONFIG.json|COMMAND|ARGUMENT)`")

// onlyText has a command refuse options that are not UTF-8: they are held against texts, which are.
func onlyText(cmd *cli.Command) {
	action := cmd.Action
	cmd.Action = func(c *cli.Context) error {
		for _, f := range cmd.Flags {
			if name := f.Names()[0]; !utf8.ValidString(c.String(name)) && !systemNames.MatchString(f.(cli.DocGenerationFlag).GetUsage()) {
				return usagef("--%s is not UTF-8", name)
			}
		}
		return action(c)
	}
	for _, sub := range cmd.Subcommands {
		onlyText(sub)
	}
}
