package sqlite

import (
	"encoding/binary"
	"math"

	"prof/ingest/nsys/table"
)

// loadRule says how to get an integer out of the eight bytes at its place, without branches: shift right, mask, add.
type loadRule struct {
	mask  int64 // 0 for values that take no bytes
	shift uint8
	add   uint8 // the 1 of serial type 9
	flags uint8
}

// Flags of a loadRule.
const (
	isNull  = 1 << iota
	isOther // no integer, or one that was spilled
)

var loadRules = func() (rules [256]loadRule) {
	for code := range rules {
		r := &rules[code]
		switch {
		case code == 0:
			r.flags = isNull
		case code <= 6:
			r.mask, r.shift = -1, 64-8*sizes[code]
		case code == 9:
			r.add = 1
		case code != 8:
			r.flags = isOther
		}
	}
	return rules
}()

// decode decodes the block's first n rows into the vectors, from row at. Blocks never cross a word of NULL bits.
func (c *cursor) decode(at, n int) error {
	for i, source := range c.plan.source {
		v := &c.cols[i]
		var nulls uint64
		var err error
		switch {
		case source == missingColumn || n == 0:
		case source == rowidColumn:
			err = c.decodeRowids(v, i, at, n)
		case v.Kind == table.Int:
			nulls, err = c.decodeInts(v.Ints[at:at+n], i, &c.block.pos[source])
		case v.Kind == table.Float:
			nulls, err = c.decodeFloats(v.Floats[at:at+n], i, &c.block.pos[source])
		default:
			nulls, err = c.decodeTexts(v.Texts[at:at+n], i, source)
		}
		if err != nil {
			return err
		}
		if nulls != 0 {
			v.Nulls[at/blockRows] |= nulls << (at % blockRows)
			v.HasNull = true
		}
	}
	return nil
}

// decodeRowids fills a column that is an alias of the rowid: its record holds NULL.
func (c *cursor) decodeRowids(v *table.Vector, want, at, n int) error {
	switch v.Kind {
	case table.Int:
		copy(v.Ints[at:at+n], c.block.rowids[:n])
	case table.Float:
		for r, id := range c.block.rowids[:n] {
			v.Floats[at+r] = float64(id)
		}
	default:
		return c.mismatch(0, want, 6)
	}
	return nil
}

// decodeInts decodes integers and NULLs; the loop only notes whether there are NULLs and other values.
func (c *cursor) decodeInts(dst []int64, want int, pos *[blockRows]uint32) (nulls uint64, err error) {
	buf, flags := c.buf, uint8(0)
	for r, p := range pos[:len(dst)] {
		rule := &loadRules[uint8(p)]
		x := int64(binary.BigEndian.Uint64(buf[p>>8:]))
		dst[r] = x>>(rule.shift&63)&rule.mask + int64(rule.add)
		flags |= rule.flags
	}
	if flags&isOther != 0 {
		if err := c.decodeOtherInts(dst, want, pos); err != nil {
			return 0, err
		}
	}
	if flags&isNull != 0 {
		nulls = nullBits(pos[:len(dst)])
	}
	return nulls, nil
}

// decodeOtherInts decodes the integers that were spilled.
func (c *cursor) decodeOtherInts(dst []int64, want int, pos *[blockRows]uint32) error {
	for r, p := range pos[:len(dst)] {
		if loadRules[uint8(p)].flags&isOther == 0 {
			continue
		}
		s := c.valueAt(p)
		if !isInt(s.serial) {
			return c.mismatch(r, want, s.serial)
		}
		dst[r] = loadInt(s)
	}
	return nil
}

// nullBits has a bit set for each NULL.
func nullBits(pos []uint32) (bits uint64) {
	for r, p := range pos {
		bits |= uint64((p&0xff-1)>>31) << (r & 63) // 1 for serial type 0
	}
	return bits
}

// decodeFloats decodes numbers and NULLs. SQLite stores a real without fraction as an integer to save space.
func (c *cursor) decodeFloats(dst []float64, want int, pos *[blockRows]uint32) (nulls uint64, err error) {
	buf := c.buf
	for r, p := range pos[:len(dst)] {
		rule := &loadRules[uint8(p)]
		switch {
		case uint8(p) == 7:
			dst[r] = math.Float64frombits(binary.BigEndian.Uint64(buf[p>>8:]))
			continue
		case rule.flags&isOther == 0:
			x := int64(binary.BigEndian.Uint64(buf[p>>8:]))
			dst[r] = float64(x>>(rule.shift&63)&rule.mask + int64(rule.add))
			continue
		}
		s := c.valueAt(p)
		switch {
		case s.serial == 7:
			dst[r] = math.Float64frombits(binary.BigEndian.Uint64(s.data))
		case isInt(s.serial):
			dst[r] = float64(loadInt(s))
		default:
			return 0, c.mismatch(r, want, s.serial)
		}
	}
	return nullBits(pos[:len(dst)]), nil
}

// decodeTexts decodes texts and NULLs.
func (c *cursor) decodeTexts(dst []string, want, source int) (nulls uint64, err error) {
	pos, next := &c.block.pos[source], &c.block.pos[source+1]
	for r, p := range pos[:len(dst)] {
		if uint8(p) == 0 {
			dst[r] = ""
			nulls |= 1 << (r & 63)
			continue
		}
		s := spill{serial: uint64(uint8(p))}
		if s.serial == spillCode {
			s = c.block.spills[p>>8]
		} else if s.serial >= 12 {
			s.data = c.buf[p>>8 : next[r]>>8]
		}
		if s.serial < 13 || s.serial%2 == 0 {
			return 0, c.mismatch(r, want, s.serial)
		}
		dst[r] = c.intern[want].text(s.data)
		c.texts += len(s.data)
	}
	return nulls, nil
}

// valueAt returns a value that is no plain integer; the bytes only of a spilled one.
func (c *cursor) valueAt(p uint32) spill {
	if uint8(p) == spillCode {
		return c.block.spills[p>>8]
	}
	return spill{serial: uint64(uint8(p))}
}

func isInt(serial uint64) bool { return serial >= 1 && serial <= 9 && serial != 7 }

// loadInt decodes an integer from bytes of its own.
func loadInt(s spill) int64 {
	if s.serial >= 8 {
		return int64(s.serial - 8)
	}
	var x uint64
	for _, b := range s.data {
		x = x<<8 | uint64(b)
	}
	free := 64 - 8*len(s.data)
	return int64(x<<free) >> free
}

// mismatch says that a value is not of the wanted kind.
func (c *cursor) mismatch(r, want int, serial uint64) error {
	stored := "an integer"
	switch {
	case serial == 7:
		stored = "a real"
	case serial == 10 || serial == 11:
		stored = "a value of a reserved type"
	case serial >= 12 && serial%2 == 0:
		stored = "a blob"
	case serial >= 13:
		stored = "text"
	}
	w := c.plan.wants[want]
	e := c.rowFault(r, "%s is stored where %s is expected", stored, [...]string{"an integer", "a number", "text"}[w.Kind])
	e.Column = w.Name
	return e
}
