package arrow

import (
	"encoding/binary"
	"math"
)

// Streams as nsys writes them, made for tests.

// ref is a field of a FlatBuffer's table that refers to what follows behind it.
type ref func(w *flatWriter) (at int)

// flatWriter writes a FlatBuffer: each table before what it refers to.
type flatWriter struct{ b []byte }

func (w *flatWriter) align(n int) {
	for len(w.b)%n > 0 {
		w.b = append(w.b, 0)
	}
}

// table writes a table of fields, which are numbers, truth values, refs, or nil where they are not there.
func (w *flatWriter) table(fields ...any) int {
	w.align(8)
	vtable := len(w.b)
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(4+2*len(fields)))
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(8+8*len(fields)))
	for i, f := range fields {
		off := 8 + 8*i
		if f == nil {
			off = 0
		}
		w.b = binary.LittleEndian.AppendUint16(w.b, uint16(off))
	}
	w.align(8)
	at := len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(at-vtable))
	w.b = append(w.b, make([]byte, 4+8*len(fields))...)
	for i, f := range fields {
		place := at + 8 + 8*i
		switch v := f.(type) {
		case int:
			binary.LittleEndian.PutUint64(w.b[place:], uint64(v))
		case bool:
			w.b[place] = map[bool]byte{true: 1}[v]
		case ref:
			to := v(w)
			binary.LittleEndian.PutUint32(w.b[place:], uint32(to-place))
		}
	}
	return at
}

func tableOf(fields ...any) ref { return func(w *flatWriter) int { return w.table(fields...) } }

func textOf(s string) ref {
	return func(w *flatWriter) int {
		w.align(4)
		at := len(w.b)
		w.b = append(append(binary.LittleEndian.AppendUint32(w.b, uint32(len(s))), s...), 0)
		return at
	}
}

// listOf writes a vector of tables.
func listOf(items ...ref) ref {
	return func(w *flatWriter) int {
		w.align(4)
		at := len(w.b)
		w.b = append(binary.LittleEndian.AppendUint32(w.b, uint32(len(items))), make([]byte, 4*len(items))...)
		for i, item := range items {
			place := at + 4 + 4*i
			to := item(w)
			binary.LittleEndian.PutUint32(w.b[place:], uint32(to-place))
		}
		return at
	}
}

// pairsOf writes a vector of pairs of 64-bit numbers.
func pairsOf(pairs [][2]int) ref {
	return func(w *flatWriter) int {
		for len(w.b)%8 != 4 {
			w.b = append(w.b, 0)
		}
		at := len(w.b)
		w.b = binary.LittleEndian.AppendUint32(w.b, uint32(len(pairs)))
		for _, p := range pairs {
			w.b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(w.b, uint64(p[0])), uint64(p[1]))
		}
		return at
	}
}

// framed is a message with its values.
func framed(kind int, header ref, body []byte) []byte {
	w := &flatWriter{b: make([]byte, 4)}
	root := w.table(4, kind, header, len(body))
	binary.LittleEndian.PutUint32(w.b, uint32(root))
	w.align(8)
	out := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(len(w.b)))
	return append(append(out, w.b...), body...)
}

// madeColumn is a column: its type, and its values, nil for NULL.
type madeColumn struct {
	name   string
	typ    int
	field  ref // of the type
	width  int
	values []any
}

func intColumn(name string, bits int, signed bool, values ...any) madeColumn {
	return madeColumn{name, intType, tableOf(bits, signed), bits / 8, values}
}

func textColumn(name string, width int, values ...any) madeColumn {
	return madeColumn{name, map[int]int{4: utf8Type, 8: largeUtf8Type}[width], tableOf(), width, values}
}

func floatColumn(name string, width int, values ...any) madeColumn {
	return madeColumn{name, floatType, tableOf(map[int]int{4: 1, 8: 2}[width]), width, values}
}

func boolColumn(name string, values ...any) madeColumn {
	return madeColumn{name, boolType, tableOf(), 0, values}
}

// madeStream is a table in batches of some rows.
func madeStream(table string, perBatch int, columns ...madeColumn) []byte {
	var fields []ref
	for _, c := range columns {
		fields = append(fields, tableOf(textOf(c.name), true, c.typ, c.field))
	}
	out := framed(schemaType, tableOf(0, listOf(fields...), listOf(tableOf(textOf("table_name"), textOf(table)))), nil)
	rows := len(columns[0].values)
	for from := 0; from < rows || from == 0; from += perBatch {
		n := min(perBatch, rows-from)
		var body []byte
		var nodes, buffers [][2]int
		add := func(b []byte) {
			buffers = append(buffers, [2]int{len(body), len(b)})
			for body = append(body, b...); len(body)%8 > 0; {
				body = append(body, 0)
			}
		}
		for _, c := range columns {
			valid, data, chars, nulls := make([]byte, (n+7)/8), []byte{}, []byte{}, 0
			if c.typ == boolType {
				data = make([]byte, (n+7)/8)
			}
			offset := func() { data = binary.LittleEndian.AppendUint64(data, uint64(len(chars)))[:len(data)+c.width] }
			for i, v := range c.values[from : from+n] {
				if v != nil {
					valid[i/8] |= 1 << (i % 8)
				} else {
					nulls++
				}
				switch c.typ {
				case intType:
					number, _ := v.(int)
					data = binary.LittleEndian.AppendUint64(data, uint64(number))[:len(data)+c.width]
				case floatType:
					number, _ := v.(float64)
					if c.width == 4 {
						data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(number)))
					} else {
						data = binary.LittleEndian.AppendUint64(data, math.Float64bits(number))
					}
				case boolType:
					if v == true {
						data[i/8] |= 1 << (i % 8)
					}
				default:
					offset()
					text, _ := v.(string)
					chars = append(chars, text...)
				}
			}
			nodes = append(nodes, [2]int{n, nulls})
			if nulls == 0 {
				valid = nil
			}
			add(valid)
			if c.typ == utf8Type || c.typ == largeUtf8Type {
				offset()
				add(data)
				add(chars)
			} else {
				add(data)
			}
		}
		out = append(out, framed(recordBatch, tableOf(n, pairsOf(nodes), pairsOf(buffers)), body)...)
	}
	return append(out, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)
}
