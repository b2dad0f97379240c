package tracer

import (
	"encoding/binary"
	"errors"
	"strings"

	"prof/ingest/nsys/table"
)

// Encodings of a column in a block.
const (
	noValues = iota
	oneValue
	allValues
	someValues
)

// maxTexts bounds the texts of a column of a block: one text may stand for all its rows.
const maxTexts = 4 * maxPayload

var (
	errShort    = errors.New("malformed: the column ends before its values do")
	errLong     = errors.New("malformed: the column has bytes behind its values")
	errEncoding = errors.New("malformed: an encoding that this prof does not know")
	errType     = errors.New("malformed: values of another type than this column has")
	errNumber   = errors.New("malformed: a number of more than 64 bits")
	errTexts    = errors.New("malformed: the texts of the block are too long together")
)

// values are the bytes of a column's values in one block, and which rows have one.
type values struct {
	data  []byte
	nulls []byte // a bit for each row; nil for none
}

// split reads the encoding of a column of so many rows.
func split(data []byte, rows int) (v values, encoding byte, err error) {
	if len(data) == 0 {
		return v, 0, errShort
	}
	encoding, v.data = data[0], data[1:]
	switch encoding {
	case noValues, oneValue, allValues:
	case someValues:
		n := (rows + 7) / 8
		if len(v.data) < n {
			return v, encoding, errShort
		}
		v.nulls, v.data = v.data[:n], v.data[n:]
	default:
		return v, encoding, errEncoding
	}
	return v, encoding, nil
}

func (v values) isNull(row int) bool { return v.nulls != nil && v.nulls[row>>3]>>(row&7)&1 == 1 }

// decodeInts reads an integer column into a vector of so many rows.
func decodeInts(data []byte, to *table.Vector, rows int) error {
	v, encoding, err := split(data, rows)
	if err != nil {
		return err
	}
	if encoding == noValues {
		setAllNull(to, rows)
		clear(to.Ints)
		return isEnd(v.data)
	}
	last, rest, out := int64(0), v.data, to.Ints
	for i := range out {
		if v.isNull(i) {
			to.SetNull(i)
			out[i] = 0
			continue
		}
		if encoding == oneValue && i > 0 {
			out[i] = last
			continue
		}
		if len(rest) == 0 {
			return errShort
		}
		u, n := uint64(rest[0]), 1
		if u >= 0x80 {
			if u, n = binary.Uvarint(rest); n <= 0 {
				return badNumber(n)
			}
		}
		rest = rest[n:]
		last += int64(u>>1) ^ -int64(u&1)
		out[i] = last
	}
	return isEnd(rest)
}

// decodeTexts reads a text column. What is not UTF-8 is replaced.
func decodeTexts(data []byte, to *table.Vector, rows int) error {
	v, encoding, err := split(data, rows)
	if err != nil {
		return err
	}
	if encoding == noValues {
		setAllNull(to, rows)
		clear(to.Texts)
		return isEnd(v.data)
	}
	rest, text, size := v.data, "", 0
	for i := range to.Texts {
		if v.isNull(i) {
			to.SetNull(i)
			to.Texts[i] = ""
			continue
		}
		if encoding != oneValue || i == 0 {
			var b []byte
			if b, rest, err = cutText(rest); err != nil {
				return err
			}
			text = strings.ToValidUTF8(string(b), "\uFFFD")
		}
		if size += len(text); size > maxTexts {
			return errTexts
		}
		to.Texts[i] = text
	}
	return isEnd(rest)
}

// cutText takes a text and its length off the beginning of data.
func cutText(data []byte) (text, rest []byte, err error) {
	u, n := binary.Uvarint(data)
	if n <= 0 {
		return nil, nil, badNumber(n)
	}
	if data = data[n:]; u > uint64(len(data)) {
		return nil, nil, errShort
	}
	return data[:u], data[u:], nil
}

func badNumber(n int) error {
	if n < 0 {
		return errNumber
	}
	return errShort
}

func isEnd(rest []byte) error {
	if len(rest) > 0 {
		return errLong
	}
	return nil
}

func setAllNull(v *table.Vector, rows int) {
	for i := range rows {
		v.SetNull(i)
	}
}
