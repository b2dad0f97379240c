// Package screen writes what fits one terminal: a run's summary and its findings.
package screen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"prof/queries/judge"
	"prof/render/table"
	"prof/render/typeset"
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
	screenDoubts    = 6 // lines
	doubtLines      = 2 // of one doubt, at most
	lossLines       = 4 // of what the captures did not record, at most
	rankLines       = 3 // of what is said of ranks in a stage, at most
	adviceLines     = 2 // of what to do about one thing, at most
)

// Show writes the summary of a run on one screen: each line is fitted to o.Width. With o.Wide
// nothing is shortened.
func Show(w io.Writer, s Screen, o typeset.Options) error {
	var out bytes.Buffer
	if s.Summary.NotWhole != "" {
		typeset.Lines(&out, "! ", "not whole: "+typeset.Neutral(s.Summary.NotWhole), lossLines, o)
		out.WriteByte('\n')
	}
	table.WriteFacts(&out, s.Facts, o)
	err := errors.Join(writeScreenStages(&out, s, o), writeScreenServing(&out, s.Report, o), writeScreenReported(&out, s.Report, o))
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
func writeScreenRanks(out *bytes.Buffer, ranks []judge.SlowRank, o typeset.Options) {
	for i, r := range ranks {
		if i == 0 {
			out.WriteString("\n" + typeset.Style(o, typeset.Dim)("slow ranks") + "\n")
		}
		typeset.Lines(out, "- ", typeset.Neutral(r.Words), rankLines, o)
	}
}

// writeScreenDoubts writes what the figures are to be read with, as many as there is room for. The first one always has its place.
func writeScreenDoubts(out *bytes.Buffer, s Screen, o typeset.Options) {
	doubts := typeset.Unique(s.Doubts)
	if len(doubts) > 0 {
		out.WriteByte('\n')
	}
	used := 0
	for i, d := range doubts {
		var text bytes.Buffer
		typeset.Lines(&text, "! ", typeset.Neutral(d), doubtLines, o)
		used += bytes.Count(text.Bytes(), []byte("\n"))
		if rest := len(doubts) - i; i > 0 && used > screenDoubts && (rest > 1 || used > screenDoubts+1) && !o.Wide {
			typeset.Lines(out, "! ", fmt.Sprintf("and %d more; --wide shows all", rest), 1, o)
			return
		}
		out.Write(text.Bytes())
	}
}

// writeCommands writes commands beside each other where there is room, else one under the other: they are not shortened, so that they
// can be copied.
func writeCommands(out *bytes.Buffer, lead string, commands []string, o typeset.Options) {
	if len(commands) == 0 {
		return
	}
	room := o.Limit() - len(lead)
	line := strings.Join(commands, strings.Repeat(" ", 2*typeset.Gap))
	if o.Limit() > 0 && typeset.Width(line) > room {
		line = strings.Join(commands, "\n"+strings.Repeat(" ", len(lead)))
	}
	out.WriteString("\n" + typeset.Style(o, typeset.Dim)(lead) + line + "\n")
}
