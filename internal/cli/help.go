package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/render/typeset"
)

// flagGroup is options of a verb that has many, under a heading in its help.
type flagGroup struct {
	title string
	flags []cli.Flag
}

// flagsOf are the options of all groups.
func flagsOf(groups []flagGroup) (out []cli.Flag) {
	for _, g := range groups {
		out = append(out, g.flags...)
	}
	return out
}

// groupedHelp is the template of a command's help with its options in groups, in lines of a width: the library's has groups and options in the order
// of the alphabet, and lets a terminal break its lines.
func groupedHelp(groups []flagGroup, width int) string {
	groups = append(slices.Clip(groups), flagGroup{"Help", []cli.Flag{cli.HelpFlag}})
	column := 0 // of what an option does
	for _, f := range flagsOf(groups) {
		name, _ := optionText(f)
		column = max(column, len("   "+name+"  "))
	}
	isNarrow := width < 2*column
	if isNarrow {
		column = len("      ")
	}
	var out strings.Builder
	for _, g := range groups {
		out.WriteString("\n" + strings.ToUpper(g.title) + ":\n")
		for _, f := range g.flags {
			name, doc := optionText(f)
			lead := "   " + name
			if isNarrow {
				out.WriteString(lead + "\n")
				lead = ""
			}
			for _, line := range typeset.Wrap(doc, min(width, helpWidth)-column) {
				fmt.Fprintf(&out, "%-*s%s\n", column, lead, line)
				lead = ""
			}
		}
	}
	head, _, _ := strings.Cut(cli.CommandHelpTemplate, "{{if .VisibleFlagCategories}}")
	return head + "\n" + out.String()
}

// helpWidth is how wide the help gets: longer lines are hard to read.
const helpWidth = 110

// optionText is how an option is written, and what it does.
func optionText(f cli.Flag) (name, doc string) {
	name, doc, _ = strings.Cut(f.String(), "\t")
	name, _, _ = strings.Cut(strings.TrimSpace(name), " [ ") // an option that may be repeated
	for _, no := range []string{" (default: false)", " (default: 0)", " (default: 0s)"} {
		doc = strings.TrimSuffix(doc, no)
	}
	if all := strings.Split(name, ", "); len(all) > 1 { // each name has the value
		for i, n := range all[:len(all)-1] {
			all[i], _, _ = strings.Cut(n, " ")
		}
		name = strings.Join(all, ", ")
	}
	return name, doc
}
