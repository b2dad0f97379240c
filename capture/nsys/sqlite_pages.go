package nsys

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// sqliteMagic is what a SQLite database begins with.
const sqliteMagic = "SQLite format 3\x00"

// pages is a SQLite database whose texts can be overwritten in place. The layout is that of https://www.sqlite.org/fileformat2.html:
// a table's rows are cells of its leaf pages; what of a row does not fit there lies in a chain of overflow pages.
type pages struct {
	f      *os.File
	size   int64 // of a page
	usable int64 // of a page, without what is reserved at its end
	count  int64
}

// text is a value of a row, and where its bytes lie.
type text struct {
	bytes []byte
	at    []int64 // offset of each byte in the file
}

// Sizes and marks of the format.
const (
	fileHeader    = 100
	leafTable     = 0x0d
	pageLink      = 4 // number of the next overflow page
	maxRowBytes   = 64 << 20
	firstText     = 12 // serial types from here on are blobs (even) and texts (odd)
	longestVarint = 9
)

func openPages(f *os.File) (*pages, error) {
	var head [fileHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:16]) != sqliteMagic {
		return nil, errors.New("it is not an SQLite database")
	}
	p := &pages{f: f, size: int64(binary.BigEndian.Uint16(head[16:]))}
	if p.size == 1 {
		p.size = 1 << 16
	}
	p.usable = p.size - int64(head[20])
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if p.size < 512 || p.usable < 480 || st.Size()%p.size != 0 {
		return nil, errors.New("its header has an impossible page size or count")
	}
	p.count = st.Size() / p.size
	return p, nil
}

// texts visits every text and blob of the rows that holds one of some words. Pages that are in no table any more are looked at like the
// others.
func (p *pages) texts(words [][]byte, visit func(text) error) error {
	has := func(b []byte) bool {
		return slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(b, w) })
	}
	page := make([]byte, p.size)
	for n := int64(1); n <= p.count; n++ {
		if _, err := p.f.ReadAt(page, (n-1)*p.size); err != nil {
			return err
		}
		head := int64(0)
		if n == 1 {
			head = fileHeader
		}
		if page[head] != leafTable {
			continue
		}
		holds := has(page)
		cells := int64(binary.BigEndian.Uint16(page[head+3:]))
		for i := range cells {
			at := head + 8 + 2*i
			if at+2 > p.usable {
				break
			}
			row, err := p.row(n, page, int64(binary.BigEndian.Uint16(page[at:])), holds)
			if err != nil {
				return fmt.Errorf("page %d: %w", n, err)
			}
			for _, t := range row.columns() {
				if has(t.bytes) {
					if err := visit(t); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// row reads the cell at an offset of a leaf page: all of a row. One that lies in the page alone is read where that holds a word.
func (p *pages) row(n int64, page []byte, at int64, holds bool) (text, error) {
	if at >= p.usable {
		return text{}, errors.New("a row begins after the end of its page")
	}
	length, w := varint(page[at:p.usable])
	_, w2 := varint(page[min(at+w, p.usable):p.usable])
	at += w + w2
	local := p.local(length)
	if w == 0 || w2 == 0 || length < 0 || length > maxRowBytes || at+local > p.usable {
		return text{}, errors.New("a row does not fit in its page")
	}
	if local == length && !holds {
		return text{}, nil
	}
	base := (n - 1) * p.size
	t := text{}
	t.add(page[at:at+local], base+at)
	if local == length {
		return t, nil
	}
	if at+local+pageLink > p.usable {
		return text{}, errors.New("a row does not fit in its page")
	}
	next := int64(binary.BigEndian.Uint32(page[at+local:]))
	buf := make([]byte, p.usable)
	for left := length - local; left > 0; {
		if next < 1 || next > p.count {
			return text{}, errors.New("a row continues in a page that does not exist")
		}
		base := (next - 1) * p.size
		if _, err := p.f.ReadAt(buf, base); err != nil && err != io.EOF {
			return text{}, err
		}
		some := min(left, p.usable-pageLink)
		t.add(buf[pageLink:pageLink+some], base+pageLink)
		left -= some
		next = int64(binary.BigEndian.Uint32(buf))
	}
	return t, nil
}

// local is how much of a row of some length lies in its leaf page.
func (p *pages) local(length int64) int64 {
	if most := p.usable - 35; length <= most {
		return length
	}
	least := (p.usable-12)*32/255 - 23
	k := least + (length-least)%(p.usable-pageLink)
	if k <= p.usable-35 {
		return k
	}
	return least
}

func (t *text) add(b []byte, at int64) {
	t.bytes = append(t.bytes, b...)
	for i := range b {
		t.at = append(t.at, at+int64(i))
	}
}

// columns returns the texts and blobs of a row. A row whose header is not whole has none.
func (t text) columns() (out []text) {
	header, w := varint(t.bytes)
	if w == 0 || header > int64(len(t.bytes)) {
		return nil
	}
	from := header
	for at := w; at < header; {
		serial, w := varint(t.bytes[at:header])
		if w == 0 {
			return out
		}
		at += w
		to := from + serialBytes(serial)
		if to > int64(len(t.bytes)) || to < from {
			return out
		}
		if serial >= firstText {
			out = append(out, text{t.bytes[from:to], t.at[from:to]})
		}
		from = to
	}
	return out
}

// serialBytes is the length of a value by its serial type.
func serialBytes(serial int64) int64 {
	switch {
	case serial >= firstText:
		return (serial - firstText) / 2
	case serial == 5:
		return 6
	case serial == 6, serial == 7:
		return 8
	case serial >= 1 && serial <= 4:
		return serial
	}
	return 0
}

// varint reads SQLite's variable-length integer and gives how many bytes it takes, 0 where it is not whole.
func varint(b []byte) (value, width int64) {
	for i := int64(0); i < int64(len(b)) && i < longestVarint; i++ {
		if i == longestVarint-1 {
			return value<<8 | int64(b[i]), i + 1
		}
		value = value<<7 | int64(b[i]&0x7f)
		if b[i]&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// write puts bytes in the place of a text's, piece by piece as they lie in the file.
func (p *pages) write(t text, b []byte) error {
	for from := 0; from < len(b); {
		to := from + 1
		for to < len(b) && t.at[to] == t.at[to-1]+1 {
			to++
		}
		if _, err := p.f.WriteAt(b[from:to], t.at[from]); err != nil {
			return err
		}
		from = to
	}
	return nil
}
