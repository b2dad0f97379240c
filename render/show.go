package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"prof/queries/judge"
)

// Screen is what the summary of a run on one screen is made from.
type Screen struct {
	Facts   [][2]string // what the run is, a line each
	Report  *judge.Report
	Summary judge.Summary
	Doubts  []string // what the figures are to be read with, what matters most first
	Next    []string // commands that show more
}

// How much a screen shows.
const (
	screenKernels   = 5
	screenOperators = 3
	screenAdvice    = 3
	screenDoubts    = 6   // lines
	doubtLines      = 2   // of one doubt, at most
	rankLines       = 3   // of what is said of ranks in a stage, at most
	adviceLines     = 2   // of what to do about one thing, at most
	screenWidth     = 100 // columns, where nothing limits them
)

// Show writes the summary of a run on one screen: each line is fitted to o.Width, or to 100 columns when that is not known. With o.Wide
// nothing is shortened.
func Show(w io.Writer, s Screen, o Options) error {
	if o.Width <= 0 {
		o.Width = screenWidth
	}
	var out bytes.Buffer
	writeScreenFacts(&out, s.Facts, o)
	err := writeScreenStages(&out, s, o)
	writeScreenRanks(&out, s.Summary.Ranks, o)
	err = errors.Join(err, writeScreenKernels(&out, s.Report, o), writeScreenOperators(&out, s.Report, o))
	if err != nil {
		return err
	}
	writeScreenAdvice(&out, s, o)
	writeScreenDoubts(&out, s, o)
	writeCommands(&out, "more  ", s.Next, o)
	_, err = w.Write(out.Bytes())
	return err
}

// writeScreenRanks writes for whom ranks wait.
func writeScreenRanks(out *bytes.Buffer, ranks []judge.SlowRank, o Options) {
	for i, r := range ranks {
		if i == 0 {
			out.WriteString("\n" + style(o, dim)("who is slow") + "\n")
		}
		writeLines(out, "- ", neutral(r.Words), rankLines, o)
	}
}

// writeScreenFacts writes a line for each pair.
func writeScreenFacts(out *bytes.Buffer, pairs [][2]string, o Options) {
	keys := 0
	for _, p := range pairs {
		keys = max(keys, width(neutral(p[0])))
	}
	for _, p := range pairs {
		value := neutral(p[1])
		if limit := o.limit(); limit > 0 {
			value = shorten(value, max(shortText, limit-keys-gap), 60)
		}
		out.WriteString(style(o, dim)(pad(neutral(p[0]), keys, false)) + strings.Repeat(" ", gap) + value + "\n")
	}
}

// writeScreenDoubts writes what the figures are to be read with, as many as there is room for. The first one always has its place.
func writeScreenDoubts(out *bytes.Buffer, s Screen, o Options) {
	doubts := unique(s.Doubts)
	if len(doubts) > 0 {
		out.WriteByte('\n')
	}
	used := 0
	for i, d := range doubts {
		var text bytes.Buffer
		writeLines(&text, "! ", neutral(d), doubtLines, o)
		used += bytes.Count(text.Bytes(), []byte("\n"))
		if rest := len(doubts) - i; i > 0 && used > screenDoubts && (rest > 1 || used > screenDoubts+1) && !o.Wide {
			writeLines(out, "! ", fmt.Sprintf("and %d more; --wide shows all", rest), 1, o)
			return
		}
		out.Write(text.Bytes())
	}
}

// writeCommands writes commands beside each other where there is room, else one under the other: they are not shortened, so that they
// can be copied.
func writeCommands(out *bytes.Buffer, lead string, commands []string, o Options) {
	if len(commands) == 0 {
		return
	}
	room := o.limit() - len(lead)
	line := strings.Join(commands, strings.Repeat(" ", 2*gap))
	if o.limit() > 0 && width(line) > room {
		line = strings.Join(commands, "\n"+strings.Repeat(" ", len(lead)))
	}
	out.WriteString("\n" + style(o, dim)(lead) + line + "\n")
}

// writeLines writes text in at most so many lines, later ones under the first; what has no room is cut with an ellipsis.
func writeLines(out *bytes.Buffer, lead, text string, most int, o Options) {
	room := 0
	if limit := o.limit(); limit > 0 {
		room = max(shortText, limit-len(lead))
	}
	lines := wrap(text, room)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = shorten(lines[most-1]+" "+ellipsis, room, 100)
	}
	for i, line := range lines {
		if i > 0 {
			lead = strings.Repeat(" ", len(lead))
		}
		out.WriteString(lead + line + "\n")
	}
}
