package xla

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// source is a file of protobuf. A window of it is in memory: messages are walked through from one field to the next, whatever their size.
type source struct {
	in   io.ReaderAt
	size int64
	at   int64 // of the window
	b    []byte
}

const (
	window   = 64 << 10
	mostText = 16 << 20 // bytes of a message that is read in one piece: an event, a name
)

// bytes returns what is at a place of the file, good until the next call.
func (s *source) bytes(at int64, n int) ([]byte, error) {
	if from := at - s.at; from >= 0 && from+int64(n) <= int64(len(s.b)) {
		return s.b[from : from+int64(n)], nil
	}
	size := int(min(int64(max(n, window)), s.size-at))
	if cap(s.b) < size || cap(s.b) > max(size, window) { // what one long text took is given back
		s.b = make([]byte, max(size, window))
	}
	s.b, s.at = s.b[:size], at
	if m, err := s.in.ReadAt(s.b, at); m < size {
		s.b = s.b[:0]
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // another program cut the file meanwhile
		}
		return nil, fmt.Errorf("at byte %d: %w", at, err)
	}
	return s.b[:n], nil
}

// message is where one lies in the file.
type message struct{ at, end int64 }

// text returns the bytes of a message as text, at most so many.
func (s *source) text(m message, most int) (string, error) {
	b, err := s.bytes(m.at, int(min(m.end-m.at, int64(most))))
	return string(b), err
}

// field returns a message that is read in one piece, good until something else of the file is read.
func (s *source) field(m message) (field, error) {
	if m.end-m.at > mostText {
		return field{}, many(m.at, mostText>>20, "MiB in one event")
	}
	b, err := s.bytes(m.at, int(m.end-m.at))
	return field{b, m.at}, err
}

// value is a field's: a number, or the place of its bytes.
type value struct {
	kind protowire.Type
	n    uint64
	message
}

// longestHead is more than a field's tag and number, or tag and length, take.
const longestHead = 20

// each calls f for the fields of a message.
func (s *source) each(m message, f func(num protowire.Number, v value) error) error {
	for at := m.at; at < m.end; {
		b, err := s.bytes(at, int(min(longestHead, m.end-at)))
		if err != nil {
			return err
		}
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return wrong(at, n)
		}
		at += int64(n)
		v := value{kind: kind}
		switch kind {
		case protowire.BytesType:
			size, k := protowire.ConsumeVarint(b[n:])
			if k < 0 {
				return wrong(at, k)
			}
			if v.at = at + int64(k); size > uint64(m.end-v.at) {
				return fmt.Errorf("at byte %d: %w: %w", at, ErrSyntax, io.ErrUnexpectedEOF)
			}
			v.end = v.at + int64(size)
			at = v.end
		default: // a group is none that fits so few bytes, and the form has none
			var k int
			if v.n, k = protowire.ConsumeVarint(b[n:]); kind != protowire.VarintType {
				k = protowire.ConsumeFieldValue(num, kind, b[n:])
			}
			if k < 0 {
				return wrong(at, k)
			}
			at += int64(k)
		}
		if err := f(num, v); err != nil {
			return err
		}
	}
	return nil
}

func wrong(at int64, n int) error {
	return fmt.Errorf("at byte %d: %w: %w", at, ErrSyntax, protowire.ParseError(n))
}

// field is the bytes of a message with its place in the file.
type field struct {
	b  []byte
	at int64
}

// part is a field of such a message: a number, or bytes.
type part struct {
	kind protowire.Type
	n    uint64
	field
}

// each calls f for the fields of a message.
func (m field) each(f func(num protowire.Number, v part) error) error {
	for i := 0; i < len(m.b); {
		num, kind, n := protowire.ConsumeTag(m.b[i:])
		if n < 0 {
			return wrong(m.at+int64(i), n)
		}
		i += n
		v := part{kind: kind}
		switch kind {
		case protowire.VarintType:
			v.n, n = protowire.ConsumeVarint(m.b[i:])
		case protowire.BytesType:
			v.b, n = protowire.ConsumeBytes(m.b[i:])
			v.at = m.at + int64(i+n-len(v.b))
		default:
			n = protowire.ConsumeFieldValue(num, kind, m.b[i:])
		}
		if n < 0 {
			return wrong(m.at+int64(i), n)
		}
		i += n
		if err := f(num, v); err != nil {
			return err
		}
	}
	return nil
}

// is reports whether a field has that number and form; another form is passed over, as protobuf does.
func (v value) is(num, want protowire.Number, kind protowire.Type) bool {
	return num == want && v.kind == kind
}

func (v part) is(num, want protowire.Number, kind protowire.Type) bool {
	return num == want && v.kind == kind
}

const (
	number = protowire.VarintType
	bytes  = protowire.BytesType
)
