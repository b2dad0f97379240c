package ncu

import (
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a message: its number and, by its wire type, its value.
type field struct {
	num   protowire.Number
	typ   protowire.Type
	int   uint64 // of a varint or a fixed number, its bits
	bytes []byte // of a length-delimited field
}

func (f field) text() string    { return strings.ToValidUTF8(string(f.bytes), "\uFFFD") }
func (f field) double() float64 { return math.Float64frombits(f.int) }
func (f field) float() float64  { return float64(math.Float32frombits(uint32(f.int))) }

// message and number say whether f is field n of that type. A field of another type than the format's is passed over, as
// protocol buffers have it for fields of a later version.
func (f field) message(n protowire.Number) bool { return f.num == n && f.typ == protowire.BytesType }
func (f field) number(n protowire.Number) bool  { return f.num == n && f.typ == protowire.VarintType }

// small returns a number that fits an INTEGER column, such as that of a process; any other is unsaid.
func small(v uint64, unsaid int32) int32 {
	if v > math.MaxInt32 {
		return unsaid
	}
	return int32(v)
}

// wireError says where in a file a message could not be decoded.
type wireError struct {
	offset int // within the message that was asked for
	err    error
}

func (e *wireError) Error() string {
	return fmt.Sprintf("byte %d of the message: %v", e.offset, e.err)
}
func (e *wireError) Unwrap() error { return e.err }

// eachField calls f for the fields of a message in their order. The bytes of a field are those of msg.
func eachField(msg []byte, f func(field) error) error {
	for at := 0; at < len(msg); {
		num, typ, n := protowire.ConsumeTag(msg[at:])
		if n < 0 {
			return &wireError{at, protowire.ParseError(n)}
		}
		v, m := field{num: num, typ: typ}, 0
		rest := msg[at+n:]
		switch typ {
		case protowire.VarintType:
			v.int, m = protowire.ConsumeVarint(rest)
		case protowire.BytesType:
			v.bytes, m = protowire.ConsumeBytes(rest)
		case protowire.Fixed64Type:
			v.int, m = protowire.ConsumeFixed64(rest)
		case protowire.Fixed32Type:
			var bits uint32
			bits, m = protowire.ConsumeFixed32(rest)
			v.int = uint64(bits)
		default:
			m = protowire.ConsumeFieldValue(num, typ, rest)
		}
		if m < 0 {
			return &wireError{at, protowire.ParseError(m)}
		}
		if err := f(v); err != nil {
			return err
		}
		at += n + m
	}
	return nil
}
