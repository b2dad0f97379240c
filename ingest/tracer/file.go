package tracer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"prof/ingest/nsys/table"
	"prof/internal/file"
	"prof/internal/mask"
)

// What docs/trace-format.md says of a file.
const (
	magic      = "proftrc\n"
	version    = 2 // the first one had no payloads of ranges
	fileHead   = 16
	blockMagic = "blk\n"
	blockHead  = 20
	headSummed = 16 // bytes of a block's head that its checksum covers
	maxPayload = 16 << 20
	maxRows    = table.BatchRows
	maxName    = 255
	maxColumns = 255
	maxTables  = 255
)

// Types of blocks.
const (
	tableBlock = iota + 1
	rowsBlock
	snapshotBlock
	endBlock
)

// maxBlocks bounds what is kept of a folder: a program that is traced for a day writes a million.
const maxBlocks = 8 << 20

// maxCut bounds how much is looked at to tell a block that is cut from one with a wrong length.
const maxCut = 4 * maxPayload

// ordinaryEnd is the reason of a trace whose process came to its end.
const ordinaryEnd = "exit"

// maxReason bounds how much is kept of the reason of an end, in bytes.
const maxReason = 1000

// Types of columns.
const (
	intColumn  = 'i'
	textColumn = 't'
)

// block is where a block of rows lies.
type block struct {
	at   int64  // of its head
	size uint32 // of its payload
	rows uint16
	kind uint8
}

// blockTable is a table of one file.
type blockTable struct {
	name     string
	number   uint16
	columns  []column
	blocks   []block // of rows, then the snapshot that counts
	rows     int64
	dropped  []bool // rows of the snapshot that a later block has too; nil for none
	snapshot *block // the last one
}

// column is one of a table's.
type column struct {
	name string
	kind byte
}

// trace is one opened file. It holds no descriptor: a recording may have more files than a process may open.
type trace struct {
	path    string
	name    string // for messages
	index   int    // in the folder
	size    int64
	tables  []*blockTable
	blocks  int
	isDone  bool   // it has an end
	reason  string // why it ended
	cut     int64  // bytes of a last block that is cut
	schemas schemas
}

// openTrace reads the heads of a file's blocks, of which there may be so many.
func openTrace(path, name string, index, most int) (*trace, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t := &trace{path: path, name: name, index: index, size: st.Size()}
	return t, t.read(f, most)
}

// read reads the heads of all blocks.
func (t *trace) read(r io.ReaderAt, most int) error {
	if t.size < fileHead {
		t.cut = t.size
		return nil
	}
	var head [fileHead]byte
	if err := t.readAt(r, head[:], 0); err != nil {
		return err
	}
	if string(head[:8]) != magic {
		return &Error{File: t.name, Err: ErrNotTrace}
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v < 1 || v > version {
		return t.fault(nil, 8, "version %d of the format, this prof reads 1 to %d: update prof", v, version)
	}
	if binary.LittleEndian.Uint32(head[12:]) != 0 {
		return t.fault(nil, 12, "malformed: what is 0 in this version is not")
	}
	for at := int64(fileHead); at < t.size; {
		if t.isDone {
			return t.fault(nil, at, "malformed: %d bytes follow the end", t.size-at)
		}
		next, err := t.readBlock(r, at)
		if err != nil || t.cut > 0 {
			return err
		}
		if t.blocks++; t.blocks > most {
			return t.fault(nil, at, "more than %d blocks", most)
		}
		at = next
	}
	return nil
}

// readBlock takes the block at an offset and gives where the next one begins; of one that is cut it notes the size.
func (t *trace) readBlock(r io.ReaderAt, at int64) (next int64, err error) {
	var head [blockHead]byte
	got := head[:min(blockHead, t.size-at)]
	if err := t.readAt(r, got, at); err != nil {
		return 0, err
	}
	if n := min(len(got), len(blockMagic)); string(got[:n]) != blockMagic[:n] {
		return 0, t.fault(nil, at, "damaged: no block begins here")
	}
	if len(got) < blockHead {
		t.cut = t.size - at
		return 0, nil
	}
	b := block{at: at, size: binary.LittleEndian.Uint32(head[12:]), kind: head[4]}
	rows, number := binary.LittleEndian.Uint32(head[8:]), binary.LittleEndian.Uint16(head[6:])
	switch {
	case b.kind < tableBlock || b.kind > endBlock || head[5] != 0:
		return 0, t.fault(nil, at, "damaged: a block of type %d", binary.LittleEndian.Uint16(head[4:]))
	case b.size > maxPayload:
		return 0, t.fault(nil, at, "damaged: a block of %d bytes, the largest has %d", b.size, maxPayload)
	case rows > maxRows:
		return 0, t.fault(nil, at, "damaged: a block of %d rows, the largest has %d", rows, maxRows)
	}
	b.rows = uint16(rows)
	next = at + blockHead + int64(b.size)
	if next > t.size {
		return 0, t.takeCut(r, at)
	}
	return next, t.take(r, b, number)
}

// takeCut notes a last block that is cut. Where a whole block follows, its length is wrong instead.
func (t *trace) takeCut(r io.ReaderAt, at int64) error {
	rest := make([]byte, t.size-at)
	if err := t.readAt(r, rest, at); err != nil {
		return err
	}
	most := maxCut // of bytes to sum up: anything may be in the payload
	for from := len(blockMagic); ; from++ {
		i := bytes.Index(rest[from:], []byte(blockMagic))
		if i < 0 || len(rest)-from-i < blockHead || most < 0 {
			t.cut = t.size - at
			return nil
		}
		from += i
		size := binary.LittleEndian.Uint32(rest[from+12:])
		if end := int64(from) + blockHead + int64(size); end <= int64(len(rest)) {
			if most -= int(size); !isWhole(rest[from:end]) {
				continue
			}
			return t.fault(nil, at, "damaged: the block says that it is longer than the file, yet another follows at byte %d", at+int64(from))
		}
	}
}

// take takes a block that the file holds whole.
func (t *trace) take(r io.ReaderAt, b block, number uint16) error {
	if b.kind == tableBlock {
		return t.define(r, b, number)
	}
	if b.kind == endBlock {
		t.isDone = true
		if number != 0 || b.rows != 0 {
			return t.fault(nil, b.at, "damaged: an end of table %d with %d rows", number, b.rows)
		}
		end, err := t.readWhole(r, nil, b, nil)
		if err != nil {
			return err
		}
		reason := end[blockHead:]
		t.reason = mask.Text(strings.ToValidUTF8(string(reason[:min(len(reason), maxReason)]), "\uFFFD"))
		return nil
	}
	i := slices.IndexFunc(t.tables, func(o *blockTable) bool { return o.number == number })
	if i < 0 {
		return t.fault(nil, b.at, "malformed: rows of table %d, which is not defined before", number)
	}
	o := t.tables[i]
	switch {
	case b.kind == snapshotBlock:
		o.snapshot = &b
	case b.rows == 0:
		return t.fault(o, b.at, "malformed: a block without rows")
	default:
		o.blocks, o.rows = append(o.blocks, b), o.rows+int64(b.rows)
	}
	return nil
}

// define takes the definition of a table. Number and name of each must be new.
func (t *trace) define(r io.ReaderAt, b block, number uint16) error {
	whole, err := t.readWhole(r, nil, b, nil)
	if err != nil {
		return err
	}
	text := whole[blockHead:]
	bad := func(what string) error { return t.fault(nil, b.at, "malformed: table %d: %s", number, what) }
	o := &blockTable{number: number}
	var ok bool
	if o.name, text, ok = cutName(text); !ok {
		return bad("its name is not one")
	}
	for _, other := range t.tables {
		if other.number == number || other.name == o.name {
			return bad("it is defined twice")
		}
	}
	if b.rows == 0 || b.rows > maxColumns || len(t.tables) == maxTables {
		return bad("too many tables, or no or too many columns")
	}
	for range b.rows {
		var c column
		if c.name, text, ok = cutName(text); !ok || len(text) == 0 {
			return bad("a column's name is not one")
		}
		c.kind, text = text[0], text[1:]
		switch {
		case c.kind != intColumn && c.kind != textColumn:
			return bad("column " + c.name + " is of a type that this prof does not know")
		case o.place(c.name) >= 0:
			return bad("it has two columns " + c.name)
		}
		o.columns = append(o.columns, c)
	}
	if len(text) > 0 {
		return bad("bytes follow its columns")
	}
	t.tables = append(t.tables, o)
	return nil
}

// cutName takes a name off the beginning of a text: letters of a program's kind, since it reaches messages and the warehouse.
func cutName(text []byte) (name string, rest []byte, ok bool) {
	if len(text) < 2 {
		return "", text, false
	}
	n := int(binary.LittleEndian.Uint16(text))
	if text = text[2:]; n == 0 || n > maxName || n > len(text) {
		return "", text, false
	}
	for _, c := range text[:n] {
		if c <= ' ' || c >= utf8.RuneSelf || c == 0x7F {
			return "", text, false
		}
	}
	return string(text[:n]), text[n:], true
}

func (o *blockTable) place(name string) int {
	return slices.IndexFunc(o.columns, func(c column) bool { return c.name == name })
}

func (t *trace) table(name string) *blockTable {
	for _, o := range t.tables {
		if o.name == name {
			return o
		}
	}
	return nil
}

// readWhole reads a block, in buf where that is large enough. The checksum must be right.
func (t *trace) readWhole(r io.ReaderAt, o *blockTable, b block, buf []byte) ([]byte, error) {
	n := blockHead + int(b.size)
	buf = slices.Grow(buf[:0], n)[:n]
	if err := t.readAt(r, buf, b.at); err != nil {
		return nil, err
	}
	if !isWhole(buf) {
		return nil, t.fault(o, b.at, "damaged: the checksum of the block is wrong")
	}
	return buf, nil
}

// isWhole reports whether the checksum of a block is right.
func isWhole(b []byte) bool {
	sum := crc32.ChecksumIEEE(b[:headSummed])
	return string(b[:len(blockMagic)]) == blockMagic && crc32.Update(sum, crc32.IEEETable, b[blockHead:]) == binary.LittleEndian.Uint32(b[headSummed:])
}

// readAt reads what the file had when it was opened.
func (t *trace) readAt(r io.ReaderAt, buf []byte, at int64) error {
	n, err := r.ReadAt(buf, at)
	if n == len(buf) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return t.fault(nil, at+int64(n), "the file was cut while it was read")
	}
	return &Error{File: t.name, At: at, Err: err}
}
