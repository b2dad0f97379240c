package render

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"prof/queries/frame"
)

// Markdown writes f as a GitHub-flavoured table, scaled and rounded as Table does, with every column and full names. Notes
// follow as a list.
func Markdown(w io.Writer, f *frame.Frame, _ Options) error {
	g, err := newGrid(f)
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
		out.WriteString("- " + markdownLine(neutral(note)) + "\n")
	}
	_, err = w.Write(bytes.TrimLeft(out.Bytes(), "\n"))
	return err
}

func writeMarkdownTable(out *bytes.Buffer, g *grid) {
	titles, rule := make([]string, len(g.columns)), make([]string, len(g.columns))
	for j, h := range g.columns {
		titles[j], rule[j] = markdownText(h.title()), "---"
		if h.right {
			rule[j] = "---:"
		}
	}
	writeMarkdownRow(out, titles)
	writeMarkdownRow(out, rule)
	cells := make([]string, len(g.columns))
	for i, row := range g.rows {
		for j, h := range g.columns {
			switch {
			case g.nulls[i][j] || h.right:
				cells[j] = row[j]
			case isCode(h.Column):
				cells[j] = markdownCode(row[j])
			default:
				cells[j] = markdownText(row[j])
			}
		}
		writeMarkdownRow(out, cells)
	}
}

func writeMarkdownRow(out *bytes.Buffer, cells []string) {
	out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
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

// markdownCode gives s as a code span in a table cell: a fence longer than any backticks inside, pipes escaped for the
// table. A backslash before a pipe has no spelling in a code span that all readers share, so such text is escaped instead.
func markdownCode(s string) string {
	if strings.TrimSpace(s) == "" || strings.Contains(s, `\|`) {
		return markdownText(s)
	}
	longest, run := 0, 0
	for _, r := range s {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence, room := strings.Repeat("`", longest+1), ""
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' {
		room = " " // one space on each side is not part of the code
	}
	return fence + room + strings.ReplaceAll(s, "|", `\|`) + room + fence
}

// markdownText escapes s so that it reads as typed: no emphasis, links, HTML, entities, mathematics or table cells.
func markdownText(s string) string {
	var out strings.Builder
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '`', '*', '[', ']', '<', '>', '|', '~', '&', '$':
			out.WriteByte('\\')
		case '_':
			if i == 0 || i+1 == len(s) || !isWord(s[i-1]) || !isWord(s[i+1]) {
				out.WriteByte('\\')
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// markdownLine escapes the text of one list item, which must not start a heading, a list or a rule of its own.
func markdownLine(s string) string {
	s = strings.TrimSpace(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits < len(s) && (s[digits] == '.' || s[digits] == ')') && digits > 0 || strings.IndexAny(s, "#+-=") == 0 {
		return markdownText(s[:digits]) + `\` + s[digits:digits+1] + markdownText(s[digits+1:])
	}
	return markdownText(s)
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
