package arrow

import "encoding/binary"

// flat reads the FlatBuffers of a message. What lies outside of it reads as 0 and sets bad, so that callers check once.
type flat struct {
	b   []byte
	bad bool
}

func (f *flat) bytes(at, n int) []byte {
	if at < 0 || n < 0 || at > len(f.b)-n {
		f.bad = true
		return make([]byte, min(max(n, 0), 8))
	}
	return f.b[at : at+n]
}

func (f *flat) u16(at int) int     { return int(binary.LittleEndian.Uint16(f.bytes(at, 2))) }
func (f *flat) u32(at int) int     { return int(binary.LittleEndian.Uint32(f.bytes(at, 4))) }
func (f *flat) i64(at int) int64   { return int64(binary.LittleEndian.Uint64(f.bytes(at, 8))) }
func (f *flat) byteAt(at int) byte { return f.bytes(at, 1)[0] }

// object is a table of a FlatBuffer.
type object struct {
	*flat
	at, fields int // fields is where its vtable is
}

// object follows the reference at a place.
func (f *flat) object(at int) object {
	at += f.u32(at)
	return object{f, at, at - int(int32(f.u32(at)))}
}

// field returns the place of a field; 0 where the table lacks it.
func (o object) field(i int) int {
	if 4+2*i >= o.u16(o.fields) {
		return 0
	}
	if off := o.u16(o.fields + 4 + 2*i); off > 0 {
		return o.at + off
	}
	return 0
}

// vector returns the place of the first element of a vector in a field, and how many there are, of so many bytes.
func (o object) vector(i, size int) (at, n int) {
	at = o.field(i)
	if at == 0 {
		return 0, 0
	}
	at += o.u32(at)
	if n = o.u32(at); n > len(o.b)/size {
		o.bad = true
		return 0, 0
	}
	return at + 4, n
}

func (o object) text(i int) string {
	at, n := o.vector(i, 1)
	if at == 0 || at > len(o.b)-n {
		o.bad = o.bad || at != 0
		return ""
	}
	return string(o.b[at : at+n])
}

func (o object) small(i int) byte {
	if at := o.field(i); at > 0 {
		return o.byteAt(at)
	}
	return 0
}

func (o object) long(i int) int64 {
	if at := o.field(i); at > 0 {
		return o.i64(at)
	}
	return 0
}
