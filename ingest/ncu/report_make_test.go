package ncu_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest/ncu"
)

// Messages of protocol buffers, written field by field.

func uintField(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}

func doubleField(n protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, n, protowire.Fixed64Type), math.Float64bits(v))
}

func floatField(n protowire.Number, v float32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, n, protowire.Fixed32Type), math.Float32bits(v))
}

func textField(n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), s)
}

// messageField is a message within a message: the fields one after the other.
func messageField(n protowire.Number, fields ...[]byte) []byte {
	return textField(n, string(slices.Concat(fields...)))
}

// sized puts a size before bytes, as everything in a report has it.
func sized(parts ...[]byte) []byte {
	b := slices.Concat(parts...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// reportWith makes a report of version 7 with these blocks.
func reportWith(blocks ...[]byte) []byte {
	return append(append([]byte(ncu.Magic), sized(uintField(1, 7))...), slices.Concat(blocks...)...)
}

// blockWith makes a block: its header's fields but the size of the payload, and the entries of the payload.
func blockWith(header []byte, entries ...[]byte) []byte {
	var payload []byte
	for _, e := range entries {
		payload = append(payload, sized(e)...)
	}
	return append(sized(header, uintField(5, uint64(len(payload)))), payload...)
}

// stringTable is the field of a block header that brings names of metrics.
func stringTable(names ...string) []byte {
	var all []byte
	for _, n := range names {
		all = append(all, textField(1, n)...)
	}
	return messageField(4, all)
}

// oneKernel makes a report of one kernel launch with these fields; its metrics' names are numbered as in names.
func oneKernel(names []string, fields ...[]byte) []byte {
	return reportWith(blockWith(slices.Concat(uintField(2, 1), stringTable(names...)), slices.Concat(fields...)))
}

// metricField is a metric of a kernel launch.
func metricField(name uint64, value []byte) []byte {
	return messageField(13, uintField(1, name), messageField(2, value))
}

// part is a block of a report taken apart.
type part struct {
	header  []byte
	entries [][]byte
	fields  map[protowire.Number]uint64 // the header's numbers
	at      int                         // of the block in the file
	ends    []int                       // of the entries in the file
	results int                         // how many of the last entries are results and no sources
}

// takeApart reads the blocks of a whole report, independently of the reader.
func takeApart(t testing.TB, data []byte) (head []byte, parts []part) {
	t.Helper()
	at := len(ncu.Magic)
	next := func() []byte {
		n := int(binary.LittleEndian.Uint32(data[at:]))
		at += 4 + n
		return data[at-n : at]
	}
	next()
	head = data[:at]
	for at < len(data) {
		p := part{at: at, fields: map[protowire.Number]uint64{}}
		p.header = next()
		for h := p.header; len(h) > 0; {
			num, typ, n := protowire.ConsumeField(h)
			if n < 0 {
				t.Fatal(protowire.ParseError(n))
			}
			if typ == protowire.VarintType {
				p.fields[num], _ = protowire.ConsumeVarint(h[protowire.SizeTag(num):])
			}
			h = h[n:]
		}
		for end := at + int(p.fields[5]); at < end; {
			p.entries = append(p.entries, next())
			p.ends = append(p.ends, at)
		}
		p.results = len(p.entries) - int(p.fields[1])
		parts = append(parts, p)
	}
	return head, parts
}

// withoutField returns a message without its fields of that number, and these fields.
func withoutField(msg []byte, number protowire.Number) (left, taken []byte) {
	for len(msg) > 0 {
		num, _, n := protowire.ConsumeField(msg)
		if num == number {
			taken = append(taken, msg[:n]...)
		} else {
			left = append(left, msg[:n]...)
		}
		msg = msg[n:]
	}
	return left, taken
}

// fieldsOf returns the messages or texts in the fields of that number.
func fieldsOf(t testing.TB, msg []byte, number protowire.Number) (out [][]byte) {
	t.Helper()
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeField(msg)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		if num == number && typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(msg[protowire.SizeTag(num):n])
			out = append(out, v)
		}
		msg = msg[n:]
	}
	return out
}
