package averages

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// header is that of a table in a text: one that key_averages().table() printed, or one of Markdown.
type header struct {
	names []string
	spans []span // of the columns in a line of a printed table, in characters; nil in Markdown
}

// span is a part of a line.
type span struct{ from, to int }

// headers finds headers line by line. A printed table has a line of dashes over and under its header, one of Markdown a line of dashes and
// bars under it; what else a program printed may stand around it.
type headers struct {
	line   string // the one before
	dashes []span // of the one before that
}

// next takes a line and gives the header that ends with it; nil where none does.
func (h *headers) next(line string) *header {
	before, over := h.line, h.dashes
	h.line, h.dashes = line, dashesOf(before)
	found := &header{}
	switch under := dashesOf(line); {
	case len(over) > 1 && slices.Equal(over, under):
		found.spans = over
		var err error
		if found.names, err = found.cells(before); err != nil {
			return nil
		}
	case isBarRule(line) && strings.Contains(before, "|"):
		found.names = barCells(before)
		if len(found.names) != len(barCells(line)) {
			return nil
		}
	default:
		return nil
	}
	var cols columns
	for _, name := range found.names {
		if _, err := cols.id(name); err != nil {
			return nil
		}
	}
	if !cols.isTable() {
		return nil
	}
	return found
}

// dashesOf returns the columns of a line of dashes as PyTorch prints it, also one in a comment; nil for another line.
func dashesOf(line string) (out []span) {
	at := strings.IndexByte(line, '-')
	if at < 0 || strings.Trim(line[:at], " \t#/*>") != "" {
		return nil
	}
	rest := strings.TrimRight(line[at:], " \t\r\n")
	for i := 0; i < len(rest); {
		n := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "-"))
		if n < 3 {
			return nil
		}
		out = append(out, span{at + i, at + i + n})
		if i += n; i < len(rest) && !strings.HasPrefix(rest[i:], "  -") {
			return nil
		}
		i += 2
	}
	return out
}

// isBarRule reports whether a line is the one between header and rows of a table of Markdown.
func isBarRule(line string) bool {
	s := strings.TrimSpace(line)
	return strings.Contains(s, "|") && strings.Contains(s, "---") && strings.Trim(s, "|:- \t") == "" || strings.Contains(s, ":-:") && strings.Trim(s, "|:- \t") == ""
}

// barCells splits a line of a table of Markdown.
func barCells(line string) []string {
	s := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	s = strings.ReplaceAll(s, `\|`, "\x00")
	var out []string
	for _, cell := range strings.Split(s, "|") {
		cell = strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|"))
		if inner := strings.Trim(cell, "`"); inner != "" && len(inner)+2 == len(cell) && cell[0] == '`' {
			cell = inner
		}
		out = append(out, cell)
	}
	return out
}

// cells splits a line by the header's columns.
func (h *header) cells(line string) ([]string, error) {
	if h.spans == nil {
		cells := barCells(line)
		// Nobody escapes the bars in names of kernels; the cells after the name are numbers.
		if more := len(cells) - len(h.names); more > 0 && columnOf(h.names[0]).field == nameField {
			cells = append([]string{strings.Join(cells[:more+1], "|")}, cells[more+1:]...)
		}
		if len(cells) != len(h.names) {
			return nil, fmt.Errorf("it has %d cells, the header %d", len(cells), len(h.names))
		}
		return cells, nil
	}
	chars := []rune(strings.TrimRight(line, " \t\r\n"))
	part := func(from, to int) string {
		from = min(from, len(chars))
		return strings.TrimSpace(string(chars[from:max(from, min(to, len(chars)))]))
	}
	var out []string
	for i, s := range h.spans {
		if i > 0 && part(h.spans[i-1].to, s.from) != "" || i == len(h.spans)-1 && part(s.to, len(chars)) != "" {
			return h.wide(line)
		}
		out = append(out, part(s.from, s.to))
	}
	return out, nil
}

// wide splits a line with a cell that is wider than its column, by the blanks between cells.
func (h *header) wide(line string) (out []string, err error) {
	for _, cell := range strings.Split(line, "  ") {
		if cell = strings.TrimSpace(cell); cell != "" {
			out = append(out, cell)
		}
	}
	if len(out) != len(h.spans) {
		return nil, errors.New("it does not fit the columns of the table")
	}
	return out, nil
}

// isText reports whether the beginning of a file has a table in a text.
func isText(head []byte) bool {
	var h headers
	for line := range bytes.Lines(head) {
		if h.next(string(line)) != nil {
			return true
		}
	}
	return false
}

// text reads rows of the table in a text.
func (s *source) text() error {
	in := bufio.NewReader(s.in)
	t := &textReader{source: s}
	for number := 1; ; number++ {
		s.in.reset()
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: line %d: %w", s.name, number, err)
		}
		ends := err != nil
		if line != "" {
			if err := t.line(strings.ToValidUTF8(line, "\uFFFD"), number, ends); err != nil {
				return err
			}
		}
		if ends {
			return t.end()
		}
	}
}

// textReader is a text at work.
type textReader struct {
	*source
	headers
	now   *header // of the table that a row may follow of
	first int     // line of the table; 0 before it
	ids   []int

	shortened int // names that PyTorch cut
}

// totalLine fits the lines under a printed table with the time of all that was profiled: Self CUDA time total: 100.000ms, without Self until PyTorch 1.7.
var totalLine = regexp.MustCompile(`\b(\w+) time total: *([0-9.]+ *[a-zµμ]+)`)

// total takes such a line.
func (t *textReader) total(line string) {
	m := totalLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	to := &t.device
	switch processor := strings.ToLower(m[1]); {
	case processor == "cpu":
		to = &t.cpu
	case !slices.Contains(processors, processor):
		return
	}
	if w, isTime, err := parse(cell{kind: text, text: m[2]}, selfCPU); isTime && err == nil && *to == 0 {
		*to = w.value * w.unit
	}
}

func (t *textReader) line(line string, number int, ends bool) error {
	if t.now != nil {
		switch isEnd := slices.Equal(dashesOf(line), t.now.spans); {
		case t.now.spans != nil && !isEnd:
			return t.add(line, number, ends)
		case t.now.spans == nil && strings.HasPrefix(strings.TrimSpace(line), "|"):
			return t.add(line, number, ends)
		}
		t.now = nil
		t.headers = headers{} // the line of dashes under a table opens none
		return nil
	}
	t.total(line)
	found := t.next(line)
	if found == nil {
		return nil
	}
	if t.first > 0 {
		return fmt.Errorf("%s: it has two tables, at lines %d and %d: save each in a separate file", t.name, t.first, number)
	}
	t.now, t.first = found, number
	for _, name := range found.names {
		id, err := t.cols.id(name)
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", t.name, number, err)
		}
		if slices.Contains(t.ids, id) && t.cols.list[id].field != nothing {
			return fmt.Errorf("%s: line %d: two columns are called %q", t.name, number, name)
		}
		t.ids = append(t.ids, id)
	}
	t.source.first = t.cols
	return nil
}

// add takes a line of the table.
func (t *textReader) add(line string, number int, ends bool) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	cells, err := t.now.cells(line)
	switch last := len(cells) - 1; {
	case ends && t.now.spans != nil && t.row.number > 0: // its last amount may be cut too
		t.cutIn(number)
		t.now = nil
		return nil
	case err != nil:
		return fmt.Errorf("%s: line %d: %w", t.name, number, err)
	case strings.Join(cells[:last], "") == "": // of Python functions, those after the first have lines of their own
		return nil
	}
	t.row.number++
	t.row.line, t.row.cells = number, t.row.cells[:0]
	for i, text := range cells {
		c := cell{kind: kindOfText(text), text: text}
		t.row.set(t.ids[i], c)
		if t.cols.list[t.ids[i]].field == nameField && t.now.spans != nil && strings.HasSuffix(text, "...") {
			t.shortened++
		}
	}
	return t.each(&t.row)
}

// kindOfText is the kind of a cell with a text.
func kindOfText(s string) cellKind {
	if s == "" {
		return absent
	}
	return text
}

// end gives what the whole text says.
func (t *textReader) end() error {
	if t.first == 0 {
		return fmt.Errorf("%s: %w", t.name, errNotTable)
	}
	if t.now != nil && t.now.spans != nil && t.cut == "" {
		t.cut = fmt.Sprintf("the file ends inside its table, after row %d: it was cut off", t.row.number)
	}
	if t.shortened > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%d names are shortened to end with ..., as PyTorch prints them: equal ones may be of different operators", t.shortened))
	}
	return nil
}
