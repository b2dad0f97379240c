package sqlite

import (
	"encoding/binary"
)

// block is up to blockRows rows whose values are located but not yet decoded.
type block struct {
	rowids [blockRows]int64
	pages  [blockRows]uint32
	// pos holds, per record column and row, the value's offset in the read buffer shifted left by 8, and its serial
	// type, 12 or 13 for one of two bytes, or one of the codes below. The entry behind a text's gives where it ends.
	pos    [][blockRows]uint32
	spills []spill
}

// spillCode stands in pos for a value that does not lie in the buffer as it is: the upper bits index spills.
const spillCode = 255

// spill is a value that was put together from overflow pages, is long, or comes from a column's DEFAULT.
type spill struct {
	serial uint64
	data   []byte
}

// sizes gives the bytes of a value by serial types of one byte (section 2.1). 10 and 11 never occur in a file.
var sizes = func() (s [256]uint8) {
	copy(s[:], []uint8{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0})
	for i := 12; i < 128; i++ {
		s[i] = uint8((i - 12) / 2)
	}
	return s
}()

// locate finds the values of up to limit rows, as far as the run in the buffer goes.
func (c *cursor) locate(limit int) (int, error) {
	c.block.spills = c.block.spills[:0]
	n := 0
	for n < limit {
		if c.leaf.left == 0 {
			if len(c.run) == 0 {
				break
			}
			if err := c.enterLeaf(); err != nil {
				return n, err
			}
			continue
		}
		k := min(limit-n, c.leaf.left)
		if err := c.locateCells(n, n+k); err != nil {
			return n, err
		}
		n += k
		// Cells never overlap; without this check a small file could hold any amount of rows of any length.
		if c.leaf.used > c.f.usable {
			return n, c.f.fault(c.t, c.leaf.page, "malformed: its cells overlap")
		}
	}
	return n, nil
}

// locateCells locates rows [from, to) of the block, which lie in the current leaf.
//
// A cell is: payload size, rowid, record header size, serial types, values (sections 1.6 and 2.1). Nearly always all
// serial types fit one byte and nothing overflows; then one pass over the header's bytes adds up the offsets.
// Everything else goes the slow way, which also makes the error messages.
func (c *cursor) locateCells(from, to int) error {
	buf, l := c.buf, &c.leaf
	end := l.base + c.f.usable
	maxLocal := uint64(c.f.usable - 35)
	depth := len(c.block.pos) - 1
	pos := c.block.pos[:depth]
	for r := from; r < to; r++ {
		at := int(binary.BigEndian.Uint16(buf[l.ptr:]))
		if at < l.low || at >= c.f.usable {
			return c.f.fault(c.t, l.page, "malformed: a cell at offset %d", at)
		}
		l.ptr += 2
		l.left--
		at += l.base
		p := at
		size := uint64(buf[p])
		if p++; size >= 0x80 {
			size, p = varintAt(buf, at)
		}
		rowid := uint64(buf[p])
		if p++; rowid >= 0x80 {
			rowid, p = varintAt(buf, p-1)
		}
		c.block.rowids[r], c.block.pages[r] = int64(rowid), l.page
		head := int(buf[p])
		stop := p + int(size)
		if size > maxLocal || stop > end || head > int(size) || head >= 0x80 || head <= depth {
			if err := c.locateSlow(r, at); err != nil {
				return err
			}
			continue
		}
		types := buf[p+1:][:depth]
		off, all := uint32(p+head), uint8(0)
		for i, t := range types {
			pos[i][r] = off<<8 | uint32(t)
			off += uint32(sizes[t])
			all |= t
		}
		c.block.pos[depth][r] = off << 8
		if all >= 0x80 && !c.locateLong(r, p, p+head, stop) || all < 0x80 && int(off) > stop {
			if err := c.locateSlow(r, at); err != nil {
				return err
			}
			continue
		}
		l.used += stop - at
	}
	return nil
}

// locateLong locates a row that lies in the buffer but has texts of 58 bytes or more, whose serial types take two bytes, as most ranges of emit_nvtx
// do. It reports whether it could; head is the offset at which the record's values begin, stop the one at which they end.
func (c *cursor) locateLong(r, record, head, stop int) bool {
	buf, depth := c.buf, len(c.block.pos)-1
	at, off := record+1, head
	for i := range depth {
		if at >= head {
			return false
		}
		t := buf[at]
		size := int(sizes[t])
		if at++; t >= 0x80 {
			if at >= head || buf[at] >= 0x80 || t == 0x80 {
				return false
			}
			serial := int(t&0x7f)<<7 | int(buf[at])
			at++
			t, size = 12|uint8(serial&1), (serial-12)/2
		}
		c.block.pos[i][r] = uint32(off)<<8 | uint32(t)
		off += size
	}
	c.block.pos[depth][r] = uint32(off) << 8
	return off <= stop
}

// locateSlow locates the row whose cell starts at buf[at], whatever its form.
func (c *cursor) locateSlow(r, at int) error {
	l := &c.leaf
	p := &c.payload
	if err := p.parse(c.f, c.t, l.page, c.buf[at:l.base+c.f.usable], &c.seen); err != nil {
		return err
	}
	l.used += p.head + len(p.local)
	if len(c.plan.need) == 0 {
		return nil
	}
	rec, err := p.fields()
	if err != nil {
		return err
	}
	for i, need := range c.plan.need {
		v, ok, err := rec.next()
		switch {
		case err != nil:
			return err
		case !ok: // the row is older than the column
			err = c.locateDefault(r, i)
		case need:
			err = c.locateValue(r, i, at+p.head, v, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// locateValue notes where one value lies. Values that lie in the buffer, but for texts, are left to the fast decoder.
func (c *cursor) locateValue(r, col, base int, v field, p *payload) error {
	if v.serial < 12 && v.size == 0 { // NULL, 0 and 1 take no bytes, and may come behind the part that lies in the buffer
		c.block.pos[col][r] = uint32(v.serial)
		return nil
	}
	if v.serial < 12 && v.off+v.size <= int64(len(p.local)) {
		c.block.pos[col][r] = uint32(base+int(v.off))<<8 | uint32(v.serial)
		return nil
	}
	data, err := p.read(v.off, v.size)
	if err != nil {
		return err
	}
	c.spill(r, col, spill{v.serial, data})
	return nil
}

// locateDefault gives a row that lacks a column the column's default (ALTER TABLE ADD COLUMN rewrites no rows).
func (c *cursor) locateDefault(r, col int) error {
	switch d := c.t.cols[col].value; {
	case !c.plan.need[col]:
	case !d.known:
		e := c.rowFault(r, "the row predates the column, and DEFAULT values are not supported")
		e.Column = c.t.cols[col].name
		return e
	case d.null:
		c.block.pos[col][r] = 0
	default:
		c.spill(r, col, spill{6, c.t.cols[col].value.bytes[:]})
	}
	return nil
}

func (c *cursor) spill(r, col int, s spill) {
	c.block.pos[col][r] = uint32(len(c.block.spills))<<8 | spillCode
	c.block.spills = append(c.block.spills, s)
}

// rowFault is an error about one row of the block.
func (c *cursor) rowFault(r int, format string, args ...any) *Error {
	e := c.f.fault(c.t, c.block.pages[r], format, args...)
	e.Row, e.HasRow = c.block.rowids[r], true
	return e
}
