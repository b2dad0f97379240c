package doc

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"prof/render/table"
	"prof/render/typeset"
)

// Terminal writes documents for a terminal: lines are fitted to o.Width, with o.Wide to nothing.
func Terminal(w io.Writer, list []Document, o typeset.Options) error {
	t := terminal{o: o}
	for i, d := range list {
		if i > 0 {
			t.out.WriteString("\n")
		}
		if len(list) > 1 {
			t.line("", fmt.Sprintf("%d of %d: %s", i+1, len(list), d.Title), t.bold)
		}
		if err := t.blocks(d.Blocks); err != nil {
			return err
		}
	}
	_, err := w.Write(t.out.Bytes())
	return err
}

type terminal struct {
	out bytes.Buffer
	o   typeset.Options
}

func (t *terminal) bold(s string) string { return typeset.Style(t.o, typeset.Bold)(s) }
func (t *terminal) dim(s string) string  { return typeset.Style(t.o, typeset.Dim)(s) }

func plain(s string) string { return s }

func (t *terminal) line(lead, text string, paint func(string) string) {
	typeset.Wrapped(&t.out, lead, text, t.o.Limit(), paint)
}

// blocks writes blocks, a blank line before each but the first.
func (t *terminal) blocks(list []Block) error {
	for i, b := range blocksFor(false, list) {
		if i > 0 {
			t.out.WriteString("\n")
		}
		if err := t.block(b); err != nil {
			return err
		}
	}
	return nil
}

func (t *terminal) block(b Block) error {
	switch b := b.(type) {
	case Lead:
		t.line("", b.Text, func(s string) string { return t.bold(typeset.Paint(t.o, b.Tone, s)) })
	case Facts:
		table.WriteFacts(&t.out, b, t.o)
	case Details:
		return table.Pairs(&t.out, "", b, t.o)
	case Section:
		paint := t.dim
		if b.Strong {
			paint = t.bold
		}
		t.line("", b.Title, paint)
		return t.blocks(b.Blocks)
	case Table:
		t.table(b)
	case Rows:
		return table.Terminal(&t.out, b.Frame, t.o)
	case List:
		t.list(b)
	case Remark:
		lead := b.lead()
		if b.Lines > 0 {
			typeset.Lines(&t.out, lead, b.Text, b.Lines, t.o)
		} else {
			t.line("", lead+b.Text, plain)
		}
	case Figure:
		t.out.WriteString(b.Text)
	case Hint:
		t.line("", b.Text, t.dim)
	case Text:
		t.line("", string(b), plain)
	case Notes:
		for _, note := range b {
			t.line("note: ", note, t.dim)
		}
	case Doubts:
		t.doubts(b)
	case Commands:
		t.commands(b)
	case SQL:
		t.line("", b.Line, t.dim)
	default:
		return fmt.Errorf("a terminal does not know blocks of %T", b)
	}
	return nil
}

func (t *terminal) table(b Table) {
	if b.AsPairs {
		t.pairs(b.Of)
		return
	}
	of := b.Of
	if last := len(of.Columns) - 1; b.Below != nil && of.Columns[last].Title == b.Below.Column {
		of.Columns = of.Columns[:last]
	}
	rows, left := of.Rows, 0
	if b.Most > 0 {
		rows, left = typeset.FirstOf(of.Rows, b.Most)
	}
	of.Rows = rows
	hidden := of.Write(&t.out, t.o)
	if b.Bars != nil {
		if text := b.Bars(of.Drawn(t.o.Limit())); text != "" {
			t.line("", text, t.dim)
		}
	}
	if b.Legend != nil {
		for _, text := range b.Legend(hidden) {
			t.line("  ", text, t.dim)
		}
	}
	if b.Below != nil {
		for _, s := range b.Below.Lines {
			t.swap(s)
		}
	}
	if left > 0 {
		t.line("", b.Rest(left), t.dim)
	}
	if len(hidden) > 0 && !of.OneLine {
		t.line("  ", table.HiddenColumns(hidden, "--wide"), t.dim)
	}
}

// pairs writes a line for each row of four cells: what differs, before, after and what that means. What matters most is marked.
func (t *terminal) pairs(of table.Table) {
	widest := 0
	for _, row := range of.Rows {
		widest = max(widest, typeset.Width(row[0].Text)+typeset.Gap)
	}
	for _, row := range of.Rows {
		mark := "  "
		if row[0].Tone != "" {
			mark = "! "
		}
		table.WritePair(&t.out, mark+row[0].Text, row[1].Shown()+" → "+row[2].Shown()+": "+row[3].Text, widest, t.o.Limited())
	}
}

func (t *terminal) swap(s Swap) {
	lead := s.How + ": "
	room := (t.o.LineWidth() - typeset.Width(lead) - 5) / 2
	typeset.Wrapped(&t.out, "  ", lead+beside(s.Before, room)+" → "+beside(s.After, room), 0, plain)
}

// How much of the names of a swap a terminal shows.
const (
	swapNames = 3 // of each side
	leastName = 4 // letters of each
)

// beside shows names beside each other within a width.
func beside(names []string, to int) string {
	names, left := typeset.FirstOf(names, swapNames)
	more := ""
	if left > 0 {
		more = fmt.Sprintf(" and %d more", left)
	}
	each := max(leastName, (to-typeset.Width(more)-3*(len(names)-1))/len(names))
	text := ""
	for i, name := range names {
		if i > 0 {
			text += " + "
		}
		text += typeset.Shorten(name, each, 100)
	}
	return typeset.Shorten(text+more, max(leastName, to), 100)
}

func (t *terminal) list(b List) {
	from := 0
	if b.Last > 0 && len(b.Items) > b.Last && !t.o.Wide {
		from = len(b.Items) - b.Last
		t.line("", fmt.Sprintf("%d earlier not shown: --wide shows them", from), t.dim)
	}
	for i, item := range b.Items[from:] {
		if i > 0 && b.Apart {
			t.out.WriteString("\n")
		}
		t.item(b, from+i, item)
	}
}

func (t *terminal) item(b List, at int, item Item) {
	lead, paint := "- ", plain
	if b.Ordered {
		lead, paint = fmt.Sprintf("%*d  ", len(fmt.Sprint(len(b.Items))), at+1), t.bold
	}
	if b.Plain {
		paint = plain
	}
	text, under := item.Text, strings.Repeat(" ", len(lead))
	if item.Name != "" {
		text = item.Name + ": " + text
	}
	if !b.Ordered && len(item.See) > 0 {
		text += "; see: " + strings.Join(item.See, ", ")
	}
	t.line(lead, text, paint)
	for _, text := range item.under(plain, plain) {
		if room := b.Lines * (t.o.Limit() - len(lead)); room > 0 && typeset.Width(text) > room {
			text = remark.ReplaceAllString(text, "")
		}
		t.line(under, text, plain)
	}
	if item.Try != "" {
		t.line(under+"try: ", item.Try, plain)
	}
	if b.Ordered && len(item.See) > 0 {
		t.out.WriteString(under + "see: " + strings.Join(item.See, "\n"+under+"     ") + "\n")
	}
}

// remark is what a sentence can do without where it has no room.
var remark = regexp.MustCompile(` \([^()]*\)`)

// doubts writes as many as there is room for. The first one always has its place.
func (t *terminal) doubts(b Doubts) {
	used := 0
	for i, text := range b.Texts {
		var out bytes.Buffer
		typeset.Wrapped(&out, "! ", text, t.o.Limit(), plain)
		used += bytes.Count(out.Bytes(), []byte("\n"))
		if left := len(b.Texts) - i; b.Most > 0 && i > 0 && used > b.Most && (left > 1 || used > b.Most+1) && !t.o.Wide {
			t.line("! ", fmt.Sprintf("and %d more; --wide shows all", left), plain)
			return
		}
		t.out.Write(out.Bytes())
	}
}

// commands writes commands beside each other where there is room, else one under the other.
func (t *terminal) commands(b Commands) {
	lead := b.Lead + strings.Repeat(" ", typeset.Gap)
	line := strings.Join(b.List, strings.Repeat(" ", 2*typeset.Gap))
	if limit := t.o.Limit(); limit > 0 && typeset.Width(lead+line) > limit {
		line = strings.Join(b.List, "\n"+strings.Repeat(" ", len(lead)))
	}
	t.out.WriteString(t.dim(lead) + line + "\n")
}
