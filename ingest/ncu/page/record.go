package page

import (
	"bytes"
	"slices"
)

// pageRecord is a row of a page with its fields.
//
// ncu quotes every field and escapes no quote within one, so that a strict reader of CSV fails on a range that somebody named
// `say "hi", twice`. Only the entries of NVTX cells are quoted twice: `"476  ""LLM:prefill:none:..."" ",`. A field therefore ends
// at a quote that another field or the end of the row follows, and an NVTX cell at the three characters that end every one.
type pageRecord struct {
	text   []byte
	fields [][]byte
	spans  [][2]int // fields as places in text, which moves while it grows
	at     int      // where the field begins that is not complete
	search int      // up to where its end was looked for
}

// reset begins a record with its first line.
func (r *pageRecord) reset(line []byte) {
	r.text, r.spans, r.at, r.search = append(r.text[:0], line...), r.spans[:0], 0, 0
}

// extend adds the next line to a record whose last field is open.
func (r *pageRecord) extend(line []byte) { r.text = append(append(r.text, '\n'), line...) }

// split splits what is there into fields; nvtx are the columns that hold NVTX cells. It is false while the last field is open.
func (r *pageRecord) split(nvtx ...int) bool {
	for {
		end, next, ok := r.fieldEnd(slices.Contains(nvtx, len(r.spans)))
		if !ok {
			return false
		}
		from := r.at
		if from < len(r.text) && r.text[from] == '"' {
			from++
		}
		r.spans = append(r.spans, [2]int{from, max(from, end)})
		if next > len(r.text) {
			break
		}
		r.at, r.search = next, 0
	}
	r.fields = r.fields[:0]
	for _, s := range r.spans {
		r.fields = append(r.fields, r.text[s[0]:s[1]])
	}
	return true
}

// nvtxEnd ends an NVTX cell that is not empty.
var nvtxEnd = []byte(`"" ",`)

// fieldEnd finds where the field ends and where the next one begins, past the end of the text where there is none.
func (r *pageRecord) fieldEnd(nvtx bool) (end, next int, ok bool) {
	b := r.text
	if r.at >= len(b) || b[r.at] != '"' {
		if comma := bytes.IndexByte(b[min(r.at, len(b)):], ','); comma >= 0 {
			return r.at + comma, r.at + comma + 1, true
		}
		return len(b), len(b) + 1, true
	}
	from := max(r.at+1, r.search)
	if nvtx && !bytes.HasPrefix(b[r.at:], []byte(`"",`)) {
		if i := bytes.Index(b[from:], nvtxEnd); i >= 0 {
			end = from + i + len(nvtxEnd) - 2
			return end, end + 2, true
		}
	}
	for i := from; ; i++ {
		quote := bytes.IndexByte(b[i:], '"')
		if quote < 0 {
			break
		}
		i += quote
		switch {
		case i+1 == len(b):
			return i, i + 2, true
		case b[i+1] == ',' && (i+2 == len(b) || b[i+2] == '"' || b[i+2] == ','):
			return i, i + 2, true
		}
	}
	r.search = max(r.at+1, len(b)-len(nvtxEnd))
	return 0, 0, false
}

// splitStrict splits a row of a page that another program wrote anew: fields with quotes are escaped as CSV has it. It is false
// while a quote is open.
func (r *pageRecord) splitStrict() bool {
	if bytes.Count(r.text, []byte{'"'})%2 == 1 {
		return false
	}
	r.fields = r.fields[:0]
	for rest := r.text; ; {
		end, quoted := 0, false
		for end < len(rest) && (rest[end] != ',' || quoted) {
			quoted = quoted != (rest[end] == '"')
			end++
		}
		field := rest[:end]
		if len(field) > 1 && field[0] == '"' && field[len(field)-1] == '"' {
			field = bytes.ReplaceAll(field[1:len(field)-1], []byte(`""`), []byte(`"`))
		}
		r.fields = append(r.fields, field)
		if end == len(rest) {
			return true
		}
		rest = rest[end+1:]
	}
}

// maxRowLines bounds how many lines a row can have: its names can hold line ends, but no program's output is taken for one.
const maxRowLines = 64

// readRecord collects a row from the line that was read and, while a field is open, the lines after it. It is not ok when the row
// ends in the middle: at the end of the file, or before a line that can only be a new one.
func (p *pageReader) readRecord() (ok bool, err error) {
	r := &p.record
	r.reset(p.lines.text)
	h := p.header
	for lines := 1; ; lines++ {
		if h.quoted && r.split(h.nvtx, h.nvtxStartEnd) || !h.quoted && r.splitStrict() {
			return true, nil
		}
		more, err := p.lines.next()
		if err != nil || !more {
			return false, err
		}
		line := p.lines.text
		if lines == maxRowLines || len(r.text)+len(line) > maxPageLine || startsAnew(line) {
			p.lines.unread()
			return false, nil
		}
		r.extend(line)
	}
}

// startsAnew reports whether a line begins a row, or is one of ncu's own, whatever stood open before it.
func startsAnew(line []byte) bool {
	if bytes.HasPrefix(line, []byte("==")) {
		kind, _ := consoleText(line)
		return kind != consoleOther
	}
	for range 2 {
		if len(line) < 2 || line[0] != '"' {
			return false
		}
		digits := bytes.TrimLeft(line[1:], "0123456789")
		if len(digits) == len(line)-1 || !bytes.HasPrefix(digits, []byte(`",`)) {
			return false
		}
		line = digits[2:]
	}
	return true
}
