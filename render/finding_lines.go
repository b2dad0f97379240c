package render

import (
	"bytes"
	"fmt"
	"strings"

	"prof/queries/frame"
)

// finding is one row of the query findings in words.
type finding struct {
	Rank                                            string
	Headline                                        string // where, and how much could be saved of how much
	Title, Rule, Subject, Evidence, Advice, Command string
	Detail                                          string // command that shows more; "" when there is none
}

// findingsOf words the rows of findings.
func findingsOf(f *frame.Frame) ([]finding, error) {
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
		out = append(out, finding{Rank: text("rank"), Headline: findingHeadline(f, row, at), Title: text("title"), Rule: text("finding"), Subject: text("subject"),
			Evidence: text("evidence"), Advice: text("advice"), Command: text("command"), Detail: text("detail_command")})
	}
	return out, nil
}

// findingHeadline says where a finding is and what it could save: decode: at most 632 ms of 1.19 s in 3 passes (52.9 %).
func findingHeadline(f *frame.Frame, row []any, at map[string]int) string {
	value := func(name string) string { return alone(f.Columns[at[name]], row[at[name]]) }
	count := func(name string) int64 {
		n, _ := row[at[name]].(int64)
		return n
	}
	where := ""
	if count("run_device_count") > 1 || count("device_count") > 1 {
		where = fmt.Sprintf(" on GPU %d", count("device"))
	}
	if n := count("device_count"); n > 1 {
		where += fmt.Sprintf(", where it is most of %d", n)
	}
	stage := row[at["stage"]]
	return fmt.Sprintf("%s: %v %s of %s (%s)%s", stageWords(stage), row[at["bound"]], value("saving_ns"), spanWords(value("span_ns"), stage, count("passes")), value("share_ratio"), where)
}

// allWork is what the findings of a run without measured passes are about.
const allWork = "all device work"

func stageWords(stage any) string {
	if stage == nil {
		return allWork
	}
	return neutral(fmt.Sprint(stage))
}

// spanWords adds to a span the passes that it is the sum of, where there are passes.
func spanWords(span string, stage any, passes int64) string {
	switch {
	case stage == nil:
		return span
	case passes == 1:
		return span + " in 1 pass"
	}
	return span + " in " + groupedInt(passes) + " passes"
}

// noFindings stands where findings has no rows. That no rule was tried, or which one was not, is in the notes.
const noFindings = "There are no findings."

// writeMarkdownFindings writes findings as a numbered list: a table of sentences cannot be read. Notes follow.
func writeMarkdownFindings(out *bytes.Buffer, f *frame.Frame) error {
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
		if x.Detail != "" {
			fmt.Fprintf(out, "   and %s\n", markdownSpan(x.Detail))
		}
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
