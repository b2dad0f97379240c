package screen

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"prof/queries/judge"
	"prof/render/typeset"
	"prof/render/words"
)

// writeScreenAdvice writes what to try: a line with what it could save, and one with how.
func writeScreenAdvice(out *bytes.Buffer, s Screen, o typeset.Options) {
	if s.Summary.Profiled != "" {
		out.WriteByte('\n')
		typeset.Lines(out, "", typeset.Neutral(s.Summary.Profiled), 2, o)
	}
	if len(s.Summary.Advice) == 0 {
		return
	}
	out.WriteString("\n" + typeset.Style(o, typeset.Bold)(adviceTitle(s.Summary)) + "\n")
	for i, a := range s.Summary.Advice[:min(screenAdvice, len(s.Summary.Advice))] {
		lead := fmt.Sprintf("%d  ", i+1)
		head, how := typeset.Neutral(a.Advice), typeset.Neutral(a.Command)
		if a.SavingNs > 0 {
			head, how = adviceHead(a, o.Limit()-len(lead)), brief(typeset.Neutral(a.Advice), adviceLines*(o.Limit()-len(lead)))
		}
		typeset.Lines(out, lead, head, 1, o)
		if how != "" {
			typeset.Lines(out, strings.Repeat(" ", len(lead)), how, adviceLines, o)
		}
	}
}

// adviceTitle says what the list is: savings come first, what is to be captured after them.
func adviceTitle(s judge.Summary) string {
	switch {
	case s.Lacking != "":
		return "what to do first"
	case s.Advice[0].SavingNs == 0:
		return "what to capture next"
	}
	return "what to try (savings overlap)"
}

// adviceHead says where, how much and what: decode, at most 632 ms of 1.19 s (52.9 %): GPU idle: launches arrive too late. Of what it is a
// part is left out where there is no room.
func adviceHead(a judge.Advice, room int) string {
	text := func(of string) string {
		return fmt.Sprintf("%s, %s %s%s (%s): %s", stageName(a.Stage), a.Bound, typeset.Duration(a.SavingNs), of, typeset.Percent(a.ShareRatio), typeset.Neutral(a.Title))
	}
	of := " of " + typeset.Duration(a.SpanNs)
	if a.Passes > 1 {
		of = " of " + words.Span(typeset.Duration(a.SpanNs), a.Stage, a.Passes)
	}
	if long := text(of); room <= 0 || typeset.Width(long) <= room {
		return long
	}
	return text("")
}

var remark = regexp.MustCompile(` \([^()]*\)`)

// brief leaves out what stands in parentheses where the whole has no room.
func brief(text string, room int) string {
	if room <= 0 || typeset.Width(text) <= room {
		return text
	}
	return remark.ReplaceAllString(text, "")
}
