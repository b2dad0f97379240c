package table

import (
	"bytes"
	"io"
	"strings"

	"prof/render/typeset"
)

// Pairs writes a title and aligned lines of key and value, such as a run's facts. Values wrap to o.Width under themselves;
// an empty value shows as -, and a pair with an empty key continues the value above. An empty title is left out.
func Pairs(w io.Writer, title string, pairs [][2]string, o typeset.Options) error {
	o = o.Limited()
	var out bytes.Buffer
	if title != "" {
		typeset.Wrapped(&out, "", typeset.Neutral(title), o.Limit(), typeset.Style(o, typeset.Bold))
	}
	keys := keyWidth(pairs)
	for _, pair := range pairs {
		WritePair(&out, typeset.Neutral(pair[0]), typeset.OrNull(typeset.Neutral(pair[1])), keys, o)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// WritePair puts the value beside its key, or under it where the terminal is too narrow for both.
func WritePair(out *bytes.Buffer, key, value string, keyWidth int, o typeset.Options) {
	if o.Width <= 0 {
		out.WriteString(typeset.Style(o, typeset.Dim)(typeset.Pad(key, keyWidth, false)) + strings.Repeat(" ", typeset.Gap) + value + "\n")
		return
	}
	indent := keyWidth + typeset.Gap
	if o.Width < indent+typeset.ShortText {
		if key != "" {
			typeset.Wrapped(out, "", key, o.Limit(), typeset.Style(o, typeset.Dim))
		}
		indent, key = min(typeset.Gap, o.Width-1), ""
	}
	for i, line := range typeset.Wrap(value, o.Width-indent) {
		lead := strings.Repeat(" ", indent)
		if i == 0 && key != "" {
			lead = typeset.Style(o, typeset.Dim)(typeset.Pad(key, keyWidth, false)) + strings.Repeat(" ", typeset.Gap)
		}
		out.WriteString(lead + line + "\n")
	}
}

func keyWidth(pairs [][2]string) int {
	widest := 0
	for _, pair := range pairs {
		widest = max(widest, typeset.Width(typeset.Neutral(pair[0])))
	}
	return widest
}

// WriteFacts writes one line for each pair; a value that has no room is shortened.
func WriteFacts(out *bytes.Buffer, pairs [][2]string, o typeset.Options) {
	keys := keyWidth(pairs)
	for _, pair := range pairs {
		value := typeset.Neutral(pair[1])
		if limit := o.Limit(); limit > 0 {
			value = typeset.Shorten(value, max(typeset.ShortText, limit-keys-typeset.Gap), 60)
		}
		WritePair(out, typeset.Neutral(pair[0]), value, keys, typeset.Options{Color: o.Color, Mark: o.Mark})
	}
}
