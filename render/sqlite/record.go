package sqlite

import (
	"encoding/binary"
	"fmt"
	"math"
)

// appendRecord appends a row in the record format (2.1). A NaN is NULL, since SQLite has none.
func appendRecord(b []byte, row []any) ([]byte, error) {
	var kinds []byte
	for i, v := range row {
		kind, err := serialType(v)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", i+1, err)
		}
		kinds = appendVarint(kinds, kind)
	}
	size := len(kinds) + 1 // the header counts its own size
	if size > 127 {
		size++ // two bytes of it; no row has 16,000 columns
	}
	b = append(appendVarint(b, uint64(size)), kinds...)
	for _, v := range row {
		b = appendValue(b, v)
	}
	return b, nil
}

func serialType(v any) (uint64, error) {
	switch v := v.(type) {
	case nil:
		return 0, nil
	case bool:
		return serialType(whole(v))
	case int64:
		switch {
		case v == 0 || v == 1:
			return 8 + uint64(v), nil
		case v == int64(int8(v)):
			return 1, nil
		case v == int64(int16(v)):
			return 2, nil
		case v == int64(int32(v)):
			return 4, nil
		}
		return 6, nil
	case float64:
		if math.IsNaN(v) {
			return 0, nil
		}
		return 7, nil
	case string:
		return 13 + 2*uint64(len(v)), nil
	}
	return 0, fmt.Errorf("%T is no value of SQLite", v)
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return appendValue(b, whole(v))
	case int64:
		switch kind, _ := serialType(v); kind {
		case 1:
			return append(b, byte(v))
		case 2:
			return binary.BigEndian.AppendUint16(b, uint16(v))
		case 4:
			return binary.BigEndian.AppendUint32(b, uint32(v))
		case 6:
			return binary.BigEndian.AppendUint64(b, uint64(v))
		}
	case float64:
		if !math.IsNaN(v) {
			return binary.BigEndian.AppendUint64(b, math.Float64bits(v))
		}
	case string:
		return append(b, v...)
	}
	return b
}

func whole(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// appendVarint appends a variable-length integer (1.6).
func appendVarint(b []byte, v uint64) []byte {
	if v > 1<<56-1 {
		for shift := 57; shift >= 8; shift -= 7 {
			b = append(b, byte(v>>shift)|0x80)
		}
		return append(b, byte(v))
	}
	n := 1
	for v>>(7*n) > 0 {
		n++
	}
	for n--; n > 0; n-- {
		b = append(b, byte(v>>(7*n))|0x80)
	}
	return append(b, byte(v)&0x7f)
}
