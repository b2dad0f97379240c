package render

import (
	"bytes"
	"io"
	"strings"
)

// Pairs writes a title and aligned lines of key and value, such as a run's facts. Values wrap to o.Width under themselves;
// an empty value shows as -, and a pair with an empty key continues the value above. An empty title is left out.
func Pairs(w io.Writer, title string, pairs [][2]string, o Options) error {
	var out bytes.Buffer
	if title != "" {
		writeWrapped(&out, "", neutral(title), o.Width, style(o, bold))
	}
	keyWidth := 0
	for _, pair := range pairs {
		keyWidth = max(keyWidth, width(neutral(pair[0])))
	}
	for _, pair := range pairs {
		key, value := neutral(pair[0]), neutral(pair[1])
		if value == "" {
			value = null
		}
		writePair(&out, key, value, keyWidth, o)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// writePair puts the value beside its key, or under it where the terminal is too narrow for both.
func writePair(out *bytes.Buffer, key, value string, keyWidth int, o Options) {
	if o.Width <= 0 {
		out.WriteString(style(o, dim)(pad(key, keyWidth, false)) + strings.Repeat(" ", gap) + value + "\n")
		return
	}
	indent := keyWidth + gap
	if o.Width < indent+shortText {
		if key != "" {
			writeWrapped(out, "", key, o.Width, style(o, dim))
		}
		indent, key = min(gap, o.Width-1), ""
	}
	for i, line := range wrap(value, o.Width-indent) {
		lead := strings.Repeat(" ", indent)
		if i == 0 && key != "" {
			lead = style(o, dim)(pad(key, keyWidth, false)) + strings.Repeat(" ", gap)
		}
		out.WriteString(lead + line + "\n")
	}
}
