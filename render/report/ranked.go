package report

import (
	"bytes"
	"fmt"
	"regexp"

	"prof/queries/frame"
	"prof/render/typeset"
)

// ranked is a table of the rows that took most, as operators.md and kernels.md have it.
type ranked struct {
	title   string
	answer  *frame.Frame
	columns []rankedColumn
	rows    []answered
	below   []string // what the columns mean, and what the figures are to be read with
}

// rankedColumn is one column: its name, and how a row's cell reads.
type rankedColumn struct {
	name string
	code bool // names as a machine knows them; other columns are numbers or plain words
	text bool // plain words
	cell func(answered) string
}

// asked is the number of rows that a statement asks for; it is the only place in an answer that says so.
var asked = regexp.MustCompile(`\btop := (\d+)`)

// count is the line of the original that says how many rows there are, and how many were asked for.
func (t ranked) count() string {
	k := "the query's own"
	if m := asked.FindStringSubmatch(t.answer.SQL); m != nil {
		if k = m[1]; k == "0" {
			k = "all"
		}
	}
	return fmt.Sprintf("Rows: %d (k=%s)", len(t.rows), k)
}

func (t ranked) write(out *bytes.Buffer) {
	out.WriteString("# " + t.title + "\n\n" + t.count() + "\n\n")
	titles, rule := make([]string, len(t.columns)), make([]string, len(t.columns))
	for j, c := range t.columns {
		titles[j], rule[j] = typeset.MarkdownText(c.name), "---:"
		if c.code || c.text {
			rule[j] = "---"
		}
	}
	typeset.MarkdownRow(out, titles)
	typeset.MarkdownRow(out, rule)
	for _, row := range t.rows {
		cells := make([]string, len(t.columns))
		for j, c := range t.columns {
			text := typeset.Neutral(c.cell(row))
			switch {
			case text == typeset.Null:
				cells[j] = text
			case c.code:
				cells[j] = typeset.MarkdownCode(text)
			default:
				cells[j] = typeset.MarkdownText(text)
			}
		}
		typeset.MarkdownRow(out, cells)
	}
	out.WriteString("\n")
	for _, line := range t.below {
		out.WriteString("- " + typeset.MarkdownLine(typeset.Neutral(line)) + "\n")
	}
	for _, note := range t.answer.Notes {
		out.WriteString("- Note: " + typeset.MarkdownText(typeset.Neutral(note)) + "\n")
	}
	fmt.Fprintf(out, "- Query %s: %s\n", typeset.MarkdownText(sourceOf(t.answer)), typeset.MarkdownCode(typeset.Neutral(t.answer.SQL)))
}

// writeNone writes a file that has no rows: why there are none.
func writeNone(out *bytes.Buffer, title, why string, answer *frame.Frame) {
	out.WriteString("# " + title + "\n\n" + typeset.MarkdownLine(typeset.Neutral(why)) + "\n")
	if answer == nil {
		return
	}
	for i, note := range answer.Notes {
		if i == 0 {
			out.WriteString("\n")
		}
		out.WriteString("- Note: " + typeset.MarkdownText(typeset.Neutral(note)) + "\n")
	}
}
