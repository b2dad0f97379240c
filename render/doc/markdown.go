package doc

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"prof/render/table"
	"prof/render/typeset"
)

// Markdown writes documents as GitHub-flavoured Markdown: names and tables are whole, and what is folded opens on a click.
func Markdown(w io.Writer, list []Document, o typeset.Options) error {
	m := markdown{o: o}
	for i, d := range list {
		if i > 0 {
			m.out.WriteString("\n")
		}
		if d.Title != "" {
			m.print("## %s\n\n", strings.TrimSpace(d.Sign+" "+typeset.MarkdownText(d.Title)))
		}
		if err := m.blocks(d.Blocks, 3); err != nil {
			return err
		}
	}
	_, err := w.Write(m.out.Bytes())
	return err
}

type markdown struct {
	out bytes.Buffer
	o   typeset.Options
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
		for _, f := range b {
			m.print("- %s: %s\n", f[0], typeset.MarkdownText(f[1]))
		}
	case Section:
		return m.section(b, level)
	case Table:
		b.Of.Markdown(&m.out)
		if b.Legend != nil {
			m.print("\n<sub>%s.</sub>\n", typeset.MarkdownText(strings.Join(b.Legend(nil), "; ")))
		}
	case Rows:
		if b.Whole {
			return table.WholeMarkdown(&m.out, b.Frame, m.o)
		}
		return table.Markdown(&m.out, b.Frame, m.o)
	case List:
		m.list(b)
	case Remark:
		m.print("%s: %s\n", typeset.Sentence(b.Lead), typeset.MarkdownText(b.Text))
	case Text:
		m.print("%s\n", typeset.MarkdownLine(string(b)))
	case Notes:
		for _, note := range b {
			m.print("- %s\n", typeset.MarkdownLine(note))
		}
	case SQL:
		m.sql(b)
	default:
		return fmt.Errorf("Markdown does not know blocks of %T", b)
	}
	return nil
}

func (m *markdown) section(b Section, level int) error {
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
			m.print("%d. **%s**\n", i+1, typeset.MarkdownText(item.Text))
			for _, under := range item.Under {
				m.print("   - %s\n", typeset.MarkdownLine(under))
			}
			continue
		}
		text := typeset.MarkdownLine(item.Text)
		if item.Name != "" {
			text = typeset.MarkdownSpan(item.Name) + ": " + typeset.MarkdownText(item.Text)
		}
		if item.See != "" {
			text += "; see: " + typeset.MarkdownSpan(item.See)
		}
		m.print("- %s\n", strings.TrimSpace(item.Sign+" "+text))
	}
}

func (m *markdown) sql(b SQL) {
	m.print("<details>\n<summary>The SQL behind the figures</summary>\n\n")
	for _, q := range b.Queries {
		title := typeset.MarkdownSpan(q.Name)
		if q.Run != "" {
			title += " of " + typeset.MarkdownText(q.Run)
		}
		m.print("%s\n\n%s\n", title, typeset.MarkdownBlock(strings.TrimRight(q.SQL, "\n")+"\n"))
	}
	m.out.WriteString("</details>\n")
}

// htmlText escapes text that stands between tags of HTML within Markdown, where dollar signs would begin a formula.
func htmlText(s string) string { return strings.ReplaceAll(html.EscapeString(s), "$", "&#36;") }
