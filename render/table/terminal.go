package table

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"prof/queries/frame"
	"prof/render/typeset"
)

// Terminal writes f for people: each column in one unit, which stands in its header, and fitted to o.Width. Notes follow the
// table. A value that is not zero never shows as zero; NULL shows as -.
func Terminal(w io.Writer, f *frame.Frame, o typeset.Options) error {
	t, err := Of(f)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	notes := t.Notes
	if len(t.Columns) > 0 && (len(t.Rows) > 0 || len(notes) == 0) { // without rows the notes say why, and titles say nothing
		if hidden := t.write(&out, o, true); len(hidden) > 0 {
			notes = append([]string{HiddenColumns(hidden, "--wide or --format csv")}, notes...)
		}
	}
	if len(t.Rows) == 0 {
		typeset.Wrapped(&out, "", "(no rows)", o.Limit(), typeset.Style(o, typeset.Dim))
	}
	for _, note := range notes {
		typeset.Wrapped(&out, "note: ", typeset.Neutral(note), o.Limit(), typeset.Style(o, typeset.Dim))
	}
	_, err = w.Write(out.Bytes())
	return err
}

// mostHidden is how many hidden columns are named.
const mostHidden = 8

// HiddenColumns names the columns that a width had no room for, and what shows them.
func HiddenColumns(titles []string, shownBy string) string {
	return fmt.Sprintf("hidden columns: %s (%s shows all)", someOf(titles), shownBy)
}

// someOf lists titles, and of many the first.
func someOf(titles []string) string {
	first, left := typeset.FirstOf(typeset.Unique(titles), mostHidden)
	text := strings.Join(first, ", ")
	if left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// Write writes a table for a terminal, and gives the titles of the columns that it had no room for.
func (t Table) Write(out *bytes.Buffer, o typeset.Options) (hidden []string) {
	if len(t.Columns) == 0 {
		return nil
	}
	return t.write(out, o, false)
}

// write lays the table out in o.Width; ruled puts a line below the titles.
func (t Table) write(out *bytes.Buffer, o typeset.Options, ruled bool) (hidden []string) {
	if !o.Wide {
		t = t.plain()
	}
	if o.Limit() == 0 {
		t = t.bounded()
	}
	l := t.fit(o.Limit())
	w, header := table.NewWriter(), table.Row{}
	w.SetStyle(table.Style{Box: table.BoxStyle{PaddingRight: strings.Repeat(" ", typeset.Gap)}})
	w.SuppressTrailingSpaces()
	var configs []table.ColumnConfig
	short := make([]func(string) string, len(l.columns))
	for i, j := range l.columns {
		c := t.Columns[j]
		align := text.AlignLeft
		if c.Right {
			align = text.AlignRight
		}
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align, VAlignHeader: text.VAlignBottom, WidthMin: l.widths[i]})
		header = append(header, strings.Join(l.titles[i], "\n"))
		short[i] = t.shorter(j, l.widths[i], o)
	}
	w.SetColumnConfigs(configs)
	w.AppendHeader(header)
	for r, row := range t.Rows {
		cells := make(table.Row, len(l.columns))
		for i, j := range l.columns {
			c := t.Columns[j]
			if c.Draw != nil {
				cells[i] = c.Draw(r, l.widths[i])
				continue
			}
			cells[i] = typeset.Paint(o, row[j].Tone, short[i](row[j].Shown()))
		}
		w.AppendRow(cells)
	}
	heads := 0
	for _, lines := range l.titles {
		heads = max(heads, len(lines))
	}
	for i, line := range strings.Split(w.Render(), "\n") {
		if i < heads {
			line = typeset.Style(o, typeset.Bold)(line)
		}
		out.WriteString(line + "\n")
		if ruled && i == heads-1 {
			out.WriteString(typeset.Style(o, typeset.Dim)(strings.Repeat("─", sum(l.widths))) + "\n")
		}
	}
	return l.hidden
}

// plain returns the table with names of kernels as people know them.
func (t Table) plain() Table {
	return t.renamed(typeset.PlainNames)
}

// WideName is the longest name of a kernel where nothing else bounds it: names of templates have thousands of columns, and CSV and JSON have all of them.
const WideName = 200

// bounded returns the table with no longer names of kernels than that.
func (t Table) bounded() Table {
	return t.renamed(func(names []string) []string {
		out, short := slices.Clone(names), typeset.Kernels(names, WideName)
		for i, name := range names {
			if typeset.Width(name) > WideName {
				out[i] = short(name)
			}
		}
		return out
	})
}

// renamed returns the table with other names of kernels; by gives those of a column.
func (t Table) renamed(by func(names []string) []string) Table {
	if !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Kernels }) {
		return t
	}
	rows := make([][]Cell, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = slices.Clone(row)
	}
	for j, c := range t.Columns {
		if !c.Kernels {
			continue
		}
		for i, name := range by(t.texts(j)) {
			rows[i][j].Text = name
		}
	}
	t.Rows = rows
	return t
}

// shorter returns the function that fits the texts of a column to a width. A part of a number would be another number.
func (t Table) shorter(column, to int, o typeset.Options) func(string) string {
	switch c := t.Columns[column]; {
	case c.Right:
		return func(s string) string {
			if typeset.Width(s) > to {
				return typeset.Ellipsis
			}
			return s
		}
	case o.Wide:
		return func(s string) string { return s }
	}
	return t.shortener(column, to)
}
