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

// helpLine is what a line of help names, and what is said of it.
type helpLine struct{ name, doc string }

// helpGroup is lines of help under a heading.
type helpGroup struct {
	title string
	lines []helpLine
}

// groupsText writes groups in lines of a width, what is said in one column.
func groupsText(groups []helpGroup, width int) string {
	column := 0
	for _, g := range groups {
		for _, l := range g.lines {
			column = max(column, len("   "+l.name+"  "))
		}
	}
	isNarrow := width < 2*column
	if isNarrow {
		column = len("      ")
	}
	var out strings.Builder
	for _, g := range groups {
		out.WriteString("\n" + strings.ToUpper(g.title) + ":\n")
		for _, l := range g.lines {
			lead := "   " + l.name
			if isNarrow {
				out.WriteString(lead + "\n")
				lead = ""
			}
			for _, line := range typeset.Wrap(l.doc, min(width, helpWidth)-column) {
				fmt.Fprintf(&out, "%-*s%s\n", column, lead, line)
				lead = ""
			}
		}
	}
	return out.String()
}

// groupedHelp is the template of a command's help with its options in groups, in lines of a width: the library's has groups and options in the order
// of the alphabet, and lets a terminal break its lines.
func groupedHelp(groups []flagGroup, width int) string {
	groups = append(slices.Clip(groups), flagGroup{"Help", []cli.Flag{cli.HelpFlag}})
	head, _, _ := strings.Cut(cli.CommandHelpTemplate, "{{if .VisibleFlagCategories}}")
	return head + "\n" + groupsText(typeset.Each(groups, func(g flagGroup) helpGroup { return helpGroup{g.title, typeset.Each(g.flags, optionLine)} }), width)
}

// paragraphs are what help says of a verb, in lines of a width; lines that are indented, examples and lists, stay as they are.
func paragraphs(text string, width int) string {
	var out, prose []string
	flush := func() {
		if len(prose) > 0 {
			out = append(out, typeset.Wrap(strings.Join(prose, " "), width)...)
		}
		prose = nil
	}
	for _, line := range strings.Split(text, "\n") {
		if line != "" && line[0] != ' ' {
			prose = append(prose, line)
			continue
		}
		flush()
		out = append(out, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// verbGroup is verbs that belong together, under a heading in the program's help.
type verbGroup struct {
	title string
	verbs []*cli.Command
}

// groupedVerbs is the template of the program's help with its verbs in groups.
func groupedVerbs(groups []verbGroup, width int) string {
	text := groupsText(typeset.Each(groups, func(g verbGroup) helpGroup {
		shown := slices.DeleteFunc(slices.Clone(g.verbs), func(c *cli.Command) bool { return c.Hidden })
		return helpGroup{g.title, typeset.Each(shown, func(c *cli.Command) helpLine { return helpLine{c.Name, c.Usage} })}
	}), width)
	head, rest, _ := strings.Cut(cli.AppHelpTemplate, "{{if .VisibleCommands}}")
	_, tail, _ := strings.Cut(rest, `{{template "visibleCommandCategoryTemplate" .}}{{end}}`)
	return head + "\n" + strings.TrimSuffix(text, "\n") + tail
}

// helpWidth is how wide the help gets: longer lines are hard to read.
const helpWidth = 110

// optionLine is how an option is written, and what it does.
func optionLine(f cli.Flag) helpLine {
	name, doc, _ := strings.Cut(f.String(), "\t")
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
	return helpLine{name, doc}
}
