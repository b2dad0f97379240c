package sqlite

import "encoding/binary"

// Types of pages of a table's tree (1.6).
const (
	interiorTable = 5
	leafTable     = 13
)

// page is one of a tree: cells grow from its end, pointers to them from its start.
type page struct {
	data  []byte
	begin int // of its own header
	head  int // size of that
	cells int
	free  int // end of the room between
}

func newPage(size int, kind byte, begin int) *page {
	p := &page{data: make([]byte, size), begin: begin, head: 8, free: size}
	if kind == interiorTable {
		p.head = 12
	}
	p.data[begin] = kind
	return p
}

func (p *page) fits(cell int) bool { return p.begin+p.head+2*(p.cells+1)+cell <= p.free }

func (p *page) put(cell []byte) {
	p.free -= len(cell)
	copy(p.data[p.free:], cell)
	binary.BigEndian.PutUint16(p.data[p.begin+p.head+2*p.cells:], uint16(p.free))
	p.cells++
}

// bytes is the page with its header.
func (p *page) bytes() []byte {
	binary.BigEndian.PutUint16(p.data[p.begin+3:], uint16(p.cells))
	binary.BigEndian.PutUint16(p.data[p.begin+5:], uint16(p.free)) // 0 stands for 65,536, which no page of ours has
	return p.data
}

// tree is that of a table, whose rows come in the order of their ids. Leaves are written as they fill; what lies above them at the end.
type tree struct {
	w        *Writer
	leaf     *page
	last     int64 // row on it
	children []child
}

// child is a page with the id of the last row below it.
type child struct {
	page uint32
	last int64
}

func (t *tree) add(row int64, record []byte) error {
	cell, err := t.w.cell(row, record)
	if err != nil {
		return err
	}
	if t.leaf != nil && !t.leaf.fits(len(cell)) {
		if err := t.flush(); err != nil {
			return err
		}
	}
	if t.leaf == nil {
		t.leaf = newPage(t.w.size, leafTable, 0)
	}
	t.leaf.put(cell)
	t.last = row
	return nil
}

func (t *tree) flush() error {
	number, err := t.w.page()
	if err != nil {
		return err
	}
	t.children = append(t.children, child{number, t.last})
	err = t.w.write(number, t.leaf.bytes())
	t.leaf = nil
	return err
}

// end writes the last leaf and the pages above, and gives the root.
func (t *tree) end() (root uint32, err error) {
	if t.leaf == nil { // a table without rows is an empty leaf; else the last leaf has a row at least
		t.leaf = newPage(t.w.size, leafTable, 0)
	}
	if err := t.flush(); err != nil {
		return 0, err
	}
	for level := t.children; ; {
		if len(level) == 1 {
			return level[0].page, nil
		}
		if level, err = t.w.above(level); err != nil {
			return 0, err
		}
	}
}

const mostCell = 4 + 9 // bytes of an interior page's

// above writes the pages over a level: of each, the last child has no cell of its own.
func (w *Writer) above(level []child) (out []child, err error) {
	var p *page
	flush := func(right child) error {
		binary.BigEndian.PutUint32(p.data[8:], right.page)
		number, err := w.page()
		if err != nil {
			return err
		}
		out = append(out, child{number, right.last})
		return w.write(number, p.bytes())
	}
	for i, c := range level {
		if p == nil {
			p = newPage(w.size, interiorTable, 0)
		}
		cell := appendVarint(binary.BigEndian.AppendUint32(nil, c.page), uint64(c.last))
		left := len(level) - 1 - i
		isFull := !p.fits(len(cell)) || left == 2 && !p.fits(2*(mostCell+2)) // so that the last page has two children at least
		if left > 0 && !isFull {
			p.put(cell)
			continue
		}
		if err := flush(c); err != nil {
			return nil, err
		}
		p = nil
	}
	return out, nil
}

// cell is a row of a leaf (1.6): what a page has no room for goes to pages of its own, each of which names the next.
func (w *Writer) cell(row int64, record []byte) ([]byte, error) {
	cell := appendVarint(appendVarint(nil, uint64(len(record))), uint64(row))
	most := w.size - 35
	if len(record) <= most {
		return append(cell, record...), nil
	}
	least := (w.size-12)*32/255 - 23
	here := least + (len(record)-least)%(w.size-4)
	if here > most {
		here = least
	}
	cell, rest := append(cell, record[:here]...), record[here:]
	number, err := w.page()
	if err != nil {
		return nil, err
	}
	cell = binary.BigEndian.AppendUint32(cell, number)
	for len(rest) > 0 {
		data := make([]byte, w.size)
		rest = rest[copy(data[4:], rest):]
		at := number
		if len(rest) > 0 {
			if number, err = w.page(); err != nil {
				return nil, err
			}
			binary.BigEndian.PutUint32(data, number)
		}
		if err := w.write(at, data); err != nil {
			return nil, err
		}
	}
	return cell, nil
}
