package tracer

import (
	"fmt"
	"sync"

	"github.com/ianlancetaylor/demangle"

	"prof/ingest/load"
	"prof/ingest/nsys/table"
	"prof/internal/file"
)

// Numbers that the traces of a recording share are told apart by bits above those that a trace uses, which hold the number of the file and 1.
// Of a text, further bits say what is wanted of it.
const (
	textBits    = 32
	formAt      = 60
	processBits = 48 // of globalPid and globalTid
	maxFiles    = 1<<(62-processBits) - 1
)

// id is what a column numbers.
type id uint8

const (
	noID        id = iota
	textID         // of StringIds
	demangledID    // of StringIds, a symbol
	shortID        // as demangledID, and its base name is wanted
	payloadID      // of StringIds, a text that says payloads
	processID      // globalPid or globalTid
)

// idOf returns what a column of a table numbers.
func idOf(of, column string) id {
	switch column {
	case "nameId", "textId", "mangledName":
		return textID
	case "demangledName":
		return demangledID
	case "shortName":
		return shortID
	case "jsonTextId":
		return payloadID
	case "globalPid", "globalTid", "endGlobalTid":
		return processID
	case "id":
		if of == stringsTable {
			return textID
		}
	}
	return noID
}

// NamesText reports whether a column of a table of a trace has numbers of texts.
func NamesText(table, column string) bool {
	k := idOf(table, column)
	return k != noID && k != processID
}

// InFile returns the number in the trace itself for n of its reader, which adds the file's number above.
func InFile(table, column string, n int64) int64 {
	switch idOf(table, column) {
	case noID:
		return n
	case processID:
		return n & (1<<processBits - 1)
	default:
		return n & (1<<textBits - 1)
	}
}

// spread makes numbers of one file numbers of the recording.
func (k id) spread(v *table.Vector, file int) error {
	if k == noID {
		return nil
	}
	least, most, above := int64(0), int64(1)<<processBits-1, int64(file+1)<<processBits
	if k != processID { // 0 is no process
		least, most, above = 1, 1<<textBits-1, int64(file+1)<<textBits
		if k != textID {
			above |= int64(k) << formAt
		}
	}
	for i, n := range v.Ints {
		if v.Null(i) || n == 0 && k == processID {
			continue
		}
		if n < least || n > most {
			return fmt.Errorf("malformed: row %d has the number %d, want %d to %d", i+1, n, least, most)
		}
		v.Ints[i] = n | above
	}
	return nil
}

const stringsTable = "StringIds"

// texts are blocks of StringIds that were looked at last.
type texts struct {
	mu   sync.Mutex
	held []heldTexts // the last one used at the end
}

// heldTexts are the texts of one block.
type heldTexts struct {
	trace *trace
	first int64 // number of the first one
	texts []string
}

// maxHeld is how many blocks are kept: rows mostly name texts of one time.
const maxHeld = 4

// String returns a text by a number that a row had: that of a kernel's name demangled, or its base name; that of payloads as JSON.
func (d *Folder) String(number int64) (string, bool, error) {
	file := int(number>>textBits&(1<<(formAt-textBits)-1)) - 1
	if number < 0 || file < 0 || file >= len(d.traces) {
		return "", false, nil
	}
	text, err := d.text(d.traces[file], number&(1<<textBits-1))
	if err != nil {
		return "", false, err
	}
	switch id(number >> formAt) {
	case demangledID:
		text = demangled(text)
	case shortID:
		text = load.ShortName(demangled(text))
	case payloadID:
		text, err = d.payloads(d.traces[file], text)
	}
	return text, err == nil, err
}

// demangled is the name of a symbol; what is none stays as it is.
func demangled(symbol string) string {
	const mostBits = 20 // of the characters of a name: a short symbol may say a long one
	return demangle.Filter(symbol, demangle.MaxLength(mostBits))
}

// text looks a text of a trace up.
func (d *Folder) text(t *trace, number int64) (string, error) {
	d.texts.mu.Lock()
	defer d.texts.mu.Unlock()
	held := d.texts.held
	for i, h := range held {
		if h.trace == t && number >= h.first && number < h.first+int64(len(h.texts)) {
			held[i], held[len(held)-1] = held[len(held)-1], h
			return h.texts[number-h.first], nil
		}
	}
	h, err := t.textsWith(number)
	if err != nil {
		return "", err
	}
	if len(held) == maxHeld {
		held = append(held[:0], held[1:]...)
	}
	d.texts.held = append(held, *h)
	return h.texts[number-h.first], nil
}

// textsWith reads the block with a text.
func (t *trace) textsWith(number int64) (*heldTexts, error) {
	o := t.table(stringsTable)
	if o == nil {
		return nil, t.fault(nil, 0, "malformed: a row refers to text %d, and the trace has no %s", number, stringsTable)
	}
	h := &heldTexts{trace: t, first: 1}
	for _, b := range o.blocks {
		if number < h.first+int64(b.rows) {
			var err error
			h.texts, err = t.readTexts(o, b, h.first)
			return h, err
		}
		h.first += int64(b.rows)
	}
	return nil, t.fault(o, 0, "malformed: a row refers to text %d of %d", number, o.rows)
}

// readTexts reads a block of StringIds, whose numbers go up by one from the first.
func (t *trace) readTexts(o *blockTable, b block, first int64) ([]string, error) {
	f, err := file.Open(t.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	number, value := o.place("id"), o.place("value")
	if number < 0 || value < 0 || o.columns[number].kind != intColumn || o.columns[value].kind != textColumn {
		return nil, t.fault(o, b.at, "malformed: it has no id (integer) and value (text)")
	}
	_, cells, err := t.cells(f, o, b, nil, nil)
	if err != nil {
		return nil, err
	}
	ids, texts := table.Vector{Kind: table.Int}, table.Vector{Kind: table.Text}
	ids.Reset(int(b.rows))
	texts.Reset(int(b.rows))
	if err := decodeInts(cells[number], &ids, int(b.rows)); err != nil {
		return nil, t.columnFault(o, b, "id", err)
	}
	if err := decodeTexts(cells[value], &texts, int(b.rows)); err != nil {
		return nil, t.columnFault(o, b, "value", err)
	}
	for i, n := range ids.Ints {
		if n != first+int64(i) {
			return nil, t.fault(o, b.at, "malformed: row %d has id %d, want %d: ids go up by one from 1", i+1, n, first+int64(i))
		}
	}
	return texts.Texts, nil
}
