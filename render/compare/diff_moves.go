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
	if len(i.Members) > 2 {
		before, after := membersOf(i)
		return i.How + ": " + shortNames(before) + " → " + shortNames(after)
	}
	parts := g.partnersOf(i)
	if i.Kind == "node" { // how has a column of its own
		return strings.Join(parts, " + ")
	}
	if len(parts) == 0 {
		return i.How
	}
	lead := "now "
	if i.A.Calls == 0 || len(i.Members) > 0 {
		lead = "was "
	}
	text := lead + shortNames(parts)
	if i.How != "" {
		text = i.How + ": " + text
	}
	return text
}

func shortNames(names []string) string {
	return strings.Join(typeset.Each(names, func(name string) string { return typeset.Shorten(name, longValue, 60) }), " + ")
}

// membersOf are the names of kernels and of what took their place.
func membersOf(i diff.Item) (before, after []string) {
	names := typeset.PlainNames(typeset.Each(i.Members, func(m diff.Item) string { return typeset.Neutral(m.Name) }))
	for k, m := range i.Members {
		if m.A.Calls == 0 {
			after = append(after, names[k])
		} else {
			before = append(before, names[k])
		}
	}
	return before, after
}

// moves are those of work from some kernels to others: told by the new ones, or where one was split by the old one.
func (g itemGroup) moves() []doc.Swap {
	var out []doc.Swap
	own := g.plain(func(i diff.Item) string { return typeset.Neutral(i.Name) })
	for _, i := range g.items {
		if len(i.Members) > 0 {
			before, after := membersOf(i)
			out = append(out, doc.Swap{How: i.How, Before: before, After: after})
			continue
		}
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
