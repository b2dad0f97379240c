package table

import (
	"bytes"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"prof/queries/frame"
	"prof/render/typeset"
)

// Markdown writes f as a GitHub-flavoured table of a document, scaled and rounded as Terminal does, with every column. Notes follow as a list.
func Markdown(w io.Writer, f *frame.Frame, _ typeset.Options) error {
	return markdown(w, f, typeset.Neutral)
}

// WholeMarkdown writes f as Markdown does, with names of any length.
func WholeMarkdown(w io.Writer, f *frame.Frame, _ typeset.Options) error {
	return markdown(w, f, typeset.Whole)
}

func markdown(w io.Writer, f *frame.Frame, shown func(string) string) error {
	t, err := of(f, shown)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if len(t.Columns) > 0 {
		t.markdown(&out, func(_ int, name string) string { return name })
	}
	if len(t.Rows) == 0 {
		out.WriteString("\n(no rows)\n")
	}
	for i, note := range t.Notes {
		if i == 0 {
			out.WriteString("\n")
		}
		out.WriteString("- " + typeset.MarkdownLine(typeset.Neutral(note)) + "\n")
	}
	_, err = w.Write(bytes.TrimLeft(out.Bytes(), "\n"))
	return err
}

// markdownName is how long a name in a cell of Markdown gets, so that a row stays one that can be read.
const markdownName = 80

// Markdown writes a table whose long names are cut; what got better or worse stands out.
func (t Table) Markdown(out *bytes.Buffer) {
	short := make([]func(string) string, len(t.Columns))
	for j, c := range t.Columns {
		if c.Full && !c.Path {
			short[j] = func(s string) string { return s }
		} else {
			short[j] = t.shortener(j, markdownName)
		}
	}
	t.markdown(out, func(j int, name string) string { return short[j](name) })
}

func (t Table) markdown(out *bytes.Buffer, short func(column int, name string) string) {
	w := table.NewWriter()
	header := make(table.Row, len(t.Columns))
	var configs []table.ColumnConfig
	for j, c := range t.Columns {
		header[j] = unpiped(typeset.MarkdownText(c.Title))
		if c.Right {
			configs = append(configs, table.ColumnConfig{Number: j + 1, Align: text.AlignRight})
		}
	}
	w.SetColumnConfigs(configs)
	w.AppendHeader(header)
	for _, row := range t.Rows {
		cells := make(table.Row, len(row))
		for j, c := range row {
			switch {
			case c.Null:
				cells[j] = c.Text
			case c.Code && c.Text != "":
				cells[j] = unpiped(typeset.MarkdownCode(short(j, c.Text)))
			case c.Sign != "" && c.Tone == typeset.ToneWorse: // of many signs those of what is wrong stand out
				cells[j] = "**" + c.Sign + " " + unpiped(typeset.MarkdownText(c.Text)) + "**"
			case c.Sign != "":
				cells[j] = c.Sign + " " + unpiped(typeset.MarkdownText(c.Text))
			case c.Tone == typeset.ToneBetter || c.Tone == typeset.ToneWorse:
				cells[j] = "**" + unpiped(typeset.MarkdownText(c.Text)) + "**"
			default:
				cells[j] = unpiped(typeset.MarkdownText(c.Text))
			}
		}
		w.AppendRow(cells)
	}
	out.WriteString(w.RenderMarkdown() + "\n")
}

// unpiped takes the backslash from pipes, which the table puts there.
func unpiped(s string) string { return strings.ReplaceAll(s, `\|`, "|") }
