package render

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"prof/queries/judge"
)

// writeScreenAdvice writes what to try: a line with what it could save, and one with how.
func writeScreenAdvice(out *bytes.Buffer, s Screen, o Options) {
	if s.Summary.Profiled != "" {
		out.WriteByte('\n')
		writeLines(out, "", neutral(s.Summary.Profiled), 2, o)
	}
	if len(s.Summary.Advice) == 0 {
		return
	}
	out.WriteString("\n" + style(o, bold)(adviceTitle(s.Summary.Advice)) + "\n")
	for i, a := range s.Summary.Advice[:min(screenAdvice, len(s.Summary.Advice))] {
		lead := fmt.Sprintf("%d  ", i+1)
		head, how := neutral(a.Text), neutral(a.Command)
		if a.SavingNs > 0 {
			head, how = adviceHead(a, o.limit()-len(lead)), brief(neutral(a.Text), adviceLines*(o.limit()-len(lead)))
		}
		writeLines(out, lead, head, 1, o)
		if how != "" {
			writeLines(out, strings.Repeat(" ", len(lead)), how, adviceLines, o)
		}
	}
}

// adviceTitle says what the list is: savings come first, what is to be captured after them.
func adviceTitle(list []judge.Advice) string {
	if list[0].SavingNs == 0 {
		return "what to capture next"
	}
	return "what to try (savings overlap)"
}

// adviceHead says where, how much and what: decode, at most 632 ms of 1.19 s (52.9 %): GPU idle because launches arrive late. Of what it is a
// part is left out where there is no room.
func adviceHead(a judge.Advice, room int) string {
	words := func(of string) string {
		return fmt.Sprintf("%s, %s %s%s (%s): %s", stageName(a.Stage), a.Bound, duration(a.SavingNs), of, percent(a.ShareRatio), neutral(a.Title))
	}
	if long := words(" of " + duration(a.SpanNs)); room <= 0 || width(long) <= room {
		return long
	}
	return words("")
}

var remark = regexp.MustCompile(` \([^()]*\)`)

// brief leaves out what stands in parentheses where the whole has no room.
func brief(text string, room int) string {
	if room <= 0 || width(text) <= room {
		return text
	}
	return remark.ReplaceAllString(text, "")
}
