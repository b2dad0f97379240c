package cli

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/internal/exports"
)

// Values at and beyond the ends of what columns hold.
var (
	extremeInts = []int64{0, -1, 1, math.MaxInt32, math.MinInt32, 1 << 31, 1<<32 - 1, 1 << 45, 1 << 53, 1<<56 - 1, 1<<56 + 1, 1 << 62, math.MaxInt64, math.MinInt64}
	extremeReal = []float64{1e23, -1e23, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1 << 63}
	extremeText = []string{"0", "-1", "2147483648", "4294967295", "-2147483649", "4611686018427387904", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616", "1e15", "1e23", "-1e23",
		"1e300", "1e308", "5e-324", "0.5"}
)

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// extremeTables puts extreme values into each column of numbers of tables, at rows of its own.
func extremeTables(r *rand.Rand, tables []*exports.Table) {
	for _, t := range tables {
		if len(t.Rows) == 0 {
			continue
		}
		for c, column := range t.Columns {
			if refersToText.MatchString(column) { // what points at no text is another fault: the export is incomplete
				continue
			}
			for range 1 + len(t.Rows)/(4*len(t.Columns)) {
				row := t.Rows[r.IntN(len(t.Rows))]
				switch row[c].(type) {
				case int64:
					if t.Name != "StringIds" {
						row[c] = pick(r, extremeInts)
					}
				case float64:
					row[c] = pick(r, extremeReal)
				}
			}
		}
	}
}

// extremeColumn gives all rows of one column of each table one extreme value.
func extremeColumn(r *rand.Rand, tables []*exports.Table) {
	for _, t := range tables {
		c := r.IntN(len(t.Columns))
		if len(t.Rows) == 0 || refersToText.MatchString(t.Columns[c]) || strings.HasPrefix(t.Name, "ENUM_") || t.Name == "StringIds" || r.IntN(3) > 0 {
			continue
		}
		value := pick(r, extremeInts)
		for _, row := range t.Rows {
			if _, isInt := row[c].(int64); isInt {
				row[c] = value
			}
		}
	}
}

// longRows makes what takes time take so long that a run can just hold it.
func longRows(r *rand.Rand, tables []*exports.Table) {
	for _, t := range tables {
		start, end, bytes := t.Column("start"), t.Column("end"), t.Column("bytes")
		if start < 0 || end < 0 || len(t.Rows) == 0 || t.Name == "NVTX_EVENTS" { // ranges would nest without end
			continue
		}
		for _, row := range t.Rows {
			if at, ok := row[start].(int64); ok && row[end] != nil {
				row[end] = at + 1<<56/int64(len(t.Rows))
			}
			if bytes >= 0 && row[bytes] != nil {
				row[bytes] = int64(1) << 52
			}
		}
	}
}

var refersToText = regexp.MustCompile(`^(name|nameId|textId|jsonTextId|demangledName|shortName|mangledName|value|.*StringId)$`)

// sqliteFile writes tables to a file.
func sqliteFile(t testing.TB, path string, tables []*exports.Table) string {
	t.Helper()
	w, err := exports.Create(write(t, path, nil))
	for _, x := range tables {
		if err == nil {
			err = w.Add(x, slices.Values(x.Rows))
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// numberOf matches a number of JSON or CSV with what stands around it, and the key that it is of.
var numberOf = regexp.MustCompile(`("(?:[^"\\\n]|\\.)*":\s*|[\[,]\s*"?|\n"?)(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)("?)([,\]}\s])`)

// extremeTexts puts extreme values into numbers of a text: at least one for each key of JSON, and one in every so many others.
func extremeTexts(r *rand.Rand, data []byte, others int, values []string) []byte {
	seen := map[string]int{}
	for _, m := range numberOf.FindAllSubmatchIndex(data, -1) {
		seen[strings.TrimSpace(string(data[m[2]:m[3]]))]++
	}
	var out []byte
	at, done := 0, map[string]bool{}
	for _, m := range numberOf.FindAllSubmatchIndex(data, -1) {
		key := strings.TrimSpace(string(data[m[2]:m[3]]))
		isNamed := strings.HasSuffix(key, ":")
		if isNamed && !done[key] && r.IntN(seen[key]) < 2 || r.IntN(others) == 0 {
			done[key] = true
			out = append(append(out, data[at:m[4]]...), pick(r, values)...)
			at = m[5]
		}
		seen[key]--
		if seen[key] == 0 {
			seen[key] = 1
		}
	}
	return append(out, data[at:]...)
}

// extremeMessage puts extreme values into the numbers of a message and of those in it.
func extremeMessage(r *rand.Rand, msg []byte, others int) []byte {
	var out []byte
	holdsMessage := false
	for rest := msg; len(rest) > 0; {
		_, typ, n := protowire.ConsumeField(rest)
		if n < 0 {
			return nil
		}
		holdsMessage, rest = holdsMessage || typ == protowire.BytesType, rest[n:]
	}
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeField(msg)
		if n < 0 {
			return nil
		}
		tag := protowire.SizeTag(num)
		hit := r.IntN(others) == 0 && !(num == 1 && holdsMessage) // that number is the place of a name
		switch {
		case typ == protowire.VarintType && hit:
			out = protowire.AppendVarint(protowire.AppendTag(out, num, typ), uint64(pick(r, extremeInts)))
		case typ == protowire.Fixed64Type && hit:
			out = protowire.AppendFixed64(protowire.AppendTag(out, num, typ), math.Float64bits(pick(r, extremeReal)))
		case typ == protowire.Fixed32Type && hit:
			out = protowire.AppendFixed32(protowire.AppendTag(out, num, typ), math.Float32bits(float32(pick(r, extremeReal))))
		case typ == protowire.BytesType:
			v, _ := protowire.ConsumeBytes(msg[tag:n])
			if !isText(v) {
				if changed := extremeMessage(r, v, others); changed != nil {
					v = changed
				}
			}
			out = protowire.AppendBytes(protowire.AppendTag(out, num, typ), v)
		default:
			out = append(out, msg[:n]...)
		}
		msg = msg[n:]
	}
	return out
}

func isText(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\n' || c > '~' })
}

// extremeReport puts extreme values into the results of a report of Nsight Compute.
func extremeReport(r *rand.Rand, data []byte, others int) []byte {
	const magic = 4
	at := magic
	next := func() []byte {
		n := int(binary.LittleEndian.Uint32(data[at:]))
		at += 4 + n
		return data[at-n : at]
	}
	next()
	out := slices.Clone(data[:at])
	sized := func(b []byte) []byte { return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...) }
	for at < len(data) {
		header := next()
		var kept, payload []byte
		var size uint64
		for h := header; len(h) > 0; {
			num, typ, n := protowire.ConsumeField(h)
			if num == 5 && typ == protowire.VarintType {
				size, _ = protowire.ConsumeVarint(h[protowire.SizeTag(num):])
			} else {
				kept = append(kept, h[:n]...)
			}
			h = h[n:]
		}
		for end := at + int(size); at < end; {
			payload = append(payload, sized(extremeMessage(r, next(), others))...)
		}
		out = append(append(out, sized(protowire.AppendVarint(protowire.AppendTag(kept, 5, protowire.VarintType), uint64(len(payload))))...), payload...)
	}
	return out
}
