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
	switch encoding {
	case oneValue:
		one, rest, err := deltas(v.data, to.Ints[:1])
		for i := range to.Ints {
			to.Ints[i] = one
		}
		return orEnd(rest, err)
	case allValues:
		_, rest, err := deltas(v.data, to.Ints)
		return orEnd(rest, err)
	}
	return v.spread(to)
}

// spread reads the values of the rows that have one.
func (v values) spread(to *table.Vector) error {
	n := 0
	for i := range to.Ints {
		if v.isNull(i) {
			to.SetNull(i)
		} else {
			n++
		}
	}
	_, rest, err := deltas(v.data, to.Ints[:n])
	for i := len(to.Ints) - 1; i >= 0; i-- { // from the end, where the values have to go
		if to.Null(i) {
			to.Ints[i] = 0
		} else {
			n--
			to.Ints[i] = to.Ints[n]
		}
	}
	return orEnd(rest, err)
}

// deltas reads values, each as its difference to the one before, and gives the last.
func deltas(data []byte, out []int64) (last int64, rest []byte, err error) {
	for i := range out {
		if len(data) == 0 {
			return last, nil, errShort
		}
		u, n := uint64(data[0]), 1
		if u >= 0x80 {
			if len(data) > 1 && data[1] < 0x80 {
				u, n = u&0x7F|uint64(data[1])<<7, 2
			} else if u, n = binary.Uvarint(data); n <= 0 {
				return last, nil, badNumber(n)
			}
		}
		data = data[n:]
		last += int64(u>>1) ^ -int64(u&1)
		out[i] = last
	}
	return last, data, nil
}

func orEnd(rest []byte, err error) error {
	if err != nil {
		return err
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
