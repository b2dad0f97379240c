package compare

import (
	"strings"

	"prof/queries/judge/diff"
	"prof/render/doc"
	"prof/render/typeset"
)

// plain returns the names of the items of a group without what nobody tells kernels by, by their names.
func (g itemGroup) plain(name func(diff.Item) string) map[string]string {
	names := make([]string, len(g.items))
	for i, item := range g.items {
		names[i] = name(item)
	}
	out := map[string]string{}
	for i, short := range typeset.PlainNames(names) {
		out[names[i]] = short
	}
	return out
}

// partnersOf are the names of what took the place of an item, or what it took the place of.
func (g itemGroup) partnersOf(i diff.Item) []string {
	if i.Partner == "" {
		return nil
	}
	parts := strings.Split(typeset.Neutral(i.Partner), " + ")
	if i.Kind == "node" && i.How != "other kernels" { // operators have their names in full, as in the rows
		return parts
	}
	known := g.plain(func(i diff.Item) string { return typeset.Neutral(i.Name) })
	for k, name := range parts {
		if short, is := known[name]; is {
			parts[k] = short
		} else {
			parts[k] = typeset.PlainNames([]string{name})[0]
		}
	}
	return parts
}

// becameText says in a cell what took the place of an item, or what it took the place of.
func becameText(g itemGroup, i diff.Item) string {
	parts := g.partnersOf(i)
	if i.Kind == "node" { // how has a column of its own
		return strings.Join(parts, " + ")
	}
	if len(parts) == 0 {
		return i.How
	}
	lead := "now "
	if i.A.Calls == 0 {
		lead = "was "
	}
	for k, name := range parts { // which have rows of their own
		parts[k] = typeset.Shorten(name, longValue, 60)
	}
	text := lead + strings.Join(parts, " + ")
	if i.How != "" {
		text = i.How + ": " + text
	}
	return text
}

// moves are those of work from some kernels to others: told by the new ones, or where one was split by the old one.
func (g itemGroup) moves() []doc.Swap {
	var out []doc.Swap
	own := g.plain(func(i diff.Item) string { return typeset.Neutral(i.Name) })
	for _, i := range g.items {
		partners := g.partnersOf(i)
		isNew := i.A.Calls == 0
		if len(partners) == 0 || isNew == (i.How == "split") {
			continue
		}
		before, after := partners, []string{own[typeset.Neutral(i.Name)]}
		if !isNew {
			before, after = after, before
		}
		out = append(out, doc.Swap{How: i.How, Before: before, After: after})
	}
	return out
}
