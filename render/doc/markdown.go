package doc

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"prof/render/table"
	"prof/render/typeset"
)

// Markdown writes documents as GitHub-flavoured Markdown: names of tables are cut, and what is folded opens on a click.
func Markdown(w io.Writer, list []Document, o typeset.Options) error {
	m := markdown{o: o}
	for i, d := range list {
		m.isListed = d.IsFile && len(listed(d.Blocks)) >= manySections
		if i > 0 {
			m.out.WriteString("\n")
		}
		level := 2
		if d.IsFile {
			level = 1
		}
		if d.Title != "" {
			m.print("%s %s\n\n", strings.Repeat("#", level), strings.TrimSpace(d.Sign+" "+typeset.MarkdownText(d.Title)))
		}
		first := d.Blocks
		if m.isListed {
			at := slices.IndexFunc(d.Blocks, func(b Block) bool { return len(listed([]Block{b})) > 0 })
			if first = d.Blocks[:at]; at > 0 {
				if err := m.blocks(first, level+1); err != nil {
					return err
				}
				m.out.WriteString("\n")
			}
			m.index(listed(d.Blocks))
			first = d.Blocks[at:]
		}
		if err := m.blocks(first, level+1); err != nil {
			return err
		}
	}
	_, err := w.Write(m.out.Bytes())
	return err
}

type markdown struct {
	out      bytes.Buffer
	o        typeset.Options
	isListed bool // its sections are listed at the top
}

// manySections is how many sections a file lists at its top.
const manySections = 8

// listed are the sections of a document that have an address.
func listed(list []Block) (out []Section) {
	for _, b := range blocksFor(false, list) {
		if s, is := b.(Section); is && s.ID != "" {
			out = append(append(out, s), listed(s.Blocks)...)
		}
	}
	return out
}

// index is a line that leads to each section.
func (m *markdown) index(list []Section) {
	for i, s := range list {
		if i > 0 {
			m.out.WriteString(" · ")
		}
		m.print("[%s](#%s)", typeset.MarkdownText(typeset.Sentence(cmp.Or(s.Brief, s.Title))), s.ID)
	}
	m.out.WriteString("\n\n")
}

func (m *markdown) print(format string, args ...any) { fmt.Fprintf(&m.out, format, args...) }

// blocks writes blocks, a blank line before each but the first. Headings of sections have the level.
func (m *markdown) blocks(list []Block, level int) error {
	for i, b := range blocksFor(false, list) {
		if i > 0 {
			m.out.WriteString("\n")
		}
		if err := m.block(b, level); err != nil {
			return err
		}
	}
	return nil
}

func (m *markdown) block(b Block, level int) error {
	switch b := b.(type) {
	case Lead:
		m.print("**%s**\n", typeset.MarkdownText(b.Text))
	case Facts:
		m.facts(b)
	case Details:
		m.facts(b)
	case Section:
		return m.section(b, level)
	case Table:
		m.table(b)
	case Rows:
		return m.rows(b)
	case List:
		m.list(b)
	case Remark:
		m.print("%s\n", typeset.MarkdownText(typeset.Sentence(b.lead()+b.Text)))
	case Figure:
		m.print("%s", typeset.MarkdownBlock(b.Text))
	case Hint:
		m.print("%s\n", typeset.MarkdownLine(b.Text))
	case Text:
		m.print("%s\n", typeset.MarkdownLine(string(b)))
	case Notes:
		for _, note := range b {
			m.print("- %s\n", typeset.MarkdownLine(note))
		}
	case Doubts:
		for _, text := range b.Texts {
			m.print("- ⚠️ %s\n", typeset.MarkdownLine(text))
		}
	case Commands:
		m.print("%s: %s\n", typeset.Sentence(b.Lead), commandsText(b.List))
	case SQL:
		m.sql(b)
	default:
		return fmt.Errorf("Markdown does not know blocks of %T", b)
	}
	return nil
}

func (m *markdown) facts(list [][2]string) {
	for _, f := range list {
		lead := "- " + typeset.MarkdownText(typeset.Neutral(f[0])) + ": "
		if f[0] == "" { // more of the one above
			lead = "  - "
		}
		m.print("%s%s\n", lead, typeset.MarkdownText(typeset.Neutral(f[1])))
	}
}

// table writes a table with the columns that have room. What a column without room says of what took the place of what stands in lines below.
func (m *markdown) table(b Table) {
	t, hidden := table.MarkdownExcerpt.Columns(b.Of)
	t.Markdown(&m.out)
	legend := b.legend(hidden)
	if len(hidden) > 0 {
		legend = append(legend, table.HiddenColumns(hidden, "--format html"))
	}
	if len(legend) > 0 {
		m.print("\n<sub>%s.</sub>\n", typeset.MarkdownText(strings.Join(legend, "; ")))
	}
	if b.Below == nil || !slices.Contains(hidden, b.Below.Column) {
		return
	}
	for i, s := range b.Below.Lines {
		if i == 0 {
			m.out.WriteString("\n")
		}
		m.print("- %s: %s → %s\n", typeset.MarkdownText(s.How), spans(s.Before), spans(s.After))
	}
}

// spans are names of kernels beside each other, of many the first.
func spans(names []string) string {
	first, left := typeset.FirstOf(names, swapNames)
	text := strings.Join(typeset.Each(first, func(name string) string { return typeset.MarkdownSpan(typeset.Shorten(name, typeset.LongText, 85)) }), " + ")
	if left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

func (m *markdown) rows(b Rows) error {
	if b.Part {
		return table.MarkdownExcerpt.Markdown(&m.out, b.Frame)
	}
	return table.Markdown(&m.out, b.Frame, m.o)
}

func (m *markdown) section(b Section, level int) error {
	if m.isListed && b.ID != "" {
		m.print("<a id=\"%s\"></a>\n\n", b.ID)
	}
	if !b.Folded {
		m.print("%s %s\n\n", strings.Repeat("#", level), typeset.MarkdownText(typeset.Sentence(b.Title)))
		return m.blocks(b.Blocks, level+1)
	}
	m.print("<details>\n<summary>%s</summary>\n\n", htmlText(typeset.Sentence(b.Title)))
	err := m.blocks(b.Blocks, level+1)
	m.out.WriteString("\n</details>\n")
	return err
}

func (m *markdown) list(b List) {
	for i, item := range b.Items {
		if b.Ordered {
			text := "**" + typeset.MarkdownText(item.Text) + "**"
			if b.Plain {
				text = typeset.MarkdownLine(item.Text)
			}
			m.print("%d. %s\n", b.Before+i+1, text)
			under := item.under(typeset.MarkdownLine, typeset.MarkdownSpan)
			if item.Try != "" {
				under = append(under, "try: "+typeset.MarkdownLine(item.Try))
			}
			if len(item.See) > 0 {
				under = append(under, "see: "+commandsText(item.See))
			}
			for _, text := range under {
				m.print("   - %s\n", text)
			}
			continue
		}
		text := typeset.MarkdownLine(item.Text)
		if item.Name != "" {
			text = typeset.MarkdownSpan(item.Name) + ": " + typeset.MarkdownText(item.Text)
		}
		if len(item.See) > 0 {
			text += "; see: " + commandsText(item.See)
		}
		m.print("- %s\n", strings.TrimSpace(item.Sign+" "+text))
	}
}

func commandsText(list []string) string {
	return strings.Join(typeset.Each(list, typeset.MarkdownSpan), ", ")
}

func (m *markdown) sql(b SQL) {
	summary := "The SQL behind the figures"
	if len(b.Queries) == 1 {
		summary = "Query " + b.Queries[0].Name
	}
	m.print("<details>\n<summary>%s</summary>\n\n", htmlText(summary))
	for _, q := range b.Queries {
		title := typeset.MarkdownSpan(q.Name) + "\n\n"
		if q.Run != "" {
			title = typeset.MarkdownSpan(q.Name) + " of " + typeset.MarkdownText(q.Run) + "\n\n"
		} else if len(b.Queries) == 1 {
			title = ""
		}
		m.print("%s%s\n", title, typeset.MarkdownBlock(strings.TrimRight(q.SQL, "\n")+"\n"))
	}
	m.out.WriteString("</details>\n")
}

// htmlText escapes text that stands between tags of HTML within Markdown, where dollar signs would begin a formula.
func htmlText(s string) string { return strings.ReplaceAll(html.EscapeString(s), "$", "&#36;") }
