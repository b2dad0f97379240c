package table

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// Terminal writes f for people: each column in one unit, which stands in its header, and fitted to o.Width. Notes follow the
// table. A value that is not zero never shows as zero; NULL shows as -.
func Terminal(w io.Writer, f *frame.Frame, o typeset.Options) error {
	g, err := NewGrid(f)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	notes := f.Notes
	if len(g.columns) > 0 {
		l := Fit(g, o.Limit())
		notes = append(dropNote(f, l, o), notes...)
		writeHeader(&out, g, l, o)
		writeRows(&out, g, l)
	}
	if len(g.rows) == 0 {
		typeset.Wrapped(&out, "", "(no rows)", o.Width, typeset.Style(o, typeset.Dim))
	}
	for _, note := range notes {
		typeset.Wrapped(&out, "note: ", typeset.Neutral(note), o.Width, typeset.Style(o, typeset.Dim))
	}
	_, err = w.Write(out.Bytes())
	return err
}

func dropNote(f *frame.Frame, l layout, o typeset.Options) []string {
	if len(l.Dropped) == 0 {
		return nil
	}
	names := make([]string, len(l.Dropped))
	for i, j := range l.Dropped {
		names[i] = f.Columns[j].Name
	}
	return []string{fmt.Sprintf("left out to fit %d columns of text: %s; --wide or --format csv shows all",
		o.Width, strings.Join(names, ", "))}
}

func writeHeader(out *bytes.Buffer, g *grid, l layout, o typeset.Options) {
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
		out.WriteString(typeset.Style(o, typeset.Bold)(joinCells(g, l, cells)) + "\n")
	}
	out.WriteString(typeset.Style(o, typeset.Dim)(strings.Repeat("─", l.total)) + "\n")
}

func writeRows(out *bytes.Buffer, g *grid, l layout) {
	shorteners := make([]func(string) string, len(l.keep))
	for i, j := range l.keep {
		shorteners[i] = fitter(g, j, l.Widths[i])
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
	case DataWidth(g, column) <= to:
		return func(s string) string { return s }
	case g.columns[column].right:
		return func(s string) string {
			if typeset.Width(s) <= to {
				return s
			}
			return typeset.Ellipsis // a part of a number would be another number
		}
	}
	texts := make([]string, len(g.rows))
	for i, row := range g.rows {
		texts[i] = row[column]
	}
	return typeset.Shortener(texts, to)
}

// joinCells pads the cells of one line to their columns.
func joinCells(g *grid, l layout, cells []string) string {
	padded := make([]string, len(cells))
	for i, j := range l.keep {
		padded[i] = typeset.Pad(cells[i], l.Widths[i], g.columns[j].right)
	}
	return strings.TrimRight(strings.Join(padded, strings.Repeat(" ", typeset.Gap)), " ")
}
