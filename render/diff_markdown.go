package render

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"prof/queries/judge/diff"
)

// DiffMarkdown writes comparisons for a pull request: what DiffTable says with longer names and all columns, the tables of items and the
// SQL folded away.
func DiffMarkdown(w io.Writer, list []*diff.Result, _ Options) error {
	var out bytes.Buffer
	for i, r := range list {
		if i > 0 {
			out.WriteString("\n")
		}
		writeDiffMarkdown(&out, r)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// verdictSigns are seen in a list of pull requests before they are read.
var verdictSigns = map[diff.Verdict]string{diff.Better: "✅", diff.Worse: "❌", diff.NoChange: "⚪", diff.CannotTell: "❔"}

func writeDiffMarkdown(out *bytes.Buffer, r *diff.Result) {
	fmt.Fprintf(out, "## %s %s\n\n**%s**\n\n", verdictSigns[r.Verdict], markdownText(diffTitle(r)), markdownText(verdictLine(r)))
	for _, f := range sideFacts(r) {
		fmt.Fprintf(out, "- %s: %s\n", f[0], markdownText(f[1]))
	}
	if t := differenceTable(r); len(t.rows) > 0 {
		fmt.Fprintf(out, "\n### What else differs between A and B\n\n")
		writeDiffTableMarkdown(out, t)
	}
	if told := toldDifferences(r); told != "" {
		fmt.Fprintf(out, "\nChanged as well: %s\n", markdownText(told))
	}
	if t := stageTable(r); len(t.rows) > 0 {
		fmt.Fprintf(out, "\n### %s\n\n", markdownText(sentence(t.caption)))
		writeDiffTableMarkdown(out, t)
		out.WriteString("\n")
		for _, s := range r.Stages {
			fmt.Fprintf(out, "- %s\n", markdownLine(stageWordsOf(s)))
		}
		fmt.Fprintf(out, "\n<sub>%s.</sub>\n", markdownText(strings.Join(stageLegend(r, t, nil), "; ")))
	}
	for _, g := range shownGroups(r) {
		t := g.table(r)
		fmt.Fprintf(out, "\n<details>\n<summary>%s</summary>\n\n", htmlText(sentence(t.caption)))
		writeDiffTableMarkdown(out, t)
		out.WriteString("\n</details>\n")
	}
	for i, note := range r.Notes {
		if i == 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(out, "- %s\n", markdownLine(neutral(note)))
	}
	if len(r.Queries) > 0 {
		fmt.Fprintf(out, "\n<details>\n<summary>The SQL behind the figures</summary>\n\n")
		for _, q := range r.Queries {
			fmt.Fprintf(out, "%s\n\n%s\n", queryTitle(q, markdownSpan, markdownText), markdownSQL(q.SQL))
		}
		out.WriteString("</details>\n")
	}
}

// markdownSQL gives SQL as a block of code that ends its line.
func markdownSQL(sql string) string {
	return markdownBlock(strings.TrimRight(neutralLines(sql), "\n") + "\n")
}

// neutralLines is neutral of each line.
func neutralLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = neutral(line)
	}
	return strings.Join(lines, "\n")
}

// markdownName is how long a name in a cell of Markdown gets, so that a row stays one that can be read.
const markdownName = 80

// shortNames gives how the names in a table that a machine knows things by are shortened, so that different ones stay different.
func (t diffTable) shortNames(to int) func(string) string {
	var names []string
	for _, row := range t.rows {
		for j, c := range row {
			if c.code && t.columns[j].title != becameTitle {
				names = append(names, c.text)
			}
		}
	}
	return shortener(names, to)
}

func writeDiffTableMarkdown(out *bytes.Buffer, t diffTable) {
	titles, rule := make([]string, len(t.columns)), make([]string, len(t.columns))
	for j, c := range t.columns {
		titles[j], rule[j] = markdownText(c.title), "---"
		if c.right {
			rule[j] = "---:"
		}
	}
	writeMarkdownRow(out, titles)
	writeMarkdownRow(out, rule)
	cells, short := make([]string, len(t.columns)), t.shortNames(markdownName)
	for _, row := range t.rows {
		for j, c := range row {
			switch {
			case c.text == "":
				cells[j] = ""
			case c.code && t.columns[j].title == becameTitle: // whose names are short
				cells[j] = markdownCode(c.text)
			case c.code:
				cells[j] = markdownCode(short(c.text))
			case c.tone == toneBetter || c.tone == toneWorse:
				cells[j] = "**" + markdownText(c.text) + "**"
			default:
				cells[j] = markdownText(c.text)
			}
		}
		writeMarkdownRow(out, cells)
	}
}

// htmlText escapes text that stands between tags of HTML within Markdown, where dollar signs would begin a formula.
func htmlText(s string) string { return strings.ReplaceAll(html.EscapeString(s), "$", "&#36;") }
