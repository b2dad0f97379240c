package table

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"prof/queries/frame"
	"prof/render/typeset"
)

// Markdown writes f as a GitHub-flavoured table, scaled and rounded, and its names cut, as Terminal does, with every column. Notes follow as a list.
func Markdown(w io.Writer, f *frame.Frame, _ typeset.Options) error {
	t, err := Of(f)
	if err != nil {
		return err
	}
	return t.markdown(w)
}

// Markdown writes what the excerpt has of f, and what it has not.
func (e Excerpt) Markdown(w io.Writer, f *frame.Frame) error {
	known, unknown := knownColumns(measured(f))
	first, left := e.Of(known)
	t, err := Of(first)
	if err != nil {
		return err
	}
	t, hidden := e.columns(t)
	return t.markdown(w, left, columnsLeftOut(unknown, hidden))
}

// markdown writes the table, lines on what it has not, and its notes.
func (t Table) markdown(w io.Writer, without ...string) error {
	var out bytes.Buffer
	if len(t.Columns) > 0 {
		t.Markdown(&out)
	}
	if len(t.Rows) == 0 {
		out.WriteString("\n(no rows)\n")
	}
	for _, text := range without {
		if text != "" {
			out.WriteString("\n" + typeset.MarkdownText(text) + "\n")
		}
	}
	for i, note := range t.Notes {
		if i == 0 {
			out.WriteString("\n")
		}
		out.WriteString("- " + typeset.MarkdownLine(typeset.Neutral(note)) + "\n")
	}
	_, err := w.Write(bytes.TrimLeft(out.Bytes(), "\n"))
	return err
}

// names returns how the names of each column are cut where they cannot be opened, so that a row stays one that can be read. What is to be copied is whole.
func (t Table) names() []func(string) string {
	short := make([]func(string) string, len(t.Columns))
	for j, c := range t.Columns {
		if c.Right || c.Full && !c.Path || slices.Contains(copied, lastWord(c.Name)) || t.isFiles(j) {
			short[j] = func(s string) string { return s }
		} else {
			short[j] = t.shortener(j, typeset.LongName)
		}
	}
	return short
}

// copied are columns of texts to be copied, by the last word of their names.
var copied = []string{"sql", "query", "command", "argv"}

// isFiles reports whether a column has paths of files, which are to be copied too, not names of what is inside each other.
func (t Table) isFiles(column int) bool {
	if lastWord(t.Columns[column].Name) != "path" {
		return false
	}
	texts := t.texts(column)
	hasSlash := func(s string) bool { return strings.Contains(s, "/") }
	isNested := func(s string) bool { return strings.Contains(s, PathMark) }
	return slices.ContainsFunc(texts, hasSlash) && !slices.ContainsFunc(texts, isNested)
}

// Markdown writes a table whose long names are cut; what got better or worse stands out.
func (t Table) Markdown(out *bytes.Buffer) {
	w, short := table.NewWriter(), t.names()
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
				cells[j] = unpiped(typeset.MarkdownCode(short[j](c.Text)))
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
