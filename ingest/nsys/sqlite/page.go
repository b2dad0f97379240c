package sqlite

import "encoding/binary"

// B-tree page types of table b-trees (section 1.6).
const (
	interiorPage = 5
	leafPage     = 13
)

// maxDepth bounds the levels of a b-tree, as SQLite does: with two children a page it covers any file.
const maxDepth = 20

// node is a checked view of one b-tree page's header and cell pointer array.
type node struct {
	data  []byte // the usable bytes of the page
	page  uint32
	kind  byte
	cells int
	ptrs  int // offset of the cell pointer array
}

// parseNode checks a page's b-tree header. The schema's root page starts with the database header.
func (f *File) parseNode(t *tableInfo, page uint32, data []byte) (node, error) {
	at := 0
	if page == 1 {
		at = headerSize
	}
	n := node{data: data[:f.usable], page: page, kind: data[at], ptrs: at + 8}
	switch n.kind {
	case leafPage:
	case interiorPage:
		n.ptrs += 4
	default:
		return n, f.fault(t, page, "malformed: %d is not the type of a table page", n.kind)
	}
	n.cells = int(binary.BigEndian.Uint16(data[at+3:]))
	if n.ptrs+2*n.cells > f.usable {
		return n, f.fault(t, page, "malformed: %d cells do not fit a page of %d bytes", n.cells, f.usable)
	}
	return n, nil
}

// readNode reads and checks one page into buf, which must hold a page.
func (f *File) readNode(t *tableInfo, page uint32, buf []byte) (node, error) {
	if err := f.readPages(t, page, buf[:f.pageSize]); err != nil {
		return node{}, err
	}
	return f.parseNode(t, page, buf[:f.pageSize])
}

// cell returns the bytes from the i-th cell's start to the page's end, nil when the pointer is malformed.
func (n *node) cell(i int) []byte {
	p := int(binary.BigEndian.Uint16(n.data[n.ptrs+2*i:]))
	if p < n.ptrs+2*n.cells || p >= len(n.data) {
		return nil
	}
	return n.data[p:]
}

// child returns an interior page's i-th child; the one behind the last cell is the right-most pointer. It gives 0,
// which is no page, when the cell is malformed.
func (n *node) child(i int) uint32 {
	if i == n.cells {
		return binary.BigEndian.Uint32(n.data[n.ptrs-4:])
	}
	c := n.cell(i)
	if len(c) < 4 {
		return 0
	}
	return binary.BigEndian.Uint32(c)
}
