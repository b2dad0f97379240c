package tracer

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"prof/ingest/nsys/table"
)

// Tables that say what payloads of ranges mean.
const (
	schemaTable    = "NVTX_PAYLOAD_SCHEMAS"
	entryTable     = "NVTX_PAYLOAD_SCHEMA_ENTRIES"
	enumTable      = "NVTX_PAYLOAD_ENUMS"
	enumValueTable = "NVTX_PAYLOAD_ENUM_ENTRIES"
)

// Bounds of what is made of payloads.
const (
	maxEntries = 1 << 16 // of all schemas and enumerations of a trace, as of the tracer
	maxSteps   = 1 << 12 // of entries and elements that the payloads of an event are read by
	maxNested  = 16      // schemas in each other
	maxText    = 1 << 14 // bytes of what says the payloads of an event; the tracer keeps 256 bytes of them
	maxJSON    = 1 << 16
)

// Types of NVTX's entries, kinds of its schemas and flags of its entries (nvToolsExtPayload.h).
const (
	typeText, typeUTF8, typeUTF16, typeUTF32, typeRegistered = 75, 76, 77, 78, 80
	typeChar, typeChar8                                      = 1, 25
	staticSchema, dynamicSchema                              = 1, 2
	isPointer                                                = 1<<1 | 1<<2 | 1<<3 // by address or by offset
	arrayForm, fixedArray                                    = 7 << 4, 1 << 4
)

// kind is how a value of a type is read.
type kind uint8

const (
	opaque kind = iota // its size is known, and no more
	signed
	unsigned
	float
)

// scalar is a type of NVTX's own. It is aligned as its size is.
type scalar struct {
	size uint64
	kind kind
}

// scalars are the types of a 64-bit Linux.
var scalars = map[uint64]scalar{
	typeChar: {1, signed}, 2: {1, unsigned}, 3: {2, signed}, 4: {2, unsigned}, 5: {4, signed}, 6: {4, unsigned}, 7: {8, signed}, 8: {8, unsigned}, 9: {8, signed}, 10: {8, unsigned},
	11: {1, signed}, 12: {1, unsigned}, 13: {2, signed}, 14: {2, unsigned}, 15: {4, signed}, 16: {4, unsigned}, 17: {8, signed}, 18: {8, unsigned},
	19: {4, float}, 20: {8, float}, 21: {16, opaque}, 22: {8, unsigned}, 23: {8, unsigned}, 24: {4, unsigned}, typeChar8: {1, unsigned}, 26: {2, unsigned}, 27: {4, unsigned},
	32: {1, unsigned}, 33: {16, opaque}, 34: {16, opaque}, 42: {2, opaque}, 43: {4, float}, 44: {8, float}, 45: {16, opaque}, 50: {2, opaque}, 52: {4, opaque},
	typeRegistered: {8, opaque},
}

type schemaKey struct {
	domain int64
	id     uint64
}

// schema is what a program registered of its payloads.
type schema struct {
	name        string
	form        uint64 // staticSchema, dynamicSchema or another
	size, align uint64 // 0: not said
	entries     []entry
}

type entry struct {
	name                        string
	flags, kind, detail, offset uint64
}

// enum are the names of values.
type enum struct {
	size  uint64
	names map[uint64]string
}

// schemas are those of one trace, read when a payload is asked for.
type schemas struct {
	once  sync.Once
	err   error
	known map[schemaKey]*schema
	enums map[schemaKey]*enum
}

// read reads the schemas of a trace. Rows of one that is not in the trace are of a file that was cut: they are left out.
func (x *schemas) read(d *Folder, t *trace) error {
	x.known, x.enums = map[schemaKey]*schema{}, map[schemaKey]*enum{}
	one := &Folder{name: d.name, traces: []*trace{t}, columns: d.columns}
	rows := 0
	each := func(name, ints, text string, take func(k schemaKey, v []int64, text string)) error {
		wants := []table.Want{{Name: "domainId"}, {Name: "schemaId"}}
		for _, c := range strings.Fields(ints) {
			wants = append(wants, table.Want{Name: c, Optional: true})
		}
		if text != "" {
			wants = append(wants, table.Want{Name: text, Kind: table.Text, Optional: true})
		}
		if t.table(name) == nil {
			return nil
		}
		scan, err := one.Scan(context.Background(), name, wants)
		if err != nil {
			return err
		}
		if rows += int(scan.Rows()); rows > maxEntries {
			return t.fault(t.table(name), 0, "malformed: more than %d rows about payloads", maxEntries)
		}
		return table.Each(scan, func(b *table.Batch) error {
			for i := range b.N {
				var v []int64
				label := ""
				for c := range b.Cols {
					if b.Cols[c].Kind == table.Text {
						label = b.Cols[c].Texts[i]
					} else {
						v = append(v, b.Cols[c].Ints[i])
					}
				}
				take(schemaKey{v[0], uint64(v[1])}, v[2:], label)
			}
			return nil
		})
	}
	return errors.Join(
		each(schemaTable, "type payloadSize alignTo", "name", func(k schemaKey, v []int64, name string) {
			x.known[k] = &schema{name: name, form: uint64(v[0]), size: uint64(v[1]), align: uint64(v[2])}
		}),
		each(entryTable, "flags type arrayOrUnionDetail offset", "name", func(k schemaKey, v []int64, name string) {
			if s := x.known[k]; s != nil {
				s.entries = append(s.entries, entry{name, uint64(v[0]), uint64(v[1]), uint64(v[2]), uint64(v[3])})
			}
		}),
		each(enumTable, "size", "", func(k schemaKey, v []int64, _ string) {
			x.enums[k] = &enum{uint64(v[0]), map[uint64]string{}}
		}),
		each(enumValueTable, "value", "name", func(k schemaKey, v []int64, name string) {
			if e := x.enums[k]; e != nil {
				e.names[uint64(v[0])&ones(e.size)] = name
			}
		}))
}

// ones has the bits of so many bytes.
func ones(size uint64) uint64 {
	if size >= 8 {
		return math.MaxUint64
	}
	return 1<<(8*size) - 1
}

// payloads returns as JSON what a text says of the payloads of an event (docs/trace-format.md): an object by the names of a schema's entries, within another by
// the name of the schema where it has one, as Nsight Systems exports them; several payloads are an array. What cannot be said is null. What has a schema that
// the trace lacks, or that says too much, is a text that is not JSON.
func (d *Folder) payloads(t *trace, text string) (string, error) {
	t.schemas.once.Do(func() { t.schemas.err = t.schemas.read(d, t) })
	if t.schemas.err != nil {
		return "", t.schemas.err
	}
	parts := strings.Split(text, " ")
	domain, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil || len(parts) < 4 || len(parts)%3 != 1 || len(text) > maxText {
		return "", t.fault(nil, 0, "malformed: %.40q is no payload", text)
	}
	x := &decoder{schemas: &t.schemas, domain: domain, steps: maxSteps}
	for i := 1; i < len(parts); i += 3 {
		id, err := strconv.ParseUint(parts[i], 10, 64)
		data, bad := hex.DecodeString(parts[i+2])
		if err != nil || bad != nil {
			return "", t.fault(nil, 0, "malformed: %.40q is no payload", text)
		}
		if i > 1 {
			x.out = append(x.out, ',')
		}
		if err := x.payload(id, data); err != nil {
			return err.Error(), nil
		}
	}
	if len(parts) > 4 {
		return "[" + string(x.out) + "]", nil
	}
	return string(x.out), nil
}

// decoder writes payloads of one event as JSON.
type decoder struct {
	*schemas
	domain int64
	steps  int // that are left
	out    []byte
}

var errSteps = errors.New("the schema of the payload says too much")

func (x *decoder) payload(id uint64, data []byte) error {
	s := x.known[schemaKey{x.domain, id}]
	if s == nil {
		if _, ok := scalars[id]; !ok && x.enums[schemaKey{x.domain, id}] == nil {
			return fmt.Errorf("no schema %d in domain %d", id, x.domain)
		}
	}
	if s != nil && s.name != "" {
		x.out = append(append(append(x.out, '{'), quoted(s.name)...), ':')
	}
	err := x.value(id, data, 0)
	if s != nil && s.name != "" {
		x.out = append(x.out, '}')
	}
	return err
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // of a text that cannot fail
	return b
}

func (x *decoder) step() error {
	if x.steps--; x.steps < 0 || len(x.out) > maxJSON {
		return errSteps
	}
	return nil
}

// extent returns the size and alignment of a type, no more than a block can hold; ok is false where it has no size of its own.
func (x *decoder) extent(id uint64, nested int) (size, align uint64, ok bool, err error) {
	if s, ok := scalars[id]; ok {
		return s.size, s.size, true, nil
	}
	key := schemaKey{x.domain, id}
	if e := x.enums[key]; e != nil {
		size := min(max(e.size, 1), 8)
		return size, size, true, nil
	}
	s := x.known[key]
	if s == nil || s.form != staticSchema {
		return 0, 0, false, nil
	}
	at, align, ok := uint64(0), uint64(1), true
	for i := range s.entries {
		n, a, known, err := x.entryExtent(&s.entries[i], nested)
		if err != nil {
			return 0, 0, false, err
		}
		at, align, ok = s.place(i, at, a)+n, max(align, a), ok && known
	}
	if s.align > 0 {
		align = min(align, s.align)
	}
	if s.size > 0 {
		return min(s.size, maxPayload), align, true, nil
	}
	return min(aligned(at, align), maxPayload), align, ok, nil
}

// entryExtent is as extent, of an entry with all its elements.
func (x *decoder) entryExtent(e *entry, nested int) (size, align uint64, ok bool, err error) {
	if err := x.step(); err != nil || nested > maxNested {
		return 0, 0, false, errSteps
	}
	switch {
	case e.flags&isPointer != 0:
		return 8, 8, true, nil
	case e.flags&arrayForm != 0 && e.flags&arrayForm != fixedArray:
		return 0, 1, false, nil
	case e.kind >= typeText && e.kind <= typeUTF32:
		width := uint64(1)
		if e.kind > typeUTF8 {
			width = 2 << (e.kind - typeUTF16)
		}
		return width * min(e.detail, maxPayload), width, e.detail > 0, nil
	}
	size, align, ok, err = x.extent(e.kind, nested+1)
	if e.flags&arrayForm == fixedArray {
		size *= min(e.detail, maxPayload)
	}
	return min(size, maxPayload), max(align, 1), ok, err
}

// place returns where an entry lies: where it says, or behind those before.
func (s *schema) place(i int, at, align uint64) uint64 {
	if e := &s.entries[i]; e.offset > 0 || i == 0 {
		return min(e.offset, maxPayload)
	}
	if s.align > 0 {
		align = min(align, s.align)
	}
	return aligned(at, align)
}

func aligned(at, to uint64) uint64 { return (at + to - 1) / to * to }

// value writes what data begins with.
func (x *decoder) value(id uint64, data []byte, nested int) error {
	if err := x.step(); err != nil || nested > maxNested {
		return errSteps
	}
	key := schemaKey{x.domain, id}
	if s := x.known[key]; s != nil {
		return x.object(s, data, nested)
	}
	of, isScalar := scalars[id]
	e := x.enums[key]
	if e != nil {
		of = scalar{e.size, unsigned}
	}
	if e == nil && !isScalar || of.kind == opaque || of.size == 0 || of.size > 8 || uint64(len(data)) < of.size {
		x.out = append(x.out, "null"...)
		return nil
	}
	var whole [8]byte
	copy(whole[:], data[:of.size])
	v := binary.LittleEndian.Uint64(whole[:])
	name, named := "", false
	if e != nil {
		name, named = e.names[v]
	}
	switch f := floatOf(v, of.size); {
	case named:
		x.out = append(x.out, quoted(name)...)
	case of.kind == unsigned:
		x.out = strconv.AppendUint(x.out, v, 10)
	case of.kind == signed:
		x.out = strconv.AppendInt(x.out, int64(v<<(64-8*of.size))>>(64-8*of.size), 10)
	case math.IsNaN(f) || math.IsInf(f, 0):
		x.out = append(x.out, "null"...)
	default:
		x.out = strconv.AppendFloat(x.out, f, 'g', -1, int(of.size*8))
	}
	return nil
}

func floatOf(v, size uint64) float64 {
	if size == 4 {
		return float64(math.Float32frombits(uint32(v)))
	}
	return math.Float64frombits(v)
}

// object writes the entries of a schema. Where one of unknown size comes first, the place of those that do not say theirs is unknown too.
func (x *decoder) object(s *schema, data []byte, nested int) error {
	if s.form != staticSchema && s.form != dynamicSchema {
		x.out = append(x.out, "null"...)
		return nil
	}
	at, known := uint64(0), true
	x.out = append(x.out, '{')
	for i := range s.entries {
		e := &s.entries[i]
		size, align, ok, err := x.entryExtent(e, nested)
		if err != nil {
			return err
		}
		known = known || e.offset > 0
		at = s.place(i, at, align)
		if i > 0 {
			x.out = append(x.out, ',')
		}
		name := e.name
		if name == "" {
			name = strconv.Itoa(i)
		}
		x.out = append(append(x.out, quoted(name)...), ':')
		if !known || !ok || e.flags&isPointer != 0 || at > uint64(len(data)) || size > uint64(len(data))-at {
			x.out = append(x.out, "null"...)
		} else if err := x.entry(e, data[at:at+size], nested); err != nil {
			return err
		}
		at, known = at+size, known && ok
	}
	x.out = append(x.out, '}')
	return nil
}

// entry writes the value of an entry, or its array. Arrays of characters are texts up to their first zero.
func (x *decoder) entry(e *entry, data []byte, nested int) error {
	isArray := e.flags&arrayForm == fixedArray
	switch {
	case e.kind == typeText || e.kind == typeUTF8 || isArray && (e.kind == typeChar || e.kind == typeChar8):
		text, _, _ := strings.Cut(string(data), "\x00")
		x.out = append(x.out, quoted(text)...)
		return nil
	case !isArray:
		return x.value(e.kind, data, nested+1)
	}
	x.out = append(x.out, '[')
	each := uint64(0)
	if e.detail > 0 {
		each = uint64(len(data)) / e.detail
	}
	for i := range e.detail {
		if i > 0 {
			x.out = append(x.out, ',')
		}
		if err := x.value(e.kind, data[i*each:(i+1)*each], nested+1); err != nil {
			return err
		}
	}
	x.out = append(x.out, ']')
	return nil
}
