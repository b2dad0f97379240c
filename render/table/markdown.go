package table

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// Markdown writes f as a GitHub-flavoured table, scaled and rounded as Terminal does, with every column and full names. Notes
// follow as a list.
func Markdown(w io.Writer, f *frame.Frame, _ typeset.Options) error {
	g, err := NewGrid(f)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if len(g.columns) > 0 {
		writeMarkdownTable(&out, g)
	}
	if len(g.rows) == 0 {
		out.WriteString("\n(no rows)\n")
	}
	for i, note := range f.Notes {
		if i == 0 {
			out.WriteString("\n")
		}
		out.WriteString("- " + typeset.MarkdownLine(typeset.Neutral(note)) + "\n")
	}
	_, err = w.Write(bytes.TrimLeft(out.Bytes(), "\n"))
	return err
}

func writeMarkdownTable(out *bytes.Buffer, g *grid) {
	titles, rule := make([]string, len(g.columns)), make([]string, len(g.columns))
	for j, h := range g.columns {
		titles[j], rule[j] = typeset.MarkdownText(h.title()), "---"
		if h.right {
			rule[j] = "---:"
		}
	}
	typeset.MarkdownRow(out, titles)
	typeset.MarkdownRow(out, rule)
	cells := make([]string, len(g.columns))
	for i, row := range g.rows {
		for j, h := range g.columns {
			switch {
			case g.nulls[i][j] || h.right:
				cells[j] = row[j]
			case isCode(h.Column):
				cells[j] = typeset.MarkdownCode(row[j])
			default:
				cells[j] = typeset.MarkdownText(row[j])
			}
		}
		typeset.MarkdownRow(out, cells)
	}
}

// isCode reports whether a column holds names as a machine knows them, which read best as code.
func isCode(c frame.Column) bool {
	if c.Type != frame.Text {
		return false
	}
	last := c.Name[strings.LastIndexByte(c.Name, '_')+1:]
	return slices.Contains([]string{"kernel", "range", "operator", "op", "sql", "query", "name", "metric", "launch",
		"family", "command", "path", "argv", "before", "after", "longest"}, strings.ToLower(last))
}
