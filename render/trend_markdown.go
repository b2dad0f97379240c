package render

import (
	"bytes"
	"fmt"
	"io"

	"prof/queries/judge/trend"
)

// TrendMarkdown writes a trend as GitHub-flavoured Markdown: what is followed, a table of stages, what changed, and the latest runs.
func TrendMarkdown(w io.Writer, r *trend.Result, o TrendOptions) error {
	var out bytes.Buffer
	out.WriteString("## Trend\n\n")
	for _, f := range trendFacts(r, o) {
		fmt.Fprintf(&out, "- %s: %s\n", f[0], markdownText(f[1]))
	}
	out.WriteString("\n| stage | runs, oldest first | level now | |\n| --- | --- | ---: | --- |\n")
	for i, s := range r.Series {
		writeMarkdownRow(&out, []string{markdownText(seriesLabel(r, i)), "`" + sparkline(pointValues(s), sparkCells) + "`", levelNow(r, i), markdownText(stateWords(r, i))})
	}
	out.WriteString("\n### Changes of level\n\n")
	if len(r.Changes) == 0 {
		out.WriteString(noChanges(r) + "\n")
	}
	for i, c := range r.Changes {
		fmt.Fprintf(&out, "%d. **%s**\n", i+1, markdownText(changeHeadline(r, c)))
		for _, text := range []string{changeMoved(r, c), changeDiffers(c)} {
			if text != "" {
				fmt.Fprintf(&out, "   - %s\n", markdownLine(text))
			}
		}
	}
	f, left := trendFrame(r, o.Last)
	f.Notes = trendNotes(r, left)
	out.WriteString("\n### Runs\n\n")
	if err := Markdown(&out, f, o.Options); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}
