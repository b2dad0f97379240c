package page

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// maxPageLine bounds a line, and a row whose cells hold line ends.
const maxPageLine = 16 << 20

// pageLines reads lines of any length up to maxPageLine, without their ends.
type pageLines struct {
	name   string
	r      *bufio.Reader
	text   []byte // the line; valid until the next one is read
	number int    // of the line, from 1
	long   []byte
	again  bool
}

func newPageLines(r io.Reader, name string) *pageLines {
	return &pageLines{name: name, r: bufio.NewReaderSize(asUTF8(r), 256<<10)}
}

// next reads the next line; false at the end of the file.
func (l *pageLines) next() (bool, error) {
	if l.again {
		l.again = false
		return true, nil
	}
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.rest(line)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("%s: line %d: %w", l.name, l.number+1, err)
	}
	if len(line) == 0 {
		return false, nil
	}
	l.number++
	l.text = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
	return true, nil
}

// rest collects a line longer than the reader's buffer.
func (l *pageLines) rest(begin []byte) ([]byte, error) {
	l.long = append(l.long[:0], begin...)
	for {
		more, err := l.r.ReadSlice('\n')
		if len(l.long)+len(more) > maxPageLine {
			return nil, fmt.Errorf("%w: it has more than %d bytes", ErrLongLine, maxPageLine)
		}
		l.long = append(l.long, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
	}
}

// unread makes next give the same line once more.
func (l *pageLines) unread() { l.again = true }

// asUTF8 decodes text with a byte order mark: a console on Windows redirects output as UTF-16. Other text stays as it is.
func asUTF8(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	mark, _ := b.Peek(3)
	switch {
	case bytes.HasPrefix(mark, []byte("\xef\xbb\xbf")):
		_, _ = b.Discard(len("\xef\xbb\xbf"))
	case bytes.HasPrefix(mark, []byte("\xff\xfe")):
		return &utf16Reader{r: b, low: 0}
	case bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return &utf16Reader{r: b, low: 1}
	}
	return b
}

// utf16Reader turns UTF-16 into UTF-8. The byte order mark becomes a mark in UTF-8 and is dropped.
type utf16Reader struct {
	r    *bufio.Reader
	low  int // place of the low byte within a unit
	out  []byte
	high uint16 // first half of a surrogate pair that awaits its second; 0 for none
	any  bool
}

func (u *utf16Reader) Read(into []byte) (int, error) {
	for len(u.out) == 0 {
		var unit [2]byte
		if _, err := io.ReadFull(u.r, unit[:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			return 0, err
		}
		u.add(uint16(unit[u.low]) | uint16(unit[1-u.low])<<8)
	}
	n := copy(into, u.out)
	u.out = u.out[:copy(u.out, u.out[n:])]
	return n, nil
}

func (u *utf16Reader) add(unit uint16) {
	c := rune(unit)
	switch {
	case u.high != 0:
		c = utf16.DecodeRune(rune(u.high), c)
		u.high = 0
	case utf16.IsSurrogate(c) && c < 0xdc00:
		u.high = unit
		return
	}
	if first := !u.any; first {
		u.any = true
		if c == 0xfeff {
			return
		}
	}
	u.out = utf8.AppendRune(u.out, c)
}
