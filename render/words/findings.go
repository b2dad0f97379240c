// Package words says in sentences and labels what frames and judgements mean. It knows no layout.
package words

import (
	"bytes"
	"fmt"

	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/render/typeset"
)

// Finding is one row of the query findings in words.
type Finding struct {
	Rank                                            string
	Headline                                        string // where, and how much could be saved of how much
	Title, Rule, Subject, Evidence, Advice, Command string
	Detail                                          string // command that shows more; "" when there is none
}

// Findings words the rows of findings.
func Findings(f *frame.Frame) ([]Finding, error) {
	rows, err := f.Records("rank", "finding", "stage", "saving_ns", "share_ratio", "bound", "title", "evidence", "subject", "advice", "device", "device_count", "run_device_count", "passes", "span_ns", "command", "detail_command")
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, r := range rows {
		text := func(name string) string { return typeset.Neutral(r.Text(name)) }
		out = append(out, Finding{Rank: fmt.Sprint(r.Count("rank")), Headline: findingHeadline(f, r), Title: text("title"), Rule: text("finding"), Subject: text("subject"),
			Evidence: text("evidence"), Advice: text("advice"), Command: text("command"), Detail: text("detail_command")})
	}
	return out, nil
}

// findingHeadline says where a finding is and what it could save: decode: at most 632 ms of 1.19 s in 3 passes (52.9 %).
func findingHeadline(f *frame.Frame, r frame.Record) string {
	value := func(name string) string { return typeset.Value(f.Columns[f.Index(name)], r.Value(name)) }
	where := ""
	if r.Count("run_device_count") > 1 || r.Count("device_count") > 1 {
		where = fmt.Sprintf(" on GPU %d", r.Count("device"))
	}
	if n := r.Count("device_count"); n > 1 {
		where += fmt.Sprintf(", the most of %d GPUs", n)
	}
	stage := r.Value("stage")
	return fmt.Sprintf("%s: %v %s of %s (%s)%s", Stage(stage), r.Value("bound"), value("saving_ns"), Span(value("span_ns"), stage, r.Count("passes")), value("share_ratio"), where)
}

// AllWork is what the findings of a run without measured passes are about.
const AllWork = "all device work"

func Stage(stage any) string {
	if stage == nil {
		return AllWork
	}
	return typeset.Neutral(fmt.Sprint(stage))
}

// Span adds to a span the passes that it is the sum of, where there are passes.
func Span(span string, stage any, passes int64) string {
	switch {
	case stage == nil:
		return span
	case passes == 1:
		return span + " in 1 pass"
	}
	return span + " in " + typeset.Int(passes) + " passes"
}

// NoFindings stands where findings has no rows. That no rule was tried, or which one was not, is in the notes.
func NoFindings(f *frame.Frame) string {
	if f != nil && f.Warns(caveat.FactsLacking) {
		return "Findings are unknown."
	}
	return "There are no findings."
}

// MarkdownFindings writes findings as a numbered list: a table of sentences cannot be read. Notes follow.
func MarkdownFindings(out *bytes.Buffer, f *frame.Frame) error {
	list, err := Findings(f)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		out.WriteString(NoFindings(f) + "\n")
	}
	for i, x := range list {
		fmt.Fprintf(out, "%d. **%s**  \n   %s (%s)  \n", i+1, typeset.MarkdownText(x.Headline), typeset.MarkdownText(x.Title), typeset.MarkdownText(x.Rule))
		if x.Subject != "" {
			fmt.Fprintf(out, "   %s  \n", typeset.MarkdownSpan(x.Subject))
		}
		fmt.Fprintf(out, "   %s  \n   Try: %s  \n   See: %s\n", typeset.MarkdownLine(x.Evidence), typeset.MarkdownText(x.Advice), typeset.MarkdownSpan(x.Command))
		if x.Detail != "" {
			fmt.Fprintf(out, "   and %s\n", typeset.MarkdownSpan(x.Detail))
		}
	}
	for i, note := range f.Notes {
		if i == 0 {
			out.WriteString("\n")
		}
		out.WriteString("- " + typeset.MarkdownLine(typeset.Neutral(note)) + "\n")
	}
	return nil
}
