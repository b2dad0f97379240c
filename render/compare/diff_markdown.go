package compare

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"prof/queries/judge/diff"
	"prof/render/typeset"
	"prof/render/words"
)

// DiffMarkdown writes comparisons for a pull request: what DiffTable says with longer names and all columns, the tables of items and the
// SQL folded away.
func DiffMarkdown(w io.Writer, list []*diff.Result, _ typeset.Options) error {
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
	fmt.Fprintf(out, "## %s %s\n\n**%s**\n\n", verdictSigns[r.Verdict], typeset.MarkdownText(diffTitle(r)), typeset.MarkdownText(words.VerdictLine(r)))
	for _, f := range sideFacts(r) {
		fmt.Fprintf(out, "- %s: %s\n", f[0], typeset.MarkdownText(f[1]))
	}
	if t := differenceTable(r); len(t.Rows) > 0 {
		fmt.Fprintf(out, "\n### Other differences between A and B\n\n")
		t.Markdown(out)
	}
	if told := toldDifferences(r); told != "" {
		fmt.Fprintf(out, "\nAlso changed: %s\n", typeset.MarkdownText(told))
	}
	if t := stageTable(r); len(t.Rows) > 0 {
		fmt.Fprintf(out, "\n### %s\n\n", typeset.MarkdownText(typeset.Sentence(t.Caption)))
		t.Markdown(out)
		out.WriteString("\n")
		for _, s := range r.Stages {
			fmt.Fprintf(out, "- %s\n", typeset.MarkdownLine(stageWordsOf(s)))
		}
		fmt.Fprintf(out, "\n<sub>%s.</sub>\n", typeset.MarkdownText(strings.Join(stageLegend(r, t, nil), "; ")))
	}
	if t := servingTable(r); len(t.Rows) > 0 {
		fmt.Fprintf(out, "\n### %s\n\n", typeset.MarkdownText(typeset.Sentence(t.Caption)))
		t.Markdown(out)
	}
	for i, text := range servingNotes(r) {
		if i == 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(out, "- %s\n", typeset.MarkdownLine(text))
	}
	for _, g := range slices.Concat(shownGroups(r), operatorGroups(r)) {
		t := g.table(r)
		fmt.Fprintf(out, "\n<details>\n<summary>%s</summary>\n\n", htmlText(typeset.Sentence(t.Caption)))
		t.Markdown(out)
		out.WriteString("\n</details>\n")
	}
	for i, note := range r.Notes {
		if i == 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(out, "- %s\n", typeset.MarkdownLine(typeset.Neutral(note)))
	}
	if len(r.Queries) > 0 {
		fmt.Fprintf(out, "\n<details>\n<summary>The SQL behind the figures</summary>\n\n")
		for _, q := range r.Queries {
			fmt.Fprintf(out, "%s\n\n%s\n", queryTitle(q, typeset.MarkdownSpan, typeset.MarkdownText), markdownSQL(q.SQL))
		}
		out.WriteString("</details>\n")
	}
}

// markdownSQL returns SQL as a block of code that ends its line.
func markdownSQL(sql string) string {
	return typeset.MarkdownBlock(strings.TrimRight(neutralLines(sql), "\n") + "\n")
}

// neutralLines is neutral of each line.
func neutralLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = typeset.Neutral(line)
	}
	return strings.Join(lines, "\n")
}

// htmlText escapes text that stands between tags of HTML within Markdown, where dollar signs would begin a formula.
func htmlText(s string) string { return strings.ReplaceAll(html.EscapeString(s), "$", "&#36;") }
