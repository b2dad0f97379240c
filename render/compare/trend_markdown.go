package compare

import (
	"bytes"
	"fmt"
	"io"

	"prof/queries/judge/trend"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// TrendMarkdown writes a trend as GitHub-flavoured Markdown: what is followed, a table of stages, what changed, and the latest runs.
func TrendMarkdown(w io.Writer, r *trend.Result, o TrendOptions) error {
	var out bytes.Buffer
	out.WriteString("## Trend\n\n")
	for _, f := range trendFacts(r, o) {
		fmt.Fprintf(&out, "- %s: %s\n", f[0], typeset.MarkdownText(f[1]))
	}
	out.WriteString("\n")
	t := table.Table{Columns: []table.Column{{Title: seriesHead(r), Full: true}, {Title: "runs, oldest first", Code: true, Full: true}, {Title: levelHead, Right: true}, {Full: true}}}
	for i, s := range r.Series {
		t.AddRow(words.SeriesLabel(r, i), sparkline(pointValues(s), sparkCells), words.LevelNow(r, i), words.StateWords(r, i))
	}
	t.Markdown(&out)
	out.WriteString("\n### Changes of level\n\n")
	if len(r.Changes) == 0 {
		out.WriteString(words.NoChanges(r) + "\n")
	}
	for i, c := range r.Changes {
		fmt.Fprintf(&out, "%d. **%s**\n", i+1, typeset.MarkdownText(words.ChangeHeadline(r, c)))
		for _, text := range []string{words.ChangeMoved(r, c), words.ChangeDiffers(c)} {
			if text != "" {
				fmt.Fprintf(&out, "   - %s\n", typeset.MarkdownLine(text))
			}
		}
	}
	f, left := trendFrame(r, o.Last)
	f.Notes = words.TrendNotes(r, left)
	out.WriteString("\n### Runs\n\n")
	if err := table.Markdown(&out, f, o.Options); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}
