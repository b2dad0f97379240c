package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"prof/queries/frame"
)

// Table writes f for people: each column in one unit, which stands in its header, and fitted to o.Width. Notes follow the
// table. A value that is not zero never shows as zero; NULL shows as -.
func Table(w io.Writer, f *frame.Frame, o Options) error {
	g, err := newGrid(f)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	notes := f.Notes
	if len(g.columns) > 0 {
		l := fit(g, o.limit())
		notes = append(dropNote(f, l, o), notes...)
		writeHeader(&out, g, l, o)
		writeRows(&out, g, l)
	}
	if len(g.rows) == 0 {
		writeWrapped(&out, "", "(no rows)", o.Width, style(o, dim))
	}
	for _, note := range notes {
		writeWrapped(&out, "note: ", neutral(note), o.Width, style(o, dim))
	}
	_, err = w.Write(out.Bytes())
	return err
}

func dropNote(f *frame.Frame, l layout, o Options) []string {
	if len(l.dropped) == 0 {
		return nil
	}
	names := make([]string, len(l.dropped))
	for i, j := range l.dropped {
		names[i] = f.Columns[j].Name
	}
	return []string{fmt.Sprintf("left out to fit %d columns of text: %s; --wide or --format csv shows all",
		o.Width, strings.Join(names, ", "))}
}

func writeHeader(out *bytes.Buffer, g *grid, l layout, o Options) {
	lines := 1
	for _, header := range l.headers {
		lines = max(lines, len(header))
	}
	for line := range lines {
		cells := make([]string, len(l.keep))
		for i, header := range l.headers {
			if at := line - (lines - len(header)); at >= 0 {
				cells[i] = header[at]
			}
		}
		out.WriteString(style(o, bold)(joinCells(g, l, cells)) + "\n")
	}
	out.WriteString(style(o, dim)(strings.Repeat("─", l.total)) + "\n")
}

func writeRows(out *bytes.Buffer, g *grid, l layout) {
	shorteners := make([]func(string) string, len(l.keep))
	for i, j := range l.keep {
		shorteners[i] = fitter(g, j, l.widths[i])
	}
	cells := make([]string, len(l.keep))
	for _, row := range g.rows {
		for i, j := range l.keep {
			cells[i] = shorteners[i](row[j])
		}
		out.WriteString(joinCells(g, l, cells) + "\n")
	}
}

// fitter gives the function that fits the cells of a column to a width.
func fitter(g *grid, column, to int) func(string) string {
	switch {
	case dataWidth(g, column) <= to:
		return func(s string) string { return s }
	case g.columns[column].right:
		return func(s string) string {
			if width(s) <= to {
				return s
			}
			return ellipsis // a part of a number would be another number
		}
	}
	texts := make([]string, len(g.rows))
	for i, row := range g.rows {
		texts[i] = row[column]
	}
	return shortener(texts, to)
}

// joinCells pads the cells of one line to their columns.
func joinCells(g *grid, l layout, cells []string) string {
	padded := make([]string, len(cells))
	for i, j := range l.keep {
		padded[i] = pad(cells[i], l.widths[i], g.columns[j].right)
	}
	return strings.TrimRight(strings.Join(padded, strings.Repeat(" ", gap)), " ")
}

// The ANSI styles in use.
const (
	bold = "\x1b[1m"
	dim  = "\x1b[2m"
)

// style gives the function that paints a piece of text, or leaves it alone without colour.
func style(o Options, code string) func(string) string {
	if !o.Color {
		return func(s string) string { return s }
	}
	return func(s string) string { return code + s + "\x1b[0m" }
}

// writeWrapped writes text after a lead such as "note: ", wrapped to the width with later lines under the first.
func writeWrapped(out *bytes.Buffer, lead, text string, limit int, paint func(string) string) {
	indent := len(lead)
	if limit > 0 && limit < 3*indent {
		text, lead, indent = lead+text, "", 0
	}
	room := 0
	if limit > 0 {
		room = limit - indent
	}
	for i, line := range wrap(text, room) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		out.WriteString(paint(strings.TrimRight(lead+line, " ")) + "\n")
	}
}
