// Package doc is what a verb says to people: a document in blocks, made once, and the back ends that write every document.
package doc

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/table"
	"prof/render/typeset"
)

// Document is an answer in blocks. Its texts are neutral already (typeset.Neutral): back ends escape what their form needs, nothing else.
type Document struct {
	Title  string // heading; "" for none
	Sign   string // seen before it is read, where headings are listed; "" for none
	Among  string // what several such documents are, as the title of their page: 2 comparisons with main; "" where it is always one
	IsFile bool   // it is a file, and no part of another one: Markdown begins with a heading of the first level
	Blocks []Block
	// Kernels are names of kernels in short, by whole name, where pictures have them too: they read the same in all of a page. Nil for those of Rows.
	Kernels map[string]string
}

// Block is a part of a document.
type Block interface{ block() }

// Lead is the answer in a sentence.
type Lead struct {
	Text string       `json:"text"`
	Tone typeset.Tone `json:"tone"`
}

// Facts say what the answer is about, a line each: a key and its value.
type Facts [][2]string

// Details are facts whose values are whole, over several lines where they are long.
type Details [][2]string

// Section is blocks under a heading.
type Section struct {
	Title  string
	ID     string // how addresses name it; "" for words of its title
	Brief  string // what an index calls it; "" for its title
	Folded bool   // it opens on a click; one with an ID is listed all the same
	Strong bool   // what to do: it is seen first
	Blocks []Block
}

// Figure is a picture that pages have.
type Figure struct {
	Template string   // that draws it, one of package page
	Of       any      // what the template draws, or whoever reads it as JSON
	Text     string   // the same as lines of text, for others; "" for nothing
	Scripts  []string // files that it needs, of package page
}

// Fitted is what a figure is of that has a table, which is made as long as a page has room.
type Fitted interface {
	Fit(tables table.Excerpt, kernels map[string]string) error
}

// Either is what pages have, where there is room and pictures are drawn, and what all others have in its place.
type Either struct{ Page, Other []Block }

// blocksFor returns the blocks that pages have, or those that others have.
func blocksFor(isPage bool, list []Block) []Block {
	var out []Block
	for _, b := range list {
		switch b := b.(type) {
		case Either:
			if isPage {
				out = append(out, blocksFor(true, b.Page)...)
			} else {
				out = append(out, blocksFor(false, b.Other)...)
			}
		case Figure:
			if isPage || b.Text != "" {
				out = append(out, b)
			}
		default:
			out = append(out, b)
		}
	}
	return out
}

// Table is a table with what its columns mean.
type Table struct {
	Of      table.Table
	AsPairs bool                           // a terminal writes a row as a line: what differs, before, after and what that means
	Legend  func(hidden []string) []string // meaning of the columns but those that had no room; nil for none
	Below   *Below                         // a column that a terminal writes in lines below
	Most    int                            // rows that a terminal shows; 0 for all
	Rest    func(left int) string          // what a terminal says of those beyond
	Bars    func(cells int) string         // what is drawn in a column of so many cells, 0 where it has no room; nil for nothing
}

// drawnCells is how wide pages draw a column.
const drawnCells = 24

// DrawnCells returns the cells of a drawn column for pages.
func DrawnCells(rows int, draw func(row, to int) string) []string {
	out := make([]string, rows)
	for i := range out {
		out[i] = draw(i, drawnCells)
	}
	return out
}

// legend returns what a page says of the table without some of its columns.
func (t Table) legend(hidden []string) []string {
	var out []string
	if t.Bars != nil {
		out = append(out, t.Bars(drawnCells))
	}
	if t.Legend != nil {
		out = append(out, t.Legend(hidden)...)
	}
	return slices.DeleteFunc(out, func(text string) bool { return text == "" })
}

// Below is a column whose texts are too long for a terminal's table, and the lines that stand for it there.
type Below struct {
	Column string // its title, the last of the table
	Lines  []Swap
}

// Swap says what took the place of what.
type Swap struct {
	How           string
	Before, After []string
}

// Rows are the rows of an answer, with its notes.
type Rows struct {
	Frame *frame.Frame
	Part  bool // of a report: of its columns and rows there are those that a page has room for
}

// List is a list of sentences.
type List struct {
	Items   []Item `json:"items"`
	Ordered bool   `json:"is_ordered"`
	Plain   bool   `json:"-"` // no sentence is strong
	Before  int    `json:"-"` // items of the list that stand elsewhere, before these
	Last    int    `json:"-"` // of an ordered list the items that a terminal shows, the last; 0 for all
	Lines   int    `json:"-"` // that a terminal gives the lines under an item with their remarks in brackets, which are left out of longer ones; 0 for any
	Apart   bool   `json:"-"` // items are long, and stand apart
}

// Item is one sentence of a list.
type Item struct {
	Sign  string       `json:"-"`               // seen before it is read, on pages
	Name  string       `json:"name,omitempty"`  // what the sentence is about, as a machine knows it; "" for none
	Tone  typeset.Tone `json:"tone,omitempty"`  // of its text, on pages
	Text  string       `json:"text"`            // it is strong where there are lines Under it or the list is ordered
	Under []string     `json:"under,omitempty"` // lines below it
	Of    string       `json:"of,omitempty"`    // kernel, function or range that it is about, below the first line under it; "" for none
	Try   string       `json:"try,omitempty"`   // what to do about it; "" for nothing
	See   []string     `json:"see,omitempty"`   // commands that show more
}

// under returns the lines below the item, what it is about as a name.
func (i Item) under(line, name func(string) string) []string {
	out := typeset.Each(i.Under, line)
	if i.Of != "" {
		out = slices.Insert(out, min(1, len(out)), name(i.Of))
	}
	return out
}

// Remark is a sentence behind a word or two: also changed: ....
type Remark struct {
	Lead  string `json:"lead"` // "" for none
	Text  string `json:"text"`
	Lines int    `json:"-"` // that a terminal gives it; 0 for all
}

// lead begins the sentence.
func (r Remark) lead() string {
	if r.Lead == "" {
		return ""
	}
	return r.Lead + ": "
}

// Text is a paragraph.
type Text string

// Hint is a paragraph in small print.
type Hint struct {
	Text string
	To   string // the section that it leads to; "" for none
}

// Notes are what the answer is to be read with.
type Notes []string

// Doubts are what to know before the answer is believed, what matters most first.
type Doubts struct {
	Texts []string
	Most  int // lines that a terminal gives all of them, but for the first; 0 for any
}

// Commands show more. They are to be copied, and so are whole.
type Commands struct {
	Lead string   `json:"lead"`
	List []string `json:"list"`
}

// SQL is what the figures come from.
type SQL struct {
	Line    string // what a terminal says of it; "" for nothing
	Queries []Query
}

// Query is a query of the answer. Run is "" where that needs no saying.
type Query struct {
	Name string `json:"name"`
	Run  string `json:"run,omitempty"`
	SQL  string `json:"sql"`
}

func (Lead) block()     {}
func (Facts) block()    {}
func (Details) block()  {}
func (Section) block()  {}
func (Figure) block()   {}
func (Either) block()   {}
func (Table) block()    {}
func (Rows) block()     {}
func (List) block()     {}
func (Remark) block()   {}
func (Text) block()     {}
func (Notes) block()    {}
func (Doubts) block()   {}
func (Hint) block()     {}
func (Commands) block() {}
func (SQL) block()      {}

// BackEnd is a form of every document.
type BackEnd struct {
	Name, Ending string
	Doc          string // for people: what it is, behind what the document says
	Write        func(w io.Writer, list []Document, o typeset.Options) error
}

// BackEnds are the forms that every document has, the default first. To add one, write its function and add a value here.
var BackEnds = []BackEnd{
	{"table", ".txt", "for people: %s, fitted to the terminal", Terminal},
	{"md", ".md", "the same as GitHub-flavoured Markdown, for a pull request or the summary of a job", Markdown},
	{"html", ".html", "the same as one page that needs no network, with pictures", HTML},
	{"blocks", ".blocks", "the same as JSON, block by block, for a page of your own", Blocks},
}

// Forms are the ways to write a T: those that every document has, and the forms of its own. says what its document has, in a few words.
func Forms[T, O any](says string, document func(v T, o O) []Document, options func(o O) typeset.Options, own ...typeset.Form[T, O]) typeset.Forms[T, O] {
	var out typeset.Forms[T, O]
	for _, b := range BackEnds {
		out = append(out, typeset.Form[T, O]{Name: b.Name, Ending: b.Ending, Doc: strings.ReplaceAll(b.Doc, "%s", says), Write: func(w io.Writer, v T, o O) error {
			return b.Write(w, document(v, o), options(o))
		}})
	}
	return append(out, own...)
}

// AnswerForms are the ways to write the answer of a query.
func AnswerForms() typeset.Forms[*frame.Frame, typeset.Options] {
	type form = typeset.Form[*frame.Frame, typeset.Options]
	rows := func(f *frame.Frame, _ typeset.Options) []Document {
		name := cmp.Or(f.Query, "as given")
		if f.Version > 0 {
			name = fmt.Sprintf("%s.v%d", f.Query, f.Version)
		}
		return []Document{{Blocks: []Block{Rows{Frame: f}, Either{Page: []Block{SQL{Queries: []Query{{Name: name, SQL: typeset.Whole(f.SQL)}}}}}}}}
	}
	return Forms("scaled, rounded", rows, func(o typeset.Options) typeset.Options { return o },
		form{Name: "csv", Ending: ".csv", Doc: "RFC 4180 in base units and full precision; NULL is an empty field", Write: table.CSV},
		form{Name: "json", Ending: ".json", Doc: "one object: columns with type and unit, rows in base units and full precision", Write: table.JSON},
		form{Name: table.ArrowForm, Ending: ".arrow", Doc: "Arrow IPC file in base units and full precision: pandas.read_feather, polars.read_ipc", Write: table.Arrow})
}
