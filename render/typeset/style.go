package typeset

import (
	"bytes"
	"strings"
)

// Paint colours a text by what it means.
func Paint(o Options, t Tone, text string) string {
	if t == "" || text == "" {
		return text
	}
	return Style(o, t.ansi())(text)
}

// Limited returns the options with the width that lines must keep, none where that is wished.
func (o Options) Limited() Options {
	o.Width = o.Limit()
	return o
}

// LineWidth is the width that lines must keep; more than any line takes where nothing limits them.
func (o Options) LineWidth() int {
	if limit := o.Limit(); limit > 0 {
		return limit
	}
	return 1 << 20
}

// Tone is what a figure means, for colour; the words beside it say the same.
type Tone string

// ansi is the colour of a tone on a terminal: green, red and yellow.
func (t Tone) ansi() string {
	return map[Tone]string{ToneBetter: "\x1b[32m", ToneWorse: "\x1b[31m", ToneUnsure: "\x1b[33m"}[t]
}

// Options says where the output goes. The zero value means no limits and no colour.
type Options struct {
	Width int  // terminal columns available; 0 = no limit
	Wide  bool // never shorten cells or drop columns
	Color bool // may use ANSI: bold headers, dim rules and notes
	Mark  Mark // of the stream that it goes to
	Safe  bool // CSV: no cell is a formula for a spreadsheet or moves a cursor
	Texts bool // JSON: what people see of each column and cell stands beside its value
}

// Limit is the width that tables must keep, or 0.
func (o Options) Limit() int {
	if o.Wide || o.Width < 0 {
		return 0
	}
	return o.Width
}

// Null stands for NULL in the forms for people.
const Null = "-"

// The least a column of text may be shortened to: a quarter of its widest cell, within these bounds.
const (
	ShortText = 12
	ClearText = 24
	Gap       = 2 // spaces between columns
)

const Ellipsis = "…"

// Lines writes text in at most so many lines, later ones under the first; what has no room is cut with an ellipsis.
func Lines(out *bytes.Buffer, lead, text string, most int, o Options) {
	room := 0
	if limit := o.Limit(); limit > 0 {
		room = max(ShortText, limit-len(lead))
	}
	lines := Wrap(text, room)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = Shorten(lines[most-1]+" "+Ellipsis, room, 100)
	}
	for i, line := range lines {
		if i > 0 {
			lead = strings.Repeat(" ", len(lead))
		}
		out.WriteString(lead + line + "\n")
	}
}

func OrNull(text string) string {
	if text == "" {
		return Null
	}
	return text
}

// The ANSI styles in use.
const (
	Bold  = "\x1b[1m"
	Dim   = "\x1b[2m"
	plain = "\x1b[0m"
)

// Style returns the function that paints a piece of text, or leaves it alone without colour.
func Style(o Options, code string) func(string) string {
	if !o.Color {
		return func(s string) string { return s }
	}
	return func(s string) string { return o.Mark.in(code) + s + o.Mark.in(plain) }
}

// Wrapped writes text after a lead such as "note: ", wrapped to the width with later lines under the first.
func Wrapped(out *bytes.Buffer, lead, text string, limit int, paint func(string) string) {
	indent := len(lead)
	if limit > 0 && limit < 3*indent {
		text, lead, indent = lead+text, "", 0
	}
	room := 0
	if limit > 0 {
		room = limit - indent
	}
	for i, line := range Wrap(text, room) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		out.WriteString(paint(strings.TrimRight(lead+line, " ")) + "\n")
	}
}

// What a figure can mean.
const (
	ToneBetter Tone = "better"
	ToneWorse  Tone = "worse"
	ToneUnsure Tone = "unsure"
)
