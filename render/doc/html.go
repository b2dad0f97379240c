package doc

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode"

	"prof/queries/frame"
	"prof/render/page"
	"prof/render/table"
	"prof/render/typeset"
)

// HTML writes documents as one page that needs no network, and but for sorting and searching no script. The same documents give the same bytes.
// Tables are as long as there is room.
func HTML(w io.Writer, list []Document, _ typeset.Options) error {
	templates, err := page.Templates()
	if err != nil {
		return err
	}
	names := shortNames(list)
	for tables := table.PageExcerpt; ; tables = tables.Smaller() {
		p := htmlPage{templates: templates, tables: tables, names: names, scripts: slices.Clone(scripts), ids: map[string]bool{}}
		text, err := p.whole(list)
		if err != nil {
			return err
		}
		if len(text) <= mostPage || tables.Bytes < leastTable {
			_, err = w.Write(text)
			return err
		}
	}
}

// How many bytes a page takes, at most, where tables can be made shorter, and a table is never cut below.
const (
	mostPage   = 2_950_000
	leastTable = 4000
)

// shortNames are names of kernels in short.
func shortNames(list []Document) map[string]string {
	for _, d := range list {
		if d.Kernels != nil {
			return d.Kernels
		}
	}
	return table.KernelNames(frames(list))
}

// frames are the answers that a page shows.
func frames(list []Document) (out []*frame.Frame) {
	var add func(list []Block)
	add = func(list []Block) {
		for _, b := range blocksFor(true, list) {
			switch b := b.(type) {
			case Rows:
				out = append(out, b.Frame)
			case Section:
				add(b.Blocks)
			}
		}
	}
	for _, d := range list {
		add(d.Blocks)
	}
	return out
}

type htmlPage struct {
	out       bytes.Buffer
	templates *template.Template
	tables    table.Excerpt
	names     map[string]string // of kernels, in short
	scripts   []string          // files of script
	ids       map[string]bool   // of headings that there are
	index     []entry
}

// entry is a line of the index.
type entry struct{ ID, Title string }

// The page's files of style and script in the order in which they are put together.
var (
	Styles  = []string{"base.css", "figures.css", "glance.css", "document.css", "timeline.css", "timeline_report.css", "narrow_print.css"}
	scripts = []string{"base.js", "tables.js"}
)

func (p *htmlPage) print(format string, args ...any) { fmt.Fprintf(&p.out, format, args...) }

func (p *htmlPage) draw(name string, of any) error {
	err := p.templates.ExecuteTemplate(&p.out, name, of)
	p.out.WriteString("\n")
	return err
}

// whole writes the page: the index lists the sections, or of several documents these.
func (p *htmlPage) whole(list []Document) ([]byte, error) {
	var err error
	for i, d := range list {
		if len(list) == 1 {
			err = p.blocks(d.Blocks, 2, "")
		} else {
			id := fmt.Sprintf("document-%d", i+1)
			p.index = append(p.index, entry{id, d.Title})
			err = p.under(id, d.Title, d.Blocks, 2)
		}
		if err != nil {
			return nil, err
		}
	}
	head, err := page.NewHead(pageTitle(list), Styles, p.scripts)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = p.templates.ExecuteTemplate(&out, "document.tmpl", struct {
		page.Head
		Index []entry
		Body  template.HTML // its texts are escaped
	}{head, p.index, template.HTML(p.out.String())})
	return out.Bytes(), err
}

// pageTitle is that of the document, or of what several are.
func pageTitle(list []Document) string {
	switch {
	case len(list) == 0:
		return "Nothing"
	case len(list) > 1:
		return list[0].Among
	}
	if of := frames(list); list[0].Title == "" && len(of) > 0 {
		return cmp.Or(of[0].Query, "Answer")
	}
	return list[0].Title
}

// blocks writes blocks in the section with the title. Headings of sections have the level.
func (p *htmlPage) blocks(list []Block, level int, title string) error {
	for _, b := range blocksFor(true, list) {
		if err := p.block(b, level, title); err != nil {
			return err
		}
	}
	return nil
}

func (p *htmlPage) block(b Block, level int, title string) error {
	switch b := b.(type) {
	case Lead:
		p.print("<p class=\"lead %s\">%s</p>\n", html.EscapeString(string(b.Tone)), html.EscapeString(b.Text))
	case Facts:
		return p.draw("facts", b)
	case Details:
		return p.draw("facts", b)
	case Section:
		return p.section(b, level)
	case Table:
		return p.table(b, title)
	case Rows:
		return p.rows(b, title)
	case Figure:
		return p.figure(b)
	case Hint:
		text := html.EscapeString(b.Text)
		if b.To != "" {
			text = fmt.Sprintf("<a href=\"#%s\">%s</a>", html.EscapeString(b.To), text)
		}
		p.print("<p class=\"hint\">%s</p>\n", text)
	case List:
		p.list(b)
	case Remark:
		p.print("<p>%s</p>\n", html.EscapeString(typeset.Sentence(b.lead()+b.Text)))
	case Text:
		p.print("<p>%s</p>\n", html.EscapeString(string(b)))
	case Notes:
		for _, note := range b {
			p.print("<p class=\"note\">%s</p>\n", html.EscapeString(note))
		}
	case Doubts:
		for _, text := range b.Texts {
			p.print("<p class=\"note\">%s</p>\n", html.EscapeString(text))
		}
	case Commands:
		p.print("<p class=\"see\"><i>%s:</i> %s</p>\n", html.EscapeString(typeset.Sentence(b.Lead)), codes(b.List))
	case SQL:
		for _, q := range b.Queries {
			of := ""
			if q.Run != "" {
				of = " of " + q.Run
			}
			p.print("<details class=\"sql\"><summary>Query %s</summary><pre><code>%s</code></pre></details>\n", html.EscapeString(q.Name+of), html.EscapeString(q.SQL))
		}
	default:
		return fmt.Errorf("HTML does not know blocks of %T", b)
	}
	return nil
}

func (p *htmlPage) section(b Section, level int) error {
	title := typeset.Sentence(b.Title)
	if b.Folded && b.ID == "" {
		p.print("<details class=\"more\"><summary>%s</summary>\n", html.EscapeString(title))
		err := p.blocks(b.Blocks, level, title)
		p.print("</details>\n")
		return err
	}
	id, brief := cmp.Or(b.ID, p.id(cmp.Or(b.Brief, b.Title))), typeset.Sentence(cmp.Or(b.Brief, b.Title))
	if level == 2 || b.ID != "" {
		p.index = append(p.index, entry{id, brief})
	}
	if !b.Folded {
		return p.under(id, title, b.Blocks, level)
	}
	p.print("<details class=\"part\" id=\"%s\"><summary><h%[2]d>%[3]s</h%[2]d></summary>\n", html.EscapeString(id), min(level, 6), html.EscapeString(title))
	err := p.blocks(b.Blocks, level+1, title)
	p.print("</details>\n")
	return err
}

// under writes blocks under a heading.
func (p *htmlPage) under(id, title string, list []Block, level int) error {
	p.print("<section id=\"%[1]s\" aria-labelledby=\"%[1]s-title\">\n<h%[2]d id=\"%[1]s-title\">%[3]s</h%[2]d>\n", html.EscapeString(id), min(level, 6), html.EscapeString(title))
	err := p.blocks(list, level+1, title)
	p.print("</section>\n")
	return err
}

func (p *htmlPage) figure(b Figure) error {
	if of, is := b.Of.(Fitted); is {
		if err := of.Fit(p.tables, p.names); err != nil {
			return err
		}
	}
	for _, name := range b.Scripts {
		if !slices.Contains(p.scripts, name) {
			p.scripts = append(p.scripts, name)
		}
	}
	return p.draw(b.Template, b.Of)
}

// id makes the name of a heading, as addresses have it.
func (p *htmlPage) id(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	id := "section-" + strings.Join(words[:min(len(words), 6)], "-")
	for n, first := 2, id; p.ids[id]; n++ {
		id = fmt.Sprintf("%s-%d", first, n)
	}
	p.ids[id] = true
	return id
}

func (p *htmlPage) table(b Table, title string) error {
	v := b.Of.View()
	v.Caption = cmp.Or(v.Caption, title)
	if err := p.draw("table", v); err != nil {
		return err
	}
	for _, text := range b.legend(nil) {
		p.print("<p class=\"hint\">%s.</p>\n", html.EscapeString(text))
	}
	return nil
}

func (p *htmlPage) rows(b Rows, title string) error {
	tables := p.tables
	if !b.Part {
		tables.Width = 0
	}
	v, err := table.NewView(b.Frame, cmp.Or(title, b.Frame.Query, "Rows"), tables, p.names)
	if err != nil {
		return err
	}
	if err := p.draw("table", v); err != nil {
		return err
	}
	if len(b.Frame.Rows) == 0 {
		p.print("<p>No rows.</p>\n")
	}
	return p.block(Notes(typeset.Each(b.Frame.Notes, typeset.Neutral)), 0, "")
}

func (p *htmlPage) list(b List) {
	kind := map[bool]string{true: "ol", false: "ul"}[b.Ordered]
	start := ""
	if b.Before > 0 {
		start = fmt.Sprintf(" start=\"%d\"", b.Before+1)
	}
	p.print("<%s class=\"list\"%s>\n", kind, start)
	for _, item := range b.Items {
		p.print("<li>")
		if item.Sign != "" {
			p.print("%s ", html.EscapeString(item.Sign))
		}
		if item.Name != "" {
			p.print("<code>%s</code>: ", html.EscapeString(item.Name))
		}
		if (b.Ordered || len(item.Under) > 0) && !b.Plain {
			class := ""
			if item.Tone != "" {
				class = fmt.Sprintf(" class=\"%s\"", html.EscapeString(string(item.Tone)))
			}
			p.print("<b%s>%s</b>", class, html.EscapeString(item.Text))
		} else {
			p.print("%s", html.EscapeString(item.Text))
		}
		for _, under := range item.under(html.EscapeString, code) {
			p.print("<p>%s</p>", under)
		}
		if item.Try != "" {
			p.print("<p><i>Try:</i> %s</p>", html.EscapeString(item.Try))
		}
		if len(item.See) > 0 {
			p.print("<p class=\"see\"><i>See:</i> %s</p>", codes(item.See))
		}
		p.print("</li>\n")
	}
	p.print("</%s>\n", kind)
}

// codes are commands beside each other.
func codes(list []string) string {
	return strings.Join(typeset.Each(list, code), ", ")
}

// code is a command, or a name: options are not broken at their dashes.
func code(text string) string {
	list := strings.Split(text, " ")
	for i, word := range list {
		if list[i] = html.EscapeString(word); strings.HasPrefix(word, "--") {
			list[i] = "<span>" + list[i] + "</span>"
		}
	}
	return "<code>" + strings.Join(list, " ") + "</code>"
}
