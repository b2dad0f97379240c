package tracer_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"prof/ingest/tracer"
	"prof/internal/exports"
)

// payloadTrace begins a trace whose ranges have these payloads, one each, of one domain.
func payloadTrace(payloads ...string) *file {
	var texts, ranges [][]any
	for i, p := range payloads {
		texts = append(texts, []any{int64(i + 1), p})
		ranges = append(ranges, []any{int64(i), int64(i + 1)})
	}
	return begin().table(1, "it", "StringIds", "id", "value").rows(1, texts...).table(2, "ii", "NVTX_EVENTS", "start", "jsonTextId").rows(2, ranges...)
}

// schemas adds tables of schemas, entries, enumerations and their values.
func (f *file) schemas(schemas, entries, enums, values [][]any) *file {
	for i, t := range []struct {
		types, name, columns string
		rows                 [][]any
	}{
		{"iitiii", "NVTX_PAYLOAD_SCHEMAS", "domainId schemaId name type payloadSize alignTo", schemas},
		{"iiiitii", "NVTX_PAYLOAD_SCHEMA_ENTRIES", "domainId schemaId flags type name arrayOrUnionDetail offset", entries},
		{"iii", "NVTX_PAYLOAD_ENUMS", "domainId schemaId size", enums},
		{"iitii", "NVTX_PAYLOAD_ENUM_ENTRIES", "domainId schemaId name value isFlag", values},
	} {
		if len(t.rows) > 0 {
			f.table(10+i, t.types, t.name, strings.Fields(t.columns)...).rows(10+i, t.rows...)
		}
	}
	return f
}

// payloadsOf returns the payloads of a trace's ranges.
func payloadsOf(t *testing.T, f *file) (out []string) {
	t.Helper()
	d := open(t, f)
	rows, err := read(d, "NVTX_EVENTS", "jsonTextId")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		text, _, err := d.String(r[0].(int64))
		if err != nil {
			text = err.Error()
		}
		out = append(out, text)
	}
	return out
}

// TestPayloadsOfExport: payloads with the schemas of a real export say what Nsight Systems made of them, to the letter.
func TestPayloadsOfExport(t *testing.T) {
	tables, err := exports.ReadFile("../../testdata/ranks/rank0.sqlite.gz")
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]*exports.Table{}
	for _, x := range tables {
		of[x.Name] = x
	}
	const sum = 1<<24 + 20 // the schema of NCCL's operations, which the export has not kept
	texts, types := map[int64]string{}, map[int64]string{}
	for _, r := range of["StringIds"].Rows {
		texts[of["StringIds"].Int(r, "id")], _ = r[of["StringIds"].Column("value")].(string)
	}
	var schemas, entries [][]any
	for _, r := range of["NVTX_PAYLOAD_SCHEMAS"].Rows {
		s := of["NVTX_PAYLOAD_SCHEMAS"]
		schemas = append(schemas, []any{s.Int(r, "domainId"), s.Int(r, "schemaId"), nil, s.Int(r, "type"), s.Int(r, "payloadSize"), nil})
	}
	for _, r := range of["NVTX_PAYLOAD_SCHEMA_ENTRIES"].Rows {
		e := of["NVTX_PAYLOAD_SCHEMA_ENTRIES"]
		name := r[e.Column("name")].(string)
		types[e.Int(r, "schemaId")] += name + "|"
		entries = append(entries, []any{e.Int(r, "domainId"), e.Int(r, "schemaId"), nil, e.Int(r, "type"), name, nil, e.Int(r, "offset")})
	}
	var said, want []string
	for _, r := range of["NVTX_EVENTS"].Rows {
		e := of["NVTX_EVENTS"]
		id, ok := r[e.Column("jsonTextId")].(int64)
		whole := texts[id]
		if text, isText := r[e.Column("jsonText")].(string); isText {
			whole, ok = text, true
		}
		if !ok {
			continue
		}
		// The bytes of a payload follow from what was made of it: by the names of its entries one knows its schema.
		var values map[string]json.Number
		if err := json.Unmarshal([]byte(strings.Replace(whole, `"Sum"`, "0", 1)), &values); err != nil {
			t.Fatal(err)
		}
		for schema, names := range types {
			split := strings.Split(strings.TrimSuffix(names, "|"), "|")
			if d := json.NewDecoder(strings.NewReader(whole)); len(split) != len(values) || !isObjectOf(d, split) {
				continue
			}
			data := make([]byte, 32)
			for _, row := range entries {
				if v := values[row[4].(string)]; row[1] == schema {
					var n uint64
					if _, err := fmt.Sscan(v.String(), &n); err != nil {
						t.Fatal(err)
					}
					binary.LittleEndian.PutUint64(data[row[6].(int64):], n) // of which the next entry overwrites what is too much
				}
			}
			said, want = append(said, fmt.Sprintf("1 %d %d %s", schema, len(data), hex.EncodeToString(data))), append(want, whole)
			break
		}
	}
	got := payloadsOf(t, payloadTrace(said...).schemas(schemas, entries, [][]any{{int64(1), int64(sum), int64(4)}}, [][]any{{int64(1), int64(sum), "Sum", nil, nil}}).end())
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s, and Nsight Systems says %s", got[i], want[i])
		}
	}
	if len(got) < 60 {
		t.Errorf("%d payloads, want all", len(got))
	}
}

// isObjectOf reports whether what is read is an object of these names.
func isObjectOf(d *json.Decoder, names []string) bool {
	_, _ = d.Token()
	for _, name := range names {
		if key, _ := d.Token(); key != name {
			return false
		}
		_, _ = d.Token()
	}
	return true
}

// TestPayloads holds what payloads become, those too that lack what says them or that mean harm.
func TestPayloads(t *testing.T) {
	const s, fixed, zero, index = int64(1 << 24), int64(1 << 4), int64(2 << 4), int64(3 << 4)
	entry := func(schema, flags, kind int64, name any, detail, offset int64) []any {
		return []any{int64(1), s + schema, flags, kind, name, detail, offset}
	}
	schema := func(id, form, size, align int64) []any {
		return []any{int64(1), s + id, nil, form, size, align}
	}
	for name, c := range map[string]struct {
		payload          string // without the domain and s
		schemas, entries [][]any
		want             string
	}{
		"entries that do not say where they lie": {"0 16 01000000000000000200000003000000", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, 0, 12, "a", 0, 0), entry(0, 0, 18, "b", 0, 0)}, `{"a":1,"b":12884901890}`},
		"packed":                                 {"0 9 01020000000000000000", [][]any{schema(0, 1, 0, 1)}, [][]any{entry(0, 0, 12, "a", 0, 0), entry(0, 0, 18, "b", 0, 0)}, `{"a":1,"b":2}`},
		"an entry behind the end":                {"0 4 01000000", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, 0, 5, "a", 0, 0), entry(0, 0, 5, "b", 0, 1<<62), entry(0, 0, 5, "c", 0, -1)}, `{"a":1,"b":null,"c":null}`},
		"half an entry":                          {"0 4 010000", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, 0, 5, "a", 0, 0)}, `{"a":null}`},
		"a huge array":                           {"0 4 01000000", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, fixed, 5, "a", 1<<62, 0), entry(0, 0, 5, "b", 0, 0)}, `{"a":null,"b":null}`},
		"a huge array of nothing":                {"0 4 01000000", [][]any{schema(0, 1, 0, 0), schema(1, 1, 0, 0)}, [][]any{entry(0, fixed, s+1, "a", 1<<62, 0)}, "the schema of the payload says too much"},
		"huge schemas":                           {"0 4 01000000", [][]any{schema(0, 1, -1, -1), schema(1, 1, -1, 0)}, [][]any{entry(0, fixed, s+1, "a", 1<<62, 0), entry(0, 0, s+1, "b", 0, 0)}, `{"a":null,"b":null}`},
		"itself":                                 {"0 4 01000000", [][]any{schema(0, 1, 4, 0)}, [][]any{entry(0, 0, s, "a", 0, 0)}, "the schema of the payload says too much"},
		"each other":                             {"0 4 01000000", [][]any{schema(0, 1, 4, 0), schema(1, 1, 4, 0)}, [][]any{entry(0, 0, s+1, "a", 0, 0), entry(0, 0, s+1, "b", 0, 0), entry(1, 0, s, "a", 0, 0), entry(1, 0, s, "b", 0, 0)}, "the schema of the payload says too much"},
		"texts":                                  {"0 6 616200636465", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, 0, 75, "a", 3, 0), entry(0, 0, 76, "b\"\x01", 3, 0)}, `{"a":"ab","b\"\u0001":"cde"}`},
		"wide texts":                             {"0 8 0100000002000000", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, 0, 77, "a", 2, 0), entry(0, 0, 5, "b", 0, 0)}, `{"a":null,"b":2}`},
		"a text of any length, and what follows": {"0 8 6100000002000000", [][]any{schema(0, 2, 0, 0)}, [][]any{entry(0, zero, 75, "a", 0, 0), entry(0, 0, 5, "b", 0, 0), entry(0, 0, 5, "c", 0, 4)}, `{"a":null,"b":null,"c":2}`},
		"an array of any length":                 {"0 8 0100000002000000", [][]any{schema(0, 2, 0, 0)}, [][]any{entry(0, 0, 5, "n", 0, 0), entry(0, index, 5, "a", 0, 4)}, `{"n":1,"a":null}`},
		"a pointer":                              {"0 16 01000000000000000200000000000000", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, 2, 5, "a", 0, 0), entry(0, 0, 5, "b", 0, 0)}, `{"a":null,"b":2}`},
		"a union":                                {"0 8 0100000002000000", [][]any{schema(0, 1, 0, 0), schema(1, 3, 4, 0)}, [][]any{entry(0, 0, s+1, "a", 0, 0), entry(0, 0, 5, "b", 0, 4)}, `{"a":null,"b":2}`},
		"an entry of no type":                    {"0 8 0100000002000000", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, 0, 0, "a", 0, 0), entry(0, 0, s+7, "b", 0, 4), entry(0, 0, 5, nil, 0, 4)}, `{"a":null,"b":null,"2":2}`},
		"not a number":                           {"0 16 000000000000f87f000000000000f0ff", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, 0, 20, "a", 0, 0), entry(0, 0, 20, "b", 0, 0)}, `{"a":null,"b":null}`},
		"values of an enumeration":               {"0 4 fe070000", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, 0, s+100, "a", 0, 0), entry(0, 0, s+100, "b", 0, 0)}, `{"a":"minus two","b":7}`},
		"no schema":                              {"3 0 ", nil, nil, "no schema 16777219 in domain 1"},
		"several, one of nothing":                {"0 0  16777216 4 01000000", [][]any{schema(0, 1, 0, 0)}, [][]any{entry(0, 0, 5, "a", 0, 0)}, `[{"a":null},{"a":1}]`},
		"no entries":                             {"0 4 01000000", [][]any{schema(0, 1, 0, 0)}, nil, `{}`},
		"entries of no schema":                   {"1 4 01000000", [][]any{schema(1, 1, 0, 0)}, [][]any{entry(0, 0, 5, "a", 0, 0)}, `{}`},
		"no payload":                             {"0 4", nil, nil, "is no payload"},
		"no bytes":                               {"0 4 0x", nil, nil, "is no payload"},
		"half a byte":                            {"0 4 012", nil, nil, "is no payload"},
		"more than the tracer writes":            {"0 9999 " + strings.Repeat("00", 9999), nil, nil, "is no payload"},
		"more entries than the tracer would keep": {"0 4 01000000", [][]any{schema(0, 1, 0, 0)}, manyEntries(1<<16, entry(0, 0, 5, "a", 0, 0)), "malformed: more than 65536 rows about payloads"},
	} {
		values := [][]any{{int64(1), s + 100, "minus two", int64(-2), nil}}
		parts := strings.SplitN(c.payload, " ", 2)
		var id int64
		if _, err := fmt.Sscan(parts[0], &id); err != nil {
			t.Fatal(err)
		}
		got := payloadsOf(t, payloadTrace(fmt.Sprintf("1 %d %s", s+id, parts[1])).schemas(c.schemas, c.entries, [][]any{{int64(1), s + 100, int64(1)}}, values).end())
		if got[0] != c.want && (strings.HasPrefix(c.want, "{") || strings.HasPrefix(c.want, "[") || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %.200s, want %s", name, got[0], c.want)
		}
	}
}

func manyEntries(n int, entry []any) (rows [][]any) {
	for range n {
		rows = append(rows, entry)
	}
	return rows
}

// TestPayloadAtEnd: the payload that a range has got when it ended is not another range.
func TestPayloadAtEnd(t *testing.T) {
	row := func(end, payload any) []any { return []any{int64(1), end, payload} }
	f := begin().table(1, "it", "StringIds", "id", "value").rows(1, []any{int64(1), "1 5 4 07000000"}).
		table(2, "iii", "NVTX_EVENTS", "start", "end", "jsonTextId").add(exports.TraceSnapshot, 2, row(nil, nil)).rows(2, row(int64(9), int64(1)))
	if got := payloadsOf(t, f); len(got) != 1 || got[0] != "7" {
		t.Errorf("payloads %q", got)
	}
}

// FuzzPayloads reads payloads by schemas of any kind: three schemas of entries that lie one behind the other in a text, 8 bytes each.
func FuzzPayloads(f *testing.F) {
	f.Add([]byte{0, 5, 0, 0, 0, 0, 0, 0, 1, 1, 1 << 4, 3, 255, 0, 0, 0}, []byte{1, 2, 3, 4})
	f.Add([]byte{0, 201, 0, 0, 0, 0, 0, 0, 1, 202, 1 << 4, 0, 255, 255, 0, 0, 2, 200, 0, 0, 0, 0, 0, 0}, []byte("text"))
	f.Add([]byte{0, 201, 0, 0, 0, 0, 0, 0, 0, 201, 0, 0, 0, 0, 0, 0, 1, 202, 0, 0, 0, 0, 0, 0, 1, 202, 0, 0, 0, 0, 0, 0, 2, 75, 0, 9, 0, 0, 0, 0}, []byte{})
	path := filepath.Join(f.TempDir(), "1.proftrace")
	f.Fuzz(func(t *testing.T, entries, data []byte) {
		var rows [][]any
		for ; len(entries) >= 8 && len(rows) < 1000; entries = entries[8:] {
			huge := int64(1) << (entries[5] & 63)
			rows = append(rows, []any{int64(1), 200 + int64(entries[0]&3), int64(entries[2]), int64(entries[1]), "x", int64(entries[3]) * huge, int64(entries[4]) * int64(1+entries[6])})
		}
		form := int64(len(data) & 3)
		trace := payloadTrace(fmt.Sprintf("1 200 %d %x", len(data), data)).schemas([][]any{{int64(1), int64(200), "s", int64(1), nil, nil}, {int64(1), int64(201), nil, int64(1), form * 8, form},
			{int64(1), int64(202), nil, form, nil, nil}}, rows, [][]any{{int64(1), int64(210), form}}, [][]any{{int64(1), int64(210), "one", int64(1), nil}})
		if err := os.WriteFile(path, trace.end().text, 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := tracer.Open(path, "in")
		if err != nil {
			t.Fatal(err)
		}
		rows, err = read(d, "NVTX_EVENTS", "jsonTextId")
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text, _, err := d.String(rows[0][0].(int64))
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 16<<20 {
			t.Errorf("%d bytes of memory", after.TotalAlloc-before.TotalAlloc)
		}
		if isSaid := strings.HasPrefix(text, "the schema of"); err == nil && json.Valid([]byte(text)) == isSaid {
			t.Errorf("%q is no JSON", text)
		}
	})
}
