package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	headerSize = 100
	magic      = "SQLite format 3\x00"
	// minUsable is the least usable page size the format allows (section 1.3.4).
	minUsable = 480
)

// header is what the reader needs of the database header (section 1.3 of the file format).
type header struct {
	pageSize int
	usable   int // pageSize less the reserved bytes at each page's end
	pages    uint32
}

// readHeader checks the database header against a file of size bytes.
func readHeader(r io.ReaderAt, size int64, name string) (header, error) {
	fail := func(msg string, err error) (header, error) {
		return header{}, &Error{File: name, Msg: msg, Err: err}
	}
	if size <= 0 {
		return fail("the file is empty", ErrNotSQLite)
	}
	var b [headerSize]byte
	n, err := r.ReadAt(b[:min(size, headerSize)], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fail("reading the header", err)
	}
	if n < len(magic) || string(b[:len(magic)]) != magic {
		return fail("", ErrNotSQLite)
	}
	if n < headerSize {
		return fail(fmt.Sprintf("%d bytes are fewer than the header has", size), ErrTruncated)
	}
	h, err := parseHeader(b[:])
	if err != nil {
		return fail("", err)
	}
	if err := h.countPages(b[:], size); err != nil {
		return fail("", err)
	}
	return h, nil
}

// parseHeader checks the header's fixed fields and gives the page geometry.
func parseHeader(b []byte) (header, error) {
	h := header{pageSize: int(binary.BigEndian.Uint16(b[16:]))}
	if h.pageSize == 1 { // 65536 does not fit the field
		h.pageSize = 65536
	}
	h.usable = h.pageSize - int(b[20])
	encoding, schemaFormat := binary.BigEndian.Uint32(b[56:]), binary.BigEndian.Uint32(b[44:])
	switch {
	case h.pageSize < 512 || h.pageSize&(h.pageSize-1) != 0:
		return h, fmt.Errorf("malformed header: page size %d", h.pageSize)
	case h.usable < minUsable:
		return h, fmt.Errorf("malformed header: %d reserved bytes in pages of %d", b[20], h.pageSize)
	case b[21] != 64 || b[22] != 32 || b[23] != 32:
		return h, fmt.Errorf("malformed header: payload fractions %d, %d, %d", b[21], b[22], b[23])
	case b[19] > 2:
		return h, fmt.Errorf("read version %d is not supported", b[19])
	case encoding == 2 || encoding == 3:
		return h, ErrUTF16
	case encoding > 3:
		return h, fmt.Errorf("malformed header: text encoding %d", encoding)
	case schemaFormat > 4:
		return h, fmt.Errorf("schema format %d is not supported", schemaFormat)
	}
	return h, nil
}

// countPages sets the page count. The header's own count holds only while the change counter equals
// version-valid-for; writers before 3.7.0 leave it stale, and then the file's size counts (section 1.3.7).
func (h *header) countPages(b []byte, size int64) error {
	whole := size / int64(h.pageSize)
	counted := int64(binary.BigEndian.Uint32(b[28:]))
	valid := counted != 0 && binary.BigEndian.Uint32(b[24:]) == binary.BigEndian.Uint32(b[92:])
	switch {
	case valid && counted > whole:
		return fmt.Errorf("%w: page %d of %d is missing", ErrTruncated, whole+1, counted)
	case !valid && whole == 0:
		return fmt.Errorf("%w: %d bytes are less than one page of %d", ErrTruncated, size, h.pageSize)
	case !valid:
		counted = min(whole, 1<<32-2)
	}
	h.pages = uint32(counted)
	return nil
}
