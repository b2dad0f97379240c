package render

import (
	"bytes"
	"fmt"
	"strings"

	"prof/queries"
)

// finding is one row of the query findings in words.
type finding struct {
	Headline                                        string // where, and how much could be saved
	Title, Rule, Subject, Evidence, Advice, Command string
}

// findingsOf words the rows of findings for a report.
func findingsOf(f *queries.Frame) ([]finding, error) {
	at, err := findingColumns(f)
	if err != nil {
		return nil, err
	}
	var out []finding
	for _, row := range f.Rows {
		text := func(name string) string {
			if row[at[name]] == nil {
				return ""
			}
			return neutral(fmt.Sprint(row[at[name]]))
		}
		stage, where := text("stage"), ""
		if stage == "" {
			stage = "all device work"
		}
		if n, _ := row[at["device_count"]].(int64); n > 1 {
			where = fmt.Sprintf(" on GPU %s, where it is most of %d", text("device"), n)
		}
		saving, share := alone(f.Columns[at["saving_ns"]], row[at["saving_ns"]]), alone(f.Columns[at["share_ratio"]], row[at["share_ratio"]])
		out = append(out, finding{Headline: fmt.Sprintf("%s: %s %s, %s of the span%s", stage, text("bound"), saving, share, where),
			Title: text("title"), Rule: text("finding"), Subject: text("subject"), Evidence: text("evidence"), Advice: text("advice"), Command: text("command")})
	}
	return out, nil
}

// noFindings stands where findings has no rows.
const noFindings = "No rule finds time that could be saved."

// writeMarkdownFindings writes findings as a numbered list: a table of sentences cannot be read. Notes follow.
func writeMarkdownFindings(out *bytes.Buffer, f *queries.Frame) error {
	list, err := findingsOf(f)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		out.WriteString(noFindings + "\n")
	}
	for i, x := range list {
		fmt.Fprintf(out, "%d. **%s**  \n   %s (%s)  \n", i+1, markdownText(x.Headline), markdownText(x.Title), markdownText(x.Rule))
		if x.Subject != "" {
			fmt.Fprintf(out, "   %s  \n", markdownSpan(x.Subject))
		}
		fmt.Fprintf(out, "   %s  \n   Try: %s  \n   See: %s\n", markdownLine(x.Evidence), markdownText(x.Advice), markdownSpan(x.Command))
	}
	for i, note := range f.Notes {
		if i == 0 {
			out.WriteString("\n")
		}
		out.WriteString("- " + markdownLine(neutral(note)) + "\n")
	}
	return nil
}

// markdownSpan gives s as a code span outside of tables, where a pipe is a pipe.
func markdownSpan(s string) string {
	if strings.Contains(s, `\|`) {
		return markdownText(s)
	}
	return strings.ReplaceAll(markdownCode(s), `\|`, "|")
}
